"""Vectors: models, their windows, and nearest memories, exact or nominated by the pgvector index.

The vectors of a scope of usual size are read whole and cached until the next write. Of a large one that has an index a
search reads only the nominated vectors, or all that a narrow filter passes; where the index returns too few, all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import NO_FILTER, RecordFilter
from scrubjay.models.results import Hit
from scrubjay.storage.changes import QuantizedVectors
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.graph import PostgresGraph
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits, NeighbourIndex
from scrubjay.storage.rows import (
    VISIBLE,
    RegisteredModel,
    id_from_hash,
    memory_hashes,
)
from scrubjay.storage.scoring import ArrayScores, NominatedScores, dot_products, quantize, score_vectors
from scrubjay.storage.table import MemoryTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import Database


def registered_models(db: Database, tenant: int) -> dict[str, RegisteredModel]:
    rows = db.execute(
        "SELECT fingerprint, id, state, neighbours, provider, name, revision, dimensions, pooling, most_tokens "
        "FROM model WHERE tenant = %s",
        (tenant,),
    ).fetchall()
    return {row[0]: RegisteredModel(row[1], EmbeddingModel(*row[4:]), row[2], row[3]) for row in rows}


def put_vectors(
    db: Database, tenant: int, model: RegisteredModel, windows: Mapping[int, QuantizedVectors]
) -> None:
    if model.model.late_interaction:  # all of a memory in one row: a row costs more than the codes of a token
        values = [(num, 0, 1.0, codes.data.tobytes()) for num, codes in windows.items()]
    else:
        values = [
            (num, place, scale, row.tobytes())
            for num, codes in windows.items()
            for place, (scale, row) in enumerate(zip(codes.scales.tolist(), codes.data, strict=True))
        ]
    nums, places, scales, data = [list(column) for column in zip(*values, strict=True)] or [[]] * 4
    db.execute(
        "INSERT INTO vector (tenant, memory, model, place, scale, data) SELECT %s, memory, %s, place, scale, data "
        "FROM unnest(%s::bigint[], %s::integer[], %s::real[], %s::bytea[]) AS new (memory, place, scale, data)",
        (tenant, model.number, nums, places, scales, data),
    )
    if model.neighbours:
        tenant_index.put_neighbours(db, tenant, model.number, zip(nums, places, data, strict=True))


def decode_vectors(scales: Sequence[float], data: bytes, model: EmbeddingModel) -> QuantizedVectors:
    rows = np.frombuffer(data, np.int8).reshape(-1, model.row_bytes)
    return QuantizedVectors(
        rows, np.ones(len(rows), np.float32) if model.late_interaction else np.array(scales, np.float32)
    )


def read_vectors(
    db: Database, tenant: int, models: Iterable[RegisteredModel], nums: Sequence[int]
) -> dict[int, dict[str, QuantizedVectors]]:
    """Return, by row, the windows that memories have of each model, by its fingerprint."""
    models_by_number = {registered.number: registered.model for registered in models}
    rows = db.execute(
        "SELECT memory, model, array_agg(scale ORDER BY place), string_agg(data, '' ORDER BY place) FROM vector "
        "WHERE tenant = %s AND memory = ANY(%s::bigint[]) GROUP BY memory, model",
        (tenant, list(nums)),
    ).fetchall()
    vectors: dict[int, dict[str, QuantizedVectors]] = {}
    for num, number, scales, data in rows:
        model = models_by_number[number]
        vectors.setdefault(num, {})[model.fingerprint] = decode_vectors(scales, data, model)
    return vectors


SAMPLED: Final = 4_096
"""Memories whose scores give mean and deviation: those of the smallest ids. As these are hashes, a write changes only a
proportional part of the sample."""
QUERIES_AT_ONCE: Final = 64
"""Queries of one index search."""


FETCH_ROWS: Final = 50_000
"""Memories whose vectors are read at once: a PostgreSQL value holds a gigabyte at most."""
PACKED_WINDOW: Final = np.dtype([("num", ">i8"), ("scale", ">f4")])

WindowVectors: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int8]]"
"""Vectors of a model, a row a window: rows of a table, ascending; scales; codes, shape (windows, dimensions)."""


class VectorSample(NamedTuple):
    """Windows of some of a large scope's memories, and about how many of all memories have any."""

    windows: WindowVectors
    covered: int


