"""Writers: the rules of every change, which both SQL stores check and order the same way; each writes its own rows."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import Category, Entity
from scrubjay.models.ids import EmbeddingModel, parse_id
from scrubjay.models.lifecycle import CachedExtraction, Event, LifecycleChange, changed_fields
from scrubjay.models.records import Document, Scope, Source, SourcePlace
from scrubjay.storage import changes as c
from scrubjay.storage.quota import USER_KEY_PREFIX
from scrubjay.storage.rows import RegisteredModel, Tenant, event_to_row, id_from_hash, run_to_row
from scrubjay.storage.validation import (
    NOTHING_WRITTEN,
    check_category,
    check_concept,
    check_edge,
    check_event,
    check_key,
    check_lifecycle,
    check_place,
    check_record,
    check_run,
    check_text,
    check_validity,
    check_vectors,
    id_conflict,
)


class MemoryWriter(ABC):
    """Applies the changes of sources, documents, memories and models in one transaction.

    ``scope`` is None for a rebuild, which sees every key. ``gained`` counts new memories by visibility key.
    """

    def __init__(self, tenant: Tenant, scope: Scope | None, models: Mapping[str, RegisteredModel]) -> None:
        self._tenant = tenant
        self._scope = scope
        self._models = models
        self.gained: Counter[str] = Counter()

    def _apply_to_memories(self, change: c.Change) -> None:
        match change:
            case c.PutVersions(versions):
                self._write_versions(json.dumps(asdict(versions)))
            case c.PutSource(source):
                self._put_source(source)
            case c.DropSource(source) if self._sees_source(source):
                for path in self._paths(source):
                    self._drop_document(source, path)
                self._delete_source(source)
            case c.PutDocument():
                self._put_document(change)
            case c.DropDocument(source, path) if self._sees_source(source):
                self._drop_document(source, path)
            case c.PutMemory(memory):
                self._put([memory], None, None)
            case c.DropMemory(ids):
                self._remove_without_document(self._numbers(ids))
            case c.Forget(ids):
                self._forget(ids)
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
            case c.PutDue():
                self._write_due(change)

    def _sees(self, key: str) -> bool:
        return self._scope is None or key in self._scope.keys

    def _sees_source(self, source: str) -> bool:
        key = self._source_key(source)
        return key is not None and self._sees(key)

    def _model(self, fingerprint: str) -> RegisteredModel:
        if fingerprint not in self._models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {NOTHING_WRITTEN}")
        return self._models[fingerprint]

    def _put_source(self, source: Source) -> None:
        check_key(self._scope, source.key, f"Source {source.root}")
        key = self._source_key(source.id)
        if key is not None and not self._sees(key):
            raise InputError(f"Source id {source.id!r} belongs to another source already. {NOTHING_WRITTEN}")
        self._write_source(source)

    def _put_document(self, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(document.source):
            raise NotFoundError(f"No source {document.source} is registered. {NOTHING_WRITTEN}")
        for kept in change.kept:
            check_place(kept.id, kept.place, document)
        number, replaced = self._find_document(document.source, document.path), None
        if change.moved_from is not None and change.moved_from != document.path:
            moved = self._find_document(document.source, change.moved_from)
            if moved is not None:
                number, replaced = moved, number
                if replaced is not None:
                    self._delete_document(replaced)
        number = self._write_document(number, document)
        self._remove(self._numbers(change.dropped))
        if not change.grows and (change.fresh or change.kept or change.dropped):
            kept_ids = {kept.id for kept in change.kept}
            self._remove(
                [
                    num
                    for num, tier, hashed, key in self._passage_rows(number)
                    if self._sees(key) and id_from_hash(tier, hashed) not in kept_ids
                ]
            )
        for kept in change.kept:
            for num in self._numbers([kept.id]):
                self._write_place(num, number, kept.place)
        if replaced is not None:
            self._remove_passages(replaced)
        self._put(change.fresh, number, document)

    def _drop_document(self, source: str, path: str) -> None:
        number = self._find_document(source, path)
        if number is not None:
            self._remove_passages(number)
            self._delete_document(number)

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
        self._write_memories(by_id, number)

    @abstractmethod
    def _source_key(self, source: str) -> str | None: ...

    @abstractmethod
    def _write_source(self, source: Source) -> None: ...

    @abstractmethod
    def _delete_source(self, source: str) -> None: ...

    @abstractmethod
    def _paths(self, source: str) -> list[str]: ...

    @abstractmethod
    def _find_document(self, source: str, path: str) -> int | None: ...

    @abstractmethod
    def _write_document(self, number: int | None, document: Document) -> int:
        """Write a document over the row of a number, or into a new one, and return its number."""

    @abstractmethod
    def _delete_document(self, number: int) -> None: ...

    @abstractmethod
    def _passage_rows(self, document: int) -> Sequence[tuple[int, str, int, str]]:
        """Return row, tier, hash and key of a document's passages."""

    @abstractmethod
    def _remove_passages(self, document: int) -> None: ...

    @abstractmethod
    def _write_place(self, num: int, document: int, place: SourcePlace) -> None: ...

    @abstractmethod
    def _numbers(self, ids: Iterable[str]) -> list[int]:
        """Return the rows of the memories that exist and are visible, each once."""

    @abstractmethod
    def _write_memories(self, memories: Mapping[str, c.PreparedMemory], document: int | None) -> None:
        """Insert checked memories, replacing those of the same ids."""

    @abstractmethod
    def _remove(self, nums: Sequence[int]) -> None: ...

    @abstractmethod
    def _remove_without_document(self, nums: Sequence[int]) -> None: ...

    @abstractmethod
    def _forget(self, ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _drop_user(self, user: str, key: str) -> None: ...

    @abstractmethod
    def _write_tombstones(self, hashes: Sequence[str]) -> None: ...

    @abstractmethod
    def _write_versions(self, versions: str) -> None: ...

    @abstractmethod
    def _write_model(self, model: EmbeddingModel, state: str) -> None: ...

    @abstractmethod
    def _delete_model(self, fingerprint: str) -> None: ...

    @abstractmethod
    def _write_vectors(self, registered: RegisteredModel, change: c.PutVectors) -> None: ...

    @abstractmethod
    def _write_due(self, change: c.PutDue) -> None: ...


class GraphWriter(ABC):
    """Applies the graph changes of one transaction for one scope."""

    def __init__(self, tenant: Tenant, scope: Scope) -> None:
        self._tenant = tenant.number
        self._scope = scope

    def apply(self, change: c.GraphChange) -> None:
        match change:
            case c.PutConcept(concept):
                check_key(self._scope, concept.key, f"Concept {concept.id}")
                check_concept(concept)
                self._write_concept(concept)
            case c.DropConcept(concept_id, key) if key in self._scope.keys:
                self._drop_concept(concept_id, key)
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
                self._write_project(place, name, key)

    @abstractmethod
    def _write_concept(self, concept: Entity) -> None: ...

    @abstractmethod
    def _drop_concept(self, concept: str, key: str) -> None: ...

    @abstractmethod
    def _category_key(self, category: str) -> str | None: ...

    @abstractmethod
    def _write_category(self, category: Category) -> None: ...

    @abstractmethod
    def _drop_category(self, category: str) -> None: ...

    @abstractmethod
    def _put_edges(self, change: c.PutEdges) -> None: ...

    @abstractmethod
    def _drop_edges(self, names: Sequence[tuple[str, str, str]]) -> None: ...

    @abstractmethod
    def _write_project(self, place: str, name: str, key: str) -> None: ...


class PriorMemory(NamedTuple):
    """The row of a memory before a change; ``hash`` is the number of its id."""

    num: int
    hash: int
    key: str
    status: str
    valid_from: int | None
    valid_until: int | None


class HistoryWriter(ABC):
    """Applies the history changes of one transaction for one scope; a store reads and writes the rows.

    Changes of memories that are gone or not visible are ignored.
    """

    def __init__(self, tenant: Tenant, scope: Scope) -> None:
        self._tenant = tenant.number
        self._scope = scope

    def apply(self, change: c.HistoryChange) -> None:
        match change:
            case c.PutLifecycle(changes):
                self._put_lifecycles(changes)
            case c.PutEvents(events, imported):
                self._put_events(events, imported)
            case c.PutRun(run):
                check_run(self._scope, run)
                self._write_run(run_to_row(self._tenant, run))
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
        self._write_events(rows)

    def _put_extractions(self, extractions: Sequence[CachedExtraction]) -> None:
        for one in extractions:
            check_text(one.mark)
        prior = self._visible(one.memory for one in extractions)
        self._write_extractions(
            [(prior[one.memory].num, one.mark, one.data) for one in extractions if one.memory in prior]
        )

    @abstractmethod
    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        """Return the memories of these ids that the scope sees."""

    @abstractmethod
    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None: ...

    @abstractmethod
    def _write_run(self, row: tuple[object, ...]) -> None: ...

    @abstractmethod
    def _write_extractions(self, rows: Sequence[tuple[int, str, bytes]]) -> None: ...
