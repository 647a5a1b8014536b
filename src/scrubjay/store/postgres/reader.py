"""Reader: one consistent view for one scope, inside one read-only transaction.

What those before it read of the same state, it does not read again (`snapshots`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scrubjay.memory.ids import DIGITS
from scrubjay.memory.records import Record, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import PREFIX
from scrubjay.store.base import Counts, Coverage, Head, ModelState, Waiting
from scrubjay.store.changes import Codes
from scrubjay.store.kept import counts_of
from scrubjay.store.postgres import chains, marks, models, postings, rows, scores
from scrubjay.store.postgres.documents import Documents
from scrubjay.store.postgres.large import USUAL, Large
from scrubjay.store.postgres.near import Near
from scrubjay.store.postgres.scores import SCOPE, Seen
from scrubjay.store.postgres.snapshots import BEFORE
from scrubjay.store.postgres.told import Told
from scrubjay.store.scope_check import after as number_after
from scrubjay.store.scored import ArrayScored, Weighed, by_words
from scrubjay.store.snapshot import ROW_BYTES, Snapshot
from scrubjay.store.spelled import spelled
from scrubjay.store.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.store.kept import Tenant
    from scrubjay.store.postgres.connect import Database
    from scrubjay.text.tokens import TermGroup


class PostgresReader(Documents, Near, Told):
    """A view that lasts as long as its transaction.

    Args:
        db: Inside the transaction.
        scope: Who looks.
        tenant: As it sees it, None before its first write.
        kept: What was read before of the same state.
        large: When a scope is large.
    """

    def __init__(
        self, db: Database, scope: Scope, tenant: Tenant | None, kept: Snapshot, large: Large = USUAL
    ) -> None:
        super().__init__(db, scope, tenant, kept)
        self._large = large
        self._posted = tenant.posted if tenant else 0
        self._mark = tenant.mark if tenant else 0
        self._passing: dict[Where, NDArray[np.bool_]] = {}
        self._found: dict[TermGroup, Weighed] = {}

    def _all_rows(self) -> Seen:
        return self._kept.once("table", self._read_rows, lambda read: 3 * read.table.columns.nbytes)

    def _read_rows(self) -> Seen:
        """Read what is visible: of a large tenant what was touched since it was read last, if that is known."""
        before = self._kept.take(BEFORE)
        if before is not None and self._posted:
            mark, seen = before
            touched = marks.since(self._db, self._tenant, mark, self._mark)
            if touched is not None:
                return scores.renewed(self._db, self._own, seen, touched)
        return scores.table(self._db, self._own)

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
        if self._table().rows > self._large.rows:
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
        return [len(rows) for rows, _ in self._postings(groups)]

    def words(self, groups: Sequence[TermGroup], where: Where) -> ArrayScored:
        """Score by BM25."""
        return by_words(self._table(), self._postings(groups), self._mask(where))

    def _looked(self) -> int | None:
        """Return up to which memory the words of a large scope stand in blocks, None for a scope of usual size."""
        return self._posted if self._table().rows > self._large.rows else None

    def _postings(self, groups: Sequence[TermGroup]) -> list[Weighed]:
        """Return what groups add to scores; asked by the plan first and by the scorer again."""
        new = [group for group in groups if group not in self._found]
        if new:
            seen = (self._own, self._table(), self._kept)
            self._found |= self._kept.words.of(
                new, lambda unread: postings.find(self._db, *seen, unread, self._looked())
            )
        return [self._found[group] for group in groups]

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories."""
        return self._all_rows()[1]

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return visible terms spelled like a word."""
        known = postings.words(self._db, self._own, self._kept, self._looked())
        return spelled(known, word, limit)

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
