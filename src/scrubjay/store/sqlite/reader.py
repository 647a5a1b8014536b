"""Reader: one consistent view for one scope, inside one read transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.ids import DIGITS
from scrubjay.memory.records import Document, Record, Source, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import PREFIX
from scrubjay.store.base import Counts, Coverage, Head, ModelState, Waiting
from scrubjay.store.scored import ArrayScored, Found, by_words
from scrubjay.store.sqlite import filters, registry, rows, terms, vectors, words
from scrubjay.store.sqlite.nominate import NominatedScored
from scrubjay.store.sqlite.pack import SIGN
from scrubjay.store.sqlite.table import Tables
from scrubjay.store.sqlite.tenant import find
from scrubjay.store.table import Table
from scrubjay.text.grams import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.changes import Codes
    from scrubjay.store.sqlite.database import Database
    from scrubjay.text.tokens import TermGroup

NO_TENANT = -1


class SQLiteReader:
    """A view that lasts as long as its transaction."""

    def __init__(self, db: Database, scope: Scope, tables: Tables, blocks: vectors.Blocks) -> None:
        self._db = db
        self._scope = scope
        self._tables = tables
        self._blocks = blocks
        tenant = find(db, scope.tenant)
        self._tenant = tenant.number if tenant else NO_TENANT
        self._generation = tenant.generation if tenant else 0
        self._marks = ",".join("?" * len(scope.keys))
        self._own = (self._tenant, self._generation, *scope.keys)
        self._seen: Table | None = None
        self._found: dict[TermGroup, Found] = {}

    def _table(self) -> Table:
        if self._seen is None:
            self._seen = self._tables.table(self._db, self._tenant, self._generation, self._scope.keys)
        return self._seen

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""
        found = self._db.execute(
            f"SELECT id, root, description, include, exclude, key, added_at, synced_at FROM source WHERE tenant = ? "
            f"AND key IN ({self._marks}) ORDER BY root, id",
            (self._tenant, *self._scope.keys),
        ).fetchall()
        return [
            Source(i, r, d, tuple(json.loads(n)), tuple(json.loads(x)), k, a, s)
            for i, r, d, n, x, k, a, s in found
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

    def _records(self, condition: str, values: Sequence[object], tail: str = "") -> list[Record]:
        found = self._db.execute(
            f"{rows.SELECT} WHERE m.tenant = ? AND m.generation = ? AND m.key IN ({self._marks}) "
            f"AND {condition} {tail}",
            (*self._own, *values),
        ).fetchall()
        return [rows.to_record(row) for row in found]

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
        return self._records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?)",
            (self._tenant, source, self._generation, path),
            "ORDER BY m.ordinal, m.tier, m.hash",
        )

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these ids."""
        wanted = [memory for memory in dict.fromkeys(ids) if rows.is_id(memory)]
        held: dict[str, Record] = {}
        for batch in rows.batches(wanted):
            hashes = [rows.sort_hash(memory) for memory in batch]
            marks = ",".join("?" * len(hashes))
            held |= {record.id: record for record in self._records(f"m.hash IN ({marks})", hashes)}
        return {memory: held[memory] for memory in wanted if memory in held}

    def heads(self, ids: Sequence[str]) -> dict[str, Head]:
        """Return title and length of memories."""
        table = self._table()
        places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
        found: dict[str, Head] = {}
        for batch in rows.batches(list(places)):
            held = self._db.execute(
                "SELECT tier, hash, title, turn, role FROM memory WHERE tenant = ? AND generation = ? "
                f"AND key IN ({self._marks}) AND hash IN ({','.join('?' * len(batch))})",
                (*self._own, *map(rows.sort_hash, batch)),
            ).fetchall()
            for tier, number, title, turn, role in held:
                memory = rows.from_hash(tier, number)
                if memory in places:
                    found[memory] = Head(title, int(table.lengths[places[memory]]), turn is not None, role)
        return found

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the turns just before and after each turn of a session."""
        found: dict[str, tuple[str, ...]] = {}
        for batch in rows.batches([memory for memory in ids if rows.is_id(memory)]):
            held = self._db.execute(
                "SELECT m.tier, m.hash, n.tier, n.hash FROM memory m JOIN memory n ON n.tenant = m.tenant AND "
                "n.session = m.session AND n.turn IN (m.turn - 1, m.turn + 1) AND n.generation = m.generation "
                f"WHERE m.tenant = ? AND m.generation = ? AND m.key IN ({self._marks}) AND n.key IN ({self._marks}) "
                f"AND m.hash IN ({','.join('?' * len(batch))}) ORDER BY m.hash, n.turn, n.tier, n.hash",
                (*self._own, *self._scope.keys, *map(rows.sort_hash, batch)),
            ).fetchall()
            for tier, number, other_tier, other in held:
                memory = rows.from_hash(tier, number)
                found[memory] = (*found.get(memory, ()), rows.from_hash(other_tier, other))
        return {memory: found[memory] for memory in ids if memory in found}

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with a prefix."""
        found: list[str] = []
        for tier, mark in sorted(PREFIX.items(), key=lambda pair: pair[1]):
            digits = (
                prefix[len(mark) :] if prefix.startswith(mark) else "" if mark.startswith(prefix) else None
            )
            if digits is None or len(digits) > DIGITS or not set(digits) <= set("0123456789abcdef"):
                continue
            ends = (int(digits.ljust(DIGITS, fill), 16) - SIGN for fill in "0f")
            held = self._db.execute(
                f"SELECT hash FROM memory WHERE tenant = ? AND generation = ? AND key IN ({self._marks}) AND tier = ? "
                "AND hash BETWEEN ? AND ? ORDER BY hash LIMIT ?",
                (*self._own, tier, *ends, limit - len(found)),
            ).fetchall()
            found += [rows.from_hash(tier, number) for (number,) in held]
        return found

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return the df of each group."""
        return [len(self._postings(group)[0]) for group in groups]

    def words(self, groups: Sequence[TermGroup], where: Where) -> ArrayScored:
        """Score by BM25."""
        table = self._table()
        passing = filters.passing(self._db, self._tenant, table, where)
        return by_words(table, [self._postings(group) for group in groups], passing)

    def _postings(self, group: TermGroup) -> Found:
        """Return a group's rows; asked by the plan first and by the scorer again."""
        if group not in self._found:
            self._found[group] = words.postings(self._db, self._tenant, self._table(), group)
        return self._found[group]

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: Where
    ) -> ArrayScored | NominatedScored:
        """Score by cosine with the best window."""
        known = registry.registered(self._db, self._tenant)
        if fingerprint not in known:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        number, model, _ = known[fingerprint]
        if query.shape != (model.dimensions,):
            raise ModelMismatchError(
                f"The query has {query.shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        table = self._table()
        passing = filters.passing(self._db, self._tenant, table, where)
        return vectors.score(self._db, table, self._blocks, (number, model), query, passing)

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories."""
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
        sharing = set(terms.sharing_trigrams(self._db, self._tenant, word)) - {word}
        found: list[tuple[str, float]] = []
        for term, alike in nearest(word, sharing, len(sharing)):
            if len(found) == limit:
                break
            if words.holds(self._db, self._tenant, self._table(), term):
                found.append((term, alike))
        return found

    def models(self) -> list[ModelState]:
        """Return the registered models."""
        found = [
            ModelState(model, state)
            for _, model, state in registry.registered(self._db, self._tenant).values()
        ]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        """Return how many visible memories have a model's vectors, and how many wait."""
        known = registry.registered(self._db, self._tenant)
        if fingerprint not in known:
            return Coverage(0, self._table().memories)
        (waiting,) = self._db.execute(
            f"SELECT count(*) FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND m.tenant = ? "
            f"AND m.generation = ? AND m.key IN ({self._marks})",
            (known[fingerprint][0], *self._own),
        ).fetchone()
        return Coverage(self._table().memories - waiting, waiting)

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model."""
        (found,) = self._db.execute(
            "SELECT total(v.rows) FROM segment s JOIN vector v ON v.segment = s.id JOIN model m ON m.id = v.model "
            f"WHERE s.tenant = ? AND s.generation = ? AND s.key IN ({self._marks}) AND m.fingerprint = ?",
            (*self._own, fingerprint),
        ).fetchone()
        return int(found)

    def waiting(self, fingerprint: str, limit: int) -> list[Waiting]:
        """Return memories without a model's vectors, in hash order."""
        known = registry.registered(self._db, self._tenant)
        if fingerprint in known:
            table = "pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND"
            order, values = "p.hash, p.num", [known[fingerprint][0]]
        else:
            table, order, values = "memory m WHERE", "m.hash", []
        nums = self._db.execute(
            f"SELECT m.num FROM {table} m.tenant = ? AND m.generation = ? AND m.key IN ({self._marks}) "
            f"ORDER BY {order} LIMIT ?",
            (*values, *self._own, limit),
        ).fetchall()
        return [
            Waiting(record, self._before(num))
            for (num,) in nums
            for record in self._records("m.num = ?", (num,))
        ]

    def _before(self, num: int) -> str:
        row = self._db.execute(
            "SELECT b.content FROM memory m JOIN memory b ON b.document = m.document AND b.ordinal = m.ordinal - 1 "
            "AND b.heading_path = m.heading_path "
            f"WHERE m.num = ? AND b.key IN ({self._marks}) ORDER BY b.tier, b.hash LIMIT 1",
            (num, *self._scope.keys),
        ).fetchone()
        return "" if row is None else str(row[0])

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
        """Return windows of texts embedded before."""
        return registry.cached(self._db, self._tenant, fingerprint, list(hashes))

    def forgotten(self, hashes: Sequence[str]) -> set[str]:
        """Return those of these tombstone hashes that were forgotten."""
        return {
            mark
            for mark in hashes
            if self._db.execute(
                "SELECT 1 FROM tombstone WHERE tenant = ? AND hash = ?", (self._tenant, mark)
            ).fetchone()
        }

    def counts(self) -> Counts:
        """Return what the scope holds."""
        held = self._db.execute(
            f"SELECT tier, status, count(*) FROM memory WHERE tenant = ? AND generation = ? AND key IN ({self._marks}) "
            "GROUP BY tier, status",
            self._own,
        ).fetchall()
        tiers: dict[str, int] = {}
        statuses: dict[str, int] = {}
        for tier, status, count in sorted(held):
            tiers[tier] = tiers.get(tier, 0) + count
            statuses[status] = statuses.get(status, 0) + count
        (documents,) = self._db.execute(
            "SELECT count(*) FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
            f"WHERE d.tenant = ? AND d.generation = ? AND s.key IN ({self._marks})",
            self._own,
        ).fetchone()
        return Counts(
            sum(tiers.values()), tiers, dict(sorted(statuses.items())), documents, len(self.sources())
        )

    def versions(self) -> Versions | None:
        """Return the versions that made the memories."""
        row = self._db.execute("SELECT versions FROM tenant WHERE id = ?", (self._tenant,)).fetchone()
        return Versions(**json.loads(row[0])) if row is not None and row[0] else None
