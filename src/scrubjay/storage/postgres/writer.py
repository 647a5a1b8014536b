"""Writer: applies each change to the tables inside one transaction, and rebuilds a generation.

No COPY: the server refuses it for a table under row-level security.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.ids import tombstone_hash
from scrubjay.models.records import Scope, SourcePlace
from scrubjay.storage import changes as c
from scrubjay.storage.changes import Change, PreparedMemory, QuantizedVectors
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.connection import PostgresStatements
from scrubjay.storage.postgres.graph import PostgresGraphWriter, drop_stale_edges
from scrubjay.storage.postgres.rows import INSERT_MEMORY, memory_to_row, touch_tenant
from scrubjay.storage.postgres.vectors import put_vectors, read_vectors, registered_models
from scrubjay.storage.rows import (
    FROM_MEMORY,
    PLACE_COLUMNS,
    SELECTED_COLUMNS,
    RegisteredModel,
    Tenant,
    place_to_row,
    record_from_row,
)
from scrubjay.storage.validation import check_rebuild_changes
from scrubjay.storage.writer import HistoryWriter, MemoryWriter, PriorMemory, SQLRebuild
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database


SET_PLACE: Final = (
    f"UPDATE memory SET document = %s, {', '.join(f'{name} = %s' for name in PLACE_COLUMNS)} "
    "WHERE tenant = %s AND num = %s"
)
PUT_EXTRACTION: Final = (
    "INSERT INTO reading (tenant, memory, mark, data) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (tenant, memory) DO UPDATE SET (mark, data) = (excluded.mark, excluded.data)"
)
PUT_TEXT: Final = (
    "INSERT INTO cache (tenant, model, hash, scales, data) VALUES (%s, %s, %s, %s, %s) ON CONFLICT "
    "(tenant, model, hash) DO UPDATE SET scales = excluded.scales, data = excluded.data"
)


class PostgresHistoryWriter(PostgresStatements, HistoryWriter):
    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self.changed_statuses: set[int] = set()

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        if "tags" in values:
            values = {**values, "tags": list(values["tags"])}
        super()._update(prior, values)
        if "status" in values:
            self.changed_statuses.add(prior.num)

    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        self._many(PUT_EXTRACTION, [(self._tenant, *row) for row in rows])


class PostgresWriter(PostgresStatements, MemoryWriter):
    """One transaction's work for one tenant."""

    _window_column = "most_tokens"
    _decode = tuple
    _graph: PostgresGraphWriter | None
    _history: PostgresHistoryWriter | None

    def __init__(self, db: Database, tenant: Tenant, scope: Scope | None) -> None:
        self._db = db
        super().__init__(tenant, scope)
        self._graph = None if scope is None else PostgresGraphWriter(db, tenant, scope)
        self._history = None if scope is None else PostgresHistoryWriter(db, tenant, scope)
        self._removed: set[tuple[str, int]] = set()
        self._index_removals = tenant_index.RemovedMemories()
        self._added: set[int] = set()
        self.mark = tenant.mark

    def _encode(self, patterns: tuple[str, ...]) -> list[str]:
        return list(patterns)

    def _read_models(self) -> dict[str, RegisteredModel]:
        return registered_models(self._db, self._number)

    def apply_all(self, changes: Sequence[c.Change]) -> None:
        if not changes:
            return
        self.mark = touch_tenant(self._db, self._tenant)
        super().apply_all(changes)
        if self._tenant.posted and self._scope is not None:  # a rebuild does it at its end, for all
            self._update_index()

    def _clean_up_edges(self) -> None:
        if self._graph is not None:  # a rebuild cleans up its edges at its end
            self._graph.clean_up(self._removed)
        self._removed.clear()

    def _update_index(self) -> None:
        tenant_index.remove_from_blocks(self._db, self._number, self._index_removals)
        while tenant_index.extend_blocks(self._db, self._number):
            pass
        changed_statuses = set() if self._history is None else self._history.changed_statuses
        touched = self._added | self._index_removals.nums | changed_statuses
        tenant_index.note_changes(self._db, self._number, self.mark, touched)

    def _write_place(self, num: int, document: int, place: SourcePlace) -> None:
        self._all(SET_PLACE, document, *place_to_row(place), self._number, num)

    def _insert(self, memories: Mapping[str, PreparedMemory], document: int | None) -> None:
        numbers = self._get_or_create_terms(
            set().union(*(memory.terms.counts for memory in memories.values()))
        )
        place = (self._number, self._tenant.generation, document, numbers)
        self._many(INSERT_MEMORY, [memory_to_row(memory, *place) for memory in memories.values()])
        by_model: dict[str, dict[int, QuantizedVectors]] = {}
        for memory_id, holder in self._holders(memories).items():
            self._added.add(holder.num)
            self.gained[memories[memory_id].record.key] += 1
            for fingerprint, codes in memories[memory_id].vectors.items():
                by_model.setdefault(fingerprint, {})[holder.num] = codes
        for fingerprint, windows in by_model.items():
            put_vectors(self._db, self._number, self._models[fingerprint], windows)

    def _get_or_create_terms(self, terms: set[str]) -> dict[str, int]:
        select = "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)"
        known: dict[str, int] = dict(self._all(select, self._number, list(terms)))
        new = sorted(terms - known.keys())
        if new:
            insert = "INSERT INTO term (tenant, text) SELECT %s, unnest(%s::text[]) RETURNING text, id"
            known |= dict(self._all(insert, self._number, new))
        return known

    def _remove(self, nums: Sequence[int]) -> None:
        if not nums:
            return
        removed = self._all(
            "DELETE FROM memory WHERE tenant = ? AND num IN ? RETURNING tier, hash, key, num, terms",
            self._number, list(nums),
        )  # fmt: skip
        for tier, number, key, num, terms in removed:
            self._removed.add((tier, number))
            self._index_removals.add(num, terms)
            self.gained[key] -= 1

    def _forget(self, nums: Sequence[int]) -> None:
        forgotten = self._all(
            "SELECT content, key, terms FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[])",
            self._number, list(nums),
        )  # fmt: skip
        self._write_tombstones(
            [tombstone_hash(self._tenant.secret, content, key) for content, key, _ in forgotten]
        )
        self._remove(nums)
        self._all("DELETE FROM cache WHERE tenant = %s", self._number)
        # Before the terms: blocks that still hold the memories' words would keep them.
        tenant_index.remove_from_blocks(self._db, self._number, self._index_removals)
        self._all(
            "DELETE FROM term WHERE tenant = %s AND id = ANY(%s::integer[]) AND NOT EXISTS "
            "(SELECT FROM memory m WHERE m.tenant = term.tenant AND m.num > %s AND m.terms @> ARRAY[term.id]) "
            "AND NOT EXISTS (SELECT FROM posting p WHERE p.tenant = term.tenant AND p.term = term.id)",
            self._number, sorted({term for _, _, own in forgotten for term in own}), self._tenant.posted,
        )  # fmt: skip

    def _drop_user(self, user: str, key: str) -> None:
        self._all("DELETE FROM edge WHERE tenant = %s AND key = %s", self._number, key)
        super()._drop_user(user, key)

    def _delete_model(self, fingerprint: str) -> None:
        self._all("DELETE FROM model WHERE tenant = %s AND fingerprint = %s", self._number, fingerprint)
        self._models = self._read_models()

    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None:
        pending = (
            "SELECT 1 FROM memory m WHERE tenant = %s AND num = %s AND content_hash = %s AND NOT EXISTS "
            "(SELECT FROM vector v WHERE v.tenant = m.tenant AND v.memory = m.num AND v.model = %s)"
        )
        for memory, holder in self._visible(change.vectors).items():
            content_hash, codes = change.vectors[memory]
            if self._all(pending, self._number, holder.num, content_hash, registered.number):
                put_vectors(self._db, self._number, registered, {holder.num: codes})
        model = (self._number, registered.number)
        texts = change.texts.items()
        self._many(
            PUT_TEXT, [(*model, text, codes.scales.tolist(), codes.data.tobytes()) for text, codes in texts]
        )


