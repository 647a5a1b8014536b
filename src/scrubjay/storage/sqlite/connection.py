"""SQLite connections: open, unlock and configure a file, run write transactions, and translate SQLite's errors."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Protocol, cast
from urllib.parse import quote

import apsw

from scrubjay.errors import (
    InputError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from scrubjay.frozen import frozen
from scrubjay.storage.rows import Statements
from scrubjay.storage.sqlite.schema import migrate, schema_version


class Cursor(Protocol):
    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Blob(Protocol):
    def read(self, length: int) -> bytes: ...

    def seek(self, offset: int) -> None: ...

    def write(self, data: bytes) -> None: ...

    def reopen(self, row: int) -> None: ...


class Database(Protocol):
    """A connection, as APSW's satisfies it; its own annotations make every column a union of all types."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Sequence[object] = ()) -> Cursor: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[object]]) -> Cursor: ...

    def blob_open(
        self, database: str, table: str, column: str, row: int, writable: bool
    ) -> AbstractContextManager[Blob]: ...

    def last_insert_rowid(self) -> int: ...

    def changes(self) -> int: ...

    def pragma(self, name: str, value: object = None) -> Any: ...

    def set_busy_timeout(self, milliseconds: int) -> None: ...

    def set_progress_handler(self, handler: Callable[[], bool], steps: int) -> None:
        """Call a function every so many instructions; a statement ends where it returns True or raises."""

    def close(self) -> None: ...


MAX_VALUES: Final = 1_000
"""Maximum number of values of a list that are bound one by one: SQLite allows 32,766 in all, and a copy of a tenant
reads the keys of all its users. A longer list is bound as one JSON value; so is an empty one, which would cause a
scan."""


def select(db: Database, statement: str, *values: object) -> list[Any]:
    """Run a statement and return its rows; ``IN ?`` takes a list."""
    parts, bound = statement.split("?"), []
    for place, value in enumerate(values):
        mark = "?"
        if not isinstance(value, list):
            bound.append(value)
        elif 0 < len(value) <= MAX_VALUES:
            mark = f"({','.join('?' * len(value))})"
            bound += value
        else:
            mark = "(SELECT value FROM json_each(?))"
            bound.append(json.dumps(value))
        parts[place] += mark
    return db.execute("".join(parts), bound).fetchall()


class SQLiteStatements(Statements):
    _db: Database

    def _all(self, statement: str, *values: object) -> list[Any]:
        return select(self._db, statement, *values)

    def _many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._db.executemany(statement, rows)


KEY_DIGITS: Final = 64
"""Hexadecimal digits of a key: 32 bytes."""
MAX_KEY_FILE: Final = 1_024
"""Bytes read of a key file."""
PLAIN_HEADER: Final = b"SQLite format 3\0"
"""First bytes of a file that is not encrypted."""
INSTALL_HINT: Final = "pip uninstall --yes apsw && pip install --force-reinstall apsw-sqlite3mc"
RESTORE_KEY_HINT: Final = (
    "restore the copy of the store's key, or name the file that holds it; a new key opens nothing"
)
MAKE_KEY_HINT: Final = "make one: `(umask 077; openssl rand -hex 32 > FILE)`"


@frozen
class EncryptionKey:
    """The key of an encrypted file and the file that it was read from."""

    file: Path
    digits: str = field(repr=False)


def read_key(file: Path, *, new: bool = True) -> EncryptionKey:
    """Read a key: 64 hexadecimal digits, in a file that nobody else may read; of a ``new`` store or an existing one.

    Raises:
        InputError: It is missing or no key, or others may read it.
        StoreError: This Python's SQLite cannot encrypt.
    """
    try:
        with file.open("rb") as handle:
            mode, digits = os.fstat(handle.fileno()).st_mode, handle.read(MAX_KEY_FILE).strip()
    except OSError as error:
        raise InputError(
            f"The key {file} cannot be read ({error.strerror}). Nothing was written.",
            hint=MAKE_KEY_HINT if new else RESTORE_KEY_HINT,
        ) from error
    if not re.fullmatch(rb"[0-9A-Fa-f]{%d}" % KEY_DIGITS, digits):
        raise InputError(
            f"{file} holds no key: {KEY_DIGITS} hexadecimal digits are needed.", hint=MAKE_KEY_HINT
        )
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"The key {file} is readable by others. Nothing was written.", hint=f"chmod 600 {file}"
        )
    if not hasattr(apsw, "mc_version"):  # it would ignore the key and write plain text
        raise StoreError(
            "A key was given, but this APSW cannot encrypt. Nothing was written.", hint=f"`{INSTALL_HINT}`"
        )
    return EncryptionKey(file, digits.decode())


