"""Vectors: models, their windows, and nearest memories, exact or nominated by the pgvector index.

The vectors of a scope of usual size are read whole and cached until the next write. Of a large one that has an index a
search reads only the nominated vectors, or all that a narrow filter passes; where the index returns too few, all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import NO_FILTER, RecordFilter
from scrubjay.models.results import Hit, round_score
from scrubjay.storage.changes import QuantizedVectors
from scrubjay.storage.postgres import rows as postgres_rows
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.graph import PostgresGraph
from scrubjay.storage.postgres.rows import IN_SCOPE, WindowVectors
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits, NeighbourIndex
from scrubjay.storage.rows import RegisteredModel, id_from_hash
from scrubjay.storage.scoring import ArrayScores, quantize

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.postgres.rows import ScopeKeys
    from scrubjay.storage.table import MemoryTable


def registered_models(db: Database, tenant: int) -> dict[str, RegisteredModel]:
    found = db.execute(
        "SELECT fingerprint, id, state, neighbours, provider, name, revision, dimensions, pooling, most_tokens "
        "FROM model WHERE tenant = %s",
        (tenant,),
    ).fetchall()
    return {row[0]: RegisteredModel(row[1], EmbeddingModel(*row[4:]), row[2], row[3]) for row in found}


def put_vectors(
    db: Database, tenant: int, model: RegisteredModel, windows: Mapping[int, QuantizedVectors]
) -> None:
    held = [
        (num, place, scale, row.tobytes())
        for num, codes in windows.items()
        for place, (scale, row) in enumerate(zip(codes.scales.tolist(), codes.data, strict=True))
    ]
    nums, places, scales, data = [list(column) for column in zip(*held, strict=True)] or [[]] * 4
    db.execute(
        "INSERT INTO vector (tenant, memory, model, place, scale, data) SELECT %s, memory, %s, place, scale, data "
        "FROM unnest(%s::bigint[], %s::integer[], %s::real[], %s::bytea[]) AS new (memory, place, scale, data)",
        (tenant, model.number, nums, places, scales, data),
    )
    if model.neighbours:
        tenant_index.put_neighbours(db, tenant, model.number, zip(nums, places, data, strict=True))


def memory_windows(
    db: Database, scope_keys: ScopeKeys, model: RegisteredModel, hashes: Sequence[int]
) -> dict[str, QuantizedVectors]:
    found = db.execute(
        "SELECT m.tier, m.hash, array_agg(v.scale ORDER BY v.place), string_agg(v.data, '' ORDER BY v.place) "
        "FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
        f"WHERE v.model = %s AND {IN_SCOPE} AND m.hash = ANY(%s::bigint[]) GROUP BY m.tier, m.hash",
        (model.number, *scope_keys, hashes),
    ).fetchall()
    return {
        id_from_hash(tier, number): decode_vectors(scales, data, model.model.dimensions)
        for tier, number, scales, data in found
    }


def cached_texts(
    db: Database, tenant: int, fingerprint: str, hashes: Sequence[str]
) -> dict[str, QuantizedVectors]:
    found = db.execute(
        "SELECT c.hash, c.scales, c.data, m.dimensions FROM cache c JOIN model m ON m.tenant = c.tenant "
        "AND m.id = c.model WHERE c.tenant = %s AND m.fingerprint = %s AND c.hash = ANY(%s)",
        (tenant, fingerprint, list(hashes)),
    ).fetchall()
    return {text: decode_vectors(scales, data, width) for text, scales, data, width in found}


def decode_vectors(scales: Sequence[float], data: bytes, dimensions: int) -> QuantizedVectors:
    return QuantizedVectors(
        np.frombuffer(data, np.int8).reshape(len(scales), dimensions), np.array(scales, np.float32)
    )


SAMPLED: Final = 4_096
"""Memories whose scores give mean and deviation: those of the smallest ids, which are hashes, so that a write changes
the sample by what is new."""
QUERIES_AT_ONCE: Final = 64
"""Texts for which the index is asked in one statement."""


class VectorSample(NamedTuple):
    """Windows of some of a large scope's memories, and about how many of all memories have any."""

    held: WindowVectors
    covered: int


