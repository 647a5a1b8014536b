"""Connect: open the file as every process must, and say in our words what SQLite says in its own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote

import apsw

from scrubjay.errors import InputError, StoreBusyError, StoreDamagedError, StoreError, StoreReadOnlyError
from scrubjay.store.sqlite.cipher import Key, recognised, unlock
from scrubjay.store.sqlite.migrations import migrate

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

PAGE: Final = 8192
"""Bytes of a page: postings and vectors are blobs, and fewer pages a blob are fewer reads."""
LEAST: Final = 512
"""Bytes of SQLite's smallest page: a shorter file is no database, but somebody's notes perhaps."""
CACHE_KIB: Final = 16_384
"""KiB of pages that a connection keeps: five agents must not mean five copies of the store."""
BUSY_MS: Final = 10_000
"""Milliseconds SQLite waits for a lock held by a process that does not queue (a backup tool, say)."""

PAUSE: Final = 0.005
"""Seconds between two tries at what SQLite does not wait for."""


def connect(path: Path, patience: float = BUSY_MS / 1000, key: Key | None = None) -> Database:
    """Open a store's file, made with mode 0600 if it is not there, on the newest schema.

    Args:
        path: The file.
        patience: Seconds SQLite waits for a lock held by a process that does not queue.
        key: What it is encrypted with.

    Raises:
        StoreError: It cannot be opened, is damaged, or belongs to something else.
    """
    with spoken(path), reachable(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        size = path.stat().st_size
        if 0 < size < LEAST:  # SQLite would take it for an empty database, and fill it
            raise apsw.NotADBError(f"{size} bytes are no database")
        # The write-ahead log and what readers share of it lie beside the file.
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        for left in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            # Made with the store's mode while that was read-only, these would stay so.
            if writable and left.exists() and not os.access(left, os.W_OK):
                left.chmod(0o600)
        connection = cast("Database", _opened(path, writable))
        try:
            connection.set_busy_timeout(round(patience * 1000))
            unlock(connection, key)
            if size == 0:
                connection.pragma("page_size", PAGE)
            _prepare(connection, path, writable, patience, key)
        except BaseException:
            connection.close()
            raise
        return connection


def _opened(path: Path, writable: bool) -> apsw.Connection:
    if writable:
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    if os.access(path.parent, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    # In a folder that is read-only SQLite can make no index of the log. Where no log is left there is nothing to
    # index, so the file is read as one that does not change (https://www.sqlite.org/wal.html#readonly).
    log = path.with_name(f"{path.name}-wal")
    fixed = "" if log.exists() and log.stat().st_size else "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{fixed}"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _prepare(connection: Database, path: Path, writable: bool, patience: float, key: Key | None) -> None:
    done = recognised(connection, path, key)  # before anything is set: another's file is not touched
    if writable:
        _log_ahead(connection, patience)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", 2)
    # What is removed is overwritten: else an old copy of a memory outlives its being forgotten. Measured
    # on 12,000 memories of 80 words: no difference in processor time.
    connection.pragma("secure_delete", 1)
    connection.pragma("synchronous", "NORMAL")
    migrate(connection, done)


def _log_ahead(connection: Database, patience: float) -> None:
    """Switch to the write-ahead log. Of two that open a new file at once SQLite refuses one, without waiting."""
    end = time.monotonic() + patience
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() >= end:
                raise
            time.sleep(PAUSE)


@contextmanager
def spoken(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the state of the store and the way out."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusyError(
            f"{path} is locked by another program. Nothing was written.", hint="try again in a moment"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamagedError(
            f"{path} is damaged or is not a store ({error}). Nothing was written; your files are untouched.",
            hint=f"move {path} away, then `scrubjay sync` your folders again",
        ) from error
    except apsw.FullError as error:
        raise StoreError(
            f"The disk that holds {path} is full. Nothing of this write was stored.",
            hint="free some space, run it again",
        ) from error
    except apsw.ReadOnlyError as error:
        raise StoreReadOnlyError(
            f"{path} or its folder is read-only. Nothing was written.",
            hint="check their owner and mode: the file wants 0600",
        ) from error
    except (apsw.CantOpenError, apsw.IOError) as error:
        raise StoreError(
            f"{path} cannot be read or written ({error}). Nothing was written.",
            hint="check that the folder is there, yours, and not full",
        ) from error
    except apsw.Error as error:
        raise StoreError(
            f"{path} failed ({type(error).__name__}: {error}). Nothing was written.",
            hint=f"run it again; if it stays so, move {path} away and `scrubjay sync` your folders again",
        ) from error


@contextmanager
def reachable(path: Path) -> Iterator[None]:
    """Turn the system's errors into ours, where the store's own files are opened."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be opened ({error.strerror}). Nothing was written.",
            hint="name another file with --store",
        ) from error


@contextmanager
def legible(path: Path) -> Iterator[None]:
    """Say in our words that what stands in the file cannot be what was written, where SQLite itself does not notice."""
    try:
        yield
    except (ValueError, LookupError) as error:
        if not _raised_here(error):
            raise
        raise StoreDamagedError(
            f"{path} holds what cannot be read ({type(error).__name__}: {error}). Nothing was written; your files are "
            "untouched.",
            hint=f"`scrubjay doctor` looks it through; if it is damaged, move {path} away, then `scrubjay sync` your "
            "folders again",
        ) from error


def _raised_here(error: BaseException) -> bool:
    """Return whether a store's module raised it, and not whoever reads in a block of its."""
    trace, module = error.__traceback__, ""
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        module = module if name.startswith("numpy") else name
        trace = trace.tb_next
    return module.startswith("scrubjay.store.")


@contextmanager
def wiping(path: Path) -> Iterator[None]:
    """Say in our words what kept the bytes of a forgotten text where they were: the memory itself is gone by then."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise StoreError(
            f"What was to go is forgotten and in no answer, but its bytes could not be wiped from the files beside "
            f"{path} ({error}).",
            hint="see whether the disk is full or failing; the next write to the store wipes them",
        ) from error


@contextmanager
def immediate(db: Database) -> Iterator[None]:
    """Hold one write transaction: committed at the end of the block, rolled back on any error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except UnicodeEncodeError as error:
        _roll_back(db)
        raise InputError(f"A text holds half a character ({error}). Nothing was written.") from error
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: Database) -> None:
    if db.in_transaction:  # a full disk has rolled it back already
        db.execute("ROLLBACK")
