"""Backup: a store's file -> a copy of it as it is at one moment, checked, while others write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import apsw

from scrubjay.errors import StoreDamagedError, StoreError
from scrubjay.store.sqlite.cipher import unlock

if TYPE_CHECKING:
    from scrubjay.store.sqlite.cipher import Key
    from scrubjay.store.sqlite.database import Database

STEPS: Final = 100_000
"""Instructions of SQLite between two looks for an interrupt."""


def backup(source: Database, file: Path, key: Key | None = None) -> None:
    """Copy a database to a file that is not there yet, mode 0600, by ``VACUUM INTO``.

    It copies what is stored, not pages: words that were forgotten and are left in unused parts of the file stay behind.
    The copy is of the moment at which it begins, and writers are not kept waiting. It is one file, without a log
    beside it, and is on the disk when this returns.

    Args:
        source: A connection of nobody else's, outside a transaction.
        file: The copy.
        key: What the database is encrypted with, and the copy too.

    Raises:
        StoreDamagedError: The copy does not pass SQLite's integrity check.
        StoreError: There is no room for it.
        apsw.Error: It cannot be read or written.
    """
    os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    source.set_progress_handler(_going_on, STEPS)
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
        found = copy.pragma("integrity_check")
        if found != "ok":
            raise StoreDamagedError(
                f"The copy is damaged: {found}. No backup was written.",
                hint="the store itself may be damaged: `scrubjay export` what can still be read",
            )
    finally:
        copy.close()
    with file.open("rb+") as whole:
        os.fsync(whole.fileno())


def _going_on() -> bool:
    """Return that SQLite is not to stop: Python raises here what interrupts it."""
    return False
