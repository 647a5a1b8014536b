"""Reader: one consistent view for one scope, inside one read transaction.

SQLite itself tells when another connection has committed (``PRAGMA data_version``); then everything is read anew.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.models.graph import Edge
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import NO_FILTER, Document, Record, RecordFilter, Scope, Source, StageVersions
from scrubjay.models.results import Hit
from scrubjay.storage.interface import Counts, Coverage, ModelState, PendingMemory, RankingMetadata
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    SIGN,
    SOURCE_COLUMNS,
    document_from_row,
    event_from_row,
    id_from_hash,
    run_from_row,
    source_from_row,
)
from scrubjay.storage.scoring import ArrayScores, GroupScores, score_words
from scrubjay.storage.snapshot import MAX_METADATA, MAX_SCORE_BYTES, Snapshot
from scrubjay.storage.sqlite import graph, postings, rows, vectors
from scrubjay.storage.sqlite.graph import SQLiteGraph
from scrubjay.storage.sqlite.rows import VisibleMemories, bind_keys, find_tenant, keys_sql, read_metadata
from scrubjay.storage.sqlite.vectors import NominatedScores, VectorCache
from scrubjay.storage.table import COLUMNS, STATUS_CODE, TIER_CODE, MemoryTable, TablePart, path_matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
    from scrubjay.storage.changes import QuantizedVectors
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.text.tokenizer import TermGroup


MAX_SCOPES: Final = 4
"""Scopes of which is kept what was read: as many as tables are."""


class SnapshotCache:
    """What one connection read of the state that the file is in."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._scopes: OrderedDict[Hashable, Snapshot] = OrderedDict()

    def of(self, db: Database, scope: Hashable) -> Snapshot:
        """Return what was read for a scope, nothing where something was written since.

        Args:
            db: The connection, inside a transaction: so what it sees stays what it is.
            scope: Whose memories are read.
        """
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
"""Tables a process keeps: one for each of the last scopes that read."""


class TableCache:
    """Tables of the last scopes, shared by one process's readers."""

    def __init__(self) -> None:
        self._tables: OrderedDict[tuple[object, ...], MemoryTable] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, db: Database, tenant: int, generation: int, keys: Sequence[str]) -> MemoryTable:
        """Return the table of these visibility keys, as the open transaction sees it."""
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
    """Return the table of some segments; what the one before it holds of them is not read again."""
    known = {} if before is None else {(part.segment, part.version): part for part in before.parts}
    parts: list[TablePart] = []
    pieces: list[NDArray[np.void]] = []
    first = 0
    for segment, version, slots, _, _ in heads:
        held = known.get((segment, version))
        if before is not None and held is not None:
            pieces.append(before.columns[held.first : held.first + slots])
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


def filter_mask(graph: SQLiteGraph, table: MemoryTable, where: RecordFilter) -> NDArray[np.bool_]:
    """Return a mask over the rows. What the columns hold is asked of them, the rest of the tables."""
    db, tenant = graph.visible.db, graph.visible.tenant
    columns = table.columns
    mask = table.of_status(tuple(_name_codes(STATUS_CODE, where.statuses))).copy()
    if where.tiers:
        mask &= _is_any(columns["tier"], _name_codes(TIER_CODE, where.tiers))
    if where.since is not None:
        mask &= columns["at"] >= where.since
    if where.until is not None:
        mask &= columns["at"] < where.until
    nums = columns["num"]
    for tag in where.tags:
        mask &= _is_among(nums, _select_numbers(db, "SELECT num FROM tag WHERE tag = ?", (tag,)))
    if where.sources or where.path:
        mask &= _is_among(nums, _documents_mask(db, tenant, where))
    mask &= _names_mask(db, tenant, nums, where)
    if where.pinned:
        mask &= _is_among(
            nums, _select_numbers(db, "SELECT num FROM memory WHERE tenant = ? AND pinned = 1", (tenant,))
        )
    if where.categories:
        mask &= np.isin(columns["key"], np.array(graph.members(where.categories), np.uint64))
    return mask


