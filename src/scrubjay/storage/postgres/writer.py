"""Writer: applies each change to the tables inside one transaction, and rebuilds a generation.

No COPY: the server refuses it for a table under row-level security.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.ids import parse_id, tombstone_hash
from scrubjay.models.records import Document, Scope
from scrubjay.storage import changes as c
from scrubjay.storage.changes import Change, PreparedMemory, QuantizedVectors
from scrubjay.storage.history import HistoryWriter, PriorMemory
from scrubjay.storage.postgres import postings, rows, tenant_index, vectors
from scrubjay.storage.postgres.graph import PostgresGraphWriter, drop_stale_edges
from scrubjay.storage.postgres.rows import IN_SCOPE, touch_tenant
from scrubjay.storage.postgres.vectors import registered_models
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    PLACE_COLUMNS,
    RUN_COLUMNS,
    SELECTED_COLUMNS,
    SOURCE_COLUMNS,
    Tenant,
    document_from_row,
    document_to_row,
    id_from_hash,
    insert_sql,
    place_to_row,
    source_to_row,
)
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
    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.postgres.rows import ScopeKeys
    from scrubjay.storage.postgres.vectors import RegisteredModel


PUT_SOURCE: Final = insert_sql("source", ("tenant", *SOURCE_COLUMNS), "%s")
PUT_DOCUMENT: Final = (
    insert_sql("document", ("tenant", "generation", *DOCUMENT_COLUMNS), "%s") + " RETURNING id"
)
SET_DOCUMENT: Final = (
    f"UPDATE document SET {', '.join(f'{name} = %s' for name in DOCUMENT_COLUMNS)} "
    "WHERE tenant = %s AND id = %s"
)
SET_PLACE: Final = (
    f"UPDATE memory SET document = %s, {', '.join(f'{name} = %s' for name in PLACE_COLUMNS)} "
    "WHERE tenant = %s AND num = %s"
)


def check_numbers(memories: Iterable[str]) -> None:
    """Refuse memories of two tiers with one number."""
    held: dict[int | None, str] = {}
    for memory in memories:
        if held.setdefault(rows.sort_hash(memory), memory) != memory:
            raise id_conflict(memory)


def insert_memories(
    db: Database,
    tenant: int,
    generation: int,
    memories: Sequence[PreparedMemory],
    document: int | None,
    registered: Mapping[str, RegisteredModel],
) -> list[int]:
    """Insert memories whose numbers are free, with their vectors, and return their rows."""
    if not memories:
        return []
    numbers = postings.get_or_create_terms(
        db, tenant, {term for one in memories for term in one.terms.counts}
    )
    with db.cursor() as cursor:  # sent one after another without waiting for an answer
        cursor.executemany(
            rows.INSERT_MEMORY,
            [rows.memory_to_row(one, tenant, generation, document, numbers) for one in memories],
        )
    held = {rows.sort_hash(one.record.id): one for one in memories}
    nums = db.execute(
        "SELECT hash, num FROM memory WHERE tenant = %s AND generation = %s AND hash = ANY(%s::bigint[])",
        (tenant, generation, list(held)),
    ).fetchall()
    of_model: dict[str, dict[int, QuantizedVectors]] = {}
    for number, num in nums:
        for fingerprint, codes in held[number].vectors.items():
            of_model.setdefault(fingerprint, {})[num] = codes
    for fingerprint, windows in of_model.items():
        vectors.put_vectors(db, tenant, registered[fingerprint], windows)
    return [num for _, num in nums]


PUT_EVENT: Final = insert_sql("event", EVENT_COLUMNS, "%s")
PUT_RUN: Final = insert_sql("run", RUN_COLUMNS, "%s") + (
    " ON CONFLICT (tenant, key, id) DO UPDATE SET (state, rules, started, ended, counts) = "
    "(excluded.state, excluded.rules, excluded.started, excluded.ended, excluded.counts)"
)
PUT_READING: Final = (
    "INSERT INTO reading (tenant, memory, mark, data) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (tenant, memory) DO UPDATE SET (mark, data) = (excluded.mark, excluded.data)"
)


class PostgresHistoryWriter(HistoryWriter):
    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._scope_keys: ScopeKeys = (tenant.number, tenant.generation, list(scope.keys))
        self.moved: set[int] = set()

    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        wanted = set(ids)
        found = self._db.execute(
            "SELECT m.tier, m.num, m.hash, m.key, m.status, m.valid_from, m.valid_until FROM memory m "
            f"WHERE {IN_SCOPE} AND m.hash = ANY(%s::bigint[])",
            (*self._scope_keys, rows.memory_hashes(wanted)),
        ).fetchall()
        prior = {id_from_hash(tier, row[1]): PriorMemory(*row) for tier, *row in found}
        return {memory: one for memory, one in prior.items() if memory in wanted}

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        assigned = ", ".join(f"{name} = %s" for name in values)
        self._db.execute(
            f"UPDATE memory SET {assigned} WHERE tenant = %s AND num = %s",
            (*values.values(), self._tenant, prior.num),
        )
        if "status" in values:
            self.moved.add(prior.num)

    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(PUT_EVENT, rows)

    def _write_runs(self, rows: Sequence[tuple[object, ...]]) -> None:
        for row in rows:
            self._db.execute(PUT_RUN, row)

    def _write_readings(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(PUT_READING, [(self._tenant, *row) for row in rows])


BATCH_MEMORIES: Final = 5_000
"""Memories that are written together."""
DocumentChange = c.PutSource | c.DropSource | c.PutDocument | c.DropDocument


class PostgresWriter:
    """One transaction's work for one tenant; ``scope`` is None for a rebuild, which sees every key."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope | None) -> None:
        self._db = db
        self._tenant = tenant
        self._scope = scope
        self._tenant_generation = (tenant.number, tenant.generation)
        self._models = vectors.registered_models(db, tenant.number)
        self._graph = None if scope is None else PostgresGraphWriter(db, tenant, scope)
        self._lives = None if scope is None else PostgresHistoryWriter(db, tenant, scope)
        self._removed: set[tuple[str, int]] = set()
        self._gone_from = tenant_index.RemovedMemories()
        self._added: set[int] = set()
        self.mark = tenant.mark
        self.gained: Counter[str] = Counter()

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(statement, values).fetchall()

    def apply_all(self, changes: Sequence[c.Change]) -> None:
        """Apply changes in order; consecutive `PutMemory` changes are written together."""
        if changes:
            self.mark = touch_tenant(self._db, self._tenant)
        for together, run in groupby(changes, lambda change: isinstance(change, c.PutMemory)):
            if together:
                self._add([change.memory for change in run if isinstance(change, c.PutMemory)])
                continue
            for change in run:
                self._apply(change)
        if (
            changes and self._tenant.posted and self._scope is not None
        ):  # a rebuild does it at its end, for all
            self._follow()

    def _follow(self) -> None:
        number = self._tenant.number
        tenant_index.remove_from_blocks(self._db, number, self._gone_from)
        while tenant_index.extend_blocks(self._db, number):
            pass
        lived = set() if self._lives is None else self._lives.moved
        tenant_index.note_changes(self._db, number, self.mark, self._added | self._gone_from.nums | lived)

    def _add(self, memories: Sequence[c.PreparedMemory]) -> None:
        for first in range(0, len(memories), BATCH_MEMORIES):
            self._removed.clear()
            self._put(memories[first : first + BATCH_MEMORIES], None, None)
            if self._graph is not None:
                self._graph.lose(self._removed)

    def _apply(self, change: c.Change) -> None:
        if isinstance(change, c.GraphChange):
            if self._graph is not None:  # a rebuild holds none (`check_rebuild_changes`)
                self._graph.apply(change)
            return
        if isinstance(change, c.LifecycleChange):
            if self._lives is not None:
                self._lives.apply(change)
            return
        self._removed.clear()
        self._apply_to_memories(change)
        if self._graph is not None:  # a rebuild's edges and events are sorted out at its end
            self._graph.lose(self._removed)

    def _apply_to_memories(self, change: c.Change) -> None:
        match change:
            case c.PutSource() | c.DropSource() | c.PutDocument() | c.DropDocument():
                self._apply_to_documents(change)
            case c.DropMemory(ids):
                self._remove(self._numbers(ids), "AND document IS NULL")
            case c.Forget(ids):
                self._forget(ids)
            case c.PutTombstones(hashes):
                postings.put_tombstones(self._db, self._tenant.number, hashes)
            case c.PutModel() | c.DropModel() | c.PutVectors():
                self._apply_to_models(change)
            case c.PutVersions(versions):
                stamp = (json.dumps(asdict(versions)), self._tenant.number)
                self._db.execute("UPDATE tenant SET versions = %s WHERE id = %s", stamp)

    def _apply_to_documents(self, change: DocumentChange) -> None:
        match change:
            case c.PutSource():
                self._put_source(change)
            case c.DropSource(source) if self._sees_source(source):
                held = "SELECT path FROM document WHERE tenant = %s AND generation = %s AND source = %s"
                for (path,) in self._all(held, *self._tenant_generation, source):
                    self._drop_document(source, path)
                own = (self._tenant.number, source)
                self._db.execute("DELETE FROM source WHERE tenant = %s AND id = %s", own)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)

    def _apply_to_models(self, change: c.PutModel | c.DropModel | c.PutVectors) -> None:
        tenant = self._tenant.number
        match change:
            case c.PutModel(model, state):
                vectors.put_model(self._db, tenant, model, state)
            case c.DropModel(fingerprint):
                vectors.drop_model(self._db, tenant, fingerprint)
            case c.PutVectors():
                self._put_vectors(change)
        self._models = vectors.registered_models(self._db, tenant)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _source_key(self, source: str) -> str | None:
        found = self._all("SELECT key FROM source WHERE tenant = %s AND id = %s", self._tenant.number, source)
        return found[0][0] if found else None

    def _sees_source(self, source: str) -> bool:
        key = self._source_key(source)
        return key is not None and self._sees(key)

    def _put_source(self, change: c.PutSource) -> None:
        s = change.source
        check_key(self._scope, s.key, f"Source {s.root}")
        if self._source_key(s.id) is not None and not self._sees_source(s.id):
            raise InputError(f"Source id {s.id!r} belongs to another source already. {NOTHING_WRITTEN}")
        self._db.execute("DELETE FROM source WHERE tenant = %s AND id = %s", (self._tenant.number, s.id))
        self._db.execute(PUT_SOURCE, (self._tenant.number, *source_to_row(s, list)))

    def _document(self, source: str, path: str) -> int | None:
        asked = "SELECT id FROM document WHERE tenant = %s AND generation = %s AND source = %s AND path = %s"
        found = self._all(asked, *self._tenant_generation, source, path)
        return found[0][0] if found else None

    def _drop_document(self, source: str, path: str) -> None:
        number = self._document(source, path)
        if number is not None:
            self._remove_passages(number)
            gone = "DELETE FROM document WHERE tenant = %s AND id = %s"
            self._db.execute(gone, (self._tenant.number, number))

    def _remove_passages(self, document: int) -> None:
        gone = (
            f"DELETE FROM memory WHERE tenant = %s AND document = %s RETURNING {tenant_index.REMOVED_COLUMNS}"
        )
        self._gone(self._all(gone, self._tenant.number, document))

    def _gone(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for tier, number, key, num, words in rows:
            self._removed.add((tier, number))
            self._gone_from.add(num, words)
            self.gained[key] -= 1

    def _put_document(self, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(document.source):
            raise NotFoundError(f"No source {document.source} is registered. {NOTHING_WRITTEN}")
        for kept in change.kept:
            check_place(kept.id, kept.place, document)
        number, replaced = self._row_for(document, change.moved_from)
        self._remove(self._numbers(change.dropped))
        if not change.grows and (change.fresh or change.kept or change.dropped):
            self._remove(self._left(number, {kept.id for kept in change.kept}))
        for kept in change.kept:
            for num in self._numbers([kept.id]):
                self._db.execute(SET_PLACE, (number, *place_to_row(kept.place), self._tenant.number, num))
        if replaced is not None:
            self._remove_passages(replaced)
        self._put(change.fresh, number, document)

    def _row_for(self, document: Document, moved_from: str | None) -> tuple[int, int | None]:
        number, replaced = self._document(document.source, document.path), None
        moved = (
            self._document(document.source, moved_from) if moved_from not in (None, document.path) else None
        )
        if moved is not None:
            number, replaced = moved, number
            gone = "DELETE FROM document WHERE tenant = %s AND id = %s"
            self._db.execute(gone, (self._tenant.number, replaced))
        if number is None:
            ((number,),) = self._all(PUT_DOCUMENT, *self._tenant_generation, *document_to_row(document))
        else:
            self._db.execute(SET_DOCUMENT, (*document_to_row(document), self._tenant.number, number))
        return int(number), replaced

    def _left(self, document: int, kept: set[str]) -> list[int]:
        held = "SELECT num, tier, hash, key FROM memory WHERE tenant = %s AND document = %s"
        found = self._all(held, self._tenant.number, document)
        return [
            num
            for num, tier, number, key in found
            if self._sees(key) and id_from_hash(tier, number) not in kept
        ]

    def _put(
        self, memories: Sequence[c.PreparedMemory], document: int | None, where: Document | None
    ) -> None:
        last = {memory.record.id: memory for memory in memories}
        for memory in memories:
            check_key(self._scope, memory.record.key, f"Memory {memory.record.id}")
            check_record(memory.record)
            check_place(memory.record.id, memory.record.place, where)
            for fingerprint, codes in memory.vectors.items():
                check_vectors(self._model(fingerprint).model, codes, f"Memory {memory.record.id}")
        check_numbers(last)
        holders = self._holders(list(last))
        for memory_id, (_, key, tier) in holders.items():
            if not (self._sees(key) and memory_id == id_from_hash(tier, rows.sort_hash(memory_id) or 0)):
                raise id_conflict(memory_id)
        self._remove([num for num, _, _ in holders.values()])
        self._added.update(
            insert_memories(self._db, *self._tenant_generation, list(last.values()), document, self._models)
        )
        self.gained.update(memory.record.key for memory in last.values())

    def _holders(self, ids: Iterable[str]) -> dict[str, tuple[int, str, str]]:
        numbers = {number: memory for memory in ids if (number := rows.sort_hash(memory)) is not None}
        found = self._all(
            "SELECT hash, num, key, tier FROM memory WHERE tenant = %s AND generation = %s AND hash "
            "= ANY(%s::bigint[])",
            *self._tenant_generation, list(numbers),
        )  # fmt: skip
        return {numbers[number]: (num, key, tier) for number, num, key, tier in found}

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        return [
            num
            for memory, (num, key, tier) in self._holders(ids).items()
            if self._sees(key) and (parse_id(memory) or ("",))[0] == tier
        ]

    def _remove(self, nums: Sequence[int], and_if: str = "") -> None:
        if nums:
            removed = f"DELETE FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[]) {and_if}"
            self._gone(
                self._all(
                    f"{removed} RETURNING {tenant_index.REMOVED_COLUMNS}", self._tenant.number, list(nums)
                )
            )

    def _forget(self, ids: Sequence[str]) -> None:
        tenant = self._tenant.number
        nums = self._numbers(ids)
        held = self._all(
            "SELECT content, key, terms FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[])",
            tenant,
            nums,
        )
        marks = [tombstone_hash(self._tenant.secret, content, key) for content, key, _ in held]
        postings.put_tombstones(self._db, tenant, marks)
        self._remove(nums)
        self._db.execute("DELETE FROM cache WHERE tenant = %s", (tenant,))
        tenant_index.remove_from_blocks(
            self._db, tenant, self._gone_from
        )  # else these would still have the words
        postings.drop_unused_terms(
            self._db, tenant, {term for _, _, own in held for term in own}, self._tenant.posted
        )

    def _model(self, fingerprint: str) -> vectors.RegisteredModel:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {NOTHING_WRITTEN}")
        return self._models[fingerprint]

    def _put_vectors(self, change: c.PutVectors) -> None:
        found = self._model(change.fingerprint)
        for memory, (_, codes) in change.vectors.items():
            check_vectors(found.model, codes, f"Memory {memory}")
        for codes in change.texts.values():
            check_vectors(found.model, codes, "A cached text")
        tenant = self._tenant.number
        for memory, (content_hash, codes) in change.vectors.items():
            for num in self._numbers([memory]):
                if vectors.is_pending(self._db, tenant, num, found.number, content_hash):
                    vectors.put_vectors(self._db, tenant, found, {num: codes})
        if change.texts:
            vectors.cache_texts(self._db, tenant, found.number, change.texts)


class PostgresRebuild:
    def __init__(self, db: Database, old: Tenant) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._models = registered_models(db, old.number)

    def documents(self) -> list[Document]:
        found = self._db.execute(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = %s AND generation = %s",
            (self._old.number, self._old.generation),
        ).fetchall()
        return sorted(map(document_from_row, found), key=lambda document: (document.source, document.path))

    def passages(self, document: Document) -> list[PreparedMemory]:
        return self._prepared(
            'd.source = %s AND d.path = %s ORDER BY m.ordinal, m.tier COLLATE "C", m.hash',
            (document.source, document.path),
        )

    def additions(self) -> list[PreparedMemory]:
        return self._prepared("m.document IS NULL ORDER BY m.hash", ())

    def _prepared(self, condition: str, values: tuple[Any, ...]) -> list[PreparedMemory]:
        found = self._db.execute(
            f"SELECT m.num, m.language, {SELECTED_COLUMNS} {rows.FROM_MEMORY} WHERE m.tenant = %s AND "
            f"m.generation = %s "
            f"AND {condition}",
            (self._old.number, self._old.generation, *values),
        ).fetchall()
        return [
            PreparedMemory(rows.memory_from_row(row[2:]), Terms({}, 0), self._vectors(row[0]), row[1])
            for row in found
        ]

    def _vectors(self, num: int) -> dict[str, QuantizedVectors]:
        vectors = {}
        for fingerprint, model in self._models.items():
            found = self._db.execute(
                "SELECT scale, data FROM vector WHERE tenant = %s AND memory = %s AND model = %s "
                "ORDER BY place",
                (self._old.number, num, model.number),
            ).fetchall()
            if found:
                data = np.frombuffer(b"".join(bytes(row[1]) for row in found), np.int8)
                scales = np.array([row[0] for row in found], np.float32)
                vectors[fingerprint] = QuantizedVectors(
                    data.reshape(len(found), model.model.dimensions), scales
                )
        return vectors

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        PostgresWriter(self._db, self._next, None).apply_all(changes)

    def flip(self) -> None:
        touch_tenant(self._db, self._old)
        drop_stale_edges(self._db, self._old.number, self._old.generation, self._next.generation)
        stale = (self._old.number, self._old.generation)
        self._db.execute(
            "UPDATE tenant SET generation = %s WHERE id = %s", (self._next.generation, self._old.number)
        )
        for table in ("memory", "document"):
            self._db.execute(f"DELETE FROM {table} WHERE tenant = %s AND generation = %s", stale)
        if self._old.posted:
            tenant_index.forget_changes(self._db, self._old.number)
            tenant_index.drop_blocks(self._db, self._old.number)
            while tenant_index.extend_blocks(self._db, self._old.number, least=1):
                pass
