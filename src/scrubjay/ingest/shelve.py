"""Shelve: memories with vectors -> the edges that put each under the topic it is near enough to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Self

from scrubjay.ingest.directions import unit
from scrubjay.ingest.topics.join import join
from scrubjay.memory.categories import Category
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGITS: Final = 3
"""Of how near a memory is to its topic: the last bits of a product differ with what else is in the batch."""


class Shelves:
    """Topics of one key, ready for memories to be put under."""

    def __init__(self, topics: Sequence[Category], sizes: Sequence[int]) -> None:
        """Args: topics with a centroid, of one model; how many memories each holds."""
        import numpy as np

        self._topics = topics
        self._sizes = sizes
        rows = [np.frombuffer(topic.centroid, np.int8).astype(np.float32) for topic in topics]
        self._centroids = unit(np.stack(rows)) if rows else np.zeros((0, 0), np.float32)

    @classmethod
    def standing(cls, reader: Reader, key: str, fingerprint: str) -> Self:
        """Return the topics of a key as they are stored, those that were found with one model."""
        known = [c for c in reader.categories() if (c.key, c.kind, c.model) == (key, "topic", fingerprint)]
        sizes = reader.degrees("belongs", [c.id for c in known]) if known else {}
        return cls(known, [sizes.get(c.id, 0) for c in known])

    @property
    def topics(self) -> Sequence[Category]:
        """The topics, by id."""
        return self._topics

    def edges(self, records: Sequence[Record], vectors: NDArray[np.float32], at: int) -> list[Edge]:
        """Return the edge of each memory to its topic, of those that are near enough to one.

        Args:
            records: The memories.
            vectors: The direction of each, unit rows, zeros for one that has no topic.
            at: UTC microseconds of the edges.
        """
        if not self._topics or not records:
            return []
        found = []
        for row, topic in enumerate(join(vectors, self._centroids, self._sizes)):
            if topic >= 0:
                near = float(vectors[row] @ self._centroids[topic])
                weight = round(min(max(near, 0.0), 1.0), DIGITS)
                record = records[row]
                found.append(
                    Edge(record.id, "belongs", self._topics[topic].id, record.key, weight, at, rule="topic")
                )
        return found
