"""Database: what the store asks of a connection, with rows that say what they hold where they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class Rows(Protocol):
    """What a statement gave."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows."""
        ...


class Blob(Protocol):
    """One value, read and written in place."""

    def read(self, length: int) -> bytes:
        """Return the next bytes."""
        ...

    def seek(self, offset: int) -> None:
        """Go to an offset."""
        ...

    def write(self, data: bytes) -> None:
        """Overwrite the next bytes."""
        ...


class Database(Protocol):
    """A connection. APSW's satisfies it; its own annotations make every column a union of all types."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...

    def execute(self, statement: str, values: Sequence[object] = ()) -> Rows:
        """Run one statement."""
        ...

    def executemany(self, statement: str, rows: Iterable[Sequence[object]]) -> Rows:
        """Run one statement for each row of values."""
        ...

    def blob_open(
        self, database: str, table: str, column: str, row: int, writable: bool
    ) -> AbstractContextManager[Blob]:
        """Open one value."""
        ...

    def last_insert_rowid(self) -> int:
        """Return the number of the row inserted last."""
        ...

    def changes(self) -> int:
        """Return how many rows the last statement changed."""
        ...

    def pragma(self, name: str, value: object = None) -> Any:
        """Set or read a setting."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """Set how long to wait for a lock."""
        ...

    def set_progress_handler(self, handler: Callable[[], bool], steps: int) -> None:
        """Have a function called every so many instructions; a statement ends where it returns True or raises."""
        ...

    def close(self) -> None:
        """Close it."""
        ...
