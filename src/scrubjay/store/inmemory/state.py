"""State: everything one tenant holds, as plain dictionaries, and what each change does to it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from scrubjay.errors import NotFoundError
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.models import Model
from scrubjay.memory.records import Document, Source, Versions
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.scope_check import fitting, writable


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
        )

    def apply(self, scope: Scope | None, change: c.Change) -> None:
        """Do one change, for one scope, or for the whole tenant when a rebuild asks."""
        match change:
            case c.PutVersions(versions):
                self.versions = versions
            case c.PutSource(source):
                writable(scope, source.key, f"Source {source.root}")
                self.sources[source.id] = source
            case c.DropSource(source_id):
                for source, path in [where for where in self.documents if where[0] == source_id]:
                    self._drop_document(source, path)
                self.sources.pop(source_id, None)
            case c.PutDocument():
                self._put_document(scope, change)
            case c.DropDocument(source_id, path):
                self._drop_document(source_id, path)
            case c.PutMemory(memory):
                self._put(scope, memory)
            case c.Forget(ids):
                self._forget(scope, ids)
            case c.PutModel(model, model_state):
                self.models[model.fingerprint] = (model, model_state)
            case c.DropModel(fingerprint):
                self._drop_model(fingerprint)
            case c.PutVectors():
                self._put_vectors(scope, change)

    def _put(self, scope: Scope | None, memory: c.Prepared) -> None:
        writable(scope, memory.record.key, f"Memory {memory.record.id}")
        for fingerprint, codes in memory.vectors.items():
            fitting(self._model(fingerprint), codes, f"Memory {memory.record.id}")
        self.memories[memory.record.id] = memory

    def _model(self, fingerprint: str) -> Model:
        if fingerprint not in self.models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store. Nothing was written.")
        return self.models[fingerprint][0]

    def _put_document(self, scope: Scope | None, change: c.PutDocument) -> None:
        document = change.document
        if document.source not in self.sources:
            raise NotFoundError(f"No source {document.source} is registered. Nothing was written.")
        if change.moved_from is not None:
            self.documents.pop((document.source, change.moved_from), None)
        self.documents[document.source, document.path] = document
        for memory in change.dropped:
            self.memories.pop(memory, None)
        for kept in change.kept:
            old = self.memories[kept.id]
            self.memories[kept.id] = replace(old, record=replace(old.record, place=kept.place))
        for memory in change.fresh:
            self._put(scope, memory)

    def _drop_document(self, source: str, path: str) -> None:
        self.documents.pop((source, path), None)
        for memory, kept in list(self.memories.items()):
            place = kept.record.place
            if place is not None and (place.source, place.path) == (source, path):
                del self.memories[memory]

    def _forget(self, scope: Scope | None, ids: tuple[str, ...]) -> None:
        for memory in ids:
            kept = self.memories.get(memory)
            if kept is not None and _sees(scope, kept.record.key):
                self.tombstones.add(tombstone_hash(self.secret, kept.record.content))
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
            self.memories[memory] = replace(kept, vectors={**kept.vectors, change.fingerprint: codes})
        for text, codes in change.texts.items():
            fitting(model, codes, "A cached text")
            self.cache[change.fingerprint, text] = codes


def _sees(scope: Scope | None, key: str) -> bool:
    return scope is None or key in scope.keys
