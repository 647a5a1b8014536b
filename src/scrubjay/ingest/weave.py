"""Weave: memories that are about to be written -> what connects them.

Concepts are found and linked, and each memory is joined with what tells of the same and put under its topic.
All of it is done key by key: what the text of one visibility key teaches is kept under that key, and judged by
what everybody sees who sees that key. So nothing that a person writes for themselves moves what others see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from scrubjay.ingest.directions import directions
from scrubjay.ingest.lexicon import Lexicon, Lexicons, lexicon
from scrubjay.ingest.shelve import Shelves
from scrubjay.ingest.similar import Nearness, Neighbours
from scrubjay.ingest.told import Before, earlier
from scrubjay.ingest.worth import worth
from scrubjay.memory.concepts import Concept
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import Change, Prepared, PutConcept, PutEdges

FOUND: Final = ("belongs", "references", "similar")
"""Kinds of edges that are made anew with every change of a memory."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is done to connect memories.

    Attributes:
        stages: Any of ``concepts``, ``links`` (by name), ``similar``, ``categories``.
        nearness: When two memories are joined by likeness.
    """

    stages: tuple[str, ...] = ("concepts", "links", "similar", "categories")
    nearness: Nearness = field(default_factory=Nearness)


EVERYTHING: Final = Wish()


class Weaver:
    """Connects what one call writes.

    Attributes:
        linked: Concepts that memories were found to refer to, counted once a memory.
        written: Visibility key to memories that were connected.
    """

    def __init__(
        self, store: Store, scope: Scope, fingerprint: str, lexicons: Lexicons, wish: Wish = EVERYTHING
    ) -> None:
        """Args: where to, who writes, the base model whose vectors tell what is alike, what is known, what to do."""
        self._wish = wish
        self._store = store
        self._scope = scope
        self._fingerprint = fingerprint
        self._secret = store.secret(scope)
        self._lexicons = lexicons
        self._shared: Lexicons = {}
        self._words: dict[str, Lexicon] = {}
        self._taught: dict[str, list[Concept]] = {}
        self._concepts: list[Change] = []
        self._earlier: list[Change] = []
        self._last: tuple[list[Change], list[Change]] = ([], [])
        self._neighbours = Neighbours(fingerprint, wish.nearness)
        self._shelves: dict[str, Shelves] = {}
        self.linked = 0
        self.written: Counter[str] = Counter()

    @property
    def stages(self) -> tuple[str, ...]:
        """What is done."""
        return self._wish.stages

    def learn(self, records: Sequence[Record], stored: Collection[str] = ()) -> None:
        """Find the concepts of memories that are about to be written, a window of them at a time.

        Memories that were written before and name one of them are linked with the next `changes`.

        Args:
            records: The memories.
            stored: Ids of those of them that are there already, as they are or as they were.
        """
        if "concepts" not in self._wish.stages:
            return
        at = now_micros()
        for key, same in _by_key(records).items():
            with self._store.reader(self._scope.seen_with(key)) as reader:
                words = self._known(reader, key)
                before = list(reader.get([r.id for r in same if r.id in stored]).values()) if stored else []
                new = words.taught(same, self._secret, key, at, Before(reader, before).count)
            self._concepts += [PutConcept(concept) for concept in new]
            if new:
                # The call's own: should the write fail, nobody else takes them for known.
                self._words[key] = words.grown(new)
                self._taught.setdefault(key, []).extend(new)
                mark, shared = self._shared[key]
                shared.promise(mark + len(self._taught[key]), self._taught[key], self._words[key])
                self._look_back(new, key, at)

    def changes(
        self, fresh: Sequence[Prepared], renewed: Sequence[str], *, again: bool = False
    ) -> tuple[list[Change], list[Change]]:
        """Return what to write before these memories, and what after them, in the same transaction.

        Args:
            fresh: Memories that are about to be written, with their vectors.
            renewed: Ids of those that replace an earlier text of theirs.
            again: They are stored as they are, and all memories are connected anew in the order of their ids.
        """
        at = now_micros()
        edges: list[Edge] = []
        for key, same in _by_key_prepared(fresh).items():
            viewers = self._scope.seen_with(key)
            with self._store.reader(viewers) as reader:
                if "concepts" in self._wish.stages:
                    edges += self._references(reader, key, same, at)
                if "similar" in self._wish.stages:
                    beside = [m for m in fresh if m.record.key != key and m.record.key in viewers.keys]
                    edges += self._neighbours.similar(reader, same, at, beside=beside, again=again)
                if "categories" in self._wish.stages:
                    edges += self._belongs(reader, key, same, at)
            self.written[key] += len(same)
        before, after = self._concepts, self._earlier
        self._last = list(before), list(after)
        self._concepts, self._earlier = [], []
        if renewed:  # what others said of the earlier text may no longer hold
            after.append(PutEdges((), tuple(renewed), ("similar",), inward=True))
        after.append(PutEdges(tuple(edges), tuple(renewed), FOUND))
        return before, after

    def refused(self) -> None:
        """Keep for the next write what was to go with one that was refused: who comes next may name the same."""
        concepts, earlier = self._last
        self._concepts, self._earlier = [*concepts, *self._concepts], [*earlier, *self._earlier]
        self._last = [], []

    def _known(self, reader: Reader, key: str) -> Lexicon:
        if key not in self._words:
            self._words[key] = lexicon(reader, key, self._lexicons)
            self._shared[key] = reader.concept_mark(), self._words[key]
        return self._words[key]

    def _references(self, reader: Reader, key: str, same: Sequence[Prepared], at: int) -> list[Edge]:
        words = self._known(reader, key)
        named = [edge for memory in same for edge in words.references(memory.record, at)]
        self.linked += len(named)
        return named

    def _belongs(self, reader: Reader, key: str, same: Sequence[Prepared], at: int) -> list[Edge]:
        if key not in self._shelves:
            self._shelves[key] = Shelves.standing(reader, key, self._fingerprint)
        shelves = self._shelves[key]
        about = (
            [m for m in same if self._fingerprint in m.vectors and worth(m.record)] if shelves.topics else []
        )
        if not about:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in about]
        rows = directions(codes, codes[0].data.shape[1])
        return shelves.edges([memory.record for memory in about], rows, at)

    def _look_back(self, new: Sequence[Concept], key: str, at: int) -> None:
        """Link the stored memories that name new concepts: those that all see who know them, and the writer's own."""
        words = Lexicon(new)
        for own in self._scope.keys:
            viewers = self._scope.seen_with(own)
            if key not in viewers.keys:
                continue
            with self._store.reader(viewers) as reader:
                found = [r for r in earlier(reader, new) if own in (key, r.key)]
            edges = tuple(edge for record in found for edge in words.references(record, at, own))
            if edges:
                self.linked += len(edges)
                self._earlier.append(PutEdges(edges))


def _by_key(records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.key, []).append(record)
    return found


def _by_key_prepared(memories: Sequence[Prepared]) -> dict[str, list[Prepared]]:
    found: dict[str, list[Prepared]] = {}
    for memory in memories:
        found.setdefault(memory.record.key, []).append(memory)
    return found
