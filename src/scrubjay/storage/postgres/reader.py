"""Read memories, postings and scores from PostgreSQL.

All postings of a small scope are read at once and kept with its snapshot: otherwise the server unpacks the words of
every memory for every search. Of a large scope only the postings of the query's words are read: from the tenant's
blocks (`tenant_index`), and off each memory that is newer than the last block.

Every write puts a new random mark on its tenant's row, and each reader reads it first: as long as it is the same, what
was read before (`SnapshotCache`) still holds. A counter could repeat a number after a restore.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from scrubjay.models.records import RecordFilter, Scope, is_turn
from scrubjay.storage.interface import RankingMetadata
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.connection import unescape_text
from scrubjay.storage.postgres.rows import IN_SCOPE, VisibleTable, read_table, refresh_table
from scrubjay.storage.postgres.tenant_index import DEFAULT_LIMITS, LargeTenantLimits
from scrubjay.storage.postgres.vectors import PostgresVectors
from scrubjay.storage.reader import NO_TENANT, TIME
from scrubjay.storage.rows import (
    VISIBLE,
    ScopeKeys,
    id_from_hash,
    memory_hashes,
    paths_by_group,
)
from scrubjay.storage.scoring import NO_MATCHES, GroupScores, TermMatches, score_group, similar_words
from scrubjay.storage.snapshot import ROW_BYTES, Snapshot
from scrubjay.storage.table import MemoryTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.rows import Tenant
    from scrubjay.text.tokenizer import TermGroup


WORD_BYTES: Final = 120
"""Bytes of a word with its number, about."""
PACKED_TERM: Final = np.dtype([("bytes", ">i4"), ("value", ">i4")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""


class TablePostings(NamedTuple):
    """All postings of a table: term numbers (ascending), table rows (ascending for each term) and counts."""

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[np.int16]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.rows.nbytes + self.counts.nbytes

    def matches(self, term: int) -> TermMatches:
        first, last = np.searchsorted(self.terms, (term, term + 1))
        return self.rows[first:last].astype(np.int64), self.counts[first:last].astype(np.float64)


class PostingReader:
    """Reads the postings of one scope's table.

    ``posted``: words of memories up to this number are in blocks; None where all postings are read and cached.
    """

    def __init__(
        self, db: Database, scope_keys: ScopeKeys, table: MemoryTable, snapshot: Snapshot, posted: int | None
    ) -> None:
        self._db = db
        self._scope_keys = scope_keys
        self._table = table
        self._snapshot = snapshot
        self._posted = posted

    def score_groups(self, groups: Sequence[TermGroup]) -> dict[TermGroup, GroupScores]:
        """Return what each group adds to the scores of its rows."""
        numbers = self._word_numbers(sorted({form for group in groups for form in group.forms}))
        if self._posted is None:
            postings = self._all_postings()
            by_term = {number: postings.matches(number) for number in numbers.values()}
        else:
            by_term = self._read(list(numbers.values()), self._posted)
        return {
            group: score_group(
                self._table, [by_term.get(numbers.get(form, -1), NO_MATCHES) for form in group.forms]
            )
            for group in groups
        }

    def vocabulary(self) -> dict[str, int]:
        """Return the words of the visible memories, with their numbers."""
        return self._snapshot.cached("vocabulary", self._read_vocabulary, lambda read: WORD_BYTES * len(read))

    def _word_numbers(self, forms: Sequence[str]) -> dict[str, int]:
        """Return the numbers of words: the first search asks for its own, later ones read the vocabulary."""
        cached = self._snapshot.row_cache("terms")

        def read(new: list[str]) -> dict[str, int]:
            if len(cached) and self._posted is None:
                known = self.vocabulary()
                return {form: known[form] for form in new if form in known}
            rows = self._db.execute(
                "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (self._scope_keys[0], new)
            ).fetchall()
            return dict(rows)

        return cached.get(forms, read)

    def _read_vocabulary(self) -> dict[str, int]:
        if self._posted is None:
            numbers = np.unique(self._all_postings().terms).tolist()
        else:
            ((numbers,),) = self._db.execute(
                "SELECT array_agg(DISTINCT t.term) FROM memory m CROSS JOIN LATERAL unnest(m.terms) AS t (term) "
                f"WHERE {IN_SCOPE}",
                self._scope_keys,
            ).fetchall()
        # Concatenated by the server: as rows they take the client ten times as long.
        row = self._db.execute(
            "SELECT string_agg(convert_to(text, 'UTF8'), %s ORDER BY id), array_agg(id ORDER BY id) FROM term "
            "WHERE tenant = %s AND id = ANY(%s::integer[])",
            (b"\0", self._scope_keys[0], numbers or []),
        ).fetchone()
        if row is None or row[0] is None:
            return {}
        return dict(zip(map(unescape_text, bytes(row[0]).decode().split("\0")), row[1], strict=True))

    def _all_postings(self) -> TablePostings:
        return self._snapshot.cached("postings", self._read_all, lambda read: read.nbytes)

    def _read_all(self) -> TablePostings:
        row = self._db.execute(
            "SELECT string_agg(int4send(cardinality(m.terms)), '' ORDER BY m.num), "
            "string_agg(substr(array_send(m.terms), 21), '' ORDER BY m.num), "
            f"string_agg(substr(array_send(m.tfs), 21), '' ORDER BY m.num) FROM memory m WHERE {IN_SCOPE}",
            self._scope_keys,
            binary=True,
        ).fetchone()
        sizes, terms, counts = row if row is not None and row[0] is not None else (b"", b"", b"")
        lengths = np.frombuffer(sizes, ">i4")
        numbers = np.frombuffer(terms, PACKED_TERM)["value"].astype(np.int32)
        rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
        term_counts = np.frombuffer(counts, tenant_index.PACKED_COUNT)["value"].astype(np.int16)
        order = np.argsort(numbers, kind="stable")
        return TablePostings(numbers[order], rows[order], term_counts[order])

    def _read(self, terms: Sequence[int], posted: int) -> dict[int, TermMatches]:
        recent = self._read_recent(terms, posted)
        if not posted:
            return recent
        # The memories of the blocks were written before all others, so their rows come first.
        older = tenant_index.find_in_blocks(self._db, self._scope_keys[0], self._table, terms)
        matches = {
            term: (older.get(term, NO_MATCHES), recent.get(term, NO_MATCHES))
            for term in older.keys() | recent.keys()
        }
        return {
            term: (np.concatenate((before[0], after[0])), np.concatenate((before[1], after[1])))
            for term, (before, after) in matches.items()
        }

    def _read_recent(self, terms: Sequence[int], posted: int) -> dict[int, TermMatches]:
        rows = self._db.execute(
            "SELECT t.term, m.num, t.tf FROM memory m CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
            f"WHERE {IN_SCOPE} AND m.num > %s AND m.terms && %s::integer[] AND t.term = ANY(%s::integer[]) "
            "ORDER BY m.num",
            (*self._scope_keys, posted, list(terms), list(terms)),
        ).fetchall()
        nums_by_term: dict[int, list[int]] = defaultdict(list)
        counts: dict[int, list[int]] = defaultdict(list)
        for term, num, count in rows:
            nums_by_term[term].append(num)
            counts[term].append(count)
        return {
            term: (np.searchsorted(self._table.columns["num"], nums), np.array(counts[term], np.float64))
            for term, nums in nums_by_term.items()
        }


MAX_SCOPES: Final = 256
"""Maximum number of snapshots."""
MAX_BYTES: Final = 128 << 20
"""Maximum number of bytes of all snapshots, about; the current one is kept whatever its size."""


UNREAD: Final = -1
"""Mark of a scope of which nothing was read since the last write; real marks are 0 or more."""
STALE_TABLE: Final = "before"
"""Name of the stale table: its mark, and the rows."""


class SnapshotCache:
    """Snapshots of the last scopes, shared by one process's readers."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = most_bytes
        self._snapshots: OrderedDict[tuple[str, Hashable], tuple[int, Snapshot]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, tenant: Tenant, name: str, keys: Hashable) -> Snapshot:
        with self._lock:
            scope = (name, keys)
            mark, snapshot = self._snapshots.get(scope, (UNREAD, None))
            if snapshot is not None and mark == tenant.mark:
                self._snapshots.move_to_end(scope)
                return snapshot
            fresh = _carry_over(mark, snapshot)
            self._snapshots[scope] = (tenant.mark, fresh)
            self._snapshots.move_to_end(scope)
            self._make_room()
            return fresh

    def drop(self, name: str) -> None:
        with self._lock:
            for scope in [scope for scope in self._snapshots if scope[0] == name]:
                self._snapshots[scope] = (UNREAD, _carry_over(*self._snapshots[scope]))

    def _make_room(self) -> None:
        weight = sum(snapshot.weight for _, snapshot in self._snapshots.values())
        while len(self._snapshots) > 1 and (weight > self._max_bytes or len(self._snapshots) > MAX_SCOPES):
            _, (_, snapshot) = self._snapshots.popitem(last=False)
            weight -= snapshot.weight


