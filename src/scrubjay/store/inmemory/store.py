"""The reference store: slow, obvious and right. Every other store must answer as it does."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.errors import ModelMismatchError, NotFoundError
from scrubjay.memory.ranking import Hit, rounded
from scrubjay.memory.records import Document, Record, Source, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Counts, Coverage, Head, ModelState, Waiting
from scrubjay.store.changes import Change, Codes, Prepared
from scrubjay.store.inmemory.state import State
from scrubjay.store.paths import path_passes
from scrubjay.store.scope_check import of_a_generation
from scrubjay.store.score import MOST_COUNTED, idf, quantised, saturation
from scrubjay.text.grams import nearest
from scrubjay.text.tokens import Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.tokens import TermGroup


@dataclass(frozen=True, slots=True)
class ListScored:
    """Scores of all visible memories, as a dictionary."""

    scores: Mapping[str, float]
    found: frozenset[str]
    blank: float | None
    visible: frozenset[str]
    terms: Mapping[str, tuple[float, ...]]
    frequencies: tuple[int, ...] = ()

    @property
    def memories(self) -> int:
        """How many memories are visible."""
        return len(self.visible)

    @property
    def covered(self) -> int:
        """How many memories the channel can score."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """Mean score over the covered."""
        return math.fsum(self.scores.values()) / len(self.scores) if self.scores else 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation over the covered."""
        if not self.scores:
            return 0.0
        mean = self.mean
        return math.sqrt(math.fsum((score - mean) ** 2 for score in self.scores.values()) / len(self.scores))

    def top(self, limit: int) -> list[Hit]:
        """Return the best memories that pass the filter."""
        hits = [Hit(memory, rounded(self.scores[memory])) for memory in self.found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id."""
        return [rounded(self.scores[i]) if i in self.scores else None for i in ids]

    def parts(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what each term group added to a memory."""
        return [self.terms.get(i, tuple(0.0 for _ in self.frequencies)) for i in ids]


class InMemoryReader:
    """A view of one state for one scope."""

    def __init__(self, state: State, scope: Scope) -> None:
        self._state = state
        self._visible = {i: m for i, m in state.memories.items() if m.record.key in scope.keys}
        self._sources = {i: s for i, s in state.sources.items() if s.key in scope.keys}

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""
        return sorted(self._sources.values(), key=lambda source: (source.root, source.id))

    def documents(self, source: str) -> dict[str, Document]:
        """Return a source's documents by path."""
        if source not in self._sources:
            return {}
        return {path: d for (owner, path), d in sorted(self._state.documents.items()) if owner == source}

    def held(self, sources: Sequence[str]) -> int:
        """Return how many visible passages these sources' documents hold."""
        places = [m.record.place for m in self._visible.values()]
        return sum(1 for place in places if place is not None and place.source in sources)

    def passages(self, source: str, path: str) -> list[Record]:
        """Return a document's passages in order."""
        found = [
            (m.record.place.ordinal, m.record)
            for m in self._visible.values()
            if m.record.place is not None and (m.record.place.source, m.record.place.path) == (source, path)
        ]
        return [record for _, record in sorted(found, key=lambda pair: (pair[0], pair[1].id))]

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these ids."""
        return {i: self._visible[i].record for i in ids if i in self._visible}

    def heads(self, ids: Sequence[str]) -> dict[str, Head]:
        """Return title and length of memories."""
        held = {i: self._visible[i] for i in ids if i in self._visible}
        return {
            i: Head(m.record.title, m.terms.length, m.record.turn is not None, m.record.role)
            for i, m in held.items()
        }

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the turns just before and after each turn of a session."""
        turns: dict[tuple[str, int], list[str]] = {}
        for i, m in sorted(self._visible.items()):
            if m.record.session is not None and m.record.turn is not None:
                turns.setdefault((m.record.session, m.record.turn), []).append(i)
        found = {}
        for i in ids:
            record = self._visible[i].record if i in self._visible else None
            if record is None or record.session is None or record.turn is None:
                continue
            before, after = ((record.session, record.turn + step) for step in (-1, 1))
            near = (*turns.get(before, ()), *turns.get(after, ()))
            if near:
                found[i] = near
        return found

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with a prefix."""
        return sorted(i for i in self._visible if i.startswith(prefix))[:limit]

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return the df of each group."""
        return [sum(1 for m in self._visible.values() if _tf(m, group)) for group in groups]

    def words(self, groups: Sequence[TermGroup], where: Where) -> ListScored:
        """Score by BM25."""
        total = len(self._visible)
        length = sum(m.terms.length for m in self._visible.values())
        average = length / total if length else 1.0
        df = self.frequencies(groups)
        parts: dict[str, tuple[float, ...]] = {}
        for i, memory in self._visible.items():
            parts[i] = tuple(
                idf(total, n) * saturation(float(_tf(memory, group)), float(memory.terms.length), average)
                for group, n in zip(groups, df, strict=True)
            )
        scores = {i: _sum(values) for i, values in parts.items()}
        found = frozenset(i for i, score in scores.items() if score > 0 and self._passes(i, where))
        return ListScored(scores, found, 0.0, frozenset(self._visible), parts, tuple(df))

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: Where) -> ListScored:
        """Score by cosine with the best window."""
        if fingerprint not in self._state.models:
            raise NotFoundError(f"No model {fingerprint} is registered in this store.")
        model, _ = self._state.models[fingerprint]
        if query.shape != (model.dimensions,):
            raise ModelMismatchError(
                f"The query has {query.shape[-1]} dimensions; {model.name} makes {model.dimensions}."
            )
        codes, scale = quantised(query)
        whole = [int(x) for x in codes]
        scores = {
            i: _best_window(whole, scale, m.vectors[fingerprint])
            for i, m in self._visible.items()
            if fingerprint in m.vectors
        }
        found = frozenset(i for i in scores if self._passes(i, where))
        return ListScored(scores, found, None, frozenset(self._visible), {})

    def _passes(self, memory: str, where: Where) -> bool:
        return passes(self._visible[memory].record, where)

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories."""
        return tuple(sorted({m.language for m in self._visible.values()}))

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return visible terms spelled like a word."""
        vocabulary = {term for m in self._visible.values() for term in m.terms.counts if term != word}
        return list(nearest(word, vocabulary, limit))

    def models(self) -> list[ModelState]:
        """Return the registered models."""
        found = [ModelState(model, state) for model, state in self._state.models.values()]
        return sorted(found, key=lambda s: (s.model.name, s.model.fingerprint))

    def coverage(self, fingerprint: str) -> Coverage:
        """Return how many visible memories have a model's vectors, and how many wait."""
        covered = sum(1 for m in self._visible.values() if fingerprint in m.vectors)
        return Coverage(covered, len(self._visible) - covered)

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model."""
        held = [m.vectors[fingerprint] for m in self._visible.values() if fingerprint in m.vectors]
        return sum(len(codes.scales) for codes in held)

    def waiting(self, fingerprint: str, limit: int) -> list[Waiting]:
        """Return memories without a model's vectors, in hash order."""
        missing = [m.record for m in self._visible.values() if fingerprint not in m.vectors]
        missing.sort(key=lambda record: (record.id.partition("_")[2], record.id))
        return [Waiting(record, self._before(record)) for record in missing[:limit]]

    def _before(self, record: Record) -> str:
        if record.place is None:
            return ""
        for other in self.passages(record.place.source, record.place.path):
            near = other.place is not None and other.place.ordinal == record.place.ordinal - 1
            if near and other.heading_path == record.heading_path:
                return other.content
        return ""

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
        """Return windows of texts embedded before."""
        cache = self._state.cache
        return {text: cache[fingerprint, text] for text in hashes if (fingerprint, text) in cache}

    def forgotten(self, hashes: Sequence[str]) -> set[str]:
        """Return those of these tombstone hashes that were forgotten."""
        return self._state.tombstones & set(hashes)

    def counts(self) -> Counts:
        """Return what the scope holds."""
        records = [m.record for m in self._visible.values()]
        documents = sum(1 for source, _ in self._state.documents if source in self._sources)
        return Counts(
            len(records),
            dict(sorted(Counter(r.tier for r in records).items())),
            dict(sorted(Counter(r.status for r in records).items())),
            documents,
            len(self._sources),
        )

    def versions(self) -> Versions | None:
        """Return the versions that made the memories."""
        return self._state.versions


