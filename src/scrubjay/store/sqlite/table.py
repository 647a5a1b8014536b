"""Table: the segments one reader may see, laid end to end, so that a row is one number everywhere."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.memory.ids import memory_id, parse_id
from scrubjay.memory.tiers import TIERS
from scrubjay.store.sqlite import pack

if TYPE_CHECKING:
    import apsw

MOST_TABLES: Final = 4
"""Tables a process keeps: one for each of the last scopes that read."""


@dataclass(frozen=True, slots=True)
class Part:
    """One segment within a table.

    Attributes:
        segment: Its number.
        version: Changes with every change of its columns, postings or vectors.
        first: Row of its first slot.
        slots: How many rows it has.
    """

    segment: int
    version: int
    first: int
    slots: int


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of all visible memories.

    Attributes:
        parts: The segments, in order.
        columns: Shape (rows,), of `pack.COLUMNS`; dead slots have ``live`` 0.
        live: Which rows are memories.
        lengths: Source words a row, float64.
        memories: How many rows are live (N).
        average: Mean length of the live rows, 1.0 when all are empty.
        languages: Numbers of the live rows' languages.
    """

    parts: tuple[Part, ...]
    columns: NDArray[np.void]
    live: NDArray[np.bool_]
    lengths: NDArray[np.float64]
    memories: int
    average: float
    languages: tuple[int, ...]
    _order: list[NDArray[np.int64]] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows there are, dead ones too."""
        return len(self.columns)

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the ids of live rows."""
        keys, tiers = self.columns["key"][rows], self.columns["tier"][rows]
        return [memory_id(TIERS[tier], key) for key, tier in zip(keys.tolist(), tiers.tolist(), strict=True)]

    def find(self, ids: Sequence[str]) -> list[int | None]:
        """Return the row of each id, None where the table has none."""
        if not self._order:
            self._order.append(np.argsort(self.columns["key"], kind="stable"))
        order = self._order[0]
        wanted = [parse_id(memory) for memory in ids]
        numbers = np.array([pair[1] if pair is not None else 0 for pair in wanted], np.uint64)
        spots = np.searchsorted(self.columns["key"], numbers, sorter=order).tolist()
        return [
            self._row(order, spot, pair[1]) if pair is not None else None
            for spot, pair in zip(spots, wanted, strict=True)
        ]

    def _row(self, order: NDArray[np.int64], spot: int, key: int) -> int | None:
        while spot < len(order) and int(self.columns["key"][order[spot]]) == key:
            if self.live[order[spot]]:
                return int(order[spot])
            spot += 1
        return None


class Tables:
    """Tables of the last scopes, shared by one process's readers."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], Table] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, db: apsw.Connection, tenant: int, generation: int, keys: Sequence[str]) -> Table:
        """Return the table of these visibility keys, as the open transaction sees it."""
        marks = ",".join("?" * len(keys))
        heads = db.execute(
            f"SELECT id, version, slots, live, length FROM segment WHERE tenant = ? AND generation = ? AND key IN ({marks})"
            " ORDER BY id",
            (tenant, generation, *keys),
        ).fetchall()
        name = (id(self), tenant, tuple((head[0], head[1]) for head in heads))
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
                return kept
        table = _read(db, heads)
        with self._lock:
            self._kept[name] = table
            while len(self._kept) > MOST_TABLES:
                self._kept.popitem(last=False)
        return table


def _read(db: apsw.Connection, heads: Sequence[tuple[int, int, int, int, int]]) -> Table:
    parts = []
    blobs = []
    first = 0
    for segment, version, slots, _, _ in heads:
        (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
        parts.append(Part(segment, version, first, slots))
        blobs.append(blob)
        first += slots
    columns = np.frombuffer(b"".join(blobs), pack.COLUMNS)
    live = columns["live"] == 1
    memories = sum(head[3] for head in heads)
    length = sum(head[4] for head in heads)
    average = length / memories if length else 1.0
    languages = tuple(np.unique(columns["language"][live]).tolist())
    return Table(tuple(parts), columns, live, columns["length"].astype(np.float64), memories, average, languages)
