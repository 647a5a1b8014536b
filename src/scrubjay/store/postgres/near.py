"""Near: what one scope's memories are near to, exactly, or of a large scope among those that an index nominates.

The vectors of a scope of usual size are read whole and kept until somebody writes. Of a large one, for whose model
there is an index (`neighbours`), a search reads the vectors of the nominated alone; where a filter lets few pass, all
of theirs. The canonical codes are scored by the one function, and where the index leaves short, all are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.models import Model
from scrubjay.memory.ranking import Hit, rounded
from scrubjay.memory.records import ANY, Where
from scrubjay.store.changes import Codes
from scrubjay.store.postgres import models, neighbours, rows, scores
from scrubjay.store.postgres.graph import PostgresGraph
from scrubjay.store.postgres.large import Large
from scrubjay.store.postgres.models import Registered, registered
from scrubjay.store.postgres.neighbours import Index
from scrubjay.store.postgres.scores import Windows
from scrubjay.store.score import quantised
from scrubjay.store.scored import ArrayScored

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scrubjay.store.table import Table

SAMPLED: Final = 4_096
"""Memories whose scores give mean and deviation: those of the smallest ids, which are hashes, so that a write changes
the sample by what is new."""
QUERIES: Final = 64
"""Texts for which the index is asked in one statement."""


class Sample(NamedTuple):
    """Vectors of some of a large scope's memories.

    Attributes:
        held: Their windows.
        covered: About how many of all memories have any; all where all of the sample do.
    """

    held: Windows
    covered: int


@dataclass(frozen=True, slots=True)
class NominatedScored:
    """Exact scores of what was nominated; any other memory is scored when it is asked for.

    Attributes:
        found: The scores, with mean and deviation of the sample.
        left: Whether others pass.
        exact: Scores rows exactly, ``-inf`` where there is no vector.
        whole: Scores all.
    """

    found: ArrayScored
    left: bool
    exact: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    whole: Callable[[], ArrayScored]

    @property
    def mean(self) -> float:
        """Mean score of the sample."""
        return self.found.mean

    @property
    def deviation(self) -> float:
        """Standard deviation of the same."""
        return self.found.deviation

    @property
    def covered(self) -> int:
        """How many memories have vectors of the model, about."""
        return self.found.covered

    def top(self, limit: int) -> list[Hit]:
        """Return the best that pass; where more are wanted than were nominated, among all."""
        if self.left and limit > len(self.found.passing):
            return self.whole().top(limit)
        return self.found.top(limit)

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id, exactly."""
        places = self.found.table.find(ids)
        known = np.array(sorted({row for row in places if row is not None}), np.int64)
        scored = self.found.scores[known]
        new = ~self.found.known[known]
        scored[new] = self.exact(known[new])
        found = dict(zip(known.tolist(), scored.tolist(), strict=True))
        return [rounded(found[row]) if row is not None and found[row] > -np.inf else None for row in places]


