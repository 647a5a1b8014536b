"""Linker: connect memories by entities, similarity and topics.

Everything is done per visibility key: entities and edges found in a key's texts are stored under that key and judged
by what all its viewers see, so private memories never change what others see. A similarity edge is stored once, from
the memory that is connected later; stored memories that are not connected yet are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from scrubjay.categories.clustering import has_enough_words
from scrubjay.categories.topics import TopicAssigner
from scrubjay.entities.dictionary import (
    DictionaryCache,
    EntityDictionary,
    NameStats,
    cached_dictionary,
    earlier_mentions,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.records import DUE_EDGES, Record, Scope
from scrubjay.models.results import MICRO
from scrubjay.storage.changes import Change, PreparedMemory, PutConcept, PutEdges, QuantizedVectors
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.scoring import MAX_FLOAT32_DIMENSIONS, mean_directions, quantize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


T = TypeVar("T")

WIDENING: Final = 8
"""Factor by which a second query asks for more, if too many of the nearest memories cannot be joined."""
MAX_KNOWN: Final = 100_000
"""Candidates cached through one sync: 20 MB."""


@dataclass(frozen=True, slots=True)
class LinkingOptions:
    """How memories are connected.

    Attributes:
        stages: Any of ``concepts``, ``links``, ``similar`` and ``categories``.
        floor: Minimum cosine of two memories that are joined. With the static model, pairs of two documents of the Rust
            book share a subject at .75; in a handbook that joins any two tables.
        links: Maximum number of similar memories that a memory is joined with.
    """

    stages: tuple[str, ...]
    floor: float
    links: int


class SimilarityLinker:
    """Joins memories by their vectors, but no two passages of one document."""

    def __init__(self, fingerprint: str, options: LinkingOptions) -> None:
        self._fingerprint = fingerprint
        self._options = options
        # Source and path of each memory seen so far; None of one with too few words.
        self._documents: dict[str, tuple[str, str] | None] = {}

    def edges(
        self,
        reader: Reader,
        fresh: Sequence[PreparedMemory],
        at: int,
        *,
        beside: Sequence[PreparedMemory],
        unconnected: Mapping[str, str],
    ) -> list[Edge]:
        """Return similarity edges of some memories.

        Args:
            reader: A view of the memories' viewers: they share one visibility key.
            fresh: The memories.
            at: UTC microseconds of the edges.
            beside: Others that are connected with them, of wider keys.
            unconnected: Stored memories still to be connected, with their keys: those of the same key make their links
                themselves.
        """
        import numpy as np

        if len(self._documents) > MAX_KNOWN:
            self._documents.clear()
        self._add_documents([memory.record for memory in (*fresh, *beside)])
        comparable = self._comparable(fresh)
        if not comparable:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in comparable]
        queries = mean_directions(codes, codes[0].data.shape[1])
        others = [*comparable, *self._comparable(beside)]
        new_ids = {memory.record.id for memory in (*fresh, *beside)}
        neighbours = self._stored_neighbours(
            reader, [memory.record for memory in comparable], queries, new_ids, unconnected
        )
        micro = _cosines(queries, [memory.vectors[self._fingerprint] for memory in others])
        ids = np.array([memory.record.id for memory in others])
        documents = np.unique(["\n".join(self._documents[one] or ()) for one in ids], return_inverse=True)[1]
        near = (micro / MICRO >= self._options.floor) & (documents != documents[: len(comparable), None])
        # The later of two new memories makes the link.
        near[:, : len(comparable)] &= np.tri(len(comparable), k=-1, dtype=bool)
        has_near = near.any(axis=1)
        edges = []
        for place, memory in enumerate(comparable):
            if has_near[place]:
                rows = np.flatnonzero(near[place])
                order = np.lexsort((ids[rows], -micro[place, rows]))[: self._options.links]
                neighbours[place] |= {str(ids[row]): float(micro[place, row] / MICRO) for row in rows[order]}
            edges += self._best_edges(memory.record, neighbours[place], at)
        return edges

    def _comparable(self, memories: Sequence[PreparedMemory]) -> list[PreparedMemory]:
        return [
            m for m in memories if self._fingerprint in m.vectors and self._documents[m.record.id] is not None
        ]

    def _stored_neighbours(
        self,
        reader: Reader,
        records: Sequence[Record],
        queries: NDArray[np.float32],
        new_ids: set[str],
        unconnected: Mapping[str, str],
    ) -> list[dict[str, float]]:
        neighbours: list[dict[str, float]] = [{} for _ in records]
        if not reader.windows(self._fingerprint):
            return neighbours
        links, texts = self._options.links, [query.tobytes() for query in queries]
        limit, rows = links * 2, list(range(len(records)))
        for current_limit in (limit, limit * WIDENING):
            # Each vector once: equal texts have the same neighbours.
            first: dict[bytes, int] = {}
            for row in rows:
                first.setdefault(texts[row], row)
            unique = queries[list(first.values())]
            nearest = reader.nearest_batch(self._fingerprint, unique, current_limit, self._options.floor)
            hits = dict(zip(first, nearest, strict=True))
            unknown = {hit.id for nearby in nearest for hit in nearby} - self._documents.keys()
            self._add_documents(list(reader.get(list(unknown)).values()))
            incomplete = []
            for row in rows:
                nearby = hits[texts[row]]
                fitting = [
                    hit
                    for hit in nearby
                    if hit.id not in new_ids
                    and unconnected.get(hit.id) != records[row].key
                    and self._documents.get(hit.id) not in (None, self._documents[records[row].id])
                ]
                neighbours[row] = {hit.id: hit.score for hit in fitting}
                if len(nearby) == current_limit and len(fitting) < links:
                    incomplete.append(row)
            rows = incomplete
            if not rows:
                break
        return neighbours

    def _add_documents(self, records: Sequence[Record]) -> None:
        for record in records:
            place = record.place
            document = (place.source, place.path) if place is not None else ("", record.id)
            self._documents[record.id] = document if has_enough_words(record) else None

    def _best_edges(self, record: Record, scores: Mapping[str, float], at: int) -> list[Edge]:
        ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[: self._options.links]
        return [
            Edge(record.id, "similar", other, record.key, min(score, 1.0), at, rule="cosine")
            for other, score in ranked
        ]


def _cosines(queries: NDArray[np.float32], vectors: Sequence[QuantizedVectors]) -> NDArray[np.int64]:
    import numpy as np

    packed = [quantize(query) for query in queries]
    dtype = np.dtype(np.float32 if queries.shape[1] <= MAX_FLOAT32_DIMENSIONS else np.float64)
    rows = np.concatenate([codes.data for codes in vectors]).astype(dtype)
    scores = (np.stack([row for row, _ in packed]).astype(dtype) @ rows.T).astype(np.float64)
    scales = np.concatenate([codes.scales for codes in vectors]).astype(np.float64)
    scores *= scales * np.array([scale for _, scale in packed])[:, None]
    scores *= MICRO
    micro = np.rint(scores, out=scores).astype(np.int64)
    if len(rows) == len(vectors):
        return micro
    first = np.cumsum([0, *(len(codes.scales) for codes in vectors[:-1])])
    return np.maximum.reduceat(micro, first, axis=1)


DERIVED_EDGE_KINDS: Final = ("belongs", "references", "similar")
"""Kinds of edges that are rebuilt when a memory changes."""


class EdgeBuilder:
    """Builds the edges of memories that one call writes or connects.

    Attributes:
        linked: Entity references made.
        connected: Memories connected, by visibility key.
    """

    def __init__(
        self,
        store: Store,
        scope: Scope,
        fingerprint: str,
        dictionaries: DictionaryCache,
        options: LinkingOptions,
    ) -> None:
        self.stages = options.stages
        self._store = store
        self._scope = scope
        self._fingerprint = fingerprint
        self._secret = store.secret(scope)
        self._dictionaries = dictionaries
        self._cached_dictionaries: DictionaryCache = {}
        self._own_dictionaries: dict[str, EntityDictionary] = {}
        self._new_entities: dict[str, list[Entity]] = {}
        self._entity_changes: list[Change] = []
        self._earlier_mentions: list[Change] = []
        self._unconnected: dict[str, str] | None = None
        self._similarity = SimilarityLinker(fingerprint, options)
        self._topics: dict[str, TopicAssigner] = {}
        self.linked = 0
        self.connected: Counter[str] = Counter()

    @property
    def unconnected(self) -> dict[str, str]:
        """Stored memories that are not connected yet, with their keys."""
        if self._unconnected is None:
            with self._store.reader(self._scope) as reader:
                self._unconnected = {one.id: one.key for one in reader.due(DUE_EDGES)}
        return self._unconnected

    def add_entities(self, records: Sequence[Record], stored: Sequence[Record] = ()) -> None:
        """Discover the entities of memories, before their `changes`.

        Connected memories that mention a new entity are linked with the next `changes`. ``stored`` are those of
        ``records`` that exist already, as they are stored.
        """
        if "concepts" not in self.stages:
            return
        at = now_micros()
        for key, records_of_key in _group_by_key(records, lambda record: record.key).items():
            viewers = self._scope.seen_with(key)
            with self._store.reader(viewers) as reader:
                dictionary = self._dictionary(reader, key)
                excluded = self.unconnected | {record.id: record.key for record in stored}
                stats = NameStats(reader, excluded, self._count_connected(reader, viewers.keys, excluded))
                new = dictionary.discover(records_of_key, self._secret, key, at, stats.count)
            self._entity_changes += [PutConcept(concept, ()) for concept in new]
            if new:
                # Not in the shared cache: if the write fails, other calls must not use them.
                self._own_dictionaries[key] = dictionary.extended(new)
                self._new_entities.setdefault(key, []).extend(new)
                mark, shared = self._cached_dictionaries[key]
                shared.set_successor(
                    mark + len(self._new_entities[key]), self._new_entities[key], self._own_dictionaries[key]
                )
                self._link_earlier_mentions(new, key, at)

    def discard(self) -> None:
        """Drop the entities found in memories whose write was refused; the next attempt finds them again."""
        self._own_dictionaries, self._cached_dictionaries, self._new_entities = {}, {}, {}
        self._entity_changes, self._earlier_mentions = [], []
        self._unconnected, self._topics = None, {}

    def _count_connected(self, reader: Reader, keys: Sequence[str], excluded: Mapping[str, str]) -> int:
        return sum(map(reader.count_memories, keys)) - sum(key in keys for key in excluded.values())

    def changes(
        self, fresh: Sequence[PreparedMemory], renewed: Sequence[str]
    ) -> tuple[list[Change], list[Change]]:
        """Return the changes to write before these memories and after them, in the same transaction.

        ``renewed`` are the ids of those that may have edges already.
        """
        at = now_micros()
        edges: list[Edge] = []
        for key, memories in _group_by_key(fresh, lambda memory: memory.record.key).items():
            viewers = self._scope.seen_with(key)
            with self._store.reader(viewers) as reader:
                if "concepts" in self.stages:
                    dictionary = self._dictionary(reader, key)
                    references = [
                        edge for memory in memories for edge in dictionary.references(memory.record, at)
                    ]
                    self.linked += len(references)
                    edges += references
                if "similar" in self.stages:
                    beside = [m for m in fresh if m.record.key != key and m.record.key in viewers.keys]
                    edges += self._similarity.edges(
                        reader, memories, at, beside=beside, unconnected=self.unconnected
                    )
                if "categories" in self.stages:
                    edges += self._topic_edges(reader, key, memories, at)
            self.connected[key] += len(memories)
        for memory in fresh:
            self.unconnected.pop(memory.record.id, None)
        before, after = self._entity_changes, self._earlier_mentions
        self._entity_changes, self._earlier_mentions = [], []
        if renewed:  # similarity to the earlier text may no longer hold
            after.append(PutEdges((), tuple(renewed), ("similar",), inward=True))
        after.append(PutEdges(tuple(edges), tuple(renewed), DERIVED_EDGE_KINDS))
        return before, after

    def _dictionary(self, reader: Reader, key: str) -> EntityDictionary:
        if key not in self._own_dictionaries:
            self._own_dictionaries[key] = cached_dictionary(reader, key, self._dictionaries)
            self._cached_dictionaries[key] = reader.concept_mark(), self._own_dictionaries[key]
        return self._own_dictionaries[key]

    def _topic_edges(
        self, reader: Reader, key: str, memories: Sequence[PreparedMemory], at: int
    ) -> list[Edge]:
        if key not in self._topics:
            self._topics[key] = TopicAssigner.stored(reader, key, self._fingerprint)
        topics = self._topics[key]
        if not topics.topics:
            return []
        members = [m for m in memories if self._fingerprint in m.vectors and has_enough_words(m.record)]
        if not members:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in members]
        rows = mean_directions(codes, codes[0].data.shape[1])
        return topics.edges([memory.record for memory in members], rows, at)

    def _link_earlier_mentions(self, new: Sequence[Entity], key: str, at: int) -> None:
        dictionary = EntityDictionary(new)
        for own in self._scope.keys:
            viewers = self._scope.seen_with(own)
            if key not in viewers.keys:
                continue
            with self._store.reader(viewers) as reader:
                if not self._count_connected(reader, viewers.keys, self.unconnected):
                    continue
                mentions = [
                    r
                    for r in earlier_mentions(reader, new)
                    if own in (key, r.key) and r.id not in self.unconnected
                ]
            edges = tuple(edge for record in mentions for edge in dictionary.references(record, at, own))
            if edges:
                self.linked += len(edges)
                self._earlier_mentions.append(PutEdges(edges))


def _group_by_key(items: Iterable[T], key_of: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key_of(item), []).append(item)
    return groups
