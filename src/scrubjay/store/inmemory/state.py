"""State: everything one tenant holds, as plain dictionaries, and what each change does to it."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.models import Model
from scrubjay.memory.records import Document, Record, Source, Versions
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import PREFIX, TIERS
from scrubjay.store import changes as c
from scrubjay.store.inmemory.graph_state import GraphState
from scrubjay.store.inmemory.life_state import LifeState
from scrubjay.store.scope_check import UNTOUCHED, encodable, fitting, placed, storable, taken, writable


@dataclass(slots=True)
class State:
    """One tenant's memories and all beside them."""

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    sources: dict[str, Source] = field(default_factory=dict)
    documents: dict[tuple[str, str], Document] = field(default_factory=dict)
    memories: dict[str, c.Prepared] = field(default_factory=dict)
    models: dict[str, tuple[Model, str]] = field(default_factory=dict)
    cache: dict[tuple[str, str], c.Codes] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    versions: Versions | None = None
    graph: GraphState = field(default_factory=GraphState)
    life: LifeState = field(default_factory=LifeState)

    def copy(self) -> State:
        """Return a state that can be changed without this one changing."""
        return State(
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
            if scope is not None:  # a rebuild asks for none (`of_a_generation`)
                self.graph.apply(scope, change, {i for i in self.memories if self._sees_memory(scope, i)})
            return
        if isinstance(change, c.LifeChange):
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
            case c.DropMemory() | c.Forget():
                self._remove(scope, change)
            case c.PutTombstones(hashes):
                self.tombstones |= set(hashes)
            case c.PutModel(model, model_state):
                self.models[model.fingerprint] = (model, model_state)
            case c.DropModel(fingerprint):
                self._drop_model(fingerprint)
            case c.PutVectors():
                self._put_vectors(scope, change)

    def _apply_to_documents(
        self, scope: Scope | None, change: c.PutSource | c.DropSource | c.PutDocument | c.DropDocument
    ) -> None:
        match change:
            case c.PutSource(source):
                writable(scope, source.key, f"Source {source.root}")
                if source.id in self.sources and not self._sees_source(scope, source.id):
                    raise InputError(
                        f"Source id {source.id!r} belongs to another source already. {UNTOUCHED}"
                    )
                encodable(source.id, source.root, source.description, *source.include, *source.exclude)
                self.sources[source.id] = source
            case c.DropSource(source_id) if self._sees_source(scope, source_id):
                for _, path in [where for where in self.documents if where[0] == source_id]:
                    self._drop_document(source_id, path)
                self.sources.pop(source_id)
            case c.PutDocument():
                self._put_document(scope, change)
            case c.DropDocument(source_id, path) if self._sees_source(scope, source_id):
                self._drop_document(source_id, path)

    def _sees_source(self, scope: Scope | None, source: str) -> bool:
        return source in self.sources and _sees(scope, self.sources[source].key)

    def _sees_memory(self, scope: Scope | None, memory: str) -> bool:
        return memory in self.memories and _sees(scope, self.memories[memory].record.key)

    def _put(self, scope: Scope | None, memory: c.Prepared, document: Document | None) -> None:
        record = memory.record
        writable(scope, record.key, f"Memory {record.id}")
        storable(record)
        placed(record.id, record.place, document)
        encodable(record.content, record.title, record.abstract, record.overview)
        encodable(*record.heading_path, *record.tags, *memory.terms.counts)
        for fingerprint, codes in memory.vectors.items():
            fitting(self._model(fingerprint), codes, f"Memory {record.id}")
        for tier in TIERS:  # an id's number names one memory, whatever its tier
            other = self.memories.get(PREFIX[tier] + record.id.partition("_")[2])
            if other is not None and (tier != record.tier or not _sees(scope, other.record.key)):
                raise taken(record.id)
        self.memories[record.id] = memory
        self.life.readings.pop(record.id, None)

    def _model(self, fingerprint: str) -> Model:
        if fingerprint not in self.models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. {UNTOUCHED}")
        return self.models[fingerprint][0]

    def _put_document(self, scope: Scope | None, change: c.PutDocument) -> None:
        document = change.document
        if not self._sees_source(scope, document.source):
            raise NotFoundError(f"No source {document.source} is registered. {UNTOUCHED}")
        for kept in change.kept:
            placed(kept.id, kept.place, document)
        held = {kept.id for kept in change.kept if self._sees_memory(scope, kept.id)}
        old_path = change.moved_from or document.path
        if old_path != document.path and (document.source, old_path) in self.documents:
            self._drop_document(document.source, document.path, spare=held)
            self._rename(document.source, old_path, document.path)
        self.documents[document.source, document.path] = document
        changed = not change.grows and bool(change.fresh or change.kept or change.dropped)
        for memory, old in list(self.memories.items()):
            left = changed and _stands_in(old.record, document) and memory not in held
            if (left or memory in change.dropped) and _sees(scope, old.record.key):
                del self.memories[memory]
        for kept in change.kept:
            if kept.id in held and kept.id in self.memories:
                known = self.memories[kept.id]
                self.memories[kept.id] = replace(known, record=replace(known.record, place=kept.place))
        for fresh in change.fresh:
            self._put(scope, fresh, document)

    def _rename(self, source: str, old: str, new: str) -> None:
        del self.documents[source, old]
        for memory, kept in self.memories.items():
            place = kept.record.place
            if place is not None and (place.source, place.path) == (source, old):
                record = replace(kept.record, place=replace(place, path=new))
                self.memories[memory] = replace(kept, record=record)

    def _drop_document(self, source: str, path: str, spare: Collection[str] = ()) -> None:
        self.documents.pop((source, path), None)
        for memory, kept in list(self.memories.items()):
            place = kept.record.place
            if place is not None and (place.source, place.path) == (source, path) and memory not in spare:
                del self.memories[memory]

    def _remove(self, scope: Scope | None, change: c.DropMemory | c.Forget) -> None:
        if isinstance(change, c.Forget):
            self._forget(scope, change.ids)
            return
        for memory in change.ids:
            if self._sees_memory(scope, memory) and self.memories[memory].record.place is None:
                del self.memories[memory]

    def _forget(self, scope: Scope | None, ids: tuple[str, ...]) -> None:
        for memory in ids:
            kept = self.memories.get(memory)
            if kept is not None and _sees(scope, kept.record.key):
                self.tombstones.add(tombstone_hash(self.secret, kept.record.content, kept.record.key))
                del self.memories[memory]
        self.cache.clear()

    def _drop_model(self, fingerprint: str) -> None:
        self.models.pop(fingerprint, None)
        self.cache = {key: codes for key, codes in self.cache.items() if key[0] != fingerprint}
        for memory, kept in self.memories.items():
            vectors = {model: codes for model, codes in kept.vectors.items() if model != fingerprint}
            self.memories[memory] = replace(kept, vectors=vectors)

    def _put_vectors(self, scope: Scope | None, change: c.PutVectors) -> None:
        model = self._model(change.fingerprint)
        for memory, (content_hash, codes) in change.vectors.items():
            fitting(model, codes, f"Memory {memory}")
            kept = self.memories.get(memory)
            if kept is None or kept.record.content_hash != content_hash or not _sees(scope, kept.record.key):
                continue
            if change.fingerprint not in kept.vectors:
                self.memories[memory] = replace(kept, vectors={**kept.vectors, change.fingerprint: codes})
        for text, codes in change.texts.items():
            fitting(model, codes, "A cached text")
            self.cache[change.fingerprint, text] = codes


def _sees(scope: Scope | None, key: str) -> bool:
    return scope is None or key in scope.keys


def _stands_in(record: Record, document: Document) -> bool:
    place = record.place
    return place is not None and (place.source, place.path) == (document.source, document.path)