def unlock(connection: Database, key: EncryptionKey | None) -> None:
    """Set the key of a connection that was just opened, before anything else."""
    if key is not None:
        connection.pragma("cipher", "chacha20")
        connection.pragma("key", f"raw:{key.digits}")


def unlocked_schema_version(connection: Database, path: Path, key: EncryptionKey | None) -> int:
    try:
        return schema_version(connection, str(path))
    except apsw.NotADBError as error:
        raise _not_a_database(path, key, error) from error


def sqlite_url(path: Path, key: EncryptionKey | None) -> str:
    """Return the URL that opens a file.

    >>> sqlite_url(Path("/srv/what?.db"), None)
    'sqlite:////srv/what%3F.db'
    """
    query = "" if key is None else f"?key_file={quote(str(key.file))}"
    return f"sqlite:///{str(path).replace('%', '%25').replace('?', '%3F')}{query}"


def _not_a_database(path: Path, key: EncryptionKey | None, error: Exception) -> StoreError:
    with path.open("rb") as handle:
        plain = handle.read(len(PLAIN_HEADER)) == PLAIN_HEADER
    if key is not None and plain:
        return StoreError(
            f"{path} is not encrypted, but a key was given. Nothing was written.",
            hint=f"name it without the key, or `scrubjay copy` it to a new one: sqlite:///NEW.db?key_file={key.file}",
        )
    if key is not None:
        return StoreError(
            f"{path} cannot be opened with the key in {key.file}, or is damaged ({error}). Nothing was written.",
            hint="name the key that it was made with; a lost key cannot be made again",
        )
    return StoreDamagedError(
        f"{path} is damaged or is not a store ({error}). Nothing was written; your files are untouched.",
        hint=f"if it is encrypted, name its key: sqlite:///{path}?key_file=FILE; else {RESTORE_HINT}",
    )


RESTORE_HINT: Final = (
    "keep the damaged file, restore the last backup, then `scrubjay sync`; without a backup only files can be synced "
    "again, not additions (docs/operations.md)"
)

PAGE_BYTES: Final = 8192
"""Page size: postings and vectors are blobs, and fewer pages a blob are fewer reads."""
MIN_PAGE_BYTES: Final = 512
"""SQLite's smallest page: a shorter file is not a database, but perhaps somebody's notes."""
CACHE_KIB: Final = 16_384
"""Page cache of a connection: five agents must not mean five copies of the store."""
BUSY_MS: Final = 10_000
"""Milliseconds SQLite waits for a lock of a process that does not queue, such as a backup tool."""

BUSY_PAUSE: Final = 0.005
"""Seconds between two tries where SQLite does not wait."""