class Near(PostgresGraph):
    """Vectors of what one scope sees."""

    _large: Large
    _table: Callable[[], Table]
    _mask: Callable[[Where], NDArray[np.bool_]]

    def _registered(self) -> dict[str, Registered]:
        return self._kept.once("models", lambda: registered(self._db, self._tenant))

    def _model(self, fingerprint: str) -> Registered:
        found = self._registered().get(fingerprint)
        if found is None:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        return found

    def _held(self, number: int, model: Model) -> Windows:
        """Return all visible vectors of a model."""
        return self._kept.once(
            ("vectors", number),
            lambda: scores.windows(self._db, self._own, self._table(), (number, model)),
            lambda read: sum(array.nbytes for array in read),
        )

    def _index(self, one: Registered) -> Index | None:
        """Return the index that nominates for this scope, None for a scope of usual size and where there is none."""
        if one.neighbours != neighbours.READY or self._table().rows <= self._large.rows:
            return None
        return self._kept.once(
            ("index", one.number), lambda: neighbours.index(self._db, self._tenant, one.number)
        )

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: Where
    ) -> ArrayScored | NominatedScored:
        """Score by cosine with the best window."""
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
        of_sample = scores.nearest(seen, sample.held, query, mask)
        found = scores.nearest(seen, self._windows_of(one, chosen), query, mask)
        return NominatedScored(
            replace(found, mean=of_sample.mean, deviation=of_sample.deviation, covered=sample.covered),
            len(chosen) < int(mask.sum()),
            lambda rows: scores.nearest(seen, self._windows_of(one, rows), query, mask).scores[rows],
            lambda: self._exact(one, query, where),
        )

    def _exact(self, one: Registered, query: NDArray[np.float32], where: Where) -> ArrayScored:
        return scores.nearest(self._table(), self._held(one.number, one.model), query, self._mask(where))

    def _windows_of(self, one: Registered, rows: NDArray[np.int64]) -> Windows:
        """Return the vectors of some rows, ascending."""
        return scores.windows(self._db, self._own, self._table(), (one.number, one.model), rows)

    def _sample(self, one: Registered) -> Sample:
        return self._kept.once(
            ("sample", one.number),
            lambda: self._sampled(one),
            lambda read: sum(array.nbytes for array in read.held),
        )

    def _sampled(self, one: Registered) -> Sample:
        keys = self._table().columns["key"]
        least = min(SAMPLED, len(keys))
        chosen = np.sort(np.argpartition(keys, least - 1)[:least])
        held = self._windows_of(one, chosen)
        return Sample(held, round(len(np.unique(held[0])) / least * len(keys)))

    def _chosen(
        self, one: Registered, queries: NDArray[np.float32], where: Where, most: int
    ) -> list[NDArray[np.int64] | None]:
        """Return, for each query, the rows that pass and are to be scored; None where that is all of them."""
        index = self._index(one)
        if index is None:
            return [None] * len(queries)
        seen, mask = self._table(), self._mask(where)
        passing = np.flatnonzero(mask)
        if self._large.few(len(passing), seen.rows, most):
            return [passing] * len(queries)
        # Strangers' vectors and those that a filter holds back are named, too: so many more are asked for.
        asked = ceil(most * max(index.vectors, seen.rows) / len(passing))
        codes = np.stack([quantised(query)[0] for query in queries])
        named = neighbours.nominated(self._db, index.here, (self._tenant, one.number), codes, asked)
        nums = seen.columns["num"]
        chosen: list[NDArray[np.int64] | None] = []
        for found in named:
            places = np.minimum(np.searchsorted(nums, found), len(nums) - 1)
            places = places[(nums[places] == found) & mask[places]]
            # The search of the index may have ended early: then nothing is lost, it only takes longer.
            chosen.append(places if 2 * len(places) >= most else None)
        return chosen

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: Where = ANY,
    ) -> list[list[Hit]]:
        """Return the memories nearest to each query."""
        one = self._model(fingerprint)
        if queries.ndim != 2 or queries.shape[1] != one.model.dimensions:
            raise ModelMismatchError(
                f"The queries have shape {queries.shape}; {one.model.name} makes {one.model.dimensions} dimensions."
            )
        parts = [queries[first : first + QUERIES] for first in range(0, len(queries), QUERIES)]
        found = [hits for part in parts for hits in self._alike(one, part, where, limit)]
        return [[hit for hit in hits if hit.score >= floor] for hits in found]

    def _alike(
        self, one: Registered, queries: NDArray[np.float32], where: Where, limit: int
    ) -> list[list[Hit]]:
        chosen = self._chosen(one, queries, where, max(self._large.alike, limit))
        some = [rows for rows in chosen if rows is not None]
        held = self._windows_of(one, np.unique(np.concatenate(some))) if some else None
        seen, mask = self._table(), self._mask(where)
        found = []
        for query, mine in zip(queries, chosen, strict=True):
            if mine is None or held is None:
                found.append(self._exact(one, query, where).top(limit))
                continue
            own = np.isin(held[0], mine)
            of_mine = (held[0][own], held[1][own], held[2][own])
            found.append(scores.nearest(seen, of_mine, query, mask).top(limit))
        return found

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Codes]:
        """Return the windows that visible memories have of a model."""
        one = self._model(fingerprint)
        found = models.windows(self._db, self._own, (one.number, one.model), rows.hashes(ids))
        return {memory: found[memory] for memory in ids if memory in found}

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model."""
        return self._kept.once(("windows", fingerprint), lambda: self._windows(fingerprint))

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
            f"WHERE v.model = %s AND {scores.SCOPE}",
            one.number, *self._own,
        )  # fmt: skip
        return int(found)