def _names_mask(db: Database, tenant: int, nums: NDArray[np.int64], where: RecordFilter) -> NDArray[np.bool_]:
    """Return which rows are of the projects, agents and sessions that are named."""
    mask = np.ones(len(nums), np.bool_)
    named = "SELECT num FROM memory WHERE tenant = ? AND"
    projects = tuple(project for project in where.projects if project is not None)
    none = None in where.projects  # the index knows nothing of those of no project: the others are left out
    columns = (("project", () if none else projects), ("agent", where.agents), ("session", where.sessions))
    for column, names in columns:
        if names:
            found = _select_numbers(db, f"{named} {column} IN ({_placeholders(names)})", (tenant, *names))
            mask &= _is_among(nums, found)
    if none:
        others = f"{named} project IS NOT NULL AND project NOT IN ({_placeholders(projects)})"
        mask &= ~_is_among(nums, _select_numbers(db, others, (tenant, *projects)))
    if where.apart_from is not None:
        mask &= ~_is_among(nums, _select_numbers(db, f"{named} session = ?", (tenant, where.apart_from)))
    return mask


def _placeholders(names: Sequence[str]) -> str:
    return ",".join("?" * len(names))


def _select_numbers(db: Database, statement: str, values: Sequence[object]) -> NDArray[np.int64]:
    return np.array([num for (num,) in db.execute(statement, values).fetchall()], np.int64)


