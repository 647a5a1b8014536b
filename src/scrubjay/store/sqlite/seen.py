"""Seen: what one reader may read of the memory table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.memory.ids import DIGITS
from scrubjay.memory.tiers import PREFIX
from scrubjay.store.base import Counts
from scrubjay.store.kept import counts_of
from scrubjay.store.sqlite import rows
from scrubjay.store.sqlite.pack import SIGN

if TYPE_CHECKING:
    from scrubjay.memory.records import Record
    from scrubjay.store.sqlite.database import Database


MANY: Final = 1_000
"""Keys above which a statement is given them as one value: SQLite takes 32,766 values, and whoever copies a tenant
sees the keys of all of its users."""


def bound(keys: Sequence[str]) -> tuple[str, ...]:
    """Return keys as values of `marks`."""
    return tuple(keys) if len(keys) <= MANY else (json.dumps(list(keys)),)


def marks(keys: Sequence[str]) -> str:
    """Return keys as SQL, to stand in the parentheses of ``IN``."""
    return ",".join("?" * len(keys)) if len(keys) <= MANY else "SELECT value FROM json_each(?)"


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
        return (self.tenant, self.generation, *self.bound)

    @property
    def bound(self) -> tuple[str, ...]:
        """Values of `marks`."""
        return bound(self.keys)

    @property
    def marks(self) -> str:
        """The keys, as SQL."""
        return marks(self.keys)

    def among(self, name: str = "m") -> str:
        """Return the condition, as SQL, that a row of ``memory`` is one of these."""
        return f"{name}.tenant = ? AND {name}.generation = ? AND {name}.key IN ({self.marks})"

    def records(self, condition: str, values: Sequence[object], tail: str = "") -> list[Record]:
        """Return those of these memories, as ``m``, that a condition is true of."""
        found = self.db.execute(
            f"{rows.SELECT} WHERE {self.among()} AND {condition} {tail}", (*self.own, *values)
        ).fetchall()
        return [rows.to_record(row) for row in found]

    def of(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return those of these memories that have one of these ids."""
        wanted = [memory for memory in ids if rows.is_id(memory)]
        held: dict[str, Record] = {}
        for batch in rows.batches(wanted):
            hashes = [rows.sort_hash(memory) for memory in batch]
            marks = ",".join("?" * len(hashes))
            held |= {record.id: record for record in self.records(f"m.hash IN ({marks})", hashes)}
        return {memory: held[memory] for memory in wanted if memory in held}

    def complete(self, prefix: str, limit: int) -> list[str]:
        """Return ids that begin with a prefix, smallest first."""
        found: list[str] = []
        for tier, mark in sorted(PREFIX.items(), key=lambda pair: pair[1]):
            digits = (
                prefix[len(mark) :] if prefix.startswith(mark) else "" if mark.startswith(prefix) else None
            )
            if digits is None or len(digits) > DIGITS or not set(digits) <= set("0123456789abcdef"):
                continue
            ends = (int(digits.ljust(DIGITS, fill), 16) - SIGN for fill in "0f")
            held = self.db.execute(
                f"SELECT m.hash FROM memory m WHERE {self.among()} AND m.tier = ? AND m.hash BETWEEN ? AND ? "
                "ORDER BY m.hash LIMIT ?",
                (*self.own, tier, *ends, limit - len(found)),
            ).fetchall()
            found += [rows.from_hash(tier, number) for (number,) in held]
        return found

    def amount(self, key: str) -> int:
        """Return how many memories one of the keys holds, as its segments count them."""
        (live,) = self.db.execute(
            "SELECT total(live) FROM segment WHERE tenant = ? AND generation = ? "
            f"AND key IN ({self.marks}) AND key = ?",
            (*self.own, key),
        ).fetchone()
        return int(live)

    def counts(self, sources: int) -> Counts:
        """Return what these memories are, and how many documents the visible sources hold."""
        held = self.db.execute(
            f"SELECT m.tier, m.status, count(*) FROM memory m WHERE {self.among()} GROUP BY m.tier, m.status",
            self.own,
        ).fetchall()
        (documents,) = self.db.execute(
            "SELECT count(*) FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
            f"WHERE d.tenant = ? AND d.generation = ? AND s.key IN ({self.marks})",
            self.own,
        ).fetchone()
        return counts_of(held, documents, sources)
