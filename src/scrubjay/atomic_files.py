"""Atomic file replacement: after a power cut a path holds either the old bytes or the new ones.

A file is written beside its place, synced, renamed, and its folder synced: without the first its name may outlive what
it names, without the last the rename may be lost although whoever asked was told that it is done.
"""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from pathlib import Path

PRIVATE_MODE = 0o600


def write_file(path: Path, data: bytes, mode: int = PRIVATE_MODE) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: It cannot be written; what was there is there.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        replace_file(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            beside.unlink()
        raise


def replace_file(beside: Path, path: Path) -> None:
    """Rename a file that is synced to its place, and have that on the disk."""
    beside.replace(path)
    fsync_folder(path.parent)


def fsync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where folders can be told so."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, mode: int = 0o700) -> None:
    """Make a folder and those above it, as far as they are not there, and have their names on the disk."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=mode, exist_ok=True)
        fsync_folder(each.parent)
