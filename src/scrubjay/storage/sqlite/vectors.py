"""Vectors: cosine with each memory's best window, exact, batched, or nominated by sign bits first.

Codes are whole and so small that float32 sums them exactly in any order (`scoring`), so one matrix product a block of
rows both nominates and is exact; only candidates for the best are scored in float64 and rounded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np

from scrubjay.frozen import frozen
from scrubjay.models.results import MICRO, Hit
from scrubjay.storage.scoring import (
    MAX_FLOAT32_DIMENSIONS,
    ArrayScores,
    NominatedScores,
    dot_products,
    mean_and_deviation,
    quantize,
    score_vectors,
)
from scrubjay.storage.sqlite.blobs import (
    MappedVectors,
    VectorFiles,
    VectorLayout,
    VectorRows,
    pack_signs,
)
from scrubjay.storage.table import MemoryTable, TablePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.changes import QuantizedVectors
    from scrubjay.storage.sqlite.connection import Database


LARGE_TABLE: Final = 100_000
"""Rows from which on sign bits nominate; below, every row is scored exactly."""
NOMINATED: Final = 2_000
"""Rows, and ties, that are scored exactly. Recall at 50 against the exact scan: bench/LOG.md."""
SAMPLED: Final = 8_192
"""Rows, spread evenly, whose exact scores give mean and deviation."""
FEW_SHARE: Final = 0.1
"""Share of passing rows up to which all of them are scored exactly."""


class VectorSpan(NamedTuple):
    """One segment's vectors, and the table row of its first slot."""

    first: int
    vectors: MappedVectors


@frozen
class SpanQuery:
    """A query's codes against all spans of a table."""

    codes: NDArray[np.float32]
    scale: float
    spans: tuple[VectorSpan, ...]

    @classmethod
    def from_vector(cls, query: NDArray[np.float32], spans: Sequence[VectorSpan]) -> SpanQuery:
        codes, scale = quantize(query)
        return cls(codes, scale, tuple(spans))

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best window's score of each of these rows (ascending), ``-inf`` where there is none."""
        best = np.full(len(rows), -np.inf, np.float64)
        ends = [span.first for span in self.spans[1:]] + [np.iinfo(np.int64).max]
        cuts = np.searchsorted(rows, ends)
        start = 0
        for span, end in zip(self.spans, cuts.tolist(), strict=True):
            if start == end:
                continue
            wanted, vectors = rows[start:end] - span.first, span.vectors
            if vectors.dense:
                wanted = wanted[: int(np.searchsorted(wanted, len(vectors.slots)))]
                amounts = dot_products(vectors.data[wanted], self.codes)
                best[start : start + len(wanted)] = amounts * (
                    vectors.scales[wanted].astype(np.float64) * self.scale
                )
                start = end
                continue
            first = np.searchsorted(vectors.slots, wanted, "left")
            last = np.searchsorted(vectors.slots, wanted, "right")
            for window in range(int((last - first).max(initial=0))):
                covered = np.flatnonzero(first + window < last)
                window_rows = first[covered] + window
                amounts = dot_products(vectors.data[window_rows], self.codes)
                amounts *= vectors.scales[window_rows].astype(np.float64) * self.scale
                best[start + covered] = np.maximum(best[start + covered], amounts)
            start = end
        return best


def score_large_table(
    table: MemoryTable, spans: Sequence[VectorSpan], query: NDArray[np.float32], passing: NDArray[np.bool_]
) -> NominatedScores:
    """Score the rows whose signs have the smallest Hamming distance, which orders rows nearly as the cosine does."""
    span_query = SpanQuery.from_vector(query, spans)
    covered = sum(len(span.vectors.slots) for span in spans)
    mean, deviation = mean_and_deviation(_sample_statistics(table, span_query, covered))
    scores = score_nominated(table, span_query, passing)
    scores = replace(scores, mean=mean, deviation=deviation, covered=min(covered, table.memories))
    return NominatedScores(scores, span_query.exact)


