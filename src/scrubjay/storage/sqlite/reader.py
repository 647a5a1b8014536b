"""Reader: one consistent view for one scope, inside one read transaction.

``PRAGMA data_version`` changes when another connection commits; then everything is read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.models.records import NO_FILTER, RecordFilter, Scope, is_turn
from scrubjay.models.results import Hit
from scrubjay.storage.interface import RankingMetadata
from scrubjay.storage.reader import NO_TENANT, TIME
from scrubjay.storage.rows import (
    VISIBLE,
    RegisteredModel,
    id_from_hash,
    memory_hashes,
    paths_by_group,
)
from scrubjay.storage.scoring import ArrayScores, GroupScores, NominatedScores
from scrubjay.storage.snapshot import MAX_METADATA, MAX_SCORE_BYTES, Snapshot
from scrubjay.storage.sqlite import postings
from scrubjay.storage.sqlite.blobs import VectorLayout
from scrubjay.storage.sqlite.connection import select
from scrubjay.storage.sqlite.graph import SQLiteGraph
from scrubjay.storage.sqlite.rows import find_tenant, registered_models
from scrubjay.storage.sqlite.vectors import ModelVectors, VectorCache, decode_cached_text
from scrubjay.storage.table import COLUMNS, MemoryTable, TablePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.changes import QuantizedVectors
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.text.tokenizer import TermGroup


MAX_SCOPES: Final = 4
"""Maximum number of snapshots, as many as tables."""


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
        snapshot = self._scopes.setdefault(scope, Snapshot())
        self._scopes.move_to_end(scope)
        while len(self._scopes) > 1 and (
            len(self._scopes) > MAX_SCOPES or sum(map(len, self._scopes.values())) > MAX_METADATA
        ):
            self._scopes.popitem(last=False)
        if len(self._scopes) != before:
            for cached in self._scopes.values():
                cached.words.allow(MAX_SCORE_BYTES // len(self._scopes))
        return snapshot


NO_BYTES: Final = np.zeros(0, np.uint8)
MAX_TABLES: Final = 4
"""Tables a process caches, one a scope."""


class TableCache:
    """Tables of the last scopes, shared by one process's readers."""

    def __init__(self) -> None:
        self._tables: OrderedDict[tuple[object, ...], MemoryTable] = OrderedDict()
        self._lock = threading.Lock()

    def table(self, db: Database, tenant: int, generation: int, keys: list[str]) -> MemoryTable:
        heads = select(
            db,
            "SELECT id, version, slots, live, length FROM segment WHERE tenant = ? AND generation = ? "
            "AND key IN ? ORDER BY id",
            tenant, generation, keys,
        )  # fmt: skip
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


