"""Whole: all that one tenant has, in the reference store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from scrubjay.memory.categories import Category
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import text_hash
from scrubjay.memory.records import Record, Source
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Everyone
from scrubjay.store.changes import Codes, Prepared, PutProject
from scrubjay.store.inmemory.reader import InMemoryReader
from scrubjay.store.inmemory.state import State
from scrubjay.store.score import MOST_COUNTED
from scrubjay.store.whole import PIECE, Altered
from scrubjay.text.tokens import Terms

T = TypeVar("T")
Keyed = Record | Source | Concept | Category | Edge | Event | Run


class InMemoryWhole(InMemoryReader):
    """A view of one state for everyone."""

    def __init__(self, state: State | None, tenant: str) -> None:
        self._there = state is not None
        state = state or State()
        self.scope = Everyone(tenant, "", (), _keys(state))
        super().__init__(state, self.scope)

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones."""
        return self._state.secret if self._there else None

    def memories(self) -> Iterator[list[Prepared]]:
        """Yield every memory."""
        return _pieces([_bounded(memory) for memory in self._state.memories.values()])

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility keys of memories."""
        held = self._state.memories
        return {one: held[one].record.key for one in ids if one in held}

    def altered(self) -> Iterator[tuple[int, list[Altered]]]:
        """Yield memories looked at, with those whose text has another hash."""
        for piece in self.memories():
            bad = [one.record for one in piece if text_hash(one.record.content) != one.record.content_hash]
            stand = [(one.id, one.place) for one in bad]
            yield len(piece), [Altered(i, at.source, at.path) if at else Altered(i) for i, at in stand]

    def connections(self) -> Iterator[list[Edge]]:
        """Yield every edge."""
        return _pieces(list(self._state.graph.edges.values()))

    def past(self) -> Iterator[list[Event]]:
        """Yield every event, with another memory named where it is there."""
        held = self._state.memories
        told = [e if e.other in held else replace(e, other=None) for e in self._state.life.events]
        return _pieces(told)

    def texts(self) -> Iterator[tuple[str, dict[str, Codes]]]:
        """Yield cached texts."""
        for (fingerprint, text), codes in self._state.cache.items():
            yield fingerprint, {text: codes}

    def tombstones(self) -> Iterator[list[str]]:
        """Yield tombstones."""
        return _pieces(sorted(self._state.tombstones))

    def places(self) -> list[PutProject]:
        """Return projects by key and place."""
        named = self._state.graph.projects.items()
        found = [PutProject(place, name, key) for (place, key), name in named]
        return sorted(found, key=lambda one: (one.key, one.place))


def _keys(state: State) -> tuple[str, ...]:
    graph, life = state.graph, state.life
    kept: list[Iterable[Keyed]] = [
        (memory.record for memory in state.memories.values()), state.sources.values(), graph.concepts.values(),
        graph.categories.values(), graph.edges.values(), life.events, life.runs.values(),
    ]  # fmt: skip
    named = {key for _, key in graph.projects}
    return tuple(sorted(named | {one.key for rows in kept for one in rows}))


def _bounded(memory: Prepared) -> Prepared:
    counts = {term: min(times, MOST_COUNTED) for term, times in memory.terms.counts.items()}
    return replace(memory, terms=Terms(counts, memory.terms.length))


def _pieces(rows: Sequence[T]) -> Iterator[list[T]]:
    for first in range(0, len(rows), PIECE):
        yield list(rows[first : first + PIECE])