def score_nominated(table: MemoryTable, query: SpanQuery, passing: NDArray[np.bool_]) -> ArrayScores:
    """Score only the nominated rows, without mean and deviation."""
    few = int(passing.sum()) <= max(FEW_SHARE * table.rows, NOMINATED)
    rows = np.flatnonzero(passing) if few else _nominate_rows(table, query, passing)
    best = np.full(table.rows, -np.inf, np.float64)
    best[rows] = query.exact(rows)
    known = table.live & (best > -np.inf)
    return ArrayScores(
        table=table,
        scores=best,
        known=known,
        passing=rows[known[rows]],
        mean=0.0,
        deviation=0.0,
        covered=len(rows),
    )


def _nominate_rows(table: MemoryTable, query: SpanQuery, passing: NDArray[np.bool_]) -> NDArray[np.int64]:
    codes, spans = query.codes, query.spans
    wanted = pack_signs(codes[None, :])[:, 0]
    far = np.uint16(np.iinfo(np.uint16).max)
    distance = np.full(table.rows, far, np.uint16)
    for span in spans:
        vectors = span.vectors
        near = np.zeros(len(vectors.slots), np.uint16)
        for bits, sign in zip(vectors.bits, wanted, strict=True):
            near += np.bitwise_count(bits ^ sign)
        if vectors.dense:
            distance[span.first : span.first + len(near)] = near
            continue
        rows = vectors.slots.astype(np.int64) + span.first
        if len(rows) > 1 and (rows[1:] == rows[:-1]).any():
            np.minimum.at(distance, rows, near)
        else:
            distance[rows] = near
    distance[~passing] = far
    counted = np.bincount(np.minimum(distance, len(codes) + 1), minlength=len(codes) + 2)[:-1]
    last = int(np.searchsorted(np.cumsum(counted), NOMINATED))
    return np.flatnonzero(distance <= min(last, len(codes)))


def _sample_statistics(table: MemoryTable, query: SpanQuery, covered: int) -> NDArray[np.float64]:
    step = max(covered // SAMPLED, 1)
    samples = []
    for span in query.spans:
        vectors = span.vectors
        live = table.live[vectors.slots[::step].astype(np.int64) + span.first]
        amounts = dot_products(vectors.data[::step], query.codes) * vectors.scales[::step].astype(np.float64)
        samples.append(amounts[live] * query.scale)
    return np.concatenate(samples) if samples else np.zeros(0, np.float64)


if TYPE_CHECKING:
    Rows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int8]]"
    BestRows: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]"

QUERIES_AT_ONCE: Final = 256
"""Queries multiplied at a time: with a block of rows, 4 MB of products."""
FIRST_BLOCK: Final = 256
"""Rows of the first block. Every one is kept when there is no floor, so that the next blocks need to beat
something; each block is twice the one before, so that each brings about as many that do."""
LARGEST_BLOCK: Final = 4_096
FLOAT32_MARGIN: Final = 2e-6
"""Error of a float32 score: half a unit of rounding, and the loss of float32."""


def nearest_rows(
    table: MemoryTable,
    vectors: Iterable[Rows],
    queries: NDArray[np.float32],
    passing: NDArray[np.bool_],
    limit: int,
    floor: float,
) -> list[list[Hit]]:
    """Return the best rows of each query, ties to the smaller id.

    Args:
        table: The rows.
        vectors: Table rows (a row a window), scales and codes, piece by piece.
        queries: float32, shape (queries, dimensions), unit rows.
        passing: Which rows may be returned.
        limit: Maximum number of rows of a query.
        floor: Minimum cosine.
    """
    kind = np.dtype(np.float32 if queries.shape[1] <= MAX_FLOAT32_DIMENSIONS else np.float64)
    packed = [quantize(query) for query in queries]
    codes = np.stack([row for row, _ in packed]).astype(kind)
    scales = np.array([scale for _, scale in packed], np.float64)
    least = np.full(len(queries), floor, np.float64)
    empty = np.zeros(0, np.int64)
    best: BestRows = (empty, empty, empty)
    for rows, row_scales, data in _blocks(vectors):
        products = codes @ data.astype(kind).T
        near = products * row_scales
        # A query of zeros scores 0 with every row.
        bound = np.where(
            scales > 0, (least - FLOAT32_MARGIN) / np.where(scales > 0, scales, 1.0), least - FLOAT32_MARGIN
        )
        # Flat: forty times as fast as the two-dimensional np.nonzero where little is found.
        query, place = np.divmod(np.flatnonzero(near >= bound.astype(kind)[:, None]), len(rows))
        is_hit = passing[rows[place]]
        query, place = query[is_hit], place[is_hit]
        scores = products[query, place].astype(np.float64)
        scores *= row_scales[place].astype(np.float64) * scales[query]
        micro = np.rint(scores * MICRO).astype(np.int64)
        is_hit = micro / MICRO >= floor
        best = _best_rows(table, best, (query[is_hit], rows[place[is_hit]], micro[is_hit]), limit)
        _raise_floor(least, best, limit)
    return _to_hits(table, best, len(queries))


