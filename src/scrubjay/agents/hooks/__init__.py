"""Hooks: what an agent says at one of its events -> what is put into its conversation, and done behind its back."""