def _carry_over(mark: int, snapshot: Snapshot | None) -> Snapshot:
    fresh = Snapshot()
    if snapshot is not None:
        table = snapshot.peek("table")
        before = snapshot.peek(STALE_TABLE) if table is None else (mark, table)
        if before is not None:
            fresh.cached(STALE_TABLE, lambda: before, lambda read: 3 * read[1].table.columns.nbytes)
    return fresh


class PostgresReader(PostgresVectors):
    """A view that lasts as long as its transaction; ``tenant`` is None before its first write."""

    _reading_condition = "r.tenant = m.tenant AND r.memory = m.num"
    _events_of_memories = "event e"
    _pending = (
        "FROM memory m WHERE NOT EXISTS "
        f"(SELECT FROM vector v WHERE v.tenant = m.tenant AND v.memory = m.num AND v.model = ?) AND {VISIBLE}"
    )
    _pending_hash = "m.hash"

    def __init__(
        self,
        db: Database,
        scope: Scope,
        tenant: Tenant | None,
        snapshot: Snapshot,
        large: LargeTenantLimits = DEFAULT_LIMITS,
    ) -> None:
        number, generation = (tenant.number, tenant.generation) if tenant else (NO_TENANT, 0)
        super().__init__((number, generation, list(scope.keys)), snapshot)
        self._db = db
        self._large = large
        self._posted = tenant.posted if tenant else 0
        self._mark = tenant.mark if tenant else 0
        self._masks: dict[RecordFilter, NDArray[np.bool_]] = {}

    def _all_rows(self) -> VisibleTable:
        return self._snapshot.cached("table", self._read_rows, lambda read: 3 * read.table.columns.nbytes)

    def _read_rows(self) -> VisibleTable:
        before = self._snapshot.pop(STALE_TABLE)
        if before is not None and self._posted:
            mark, table = before
            touched = tenant_index.changes_since(self._db, self._tenant, mark, self._mark)
            if touched is not None:
                return refresh_table(self._db, self._scope_keys, table, touched)
        return read_table(self._db, self._scope_keys)

    def _table(self) -> MemoryTable:
        return self._all_rows().table

    def _count_visible(self) -> int:
        ((count,),) = self._all(f"SELECT count(*) FROM memory m WHERE {VISIBLE}", *self._scope_keys)
        return int(count)

    def _mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        if where not in self._masks:
            self._masks[where] = self._read_mask(where)
        return self._masks[where]

    def _read_mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        table = self._table()
        mask = table.column_mask(where)
        conditions: list[str] = []
        values: list[Any] = []

        def require(condition: str, value: object) -> None:
            conditions.append(condition)
            values.append(value)

        projects = [project for project in where.projects if project is not None]
        if None in where.projects:
            require("(m.project = ANY(%s) OR m.project IS NULL)", projects)
        elif projects:
            require("m.project = ANY(%s)", projects)
        if where.tags:
            require("m.tags @> %s::text[]", list(where.tags))
        if where.agents:
            require("m.agent = ANY(%s)", list(where.agents))
        if where.sessions:
            require("m.session = ANY(%s)", list(where.sessions))
        if where.apart_from is not None:
            require("m.session IS DISTINCT FROM %s", where.apart_from)
        if where.pinned:
            require("m.pinned = %s", True)
        if where.sources or where.path:
            require("m.document = ANY(%s::bigint[])", self._documents_of(where))
        if where.categories:
            require("m.hash = ANY(%s::bigint[])", self._members(where.categories))
        if conditions:
            rows = self._all(
                f"SELECT m.num FROM memory m WHERE {VISIBLE} AND {' AND '.join(conditions)}",
                *self._scope_keys, *values,
            )  # fmt: skip
            mask &= np.isin(table.columns["num"], np.array([num for (num,) in rows], np.int64))
        mask.flags.writeable = False
        return mask

    def hidden_groups(self, source: str) -> dict[str, set[str]]:
        rows = self._all(
            "SELECT DISTINCT m.key, d.path FROM source s JOIN document d ON d.tenant = s.tenant AND d.source = s.id "
            "JOIN memory m ON m.tenant = d.tenant AND m.document = d.id "
            "WHERE s.tenant = ? AND d.generation = ? AND s.key IN ? AND s.id = ? "
            "AND starts_with(m.key, 'group:') AND NOT m.key IN ?",
            *self._scope_keys, source, self._keys,
        )  # fmt: skip
        return paths_by_group(rows)

    def _read_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        rows = self._all(
            f"SELECT m.tier, m.hash, m.title, m.length, m.turn, m.role, {TIME}, "
            f"m.last_used, m.pinned, m.strength, m.confidence, m.session, m.project FROM memory m "
            f"WHERE {VISIBLE} AND m.hash = ANY(%s::bigint[])",
            *self._scope_keys, memory_hashes(ids),
        )  # fmt: skip
        return {
            id_from_hash(tier, number): RankingMetadata(
                title, words, is_turn(tier, rest[-2], role, turn), role, *rest
            )
            for tier, number, title, words, turn, role, *rest in rows
        }

    def _read_adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        if self._table().rows > self._large.rows:
            places = self._session_turns("m.hash = ANY(%s::bigint[])", memory_hashes(ids)).places
            sessions = {session for session, _ in places.values()}
            numbers = {near for _, turn in places.values() for near in (turn - 1, turn + 1)}
            turns = self._session_turns(
                "m.session = ANY(%s) AND m.turn = ANY(%s::bigint[])", list(sessions), list(numbers)
            )
        else:
            turns = self._snapshot.cached(
                "turns", lambda: self._session_turns("true"), lambda read: ROW_BYTES * len(read.places)
            )
            places = turns.places
        return {
            memory: near for memory in ids if memory in places and (near := turns.adjacent(*places[memory]))
        }

    def _postings(self) -> PostingReader:
        table = self._table()
        posted = self._posted if table.rows > self._large.rows else None
        return PostingReader(self._db, self._scope_keys, table, self._snapshot, posted)

    def _score_groups(self, groups: Sequence[TermGroup]) -> dict[TermGroup, GroupScores]:
        return self._postings().score_groups(groups)

    def languages(self) -> tuple[str, ...]:
        return self._all_rows().languages

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        return similar_words(self._postings().vocabulary(), word, limit)

    def forgotten_hashes(self, hashes: Iterable[str]) -> set[str]:
        rows = self._all(
            "SELECT hash FROM tombstone WHERE tenant = %s AND hash = ANY(%s)", self._tenant, list(hashes)
        )
        return {digest for (digest,) in rows}

    def count_memories(self, key: str) -> int:
        ((count,),) = self._all(
            f"SELECT count(*) FROM memory m WHERE {VISIBLE} AND m.key = %s", *self._scope_keys, key
        )
        return int(count)
