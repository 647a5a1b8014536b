"""Seen: what one reader may read of the memory table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.store.sqlite import rows

if TYPE_CHECKING:
    from scrubjay.memory.records import Record
    from scrubjay.store.sqlite.database import Database


class Seen(NamedTuple):
    """The memories of some visibility keys in the generation that answers.

    Attributes:
        db: The connection, inside a transaction.
        tenant: Number of the tenant.
        generation: The generation that answers.
        keys: The visibility keys.
    """

    db: Database
    tenant: int
    generation: int
    keys: tuple[str, ...]

    @property
    def own(self) -> tuple[int | str, ...]:
        """Values of `among`."""
        return (self.tenant, self.generation, *self.keys)

    @property
    def marks(self) -> str:
        """As many question marks as there are keys."""
        return ",".join("?" * len(self.keys))

    def among(self, name: str = "m") -> str:
        """Return the condition, as SQL, that a row of ``memory`` is one of these."""
        return f"{name}.tenant = ? AND {name}.generation = ? AND {name}.key IN ({self.marks})"

    def records(self, condition: str, values: Sequence[object], tail: str = "") -> list[Record]:
        """Return those of these memories, as ``m``, that a condition is true of."""
        found = self.db.execute(
            f"{rows.SELECT} WHERE {self.among()} AND {condition} {tail}", (*self.own, *values)
        ).fetchall()
        return [rows.to_record(row) for row in found]
