"""Writer: applies each change to the tables inside one transaction, and rebuilds a generation.

A live store's file is never replaced: with another process holding its log, that would lose the whole rebuild.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.ids import EmbeddingModel, tombstone_hash
from scrubjay.models.records import Document, Record, Scope, StageVersions
from scrubjay.storage import changes as c
from scrubjay.storage.changes import (
    TEXT_CACHE_BYTES,
    Change,
    PreparedMemory,
    PutVectors,
    PutVersions,
    QuantizedVectors,
)
from scrubjay.storage.history import HistoryWriter, PriorMemory
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    RUN_COLUMNS,
    Tenant,
    document_from_row,
    id_from_hash,
    insert_sql,
)
from scrubjay.storage.sqlite import maintenance, postings, rows, segments
from scrubjay.storage.sqlite.blobs import NEXT_VERSION
from scrubjay.storage.sqlite.connection import write_transaction
from scrubjay.storage.sqlite.graph_writer import SQLiteGraphWriter, clean_up_edges
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.rows import VisibleMemories
from scrubjay.storage.sqlite.vectors import VectorCache
from scrubjay.storage.table import COLUMNS, TablePart
from scrubjay.storage.validation import (
    NOTHING_WRITTEN,
    check_key,
    check_place,
    check_rebuild_changes,
    check_record,
    check_vectors,
    id_conflict,
)
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import Database


def put_model(db: Database, tenant: int, model: EmbeddingModel, state: str) -> None:
    """Register a model, with every memory of the tenant pending, or change the state of one."""
    known = rows.registered_models(db, tenant)
    if model.fingerprint in known:
        db.execute("UPDATE model SET state = ? WHERE id = ?", (state, known[model.fingerprint][0]))
        return
    db.execute(
        "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, window, state) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            tenant, model.fingerprint, model.provider, model.name, model.revision, model.dimensions, model.pooling,
            model.window, state,
        ),
    )  # fmt: skip
    db.execute(
        "INSERT INTO pending SELECT ?, hash, num FROM memory WHERE tenant = ?",
        (db.last_insert_rowid(), tenant),
    )


def drop_model(db: Database, tenant: int, fingerprint: str) -> None:
    known = rows.registered_models(db, tenant)
    if fingerprint in known:
        number = known[fingerprint][0]
        for table in ("vector", "pending", "cache"):
            db.execute(f"DELETE FROM {table} WHERE model = ?", (number,))
        db.execute("DELETE FROM model WHERE id = ?", (number,))
        db.execute(f"UPDATE segment SET version = {NEXT_VERSION} WHERE tenant = ?", (tenant,))


def put_late_vectors(db: Database, tenant: Tenant, scope: Scope | None, change: PutVectors) -> None:
    """Store late vectors where their memories are still pending, and cache their texts."""
    number = segments.model_number(db, tenant.number, change.fingerprint)
    by_segment: dict[int, list[tuple[int, QuantizedVectors]]] = defaultdict(list)
    for memory, (content_hash, codes) in change.vectors.items():
        if not rows.is_memory_id(memory):
            continue
        row = db.execute(
            "SELECT m.num, m.hash, m.key, s.segment, s.slot FROM memory m JOIN slot s ON s.num = m.num "
            "WHERE m.tenant = ? AND m.hash = ? AND m.generation = ? AND m.content_hash = ? AND m.tier = ?",
            (tenant.number, rows.sort_hash(memory), tenant.generation, content_hash, rows.tier_of(memory)),
        ).fetchone()
        if row is None or (scope is not None and row[2] not in scope.keys):
            continue
        db.execute("DELETE FROM pending WHERE model = ? AND hash = ? AND num = ?", (number, row[1], row[0]))
        if db.changes():
            by_segment[row[3]].append((row[4], codes))
    for segment, held in by_segment.items():
        segments.append_vectors(db, segment, number, held)
        segments.join_vectors(db, segment, number)
        db.execute(f"UPDATE segment SET version = {NEXT_VERSION} WHERE id = ?", (segment,))
    for text, codes in change.texts.items():
        db.execute(
            "INSERT OR REPLACE INTO cache (tenant, model, hash, rows, data) VALUES (?, ?, ?, ?, ?)",
            (
                tenant.number,
                number,
                text,
                len(codes.scales),
                codes.scales.astype("<f4").tobytes() + codes.data.tobytes(),
            ),
        )
    if change.texts:
        _trim_text_cache(db, tenant.number)


def _trim_text_cache(db: Database, tenant: int) -> None:
    (held,) = db.execute("SELECT total(length(data)) FROM cache WHERE tenant = ?", (tenant,)).fetchone()
    if held > TEXT_CACHE_BYTES:
        db.execute(
            "DELETE FROM cache WHERE seq IN (SELECT seq FROM cache WHERE tenant = ? ORDER BY seq LIMIT "
            "(SELECT count(*) / 8 + 1 FROM cache WHERE tenant = ?))",
            (tenant, tenant),
        )


PUT_EVENT: Final = insert_sql("event", EVENT_COLUMNS)
PUT_RUN: Final = insert_sql("run", RUN_COLUMNS).replace("INSERT", "INSERT OR REPLACE", 1)
PUT_READING: Final = "INSERT OR REPLACE INTO reading VALUES (?, ?, ?)"


class SQLiteHistoryWriter(HistoryWriter):
    """Writes history into SQLite. A memory whose status changes is in a segment already."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._memories = VisibleMemories(db, tenant.number, tenant.generation, scope.keys)
        self._statuses: dict[int, str] = {}

    def apply(self, change: c.LifecycleChange) -> None:
        super().apply(change)
        segments.set_statuses(self._db, self._statuses)
        self._statuses.clear()

    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        wanted = {memory for memory in ids if rows.is_memory_id(memory)}
        prior: dict[str, PriorMemory] = {}
        for batch in rows.id_batches([rows.sort_hash(memory) for memory in wanted]):
            found = self._db.execute(
                "SELECT m.tier, m.num, m.hash, m.key, m.status, m.valid_from, m.valid_until FROM memory m "
                f"WHERE {self._memories.among()} AND m.hash IN ({','.join('?' * len(batch))})",
                (*self._memories.own, *batch),
            ).fetchall()
            prior |= {id_from_hash(tier, row[1]): PriorMemory(*row) for tier, *row in found}
        return {memory: one for memory, one in prior.items() if memory in wanted}

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        assigned = ", ".join(f"{name} = ?" for name in values)
        self._db.execute(f"UPDATE memory SET {assigned} WHERE num = ?", (*values.values(), prior.num))
        if values.get("status", prior.status) != prior.status:
            self._statuses[prior.num] = values["status"]

    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._db.executemany(PUT_EVENT, rows)

    def _write_runs(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._db.executemany(PUT_RUN, rows)

    def _write_readings(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        self._db.executemany(PUT_READING, rows)


LOG_FLOOR = 100_000
"""Entries of the change log that are kept; a reader further behind reloads."""


class SQLiteWriter:
    """One transaction's work. `finish` must be called before the commit."""

    def __init__(
        self, db: Database, tenant: Tenant, scope: Scope | None, vocabulary: postings.Vocabulary
    ) -> None:
        self._db = db
        self._tenant = tenant
        self._scope = scope
        self._vocabulary = vocabulary
        self._fresh: dict[int, segments.SegmentEntry] = {}
        self._models = rows.registered_models(db, tenant.number)
        self._rewrite: set[int] = set()
        self._removed: dict[int, tuple[str, str]] = {}
        self._connected: SQLiteGraphWriter | None = None
        self.gained: Counter[str] = Counter()
        self.forgot = False

    def apply(self, change: c.Change) -> None:
        if isinstance(change, c.GraphChange):
            if self._scope is not None:  # a rebuild holds none (`check_rebuild_changes`)
                self._connections(self._scope).apply(change)
            return
        if isinstance(change, c.LifecycleChange):
            if self._scope is not None:
                self._flush()  # a status is changed in a segment
                SQLiteHistoryWriter(self._db, self._tenant, self._scope).apply(change)
            return
        self._apply(change)
        # Edges belong to no generation: those of a rebuild are put right when it ends.
        if self._removed and self._scope is not None:
            clean_up_edges(self._db, self._tenant, self._removed)
        self._removed.clear()

    def _connections(self, scope: Scope) -> SQLiteGraphWriter:
        if self._connected is None:
            self._connected = SQLiteGraphWriter(self._db, self._tenant, scope)
        return self._connected

    def _apply(self, change: c.Change) -> None:
        match change:
            case c.PutVersions(versions):
                stamp = (json.dumps(asdict(versions)), self._tenant.number)
                self._db.execute("UPDATE tenant SET versions = ? WHERE id = ?", stamp)
            case c.PutSource():
                self._put_source(change)
            case c.DropSource(source) if self._sees_source(source):
                self._drop_source(source)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)
            case c.PutMemory(memory):
                self._put([memory], None, None)
            case c.DropMemory(ids):
                self._remove(rows.without_document(self._db, self._numbers(ids)), "drop")
            case c.Forget(ids):
                self._forget(ids)
            case c.PutModel() | c.DropModel() | c.PutVectors() | c.PutTombstones():
                self._flush()
                self._change_beside(change)

    def _change_beside(self, change: c.Change) -> None:
        match change:
            case c.PutTombstones(hashes):
                rows.put_tombstones(self._db, self._tenant.number, hashes)
            case c.PutModel(model, state):
                put_model(self._db, self._tenant.number, model, state)
            case c.DropModel(fingerprint):
                drop_model(self._db, self._tenant.number, fingerprint)
            case c.PutVectors():
                model = self._model(change.fingerprint)
                for named, (_, codes) in change.vectors.items():
                    check_vectors(model, codes, f"Memory {named}")
                for cached in change.texts.values():
                    check_vectors(model, cached, "A cached text")
                put_late_vectors(self._db, self._tenant, self._scope, change)
        self._models = rows.registered_models(self._db, self._tenant.number)

    def finish(self) -> None:
        """Write the new segments, merge those that are due, and cut the log."""
        self._flush()
        self._rewrite_stale()
        segments.merge_due(self._db, self._tenant.number, self._keys(), self._tenant.generation)
        stale = "DELETE FROM change WHERE seq <= (SELECT max(seq) FROM change) - ?"
        self._db.execute(stale, (LOG_FLOOR,))

    def _rewrite_stale(self) -> None:
        for segment in sorted(self._rewrite):
            if self._db.execute("SELECT 1 FROM segment WHERE id = ?", (segment,)).fetchone():
                segments.merge_segments(self._db, [segment])
        self._rewrite.clear()

    def _keys(self) -> list[str]:
        found = self._db.execute(
            "SELECT DISTINCT key FROM segment WHERE tenant = ? AND generation = ?",
            (self._tenant.number, self._tenant.generation),
        ).fetchall()
        return [key for (key,) in found if self._scope is None or key in self._scope.keys]

    def _flush(self) -> None:
        by_key: dict[str, list[segments.SegmentEntry]] = defaultdict(list)
        for entry in self._fresh.values():
            by_key[entry.memory.record.key].append(entry)
        self._fresh.clear()
        for key, entries in by_key.items():
            used = set().union(*(entry.memory.terms.counts for entry in entries))
            known = self._vocabulary.numbers(self._db, self._tenant.number, used)
            segments.insert_memories(
                self._db, self._tenant.number, key, self._tenant.generation, entries, known
            )

    def _put_source(self, change: c.PutSource) -> None:
        s = change.source
        check_key(self._scope, s.key, f"Source {s.root}")
        key = rows.find_source_key(self._db, self._tenant.number, s.id)
        if key is not None and not self._sees(key):
            raise InputError(f"Source id {s.id!r} belongs to another source already. {NOTHING_WRITTEN}")
        rows.put_source(self._db, self._tenant.number, s)

    def _sees_source(self, source: str) -> bool:
        key = rows.find_source_key(self._db, self._tenant.number, source)
        return key is not None and self._sees(key)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _drop_source(self, source: str) -> None:
        own = (self._tenant.number, source)
        found = self._db.execute(
            "SELECT path FROM document WHERE tenant = ? AND source = ? AND generation = ?",
            (*own, self._tenant.generation),
        ).fetchall()
        for (path,) in found:
            self._drop_document(source, path)
        self._db.execute("DELETE FROM source WHERE tenant = ? AND id = ?", own)
        maintenance.note_leftovers(self._db)

    def _put_document(self, change: c.PutDocument) -> None:
        d = change.document
        if not self._sees_source(d.source):
            raise NotFoundError(f"No source {d.source} is registered. {NOTHING_WRITTEN}")
        for kept in change.kept:
            check_place(kept.id, kept.place, d)
        number = rows.find_document(self._db, self._tenant, d.source, d.path)
        replaced = None  # the document that stood under the path which another one takes over
        if change.moved_from not in (None, d.path):
            moved = rows.find_document(self._db, self._tenant, d.source, str(change.moved_from))
            if moved is not None:
                number, replaced = moved, number
                self._db.execute("DELETE FROM document WHERE id = ?", (replaced,))
        number = rows.put_document(self._db, self._tenant, number, d)
        self._remove(self._numbers(change.dropped), "drop")
        if not change.grows and (change.fresh or change.kept or change.dropped):
            self._remove(self._left(number, {kept.id for kept in change.kept}), "drop")
        for kept in change.kept:
            if nums := self._numbers([kept.id]):
                rows.place_memory(self._db, nums[0], number, kept.place)
        if replaced is not None:
            found = self._db.execute("SELECT num FROM memory WHERE document = ?", (replaced,)).fetchall()
            self._remove([num for (num,) in found], "drop")
        self._put(change.fresh, number, d)

    def _left(self, document: int, kept: set[str]) -> list[int]:
        found = self._db.execute(
            "SELECT num, hash, tier, key FROM memory WHERE document = ?", (document,)
        ).fetchall()
        return [
            n for n, number, tier, key in found if self._sees(key) and id_from_hash(tier, number) not in kept
        ]

    def _drop_document(self, source: str, path: str) -> None:
        number = rows.find_document(self._db, self._tenant, source, path)
        if number is not None:
            found = self._db.execute("SELECT num FROM memory WHERE document = ?", (number,)).fetchall()
            self._remove([num for (num,) in found], "drop")
            self._db.execute("DELETE FROM document WHERE id = ?", (number,))

    def _put(
        self, memories: Sequence[c.PreparedMemory], document: int | None, where: Document | None
    ) -> None:
        last = {memory.record.id: memory for memory in memories}
        for memory in memories:
            check_key(self._scope, memory.record.key, f"Memory {memory.record.id}")
            check_record(memory.record)
            check_place(memory.record.id, memory.record.place, where)
            for fingerprint, codes in memory.vectors.items():
                check_vectors(self._model(fingerprint), codes, f"Memory {memory.record.id}")
        self._remove([num for memory in last if (num := self._free(memory)) is not None], None)
        for memory in last.values():
            record = memory.record
            values = rows.memory_to_row(record, self._tenant.number, self._tenant.generation, document)
            self._db.execute(rows.INSERT_MEMORY, values)
            num = self._db.last_insert_rowid()
            self._fresh[num] = segments.SegmentEntry(num, memory)
            self.gained[record.key] += 1
            for tag in record.tags:
                self._db.execute("INSERT INTO tag VALUES (?, ?)", (tag, num))
            for fingerprint, (number, _, _) in self._models.items():
                if fingerprint not in memory.vectors:
                    self._db.execute(
                        "INSERT INTO pending VALUES (?, ?, ?)", (number, rows.sort_hash(record.id), num)
                    )
            self._log(record.key, record.id, "put")

    def _model(self, fingerprint: str) -> EmbeddingModel:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {NOTHING_WRITTEN}")
        return self._models[fingerprint][1]

    def _holder(self, memory: str) -> tuple[int, str, str] | None:
        row = self._db.execute(
            "SELECT num, key, tier FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (self._tenant.number, rows.sort_hash(memory), self._tenant.generation),
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]), str(row[2]))

    def _free(self, memory: str) -> int | None:
        row = self._holder(memory)
        if row is not None and not (self._sees(row[1]) and row[2] == rows.tier_of(memory)):
            raise id_conflict(memory)
        return None if row is None else row[0]

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        held = {memory: self._holder(memory) for memory in ids if rows.is_memory_id(memory)}
        return [
            row[0]
            for memory, row in held.items()
            if row is not None and self._sees(row[1]) and row[2] == rows.tier_of(memory)
        ]

    def _remove(self, nums: Sequence[int], op: str | None) -> None:
        self._rewrite |= set(
            segments.remove_memories(self._db, [num for num in nums if self._fresh.pop(num, None) is None])
        )
        for num in nums:
            key, tier, number = self._db.execute(
                "SELECT key, tier, hash FROM memory WHERE num = ?", (num,)
            ).fetchone()
            self._removed.setdefault(number, (tier, key))
            self.gained[key] -= 1
            if op is not None:
                self._log(key, id_from_hash(tier, number), op)
            for table in ("memory", "tag", "pending", "reading"):
                self._db.execute(f"DELETE FROM {table} WHERE num = ?", (num,))

    def _log(self, key: str, memory: str, op: str) -> None:
        self._db.execute(
            "INSERT INTO change (tenant, key, memory, op) VALUES (?, ?, ?, ?)",
            (self._tenant.number, key, memory, op),
        )

    def _forget(self, ids: Sequence[str]) -> None:
        self._flush()
        nums = self._numbers(ids)
        touched: set[int] = set()
        for num in nums:
            asked = "SELECT content, key FROM memory WHERE num = ?"
            content, key = self._db.execute(asked, (num,)).fetchone()
            rows.put_tombstones(
                self._db, self._tenant.number, [tombstone_hash(self._tenant.secret, content, key)]
            )
            touched |= postings.terms_of_memory(self._db, num)
        self._remove(nums, "forget")
        self._rewrite_stale()
        self._db.execute("DELETE FROM cache WHERE tenant = ?", (self._tenant.number,))
        self._vocabulary.prune(self._db, self._tenant.number, touched)
        maintenance.note_leftovers(self._db)
        self.forgot = True


