"""State: everything one tenant holds, as plain dictionaries, and what each change does to it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from scrubjay.errors import InputError, NotFoundError
from scrubjay.models.graph import Category, Edge, Entity
from scrubjay.models.ids import EmbeddingModel, parse_id, tombstone_hash
from scrubjay.models.lifecycle import (
    CachedExtraction,
    ConsolidationRun,
    Event,
    LifecycleChange,
    changed_fields,
)
from scrubjay.models.records import (
    TIER_PREFIXES,
    TIERS,
    Document,
    Record,
    Scope,
    Source,
    StageVersions,
    due_level,
    due_mark,
    due_since,
)
from scrubjay.storage import changes as c
from scrubjay.storage.absent_passages import ABSENT, absent_event, place_name, restore_fields, text_name
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


@dataclass(slots=True)
class GraphState:
    """Concepts by (id, key), categories by id, edges by (source, kind, end, key), projects by (place, key).

    Attributes:
        marks: Visibility key to how often its concepts were changed.
    """

    concepts: dict[tuple[str, str], Entity] = field(default_factory=dict)
    categories: dict[str, Category] = field(default_factory=dict)
    edges: dict[tuple[str, str, str, str], Edge] = field(default_factory=dict)
    projects: dict[tuple[str, str], str] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)

    def copy(self) -> GraphState:
        """Return a state that can be changed without this one changing."""
        return GraphState(
            dict(self.concepts),
            dict(self.categories),
            dict(self.edges),
            dict(self.projects),
            dict(self.marks),
        )

    def drop_key(self, key: str) -> None:
        """Remove the rows of one visibility key."""
        self.concepts = {name: one for name, one in self.concepts.items() if one.key != key}
        self.categories = {name: one for name, one in self.categories.items() if one.key != key}
        self.edges = {name: one for name, one in self.edges.items() if one.key != key}
        self.projects = {name: one for name, one in self.projects.items() if name[1] != key}
        self.marks.pop(key, None)

    def apply(self, scope: Scope, change: c.GraphChange, memories: Collection[str]) -> None:
        """Do one change for one scope, which sees these memories."""
        match change:
            case c.PutConcept(concept, was):
                check_key(scope, concept.key, f"Concept {concept.id}")
                check_concept(concept)
                check_concept_unchanged(concept.id, was, self._concept_rows(concept.id, concept.key))
                self.concepts[concept.id, concept.key] = concept
                self._mark(concept.key)
            case c.DropConcept(concept_id, key, was) if key in scope.keys:
                check_concept_unchanged(concept_id, was, self._concept_rows(concept_id, key))
                self.concepts.pop((concept_id, key), None)
                self._mark(key)
                self._keep(lambda edge: (edge.dst, edge.key) != (concept_id, key))
            case c.PutCategory(category):
                self._put_category(scope, category)
            case c.DropCategory(category_id) if self._sees_category(scope, category_id):
                del self.categories[category_id]
                self._keep(lambda edge: edge.dst != category_id)
            case c.PutEdges():
                self._put_edges(scope, change, memories)
            case c.DropEdges(edges):
                seen = {id(edge) for edge in self.seen(scope, memories)}
                self._keep(lambda edge: id(edge) not in seen or (edge.src, edge.kind, edge.dst) not in edges)
            case c.PutProject(place, name, key):
                check_key(scope, key, f"Project {name}")
                check_text(place, name, key)
                self.projects[place, key] = name

    def _concept_rows(self, concept: str, key: str) -> list[Entity]:
        row = self.concepts.get((concept, key))
        return [] if row is None else [row]

    def _mark(self, key: str) -> None:
        self.marks[key] = self.marks.get(key, 0) + 1

    def _put_category(self, scope: Scope, category: Category) -> None:
        check_key(scope, category.key, f"Category {category.id}")
        check_category(category)
        if self.categories.get(category.id, category).key != category.key:
            raise InputError(
                f"Category id {category.id} belongs to another key's category. {NOTHING_WRITTEN}"
            )
        self.categories[category.id] = category

    def _sees_category(self, scope: Scope, category: str) -> bool:
        return category in self.categories and self.categories[category].key in scope.keys

    def _put_edges(self, scope: Scope, change: c.PutEdges, memories: Collection[str]) -> None:
        for edge in change.edges:
            check_key(scope, edge.key, f"The edge from {edge.src} to {edge.dst}")
            check_edge(edge)
        for edge in self.seen(scope, memories):
            asked = edge.src in change.of or (change.inward and edge.dst in change.of)
            if asked and edge.kind in change.kinds and edge.origin == "found":
                del self.edges[_edge_name(edge)]
        for edge in change.edges:
            old = self.edges.get(_edge_name(edge))
            given = old is not None and old.origin == "given" and edge.origin == "found"
            if not given and self._ends_seen(scope, edge, memories):
                self.edges[_edge_name(edge)] = edge

    def seen(self, scope: Scope, memories: Collection[str]) -> list[Edge]:
        """Return the rows of edges that a scope sees, which sees these memories."""
        rows = [edge for edge in self.edges.values() if edge.key in scope.keys]
        return [edge for edge in rows if self._ends_seen(scope, edge, memories)]

    def _ends_seen(self, scope: Scope, edge: Edge, memories: Collection[str]) -> bool:
        known = any((edge.dst, key) in self.concepts for key in scope.keys)
        return edge.src in memories and (
            edge.dst in memories or known or self._sees_category(scope, edge.dst)
        )

    def lose(self, memories: Collection[str]) -> None:
        """Remove the edges of memories that were removed for good, on both sides, of every key."""
        self._keep(lambda edge: edge.src not in memories and edge.dst not in memories)

    def hold(self, memories: Collection[str]) -> None:
        """Remove the edges of all memories but these."""
        ends = {end for edge in self.edges.values() for end in (edge.src, edge.dst) if parse_id(end)}
        self.lose(ends - set(memories))

    def _keep(self, test: Callable[[Edge], bool]) -> None:
        self.edges = {name: edge for name, edge in self.edges.items() if test(edge)}


def _edge_name(edge: Edge) -> tuple[str, str, str, str]:
    return edge.src, edge.kind, edge.dst, edge.key


@dataclass(slots=True)
class HistoryState:
    """Events in the order of writing, runs by (id, key), and readings by memory."""

    events: list[Event] = field(default_factory=list)
    runs: dict[tuple[str, str], ConsolidationRun] = field(default_factory=dict)
    readings: dict[str, CachedExtraction] = field(default_factory=dict)

    def copy(self) -> HistoryState:
        """Return a state that can be changed without this one changing."""
        return HistoryState(list(self.events), dict(self.runs), dict(self.readings))

    def drop_user(self, user: str) -> None:
        """Remove a user's own runs and events, and the user's name from other events."""
        key = f"user:{user}"
        self.drop_absent(lambda one: one.key == key)
        self.runs = {name: one for name, one in self.runs.items() if one.key != key}
        self.events = [
            replace(one, actor="") if one.actor == user else one for one in self.events if one.key != key
        ]

    def apply(self, scope: Scope, change: c.HistoryChange, memories: dict[str, c.PreparedMemory]) -> None:
        """Do one change for one scope; a life is put into the memory that it is of."""
        seen = {i: m for i, m in memories.items() if m.record.key in scope.keys}
        match change:
            case c.PutLifecycle(lives):
                memories |= _apply_lifecycle(lives, seen)
            case c.PutEvents(events, past):
                for event in events:
                    check_event(scope, event, past)
                    if event.memory in seen and (past or seen[event.memory].record.key == event.key):
                        known = event.other in seen
                        self.events.append(event if known else replace(event, other=None))
            case c.PutRun(run):
                check_run(scope, run)
                self.runs[run.id, run.key] = run
            case c.PutExtractions(readings):
                for reading in readings:
                    check_text(reading.mark)
                self.readings |= {reading.memory: reading for reading in readings if reading.memory in seen}

    def lose(self, memories: Collection[str]) -> None:
        """Remove events and readings of memories that were removed for good, and their names from others' events.

        Absent passages keep theirs.
        """
        self.readings = {memory: one for memory, one in self.readings.items() if memory not in memories}
        absent = {one.memory for one in self.absent()}
        kept = [event for event in self.events if event.memory not in memories or event.memory in absent]
        self.events = [replace(e, other=None) if e.other in memories else e for e in kept]

    def absent(self) -> list[Event]:
        """Return the events that say what is kept of absent passages."""
        return [one for one in self.events if one.op == ABSENT]

    def drop_absent(self, test: Callable[[Event], bool]) -> list[Event]:
        """Remove all events of the absent passages whose event passes a test, and return these."""
        dropped = [one for one in self.absent() if test(one)]
        gone = {one.memory for one in dropped}
        self.events = [one for one in self.events if one.memory not in gone]
        return dropped


def _apply_lifecycle(
    lives: Mapping[str, LifecycleChange], seen: Mapping[str, c.PreparedMemory]
) -> dict[str, c.PreparedMemory]:
    changed = {}
    for memory, life in lives.items():
        check_lifecycle(memory, life)
        if memory in seen:
            record = replace(seen[memory].record, **changed_fields(life))
            check_validity(memory, record.valid_from, record.valid_until)
            changed[memory] = replace(seen[memory], record=record)
    return changed


@dataclass(slots=True)
class TenantState:
    """One tenant's memories and all beside them."""

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    sources: dict[str, Source] = field(default_factory=dict)
    documents: dict[tuple[str, str], Document] = field(default_factory=dict)
    memories: dict[str, c.PreparedMemory] = field(default_factory=dict)
    models: dict[str, tuple[EmbeddingModel, str]] = field(default_factory=dict)
    cache: dict[tuple[str, str], c.QuantizedVectors] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    versions: StageVersions | None = None
    graph: GraphState = field(default_factory=GraphState)
    life: HistoryState = field(default_factory=HistoryState)

    def copy(self) -> TenantState:
        """Return a state that can be changed without this one changing."""
        return TenantState(
            self.secret,
            dict(self.sources),
            dict(self.documents),
            dict(self.memories),
            dict(self.models),
            dict(self.cache),
            set(self.tombstones),
            self.versions,
            self.graph.copy(),
            self.life.copy(),
        )

    def apply(self, scope: Scope | None, change: c.Change) -> None:
        """Do one change, for one scope, or for the whole tenant when a rebuild asks."""
        if isinstance(change, c.GraphChange):
            if scope is not None:  # a rebuild asks for none (`check_rebuild_changes`)
                self.graph.apply(scope, change, {i for i in self.memories if self._sees_memory(scope, i)})
            return
        if isinstance(change, c.HistoryChange):
            if scope is not None:
                self.life.apply(scope, change, self.memories)
            return
        before = set(self.memories)
        self._apply_to_memories(scope, change)
        if scope is not None:  # a rebuild's edges and events are sorted out at its end
            self.graph.lose(before - set(self.memories))
            self.life.lose(before - set(self.memories))

    def _apply_to_memories(self, scope: Scope | None, change: c.Change) -> None:
        match change:
            case c.PutVersions(versions):
                self.versions = versions
            case c.PutSource() | c.DropSource() | c.PutDocument() | c.DropDocument():
                self._apply_to_documents(scope, change)
            case c.PutMemory(memory):
                self._put(scope, memory, None)
                self.life.drop_absent(lambda one: one.memory == memory.record.id)
            case c.RequireUnchanged(records):
                seen = [one for one in records if self._sees_memory(scope, one)]
                check_unchanged(records, {one: self.memories[one].record for one in seen})
            case c.DropMemory() | c.Forget():
                self._remove(scope, change)
            case c.DropUser(user):
                check_key(scope, f"user:{user}", f"User {user}")
                self.graph.drop_key(f"user:{user}")
                self.life.drop_user(user)
            case c.PutTombstones(hashes):
                self.tombstones |= set(hashes)
            case c.PutModel(model, model_state):
                self.models[model.fingerprint] = (model, model_state)
            case c.DropModel(fingerprint):
                self._drop_model(fingerprint)
            case c.PutVectors():
                self._put_vectors(scope, change)
            case c.PutDue(marks, was):
                self._put_due(scope, marks, was)

    def _apply_to_documents(
        self, scope: Scope | None, change: c.PutSource | c.DropSource | c.PutDocument | c.DropDocument
    ) -> None:
        match change:
            case c.PutSource(source, was):
                check_key(scope, source.key, f"Source {source.root}")
                if source.id in self.sources and not self._sees_source(scope, source.id):
                    raise InputError(
                        f"Source id {source.id!r} belongs to another source already. {NOTHING_WRITTEN}"
                    )
                stored = [self.sources[source.id]] if source.id in self.sources else []
                check_source_unchanged(source, was, stored)
                check_text(source.id, source.root, source.description, *source.include, *source.exclude)
                self.sources[source.id] = source
            case c.DropSource(source_id) if self._sees_source(scope, source_id):
                for _, path in [where for where in self.documents if where[0] == source_id]:
                    self._drop_document(None, source_id, path)
                self.sources.pop(source_id)
                self.life.drop_absent(lambda one: (one.run or "").partition(":")[2] == source_id)
            case c.PutDocument():
                self._put_document(scope, change)
            case c.DropDocument(source_id, path) if self._sees_source(scope, source_id):
                self._drop_document(scope, source_id, path)

    def _sees_source(self, scope: Scope | None, source: str) -> bool:
        return source in self.sources and _sees(scope, self.sources[source].key)

    def _sees_memory(self, scope: Scope | None, memory: str) -> bool:
        return memory in self.memories and _sees(scope, self.memories[memory].record.key)

    def _put(self, scope: Scope | None, memory: c.PreparedMemory, document: Document | None) -> None:
        record = memory.record
        check_key(scope, record.key, f"Memory {record.id}")
        check_record(record)
        check_place(record.id, record.place, document)
        check_text(record.content, record.title)
        check_text(*record.heading_path, *record.tags, *memory.terms.counts)
        for fingerprint, codes in memory.vectors.items():
            check_vectors(self._model(fingerprint), codes, f"Memory {record.id}")
        for tier in TIERS:  # an id's number names one memory, whatever its tier
            other = self.memories.get(TIER_PREFIXES[tier] + record.id.partition("_")[2])
            if other is not None and (tier != record.tier or not _sees(scope, other.record.key)):
                raise id_conflict(record.id)
        self.memories.pop(record.id, None)  # written anew, it is the last
        self.memories[record.id] = memory
        self.life.readings.pop(record.id, None)

    def _model(self, fingerprint: str) -> EmbeddingModel:
        if fingerprint not in self.models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {NOTHING_WRITTEN}")
        return self.models[fingerprint][0]

    def _put_due(self, scope: Scope | None, marks: Mapping[str, int], was: Mapping[str, int] | None) -> None:
        for memory, mark in marks.items():
            if self._sees_memory(scope, memory):
                held = self.memories[memory]
                now = held.record.due
                if was is None:
                    level = max(due_level(mark), due_level(now))
                    now = due_mark(level, due_since(mark))
                elif now == was[memory]:
                    now = mark
                self.memories[memory] = replace(held, record=replace(held.record, due=now))

    def _put_document(self, scope: Scope | None, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(scope, document.source):
            raise NotFoundError(f"No source {document.source} is registered. {NOTHING_WRITTEN}")
        for kept in change.kept:
            check_place(kept.id, kept.place, document)
        held = {kept.id for kept in change.kept if self._sees_memory(scope, kept.id)}
        fresh_ids = {fresh.record.id for fresh in change.fresh}
        old_path = change.moved_from or document.path
        if old_path != document.path and (document.source, old_path) in self.documents:
            self._drop_document(scope, document.source, document.path, held, fresh_ids)
            self._rename(document.source, old_path, document.path)
        self.documents[document.source, document.path] = document
        changed = not change.grows and bool(change.fresh or change.kept or change.dropped)
        for memory, old in list(self.memories.items()):
            left = changed and _belongs_to(old.record, document) and memory not in held
            if (left or memory in change.dropped) and _sees(scope, old.record.key):
                if scope is not None and memory not in fresh_ids:
                    self._keep_absent(document.source, document.path, old.record)
                del self.memories[memory]
        for kept in change.kept:
            if kept.id in held and kept.id in self.memories:
                known = self.memories[kept.id]
                self.memories[kept.id] = replace(known, record=replace(known.record, place=kept.place))
        for fresh in change.fresh:
            self._put(scope, fresh, document)
        if scope is not None:
            self._restore_absent(document, [fresh.record.id for fresh in change.fresh])

    def _keep_absent(self, source: str, path: str, record: Record) -> None:
        history = sorted((one for one in self.life.events if one.memory == record.id), key=lambda one: one.at)
        event = absent_event(self.secret, source, path, record, [(one.op, one.run) for one in history])
        self.life.events += [] if event is None else [event]

    def _restore_absent(self, document: Document, fresh: list[str]) -> None:
        """Give fresh passages what was kept of the same text in the same place, and drop what was of other texts."""
        absent, moved, restored = self.life.absent(), dict[str, str](), list[Event]()
        known = {one.memory for one in absent}
        for memory in sorted(fresh, key=lambda one: one not in known):
            record = self.memories[memory].record
            place = place_name(self.secret, document.source, document.path, record)
            text = text_name(self.secret, record)
            same = [one for one in absent if (one.run, json.loads(one.before)["text"]) == (place, text)]
            if same:
                old = next(
                    (one for one in same if one.memory == memory), min(same, key=lambda one: one.memory)
                )
                absent.remove(old)
                moved[old.memory], state = memory, json.loads(old.before)
                record = restore_fields(record, state)
                self.memories[memory] = replace(self.memories[memory], record=record)
                if record.status != (before := state["status"]):
                    restored.append(Event(memory, "restored", record.updated_at, record.key, before=before))
        kept = [one for one in self.life.events if one.memory in moved and one.op != ABSENT]
        self.life.drop_absent(lambda one: one.memory in moved or one.memory in fresh)
        self.life.events += [replace(one, memory=moved[one.memory]) for one in kept] + restored

    def _rename(self, source: str, old: str, new: str) -> None:
        del self.documents[source, old]
        for memory, kept in self.memories.items():
            place = kept.record.place
            if place is not None and (place.source, place.path) == (source, old):
                record = replace(kept.record, place=replace(place, path=new))
                self.memories[memory] = replace(kept, record=record)

    def _drop_document(
        self,
        scope: Scope | None,
        source: str,
        path: str,
        spare: Collection[str] = (),
        fresh: Collection[str] = (),
    ) -> None:
        self.documents.pop((source, path), None)
        for memory, kept in list(self.memories.items()):
            place = kept.record.place
            if place is not None and (place.source, place.path) == (source, path) and memory not in spare:
                if scope is not None and memory not in fresh:
                    self._keep_absent(source, path, kept.record)
                del self.memories[memory]

    def _remove(self, scope: Scope | None, change: c.DropMemory | c.Forget) -> None:
        if isinstance(change, c.Forget):
            self._forget(scope, change.ids)
            return
        for memory in change.ids:
            if self._sees_memory(scope, memory) and self.memories[memory].record.place is None:
                del self.memories[memory]

    def _forget(self, scope: Scope | None, ids: tuple[str, ...]) -> None:
        for gone in self.life.drop_absent(lambda one: one.memory in ids and _sees(scope, one.key)):
            self.tombstones.add(json.loads(gone.before)["text"])
        for memory in ids:
            kept = self.memories.get(memory)
            if kept is not None and _sees(scope, kept.record.key):
                self.cache.clear()
                self.tombstones.add(tombstone_hash(self.secret, kept.record.content, kept.record.key))
                del self.memories[memory]

    def _drop_model(self, fingerprint: str) -> None:
        self.models.pop(fingerprint, None)
        self.cache = {key: codes for key, codes in self.cache.items() if key[0] != fingerprint}
        for memory, kept in self.memories.items():
            vectors = {model: codes for model, codes in kept.vectors.items() if model != fingerprint}
            self.memories[memory] = replace(kept, vectors=vectors)

    def _put_vectors(self, scope: Scope | None, change: c.PutVectors) -> None:
        model = self._model(change.fingerprint)
        for memory, (content_hash, codes) in change.vectors.items():
            check_vectors(model, codes, f"Memory {memory}")
            kept = self.memories.get(memory)
            if kept is None or kept.record.content_hash != content_hash or not _sees(scope, kept.record.key):
                continue
            if change.fingerprint not in kept.vectors:
                self.memories[memory] = replace(kept, vectors={**kept.vectors, change.fingerprint: codes})
        for text, codes in change.texts.items():
            check_vectors(model, codes, "A cached text")
            self.cache[change.fingerprint, text] = codes


def _sees(scope: Scope | None, key: str) -> bool:
    return scope is None or key in scope.keys


def _belongs_to(record: Record, document: Document) -> bool:
    place = record.place
    return place is not None and (place.source, place.path) == (document.source, document.path)
