"""Due: (open file, cursor) -> bool, whether a log has grown enough to be read on.

A talk grows by a line every few seconds; reading it at each would write one memory at a time. Whoever asks
for it (`sync`, the end of a session) reads it without asking here.
"""

from __future__ import annotations

import os
from typing import BinaryIO

ENOUGH_BYTES = 100 * 1024
"""What OpenClaw reads a session's log on at, as does its neighbourhood: minutes of talk with tools."""

ENOUGH_LINES = 50
"""The same in messages, for a talk in short ones."""


def due(
    file: BinaryIO, cursor: int, *, enough_bytes: int = ENOUGH_BYTES, enough_lines: int = ENOUGH_LINES
) -> bool:
    """Return whether a log has grown by so many bytes or lines since it was read, or is another one now.

    Reads at most ``enough_bytes`` of it.

    Args:
        file: The log, open for reading bytes.
        cursor: How far it was read.
        enough_bytes: At least 1.
        enough_lines: At least 1; a line that is still being written is none.
    """
    if not continues(file, cursor):
        return True
    if _size(file) - cursor >= enough_bytes:
        return True
    file.seek(cursor)
    return file.read(enough_bytes).count(b"\n") >= enough_lines


def continues(file: BinaryIO, cursor: int) -> bool:
    """Return whether the cursor can be one of this file: it lies in it, at the end of a line.

    False for a file that was cut or written anew; then it is read from 0. A file rewritten with a line end at
    the same place is not noticed here.
    """
    if cursor == 0:
        return True
    if cursor > _size(file):
        return False
    file.seek(cursor - 1)
    around = file.read(2)
    # A last line without its line end was read, since it was whole: what follows it now must be the end.
    return around[:1] == b"\n" or around[1:] in {b"", b"\n", b"\r"}


def _size(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)
