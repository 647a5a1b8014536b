"""Reader: one consistent view for one scope, inside one read transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.edges import Edge
from scrubjay.memory.models import Model
from scrubjay.memory.ranking import Hit
from scrubjay.memory.records import ANY, Document, Record, Source, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Counts, Coverage, Head, ModelState, Waiting
from scrubjay.store.kept import source_of
from scrubjay.store.scored import ArrayScored, Weighed, by_words
from scrubjay.store.snapshot import Snapshot
from scrubjay.store.sqlite import chains, filters, registry, terms, vectors, words
from scrubjay.store.sqlite.graph import Graph
from scrubjay.store.sqlite.heads import heads
from scrubjay.store.sqlite.nominate import NominatedScored
from scrubjay.store.sqlite.pack import SIGN
from scrubjay.store.sqlite.seen import Seen
from scrubjay.store.sqlite.table import Tables
from scrubjay.store.sqlite.tenant import find
from scrubjay.store.sqlite.told import Told
from scrubjay.store.sqlite.vectors import Blocks
from scrubjay.store.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.changes import Codes
    from scrubjay.store.sqlite.database import Database
    from scrubjay.text.tokens import TermGroup

NO_TENANT = -1


class SQLiteReader(Graph, Told):
    """A view that lasts as long as its transaction; ``kept`` is what those before it read of the same state."""

    def __init__(self, db: Database, scope: Scope, tables: Tables, blocks: Blocks, kept: Snapshot) -> None:
        tenant = kept.once("tenant", lambda: find(db, scope.tenant))
        number, self._generation = (tenant.number, tenant.generation) if tenant else (NO_TENANT, 0)
        super().__init__(Seen(db, number, self._generation, scope.keys), kept)
        self._own = self.seen.own
        self._tables = tables
        self._blocks = blocks
        self._seen: Table | None = None
        self._found: dict[TermGroup, Weighed] = {}

    def _table(self) -> Table:
        if self._seen is None:
            self._seen = self._kept.once(
                "table", lambda: self._tables.table(self._db, self._tenant, self._generation, self._keys)
            )
        return self._seen

    def _mask(self, where: Where) -> NDArray[np.bool_]:
        """Return which rows pass a filter; each channel of a search asks for the same, and the next search often."""
        found: NDArray[np.bool_] = self._kept.masks.of([where], self._passing)[where]
        return found

    def _passing(self, wanted: list[Where]) -> dict[Where, NDArray[np.bool_]]:
        found = {where: filters.passing(self, self._table(), where) for where in wanted}
        for mask in found.values():
            mask.flags.writeable = False
        return found

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""
        return list(self._kept.once("sources", self._sources))

    def _sources(self) -> list[Source]:
        found = self._db.execute(
            f"SELECT id, root, description, include, exclude, key, added_at, synced_at, trust, share, "
            f"repositories FROM source WHERE tenant = ? "
            f"AND key IN ({self._marks}) ORDER BY root, id",
            (self._tenant, *self._bound),
        ).fetchall()
        return [
            source_of((i, r, d, json.loads(n), json.loads(x), k, a, s, *trust))
            for i, r, d, n, x, k, a, s, *trust in found
        ]

    def documents(self, source: str) -> dict[str, Document]:
        """Return a source's documents by path."""
        found = self._db.execute(
            "SELECT d.path, content_hash, mtime_ns, size, title, cursor, chunker, tokenizer, scrubber, extractor, "
            "labeller FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source WHERE d.tenant = ? AND "
            f"d.generation = ? AND s.key IN ({self._marks}) AND d.source = ? ORDER BY d.path",
            (*self._own, source),
        ).fetchall()
        return {
            path: Document(source, path, digest, mtime, size, title, Versions(*versions), cursor)
            for path, digest, mtime, size, title, cursor, *versions in found
        }

    def held(self, sources: Sequence[str]) -> int:
        """Return how many visible passages these sources' documents hold."""
        marks = ",".join("?" * len(sources))
        (found,) = self._db.execute(
            "SELECT count(*) FROM memory m JOIN document d ON d.id = m.document WHERE m.tenant = ? "
            f"AND m.generation = ? AND m.key IN ({self._marks}) AND d.source IN ({marks})",
            (*self._own, *sources),
        ).fetchone()
        return int(found)

    def passages(self, source: str, path: str) -> list[Record]:
        """Return a document's passages in order."""
        return self.seen.records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?)",
            (self._tenant, source, self._generation, path),
            "ORDER BY m.ordinal, m.tier, m.hash",
        )

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these ids."""
        return self._kept.records.of(ids, self.seen.of)

    def heads(self, ids: Sequence[str]) -> dict[str, Head]:
        """Return title and length of memories."""
        return self._kept.heads.of(ids, lambda new: heads(self.seen, self._table(), new))

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the turns just before and after each turn of a session."""
        return self._kept.beside.of(ids, lambda new: chains.adjacent(self.seen, new))

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        """Return the edges from later to earlier memories that begin or end in these."""
        return chains.follows(self.seen, ids)

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        """Return a session's turns, by turn, ordinal, id."""
        return self.seen.records(
            "m.session = ? AND m.turn BETWEEN ? AND ?",
            (session, first, last),
            "ORDER BY m.turn, coalesce(m.ordinal, -1), m.tier, m.hash",
        )

    def last_turn(self, session: str) -> int | None:
        """Return the greatest turn of a session."""
        return chains.last_turn(self.seen, session)

    def page(self, after: str, limit: int, where: Where | None = None) -> list[Record]:
        """Return memories in the order of their ids' digits."""
        from scrubjay.store.scope_check import after as number_after  # it knows all that may be written

        number = number_after(after)
        if where is not None:
            ids = self._table().page(self._mask(where), number, limit)
            return list(self.get(ids).values())
        first = number + 1 - SIGN
        if first >= SIGN:
            return []
        return self.seen.records("m.hash >= ?", (first,), f"ORDER BY m.hash LIMIT {limit}")

    def latest(self, where: Where, limit: int, skip: int = 0) -> list[Record]:
        """Return what happened last, last first."""
        table = self._table()
        return list(self.get(table.latest(self._mask(where), limit, skip)).values())

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with a prefix."""
        return self.seen.complete(prefix, limit)

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return the df of each group."""
        return [len(rows) for rows, _ in self._postings(groups)]

    def words(self, groups: Sequence[TermGroup], where: Where) -> ArrayScored:
        """Score by BM25."""
        return by_words(self._table(), self._postings(groups), self._mask(where))

    def _postings(self, groups: Sequence[TermGroup]) -> list[Weighed]:
        """Return what groups add to scores; asked by the plan first and by the scorer again."""
        new = [group for group in groups if group not in self._found]
        if new:
            table = self._table()
            self._found |= self._kept.words.of(
                new, lambda unread: words.postings(self._db, self._tenant, table, unread)
            )
        return [self._found[group] for group in groups]

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: Where
    ) -> ArrayScored | NominatedScored:
        """Score by cosine with the best window."""
        model = self._model(fingerprint, query.shape, 1)
        return vectors.score(self._db, self._table(), self._blocks, model, query, self._mask(where))

    def _model(
        self, fingerprint: str, shape: tuple[int, ...] | None = None, axes: int = 1
    ) -> tuple[int, Model]:
        """Return a model's number and itself; queries of this shape must have so many axes and fit it."""
        known = self._registered()
        if fingerprint not in known:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        number, model, _ = known[fingerprint]
        if shape is not None and (len(shape) != axes or shape[-1] != model.dimensions):
            raise ModelMismatchError(
                f"The query has {shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        return number, model

    def _registered(self) -> dict[str, tuple[int, Model, str]]:
        return self._kept.once("models", lambda: registry.registered(self._db, self._tenant))

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, Codes]:
        """Return the windows that memories have of a model."""
        model = self._model(fingerprint)
        return vectors.windows(self._db, self._table(), self._blocks, model, ids)

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: Where = ANY,
    ) -> list[list[Hit]]:
        """Return the memories nearest to each query."""
        model = self._model(fingerprint, queries.shape, 2)
        table, passing = self._table(), self._mask(where)
        return vectors.alike(self._db, table, self._blocks, model, queries, passing, (limit, floor))

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories."""
        return self._kept.once("languages", self._languages)

    def _languages(self) -> tuple[str, ...]:
        codes = self._table().languages
        if not codes:
            return ()
        marks = ",".join("?" * len(codes))
        found = self._db.execute(
            f"SELECT code FROM language WHERE id IN ({marks}) ORDER BY code", codes
        ).fetchall()
        return tuple(code for (code,) in found)

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return visible terms spelled like a word."""
        found: list[tuple[str, float]] = []
        for term, alike in terms.spelled_like(self._db, self._tenant, self._kept, word):
            if len(found) == limit:
                break
            if words.holds(self._db, self._tenant, self._table(), term):
                found.append((term, alike))
        return found

    def models(self) -> list[ModelState]:
        """Return the registered models."""
        found = [ModelState(model, state) for _, model, state in self._registered().values()]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        """Return how many visible memories have a model's vectors, and how many wait."""
        return registry.coverage(self.seen, fingerprint, self._table().memories)

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model."""
        return self._kept.once(("windows", fingerprint), lambda: self._windows(fingerprint))

    def _windows(self, fingerprint: str) -> int:
        (found,) = self._db.execute(
            "SELECT total(v.rows) FROM segment s JOIN vector v ON v.segment = s.id JOIN model m ON m.id = v.model "
            f"WHERE s.tenant = ? AND s.generation = ? AND s.key IN ({self._marks}) AND m.fingerprint = ?",
            (*self._own, fingerprint),
        ).fetchone()
        return int(found)

    def waiting(self, fingerprint: str, limit: int) -> list[Waiting]:
        """Return memories without a model's vectors, in hash order."""
        return registry.waiting(self.seen, fingerprint, limit)

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
        """Return windows of texts embedded before."""
        return registry.cached(self._db, self._tenant, fingerprint, list(hashes))

    def forgotten(self, hashes: Iterable[str]) -> set[str]:
        """Return those of these tombstone hashes that were forgotten."""
        return registry.forgotten(self._db, self._tenant, hashes)

    def counts(self) -> Counts:
        """Return what the scope holds."""
        return self.seen.counts(len(self.sources()))

    def amount(self, key: str) -> int:
        """Return how many memories one visibility key holds."""
        return self.seen.amount(key)

    def versions(self) -> Versions | None:
        """Return the versions that made the memories."""
        row = self._db.execute("SELECT versions FROM tenant WHERE id = ?", (self._tenant,)).fetchone()
        return Versions(**json.loads(row[0])) if row is not None and row[0] else None
