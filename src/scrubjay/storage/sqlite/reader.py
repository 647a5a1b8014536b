"""Reader: one consistent view for one scope, inside one read transaction.

SQLite tells when another connection has committed (``PRAGMA data_version``); then everything is read again.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.models.ids import FORGOTTEN_PREFIX
from scrubjay.models.records import NO_FILTER, Document, Record, RecordFilter, Scope, Source, StageVersions
from scrubjay.models.results import Hit
from scrubjay.storage.interface import Counts, Coverage, DueMemory, PendingMemory, RankingMetadata
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    SOURCE_COLUMNS,
    RegisteredModel,
    counts_from_rows,
    document_from_row,
    event_from_row,
    id_from_hash,
    id_ranges,
    paths_by_group,
    run_from_row,
    source_from_row,
    token_codes_only,
)
from scrubjay.storage.scoring import ArrayScores, GroupScores, NominatedScores
from scrubjay.storage.snapshot import MAX_METADATA, MAX_SCORE_BYTES, Snapshot, SnapshotReader
from scrubjay.storage.sqlite import postings, rows
from scrubjay.storage.sqlite.blobs import VectorLayout
from scrubjay.storage.sqlite.graph import SQLiteGraph
from scrubjay.storage.sqlite.rows import VisibleMemories, bind_keys, find_tenant, keys_sql
from scrubjay.storage.sqlite.vectors import ModelVectors, VectorCache, decode_cached_text
from scrubjay.storage.table import COLUMNS, MemoryTable, TablePart, path_matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
    from scrubjay.storage.changes import QuantizedVectors
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.text.tokenizer import TermGroup


MAX_SCOPES: Final = 4
"""Most snapshots, as many as tables."""


class SnapshotCache:
    """Snapshots of the last scopes of one connection, for the current state of the file."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._scopes: OrderedDict[Hashable, Snapshot] = OrderedDict()

    def get(self, db: Database, scope: Hashable) -> Snapshot:
        version = db.pragma("data_version")
        if version != self._version:
            self._version = version
            self._scopes.clear()
        before = len(self._scopes)
        found = self._scopes.setdefault(scope, Snapshot())
        self._scopes.move_to_end(scope)
        while len(self._scopes) > 1 and (
            len(self._scopes) > MAX_SCOPES or sum(map(len, self._scopes.values())) > MAX_METADATA
        ):
            self._scopes.popitem(last=False)
        if len(self._scopes) != before:
            for one in self._scopes.values():
                one.words.allow(MAX_SCORE_BYTES // len(self._scopes))
        return found


NO_BYTES: Final = np.zeros(0, np.uint8)
MAX_TABLES: Final = 4
"""Tables a process caches, one a scope."""


class TableCache:
    """Tables of the last scopes, shared by one process's readers."""

    def __init__(self) -> None:
        self._tables: OrderedDict[tuple[object, ...], MemoryTable] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, db: Database, tenant: int, generation: int, keys: Sequence[str]) -> MemoryTable:
        heads = db.execute(
            "SELECT id, version, slots, live, length FROM segment WHERE tenant = ? AND generation = ? "
            f"AND key IN ({keys_sql(keys)}) ORDER BY id",
            (tenant, generation, *bind_keys(keys)),
        ).fetchall()
        name = (tenant, generation, *keys)
        with self._lock:
            before = self._tables.get(name)
            if before is not None:
                self._tables.move_to_end(name)
                if [(part.segment, part.version) for part in before.parts] == [head[:2] for head in heads]:
                    return before
        table = _read_table(db, heads, before)
        with self._lock:
            self._tables[name] = table
            self._tables.move_to_end(name)
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return table


