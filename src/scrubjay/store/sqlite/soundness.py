"""Soundness: a store's file -> whether SQLite finds it whole, within a time, without changing anything in it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import apsw

from scrubjay.store.sqlite.cipher import Key, recognised, unlock
from scrubjay.store.sqlite.connect import reachable, spoken
from scrubjay.store.sqlite.migrations import MIGRATIONS

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

STEPS: Final = 1_000
"""Instructions of SQLite between two looks at the clock: less than a millisecond."""
MOST_FAULTS: Final = 3


@dataclass(frozen=True, slots=True)
class Soundness:
    """What was found of a file.

    Attributes:
        schema: Its schema.
        newest: The schema that this version writes.
        pages: Pages of the file.
        finished: Whether all of it was looked at in the time.
        faults: What SQLite says is wrong with it.
    """

    schema: int
    newest: int
    pages: int
    finished: bool
    faults: tuple[str, ...]


def sound(path: Path, seconds: float, key: Key | None = None) -> Soundness:
    """Look a store's file through, its indexes' order apart (``PRAGMA quick_check``).

    Args:
        path: The file.
        seconds: After which the look is broken off; what was seen until then had no fault.
        key: What it is encrypted with.

    Raises:
        StoreError: It cannot be opened, is no store, or is of a newer scrubjay.
    """
    with spoken(path), reachable(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        database = cast("Database", connection)
        try:
            connection.set_busy_timeout(round(seconds * 1000))
            unlock(database, key)
            schema = recognised(database, path, key)
            pages = int(connection.pragma("page_count"))
            end = time.monotonic() + seconds
            connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
            finished, said = True, [("ok",)]
            try:
                said = list(connection.execute(f"PRAGMA quick_check({MOST_FAULTS})"))
            except apsw.InterruptError:
                finished = False
        finally:
            connection.close()
    faults = tuple(str(text) for (text,) in said if text != "ok")
    return Soundness(schema, MIGRATIONS[-1][0], pages, finished, faults)