@dataclass(frozen=True, slots=True)
class NominatedScores:
    """Exact scores of the nominated rows; any other row is scored when it is asked for.

    Attributes:
        found: The scores, with mean and deviation of the sample.
        left: Whether other rows pass the filter.
        exact: Scores rows exactly, ``-inf`` where there is no vector.
        whole: Scores all rows.
    """

    found: ArrayScores
    left: bool
    exact: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    whole: Callable[[], ArrayScores]

    @property
    def mean(self) -> float:
        return self.found.mean

    @property
    def deviation(self) -> float:
        return self.found.deviation

    @property
    def covered(self) -> int:
        return self.found.covered

    def top(self, limit: int) -> list[Hit]:
        if self.left and limit > len(self.found.passing):
            return self.whole().top(limit)
        return self.found.top(limit)

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        places = self.found.table.find(ids)
        known = np.array(sorted({row for row in places if row is not None}), np.int64)
        scored = self.found.scores[known]
        new = ~self.found.known[known]
        scored[new] = self.exact(known[new])
        found = dict(zip(known.tolist(), scored.tolist(), strict=True))
        return [
            round_score(found[row]) if row is not None and found[row] > -np.inf else None for row in places
        ]


class PostgresVectors(PostgresGraph):
    _large: LargeTenantLimits
    _table: Callable[[], MemoryTable]
    _mask: Callable[[RecordFilter], NDArray[np.bool_]]

    def _registered(self) -> dict[str, RegisteredModel]:
        return self._snapshot.once("models", lambda: registered_models(self._db, self._tenant))

    def _model(self, fingerprint: str) -> RegisteredModel:
        found = self._registered().get(fingerprint)
        if found is None:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        return found

    def _held(self, number: int, model: EmbeddingModel) -> WindowVectors:
        return self._snapshot.once(
            ("vectors", number),
            lambda: postgres_rows.read_windows(
                self._db, self._scope_keys, self._table(), number, model.dimensions
            ),
            lambda read: sum(array.nbytes for array in read),
        )

    def _index(self, model: RegisteredModel) -> NeighbourIndex | None:
        if model.neighbours != tenant_index.READY or self._table().rows <= self._large.rows:
            return None
        return self._snapshot.once(
            ("index", model.number), lambda: tenant_index.find_index(self._db, self._tenant, model.number)
        )

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores | NominatedScores:
        one = self._model(fingerprint)
        if query.shape != (one.model.dimensions,):
            raise ModelMismatchError(
                f"The query has {query.shape[-1]} dimensions; {one.model.name} makes {one.model.dimensions}."
            )
        (chosen,) = self._chosen(one, query[None, :], where, self._large.nominated)
        if chosen is None:
            return self._exact(one, query, where)
        seen, mask = self._table(), self._mask(where)
        sample = self._sample(one)
        of_sample = postgres_rows.score_windows(seen, sample.held, query, mask)
        found = postgres_rows.score_windows(seen, self._windows_of(one, chosen), query, mask)
        return NominatedScores(
            replace(found, mean=of_sample.mean, deviation=of_sample.deviation, covered=sample.covered),
            len(chosen) < int(mask.sum()),
            lambda rows: postgres_rows.score_windows(seen, self._windows_of(one, rows), query, mask).scores[
                rows
            ],
            lambda: self._exact(one, query, where),
        )

    def _exact(self, model: RegisteredModel, query: NDArray[np.float32], where: RecordFilter) -> ArrayScores:
        return postgres_rows.score_windows(
            self._table(), self._held(model.number, model.model), query, self._mask(where)
        )

    def _windows_of(self, model: RegisteredModel, rows: NDArray[np.int64]) -> WindowVectors:
        return postgres_rows.read_windows(
            self._db, self._scope_keys, self._table(), model.number, model.model.dimensions, rows
        )

    def _sample(self, model: RegisteredModel) -> VectorSample:
        return self._snapshot.once(
            ("sample", model.number),
            lambda: self._sampled(model),
            lambda read: sum(array.nbytes for array in read.held),
        )

    def _sampled(self, model: RegisteredModel) -> VectorSample:
        keys = self._table().columns["key"]
        least = min(SAMPLED, len(keys))
        chosen = np.sort(np.argpartition(keys, least - 1)[:least])
        held = self._windows_of(model, chosen)
        return VectorSample(held, round(len(np.unique(held[0])) / least * len(keys)))

    def _chosen(
        self, model: RegisteredModel, queries: NDArray[np.float32], where: RecordFilter, most: int
    ) -> list[NDArray[np.int64] | None]:
        index = self._index(model)
        if index is None:
            return [None] * len(queries)
        seen, mask = self._table(), self._mask(where)
        passing = np.flatnonzero(mask)
        if self._large.few(len(passing), seen.rows, most):
            return [passing] * len(queries)
        # Strangers' vectors and those that a filter holds back are named, too: so many more are asked for.
        asked = ceil(most * max(index.vectors, seen.rows) / len(passing))
        codes = np.stack([quantize(query)[0] for query in queries])
        named = tenant_index.nominate_neighbours(
            self._db, index.here, (self._tenant, model.number), codes, asked
        )
        nums = seen.columns["num"]
        chosen: list[NDArray[np.int64] | None] = []
        for found in named:
            places = np.minimum(np.searchsorted(nums, found), len(nums) - 1)
            places = places[(nums[places] == found) & mask[places]]
            # The search of the index may have ended early: then nothing is lost, it only takes longer.
            chosen.append(places if 2 * len(places) >= most else None)
        return chosen

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        one = self._model(fingerprint)
        if queries.ndim != 2 or queries.shape[1] != one.model.dimensions:
            raise ModelMismatchError(
                f"The queries have shape {queries.shape}; {one.model.name} makes {one.model.dimensions} dimensions."
            )
        parts = [
            queries[first : first + QUERIES_AT_ONCE] for first in range(0, len(queries), QUERIES_AT_ONCE)
        ]
        found = [hits for part in parts for hits in self._alike(one, part, where, limit)]
        return [[hit for hit in hits if hit.score >= floor] for hits in found]

    def _alike(
        self, model: RegisteredModel, queries: NDArray[np.float32], where: RecordFilter, limit: int
    ) -> list[list[Hit]]:
        chosen = self._chosen(model, queries, where, max(self._large.alike, limit))
        some = [rows for rows in chosen if rows is not None]
        held = self._windows_of(model, np.unique(np.concatenate(some))) if some else None
        seen, mask = self._table(), self._mask(where)
        found = []
        for query, mine in zip(queries, chosen, strict=True):
            if mine is None or held is None:
                found.append(self._exact(model, query, where).top(limit))
                continue
            own = np.isin(held[0], mine)
            of_mine = (held[0][own], held[1][own], held[2][own])
            found.append(postgres_rows.score_windows(seen, of_mine, query, mask).top(limit))
        return found

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        one = self._model(fingerprint)
        found = memory_windows(self._db, self._scope_keys, one, postgres_rows.memory_hashes(ids))
        return {memory: found[memory] for memory in ids if memory in found}

    def windows(self, fingerprint: str) -> int:
        return self._snapshot.once(("windows", fingerprint), lambda: self._windows(fingerprint))

    def _windows(self, fingerprint: str) -> int:
        one = self._registered().get(fingerprint)
        if one is None:
            return 0
        if self._table().rows <= self._large.rows:  # they are read by the search that asks
            return len(self._held(one.number, one.model)[0])
        if self._index(one) is not None:
            return self._sample(one).covered
        ((found,),) = self._all(
            "SELECT count(*) FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
            f"WHERE v.model = %s AND {postgres_rows.IN_SCOPE}",
            one.number, *self._scope_keys,
        )  # fmt: skip
        return int(found)