class PostgresRebuild(PostgresStatements, SQLRebuild):
    def __init__(self, db: Database, old: Tenant) -> None:
        self._db = db
        self._old = old
        self._next = replace(old, generation=old.generation + 1)
        self._models = registered_models(db, old.number).values()

    def _prepared_memories(self, condition: str, *values: object) -> list[PreparedMemory]:
        rows = self._all(
            f"SELECT m.num, m.language, {SELECTED_COLUMNS} {FROM_MEMORY} WHERE m.tenant = ? AND m.generation = ? "
            f"AND {condition}",
            self._old.number, self._old.generation, *values,
        )  # fmt: skip
        vectors = read_vectors(self._db, self._old.number, self._models, [row[0] for row in rows])
        return [
            PreparedMemory(record_from_row(row, tuple), Terms({}, 0), vectors.get(num, {}), language)
            for num, language, *row in rows
        ]

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        PostgresWriter(self._db, self._next, None).apply_all(changes)

    def flip(self) -> None:
        touch_tenant(self._db, self._old)
        drop_stale_edges(self._db, self._old.number, self._old.generation, self._next.generation)
        self._all("UPDATE tenant SET generation = %s WHERE id = %s", self._next.generation, self._old.number)
        for table in ("memory", "document"):
            statement = f"DELETE FROM {table} WHERE tenant = %s AND generation = %s"
            self._all(statement, self._old.number, self._old.generation)
        if self._old.posted:
            tenant_index.forget_changes(self._db, self._old.number)
            tenant_index.drop_blocks(self._db, self._old.number)
            while tenant_index.extend_blocks(self._db, self._old.number, least=1):
                pass
