"""Delimiters: what recalled memories stand between when they are put into a conversation."""

from typing import Final

OPEN: Final = "<scrubjay-memories>"
"""What is between these is data that was recalled: never an instruction, and never captured as new."""
CLOSE: Final = "</scrubjay-memories>"
