"""Table: the memories one reader may see, laid end to end, so that a row is one number everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.ids import memory_id, parse_id
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.store.lookup import Lookup, Orders, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS: Final = np.dtype(
    [
        ("key", "<u8"),  # the id's number
        ("num", "<i8"),
        ("at", "<i8"),  # event start, else recorded: UTC µs
        ("length", "<u4"),  # source words
        ("tier", "u1"),
        ("status", "u1"),
        ("live", "u1"),  # 0: taken out; the slot stays empty until the segment is merged
        ("language", "u1"),  # row of the language table
    ]
)
MOST_FOUND: Final = 1 << 14
"""Ids whose rows a table remembers, about 2 MB: every channel and stage of a search asks for the same ones."""
UNKNOWN: Final = -1
TIER_CODE: Final = {tier: code for code, tier in enumerate(TIERS)}
STATUS_CODE: Final = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of all visible memories.

    Attributes:
        parts: The segments, in order; none in a store that has no segments.
        columns: Shape (rows,), of `COLUMNS`; dead slots have ``live`` 0.
        live: Which rows are memories.
        lengths: Source words a row, float64.
        memories: How many rows are live (N).
        average: Mean length of the live rows, 1.0 when all are empty.
        languages: Numbers of the live rows' languages.
        orders: How the keys of the large parts of the table before this one are sorted.
    """

    parts: tuple[Part, ...]
    columns: NDArray[np.void]
    live: NDArray[np.bool_]
    lengths: NDArray[np.float64]
    memories: int
    average: float
    languages: tuple[int, ...]
    orders: Orders = field(default_factory=dict)
    _lookup: list[Lookup] = field(default_factory=list)
    _masks: dict[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)
    _found: dict[str, int | None] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are, dead ones too."""
        return len(self.columns)

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the ids of live rows."""
        keys, tiers = self.columns["key"][rows], self.columns["tier"][rows]
        return [memory_id(TIERS[tier], key) for key, tier in zip(keys.tolist(), tiers.tolist(), strict=True)]

    def page(self, passing: NDArray[np.bool_], after: int, limit: int) -> list[str]:
        """Return the ids of those of some live rows whose numbers come after one (-1: all), by number."""
        rows = np.flatnonzero(passing if after < 0 else passing & (self.columns["key"] > np.uint64(after)))
        order = np.argsort(self.columns["key"][rows], kind="stable")[:limit]
        return self.ids(rows[order])

    def latest(self, passing: NDArray[np.bool_], limit: int, skip: int = 0) -> list[str]:
        """Return the ids of those of some live rows that happened last, last first, by number where times are equal."""
        rows = np.flatnonzero(passing)
        held = self.columns[rows]
        order = np.lexsort((held["tier"], held["key"], -held["at"]))[skip : skip + limit]
        return self.ids(rows[order])

    def find(self, ids: Sequence[str]) -> list[int | None]:
        """Return the row of each id, None where the table has none."""
        if not self._lookup:
            self._lookup.append(Lookup(np.ascontiguousarray(self.columns["key"]), self.parts, self.orders))
        known = [self._found.get(memory, UNKNOWN) for memory in ids]
        new = [memory for memory, row in zip(ids, known, strict=True) if row == UNKNOWN]
        if not new:
            return known
        looked_up = self._looked_up(new)
        if len(self._found) > MOST_FOUND:
            self._found.clear()
        self._found.update(looked_up)
        return [looked_up[memory] if row == UNKNOWN else row for memory, row in zip(ids, known, strict=True)]

    def _looked_up(self, ids: Sequence[str]) -> dict[str, int | None]:
        wanted = [parse_id(memory) for memory in ids]
        numbers = np.array([pair[1] if pair is not None else 0 for pair in wanted], np.uint64)
        rows = self._lookup[0].rows(numbers)
        return {
            memory: self._row(some, pair[0]) if pair is not None else None
            for memory, some, pair in zip(ids, rows, wanted, strict=True)
        }

    def of_status(self, codes: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return which rows are memories of any of these statuses; asked by nearly every search."""
        if codes not in self._masks:
            mask = np.zeros(self.rows, np.bool_)
            for code in codes:
                mask |= self.columns["status"] == code
            self._masks[codes] = mask & self.live
        return self._masks[codes]

    def _row(self, rows: Sequence[int], tier: str) -> int | None:
        """Return which of the rows of one number is live and of a tier."""
        for row in rows:
            if self.live[row] and TIERS[self.columns["tier"][row]] == tier:
                return row
        return None