def _blocks(pieces: Iterable[Rows]) -> Iterator[Rows]:
    size = FIRST_BLOCK
    pending: list[Rows] = []
    count = 0
    for rows, scales, data in pieces:
        first = 0
        while first < len(rows):
            last = min(first + size - count, len(rows))
            pending.append((rows[first:last], scales[first:last], data[first:last]))
            count += last - first
            first = last
            if count == size:
                yield _join_pieces(pending)
                pending, count, size = [], 0, min(size * 2, LARGEST_BLOCK)
    if pending:
        yield _join_pieces(pending)


def _join_pieces(pieces: list[Rows]) -> Rows:
    if len(pieces) == 1:
        return pieces[0]
    rows, scales, data = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return rows, scales, data


def _best_rows(table: MemoryTable, before: BestRows, fresh: BestRows, limit: int) -> BestRows:
    """Return the best rows of each query, by query, falling score, id: each row once, by its best window."""
    if not len(fresh[0]):
        return before
    query, row, micro = (np.concatenate(pair) for pair in zip(before, fresh, strict=True))
    columns = table.columns[row]
    order = np.lexsort((columns["key"], columns["tier"], -micro, query))
    query, row, micro = query[order], row[order], micro[order]
    _, first = np.unique(query * table.rows + row, return_index=True)
    first.sort()
    query, row, micro = query[first], row[first], micro[first]
    place = np.arange(len(query)) - np.searchsorted(query, query, "left")
    best = place < limit
    return query[best], row[best], micro[best]


def _raise_floor(least: NDArray[np.float64], best: BestRows, limit: int) -> None:
    """Raise the least score of each query that has enough rows to that of its last."""
    query, _, micro = best
    ends = np.searchsorted(query, np.arange(len(least)), "right")
    full = ends - np.searchsorted(query, np.arange(len(least)), "left") >= limit
    if limit > 0 and full.any():
        least[full] = np.maximum(least[full], micro[ends[full] - 1] / MICRO)


def _to_hits(table: MemoryTable, best: BestRows, queries: int) -> list[list[Hit]]:
    query, row, micro = best
    hits: list[list[Hit]] = [[] for _ in range(queries)]
    scores = (micro / MICRO).tolist()
    for place, memory, score in zip(query.tolist(), table.ids(row), scores, strict=True):
        hits[place].append(Hit(memory, score))
    return hits


if TYPE_CHECKING:
    TokenPlaces: TypeAlias = (
        "tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]"
    )
    """Of the token codes of a segment: slots, ascending; of each its blob, the place in it, and the rows."""
    Arrays = TypeVar("Arrays", VectorRows, TokenPlaces)

VECTOR_CACHE_BYTES: Final = 160 * 1024 * 1024
"""Bytes of vectors a process caches; the rest is read from the file, which the system caches."""

MANY_QUERIES: Final = 24
"""Queries from which on a matrix product over all rows costs less than nominating for one after the other: at 115,000
rows 64 cost 4.9 ms each instead of 11.2, 360 3.6 instead of 9.4, and it misses nothing (bench/LOG.md)."""


