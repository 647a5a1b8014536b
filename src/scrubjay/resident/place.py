"""Place: a mark of settings -> the socket on which a resident with these settings answers.

A folder of mode 0700 that belongs to the user, a socket of mode 0600 in it, named by the mark; beside it a lock that
its owner holds for life, so that a socket whose owner died is known for what it is. Windows has no such sockets in
Python: there is no place there, and everybody works without a resident.
"""

from __future__ import annotations

import os
import stat
import sys

MOST_PATH = 100
"""Bytes of a socket's path that every system has room for."""
DIGITS = 24
"""Of the mark that stand in the name; the whole of it is compared on each request."""


def place(folder: str, fingerprint: str) -> str | None:
    """Return the path of the socket, or None where there can be none."""
    if sys.platform == "win32":
        return None
    path = os.path.join(folder, f"{fingerprint[:DIGITS]}.sock")
    return path if len(os.fsencode(path)) <= MOST_PATH else None


def safe(path: str) -> bool:
    """Return whether the folder of a socket is the user's alone: nobody else can have put a socket there."""
    try:
        info = os.lstat(os.path.dirname(path))
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not info.st_mode & 0o077


def made(path: str) -> bool:
    """Make the folder of a socket, and return whether it is the user's alone."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError:
        return False
    return safe(path)