def _is_among(nums: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows' numbers are wanted. A table of all numbers: np.isin sorts, half a second a million."""
    held = np.zeros(int(nums.max(initial=0)) + 1, np.bool_)
    held[wanted[wanted < len(held)]] = True
    found: NDArray[np.bool_] = held[nums]
    return found


def _name_codes(known: Mapping[str, int], names: Sequence[str]) -> list[int]:
    return [known[name] for name in names if name in known]


def _is_any(column: NDArray[np.uint8], codes: Sequence[int]) -> NDArray[np.bool_]:
    """Return where a column holds any of a few codes. Not np.isin: it imports numpy.ma, a tenth of a cold search."""
    mask = np.zeros(len(column), np.bool_)
    for code in codes:
        mask |= column == code
    return mask


def _documents_mask(db: Database, tenant: int, where: RecordFilter) -> NDArray[np.int64]:
    found = db.execute("SELECT id, source, path FROM document WHERE tenant = ?", (tenant,)).fetchall()
    nums: list[int] = []
    for document, source, path in found:
        if (not where.sources or source in where.sources) and (
            not where.path or path_matches(path, where.path)
        ):
            nums += _select_numbers(db, "SELECT num FROM memory WHERE document = ?", (document,)).tolist()
    return np.array(nums, np.int64)


class SQLiteHistory:
    """Events and runs that the holder of some keys sees.

    Attributes:
        visible: The memories they see.
    """

    visible: VisibleMemories

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        asked, values = ("", []) if run is None else (" AND e.run = ?", [run])
        if ids is None:
            return [event for _, event in self._events(asked, values, limit)]
        wanted = sorted({one for one in ids if rows.is_memory_id(one)})
        found: list[tuple[int, Event]] = []
        for batch in rows.id_batches(wanted):
            numbers = [rows.sort_hash(one) for one in batch]
            # The tier, too: an id of another one has the number of a memory and none of its events.
            named = [value for one in batch for value in (rows.sort_hash(one), rows.tier_of(one))]
            among = (
                f"{asked} AND e.memory IN ({','.join('?' * len(batch))}) "
                f"AND (e.memory, m.tier) IN (VALUES {','.join(['(?, ?)'] * len(batch))})"
            )
            found += self._events(among, [*values, *numbers, *named], limit)
        found.sort(key=lambda one: (one[1].at, one[0]), reverse=True)
        return [event for _, event in found[:limit]]

    def _events(self, asked: str, values: Sequence[object], limit: int) -> list[tuple[int, Event]]:
        """Return the order of writing and itself of each of the newest events that a condition is true of."""
        # CROSS JOIN: newest first through the events, each memory by its number; never through all memories.
        found = self.visible.db.execute(
            "SELECT e.seq, m.tier, e.memory, e.op, e.at, e.key, e.run, o.tier, o.hash, e.count, e.before, e.actor "
            "FROM event e CROSS JOIN memory m ON m.tenant = e.tenant AND m.hash = e.memory "
            f"AND {self.visible.among()} LEFT JOIN memory o ON o.hash = e.other AND {self.visible.among('o')} "
            f"WHERE e.tenant = ? AND e.key IN ({self.visible.marks}){asked} ORDER BY e.at DESC, e.seq DESC LIMIT ?",
            (*self.visible.own, *self.visible.own, self.visible.tenant, *self.visible.bound, *values, limit),
        ).fetchall()
        return [(number, event_from_row(row)) for number, *row in found]

    def readings(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        from scrubjay.models.lifecycle import CachedExtraction

        found: dict[str, CachedExtraction] = {}
        wanted = {one for one in ids if rows.is_memory_id(one)}
        for batch in rows.id_batches([rows.sort_hash(one) for one in wanted]):
            held = self.visible.db.execute(
                "SELECT m.tier, m.hash, r.mark, r.data FROM memory m JOIN reading r ON r.num = m.num "
                f"WHERE {self.visible.among()} AND m.hash IN ({','.join('?' * len(batch))})",
                (*self.visible.own, *batch),
            ).fetchall()
            for tier, number, mark, data in held:
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


class SQLiteReader(SQLiteGraph, SQLiteHistory):
    """A view that lasts as long as its transaction; ``kept`` is what those before it read of the same state."""

    def __init__(
        self, db: Database, scope: Scope, tables: TableCache, blocks: VectorCache, snapshot: Snapshot
    ) -> None:
        tenant = snapshot.once("tenant", lambda: find_tenant(db, scope.tenant))
        number, self._generation = (tenant.number, tenant.generation) if tenant else (NO_TENANT, 0)
        super().__init__(VisibleMemories(db, number, self._generation, scope.keys), snapshot)
        self._own = self.visible.own
        self._tables = tables
        self._blocks = blocks
        self._loaded_table: MemoryTable | None = None
        self._found: dict[TermGroup, GroupScores] = {}

    def _table(self) -> MemoryTable:
        if self._loaded_table is None:
            self._loaded_table = self._snapshot.once(
                "table", lambda: self._tables.table(self._db, self._tenant, self._generation, self._keys)
            )
        return self._loaded_table

    def _mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        """Return which rows pass a filter; each channel of a search asks for the same, and the next search often."""
        found: NDArray[np.bool_] = self._snapshot.masks.of([where], self._passing)[where]
        return found

    def _passing(self, wanted: list[RecordFilter]) -> dict[RecordFilter, NDArray[np.bool_]]:
        found = {where: filter_mask(self, self._table(), where) for where in wanted}
        for mask in found.values():
            mask.flags.writeable = False
        return found

    def sources(self) -> list[Source]:
        return list(self._snapshot.once("sources", self._sources))

    def _sources(self) -> list[Source]:
        found = self._db.execute(
            f"SELECT {', '.join(SOURCE_COLUMNS)} FROM source WHERE tenant = ? AND key IN ({self._marks}) "
            "ORDER BY root, id",
            (self._tenant, *self._bound),
        ).fetchall()
        return [source_from_row(row, json.loads) for row in found]

    def documents(self, source: str) -> dict[str, Document]:
        found = self._db.execute(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? AND source = "
            f"(SELECT id FROM source WHERE tenant = ? AND key IN ({self._marks}) AND id = ?) ORDER BY path",
            (self._tenant, self._generation, self._tenant, *self._bound, source),
        ).fetchall()
        return {document.path: document for document in map(document_from_row, found)}

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
        return self.visible.records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?)",
            (self._tenant, source, self._generation, path),
            "ORDER BY m.ordinal, m.tier, m.hash",
        )

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        return self._snapshot.records.of(ids, self.visible.of)

    def heads(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        return self._snapshot.heads.of(ids, lambda new: read_metadata(self.visible, self._table(), new))

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._snapshot.beside.of(ids, lambda new: graph.adjacent_turns(self.visible, new))

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        return graph.follows_edges(self.visible, ids)

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        return self.visible.records(
            "m.session = ? AND m.turn BETWEEN ? AND ?",
            (session, first, last),
            "ORDER BY m.turn, coalesce(m.ordinal, -1), m.tier, m.hash",
        )

    def last_turn(self, session: str) -> int | None:
        return graph.find_last_turn(self.visible, session)

    def page(self, after: str, limit: int, where: RecordFilter | None = None) -> list[Record]:
        from scrubjay.storage.validation import page_start as number_after  # it knows all that may be written

        number = number_after(after)
        if where is not None:
            ids = self._table().page(self._mask(where), number, limit)
            return list(self.get(ids).values())
        first = number + 1 - SIGN
        if first >= SIGN:
            return []
        return self.visible.records("m.hash >= ?", (first,), f"ORDER BY m.hash LIMIT {limit}")

    def latest(self, where: RecordFilter, limit: int, skip: int = 0) -> list[Record]:
        table = self._table()
        return list(self.get(table.latest(self._mask(where), limit, skip)).values())

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        return self.visible.complete(prefix, limit)

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        return [len(rows) for rows, _ in self._postings(groups)]

    def words(self, groups: Sequence[TermGroup], where: RecordFilter) -> ArrayScores:
        return score_words(self._table(), self._postings(groups), self._mask(where))

    def _postings(self, groups: Sequence[TermGroup]) -> list[GroupScores]:
        """Return what groups add to scores; asked by the plan first and by the scorer again."""
        new = [group for group in groups if group not in self._found]
        if new:
            table = self._table()
            self._found |= self._snapshot.words.of(
                new, lambda unread: postings.score_groups(self._db, self._tenant, table, unread)
            )
        return [self._found[group] for group in groups]

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores | NominatedScores:
        model = self._model(fingerprint, query.shape, 1)
        return vectors.score_model(self._db, self._table(), self._blocks, *model, query, self._mask(where))

    def _model(
        self, fingerprint: str, shape: tuple[int, ...] | None = None, axes: int = 1
    ) -> tuple[int, int]:
        """Return a model's number and dimensions; queries of this shape must have so many axes and fit it."""
        known = self._registered()
        if fingerprint not in known:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        number, model, _ = known[fingerprint]
        if shape is not None and (len(shape) != axes or shape[-1] != model.dimensions):
            raise ModelMismatchError(
                f"The query has {shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        return number, model.dimensions

    def _registered(self) -> dict[str, tuple[int, EmbeddingModel, str]]:
        return self._snapshot.once("models", lambda: rows.registered_models(self._db, self._tenant))

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        model = self._model(fingerprint)
        return vectors.read_windows(self._db, self._table(), self._blocks, *model, ids)

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        model = self._model(fingerprint, queries.shape, 2)
        table, passing = self._table(), self._mask(where)
        return vectors.nearest_memories(self._db, table, self._blocks, *model, queries, passing, limit, floor)

    def languages(self) -> tuple[str, ...]:
        return self._snapshot.once("languages", self._languages)

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
        found: list[tuple[str, float]] = []
        for term, alike in postings.find_similar_terms(self._db, self._tenant, self._snapshot, word):
            if len(found) == limit:
                break
            if postings.has_term(self._db, self._tenant, self._table(), term):
                found.append((term, alike))
        return found

    def models(self) -> list[ModelState]:
        found = [ModelState(model, state) for _, model, state in self._registered().values()]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        return rows.model_coverage(self.visible, fingerprint, self._table().memories)

    def windows(self, fingerprint: str) -> int:
        return self._snapshot.once(("windows", fingerprint), lambda: self._windows(fingerprint))

    def _windows(self, fingerprint: str) -> int:
        (found,) = self._db.execute(
            "SELECT total(v.rows) FROM segment s JOIN vector v ON v.segment = s.id JOIN model m ON m.id = v.model "
            f"WHERE s.tenant = ? AND s.generation = ? AND s.key IN ({self._marks}) AND m.fingerprint = ?",
            (*self._own, fingerprint),
        ).fetchone()
        return int(found)

    def waiting(self, fingerprint: str, limit: int) -> list[PendingMemory]:
        return rows.pending_memories(self.visible, fingerprint, limit)

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        return rows.cached_texts(self._db, self._tenant, fingerprint, list(hashes))

    def forgotten(self, hashes: Iterable[str]) -> set[str]:
        return rows.forgotten_hashes(self._db, self._tenant, hashes)

    def counts(self) -> Counts:
        return self.visible.counts(len(self.sources()))

    def amount(self, key: str) -> int:
        return self.visible.amount(key)

    def versions(self) -> StageVersions | None:
        row = self._db.execute("SELECT versions FROM tenant WHERE id = ?", (self._tenant,)).fetchone()
        return StageVersions(**json.loads(row[0])) if row is not None and row[0] else None