def passes(record: Record, where: Where) -> bool:
    """Return whether a memory passes a filter."""
    at = record.event.start if record.event is not None else record.recorded_at
    place = record.place
    return (
        record.status in where.statuses
        and (not where.tiers or record.tier in where.tiers)
        and set(where.tags) <= set(record.tags)
        and (where.since is None or at >= where.since)
        and (where.until is None or at < where.until)
        and (not where.sources or (place is not None and place.source in where.sources))
        and (not where.path or (place is not None and path_passes(place.path, where.path)))
    )


def _tf(memory: Prepared, group: TermGroup) -> int:
    return min(max((memory.terms.counts.get(form, 0) for form in group.forms), default=0), MOST_COUNTED)


def _sum(values: Sequence[float]) -> float:
    total = 0.0
    for value in values:  # in the groups' order, as every store adds them
        total += value
    return total


def _best_window(query: list[int], scale: float, codes: Codes) -> float:
    rows: Iterable[tuple[list[int], float]] = zip(codes.data.tolist(), codes.scales.tolist(), strict=True)
    return max(sum(a * b for a, b in zip(query, row, strict=True)) * (s * scale) for row, s in rows)


class InMemoryStore:
    """All tenants of one process, forgotten when it ends."""

    url = "memory://"

    def __init__(self, secret: bytes | None = None) -> None:
        self._tenants: dict[str, State] = {}
        self._secret = secret
        self._lock = threading.RLock()

    def _tenant(self, scope: Scope) -> State:
        if scope.tenant not in self._tenants:
            self._tenants[scope.tenant] = State() if self._secret is None else State(self._secret)
        return self._tenants[scope.tenant]

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

    def write(self, scope: Scope, changes: Sequence[Change], *, durable: bool = False) -> None:
        """Apply all of these changes, or none. ``durable`` asks nothing more of memory."""
        with self._lock:
            state = self._tenant(scope).copy()
            for change in changes:
                state.apply(scope, change)
            self._tenants[scope.tenant] = state

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        """Return whether another thread writes."""
        free = self._lock.acquire(timeout=patience)
        if free:
            self._lock.release()
        return not free

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[InMemoryRebuild]:
        """Fill the next generation, then flip to it. Other writers wait."""
        with self._lock:
            rebuild = InMemoryRebuild(self._tenant(scope))
            yield rebuild
            self._tenants[scope.tenant] = rebuild.fresh

    def size(self) -> int:
        """Return 0: nothing is on disk."""
        return 0

    def close(self) -> None:
        """Nothing to let go of."""


class InMemoryRebuild:
    """The state of the next generation beside the one that answers."""

    def __init__(self, state: State) -> None:
        self._old = state
        self.fresh = state.copy()
        self.fresh.memories = {}
        self.fresh.documents = {}

    def documents(self) -> list[Document]:
        """Return the documents of the generation that answers."""
        return [document for _, document in sorted(self._old.documents.items())]

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they were stored, in order."""
        found = [_uncounted(m) for m in self._old.memories.values() if _stands_in(m.record, document)]
        return sorted(found, key=lambda memory: (_ordinal(memory), memory.record.id))

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document."""
        return [_uncounted(m) for m in self._old.memories.values() if m.record.place is None]

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the next generation."""
        of_a_generation(changes)
        for change in changes:
            self.fresh.apply(None, change)


def _stands_in(record: Record, document: Document) -> bool:
    place = record.place
    return place is not None and (place.source, place.path) == (document.source, document.path)


def _uncounted(memory: Prepared) -> Prepared:
    return replace(memory, terms=Terms({}, 0))


def _ordinal(memory: Prepared) -> int:
    return memory.record.place.ordinal if memory.record.place is not None else 0