def _score_windows(
    table: MemoryTable, windows: WindowVectors, query: NDArray[np.float32], mask: NDArray[np.bool_]
) -> ArrayScores:
    codes, scale = quantize(query)
    rows, scales, data = windows
    best = np.full(table.rows, -np.inf, np.float64)
    np.maximum.at(best, rows, dot_products(data, codes) * (scales * scale))
    return score_vectors(table, best, mask)


class PostgresVectors(PostgresGraph):
    _large: LargeTenantLimits

    def _read_models(self) -> dict[str, RegisteredModel]:
        return registered_models(self._db, self._tenant)

    def _windows(self, model: RegisteredModel, rows: NDArray[np.int64] | None = None) -> WindowVectors:
        """Return all visible vectors of a model, or those of some rows, ascending."""
        heads, codes = [], []
        nums = self._table().columns["num"]
        selected = nums if rows is None else nums[rows]
        for first in range(0, len(selected), FETCH_ROWS):
            # By number, not as a join: the plan would depend on the statistics that the server has of the tables.
            row = self._db.execute(
                "SELECT string_agg(int8send(v.memory) || float4send(v.scale), '' ORDER BY v.memory, v.place), "
                "string_agg(v.data, '' ORDER BY v.memory, v.place) FROM vector v "
                "WHERE v.tenant = %s AND v.model = %s AND v.memory = ANY(%s::bigint[])",
                (self._tenant, model.number, selected[first : first + FETCH_ROWS].tolist()),
                binary=True,
            ).fetchone()
            if row is not None and row[0] is not None:
                heads.append(row[0])
                codes.append(row[1])
        packed = np.frombuffer(b"".join(heads), PACKED_WINDOW)
        data = np.frombuffer(b"".join(codes), np.int8).reshape(len(packed), model.model.dimensions)
        table_rows = np.searchsorted(nums, packed["num"].astype(np.int64))
        return table_rows, packed["scale"].astype(np.float64), data

    def _all_windows(self, model: RegisteredModel) -> WindowVectors:
        return self._snapshot.cached(
            ("vectors", model.number),
            lambda: self._windows(model),
            lambda read: sum(array.nbytes for array in read),
        )

    def _index(self, model: RegisteredModel) -> NeighbourIndex | None:
        if model.neighbours != tenant_index.READY or self._table().rows <= self._large.rows:
            return None
        return self._snapshot.cached(
            ("index", model.number), lambda: tenant_index.find_index(self._db, self._tenant, model.number)
        )

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores | NominatedScores:
        model = self._vector_model(fingerprint, query.shape, 1)
        (nominated,) = self._nominate(model, query[None, :], where, self._large.nominated)
        if nominated is None:
            return self._score_all(model, query, where)
        table, mask = self._table(), self._mask(where)
        sample = self._sample(model)
        statistics = _score_windows(table, sample.windows, query, mask)
        scores = _score_windows(table, self._windows(model, nominated), query, mask)

        def exact(rows: NDArray[np.int64]) -> NDArray[np.float64]:
            return _score_windows(table, self._windows(model, rows), query, mask).scores[rows]

        return NominatedScores(
            replace(scores, mean=statistics.mean, deviation=statistics.deviation, covered=sample.covered),
            exact,
            (lambda: self._score_all(model, query, where)) if len(nominated) < int(mask.sum()) else None,
        )

    def _score_all(
        self, model: RegisteredModel, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores:
        return _score_windows(self._table(), self._all_windows(model), query, self._mask(where))

    def _sample(self, model: RegisteredModel) -> VectorSample:
        return self._snapshot.cached(
            ("sample", model.number),
            lambda: self._read_sample(model),
            lambda read: sum(array.nbytes for array in read.windows),
        )

    def _read_sample(self, model: RegisteredModel) -> VectorSample:
        keys = self._table().columns["key"]
        size = min(SAMPLED, len(keys))
        windows = self._windows(model, np.sort(np.argpartition(keys, size - 1)[:size]))
        return VectorSample(windows, round(len(np.unique(windows[0])) / size * len(keys)))

    def _nominate(
        self, model: RegisteredModel, queries: NDArray[np.float32], where: RecordFilter, minimum: int
    ) -> list[NDArray[np.int64] | None]:
        """Return, for each query, the passing rows to score; None for all."""
        index = self._index(model)
        if index is None:
            return [None] * len(queries)
        table, mask = self._table(), self._mask(where)
        passing = np.flatnonzero(mask)
        if self._large.few(len(passing), table.rows, minimum):
            return [passing] * len(queries)
        # The index also returns other scopes' vectors and those that the filter excludes: ask for as many more.
        limit = ceil(minimum * max(index.vectors, table.rows) / len(passing))
        codes = np.stack([quantize(query)[0] for query in queries])
        nominations = tenant_index.nominate_neighbours(
            self._db, index.schema, self._tenant, model.number, codes, limit
        )
        nums = table.columns["num"]
        nominated: list[NDArray[np.int64] | None] = []
        for memories in nominations:
            rows = np.minimum(np.searchsorted(nums, memories), len(nums) - 1)
            rows = rows[(nums[rows] == memories) & mask[rows]]
            # The index may stop early; then all rows are scored, which only takes longer.
            nominated.append(rows if 2 * len(rows) >= minimum else None)
        return nominated

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        model = self._vector_model(fingerprint, queries.shape, 2)
        hits_by_query: list[list[Hit]] = []
        for first in range(0, len(queries), QUERIES_AT_ONCE):
            hits_by_query += self._nearest_part(model, queries[first : first + QUERIES_AT_ONCE], where, limit)
        return [[hit for hit in hits if hit.score >= floor] for hits in hits_by_query]

    def _nearest_part(
        self, model: RegisteredModel, queries: NDArray[np.float32], where: RecordFilter, limit: int
    ) -> list[list[Hit]]:
        nominated = self._nominate(model, queries, where, max(self._large.alike, limit))
        row_sets = [rows for rows in nominated if rows is not None]
        windows = self._windows(model, np.unique(np.concatenate(row_sets))) if row_sets else None
        table, mask = self._table(), self._mask(where)
        hits_by_query = []
        for query, rows in zip(queries, nominated, strict=True):
            if rows is None or windows is None:
                hits_by_query.append(self._score_all(model, query, where).top(limit))
                continue
            is_own = np.isin(windows[0], rows)
            own_windows = (windows[0][is_own], windows[1][is_own], windows[2][is_own])
            hits_by_query.append(_score_windows(table, own_windows, query, mask).top(limit))
        return hits_by_query

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        model = self._model(fingerprint)
        rows = self._all(
            "SELECT m.tier, m.hash, array_agg(v.scale ORDER BY v.place), string_agg(v.data, '' ORDER BY v.place) "
            "FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
            f"WHERE v.model = %s AND {VISIBLE} AND m.hash = ANY(%s::bigint[]) GROUP BY m.tier, m.hash",
            model.number, *self._scope_keys, memory_hashes(ids),
        )  # fmt: skip
        windows = {
            id_from_hash(tier, number): decode_vectors(scales, data, model.model)
            for tier, number, scales, data in rows
        }
        return {memory: windows[memory] for memory in ids if memory in windows}

    def _count_windows(self, fingerprint: str) -> int:
        model = self._registered_models().get(fingerprint)
        if model is None:
            return 0
        if not model.model.late_interaction and self._table().rows <= self._large.rows:
            return len(self._all_windows(model)[0])  # the search that asks reads them anyway
        if self._index(model) is not None:
            return self._sample(model).covered
        ((count,),) = self._all(
            "SELECT count(*) FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
            f"WHERE v.model = %s AND {VISIBLE}",
            model.number, *self._scope_keys,
        )  # fmt: skip
        return int(count)

    def cached_texts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        model = self._registered_models().get(fingerprint)
        if model is None:
            return {}
        rows = self._all(
            "SELECT hash, scales, data FROM cache WHERE tenant = %s AND model = %s AND hash = ANY(%s)",
            self._tenant, model.number, list(hashes),
        )  # fmt: skip
        return {text: decode_vectors(scales, data, model.model) for text, scales, data in rows}
