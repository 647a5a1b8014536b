"""Writer: applies each change to the tables inside one transaction, and rebuilds a generation.

No COPY: the server refuses it for a table under row-level security.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from scrubjay.models.ids import EmbeddingModel, tombstone_hash
from scrubjay.models.records import Document, Scope, Source, SourcePlace
from scrubjay.storage import changes as c
from scrubjay.storage.changes import TEXT_CACHE_BYTES, Change, PreparedMemory, QuantizedVectors
from scrubjay.storage.postgres import rows, tenant_index
from scrubjay.storage.postgres.graph import PostgresGraphWriter, drop_stale_edges
from scrubjay.storage.postgres.rows import IN_SCOPE, touch_tenant
from scrubjay.storage.postgres.vectors import decode_vectors, put_vectors, registered_models
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    PLACE_COLUMNS,
    RUN_COLUMNS,
    SELECTED_COLUMNS,
    SOURCE_COLUMNS,
    USER_TABLES,
    RegisteredModel,
    Tenant,
    document_from_row,
    document_to_row,
    id_from_hash,
    insert_sql,
    place_to_row,
    source_to_row,
)
from scrubjay.storage.validation import check_rebuild_changes, id_conflict
from scrubjay.storage.writer import HistoryWriter, MemoryWriter, PriorMemory
from scrubjay.text.tokenizer import Terms

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.postgres.rows import ScopeKeys


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
PUT_EVENT: Final = insert_sql("event", EVENT_COLUMNS, "%s")
PUT_RUN: Final = insert_sql("run", RUN_COLUMNS, "%s") + (
    " ON CONFLICT (tenant, key, id) DO UPDATE SET (state, rules, started, ended, counts) = "
    "(excluded.state, excluded.rules, excluded.started, excluded.ended, excluded.counts)"
)
PUT_EXTRACTION: Final = (
    "INSERT INTO reading (tenant, memory, mark, data) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (tenant, memory) DO UPDATE SET (mark, data) = (excluded.mark, excluded.data)"
)


class PostgresHistoryWriter(HistoryWriter):
    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        super().__init__(tenant, scope)
        self._db = db
        self._scope_keys: ScopeKeys = (tenant.number, tenant.generation, list(scope.keys))
        self.restated: set[int] = set()

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
        if "tags" in values:
            values = {**values, "tags": list(values["tags"])}
        assigned = ", ".join(f"{name} = %s" for name in values)
        self._db.execute(
            f"UPDATE memory SET {assigned} WHERE tenant = %s AND num = %s",
            (*values.values(), self._tenant, prior.num),
        )
        if "status" in values:
            self.restated.add(prior.num)

    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(PUT_EVENT, rows)

    def _write_run(self, row: tuple[object, ...]) -> None:
        self._db.execute(PUT_RUN, row)

    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        with self._db.cursor() as cursor:
            cursor.executemany(PUT_EXTRACTION, [(self._tenant, *row) for row in rows])


BATCH_MEMORIES: Final = 5_000
"""Most memories of one insert."""


class PostgresWriter(MemoryWriter):
    """One transaction's work for one tenant."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope | None) -> None:
        super().__init__(tenant, scope, registered_models(db, tenant.number))
        self._db = db
        self._tenant_generation = (tenant.number, tenant.generation)
        # A rebuild changes neither graph nor history (`check_rebuild_changes`).
        self._graph = None if scope is None else PostgresGraphWriter(db, tenant, scope)
        self._history = None if scope is None else PostgresHistoryWriter(db, tenant, scope)
        self._removed: set[tuple[str, int]] = set()
        self._index_removals = tenant_index.RemovedMemories()
        self._added: set[int] = set()
        self.mark = tenant.mark

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(statement, values).fetchall()

    def apply_all(self, changes: Sequence[c.Change]) -> None:
        """Apply changes in order; consecutive `PutMemory` changes are written together."""
        if not changes:
            return
        self.mark = touch_tenant(self._db, self._tenant)
        for together, run in groupby(changes, lambda change: isinstance(change, c.PutMemory)):
            if together:
                memories = [change.memory for change in run if isinstance(change, c.PutMemory)]
                for first in range(0, len(memories), BATCH_MEMORIES):
                    self._put(memories[first : first + BATCH_MEMORIES], None, None)
                    self._clean_up_edges()
            else:
                for change in run:
                    self._apply(change)
        if self._tenant.posted and self._scope is not None:  # a rebuild does it at its end, for all
            self._update_index()

    def _apply(self, change: c.Change) -> None:
        if isinstance(change, c.GraphChange):
            if self._graph is not None:
                self._graph.apply(change)
        elif isinstance(change, c.HistoryChange):
            if self._history is not None:
                self._history.apply(change)
        else:
            self._apply_to_memories(change)
            self._clean_up_edges()

    def _clean_up_edges(self) -> None:
        if self._graph is not None:  # a rebuild cleans up its edges at its end
            self._graph.clean_up(self._removed)
        self._removed.clear()

    def _update_index(self) -> None:
        number = self._tenant.number
        tenant_index.remove_from_blocks(self._db, number, self._index_removals)
        while tenant_index.extend_blocks(self._db, number):
            pass
        restated = set() if self._history is None else self._history.restated
        touched = self._added | self._index_removals.nums | restated
        tenant_index.note_changes(self._db, number, self.mark, touched)

    def _write_versions(self, versions: str) -> None:
        self._db.execute("UPDATE tenant SET versions = %s WHERE id = %s", (versions, self._tenant.number))

    def _source_key(self, source: str) -> str | None:
        found = self._all("SELECT key FROM source WHERE tenant = %s AND id = %s", self._tenant.number, source)
        return found[0][0] if found else None

    def _write_source(self, source: Source) -> None:
        self._delete_source(source.id)
        self._db.execute(PUT_SOURCE, (self._tenant.number, *source_to_row(source, list)))

    def _delete_source(self, source: str) -> None:
        self._db.execute("DELETE FROM source WHERE tenant = %s AND id = %s", (self._tenant.number, source))

    def _paths(self, source: str) -> list[str]:
        statement = "SELECT path FROM document WHERE tenant = %s AND generation = %s AND source = %s"
        return [path for (path,) in self._all(statement, *self._tenant_generation, source)]

    def _find_document(self, source: str, path: str) -> int | None:
        statement = (
            "SELECT id FROM document WHERE tenant = %s AND generation = %s AND source = %s AND path = %s"
        )
        found = self._all(statement, *self._tenant_generation, source, path)
        return found[0][0] if found else None

    def _write_document(self, number: int | None, document: Document) -> int:
        values = document_to_row(document)
        if number is not None:
            self._db.execute(SET_DOCUMENT, (*values, self._tenant.number, number))
            return number
        ((new,),) = self._all(PUT_DOCUMENT, *self._tenant_generation, *values)
        return int(new)

    def _delete_document(self, number: int) -> None:
        self._db.execute("DELETE FROM document WHERE tenant = %s AND id = %s", (self._tenant.number, number))

    def _passage_rows(self, document: int) -> list[tuple[Any, ...]]:
        statement = "SELECT num, tier, hash, key FROM memory WHERE tenant = %s AND document = %s"
        return self._all(statement, self._tenant.number, document)

    def _remove_passages(self, document: int) -> None:
        self._delete_memories("document = %s", document)

    def _write_place(self, num: int, document: int, place: SourcePlace) -> None:
        self._db.execute(SET_PLACE, (document, *place_to_row(place), self._tenant.number, num))

    def _write_memories(self, memories: Mapping[str, PreparedMemory], document: int | None) -> None:
        holders = self._holders(memories)
        for memory_id, (_, key, tier) in holders.items():
            if not (self._sees(key) and tier == rows.tier_of(memory_id)):
                raise id_conflict(memory_id)
        self._remove([num for num, _, _ in holders.values()])
        if not memories:
            return
        numbers = self._get_or_create_terms({term for one in memories.values() for term in one.terms.counts})
        values = [
            rows.memory_to_row(one, *self._tenant_generation, document, numbers) for one in memories.values()
        ]
        with self._db.cursor() as cursor:  # sent one after another without waiting for an answer
            cursor.executemany(rows.INSERT_MEMORY, values)
        by_model: dict[str, dict[int, QuantizedVectors]] = {}
        for memory_id, (num, _, _) in self._holders(memories).items():
            self._added.add(num)
            self.gained[memories[memory_id].record.key] += 1
            for fingerprint, codes in memories[memory_id].vectors.items():
                by_model.setdefault(fingerprint, {})[num] = codes
        for fingerprint, windows in by_model.items():
            put_vectors(self._db, self._tenant.number, self._models[fingerprint], windows)

    def _get_or_create_terms(self, terms: set[str]) -> dict[str, int]:
        select = "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)"
        known: dict[str, int] = dict(self._all(select, self._tenant.number, list(terms)))
        new = sorted(terms - known.keys())
        if new:
            insert = "INSERT INTO term (tenant, text) SELECT %s, unnest(%s::text[]) RETURNING text, id"
            known |= dict(self._all(insert, self._tenant.number, new))
        return known

    def _holders(self, ids: Iterable[str]) -> dict[str, tuple[int, str, str]]:
        """Return, by id, the row, key and tier of the memory that has its number."""
        numbers = {number: memory for memory in ids if (number := rows.sort_hash(memory)) is not None}
        found = self._all(
            "SELECT hash, num, key, tier FROM memory WHERE tenant = %s AND generation = %s "
            "AND hash = ANY(%s::bigint[])",
            *self._tenant_generation, list(numbers),
        )  # fmt: skip
        return {numbers[number]: (num, key, tier) for number, num, key, tier in found}

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        return [
            num
            for memory, (num, key, tier) in self._holders(ids).items()
            if self._sees(key) and tier == rows.tier_of(memory)
        ]

    def _remove(self, nums: Sequence[int]) -> None:
        if nums:
            self._delete_memories("num = ANY(%s::bigint[])", list(nums))

    def _remove_without_document(self, nums: Sequence[int]) -> None:
        if nums:
            self._delete_memories("num = ANY(%s::bigint[]) AND document IS NULL", list(nums))

    def _delete_memories(self, condition: str, value: object) -> None:
        removed = self._all(
            f"DELETE FROM memory WHERE tenant = %s AND {condition} RETURNING tier, hash, key, num, terms",
            self._tenant.number, value,
        )  # fmt: skip
        for tier, number, key, num, terms in removed:
            self._removed.add((tier, number))
            self._index_removals.add(num, terms)
            self.gained[key] -= 1

    def _forget(self, ids: Sequence[str]) -> None:
        tenant = self._tenant.number
        nums = self._numbers(ids)
        forgotten = self._all(
            "SELECT content, key, terms FROM memory WHERE tenant = %s AND num = ANY(%s::bigint[])",
            tenant, nums,
        )  # fmt: skip
        self._write_tombstones(
            [tombstone_hash(self._tenant.secret, content, key) for content, key, _ in forgotten]
        )
        self._remove(nums)
        self._db.execute("DELETE FROM cache WHERE tenant = %s", (tenant,))
        # Before the terms: blocks that still hold the memories' words would keep them.
        tenant_index.remove_from_blocks(self._db, tenant, self._index_removals)
        terms = sorted({term for _, _, own in forgotten for term in own})
        self._db.execute(
            "DELETE FROM term WHERE tenant = %s AND id = ANY(%s::integer[]) AND NOT EXISTS "
            "(SELECT FROM memory m WHERE m.tenant = term.tenant AND m.num > %s AND m.terms @> ARRAY[term.id]) "
            "AND NOT EXISTS (SELECT FROM posting p WHERE p.tenant = term.tenant AND p.term = term.id)",
            (tenant, terms, self._tenant.posted),
        )

    def _drop_user(self, user: str, key: str) -> None:
        for table in ("edge", *USER_TABLES):
            self._db.execute(
                f"DELETE FROM {table} WHERE tenant = %s AND key = %s", (self._tenant.number, key)
            )
        self._db.execute(
            "UPDATE event SET actor = '' WHERE tenant = %s AND actor = %s", (self._tenant.number, user)
        )

    def _write_tombstones(self, hashes: Sequence[str]) -> None:
        self._db.execute(
            "INSERT INTO tombstone SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING",
            (self._tenant.number, list(hashes)),
        )

    def _write_model(self, model: EmbeddingModel, state: str) -> None:
        values = (
            self._tenant.number, model.fingerprint, model.provider, model.name, model.revision, model.dimensions,
            model.pooling, model.window, state,
        )  # fmt: skip
        self._db.execute(
            "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, most_tokens, "
            "state) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) "
            "ON CONFLICT (tenant, fingerprint) DO UPDATE SET state = excluded.state",
            values,
        )
        self._models = registered_models(self._db, self._tenant.number)

    def _delete_model(self, fingerprint: str) -> None:
        self._db.execute(
            "DELETE FROM model WHERE tenant = %s AND fingerprint = %s", (self._tenant.number, fingerprint)
        )
        self._models = registered_models(self._db, self._tenant.number)

    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None:
        tenant = self._tenant.number
        pending = (
            "SELECT 1 FROM memory m WHERE tenant = %s AND num = %s AND content_hash = %s AND NOT EXISTS "
            "(SELECT FROM vector v WHERE v.tenant = m.tenant AND v.memory = m.num AND v.model = %s)"
        )
        for memory, (content_hash, codes) in change.vectors.items():
            for num in self._numbers([memory]):
                if self._all(pending, tenant, num, content_hash, registered.number):
                    put_vectors(self._db, tenant, registered, {num: codes})
        if not change.texts:
            return
        for text, codes in change.texts.items():
            self._db.execute(
                "INSERT INTO cache (tenant, model, hash, scales, data) VALUES (%s, %s, %s, %s, %s) ON CONFLICT "
                "(tenant, model, hash) DO UPDATE SET scales = excluded.scales, data = excluded.data",
                (tenant, registered.number, text, codes.scales.tolist(), codes.data.tobytes()),
            )
        ((size, count),) = self._all(
            "SELECT coalesce(sum(length(data)), 0), count(*) FROM cache WHERE tenant = %s", tenant
        )
        if size > TEXT_CACHE_BYTES:  # the oldest eighth goes
            self._db.execute(
                "DELETE FROM cache WHERE tenant = %s AND seq IN "
                "(SELECT seq FROM cache WHERE tenant = %s ORDER BY seq LIMIT %s)",
                (tenant, tenant, count // 8 + 1),
            )

    def _write_due(self, change: c.PutDue) -> None:
        holders = self._holders(change.marks).items()
        seen = {m: num for m, (num, key, tier) in holders if self._sees(key) and tier == rows.tier_of(m)}
        if change.was is None:
            new, only = "(%s & ~7::bigint) | greatest(%s & 7::bigint, due & 7)", ""
            values = [(change.marks[m], change.marks[m], self._tenant.number, num) for m, num in seen.items()]
        else:
            new, only = "%s", " AND due = %s"
            values = [(change.marks[m], self._tenant.number, num, change.was[m]) for m, num in seen.items()]
        with self._db.cursor() as cursor:
            cursor.executemany(f"UPDATE memory SET due = {new} WHERE tenant = %s AND num = %s{only}", values)


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
                "SELECT array_agg(scale ORDER BY place), string_agg(data, '' ORDER BY place) FROM vector "
                "WHERE tenant = %s AND memory = %s AND model = %s HAVING count(*) > 0",
                (self._old.number, num, model.number),
            ).fetchone()
            if found is not None:
                vectors[fingerprint] = decode_vectors(found[0], found[1], model.model)
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
