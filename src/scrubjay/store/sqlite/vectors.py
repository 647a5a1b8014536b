"""Vectors: cosine with each memory's best window, over the vectors of a table's segments."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.memory.models import Model
from scrubjay.memory.ranking import Hit
from scrubjay.store.lookup import Part
from scrubjay.store.score import products, quantised
from scrubjay.store.scored import ArrayScored, by_vectors
from scrubjay.store.sqlite.alike import nearest
from scrubjay.store.sqlite.files import Files
from scrubjay.store.sqlite.nominate import LARGE, NominatedScored, Query, Span, nominate, nominated
from scrubjay.store.sqlite.pack import Vectors, unpack_vectors
from scrubjay.store.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.changes import Codes
    from scrubjay.store.sqlite.database import Database

KEPT_BYTES: Final = 160 * 1024 * 1024
"""Bytes of vectors a process keeps; the rest is read from the file, which the system caches for all."""

MANY: Final = 24
"""Queries from which on a matrix product over all rows costs less than nominating for one after the other: at 115,000
rows 64 cost 4.9 ms each instead of 11.2, 360 3.6 instead of 9.4, and it misses nothing (bench/LOG.md)."""


class Blocks:
    """Vector rows of the segments read last, shared by one process's readers.

    Args:
        files: Where the vectors of a large table are mapped from; None scores every table exactly.
    """

    def __init__(self, files: Files | None) -> None:
        self.files = files
        self._kept: OrderedDict[tuple[int, int, int], list[Vectors]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def of(self, db: Database, part: Part, model: int, dimensions: int) -> list[Vectors]:
        """Return a segment's vectors of a model."""
        name = (part.segment, part.version, model)
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None:
                self._kept.move_to_end(name)
                return kept
        vectors = read(db, part.segment, model, dimensions)
        with self._lock:
            for stale in [
                k for k in self._kept if k[0] == part.segment and k[2] == model and k[1] < part.version
            ]:
                self._bytes -= _size(self._kept.pop(stale))
            if name not in self._kept:
                self._kept[name] = vectors
                self._bytes += _size(vectors)
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= _size(self._kept.popitem(last=False)[1])
        return vectors


def read(db: Database, segment: int, model: int, dimensions: int) -> list[Vectors]:
    """Return a segment's vectors of a model, from the file."""
    found = db.execute(
        "SELECT rows, data FROM vector WHERE segment = ? AND model = ? ORDER BY id", (segment, model)
    ).fetchall()
    return [unpack_vectors(data, rows, dimensions) for rows, data in found]


def _size(vectors: list[Vectors]) -> int:
    return sum(data.nbytes + scales.nbytes + slots.nbytes for slots, scales, data in vectors)


def score(
    db: Database,
    table: Table,
    blocks: Blocks,
    model: tuple[int, Model],
    query: NDArray[np.float32],
    passing: NDArray[np.bool_],
) -> ArrayScored | NominatedScored:
    """Score every row that has vectors of the model; in a large table, the most promising ones."""
    if _large(table, blocks):
        return nominate(table, _spans(db, table, blocks, model), query, passing)
    codes, scale = quantised(query)
    best = np.full(table.rows, -np.inf, np.float64)
    for rows, scales, data in pieces(db, table, blocks, model):
        amounts = products(data, codes) * (scales.astype(np.float64) * scale)
        if len(rows) > 1 and (rows[1:] <= rows[:-1]).any():
            np.maximum.at(best, rows, amounts)
        else:
            best[rows] = amounts
    return by_vectors(table, best, passing)


def alike(
    db: Database,
    table: Table,
    blocks: Blocks,
    model: tuple[int, Model],
    queries: NDArray[np.float32],
    passing: NDArray[np.bool_],
    wanted: tuple[int, float],
) -> list[list[Hit]]:
    """Return the best rows of each query; ``wanted`` is the most of them and the least cosine."""
    limit, floor = wanted
    if not _large(table, blocks) or len(queries) >= MANY:
        return nearest(table, pieces(db, table, blocks, model), queries, passing, wanted)
    spans = _spans(db, table, blocks, model)
    found = (nominated(table, Query.of(query, spans), passing).top(limit) for query in queries)
    return [[hit for hit in hits if hit.score >= floor] for hits in found]


def windows(
    db: Database, table: Table, blocks: Blocks, model: tuple[int, Model], ids: Sequence[str]
) -> dict[str, Codes]:
    """Return the windows of those of these memories that have vectors of the model."""
    from scrubjay.store.changes import Codes

    places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
    wanted = np.array(sorted(set(places.values())), np.int64)
    held: dict[int, list[tuple[NDArray[np.int8], NDArray[np.float32]]]] = {}
    for rows, scales, data in pieces(db, table, blocks, model):
        firsts, lasts = (np.searchsorted(rows, wanted, side) for side in ("left", "right"))
        for place in np.flatnonzero(lasts > firsts).tolist():
            own = slice(int(firsts[place]), int(lasts[place]))
            held.setdefault(int(wanted[place]), []).append((data[own], scales[own]))
    return {
        memory: Codes(*(np.concatenate(parts) for parts in zip(*held[row], strict=True)))
        for memory, row in places.items()
        if row in held
    }


def pieces(
    db: Database, table: Table, blocks: Blocks, model: tuple[int, Model]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]]]:
    """Yield all vectors of a model: table rows (a row a window, ascending), scales, codes; piece by piece."""
    number, identity = model
    if _large(table, blocks):
        for span in _spans(db, table, blocks, model):
            held = span.vectors
            yield held.slots.astype(np.int64) + span.first, held.scales, held.data
        return
    for part in table.parts:
        for slots, scales, data in blocks.of(db, part, number, identity.dimensions):
            yield slots.astype(np.int64) + part.first, scales, data


def _large(table: Table, blocks: Blocks) -> bool:
    return table.memories >= LARGE and blocks.files is not None


def _spans(db: Database, table: Table, blocks: Blocks, model: tuple[int, Model]) -> list[Span]:
    number, identity = model
    assert blocks.files is not None
    return [
        Span(part.first, blocks.files.of(
            (part.segment, part.version, number), identity.dimensions,
            partial(read, db, part.segment, number, identity.dimensions),
        ))
        for part in table.parts
    ]  # fmt: skip