def _is_in(nums: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows' numbers are wanted. A lookup table: np.isin sorts, half a second a million."""
    table = np.zeros(int(nums.max(initial=0)) + 1, np.bool_)
    table[wanted[wanted < len(table)]] = True
    is_wanted: NDArray[np.bool_] = table[nums]
    return is_wanted


class SQLiteReader(SQLiteGraph):
    _pending = f"FROM pending p CROSS JOIN memory m ON m.num = p.num WHERE p.model = ? AND {VISIBLE}"
    _pending_hash = "p.hash"

    def __init__(
        self, db: Database, scope: Scope, tables: TableCache, cache: VectorCache, snapshot: Snapshot
    ) -> None:
        tenant = snapshot.cached("tenant", lambda: find_tenant(db, scope.tenant))
        number, generation = (tenant.number, tenant.generation) if tenant else (NO_TENANT, 0)
        super().__init__((number, generation, list(scope.keys)), snapshot)
        self._db = db
        self._tables = tables
        self._cache = cache
        self._loaded_table: MemoryTable | None = None

    def _table(self) -> MemoryTable:
        if self._loaded_table is None:
            self._loaded_table = self._snapshot.cached(
                "table", lambda: self._tables.table(self._db, *self._scope_keys)
            )
        return self._loaded_table

    def _count_visible(self) -> int:
        return self._table().memories

    def _mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self._snapshot.masks.get([where], self._read_masks)[where]
        return mask

    def _read_masks(self, filters: list[RecordFilter]) -> dict[RecordFilter, NDArray[np.bool_]]:
        masks = {where: self._read_mask(where) for where in filters}
        for mask in masks.values():
            mask.flags.writeable = False
        return masks

    def _read_mask(self, where: RecordFilter) -> NDArray[np.bool_]:
        table = self._table()
        nums, mask = table.columns["num"], table.column_mask(where)

        def rows_of(source: str, *values: object) -> NDArray[np.bool_]:
            rows = self._all(f"SELECT num FROM {source}", *values)
            return _is_in(nums, np.array([num for (num,) in rows], np.int64))

        for tag in where.tags:
            mask &= rows_of("tag WHERE tag = ?", tag)
        if where.sources or where.path:
            mask &= rows_of("memory WHERE document IN ?", self._documents_of(where))
        of_tenant = "memory WHERE tenant = ? AND"
        projects = [project for project in where.projects if project is not None]
        if None in where.projects:  # no index finds memories without a project: exclude the others
            mask &= ~rows_of(f"{of_tenant} project IS NOT NULL AND project NOT IN ?", self._tenant, projects)
        elif projects:
            mask &= rows_of(f"{of_tenant} project IN ?", self._tenant, projects)
        for column, names in (("agent", where.agents), ("session", where.sessions)):
            if names:
                mask &= rows_of(f"{of_tenant} {column} IN ?", self._tenant, list(names))
        if where.apart_from is not None:
            mask &= ~rows_of(f"{of_tenant} session = ?", self._tenant, where.apart_from)
        if where.pinned:
            mask &= rows_of(f"{of_tenant} pinned = 1", self._tenant)
        if where.categories:
            mask &= np.isin(table.columns["key"], np.array(self._members(where.categories), np.uint64))
        return mask

    def hidden_groups(self, source: str) -> dict[str, set[str]]:
        keys = self._all(
            "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ? AND key LIKE 'group:%' "
            "AND live > 0 AND key NOT IN ?",
            *self._scope_keys,
        )
        if not keys:  # most stores have no such group: no passage is looked at
            return {}
        rows = self._all(
            "SELECT DISTINCT m.key, d.path FROM source s CROSS JOIN document d ON d.tenant = s.tenant "
            "AND d.source = s.id AND d.generation = ? CROSS JOIN memory m ON m.document = d.id "
            "WHERE s.tenant = ? AND s.key IN ? AND s.id = ? AND m.key IN ?",
            self._generation, self._tenant, self._keys, source, [key for (key,) in keys],
        )  # fmt: skip
        return paths_by_group(rows)

    def _read_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        table = self._table()
        places = {memory: row for memory, row in zip(ids, table.find(ids), strict=True) if row is not None}
        metadata: dict[str, RankingMetadata] = {}
        rows = self._all(
            f"SELECT m.tier, m.hash, m.title, m.turn, m.role, {TIME}, m.last_used, m.pinned, m.strength, "
            f"m.confidence, m.session, m.project FROM memory m WHERE {VISIBLE} AND m.hash IN ?",
            *self._scope_keys, memory_hashes(places),
        )  # fmt: skip
        for tier, number, title, turn, role, at, used, pinned, *rest in rows:
            memory = id_from_hash(tier, number)
            if memory in places:
                words = int(table.lengths[places[memory]])
                metadata[memory] = RankingMetadata(
                    title, words, is_turn(tier, rest[-2], role, turn), role, at, used, bool(pinned), *rest
                )
        return metadata

    def _score_groups(self, groups: Sequence[TermGroup]) -> dict[TermGroup, GroupScores]:
        return postings.score_groups(self._db, self._tenant, self._table(), groups)

    def nearest(
        self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter
    ) -> ArrayScores | NominatedScores:
        model = self._vector_model(fingerprint, query.shape, 1)
        return self._vectors_of(model).score(query, self._mask(where))

    def _vectors_of(self, model: RegisteredModel) -> ModelVectors:
        layout = VectorLayout.of(model.model)
        return ModelVectors(self._db, self._table(), self._cache, model.number, layout)

    def _read_models(self) -> dict[str, RegisteredModel]:
        return registered_models(self._db, self._tenant)

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        return self._vectors_of(self._model(fingerprint)).windows(ids)

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        model = self._vector_model(fingerprint, queries.shape, 2)
        return self._vectors_of(model).nearest(queries, self._mask(where), limit, floor)

    def languages(self) -> tuple[str, ...]:
        return self._snapshot.cached("languages", self._read_languages)

    def _read_languages(self) -> tuple[str, ...]:
        rows = self._all(
            "SELECT code FROM language WHERE id IN ? ORDER BY code", list(self._table().languages)
        )
        return tuple(code for (code,) in rows)

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        similar: list[tuple[str, float]] = []
        for term, similarity in postings.find_similar_terms(self._db, self._tenant, self._snapshot, word):
            if len(similar) == limit:
                break
            if postings.has_term(self._db, self._tenant, self._table(), term):
                similar.append((term, similarity))
        return similar

    def _count_windows(self, fingerprint: str) -> int:
        ((count,),) = self._all(
            "SELECT total(v.rows) FROM segment s JOIN vector v ON v.segment = s.id JOIN model m ON m.id = v.model "
            "WHERE s.tenant = ? AND s.generation = ? AND s.key IN ? AND m.fingerprint = ?",
            *self._scope_keys, fingerprint,
        )  # fmt: skip
        return int(count)

    def cached_texts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        registered = self._registered_models().get(fingerprint)
        if registered is None:
            return {}
        cached = self._all(
            "SELECT hash, rows, data FROM cache WHERE tenant = ? AND model = ? AND hash IN ?",
            self._tenant, registered.number, list(hashes),
        )  # fmt: skip
        width = registered.model.row_bytes
        return {text: decode_cached_text(rows, data, width) for text, rows, data in cached}

    def forgotten_hashes(self, hashes: Iterable[str]) -> set[str]:
        if not self._all("SELECT 1 FROM tombstone WHERE tenant = ? LIMIT 1", self._tenant):
            return set()  # a sync asks for every passage under each of its reader's keys
        statement = "SELECT 1 FROM tombstone WHERE tenant = ? AND hash = ?"
        return {mark for mark in hashes if self._db.execute(statement, (self._tenant, mark)).fetchone()}

    def count_memories(self, key: str) -> int:
        ((live,),) = self._all(
            "SELECT total(live) FROM segment WHERE tenant = ? AND generation = ? AND key IN ? AND key = ?",
            *self._scope_keys, key,
        )  # fmt: skip
        return int(live)
