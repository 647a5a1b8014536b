"""The reference store: slow, obvious and right. Every other store must answer as it does."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from reference_store.reader import ReferenceReader
from reference_store.state import TenantState
from scrubjay.errors import InputError, StoreBusyError
from scrubjay.models.graph import Category, Edge, Entity
from scrubjay.models.ids import text_hash
from scrubjay.models.lifecycle import ConsolidationRun, Event
from scrubjay.models.records import Document, Record, Scope, Source, UnrestrictedScope
from scrubjay.storage.changes import Change, PreparedMemory, PutProject, QuantizedVectors
from scrubjay.storage.interface import BATCH_ROWS, AlteredMemory, NoTenantIndex
from scrubjay.storage.quota import NO_QUOTA, Quota
from scrubjay.storage.scoring import MAX_TERM_COUNT
from scrubjay.storage.validation import check_rebuild_changes
from scrubjay.text.tokenizer import Terms

T = TypeVar("T")
KeyedRow = Record | Source | Entity | Category | Edge | Event | ConsolidationRun


class ReferenceTenantReader(ReferenceReader):
    """A view of one state for everyone."""

    def __init__(self, state: TenantState | None, tenant: str) -> None:
        self._there = state is not None
        state = state or TenantState()
        self.scope = UnrestrictedScope(tenant, "", (), _all_keys(state))
        super().__init__(state, self.scope)

    @property
    def secret(self) -> bytes | None:
        return self._state.secret if self._there else None

    def memories(self) -> Iterator[list[PreparedMemory]]:
        return _batches([_bound_term_counts(memory) for memory in self._state.memories.values()])

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        held = self._state.memories
        return {one: held[one].record.key for one in ids if one in held}

    def altered_memories(self) -> Iterator[tuple[int, list[AlteredMemory]]]:
        for piece in self.memories():
            bad = [one.record for one in piece if text_hash(one.record.content) != one.record.content_hash]
            stand = [(one.id, one.place) for one in bad]
            yield (
                len(piece),
                [AlteredMemory(i, at.source, at.path) if at else AlteredMemory(i) for i, at in stand],
            )

    def all_edges(self) -> Iterator[list[Edge]]:
        return _batches(list(self._state.graph.edges.values()))

    def all_events(self) -> Iterator[list[Event]]:
        """Yield every event, with another memory named where it is there."""
        held = self._state.memories
        told = [
            e if e.other in held else replace(e, other=None)
            for e in self._state.life.events
            if e.memory in held
        ]
        return _batches(told)

    def all_cached_texts(self) -> Iterator[tuple[str, dict[str, QuantizedVectors]]]:
        for (fingerprint, text), codes in self._state.cache.items():
            yield fingerprint, {text: codes}

    def tombstones(self) -> Iterator[list[str]]:
        return _batches(sorted(self._state.tombstones))

    def all_projects(self) -> list[PutProject]:
        named = self._state.graph.projects.items()
        found = [PutProject(place, name, key) for (place, key), name in named]
        return sorted(found, key=lambda one: (one.key, one.place))


def _all_keys(state: TenantState) -> tuple[str, ...]:
    graph, life = state.graph, state.life
    kept: list[Iterable[KeyedRow]] = [
        (memory.record for memory in state.memories.values()), state.sources.values(), graph.concepts.values(),
        graph.categories.values(), graph.edges.values(), life.events, life.runs.values(),
    ]  # fmt: skip
    named = {key for _, key in graph.projects}
    return tuple(sorted(named | {one.key for rows in kept for one in rows}))


def _bound_term_counts(memory: PreparedMemory) -> PreparedMemory:
    counts = {term: min(times, MAX_TERM_COUNT) for term, times in memory.terms.counts.items()}
    return replace(memory, terms=Terms(counts, memory.terms.length))


def _batches(rows: Sequence[T]) -> Iterator[list[T]]:
    for first in range(0, len(rows), BATCH_ROWS):
        yield list(rows[first : first + BATCH_ROWS])


class ReferenceStore(NoTenantIndex):
    """All tenants of one process, forgotten when it ends."""

    url = "memory://"

    def __init__(self, secret: bytes | None = None, quota: Quota = NO_QUOTA) -> None:
        self.quota = quota
        self._tenants: dict[str, TenantState] = {}
        self._secret = secret
        self._lock = threading.RLock()
        self._alone: dict[tuple[str, str], threading.Lock] = {}

    def __deepcopy__(self, _: object) -> ReferenceStore:
        """Return a store of the same states: a write replaces one, and changes none."""
        other = ReferenceStore(self._secret, self.quota)
        other._tenants = dict(self._tenants)
        return other

    def _tenant(self, scope: Scope) -> TenantState:
        if scope.tenant not in self._tenants:
            self._tenants[scope.tenant] = TenantState() if self._secret is None else TenantState(self._secret)
        return self._tenants[scope.tenant]

    def memory_counts(self, tenant: str) -> Mapping[str, int]:
        with self._lock:
            return _count_by_key(self._tenants.get(tenant))

    def secret(self, scope: Scope) -> bytes:
        with self._lock:
            return self._tenant(scope).secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[ReferenceReader]:
        with self._lock:
            state = self._tenant(scope)
        yield ReferenceReader(state, scope)

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        """Apply all of these changes, or none. ``durable`` asks nothing more of memory."""
        if not self._lock.acquire(timeout=-1 if patience is None else patience):
            raise StoreBusyError("Another thread writes. Nothing was written.", hint="try again")
        try:
            state = self._tenant(scope).copy()
            for change in changes:
                state.apply(scope, change)
            if self.quota:
                gained = _count_by_key(state)
                gained.subtract(self.memory_counts(scope.tenant))
                self.quota.check(scope.tenant, _count_by_key(state), gained, changes)
            self._tenants[scope.tenant] = state
        finally:
            self._lock.release()

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        free = self._lock.acquire(timeout=patience)
        if free:
            self._lock.release()
        return not free

    @contextmanager
    def try_exclusive(self, scope: Scope, name: str) -> Iterator[bool]:
        with self._lock:
            held = self._alone.setdefault((scope.tenant, name), threading.Lock())
        free = held.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                held.release()

    def tenants(self) -> list[str]:
        with self._lock:
            return sorted(self._tenants)

    @contextmanager
    def tenant_reader(self, tenant: str) -> Iterator[ReferenceTenantReader]:
        with self._lock:
            state = self._tenants.get(tenant)
        yield ReferenceTenantReader(state, tenant)

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[ReferenceRebuild]:
        """Fill the next generation, then flip to it. Other writers wait."""
        with self._lock:
            rebuild = ReferenceRebuild(self._tenant(scope))
            yield rebuild
            rebuild.fresh.graph.hold(rebuild.fresh.memories)
            rebuild.fresh.life.lose(set(rebuild.old.memories) - set(rebuild.fresh.memories))
            self._tenants[scope.tenant] = rebuild.fresh

    def backup(self, file: Path) -> None:
        """Refuse: there is no file to copy."""
        raise InputError(
            "memory:// has no file that could be copied. Nothing was written.",
            hint="`scrubjay export` writes its memories",
        )

    def vacuum(self) -> None:
        """Do nothing: there is no file."""

    def size(self) -> int:
        """Return 0: nothing is on disk."""
        return 0

    def check_writable(self) -> None:
        """Memory is always writable."""

    def row_security_warning(self) -> str:
        """Return nothing: whoever is in this process reaches all of it."""
        return ""

    def close(self) -> None:
        """Nothing to let go of."""


class ReferenceRebuild:
    """The state of the next generation beside the one that answers."""

    def __init__(self, state: TenantState) -> None:
        self.old = state
        self.fresh = state.copy()
        self.fresh.memories = {}
        self.fresh.documents = {}

    def documents(self) -> list[Document]:
        return [document for _, document in sorted(self.old.documents.items())]

    def passages(self, document: Document) -> list[PreparedMemory]:
        found = [
            _without_term_counts(m) for m in self.old.memories.values() if _is_part_of(m.record, document)
        ]
        return sorted(found, key=lambda memory: (_ordinal(memory), memory.record.id))

    def additions(self) -> list[PreparedMemory]:
        return [_without_term_counts(m) for m in self.old.memories.values() if m.record.place is None]

    def write(self, changes: Sequence[Change]) -> None:
        check_rebuild_changes(changes)
        for change in changes:
            self.fresh.apply(None, change)


def _count_by_key(state: TenantState | None) -> Counter[str]:
    return Counter(memory.record.key for memory in state.memories.values()) if state else Counter()


def _is_part_of(record: Record, document: Document) -> bool:
    place = record.place
    return place is not None and (place.source, place.path) == (document.source, document.path)


def _without_term_counts(memory: PreparedMemory) -> PreparedMemory:
    return replace(memory, terms=Terms({}, 0))


def _ordinal(memory: PreparedMemory) -> int:
    return memory.record.place.ordinal if memory.record.place is not None else 0