def _read_table(
    db: Database, heads: Sequence[tuple[int, int, int, int, int]], before: MemoryTable | None
) -> MemoryTable:
    """Return the table of some segments; unchanged segments are copied from the table before."""
    known = {} if before is None else {(part.segment, part.version): part for part in before.parts}
    parts: list[TablePart] = []
    pieces: list[NDArray[np.void]] = []
    first = 0
    for segment, version, slots, _, _ in heads:
        part = known.get((segment, version))
        if before is not None and part is not None:
            pieces.append(before.columns[part.first : part.first + slots])
        else:
            (blob,) = db.execute("SELECT columns FROM segment WHERE id = ?", (segment,)).fetchone()
            pieces.append(np.frombuffer(blob, COLUMNS))
        parts.append(TablePart(segment, version, first, slots))
        first += slots
    # As bytes: numpy copies rows of named columns one by one.
    columns = np.concatenate([NO_BYTES, *(piece.view(np.uint8) for piece in pieces)]).view(COLUMNS)
    columns.flags.writeable = False
    live = columns["live"] == 1
    memories = sum(head[3] for head in heads)
    length = sum(head[4] for head in heads)
    average = length / memories if length else 1.0
    # Not np.unique: it imports numpy.ma, a tenth of a cold search.
    languages = tuple(np.flatnonzero(np.bincount(columns["language"][live])).tolist())
    return MemoryTable(
        tuple(parts),
        columns,
        live,
        columns["length"].astype(np.float64),
        memories,
        average,
        languages,
        {} if before is None else before.orders,
    )


