"""Snapshot cache: rows that were read from one state of a store, kept until the next write.

It caches rows, not answers: a search reads a few hundred, and the next ones mostly the same. Each store notices writes
in its own way and then starts a new snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from scrubjay.models.graph import Edge
    from scrubjay.models.records import Record, RecordFilter
    from scrubjay.storage.interface import RankingMetadata
    from scrubjay.storage.scoring import GroupScores
    from scrubjay.text.tokenizer import TermGroup


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_METADATA: Final = 1 << 14
"""Memories whose ranking metadata (about 8 MB) and adjacent turns (4 MB) are cached."""
MAX_RECORDS: Final = 1 << 11
"""Records that are cached, about 4 MB."""
MAX_MASKS: Final = 8
"""Filters whose masks are cached: a byte a memory, and an agent uses the same few."""
MAX_SCORE_BYTES: Final = 1 << 24
"""Bytes of cached scores of words: the commonest words cost the most and occur in most questions. With a quarter of it
a search takes 5 % longer at 10,000 memories (bench/LOG.md)."""
ROW_BYTES: Final = 500
"""Bytes of a small row, about."""
RECORD_BYTES: Final = 2_000
"""Bytes of a record, about."""


class RowCache(Generic[K, V]):
    """Rows by name, bounded by their number or, with ``weigh``, by their size; a miss (None) is cached too."""

    def __init__(self, limit: int, weigh: Callable[[V], int] | None = None) -> None:
        self._limit = limit
        self._weigh = weigh
        self._rows: dict[K, V | None] = {}
        self.size = 0

    def get(self, names: Sequence[K], read: Callable[[list[K]], dict[K, V]]) -> dict[K, V]:
        """Return the rows that exist, in the order of their names; ``read`` reads those not read yet."""
        rows = self._rows
        try:  # usually all are cached
            return {name: row for name in names if (row := rows[name]) is not None}
        except KeyError:
            new = [name for name in dict.fromkeys(names) if name not in rows]
        read_rows = read(new)
        fresh = {name: read_rows.get(name) for name in new}
        added = self._size_of(fresh)
        for remaining in (len(rows) // 2, 0):
            if self.size + added <= self._limit:
                break
            # Keep the newest half: dropping many at once makes this rare.
            newest = list(rows.items())[len(rows) - remaining :]
            self._rows = rows = {name: rows[name] for name in names if name in rows} | dict(newest)
            self.size = self._size_of(rows)
        if self.size + added > self._limit:
            self._rows, self.size = {}, 0
        rows.update(fresh)
        if rows is self._rows:
            self.size += added
        return {name: row for name in names if (row := rows[name]) is not None}

    def allow(self, limit: int) -> None:
        self._limit = limit
        if self.size > limit:
            self._rows, self.size = {}, 0

    def _size_of(self, rows: dict[K, V | None]) -> int:
        weigh = self._weigh
        return len(rows) if weigh is None else sum(weigh(row) for row in rows.values() if row is not None)

    def __len__(self) -> int:
        return len(self._rows)


class Snapshot:
    """Rows and values read of one scope's memories.

    Attributes:
        ranking_metadata: Those of memories.
        adjacent: Turns next to turns.
        records: Memories.
        masks: Rows that pass a filter.
        words: Scores of term groups.
        edges: Edges that leave nodes, or lead to them.
    """

    def __init__(self) -> None:
        self.ranking_metadata: RowCache[str, RankingMetadata] = RowCache(MAX_METADATA)
        self.adjacent: RowCache[str, tuple[str, ...]] = RowCache(MAX_METADATA)
        self.records: RowCache[str, Record] = RowCache(MAX_RECORDS)
        self.masks: RowCache[RecordFilter, Any] = RowCache(MAX_MASKS)
        self.words: RowCache[TermGroup, GroupScores] = RowCache(MAX_SCORE_BYTES, _scores_size)
        self.edges: RowCache[tuple[str, Hashable], Sequence[Edge]] = RowCache(MAX_METADATA, _edges_size)
        self._others: dict[Hashable, RowCache[Any, Any]] = {}
        self._values: dict[Hashable, Any] = {}
        self._weights: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.ranking_metadata) + len(self.adjacent) + len(self.records)

    def row_cache(self, name: Hashable) -> RowCache[Any, Any]:
        return self._others.setdefault(name, RowCache(MAX_METADATA))

    def edges_of(
        self, ids: Sequence[str], which: Hashable, read: Callable[[list[str]], Mapping[str, Sequence[Edge]]]
    ) -> list[Edge]:
        """Return the edges of nodes in the order of their ids; ``which`` tells kinds of requests apart."""
        names = {(node, which): node for node in ids}

        def read_new(new: list[tuple[str, Hashable]]) -> dict[tuple[str, Hashable], Sequence[Edge]]:
            found = read([names[name] for name in new])
            return {name: found[names[name]] for name in new}

        return [edge for found in self.edges.get(list(names), read_new).values() for edge in found]

    def cached(self, name: Hashable, read: Callable[[], V], weigh: Callable[[V], int] | None = None) -> V:
        """Return what was read under a name, reading it the first time; ``weigh`` returns its bytes."""
        if name not in self._values:
            found = read()
            self._weights[name] = 0 if weigh is None else weigh(found)
            self._values[name] = found
        value: V = self._values[name]
        return value

    def peek(self, name: Hashable) -> Any:
        return self._values.get(name)

    def pop(self, name: Hashable) -> Any:
        """Remove a value from the cache and return it; None if it is not there."""
        self._weights.pop(name, None)
        return self._values.pop(name, None)

    @property
    def weight(self) -> int:
        """Its size in bytes, about."""
        small = (
            len(self.ranking_metadata)
            + len(self.adjacent)
            + sum(map(len, list(self._others.values())))
            + self.edges.size
        )
        large = len(self.records) * RECORD_BYTES + self.words.size
        return small * ROW_BYTES + large + sum(list(self._weights.values()))


def _edges_size(edges: Sequence[Edge]) -> int:
    return 1 + len(edges)


def _scores_size(scores: GroupScores) -> int:
    return ROW_BYTES + sum(array.nbytes for array in scores)