class VectorCache:
    """Vector rows of the segments read last, shared by one process's readers.

    ``files`` maps the vectors of a large table; None scores every table exactly.
    """

    def __init__(self, files: VectorFiles | None) -> None:
        self.files = files
        self._cached: OrderedDict[tuple[int, int, int], list[Any]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, db: Database, part: TablePart, model: int, layout: VectorLayout) -> list[VectorRows]:
        return self._get(part, model, lambda: read_vectors(db, part.segment, model, layout))

    def token_places(
        self, db: Database, part: TablePart, model: int, layout: VectorLayout
    ) -> list[TokenPlaces]:
        """Return where the codes of a segment's memories lie, which are not read."""
        return self._get(part, model, lambda: read_token_places(db, part.segment, model, layout))

    def _get(self, part: TablePart, model: int, read: Callable[[], list[Arrays]]) -> list[Arrays]:
        name = (part.segment, part.version, model)
        with self._lock:
            cached = self._cached.get(name)
            if cached is not None:
                self._cached.move_to_end(name)
                return cached
        vectors = read()
        with self._lock:
            for stale in [
                k for k in self._cached if k[0] == part.segment and k[2] == model and k[1] < part.version
            ]:
                self._bytes -= _vector_bytes(self._cached.pop(stale))
            if name not in self._cached:
                self._cached[name] = vectors
                self._bytes += _vector_bytes(vectors)
            while self._bytes > VECTOR_CACHE_BYTES and len(self._cached) > 1:
                self._bytes -= _vector_bytes(self._cached.popitem(last=False)[1])
        return vectors


def read_vectors(db: Database, segment: int, model: int, layout: VectorLayout) -> list[VectorRows]:
    blobs = db.execute(
        "SELECT rows, data FROM vector WHERE segment = ? AND model = ? ORDER BY id", (segment, model)
    ).fetchall()
    return [layout.unpack(data, rows) for rows, data in blobs]


def read_token_places(db: Database, segment: int, model: int, layout: VectorLayout) -> list[TokenPlaces]:
    blobs = db.execute(
        "SELECT id, rows FROM vector WHERE segment = ? AND model = ?", (segment, model)
    ).fetchall()
    pieces = []
    for number, rows in blobs:
        with db.blob_open("main", "vector", "data", number, False) as blob:
            slots = np.frombuffer(blob.read(rows * 2), "<u2")
        firsts = np.flatnonzero(np.diff(slots.astype(np.int32), prepend=-1))
        offsets = layout.row_offset(0, rows) + firsts * layout.width
        counts = np.diff(firsts, append=rows)
        pieces.append((slots[firsts], np.full(len(firsts), number), offsets, counts))
    if not pieces:
        return []
    slots, numbers, offsets, counts = map(np.concatenate, zip(*pieces, strict=True))
    order = np.argsort(slots)
    return [(slots[order], numbers[order], offsets[order].astype(np.int32), counts[order].astype(np.int32))]


def read_token_rows(
    db: Database, places: Sequence[TokenPlaces], layout: VectorLayout, wanted: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int8]]]:
    """Yield the codes of those of these slots (ascending) that have any, and nothing else of the blobs."""
    for slots, numbers, offsets, counts in places:
        indexes = np.minimum(np.searchsorted(slots, wanted), len(slots) - 1)
        indexes = indexes[slots[indexes] == wanted]
        indexes = indexes[np.argsort(numbers[indexes], kind="stable")]
        if not len(indexes):
            continue
        entries = zip(*(part[indexes].tolist() for part in (slots, numbers, offsets, counts)), strict=True)
        open_blob = int(numbers[indexes[0]])
        with db.blob_open("main", "vector", "data", open_blob, False) as blob:
            for slot, number, offset, count in entries:
                if number != open_blob:
                    blob.reopen(number)
                    open_blob = number
                blob.seek(offset)
                data = np.frombuffer(blob.read(count * layout.width), np.int8)
                yield slot, data.reshape(count, layout.width)


def _vector_bytes(vectors: Sequence[tuple[NDArray[Any], ...]]) -> int:
    return sum(array.nbytes for arrays in vectors for array in arrays)


def decode_cached_text(rows: int, blob: bytes, width: int) -> QuantizedVectors:
    from scrubjay.storage.changes import QuantizedVectors

    data = np.frombuffer(blob, "i1", rows * width, rows * 4).reshape(rows, width)
    return QuantizedVectors(data, np.frombuffer(blob, "<f4", rows))


