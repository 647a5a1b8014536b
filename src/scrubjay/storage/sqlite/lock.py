"""Writer lock: a fair turn for the writers of one store, across processes and threads.

SQLite's own lock goes to whoever polls at the right moment, so one busy writer can starve another. Two byte locks on
files beside the store make a queue: a writer takes *next*, waits for *now*, then releases *next*. The kernel frees both
when a process dies.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from scrubjay.atomic_files import try_lock
from scrubjay.errors import StoreBusyError, StoreError, StoreReadOnlyError

if sys.platform != "win32":
    import fcntl

POLL_S: Final = 0.001
PATIENCE: Final = 30.0
"""Seconds a writer waits for its turn: far longer than any transaction."""


@contextmanager
def writer_turn(store: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Wait for this writer's turn and hold it until the block ends."""
    if sys.platform == "win32":  # SQLite's own lock, unfair but sound
        yield
        return
    deadline = time.monotonic() + patience
    name = store.with_name(store.name + ".lock")
    following = _open_lock_file(name.with_name(name.name + "-next"), store)
    try:
        current = _open_lock_file(name, store)
        try:
            _wait_for_lock(following, deadline, patience, store)
            try:
                _wait_for_lock(current, deadline, patience, store)
            finally:
                fcntl.flock(following, fcntl.LOCK_UN)
            yield
        finally:
            os.close(current)
    finally:
        os.close(following)


@contextmanager
def try_exclusive(store: Path, tenant: str, name: str) -> Iterator[bool]:
    """Yield whether this caller alone holds a name for a tenant until the block ends; never wait."""
    digest = hashlib.sha256(f"{tenant}\x1f{name}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    descriptor = _open_lock_file(store.with_name(f"{store.name}.lock-{digest}"), store)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


def _open_lock_file(path: Path, store: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        refused = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        raise (StoreReadOnlyError if refused else StoreError)(
            f"The lock file {path} of {store.name} cannot be opened ({error.strerror}). Nothing was written.",
            hint="check that the folder is there, yours and writable",
        ) from error


def _wait_for_lock(descriptor: int, deadline: float, patience: float, store: Path) -> None:
    while not try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise StoreBusyError(
                f"Another writer has held {store} for {patience:g} seconds. Nothing was written.",
                hint="try again; `scrubjay status` shows what the store is doing",
            )
        time.sleep(POLL_S)