def connect(
    path: Path,
    patience: float = BUSY_MS / 1000,
    key: EncryptionKey | None = None,
    synchronous: str = "NORMAL",
) -> Database:
    """Open a store's file on the newest schema; created with mode 0600 if missing.

    Args:
        path: The file.
        patience: Seconds SQLite waits for a lock held by a process that does not queue.
        key: Encrypts the file.
        synchronous: When SQLite waits for the disk (https://www.sqlite.org/pragma.html#pragma_synchronous).
    """
    with translate_errors(path), translate_os_errors(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        size = path.stat().st_size
        # SQLite would treat so short a file as an empty database and fill it.
        if path.is_file() and 0 < size < MIN_PAGE_BYTES:
            raise apsw.NotADBError(f"a file of {size} bytes")
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        for leftover in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            # Created while the store was read-only, these would stay read-only.
            if writable and leftover.exists() and not os.access(leftover, os.W_OK):
                leftover.chmod(0o600)
        connection = cast("Database", _open_connection(path, writable))
        try:
            connection.set_busy_timeout(round(patience * 1000))
            unlock(connection, key)
            if size == 0:
                connection.pragma("page_size", PAGE_BYTES)
            _prepare(connection, path, writable, patience, key, synchronous)
        except BaseException:
            connection.close()
            raise
        return connection


def _open_connection(path: Path, writable: bool) -> apsw.Connection:
    if writable:
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    if os.access(path.parent, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    # In a folder that is read-only SQLite can make no index of the log. Where no log is left there is nothing to
    # index, so the file is read as one that does not change (https://www.sqlite.org/wal.html#readonly).
    log = path.with_name(f"{path.name}-wal")
    immutable = "" if log.exists() and log.stat().st_size else "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{immutable}"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _prepare(
    connection: Database,
    path: Path,
    writable: bool,
    patience: float,
    key: EncryptionKey | None,
    synchronous: str,
) -> None:
    # Before any setting: a file of another program must not be touched.
    version = unlocked_schema_version(connection, path, key)
    if writable:
        _enable_wal(connection, patience)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", 2)
    # Overwrite what is deleted: else copies of forgotten memories stay. No measurable cost at 12,000 memories.
    connection.pragma("secure_delete", 1)
    connection.pragma("synchronous", synchronous)
    migrate(connection, version)


def _enable_wal(connection: Database, patience: float) -> None:
    """Switch to the write-ahead log. Of two that open a new file at once SQLite refuses one without waiting."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            return
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(BUSY_PAUSE)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusyError(
            f"{path} is locked by another program. Nothing was written.", hint="try again in a moment"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamagedError(
            f"{path} is damaged or is not a store ({error}). Nothing was written; your files are untouched.",
            hint=RESTORE_HINT,
        ) from error
    except apsw.FullError as error:
        raise StoreFullError(
            f"The disk that holds {path} is full. Nothing of this write was stored.",
            hint="free some space, run it again",
        ) from error
    except apsw.ReadOnlyError as error:
        raise _read_only_error(path) from error
    except (apsw.CantOpenError, apsw.IOError) as error:
        raise StoreError(
            f"{path} cannot be read or written ({error}). Nothing was written.",
            hint="check that the folder is there, yours, and not full",
        ) from error
    except apsw.Error as error:
        raise StoreError(
            f"{path} failed ({type(error).__name__}: {error}). Nothing was written.",
            hint="run it again; if it fails again, `scrubjay doctor` checks the store",
        ) from error


def _read_only_error(path: Path) -> StoreReadOnlyError:
    return StoreReadOnlyError(
        f"{path} or its folder is read-only. Nothing was written.",
        hint="check their owner and mode: the file needs 0600",
    )


PROBE_BYTES: Final = 64 * 1024
"""Room on the disk that the smallest write may need."""


def check_disk(path: Path) -> None:
    """Raise `StoreError` if a file beside the store cannot be written, or the store is read-only."""
    if not os.access(path, os.W_OK):
        raise _read_only_error(path)
    try:
        with tempfile.TemporaryFile(dir=path.parent) as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise _read_only_error(path) from error
        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(
            f"Nothing can be written beside {path} ({error.strerror}).",
            hint="check the disk and its free space",
        ) from error


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be opened ({error.strerror}). Nothing was written.",
            hint="name another file with --store",
        ) from error


@contextmanager
def translate_corruption(path: Path) -> Iterator[None]:
    """Translate errors of reading bytes that cannot be what was written, where SQLite itself does not notice."""
    try:
        yield
    except UnicodeEncodeError as error:  # of what a caller gave, as a filter
        if not _raised_by_storage(error):
            raise
        raise InputError(f"Text contains an unpaired surrogate ({error}). Nothing was written.") from error
    except (ValueError, LookupError) as error:
        if not _raised_by_storage(error):
            raise
        raise StoreDamagedError(
            f"{path} holds unreadable data ({type(error).__name__}: {error}). Nothing was written; your files are "
            "untouched.",
            hint=f"`scrubjay doctor` checks it; if it is damaged, {RESTORE_HINT}",
        ) from error


def _raised_by_storage(error: BaseException) -> bool:
    """Return whether a storage module raised it, and not the code in a reader's block."""
    trace, module = error.__traceback__, ""
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        module = module if name.startswith("numpy") else name
        trace = trace.tb_next
    return module.startswith("scrubjay.storage.")


@contextmanager
def translate_wipe_errors(path: Path) -> Iterator[None]:
    """Report that a forgotten text's bytes could not be wiped: the memory itself is gone by then."""
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise StoreError(
            f"The memories are forgotten and in no answer, but their bytes could not be wiped from the files beside "
            f"{path} ({error}).",
            hint="check whether the disk is full or failing; the next write to the store wipes them",
        ) from error


@contextmanager
def write_transaction(db: Database) -> Iterator[None]:
    """Run one write transaction: committed at the end of the block, rolled back on any error."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except UnicodeEncodeError as error:
        _roll_back(db)
        raise InputError(f"Text contains an unpaired surrogate ({error}). Nothing was written.") from error
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: Database) -> None:
    if db.in_transaction:  # a full disk has rolled it back already
        db.execute("ROLLBACK")
