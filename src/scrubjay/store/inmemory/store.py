"""The reference store: slow, obvious and right. Every other store must answer as it does."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scrubjay.errors import InputError, StoreBusyError
from scrubjay.memory.records import Document, Record
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Change, Prepared
from scrubjay.store.enough import Enough
from scrubjay.store.inmemory.reader import InMemoryReader
from scrubjay.store.inmemory.state import State
from scrubjay.store.inmemory.whole import InMemoryWhole
from scrubjay.store.quota import ANY, Quota
from scrubjay.store.scope_check import of_a_generation
from scrubjay.text.tokens import Terms


class InMemoryStore(Enough):
    """All tenants of one process, forgotten when it ends."""

    url = "memory://"

    def __init__(self, secret: bytes | None = None, quota: Quota = ANY) -> None:
        self.quota = quota
        self._tenants: dict[str, State] = {}
        self._secret = secret
        self._lock = threading.RLock()
        self._alone: dict[tuple[str, str], threading.Lock] = {}

    def _tenant(self, scope: Scope) -> State:
        if scope.tenant not in self._tenants:
            self._tenants[scope.tenant] = State() if self._secret is None else State(self._secret)
        return self._tenants[scope.tenant]

    def held(self, tenant: str) -> Mapping[str, int]:
        """Return visibility key to number of memories."""
        with self._lock:
            return _amounts(self._tenants.get(tenant))

    def secret(self, scope: Scope) -> bytes:
        """Return the tenant's key for ids and tombstones."""
        with self._lock:
            return self._tenant(scope).secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[InMemoryReader]:
        """Open a consistent view."""
        with self._lock:
            state = self._tenant(scope)
        yield InMemoryReader(state, scope)

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
                gained = _amounts(state)
                gained.subtract(self.held(scope.tenant))
                self.quota.admit(scope.tenant, _amounts(state), gained, changes)
            self._tenants[scope.tenant] = state
        finally:
            self._lock.release()

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        """Return whether another thread writes."""
        free = self._lock.acquire(timeout=patience)
        if free:
            self._lock.release()
        return not free

    @contextmanager
    def alone(self, scope: Scope, name: str) -> Iterator[bool]:
        """Tell whether no other thread holds a name."""
        with self._lock:
            held = self._alone.setdefault((scope.tenant, name), threading.Lock())
        free = held.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                held.release()

    def tenants(self) -> list[str]:
        """Return the names of all tenants."""
        with self._lock:
            return sorted(self._tenants)

    @contextmanager
    def whole(self, tenant: str) -> Iterator[InMemoryWhole]:
        """Open a consistent view of all that a tenant has."""
        with self._lock:
            state = self._tenants.get(tenant)
        yield InMemoryWhole(state, tenant)

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[InMemoryRebuild]:
        """Fill the next generation, then flip to it. Other writers wait."""
        with self._lock:
            rebuild = InMemoryRebuild(self._tenant(scope))
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

    def unguarded(self) -> str:
        """Return nothing: whoever is in this process reaches all of it."""
        return ""

    def close(self) -> None:
        """Nothing to let go of."""


class InMemoryRebuild:
    """The state of the next generation beside the one that answers."""

    def __init__(self, state: State) -> None:
        self.old = state
        self.fresh = state.copy()
        self.fresh.memories = {}
        self.fresh.documents = {}

    def documents(self) -> list[Document]:
        """Return the documents of the generation that answers."""
        return [document for _, document in sorted(self.old.documents.items())]

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they were stored, in order."""
        found = [_uncounted(m) for m in self.old.memories.values() if _stands_in(m.record, document)]
        return sorted(found, key=lambda memory: (_ordinal(memory), memory.record.id))

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document."""
        return [_uncounted(m) for m in self.old.memories.values() if m.record.place is None]

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the next generation."""
        of_a_generation(changes)
        for change in changes:
            self.fresh.apply(None, change)


def _amounts(state: State | None) -> Counter[str]:
    return Counter(memory.record.key for memory in state.memories.values()) if state else Counter()


def _stands_in(record: Record, document: Document) -> bool:
    place = record.place
    return place is not None and (place.source, place.path) == (document.source, document.path)


def _uncounted(memory: Prepared) -> Prepared:
    return replace(memory, terms=Terms({}, 0))


def _ordinal(memory: Prepared) -> int:
    return memory.record.place.ordinal if memory.record.place is not None else 0
