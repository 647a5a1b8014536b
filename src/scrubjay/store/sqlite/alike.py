"""Alike: the memories nearest to many queries at once, exactly as one query after the other would find them.

One matrix product a block of rows gives whole numbers: codes are whole and so small that float32 sums them
without rounding, in whatever order (`scrubjay.store.score`). So the product nominates and is exact at once;
only what may still be among the best of its query is scored in float64, rounded and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from scrubjay.memory.ranking import MICRO, Hit
from scrubjay.store.score import EXACT_IN_FLOAT32, quantised
from scrubjay.store.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]]"
    Kept: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]"

QUERIES: Final = 256
"""Queries multiplied at a time: with a block of rows, 4 MB of products."""
FIRST: Final = 256
"""Rows of the first block. Every one is kept when there is no floor, so that the next blocks need to beat
something; each block is twice the one before, so that each brings about as many that do."""
MOST: Final = 4_096
"""Rows of a block at most."""
MARGIN: Final = 2e-6
"""What a score may be short of the least that counts: half a unit of rounding, and what float32 loses."""


def nearest(
    table: Table,
    vectors: Iterable[Rows],
    queries: NDArray[np.float32],
    passing: NDArray[np.bool_],
    wanted: tuple[int, float],
) -> list[list[Hit]]:
    """Return the best rows of each query, ties to the smaller id.

    Args:
        table: The rows.
        vectors: Table rows (a row a window), scales and codes, piece by piece.
        queries: float32, shape (queries, dimensions), unit rows.
        passing: Which rows may be returned.
        wanted: Most rows a query, and the least cosine.
    """
    pieces = list(vectors)
    return [
        hits
        for first in range(0, len(queries), QUERIES)
        for hits in _nearest(table, pieces, queries[first : first + QUERIES], passing, wanted)
    ]


def _nearest(
    table: Table,
    pieces: list[Rows],
    queries: NDArray[np.float32],
    passing: NDArray[np.bool_],
    wanted: tuple[int, float],
) -> list[list[Hit]]:
    limit, floor = wanted
    kind = np.dtype(np.float32 if queries.shape[1] <= EXACT_IN_FLOAT32 else np.float64)
    packed = [quantised(query) for query in queries]
    codes = np.stack([row for row, _ in packed]).astype(kind)
    scales = np.array([scale for _, scale in packed], np.float64)
    least = np.full(len(queries), floor, np.float64)
    none = np.zeros(0, np.int64)
    kept: Kept = (none, none, none)
    for rows, row_scales, data in _blocks(pieces):
        products = codes @ data.astype(kind).T
        near = products * row_scales
        # A query of zeros scores 0 with every row.
        bound = np.where(scales > 0, (least - MARGIN) / np.where(scales > 0, scales, 1.0), least - MARGIN)
        # Flat, which is forty times as fast as the two-dimensional np.nonzero where little is found.
        query, place = np.divmod(np.flatnonzero(near >= bound.astype(kind)[:, None]), len(rows))
        fit = passing[rows[place]]
        query, place = query[fit], place[fit]
        scores = products[query, place].astype(np.float64)
        scores *= row_scales[place].astype(np.float64) * scales[query]
        micro = np.rint(scores * MICRO).astype(np.int64)
        fit = micro / MICRO >= floor
        kept = _best(table, kept, (query[fit], rows[place[fit]], micro[fit]), limit)
        _raise(least, kept, limit)
    return _hits(table, kept, len(queries))


def _blocks(pieces: Iterable[Rows]) -> Iterator[Rows]:
    """Yield the rows of all pieces in blocks that grow from `FIRST` to `MOST`."""
    size = FIRST
    held: list[Rows] = []
    count = 0
    for rows, scales, data in pieces:
        first = 0
        while first < len(rows):
            last = min(first + size - count, len(rows))
            held.append((rows[first:last], scales[first:last], data[first:last]))
            count += last - first
            first = last
            if count == size:
                yield _joined(held)
                held, count, size = [], 0, min(size * 2, MOST)
    if held:
        yield _joined(held)


def _joined(held: list[Rows]) -> Rows:
    if len(held) == 1:
        return held[0]
    rows, scales, data = (np.concatenate(parts) for parts in zip(*held, strict=True))
    return rows, scales, data


def _best(table: Table, kept: Kept, fresh: Kept, limit: int) -> Kept:
    """Return the best rows of each query, by query, falling score, id: each row once, by its best window."""
    if not len(fresh[0]):
        return kept
    query, row, micro = (np.concatenate(pair) for pair in zip(kept, fresh, strict=True))
    columns = table.columns[row]
    order = np.lexsort((columns["key"], columns["tier"], -micro, query))
    query, row, micro = query[order], row[order], micro[order]
    _, first = np.unique(query * table.rows + row, return_index=True)
    first.sort()
    query, row, micro = query[first], row[first], micro[first]
    place = np.arange(len(query)) - np.searchsorted(query, query, "left")
    best = place < limit
    return query[best], row[best], micro[best]


def _raise(least: NDArray[np.float64], kept: Kept, limit: int) -> None:
    """Raise the least score of each query that has as many rows as are wanted to that of the last."""
    query, _, micro = kept
    ends = np.searchsorted(query, np.arange(len(least)), "right")
    full = ends - np.searchsorted(query, np.arange(len(least)), "left") >= limit
    if limit > 0 and full.any():
        least[full] = np.maximum(least[full], micro[ends[full] - 1] / MICRO)


def _hits(table: Table, kept: Kept, queries: int) -> list[list[Hit]]:
    query, row, micro = kept
    found: list[list[Hit]] = [[] for _ in range(queries)]
    scores = (micro / MICRO).tolist()
    for asked, memory, score in zip(query.tolist(), table.ids(row), scores, strict=True):
        found[asked].append(Hit(memory, score))
    return found
