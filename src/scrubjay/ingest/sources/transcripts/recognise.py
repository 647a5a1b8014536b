"""Recognise: (path, head) -> Format | None, which tool wrote a file.

It knows the formats, and nothing of how they tell theirs. The order decides where two say yes; none does for
a file of another tool, as far as is known (tests). The generic format is last.
"""

from __future__ import annotations

from scrubjay.ingest.sources.transcripts import (
    chatgpt,
    claude_code,
    claude_export,
    codex,
    gemini,
    gemini_whole,
    generic,
    openclaw,
    opencode,
    opencode_db,
)
from scrubjay.ingest.sources.transcripts.format import HEAD_BYTES, Format

FORMATS: tuple[Format, ...] = (
    claude_code.FORMAT,
    codex.FORMAT,
    openclaw.FORMAT,
    gemini.FORMAT,
    opencode_db.FORMAT,
    chatgpt.FORMAT,
    claude_export.FORMAT,
    gemini_whole.FORMAT,
    opencode.FORMAT,
    generic.FORMAT,
)


def recognise(path: str, head: bytes) -> Format | None:
    """Return the format of a file, or None for one that is no transcript.

    Args:
        path: POSIX, absolute.
        head: Its first `HEAD_BYTES` bytes; more are not looked at.
    """
    head = head[:HEAD_BYTES]
    return next((form for form in FORMATS if form.recognise(path, head)), None)