def _is_among(nums: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows' numbers are wanted. A lookup table: np.isin sorts, half a second a million."""
    table = np.zeros(int(nums.max(initial=0)) + 1, np.bool_)
    table[wanted[wanted < len(table)]] = True
    found: NDArray[np.bool_] = table[nums]
    return found


class SQLiteHistory:
    visible: VisibleMemories

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        condition, values = ("", []) if run is None else (" AND e.run = ?", [run])
        if ids is None:
            return [event for _, event in self._events(condition, values, limit)]
        wanted = sorted({one for one in ids if rows.is_memory_id(one)})
        found: list[tuple[int, Event]] = []
        for batch in rows.id_batches(wanted):
            numbers = [rows.sort_hash(one) for one in batch]
            # Compare the tier, too: an id of another tier may have the number of a memory.
            named = [value for one in batch for value in (rows.sort_hash(one), rows.tier_of(one))]
            among = (
                f"{condition} AND e.memory IN ({rows.placeholders(batch)}) "
                f"AND (e.memory, m.tier) IN (VALUES {','.join(['(?, ?)'] * len(batch))})"
            )
            found += self._events(among, [*values, *numbers, *named], limit)
        found.sort(key=lambda one: (one[1].at, one[0]), reverse=True)
        return [event for _, event in found[:limit]]

    def _events(self, condition: str, values: Sequence[object], limit: int) -> list[tuple[int, Event]]:
        # CROSS JOIN: scan the events, newest first, and look up each memory; never scan all memories.
        found = self.visible.db.execute(
            "SELECT e.seq, m.tier, e.memory, e.op, e.at, e.key, e.run, o.tier, o.hash, e.count, e.before, e.actor "
            "FROM event e CROSS JOIN memory m ON m.tenant = e.tenant AND m.hash = e.memory "
            f"AND {self.visible.among()} LEFT JOIN memory o ON o.hash = e.other AND {self.visible.among('o')} "
            f"WHERE e.tenant = ? AND e.key IN ({self.visible.marks}){condition} ORDER BY e.at DESC, e.seq DESC LIMIT ?",
            (*self.visible.own, *self.visible.own, self.visible.tenant, *self.visible.bound, *values, limit),
        ).fetchall()
        return [(number, event_from_row(row)) for number, *row in found]

    def extractions(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        return self._extractions(ids, self.visible)

    def _extractions(self, ids: Sequence[str], visible: VisibleMemories) -> dict[str, CachedExtraction]:
        from scrubjay.models.lifecycle import CachedExtraction

        found: dict[str, CachedExtraction] = {}
        wanted = {one for one in ids if rows.is_memory_id(one)}
        for batch in rows.id_batches([rows.sort_hash(one) for one in wanted]):
            read = visible.db.execute(
                "SELECT m.tier, m.hash, r.mark, r.data FROM memory m JOIN reading r ON r.num = m.num "
                f"WHERE {visible.among()} AND m.hash IN ({rows.placeholders(batch)})",
                (*visible.own, *batch),
            ).fetchall()
            for tier, number, mark, data in read:
                memory = id_from_hash(tier, number)
                if memory in wanted:
                    found[memory] = CachedExtraction(memory, mark, data)
        return found

    def runs(self, limit: int = 20) -> list[ConsolidationRun]:
        found = self.visible.db.execute(
            f"SELECT id, key, state, rules, started, ended, counts FROM run WHERE tenant = ? "
            f"AND key IN ({self.visible.marks}) ORDER BY started DESC, id, key LIMIT ?",
            (self.visible.tenant, *self.visible.bound, limit),
        ).fetchall()
        return [run_from_row(row) for row in found]


NO_TENANT = -1


class SQLiteReader(SnapshotReader, SQLiteGraph, SQLiteHistory):
    def __init__(
        self, db: Database, scope: Scope, tables: TableCache, cache: VectorCache, snapshot: Snapshot
    ) -> None:
        tenant = snapshot.cached("tenant", lambda: find_tenant(db, scope.tenant))
        number, self._generation = (tenant.number, tenant.generation) if tenant else (NO_TENANT, 0)
        super().__init__(VisibleMemories(db, number, self._generation, scope.keys), snapshot)
        self._own = self.visible.own
        self._tables = tables
        self._cache = cache
        self._loaded_table: MemoryTable | None = None
        self._scored_groups: dict[TermGroup, GroupScores] = {}

    def _table(self) -> MemoryTable:
        if self._loaded_table is None:
            self._loaded_table = self._snapshot.cached(
                "table", lambda: self._tables.table(self._db, self._tenant, self._generation, self._keys)
            )
        return self._loaded_table

    def _mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._snapshot.masks.get([where], self._read_masks)[where]
        return found

    def _read_masks(self, filters: list[RecordFilter]) -> dict[RecordFilter, NDArray[np.bool_]]:
        found = {where: self._read_mask(where) for where in filters}
        for mask in found.values():
            mask.flags.writeable = False
        return found

    def _read_mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        table = self._table()
        nums, mask = table.columns["num"], table.column_mask(where)

        def numbers(source: str, *values: object) -> list[int]:
            return [num for (num,) in self._db.execute(f"SELECT num FROM {source}", values).fetchall()]

        def among(found: list[int]) -> NDArray[np.bool_]:
            return _is_among(nums, np.array(found, np.int64))

        for tag in where.tags:
            mask &= among(numbers("tag WHERE tag = ?", tag))
        if where.sources or where.path:
            documents = self._db.execute(
                "SELECT id, source, path FROM document WHERE tenant = ?", (self._tenant,)
            ).fetchall()
            passages: list[int] = []
            for document, source, path in documents:
                if (not where.sources or source in where.sources) and (
                    not where.path or path_matches(path, where.path)
                ):
                    passages += numbers("memory WHERE document = ?", document)
            mask &= among(passages)
        mine = "memory WHERE tenant = ? AND"
        projects = [project for project in where.projects if project is not None]
        marks = rows.placeholders(projects)
        if None in where.projects:  # no index finds memories without a project: exclude the others
            others = f"project IS NOT NULL AND project NOT IN ({marks})"
            mask &= ~among(numbers(f"{mine} {others}", self._tenant, *projects))
        elif projects:
            mask &= among(numbers(f"{mine} project IN ({marks})", self._tenant, *projects))
        for column, names in (("agent", where.agents), ("session", where.sessions)):
            if names:
                mask &= among(
                    numbers(f"{mine} {column} IN ({rows.placeholders(names)})", self._tenant, *names)
                )
        if where.apart_from is not None:
            mask &= ~among(numbers(f"{mine} session = ?", self._tenant, where.apart_from))
        if where.pinned:
            mask &= among(numbers(f"{mine} pinned = 1", self._tenant))
        if where.categories:
            mask &= np.isin(table.columns["key"], np.array(self._members(where.categories), np.uint64))
        return mask

    def _read_sources(self) -> list[Source]:
        found = self._db.execute(
            f"SELECT {', '.join(SOURCE_COLUMNS)} FROM source WHERE tenant = ? AND key IN ({self._marks}) "
            "ORDER BY root, id",
            (self._tenant, *self._bound),
        ).fetchall()
        return [source_from_row(row, json.loads) for row in found]

    def files_of_others(self, ids: Sequence[str]) -> dict[str, tuple[str, Document]]:
        found: dict[str, tuple[str, Document]] = {}
        for batch in rows.id_batches(ids):
            read = self._db.execute(
                f"SELECT m.tier, m.hash, s.root, {', '.join(f'd.{name}' for name in DOCUMENT_COLUMNS)} FROM memory m "
                "JOIN document d ON d.id = m.document JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
                f"WHERE {self.visible.among()} AND m.hash IN ({rows.placeholders(batch)}) "
                f"AND s.key NOT IN ({self._marks})",
                (*self._own, *map(rows.sort_hash, batch), *self._bound),
            ).fetchall()
            found |= {
                id_from_hash(tier, number): (root, document_from_row(row))
                for tier, number, root, *row in read
            }
        return found

    def hidden_groups(self, source: str) -> dict[str, set[str]]:
        keys = self._db.execute(
            "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ? AND key LIKE 'group:%' "
            f"AND live > 0 AND key NOT IN ({self._marks})",
            self._own,
        ).fetchall()
        if not keys:  # most stores have no such group: no passage is looked at
            return {}
        found = self._db.execute(
            "SELECT DISTINCT m.key, d.path FROM source s CROSS JOIN document d ON d.tenant = s.tenant "
            "AND d.source = s.id AND d.generation = ? CROSS JOIN memory m ON m.document = d.id "
            f"WHERE s.tenant = ? AND s.key IN ({self._marks}) AND s.id = ? AND m.key IN ({rows.placeholders(keys)})",
            (self._generation, self._tenant, *self._bound, source, *(key for (key,) in keys)),
        ).fetchall()
        return paths_by_group(found)

    def documents(self, source: str, paths: Sequence[str] | None = None) -> dict[str, Document]:
        among = "" if paths is None else f" AND path IN ({rows.placeholders(paths)})"
        found = self._db.execute(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? AND source = "
            f"(SELECT id FROM source WHERE tenant = ? AND key IN ({self._marks}) AND id = ?){among} ORDER BY path",
            (self._tenant, self._generation, self._tenant, *self._bound, source, *(paths or ())),
        ).fetchall()
        return {document.path: document for document in map(document_from_row, found)}

    def count_passages(self, sources: Sequence[str]) -> int:
        marks = rows.placeholders(sources)
        (found,) = self._db.execute(
            "SELECT count(*) FROM memory m JOIN document d ON d.id = m.document WHERE m.tenant = ? "
            f"AND m.generation = ? AND m.key IN ({self._marks}) AND d.source IN ({marks})",
            (*self._own, *sources),
        ).fetchone()
        return int(found)

    def passages(self, source: str, path: str) -> list[Record]:
        return self.visible.records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?)",
            (self._tenant, source, self._generation, path),
            "ORDER BY m.ordinal, m.tier, m.hash",
        )

    def _read_records(self, ids: Sequence[str]) -> dict[str, Record]:
        return self.visible.by_id(ids)

    def _read_page(self, first: int, limit: int) -> list[Record]:
        return self.visible.records("m.hash >= ?", (first,), f"ORDER BY m.hash LIMIT {limit}")

    def _read_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        table = self._table()
        places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
        found: dict[str, RankingMetadata] = {}
        for batch in rows.id_batches(list(places)):
            read = self._db.execute(
                "SELECT m.tier, m.hash, m.title, m.turn, m.role, coalesce(m.event_start, m.recorded_at), m.last_used, "
                "m.pinned, m.strength, m.confidence, m.session, m.project FROM memory m "
                f"WHERE {self.visible.among()} AND m.hash IN ({rows.placeholders(batch)})",
                (*self._own, *map(rows.sort_hash, batch)),
            ).fetchall()
            for tier, number, title, turn, role, at, used, pinned, *rest in read:
                memory = id_from_hash(tier, number)
                if memory in places:
                    words = int(table.lengths[places[memory]])
                    found[memory] = RankingMetadata(
                        title, words, turn is not None, role, at, used, bool(pinned), *rest
                    )
        return found

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        found: list[str] = []
        for tier, first, last in id_ranges(prefix):
            read = self._db.execute(
                f"SELECT m.tier, m.hash FROM memory m WHERE {self.visible.among()} AND m.tier = coalesce(?, m.tier) "
                f"AND m.hash BETWEEN ? AND ? ORDER BY {'m.hash' if tier else 'm.tier, m.hash'} LIMIT ?",
                (*self._own, tier or None, first, last, limit - len(found)),
            ).fetchall()
            found += [id_from_hash(*row) for row in read]
        return found

    def project_names(self) -> list[str]:
        read = self._db.execute(
            f"SELECT DISTINCT m.project FROM memory m WHERE {self.visible.among()} AND m.project IS NOT NULL",
            self._own,
        ).fetchall()
        return sorted(name for (name,) in read)

    def _score_groups(self, groups: Sequence[TermGroup]) -> dict[TermGroup, GroupScores]:
        return postings.score_groups(self._db, self._tenant, self._table(), groups)

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores | NominatedScores:
        return self._model(fingerprint, query.shape, 1).score(query, self._mask(where))

    def _model(self, fingerprint: str, shape: tuple[int, ...] | None = None, axes: int = 1) -> ModelVectors:
        """Return a model's vectors; a query's shape must have so many axes and fit it."""
        registered = self._registered().get(fingerprint)
        if registered is None:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        model = registered.model
        if shape is not None and model.late_interaction:
            raise ModelMismatchError(token_codes_only(model))
        if shape is not None and (len(shape) != axes or shape[-1] != model.dimensions):
            raise ModelMismatchError(
                f"The query has {shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        return ModelVectors(self._db, self._table(), self._cache, registered.number, VectorLayout.of(model))

    def _read_models(self) -> dict[str, RegisteredModel]:
        return rows.registered_models(self._db, self._tenant)

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        return self._model(fingerprint).windows(ids)

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        return self._model(fingerprint, queries.shape, 2).nearest(queries, self._mask(where), limit, floor)

    def languages(self) -> tuple[str, ...]:
        return self._snapshot.cached("languages", self._read_languages)

    def _read_languages(self) -> tuple[str, ...]:
        codes = self._table().languages
        marks = rows.placeholders(codes)
        found = self._db.execute(
            f"SELECT code FROM language WHERE id IN ({marks}) ORDER BY code", codes
        ).fetchall()
        return tuple(code for (code,) in found)

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        for term, similarity in postings.find_similar_terms(self._db, self._tenant, self._snapshot, word):
            if len(found) == limit:
                break
            if postings.has_term(self._db, self._tenant, self._table(), term):
                found.append((term, similarity))
        return found

    def coverage(self, fingerprint: str) -> Coverage:
        memories, registered = self._table().memories, self._registered().get(fingerprint)
        if registered is None:
            return Coverage(0, memories)
        (pending,) = self._db.execute(
            "SELECT count(*) FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? "
            f"AND {self.visible.among()}",
            (registered.number, *self._own),
        ).fetchone()
        return Coverage(memories - pending, pending)

    def _count_windows(self, fingerprint: str) -> int:
        (found,) = self._db.execute(
            "SELECT total(v.rows) FROM segment s JOIN vector v ON v.segment = s.id JOIN model m ON m.id = v.model "
            f"WHERE s.tenant = ? AND s.generation = ? AND s.key IN ({self._marks}) AND m.fingerprint = ?",
            (*self._own, fingerprint),
        ).fetchone()
        return int(found)

    def pending(self, fingerprint: str, limit: int, *, newest: bool = False) -> list[PendingMemory]:
        registered = self._registered().get(fingerprint)
        if registered is not None:
            table = "pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND"
            order, values = "p.hash, p.num", [registered.number]
        else:
            table, order, values = "memory m WHERE", "m.hash", []
        if newest:
            order = f"coalesce(m.valid_from, m.event_start, m.recorded_at) DESC, {order}"
        nums = self._db.execute(
            f"SELECT m.num FROM {table} {self.visible.among()} ORDER BY {order} LIMIT ?",
            (*values, *self._own, limit),
        ).fetchall()
        return [
            PendingMemory(record, self._text_before(num))
            for (num,) in nums
            for record in self.visible.records("m.num = ?", (num,))
        ]

    def oldest_pending(self, fingerprint: str) -> int | None:
        registered = self._registered().get(fingerprint)
        if registered is None:
            return None
        (oldest,) = self._db.execute(
            "SELECT min(m.updated_at) FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? "
            f"AND {self.visible.among()}",
            (registered.number, *self._own),
        ).fetchone()
        return None if oldest is None else int(oldest)

    def due(self, level: int) -> list[DueMemory]:
        found = self._db.execute(
            "SELECT m.tier, m.hash, m.key, m.due, d.source, d.path FROM memory m LEFT JOIN document d "
            f"ON d.id = m.document WHERE {self.visible.among()} AND m.due > 0 AND m.due & 7 >= ? ORDER BY m.num",
            (*self._own, level),
        ).fetchall()
        return [DueMemory(id_from_hash(tier, number), *row) for tier, number, *row in found]

    def _text_before(self, num: int) -> str:
        row = self._db.execute(
            "SELECT b.content FROM memory m JOIN memory b ON b.document = m.document AND b.ordinal = m.ordinal - 1 "
            "AND b.heading_path = m.heading_path AND b.key = m.key WHERE m.num = ? ORDER BY b.tier, b.hash LIMIT 1",
            (num,),
        ).fetchone()
        return "" if row is None else str(row[0])

    def cached_texts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        registered = self._registered().get(fingerprint)
        if registered is None:
            return {}
        found = {}
        for text in hashes:
            row = self._db.execute(
                "SELECT rows, data FROM cache WHERE tenant = ? AND model = ? AND hash = ?",
                (self._tenant, registered.number, text),
            ).fetchone()
            if row is not None:
                found[text] = decode_cached_text(row[0], row[1], registered.model.row_bytes)
        return found

    def forgotten_hashes(self, hashes: Iterable[str]) -> set[str]:
        if not self._db.execute("SELECT 1 FROM tombstone WHERE tenant = ?", (self._tenant,)).fetchone():
            return set()  # a sync asks for every passage under each of its reader's keys
        statement = "SELECT 1 FROM tombstone WHERE tenant = ? AND hash = ?"
        return {mark for mark in hashes if self._db.execute(statement, (self._tenant, mark)).fetchone()}

    def forgotten_names(self, prefixes: Sequence[str]) -> set[str]:
        found = self._db.execute(
            f"SELECT substr(hash, {FORGOTTEN_PREFIX + 1}) FROM tombstone WHERE tenant = ? "
            f"AND substr(hash, 1, {FORGOTTEN_PREFIX}) IN ({rows.placeholders(prefixes)})",
            (self._tenant, *prefixes),
        ).fetchall()
        return {name for (name,) in found}

    def counts(self) -> Counts:
        by_tier = self._db.execute(
            f"SELECT m.tier, m.status, count(*) FROM memory m WHERE {self.visible.among()} GROUP BY m.tier, m.status",
            self._own,
        ).fetchall()
        (documents,) = self._db.execute(
            "SELECT count(*) FROM document d JOIN source s ON s.tenant = d.tenant AND s.id = d.source "
            f"WHERE d.tenant = ? AND d.generation = ? AND s.key IN ({self._marks})",
            self._own,
        ).fetchone()
        return counts_from_rows(by_tier, documents, len(self.sources()))

    def count_memories(self, key: str) -> int:
        (live,) = self._db.execute(
            "SELECT total(live) FROM segment WHERE tenant = ? AND generation = ? "
            f"AND key IN ({self._marks}) AND key = ?",
            (*self._own, key),
        ).fetchone()
        return int(live)

    def versions(self) -> StageVersions | None:
        row = self._db.execute("SELECT versions FROM tenant WHERE id = ?", (self._tenant,)).fetchone()
        return StageVersions(**json.loads(row[0])) if row is not None and row[0] else None
