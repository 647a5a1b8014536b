"""Names: the ids of another store -> the ids that the same things have here, kept on disk.

A file may hold more memories than a machine has room for the names of; an edge at its end can lead to any of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class Names:
    """What has been named; gone when it is closed, or the process ends."""

    def __init__(self) -> None:
        # A database without a name lies in a temporary file that nobody else sees, and goes with the connection.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE name (old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID")
        self._db.execute("CREATE INDEX by_new ON name (new)")

    def put(self, old: str, new: str | None) -> None:
        """Name something; None where it is not here."""
        self._db.execute("INSERT OR REPLACE INTO name VALUES (?, ?)", (old, new))

    def get(self, old: Iterable[str | None]) -> dict[str | None, str]:
        """Return the names of those that are here."""
        found: dict[str | None, str] = {}
        for one in {each for each in old if each is not None}:
            row = self._db.execute("SELECT new FROM name WHERE old = ?", (one,)).fetchone()
            if row is not None and row[0] is not None:
                found[one] = row[0]
        return found

    def taken(self, new: str, by: str) -> bool:
        """Return whether something else has this name."""
        rows = self._db.execute("SELECT 1 FROM name WHERE new = ? AND old <> ?", (new, by))
        return rows.fetchone() is not None

    def close(self) -> None:
        """Let go of it."""
        self._db.close()
