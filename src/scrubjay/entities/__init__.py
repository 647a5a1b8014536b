"""Entities ("concepts" in the interfaces): discover, match and edit the names of things."""
