"""Transcripts: readers of the conversation logs of agents and chat tools."""
