"""Atomic file replacement: after a power cut a path holds either the old bytes or the new ones.

A file is written beside its path, synced and renamed, and its folder synced, since otherwise the rename could be lost.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PRIVATE_MODE = 0o600
BINARY = getattr(os, "O_BINARY", 0)
"""Flag of `os.open` without which Windows writes line feeds as two characters."""


def write_file(path: Path, data: bytes, mode: int = PRIVATE_MODE, *, durable: bool = True) -> None:
    """Write a file whole or not at all.

    Without ``durable`` nothing is synced, which is forty times as fast: after a power cut the file may be empty.

    Raises:
        OSError: It cannot be written; the old content is unchanged.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, mode)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        if durable:
            replace_file(beside, path)
        else:
            beside.replace(path)
    except BaseException:
        with suppress(FileNotFoundError):
            beside.unlink()
        raise


def replace_file(beside: Path, path: Path) -> None:
    """Rename a synced file to its path durably."""
    beside.replace(path)
    fsync_folder(path.parent)


def fsync_folder(folder: Path) -> None:
    """Sync the names in a folder, on systems that can."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_file(descriptor: int) -> None:
    """Wait for an open file's lock, which ends when the file is closed."""
    if sys.platform == "win32":
        import msvcrt

        while True:
            with suppress(OSError):  # somebody has had it for ten seconds
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)


def try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting; the lock ends when the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter is how Windows says it
        return False
    return True


@contextmanager
def hold_lock(path: str | Path, seconds: float | None = 0.0) -> Iterator[bool]:
    """Yield whether this process holds a file's lock until the block ends; the file is created.

    It waits for the lock for at most ``seconds``, None for as long as it takes. The kernel frees that of a process that
    dies.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if seconds is None:
            lock_file(descriptor)
            yield True
        else:
            end = time.monotonic() + seconds
            while not (locked := try_lock(descriptor)) and time.monotonic() < end:
                time.sleep(0.02)
            yield locked
    finally:
        os.close(descriptor)


def make_folder(folder: Path, mode: int = 0o700) -> list[Path]:
    """Create a folder and its parents durably; return those that were missing, outermost first."""
    missing: list[Path] = []
    while not folder.exists():
        missing.insert(0, folder)
        folder = folder.parent
    for each in missing:
        each.mkdir(mode=mode, exist_ok=True)
        fsync_folder(each.parent)
    return missing
