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

PAGES: Final = 4_096
"""Pages of one step: between two of them an interrupt is heard."""


def backup(source: Database, file: Path, key: Key | None = None) -> None:
    """Copy a database to a file that is not there yet, mode 0600, by SQLite's online backup.

    The copy is of the moment at which it begins: the source's snapshot is held, and writers are not kept waiting. It
    is one file, without a log beside it, and is on the disk when this returns.

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
    copy = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        if key is not None:
            unlock(cast("Database", copy), key)
            copy.pragma("page_size", source.pragma("page_size"))  # encrypted pages are copied as they are
        source.execute("BEGIN")
        try:
            source.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # the snapshot begins with a read
            with copy.backup("main", source, "main") as steps:  # type: ignore[arg-type]
                while not steps.done:
                    steps.step(PAGES)
        except apsw.FullError as error:
            raise StoreError(
                f"The disk that {file.parent} is on is full. No backup was written; the store is as it was.",
                hint="free some space, or name a file on another disk",
            ) from error
        finally:
            source.execute("COMMIT")
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
