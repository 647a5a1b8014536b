"""Memory table: the memories a reader may see, laid end to end, with id lookup and filters.

Sorting a million keys takes a tenth of a second, and each write makes a new table. Large parts rarely change, so their
sorted keys are reused; the small parts are sorted each time.
"""

from __future__ import annotations

import fnmatch
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from scrubjay.frozen import frozen
from scrubjay.models.ids import memory_id, parse_id
from scrubjay.models.records import STATUSES, TIERS, Record, RecordFilter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    SortedKeys: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint64]]"


LARGE_PART: Final = 16_384


@frozen
class TablePart:
    """One segment within a table.

    Attributes:
        version: Changes with every change of its columns, postings or vectors.
        first: Row of its first slot.
        slots: How many rows it has.
    """

    segment: int
    version: int
    first: int
    slots: int


SortedPartsCache: TypeAlias = "dict[tuple[tuple[int, int], ...], SortedKeys]"
"""The sorted keys of the large parts, by segment and version: one entry, for the last table."""


class IdLookup:
    """The rows of one table by key; ``orders`` carries the sorted large parts from one table to the next."""

    def __init__(
        self, keys: NDArray[np.uint64], parts: Sequence[TablePart], orders: SortedPartsCache
    ) -> None:
        large_parts = [part for part in parts if part.slots >= LARGE_PART]
        large = [(part.first, part.slots) for part in large_parts]
        small = [(part.first, part.slots) for part in parts if part.slots < LARGE_PART]
        small = small if parts else [(0, len(keys))]
        self._pieces = [_SortedParts(_sort_keys(keys, small), small)]
        if large:
            name = tuple((part.segment, part.version) for part in large_parts)
            sorted_keys = orders.get(name)
            # Read once: a reader of another state of the store may replace the entry meanwhile.
            if sorted_keys is None:
                sorted_keys = _sort_keys(keys, large)
                orders.clear()
                orders[name] = sorted_keys
            self._pieces.append(_SortedParts(sorted_keys, large))

    def rows(self, numbers: NDArray[np.uint64]) -> list[list[int]]:
        """Return the rows that have each number, mostly one or none."""
        rows: list[list[int]] = [[] for _ in numbers]
        for piece in self._pieces:
            for place, row in piece.rows(numbers):
                rows[place].append(row)
        return rows


