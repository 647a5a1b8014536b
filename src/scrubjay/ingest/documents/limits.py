"""Limits of one document; a larger one is an error of its file."""

from __future__ import annotations

from typing import Final

MAX_SECONDS: Final = 120.0
MAX_MEMORY: Final = 2 * 1024**3
"""Bytes that the process which reads documents may use, where the system can limit them."""
MAX_PAGES: Final = 10_000
MAX_CHARACTERS: Final = 30_000_000
MAX_UNPACKED: Final = 200_000_000
"""Bytes that the texts in a DOCX or EPUB may have once they are unpacked; pictures are not unpacked."""
MAX_PARTS: Final = 20_000
"""Entries of a DOCX or EPUB."""


class UnreadableDocumentError(Exception):
    """Why a document cannot be read, as the rest of a sentence that begins with its path; and what to do."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


def check_length(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise UnreadableDocumentError(
            f"has more than the {MAX_CHARACTERS:,} characters of text that are read.", "split it"
        )
