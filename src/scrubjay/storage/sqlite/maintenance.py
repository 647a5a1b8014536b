"""Maintenance: vacuum, backup and integrity check of a store's file.

``secure_delete`` overwrites deleted bytes in place. When SQLite balances a tree it moves entries to other pages and
leaves their old bytes in the gap; bytes deleted afterwards survive there until a vacuum. So do words of texts that were
changed or removed, not forgotten, in the vocabulary.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import apsw

from scrubjay.errors import StoreDamagedError, StoreError
from scrubjay.frozen import frozen
from scrubjay.storage.sqlite.connection import (
    EncryptionKey,
    translate_errors,
    translate_os_errors,
    unlock,
    unlocked_schema_version,
    write_transaction,
)
from scrubjay.storage.sqlite.schema import MIGRATIONS

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


VACUUM_AT_ONCE_BYTES: Final = 64 << 20
"""Largest file that is vacuumed at once after forgetting: .3 s on one core. A larger one waits for `Store.vacuum`."""
_COUNTER: Final = "leftovers"
"""Counter: 1 since something was forgotten or removed, 0 since the last VACUUM; missing before either."""


def note_leftovers(db: Database) -> None:
    db.execute("INSERT OR REPLACE INTO counter VALUES (?, 1)", (_COUNTER,))


def is_vacuum_due(db: Database) -> bool:
    """Return whether something was forgotten since the last VACUUM, also by an earlier version."""
    row = db.execute("SELECT value FROM counter WHERE name = ?", (_COUNTER,)).fetchone()
    if row is None:
        row = db.execute("SELECT EXISTS (SELECT 1 FROM tombstone)").fetchone()
    return bool(row[0])


def drop_unused_edge_parts(db: Database) -> None:
    """Drop the names of users and the words of links that no edge uses."""
    for table in ("sight", "maker"):
        db.execute(f"DELETE FROM {table} WHERE id NOT IN (SELECT {table} FROM edge)")


def file_bytes(db: Database) -> int:
    return int(db.pragma("page_count")) * int(db.pragma("page_size"))


def vacuum_file(db: Database, *, on_disk: bool) -> None:
    """Drop what nothing refers to and rewrite the file, in a writer's turn but outside a transaction; readers continue.

    ``on_disk``: whether SQLite's temporary copy is a file, not in memory.
    """
    with write_transaction(db):
        unused = "SELECT id FROM term WHERE id NOT IN (SELECT term FROM posting)"
        db.execute(f"DELETE FROM term_gram WHERE rowid IN ({unused})")
        db.execute(f"DELETE FROM term WHERE id IN ({unused})")
        drop_unused_edge_parts(db)
        db.execute("INSERT INTO term_gram (term_gram) VALUES ('optimize')")
        db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
    usual = db.pragma("temp_store")
    db.pragma("temp_store", 1 if on_disk else 2)
    try:
        db.execute("VACUUM")
    finally:
        db.pragma("temp_store", usual)
    db.execute("INSERT OR REPLACE INTO counter VALUES (?, 0)", (_COUNTER,))


BACKUP_STEPS: Final = 100_000
"""SQLite instructions between two checks for an interrupt."""


def backup_file(source: Database, file: Path, key: EncryptionKey | None = None) -> None:
    """Copy a database to a new file, mode 0600, by ``VACUUM INTO``, and check the copy.

    It copies what is stored, not pages: forgotten words in unused parts of the file stay behind. The copy is of the
    moment at which it begins, and is on the disk when this returns.

    ``source`` is a connection of its own, outside a transaction; ``key`` encrypts the database and the copy.
    """
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    source.set_progress_handler(_keep_going, BACKUP_STEPS)
    try:
        source.execute("VACUUM INTO ?", (str(file),))
    except apsw.FullError as error:
        raise StoreError(
            f"The disk that {file.parent} is on is full. No backup was written; the store is as it was.",
            hint="free some space, or name a file on another disk",
        ) from error
    copy = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        unlock(cast("Database", copy), key)
        copy.pragma("journal_mode", "delete")
        verdict = copy.pragma("integrity_check")
        if verdict != "ok":
            raise StoreDamagedError(
                f"The copy is damaged: {verdict}. No backup was written.",
                hint="the store itself may be damaged: `scrubjay export` what can still be read",
            )
    finally:
        copy.close()
    with file.open("rb+") as handle:
        os.fsync(handle.fileno())


def file_contains(path: Path, word: bytes) -> bool:
    """Return whether a database's file, or a file beside it, contains these bytes; False where there is no file.

    It is read through SQLite: a process that closes such a file itself drops the locks of its open connections, and
    another process that closes the database then removes the log under them
    (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    """
    if not path.exists():
        return False
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        size, before = file.xFileSize(), b""
        for start in range(0, size, READ_BYTES):
            piece = before + file.xRead(min(READ_BYTES, size - start), start)
            if word in piece:
                return True
            before = piece[-len(word) :]
        return False
    finally:
        file.xClose()


def _keep_going() -> bool:
    """Let SQLite continue; Python raises an interrupt here."""
    return False


READ_BYTES: Final = 1 << 20
"""Bytes that a search for a word reads at once."""
CHECK_STEPS: Final = 1_000
"""SQLite instructions between two checks of the clock: less than a millisecond."""
MAX_FAULTS: Final = 3


@frozen
class IntegrityReport:
    """Result of an integrity check.

    Attributes:
        newest: The schema that this version writes.
        finished: Whether all of it was checked in time.
        faults: SQLite's messages.
    """

    schema: int
    newest: int
    pages: int
    finished: bool
    faults: tuple[str, ...]


def check_integrity(path: Path, seconds: float, key: EncryptionKey | None = None) -> IntegrityReport:
    """Run ``PRAGMA quick_check`` on a file for at most so many seconds."""
    with translate_errors(path), translate_os_errors(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        database = cast("Database", connection)
        try:
            connection.set_busy_timeout(round(seconds * 1000))
            unlock(database, key)
            schema = unlocked_schema_version(database, path, key)
            pages = int(connection.pragma("page_count"))
            deadline = time.monotonic() + seconds
            connection.set_progress_handler(lambda: time.monotonic() > deadline, CHECK_STEPS)
            finished, messages = True, [("ok",)]
            try:
                messages = list(connection.execute(f"PRAGMA quick_check({MAX_FAULTS})"))
            except apsw.InterruptError:
                finished = False
        finally:
            connection.close()
    faults = tuple(str(text) for (text,) in messages if text != "ok")
    return IntegrityReport(schema, MIGRATIONS[-1][0], pages, finished, faults)