class _SortedParts:
    def __init__(self, sorted_keys: SortedKeys, parts: Sequence[tuple[int, int]]) -> None:
        self._order, self._keys = sorted_keys
        self._first = [first for first, _ in parts]
        self._start = np.cumsum([0, *(slots for _, slots in parts[:-1])]).tolist()

    def rows(self, numbers: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
        if not len(self._keys):
            return
        positions = np.searchsorted(self._keys, numbers)
        matching = self._keys[np.minimum(positions, len(self._keys) - 1)] == numbers
        for place in np.flatnonzero(matching & (positions < len(self._keys))).tolist():
            position = int(positions[place])
            while position < len(self._keys) and self._keys[position] == numbers[place]:
                local = int(self._order[position])
                part = bisect_right(self._start, local) - 1
                yield place, local - self._start[part] + self._first[part]
                position += 1


def _sort_keys(keys: NDArray[np.uint64], parts: Sequence[tuple[int, int]]) -> SortedKeys:
    joined = np.concatenate([keys[first : first + slots] for first, slots in parts] or [keys[:0]])
    order = np.argsort(joined, kind="stable")
    return order, joined[order]


COLUMNS: Final = np.dtype(
    [
        ("key", "<u8"),  # the id's number
        ("num", "<i8"),
        ("at", "<i8"),  # event start, else recorded: UTC µs
        ("length", "<u4"),  # source words
        ("tier", "u1"),
        ("status", "u1"),
        ("live", "u1"),  # 0: removed; the slot stays empty until the segment is merged
        ("language", "u1"),  # row of the language table
    ]
)
MAX_LOOKED_UP: Final = 1 << 14
"""Ids whose rows a table caches, about 2 MB: every channel and stage of a search looks up the same ones."""
NOT_LOOKED_UP: Final = -1
TIER_CODE: Final = {tier: code for code, tier in enumerate(TIERS)}
STATUS_CODE: Final = {status: code for code, status in enumerate(STATUSES)}


@frozen
class MemoryTable:
    """Columns of all visible memories.

    Attributes:
        parts: The segments, in order; none in a store that has no segments.
        columns: Shape (rows,), of `COLUMNS`; dead slots have ``live`` 0.
        live: Which rows are memories.
        lengths: Source words a row, float64.
        memories: How many rows are live (N).
        average: Mean length of the live rows, 1.0 when all are empty.
        languages: Numbers of the live rows' languages.
        orders: Sorted keys of the large parts of the table before this one.
    """

    parts: tuple[TablePart, ...]
    columns: NDArray[np.void]
    live: NDArray[np.bool_]
    lengths: NDArray[np.float64]
    memories: int
    average: float
    languages: tuple[int, ...]
    orders: SortedPartsCache = field(default_factory=dict)
    _lookup: list[IdLookup] = field(default_factory=list)
    _masks: dict[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)
    _rows_by_id: dict[str, int | None] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return len(self.columns)

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        keys, tiers = self.columns["key"][rows], self.columns["tier"][rows]
        return [memory_id(TIERS[tier], key) for key, tier in zip(keys.tolist(), tiers.tolist(), strict=True)]

    def page(self, passing: NDArray[np.bool_], after: int, limit: int) -> list[str]:
        """Return the ids of passing rows whose numbers come after one (-1: all), by number."""
        rows = np.flatnonzero(passing if after < 0 else passing & (self.columns["key"] > np.uint64(after)))
        order = np.argsort(self.columns["key"][rows], kind="stable")[:limit]
        return self.ids(rows[order])

    def latest(self, passing: NDArray[np.bool_], limit: int, skip: int = 0) -> list[str]:
        """Return the ids of passing rows, latest first, by number where times are equal."""
        rows = np.flatnonzero(passing)
        columns = self.columns[rows]
        order = np.lexsort((columns["tier"], columns["key"], -columns["at"]))[skip : skip + limit]
        return self.ids(rows[order])

    def find(self, ids: Sequence[str]) -> list[int | None]:
        if not self._lookup:
            self._lookup.append(IdLookup(np.ascontiguousarray(self.columns["key"]), self.parts, self.orders))
        known = list(map(self._rows_by_id.get, ids, repeat(NOT_LOOKED_UP)))
        if NOT_LOOKED_UP not in known:
            return known
        new = [memory for memory, row in zip(ids, known, strict=True) if row == NOT_LOOKED_UP]
        looked_up = self._look_up(new)
        if len(self._rows_by_id) > MAX_LOOKED_UP:
            self._rows_by_id.clear()
        self._rows_by_id.update(looked_up)
        return [
            looked_up[memory] if row == NOT_LOOKED_UP else row for memory, row in zip(ids, known, strict=True)
        ]

    def _look_up(self, ids: Sequence[str]) -> dict[str, int | None]:
        parsed = [parse_id(memory) for memory in ids]
        numbers = np.array([pair[1] if pair is not None else 0 for pair in parsed], np.uint64)
        rows = self._lookup[0].rows(numbers)
        return {
            memory: self._row(candidates, pair[0]) if pair is not None else None
            for memory, candidates, pair in zip(ids, rows, parsed, strict=True)
        }

    def of_status(self, codes: tuple[int, ...]) -> NDArray[np.bool_]:
        if codes not in self._masks:
            mask = np.zeros(self.rows, np.bool_)
            for code in codes:
                mask |= self.columns["status"] == code
            self._masks[codes] = mask & self.live
        return self._masks[codes]

    def column_mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        """Return which rows pass a filter as far as status, tier and time tell."""
        codes = tuple(STATUS_CODE[status] for status in where.statuses if status in STATUS_CODE)
        mask = self.of_status(codes).copy()
        if where.tiers:
            # Not np.isin: it imports numpy.ma, a tenth of a cold search.
            tiers = np.zeros(self.rows, np.bool_)
            for tier in where.tiers:
                if tier in TIER_CODE:
                    tiers |= self.columns["tier"] == TIER_CODE[tier]
            mask &= tiers
        if where.since is not None:
            in_time = self.columns["at"] >= where.since
            if where.since_day is not None and where.since_day < where.since:
                in_time |= self.columns["at"] == where.since_day
            mask &= in_time
        if where.until is not None:
            mask &= self.columns["at"] < where.until
            if where.until_day is not None and where.until_day < where.until:
                mask &= self.columns["at"] != where.until_day
        return mask

    def _row(self, rows: Sequence[int], tier: str) -> int | None:
        for row in rows:
            if self.live[row] and TIERS[self.columns["tier"][row]] == tier:
                return row
        return None


def path_matches(path: str, pattern: str) -> bool:
    """Return whether a relative path lies at or below a plain prefix of folders, or matches a glob.

    >>> path_matches("notes/a.md", "notes"), path_matches("notes/a.md", "*.md"), path_matches("n/a.md", "notes")
    (True, True, False)
    >>> path_matches("app/[slug]/page.md", "./app/[slug]")
    True
    """
    path, pattern = (
        name if name.isascii() else unicodedata.normalize("NFC", name)  # systems compose accents or do not
        for name in (path, pattern.removeprefix("./"))
    )
    plain = pattern.rstrip("/")
    if path == plain or path.startswith(plain + "/"):
        return True
    return any(mark in pattern for mark in "*?[") and fnmatch.fnmatchcase(path, pattern)


def record_matches(record: Record, where: RecordFilter) -> bool:
    """Return whether a memory passes a filter, apart from its categories."""
    at = record.event.start if record.event is not None else record.recorded_at
    place = record.place
    return (
        record.status in where.statuses
        and (not where.tiers or record.tier in where.tiers)
        and set(where.tags) <= set(record.tags)
        and (where.since is None or at >= where.since or at == where.since_day)
        and (where.until is None or (at < where.until and at != where.until_day))
        and (not where.sources or (place is not None and place.source in where.sources))
        and (not where.projects or record.project in where.projects)
        and (not where.agents or record.agent in where.agents)
        and (not where.sessions or record.session in where.sessions)
        and (where.apart_from is None or record.session != where.apart_from)
        and (record.pinned or not where.pinned)
        and (not where.path or (place is not None and path_matches(place.path, where.path)))
    )