DROP_BATCH: Final = 2_000
"""Rows of an old generation removed in one transaction, so that no lock is held for long."""


class SQLiteRebuild:
    def __init__(self, db: Database, old: Tenant, vocabulary: Vocabulary) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._vocabulary = vocabulary
        self._versions: StageVersions | None = None
        self._models = rows.registered_models(db, old.number)
        self._blocks = VectorCache(None)

    def documents(self) -> list[Document]:
        found = self._db.execute(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? "
            "ORDER BY source, path",
            (self._old.number, self._old.generation),
        ).fetchall()
        return [document_from_row(row) for row in found]

    def passages(self, document: Document) -> list[PreparedMemory]:
        return self._records(
            "m.document = (SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?) "
            "ORDER BY m.ordinal, m.tier, m.hash",
            (self._old.number, document.source, self._old.generation, document.path),
        )

    def additions(self) -> list[PreparedMemory]:
        return self._records("m.document IS NULL ORDER BY m.hash", ())

    def _records(self, condition: str, values: tuple[object, ...]) -> list[PreparedMemory]:
        found = self._db.execute(
            f"{rows.SELECT_MEMORY} WHERE m.tenant = ? AND m.generation = ? AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [self._prepared(rows.memory_from_row(row)) for row in found]

    def _prepared(self, record: Record) -> PreparedMemory:
        segment, version, slot, slots, columns = self._db.execute(
            "SELECT g.id, g.version, s.slot, g.slots, g.columns FROM memory m JOIN slot s ON s.num = m.num "
            "JOIN segment g ON g.id = s.segment WHERE m.tenant = ? AND m.hash = ? AND m.generation = ?",
            (self._old.number, rows.sort_hash(record.id), self._old.generation),
        ).fetchone()
        part = TablePart(segment, version, 0, slots)
        vectors = {}
        for fingerprint, (number, model, _) in self._models.items():
            for places, scales, data in self._blocks.of(self._db, part, number, model.dimensions):
                own = places == slot
                if own.any():
                    vectors[fingerprint] = QuantizedVectors(data[own], scales[own])
        language = int(np.frombuffer(columns, COLUMNS)["language"][slot])
        (code,) = self._db.execute("SELECT code FROM language WHERE id = ?", (language,)).fetchone()
        return PreparedMemory(record, Terms({}, 0), vectors, code)

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        try:
            with write_transaction(self._db):
                writer = SQLiteWriter(self._db, self._next, None, self._vocabulary)
                for change in changes:
                    if isinstance(change, PutVersions):
                        self._versions = change.versions  # stamped with the flip, not before
                    else:
                        writer.apply(change)
                writer.finish()
        except BaseException:
            self._vocabulary.discard()
            raise

    def flip(self) -> None:
        with write_transaction(self._db):
            if self._versions is not None:
                SQLiteWriter(self._db, self._next, None, self._vocabulary).apply(PutVersions(self._versions))
            self._db.execute(
                "UPDATE tenant SET generation = ? WHERE id = ?", (self._next.generation, self._next.number)
            )
            self._db.execute("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
            clean_up_edges(self._db, self._next, self._changed())

    def _changed(self) -> dict[int, tuple[str, str]]:
        """Return old tier and key of the memories that the next generation does not hold with the same."""
        found = self._db.execute(
            "SELECT o.hash, o.tier, o.key FROM memory o LEFT JOIN memory n ON n.tenant = o.tenant "
            "AND n.hash = o.hash AND n.generation = ? WHERE o.tenant = ? AND o.generation = ? "
            "AND (n.tier, n.key) IS NOT (o.tier, o.key)",
            (self._next.generation, self._old.number, self._old.generation),
        ).fetchall()
        return {number: (tier, key) for number, tier, key in found}


def drop_stale_generations(db: Database, tenant: int) -> None:
    """Remove every generation of a tenant but the current one, a little at a time."""
    stale = "tenant = ?1 AND generation <> (SELECT generation FROM tenant WHERE id = ?1)"
    left = True
    while left:
        with write_transaction(db):
            nums = db.execute(
                f"SELECT num FROM memory WHERE {stale} LIMIT {DROP_BATCH}", (tenant,)
            ).fetchall()
            left = bool(nums)
            for table in ("slot", "tag", "pending", "reading", "memory"):
                db.executemany(f"DELETE FROM {table} WHERE num = ?", nums)
            if not left:
                segments = f"SELECT id FROM segment WHERE {stale}"
                for table in ("posting", "vector"):
                    db.execute(f"DELETE FROM {table} WHERE segment IN ({segments})", (tenant,))
                db.execute(f"DELETE FROM segment WHERE {stale}", (tenant,))
                db.execute(f"DELETE FROM document WHERE {stale}", (tenant,))
