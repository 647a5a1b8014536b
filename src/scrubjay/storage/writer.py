"""Writers: the checks and the order of every change, and the statements that both SQL stores share.

Such a statement is written as SQLite reads it (`rows.Statements`).
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import Category, Entity
from scrubjay.models.ids import EmbeddingModel, parse_id
from scrubjay.models.lifecycle import CachedExtraction, Event, LifecycleChange, changed_fields
from scrubjay.models.records import Document, Record, Scope, Source, SourcePlace
from scrubjay.storage import changes as c
from scrubjay.storage.absent_passages import (
    ABSENT,
    SOURCE_AT,
    absent_event,
    place_name,
    restore_fields,
    text_name,
)
from scrubjay.storage.changes import TEXT_CACHE_BYTES
from scrubjay.storage.interface import in_batches
from scrubjay.storage.quota import USER_KEY_PREFIX
from scrubjay.storage.rows import (
    DOCUMENT_COLUMNS,
    EVENT_COLUMNS,
    FROM_MEMORY,
    OF_DOCUMENT,
    RUN_COLUMNS,
    SELECTED_COLUMNS,
    SIGN,
    SOURCE_COLUMNS,
    USER_TABLES,
    VISIBLE,
    RegisteredModel,
    ScopeKeys,
    Statements,
    Tenant,
    document_from_row,
    document_to_row,
    event_to_row,
    id_from_hash,
    insert_sql,
    memory_hash,
    memory_hashes,
    record_from_row,
    run_to_row,
    source_from_row,
    source_to_row,
)
from scrubjay.storage.validation import (
    NOTHING_WRITTEN,
    check_category,
    check_concept,
    check_concept_unchanged,
    check_edge,
    check_event,
    check_key,
    check_lifecycle,
    check_place,
    check_record,
    check_run,
    check_source_unchanged,
    check_text,
    check_unchanged,
    check_validity,
    check_vectors,
    id_conflict,
)

PUT_SOURCE: Final = insert_sql("source", ("tenant", *SOURCE_COLUMNS))
PUT_DOCUMENT: Final = insert_sql("document", ("tenant", "generation", *DOCUMENT_COLUMNS)) + " RETURNING id"
SET_DOCUMENT: Final = (
    f"UPDATE document SET {', '.join(f'{name} = ?' for name in DOCUMENT_COLUMNS)} WHERE tenant = ? AND id = ?"
)
PUT_EVENT: Final = insert_sql("event", EVENT_COLUMNS)
PUT_RUN: Final = insert_sql("run", RUN_COLUMNS) + (
    " ON CONFLICT (tenant, key, id) DO UPDATE SET (state, rules, started, ended, counts) = "
    "(excluded.state, excluded.rules, excluded.started, excluded.ended, excluded.counts)"
)
RAISE_DUE: Final = (
    "UPDATE memory SET due = ? | CASE WHEN due & 7 > ? THEN due & 7 ELSE ? END WHERE tenant = ? AND num = ?"
)
BATCH_MEMORIES: Final = 5_000
"""Maximum number of memories of one insert."""


class MemoryWriter(Statements):
    """Applies the changes of sources, documents, memories and models in one transaction.

    ``scope`` is None for a rebuild, which sees every key. ``gained`` counts new memories by visibility key.
    """

    _window_column: str
    """Column of `EmbeddingModel.window`."""
    _encode: Callable[[tuple[str, ...]], object]
    """Write a list of patterns as the store holds it."""
    _decode: Callable[[Any], Iterable[str]]
    """Read a list of a memory as the store holds it."""
    _read_models: Callable[[], dict[str, RegisteredModel]]
    _graph: GraphWriter | None
    _history: HistoryWriter | None

    def __init__(self, tenant: Tenant, scope: Scope | None) -> None:
        self._tenant = tenant
        self._number = tenant.number
        self._scope = scope
        self._models: Mapping[str, RegisteredModel] = self._read_models()
        self.gained: Counter[str] = Counter()

    def apply_all(self, changes: Sequence[c.Change]) -> None:
        """Apply changes in order; consecutive `PutMemory` changes are written together."""
        for is_batch, run in groupby(changes, lambda change: isinstance(change, c.PutMemory)):
            if is_batch:
                memories = [change.memory for change in run if isinstance(change, c.PutMemory)]
                for batch in in_batches(memories, BATCH_MEMORIES):
                    self._put(batch, None, None)
                    self._clean_up_edges()
            else:
                for change in run:
                    self._apply(change)

    def _apply(self, change: c.Change) -> None:
        if isinstance(change, c.GraphChange):
            if self._graph is not None:  # None in a rebuild, as is the history (`check_rebuild_changes`)
                self._graph.apply(change)
        elif isinstance(change, c.HistoryChange):
            if self._history is not None:
                self._history.apply(change)
        else:
            self._apply_to_memories(change)
            self._clean_up_edges()

    def _apply_to_memories(self, change: c.Change) -> None:
        match change:
            case c.PutVersions(versions):
                self._all(
                    "UPDATE tenant SET versions = ? WHERE id = ?", json.dumps(asdict(versions)), self._number
                )
            case c.PutSource(source, was):
                self._put_source(source, was)
            case c.DropSource(source) if self._sees_source(source):
                statement = "SELECT path FROM document WHERE tenant = ? AND source = ? AND generation = ?"
                for (path,) in self._all(statement, self._number, source, self._tenant.generation):
                    self._drop_document(source, path)
                self._delete_source(source)
                self._delete_absent("substr(run, ?) = ?", SOURCE_AT + 1, source)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)
            case c.RequireUnchanged(records):
                check_unchanged(records, self._stored(records))
            case c.DropMemory(ids):
                self._remove([row.num for row in self._visible(ids).values() if row.document is None])
            case c.Forget(ids):
                self._forget_absent(ids)
                if nums := self._numbers(ids):  # else the cached texts stay
                    self._forget(nums)
            case c.DropUser(user):
                key = f"{USER_KEY_PREFIX}{user}"
                check_key(self._scope, key, f"User {user}")
                self._drop_user(user, key)
            case c.PutTombstones(hashes):
                self._write_tombstones(hashes)
            case c.PutModel(model, state):
                self._write_model(model, state)
            case c.DropModel(fingerprint):
                self._delete_model(fingerprint)
            case c.PutVectors(fingerprint, vectors, texts):
                registered = self._model(fingerprint)
                for memory_id, (_, codes) in vectors.items():
                    check_vectors(registered.model, codes, f"Memory {memory_id}")
                for cached in texts.values():
                    check_vectors(registered.model, cached, "A cached text")
                self._write_vectors(registered, change)
                if texts:
                    self._evict_texts()
            case c.PutDue():
                self._write_due(change)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _sees_source(self, source: str) -> bool:
        key = self._source_key(source)
        return key is not None and self._sees(key)

    def _source_key(self, source: str) -> str | None:
        rows = self._all("SELECT key FROM source WHERE tenant = ? AND id = ?", self._number, source)
        return rows[0][0] if rows else None

    def _model(self, fingerprint: str) -> RegisteredModel:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {NOTHING_WRITTEN}")
        return self._models[fingerprint]

    def _put_source(self, source: Source, was: tuple[Source, ...] | None) -> None:
        check_key(self._scope, source.key, f"Source {source.root}")
        key = self._source_key(source.id)
        if key is not None and not self._sees(key):
            raise InputError(f"Source id {source.id!r} belongs to another source already. {NOTHING_WRITTEN}")
        rows = self._all(
            f"DELETE FROM source WHERE tenant = ? AND id = ? RETURNING {', '.join(SOURCE_COLUMNS)}",
            self._number, source.id,
        )  # fmt: skip
        check_source_unchanged(source, was, [source_from_row(row, self._decode) for row in rows])
        self._all(PUT_SOURCE, self._number, *source_to_row(source, self._encode))

    def _delete_source(self, source: str) -> None:
        self._all("DELETE FROM source WHERE tenant = ? AND id = ?", self._number, source)

    def _put_document(self, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(document.source):
            raise NotFoundError(f"No source {document.source} is registered. {NOTHING_WRITTEN}")
        for passage in change.kept:
            check_place(passage.id, passage.place, document)
        number, replaced = self._find_document(document.source, document.path), None
        if change.moved_from is not None and change.moved_from != document.path:
            moved = self._find_document(document.source, change.moved_from)
            if moved is not None:
                number, replaced = moved, number
                if replaced is not None:
                    self._delete_document(replaced)
        number = self._write_document(number, document)
        fresh = {memory.record.id for memory in change.fresh}
        self._take_out(self._numbers(change.dropped), document.source, document.path, fresh)
        if not change.grows and (change.fresh or change.kept or change.dropped):
            kept_ids = {passage.id for passage in change.kept}
            left_out = [
                num
                for num, tier, number_of_id, key in self._passage_rows(number)
                if self._sees(key) and id_from_hash(tier, number_of_id) not in kept_ids
            ]
            self._take_out(left_out, document.source, document.path, fresh)
        remaining = self._visible(passage.id for passage in change.kept)
        for passage in change.kept:
            if passage.id in remaining:
                self._write_place(remaining[passage.id].num, number, passage.place)
        if replaced is not None:
            self._take_out(self._passage_nums(replaced), document.source, document.path, fresh)
        self._put(change.fresh, number, document)

    def _drop_document(self, source: str, path: str) -> None:
        number = self._find_document(source, path)
        if number is not None:
            self._take_out(self._passage_nums(number), source, path)
            self._delete_document(number)

    def _passage_rows(self, document: int) -> list[tuple[int, str, int, str]]:
        """Return row, tier, hash and key of a document's passages."""
        statement = "SELECT num, tier, hash, key FROM memory WHERE tenant = ? AND document = ?"
        return self._all(statement, self._number, document)

    def _passage_nums(self, document: int) -> list[int]:
        return [num for num, *_ in self._passage_rows(document)]

    def _take_out(self, nums: Sequence[int], source: str, path: str, fresh: Collection[str] = ()) -> None:
        """Remove passages, and keep what a person said of those that are not written again as ``fresh``."""
        if nums and self._scope is not None:
            self._keep_absent(nums, source, path, fresh)
        self._remove(nums)

    def _keep_absent(self, nums: Sequence[int], source: str, path: str, fresh: Collection[str]) -> None:
        found = self._all(
            "SELECT hash, num FROM memory WHERE tenant = ? AND num IN ?", self._number, list(nums)
        )
        by_hash: dict[int, int] = dict(found)
        statement = "SELECT at, seq, memory, op, run FROM event WHERE tenant = ? AND memory IN ?"
        histories: dict[int, list[tuple[str, str | None]]] = defaultdict(list)
        for _, _, memory, op, run in sorted(self._all(statement, self._number, list(by_hash))):
            histories[memory].append((op, run))
        rows = []
        for record in self._records([by_hash[memory] for memory in histories]):
            number = memory_hash(record.id)
            event = absent_event(self._tenant.secret, source, path, record, histories[number])
            if event is not None and record.id not in fresh:
                rows.append(event_to_row(self._number, event, number, None))
        self._many(PUT_EVENT, rows)

    def _delete_absent(self, condition: str, *values: object) -> list[str]:
        """Delete all events of absent passages, and return what their `ABSENT` events held."""
        statement = f"SELECT memory, before FROM event WHERE tenant = ? AND op = ? AND {condition}"
        rows = self._all(statement, self._number, ABSENT, *values)
        if rows:
            memories = [memory for memory, _ in rows]
            self._all("DELETE FROM event WHERE tenant = ? AND memory IN ?", self._number, memories)
        return [before for _, before in rows]

    def _forget_absent(self, ids: Sequence[str]) -> None:
        if self._scope is not None:
            condition = "memory IN ? AND key IN ?"
            states = self._delete_absent(condition, memory_hashes(ids), list(self._scope.keys))
            self._write_tombstones([json.loads(state)["text"] for state in states])

    def _restore_absent(
        self, memories: Mapping[str, c.PreparedMemory], document: Document | None
    ) -> dict[str, c.PreparedMemory]:
        """Give passages that are back their verdicts and history, and delete these from the absent passages.

        A passage is back if its text and place are those of an absent one.
        """
        secret = self._tenant.secret
        names: dict[str, tuple[str, str]] = {}
        if document is not None:
            for memory, prepared in memories.items():
                place = place_name(secret, document.source, document.path, prepared.record)
                names[memory] = place, text_name(secret, prepared.record)
        rows = set[tuple[int, str, str]]()
        near = {"run": [place for place, _ in names.values()], "memory": memory_hashes(memories)}
        for column, values in near.items():  # SQLite would scan the table for either of two
            statement = f"SELECT memory, run, before FROM event WHERE tenant = ? AND op = ? AND {column} IN ?"
            rows.update(self._all(statement, self._number, ABSENT, values))
        if not rows:
            return dict(memories)
        absent: dict[tuple[str, str], dict[int, dict[str, Any]]] = defaultdict(dict)
        for number, place, before in rows:
            state = json.loads(before)
            absent[place, state["text"]][number] = state
        restored, moved, events = dict(memories), {}, []
        known = {number for number, _, _ in rows}
        for memory in sorted(names, key=lambda memory: memory_hash(memory) not in known):  # same ids first
            candidates, number = absent[names[memory]], memory_hash(memory)
            if candidates:
                old = number if number in candidates else min(candidates)
                state, prepared = candidates.pop(old), memories[memory]
                record = restore_fields(prepared.record, state)
                restored[memory] = replace(prepared, record=record)
                moved[old] = number
                if record.status != state["status"]:
                    event = Event(memory, "restored", record.updated_at, record.key, before=state["status"])
                    events.append(event_to_row(self._number, event, number, None))
        event_rows = self._all(
            f"SELECT {', '.join(EVENT_COLUMNS)} FROM event WHERE tenant = ? AND memory IN ? AND op <> ? ORDER BY seq",
            self._number, list(moved), ABSENT,
        )  # fmt: skip
        self._delete_absent("memory IN ?", [*moved, *memory_hashes(memories)])
        at = EVENT_COLUMNS.index("memory")
        self._many(PUT_EVENT, [(*row[:at], moved[row[at]], *row[at + 1 :]) for row in event_rows] + events)
        return restored

    def _find_document(self, source: str, path: str) -> int | None:
        rows = self._all(
            "SELECT id FROM document WHERE tenant = ? AND source = ? AND generation = ? AND path = ?",
            self._number, source, self._tenant.generation, path,
        )  # fmt: skip
        return rows[0][0] if rows else None

    def _write_document(self, number: int | None, document: Document) -> int:
        """Write a document over the row of a number, or into a new one, and return its number."""
        values = document_to_row(document)
        if number is not None:
            self._all(SET_DOCUMENT, *values, self._number, number)
            return number
        ((new,),) = self._all(PUT_DOCUMENT, self._number, self._tenant.generation, *values)
        return int(new)

    def _delete_document(self, number: int) -> None:
        self._all("DELETE FROM document WHERE tenant = ? AND id = ?", self._number, number)

    def _put(
        self, memories: Sequence[c.PreparedMemory], number: int | None, document: Document | None
    ) -> None:
        for memory in memories:
            check_key(self._scope, memory.record.key, f"Memory {memory.record.id}")
            check_record(memory.record)
            check_place(memory.record.id, memory.record.place, document)
            for fingerprint, codes in memory.vectors.items():
                check_vectors(self._model(fingerprint).model, codes, f"Memory {memory.record.id}")
        by_id = {memory.record.id: memory for memory in memories}
        by_number: dict[int, str] = {}
        for memory_id in by_id:
            parsed = parse_id(memory_id)
            if parsed is not None and by_number.setdefault(parsed[1], memory_id) != memory_id:
                raise id_conflict(memory_id)
        holders = self._holders(by_id)
        for memory_id, holder in holders.items():
            if not holder.visible:
                raise id_conflict(memory_id)
        self._remove([holder.num for holder in holders.values()])
        if by_id:
            self._insert(by_id if self._scope is None else self._restore_absent(by_id, document), number)

    def _holders(self, ids: Iterable[str]) -> dict[str, Holder]:
        """Return, by id, the memory that has its number."""
        parsed = {memory: pair for memory in ids if (pair := parse_id(memory)) is not None}
        if not parsed:
            return {}
        matches = self._all(
            "SELECT hash, num, document, key, tier FROM memory WHERE tenant = ? AND generation = ? AND hash IN ?",
            self._number, self._tenant.generation, [number - SIGN for _, number in parsed.values()],
        )  # fmt: skip
        rows = {number: row for number, *row in matches}
        holders = {}
        for memory, (tier, number) in parsed.items():
            if row := rows.get(number - SIGN):
                num, document, key, row_tier = row
                holders[memory] = Holder(num, document, self._sees(key) and tier == row_tier)
        return holders

    def _visible(self, ids: Iterable[str]) -> dict[str, Holder]:
        """Return, by id, the memories that exist and are visible."""
        return {memory: row for memory, row in self._holders(ids).items() if row.visible}

    def _numbers(self, ids: Iterable[str]) -> list[int]:
        return [row.num for row in self._visible(ids).values()]

    def _stored(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return, by id, the memories that exist and are visible."""
        return {record.id: record for record in self._records(self._numbers(ids))}

    def _records(self, nums: Sequence[int]) -> Iterator[Record]:
        for batch in in_batches(nums, BATCH_MEMORIES):
            statement = f"SELECT {SELECTED_COLUMNS} {FROM_MEMORY} WHERE m.tenant = ? AND m.num IN ?"
            for row in self._all(statement, self._number, batch):
                yield record_from_row(row, self._decode)

    def _drop_user(self, user: str, key: str) -> None:
        self._delete_absent("key = ?", key)
        for table in USER_TABLES:
            self._all(f"DELETE FROM {table} WHERE tenant = ? AND key = ?", self._number, key)
        self._all("UPDATE event SET actor = '' WHERE tenant = ? AND actor = ?", self._number, user)

    def _write_tombstones(self, hashes: Iterable[str]) -> None:
        statement = "INSERT INTO tombstone (tenant, hash) VALUES (?, ?) ON CONFLICT DO NOTHING"
        self._many(statement, [(self._number, digest) for digest in hashes])

    def _write_model(self, model: EmbeddingModel, state: str) -> None:
        known = self._models.get(model.fingerprint)
        if known is not None:
            self._all(
                "UPDATE model SET state = ? WHERE tenant = ? AND id = ?", state, self._number, known.number
            )
        else:
            self._all(
                "INSERT INTO model (tenant, fingerprint, provider, name, revision, dimensions, pooling, "
                f"{self._window_column}, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                self._number, model.fingerprint, model.provider, model.name, model.revision, model.dimensions,
                model.pooling, model.window, state,
            )  # fmt: skip
        self._models = self._read_models()

    def _evict_texts(self) -> None:
        ((size, count),) = self._all(
            "SELECT coalesce(sum(length(data)), 0), count(*) FROM cache WHERE tenant = ?", self._number
        )
        if size > TEXT_CACHE_BYTES:  # the oldest eighth goes
            self._all(
                "DELETE FROM cache WHERE tenant = ? AND seq IN "
                "(SELECT seq FROM cache WHERE tenant = ? ORDER BY seq LIMIT ?)",
                self._number, self._number, count // 8 + 1,
            )  # fmt: skip

    def _write_due(self, change: c.PutDue) -> None:
        marks, rows = change.marks, self._visible(change.marks)
        if change.was is None:
            levels = {m: marks[m] & 7 for m in rows}
            self._many(
                RAISE_DUE,
                [(marks[m] & ~7, levels[m], levels[m], self._number, row.num) for m, row in rows.items()],
            )
        else:
            self._many(
                "UPDATE memory SET due = ? WHERE tenant = ? AND num = ? AND due = ?",
                [(marks[m], self._number, row.num, change.was[m]) for m, row in rows.items()],
            )

    @abstractmethod
    def _clean_up_edges(self) -> None:
        """Drop the edges and events of the memories that were removed since."""

    @abstractmethod
    def _write_place(self, num: int, document: int, place: SourcePlace) -> None: ...

    @abstractmethod
    def _insert(self, memories: Mapping[str, c.PreparedMemory], document: int | None) -> None:
        """Insert checked memories, whose ids are free."""

    @abstractmethod
    def _remove(self, nums: Sequence[int]) -> None: ...

    @abstractmethod
    def _forget(self, nums: Sequence[int]) -> None: ...

    @abstractmethod
    def _delete_model(self, fingerprint: str) -> None: ...

    @abstractmethod
    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None: ...


class Holder(NamedTuple):
    """The row that has the number of an id; ``visible`` if it is that memory, and the writer sees it."""

    num: int
    document: int | None
    visible: bool


class SQLRebuild(Statements):
    """Reads the generation that is to be replaced."""

    _old: Tenant

    def documents(self) -> list[Document]:
        rows = self._all(
            f"SELECT {', '.join(DOCUMENT_COLUMNS)} FROM document WHERE tenant = ? AND generation = ? "
            "ORDER BY source COLLATE BINARY, path COLLATE BINARY",
            self._old.number, self._old.generation,
        )  # fmt: skip
        return [document_from_row(row) for row in rows]

    def passages(self, document: Document) -> list[c.PreparedMemory]:
        return self._prepared_memories(
            f"{OF_DOCUMENT} ORDER BY m.ordinal, m.tier COLLATE BINARY, m.hash",
            self._old.number, document.source, self._old.generation, document.path,
        )  # fmt: skip

    def additions(self) -> list[c.PreparedMemory]:
        return self._prepared_memories("m.document IS NULL ORDER BY m.hash")

    @abstractmethod
    def _prepared_memories(self, condition: str, *values: object) -> list[c.PreparedMemory]:
        """Return the memories of a condition, without terms."""


class GraphWriter(Statements):
    """Applies the graph changes of one transaction for one scope."""

    _encode: Callable[[tuple[str, ...]], object]
    """Write a list of aliases as the store holds it."""
    _decode: Callable[[Any], tuple[str, ...]]
    """Read a list of aliases as the store holds it."""
    _node: str
    """Column with the number of a concept or category."""

    def __init__(self, tenant: Tenant, scope: Scope) -> None:
        self._tenant = tenant.number
        self._scope = scope
        self._scope_keys: ScopeKeys = (tenant.number, tenant.generation, list(scope.keys))

    def apply(self, change: c.GraphChange) -> None:
        match change:
            case c.PutConcept(concept, was):
                check_key(self._scope, concept.key, f"Concept {concept.id}")
                check_concept(concept)
                self._write_concept(concept, was)
            case c.DropConcept(concept_id, key, was) if key in self._scope.keys:
                self._drop_concept(concept_id, key, was)
            case c.PutCategory(category):
                check_key(self._scope, category.key, f"Category {category.id}")
                check_category(category)
                if self._category_key(category.id) not in (None, category.key):
                    raise InputError(
                        f"Category id {category.id} belongs to another key's category. {NOTHING_WRITTEN}"
                    )
                self._write_category(category)
            case c.DropCategory(category_id):
                self._drop_category(category_id)
            case c.PutEdges(edges):
                for key, edge in {edge.key: edge for edge in reversed(edges)}.items():
                    check_key(self._scope, key, f"The edge from {edge.src} to {edge.dst}")
                for edge in edges:
                    check_edge(edge)
                self._put_edges(change)
            case c.DropEdges(names):
                self._drop_edges(names)
            case c.PutProject(place, name, key):
                check_key(self._scope, key, f"Project {name}")
                check_text(place, name, key)
                own = (self._tenant, key, place)
                self._all("DELETE FROM project WHERE tenant = ? AND key = ? AND place = ?", *own)
                self._all("INSERT INTO project (tenant, key, place, name) VALUES (?, ?, ?, ?)", *own, name)

    def _bump_concept_mark(self, key: str) -> None:
        self._all(
            "INSERT INTO concept_mark (tenant, key, changes) VALUES (?, ?, 1) "
            "ON CONFLICT (tenant, key) DO UPDATE SET changes = concept_mark.changes + 1",
            self._tenant, key,
        )  # fmt: skip

    def _write_concept(self, concept: Entity, was: tuple[Entity, ...] | None) -> None:
        node = self._get_or_create_node("concept", concept.id)
        check_concept_unchanged(concept.id, was, self._delete_concept(concept.id, concept.key, node))
        self._all(
            f"INSERT INTO concept (tenant, key, {self._node}, name, aliases, kind, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self._tenant, concept.key, node, concept.name, self._encode(concept.aliases), concept.kind, concept.at,
        )  # fmt: skip
        self._bump_concept_mark(concept.key)

    def _drop_concept(self, concept: str, key: str, was: tuple[Entity, ...] | None) -> None:
        node = self._find_node("concept", concept)
        if node is None:
            return
        deleted = self._delete_concept(concept, key, node)
        check_concept_unchanged(concept, was, deleted)
        if deleted:
            self._bump_concept_mark(key)
        self._drop_references(node, key)

    def _delete_concept(self, concept: str, key: str, node: int) -> list[Entity]:
        """Delete the row of a key, and return it if there was one."""
        rows = self._all(
            f"DELETE FROM concept WHERE tenant = ? AND key = ? AND {self._node} = ? "
            "RETURNING name, aliases, kind, at",
            self._tenant, key, node,
        )  # fmt: skip
        return [
            Entity(concept, key, name, self._decode(aliases), kind, at) for name, aliases, kind, at in rows
        ]

    def _category_key(self, category: str) -> str | None:
        statement = f"SELECT key FROM category WHERE tenant = ? AND {self._node} = ?"
        rows = self._all(statement, self._tenant, self._find_node("category", category))
        return rows[0][0] if rows else None

    def _write_category(self, category: Category) -> None:
        own = (self._tenant, self._get_or_create_node("category", category.id))
        self._all(f"DELETE FROM category WHERE tenant = ? AND {self._node} = ?", *own)
        self._all(
            f"INSERT INTO category (tenant, {self._node}, key, kind, name, parent, abstract, overview, model, "
            "centroid, at, built) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *own, category.key, category.kind, category.name, category.parent, category.abstract,
            category.overview, category.model, category.centroid, category.at, category.built,
        )  # fmt: skip

    def _drop_category(self, category: str) -> None:
        if self._category_key(category) in self._scope.keys:
            node = self._find_node("category", category)
            self._all(f"DELETE FROM category WHERE tenant = ? AND {self._node} = ?", self._tenant, node)
            self._drop_memberships(node)

    @abstractmethod
    def _find_node(self, kind: str, node: str) -> int | None:
        """Return the number of a concept or category, None if it never existed or is of another kind."""

    @abstractmethod
    def _get_or_create_node(self, kind: str, node: str) -> int: ...

    @abstractmethod
    def _drop_references(self, concept: int, key: str) -> None: ...

    @abstractmethod
    def _drop_memberships(self, category: int | None) -> None: ...

    @abstractmethod
    def _put_edges(self, change: c.PutEdges) -> None: ...

    @abstractmethod
    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None: ...


class PriorMemory(NamedTuple):
    """The row of a memory before a change; ``hash`` is the number of its id."""

    num: int
    hash: int
    key: str
    status: str
    valid_from: int | None
    valid_until: int | None


class HistoryWriter(Statements):
    """Applies the history changes of one transaction for one scope; a store reads and writes the rows.

    Changes of memories that are gone or not visible are ignored.
    """

    def __init__(self, tenant: Tenant, scope: Scope) -> None:
        self._tenant = tenant.number
        self._scope = scope
        self._scope_keys: ScopeKeys = (tenant.number, tenant.generation, list(scope.keys))

    def apply(self, change: c.HistoryChange) -> None:
        match change:
            case c.PutLifecycle(changes):
                self._put_lifecycles(changes)
            case c.PutEvents(events, imported):
                self._put_events(events, imported)
            case c.PutRun(run):
                check_run(self._scope, run)
                self._all(PUT_RUN, *run_to_row(self._tenant, run))
            case c.PutExtractions(extractions):
                self._put_extractions(extractions)

    def _put_lifecycles(self, changes: Mapping[str, LifecycleChange]) -> None:
        for memory, change in changes.items():
            check_lifecycle(memory, change)
        for memory, prior in self._visible(changes).items():
            values = changed_fields(changes[memory])  # fields of `LifecycleChange` are columns of ``memory``
            check_validity(
                memory,
                values.get("valid_from", prior.valid_from),
                values.get("valid_until", prior.valid_until),
            )
            if values:
                self._update(prior, values)

    def _put_events(self, events: Sequence[Event], imported: bool) -> None:
        for event in events:
            check_event(self._scope, event, imported)
        named = [memory for event in events for memory in (event.memory, event.other)]
        prior = self._visible(memory for memory in named if memory is not None)
        rows = []
        for event in events:
            memory, other = prior.get(event.memory), prior.get(event.other or "")
            if memory is not None and (imported or memory.key == event.key):
                rows.append(event_to_row(self._tenant, event, memory.hash, other and other.hash))
        self._many(PUT_EVENT, rows)

    def _put_extractions(self, extractions: Sequence[CachedExtraction]) -> None:
        for new in extractions:
            check_text(new.mark)
        prior = self._visible(new.memory for new in extractions)
        self._write_extractions(
            [(prior[new.memory].num, new.mark, new.data) for new in extractions if new.memory in prior]
        )

    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        """Return the memories of these ids that the scope sees."""
        wanted = set(ids)
        rows = self._all(
            "SELECT m.tier, m.num, m.hash, m.key, m.status, m.valid_from, m.valid_until FROM memory m "
            f"WHERE {VISIBLE} AND m.hash IN ?",
            *self._scope_keys, memory_hashes(wanted),
        )  # fmt: skip
        prior = {id_from_hash(tier, row[1]): PriorMemory(*row) for tier, *row in rows}
        return {memory: memory_row for memory, memory_row in prior.items() if memory in wanted}

    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None:
        assigned = ", ".join(f"{name} = ?" for name in values)
        statement = f"UPDATE memory SET {assigned} WHERE tenant = ? AND num = ?"
        self._all(statement, *values.values(), self._tenant, prior.num)

    @abstractmethod
    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None: ...