class ModelVectors:
    def __init__(
        self, db: Database, table: MemoryTable, cache: VectorCache, model: int, layout: VectorLayout
    ) -> None:
        self._db = db
        self._table = table
        self._cache = cache
        self._model = model
        self._layout = layout
        self._large = table.memories >= LARGE_TABLE and cache.files is not None

    def score(self, query: NDArray[np.float32], passing: NDArray[np.bool_]) -> ArrayScores | NominatedScores:
        """Score every row; in a large table only the nominated ones."""
        table = self._table
        if self._large:
            return score_large_table(table, self._spans(), query, passing)
        codes, scale = quantize(query)
        best = np.full(table.rows, -np.inf, np.float64)
        for rows, scales, data in self._pieces():
            amounts = dot_products(data, codes) * (scales.astype(np.float64) * scale)
            if len(rows) > 1 and (rows[1:] <= rows[:-1]).any():
                np.maximum.at(best, rows, amounts)
            else:
                best[rows] = amounts
        return score_vectors(table, best, passing)

    def nearest(
        self, queries: NDArray[np.float32], passing: NDArray[np.bool_], limit: int, floor: float
    ) -> list[list[Hit]]:
        """Return at most ``limit`` rows of each query, of a cosine of at least ``floor``."""
        if not self._large or len(queries) >= MANY_QUERIES:
            pieces = list(self._pieces())
            best: list[list[Hit]] = []
            for first in range(0, len(queries), QUERIES_AT_ONCE):
                batch = queries[first : first + QUERIES_AT_ONCE]
                best += nearest_rows(self._table, pieces, batch, passing, limit, floor)
            return best
        spans = self._spans()
        nominated = (
            score_nominated(self._table, SpanQuery.from_vector(query, spans), passing).top(limit)
            for query in queries
        )
        return [[hit for hit in hits if hit.score >= floor] for hits in nominated]

    def windows(self, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        """Return the windows of those of these memories that have any."""
        from scrubjay.storage.changes import QuantizedVectors

        pairs = zip(ids, self._table.find(ids), strict=True)
        places = {memory: row for memory, row in pairs if row is not None}
        wanted = np.array(sorted(set(places.values())), np.int64)
        by_row: dict[int, list[tuple[NDArray[np.int8], NDArray[np.float32]]]] = {}
        if not self._layout.scaled:
            by_row = {row: [(data, np.ones(len(data), np.float32))] for row, data in self._token_rows(wanted)}
        for rows, scales, data in self._pieces() if self._layout.scaled else ():
            firsts, lasts = (np.searchsorted(rows, wanted, side) for side in ("left", "right"))
            for place in np.flatnonzero(lasts > firsts).tolist():
                own = slice(int(firsts[place]), int(lasts[place]))
                by_row.setdefault(int(wanted[place]), []).append((data[own], scales[own]))
        return {
            memory: QuantizedVectors(*(np.concatenate(parts) for parts in zip(*by_row[row], strict=True)))
            for memory, row in places.items()
            if row in by_row
        }

    def _token_rows(self, wanted: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int8]]]:
        """Yield the codes of table rows (ascending); other codes are neither read nor cached."""
        for part in self._table.parts:
            first, last = np.searchsorted(wanted, (part.first, part.first + part.slots)).tolist()
            if first < last:
                places = self._cache.token_places(self._db, part, self._model, self._layout)
                own = wanted[first:last] - part.first
                for slot, data in read_token_rows(self._db, places, self._layout, own):
                    yield slot + part.first, data

    def _pieces(self) -> Iterator[Rows]:
        """Yield table rows (a row a window, ascending), scales and codes, piece by piece."""
        if self._large:
            for span in self._spans():
                vectors = span.vectors
                yield vectors.slots.astype(np.int64) + span.first, vectors.scales, vectors.data
            return
        for part in self._table.parts:
            for slots, scales, data in self._cache.get(self._db, part, self._model, self._layout):
                yield slots.astype(np.int64) + part.first, scales, data

    def _spans(self) -> list[VectorSpan]:
        assert self._cache.files is not None
        return [
            VectorSpan(part.first, self._cache.files.get(
                (part.segment, part.version, self._model), self._layout.width,
                partial(read_vectors, self._db, part.segment, self._model, self._layout),
            ))
            for part in self._table.parts
        ]  # fmt: skip
