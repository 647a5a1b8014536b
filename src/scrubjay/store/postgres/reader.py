"""Reader: one consistent view for one scope, inside one read-only transaction.

What those before it read of the same state, it does not read again (`snapshots`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.ids import DIGITS
from scrubjay.memory.models import Model
from scrubjay.memory.ranking import Hit
from scrubjay.memory.records import ANY, Record, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import PREFIX
from scrubjay.store.base import Counts, Coverage, Head, ModelState, Waiting
from scrubjay.store.changes import Codes
from scrubjay.store.kept import counts_of
from scrubjay.store.postgres import chains, models, postings, rows, scores, vocabulary
from scrubjay.store.postgres.documents import Documents
from scrubjay.store.postgres.graph import PostgresGraph
from scrubjay.store.postgres.models import Registered, registered
from scrubjay.store.postgres.scores import SCOPE, Windows
from scrubjay.store.postgres.told import Told
from scrubjay.store.scope_check import after as number_after
from scrubjay.store.scored import ArrayScored, Held, by_words
from scrubjay.store.snapshot import ROW_BYTES, Snapshot
from scrubjay.store.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.store.kept import Tenant
    from scrubjay.store.postgres.connect import Database
    from scrubjay.text.tokens import TermGroup


class PostgresReader(Documents, PostgresGraph, Told):
    """A view that lasts as long as its transaction."""

    def __init__(self, db: Database, scope: Scope, tenant: Tenant | None, kept: Snapshot) -> None:
        super().__init__(db, scope, tenant, kept)
        self._passing: dict[Where, NDArray[np.bool_]] = {}
        self._found: dict[TermGroup, Held] = {}

    def _all_rows(self) -> tuple[Table, tuple[str, ...]]:
        return self._kept.once(
            "table", lambda: scores.table(self._db, self._own), lambda read: 3 * read[0].columns.nbytes
        )

    def _table(self) -> Table:
        return self._all_rows()[0]

    def _mask(self, where: Where) -> NDArray[np.bool_]:
        """Return which rows pass a filter; each channel of a search asks for the same."""
        if where not in self._passing:
            self._passing[where] = scores.passing(self._db, self._own, self._table(), where)
        return self._passing[where]

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these ids."""
        return self._kept.records.of(ids, self._get)

    def _get(self, ids: Sequence[str]) -> dict[str, Record]:
        return {r.id: r for r in self._records("m.hash = ANY(%s::bigint[])", rows.hashes(ids))}

    def heads(self, ids: Sequence[str]) -> dict[str, Head]:
        """Return title, length, turn and role of memories."""
        return self._kept.heads.of(ids, self._heads)

    def _heads(self, ids: Sequence[str]) -> dict[str, Head]:
        found = self._all(
            "SELECT m.tier, m.hash, m.title, m.length, m.turn, m.role, coalesce(m.event_start, m.recorded_at), "
            f"m.last_used, m.pinned, m.strength, m.confidence, m.session, m.project FROM memory m "
            f"WHERE {SCOPE} AND m.hash = ANY(%s::bigint[])",
            *self._own, rows.hashes(ids),
        )  # fmt: skip
        return {
            rows.id_of(tier, number): Head(title, words, turn is not None, role, *life)
            for tier, number, title, words, turn, role, *life in found
        }

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the turns just before and after each turn of a session."""
        return self._kept.beside.of(ids, self._adjacent)

    def _adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if self._table().rows > postings.MOST_KEPT:
            return chains.adjacent(self._db, self._own, ids)
        turns = self._kept.once(
            "turns", lambda: chains.turns(self._db, self._own), lambda read: ROW_BYTES * len(read.places)
        )
        return {memory: near for memory in ids if (near := turns.beside(memory))}

    def page(self, after: str, limit: int, where: Where | None = None) -> list[Record]:
        """Return the visible memories whose digits come after those of an id."""
        number = number_after(after)
        if where is not None:
            seen = self._table()
            ids = seen.page(self._mask(where), number, limit)
            return list(self.get(ids).values())
        first = number + 1 - rows.SIGN  # past the last bigint after the last id of all
        return self._records("m.hash >= %s ORDER BY m.hash LIMIT %s", first, limit)

    def latest(self, where: Where, limit: int, skip: int = 0) -> list[Record]:
        """Return what happened last, last first."""
        seen = self._table()
        ids = seen.latest(self._mask(where), limit, skip)
        return list(self.get(ids).values())

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with a prefix."""
        found: list[str] = []
        for tier, mark in sorted(PREFIX.items(), key=lambda pair: pair[1]):
            digits = (
                prefix[len(mark) :] if prefix.startswith(mark) else "" if mark.startswith(prefix) else None
            )
            if digits is None or len(digits) > DIGITS or not set(digits) <= set("0123456789abcdef"):
                continue
            ends = (int(digits.ljust(DIGITS, fill), 16) - rows.SIGN for fill in "0f")
            held = self._all(
                f"SELECT m.hash FROM memory m WHERE {SCOPE} AND m.tier = %s AND m.hash BETWEEN %s AND %s "
                "ORDER BY m.hash LIMIT %s",
                *self._own, tier, *ends, limit - len(found),
            )  # fmt: skip
            found += [rows.id_of(tier, number) for (number,) in held]
        return found

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return the df of each group."""
        return [len(whole[0]) for whole, _ in self._postings(groups)]

    def words(self, groups: Sequence[TermGroup], where: Where) -> ArrayScored:
        """Score by BM25."""
        return by_words(self._table(), self._postings(groups), self._mask(where))

    def _postings(self, groups: Sequence[TermGroup]) -> list[Held]:
        """Return the rows of groups; asked by the plan first and by the scorer again."""
        new = [group for group in groups if group not in self._found]
        if new:
            self._found |= postings.find(self._db, self._own, self._table(), self._kept, new)
        return [self._found[group] for group in groups]

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: Where) -> ArrayScored:
        """Score by cosine with the best window."""
        number, model = self._model(fingerprint)
        if query.shape != (model.dimensions,):
            raise ModelMismatchError(
                f"The query has {query.shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        return scores.nearest(self._table(), self._held(number, model), query, self._mask(where))

    def _held(self, number: int, model: Model) -> Windows:
        """Return all visible vectors of a model."""
        return self._kept.once(
            ("vectors", number),
            lambda: scores.windows(self._db, self._own, self._table(), (number, model)),
            lambda read: sum(array.nbytes for array in read),
        )

    def _registered(self) -> dict[str, Registered]:
        return self._kept.once("models", lambda: registered(self._db, self._tenant))

    def _model(self, fingerprint: str) -> tuple[int, Model]:
        found = self._registered().get(fingerprint)
        if found is None:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        return found.number, found.model

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: Where = ANY,
    ) -> list[list[Hit]]:
        """Return the memories nearest to each query."""
        number, model = self._model(fingerprint)
        if queries.ndim != 2 or queries.shape[1] != model.dimensions:
            raise ModelMismatchError(
                f"The queries have shape {queries.shape}; {model.name} makes {model.dimensions} dimensions."
            )
        seen = self._table()
        mask = self._mask(where)
        held = self._held(number, model)
        found = [scores.nearest(seen, held, query, mask).top(limit) for query in queries]
        return [[hit for hit in hits if hit.score >= floor] for hits in found]

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Codes]:
        """Return the windows that visible memories have of a model."""
        number, model = self._model(fingerprint)
        found = models.windows(self._db, self._own, (number, model), rows.hashes(ids))
        return {memory: found[memory] for memory in ids if memory in found}

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories."""
        return self._all_rows()[1]

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return visible terms spelled like a word."""
        known = postings.words(self._db, self._own, self._table(), self._kept)
        return vocabulary.alike(known, word, limit)

    def models(self) -> list[ModelState]:
        """Return the tenant's registered models."""
        found = [ModelState(one.model, one.state) for one in self._registered().values()]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def _waits(self, fingerprint: str) -> tuple[str, tuple[int, int]]:
        """Return the condition of waiting for a model, and the tenant and the number it asks for."""
        known = self._registered()
        number = known[fingerprint].number if fingerprint in known else -1
        mine = "v.tenant = %s AND v.memory = m.num AND v.model = %s"
        return f"NOT EXISTS (SELECT FROM vector v WHERE {mine})", (self._tenant, number)

    def coverage(self, fingerprint: str) -> Coverage:
        """Return how many visible memories have a model's vectors, and how many wait."""
        condition, asked = self._waits(fingerprint)
        ((held, waiting),) = self._all(
            f"SELECT count(*), count(*) FILTER (WHERE {condition}) FROM memory m WHERE {SCOPE}",
            *asked,
            *self._own,
        )
        return Coverage(held - waiting, waiting)

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model."""
        return self._kept.once(("windows", fingerprint), lambda: self._windows(fingerprint))

    def _windows(self, fingerprint: str) -> int:
        known = self._registered()
        if fingerprint not in known:
            return 0
        if self._table().rows <= postings.MOST_KEPT:  # they are read by the search that asks
            return len(self._held(known[fingerprint].number, known[fingerprint].model)[0])
        ((found,),) = self._all(
            "SELECT count(*) FROM vector v JOIN memory m ON m.tenant = v.tenant AND m.num = v.memory "
            f"WHERE v.model = %s AND {SCOPE}",
            known[fingerprint].number, *self._own,
        )  # fmt: skip
        return int(found)

    def waiting(self, fingerprint: str, limit: int) -> list[Waiting]:
        """Return memories without a model's vectors, in hash order."""
        condition, asked = self._waits(fingerprint)
        records = self._records(f"{condition} ORDER BY m.hash LIMIT %s", *asked, limit)
        return [Waiting(record, self._before(record)) for record in records]

    def _before(self, record: Record) -> str:
        place = record.place
        if place is None:
            return ""
        found = self._records(
            "d.source = %s AND d.path = %s AND m.ordinal = %s AND m.heading_path = %s::text[] "
            'AND m.key = %s ORDER BY m.tier COLLATE "C", m.hash LIMIT 1',
            place.source, place.path, place.ordinal - 1, list(record.heading_path), record.key,
        )  # fmt: skip
        return found[0].content if found else ""

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
        """Return windows of texts that were embedded before."""
        return models.texts(self._db, self._tenant, fingerprint, hashes)

    def forgotten(self, hashes: Iterable[str]) -> set[str]:
        """Return those of these tombstone hashes that were forgotten."""
        found = self._all(
            "SELECT hash FROM tombstone WHERE tenant = %s AND hash = ANY(%s)", self._tenant, list(hashes)
        )
        return {mark for (mark,) in found}

    def counts(self) -> Counts:
        """Return what the scope holds."""
        found = self._all(
            f"SELECT m.tier, m.status, count(*) FROM memory m WHERE {SCOPE} GROUP BY m.tier, m.status",
            *self._own,
        )
        held = [(tier, status, count) for tier, status, count in found]
        return counts_of(held, len(self._documents("true")), len(self.sources()))

    def amount(self, key: str) -> int:
        """Return how many memories one visibility key holds."""
        ((found,),) = self._all(
            f"SELECT count(*) FROM memory m WHERE {SCOPE} AND m.key = %s", *self._own, key
        )
        return int(found)

    def versions(self) -> Versions | None:
        """Return the versions that made the memories."""
        found = self._all("SELECT versions FROM tenant WHERE id = %s", self._tenant)
        return Versions(**json.loads(found[0][0])) if found and found[0][0] else None
