"""Grow: standing topics + new memories -> who joins which topic, centroids that moved, topics that are born.

Nothing that stands is renamed, split or taken away: that is for ``build``. Who joins is decided by the
centroids as they were before the batch, so the order within it changes nothing. What joins none waits; once
enough wait that are as near to each other as members of a topic are, they become one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from scrubjay.ingest.topics.build import describe
from scrubjay.ingest.topics.cluster import groups_of, least, sample
from scrubjay.ingest.topics.join import join, middle_of, nearness
from scrubjay.ingest.topics.leaf import Leaf, Matrix, Topic, unit
from scrubjay.ingest.topics.linkage import linkage

ALIKE: Final = 0.2
"""Mean centred cosine between memories that found a topic. At it average linkage cuts turns of talk and
articles nearest to their sessions and subjects; notes, which lie closer together, found fewer than they could."""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """A topic as it is.

    Attributes:
        id: Its id.
        name: Its name.
        centroid: Unit vector, (dimensions,); as read back from its codes it may be a little off.
        size: Its members.
    """

    id: str
    name: str
    centroid: Matrix
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What some new memories change.

    Attributes:
        joined: Memory, category and nearness 0..1, by memory.
        moved: New centroid of each category that was joined, by its id.
        born: New topics, without parent or id, the largest first.
    """

    joined: tuple[tuple[str, str, float], ...] = ()
    moved: dict[str, Matrix] = field(default_factory=dict)
    born: tuple[Topic, ...] = ()


def grow(
    standing: Sequence[Standing],
    leaves: Sequence[Leaf],
    vectors: Matrix,
    *,
    fresh: AbstractSet[str],
    total: int,
    others: Iterable[Leaf] = (),
) -> Growth:
    """Let memories join the topics that stand, and new topics be born.

    Args:
        standing: The topics, without themes.
        leaves: The new memories and those that are in no topic yet, each once.
        vectors: The direction of each, unit rows of the model of the centroids, or zeros, (n, d).
        fresh: Ids of the new ones. A topic is born with one of them at least.
        total: Memories of the key, these included: it says how many make a topic.
        others: Memories in topics, against which a newborn's name is told; some hundred do.
    """
    order = sorted(range(len(leaves)), key=lambda row: leaves[row].id)
    ordered, rows = [leaves[row] for row in order], np.asarray(vectors, dtype=np.float32)[order]
    topics = sorted(standing, key=lambda topic: topic.id)
    centroids = np.zeros((len(topics), rows.shape[1]), dtype=np.float32)
    for place, topic in enumerate(topics):
        centroids[place] = topic.centroid
    sizes = [topic.size for topic in topics]
    joined: list[tuple[str, str, float]] = []
    sums: dict[int, Matrix] = {}
    waiting = []
    for row, place in enumerate(join(rows, centroids, sizes)):
        if place < 0:
            waiting.append(row)
            continue
        near = float(rows[row] @ centroids[place])
        joined.append((ordered[row].id, topics[place].id, min(1.0, max(0.0, near))))
        sums[place] = sums.get(place, centroids[place] * sizes[place]) + rows[row]
    middle = middle_of(rows, centroids, sizes)
    left, apart = [ordered[row] for row in waiting], rows[waiting]
    groups = [
        group
        for group in _alike(left, apart, middle, least(total))
        if any(left[row].id in fresh for row in group)
    ]
    taken = [topic.name for topic in topics]
    born = describe(left, apart, groups, [None] * len(groups), taken=taken, others=others)
    moved = {topics[place].id: unit(one[None])[0] for place, one in sums.items()}
    return Growth(tuple(joined), moved, tuple(born))


def _alike(leaves: Sequence[Leaf], vectors: Matrix, middle: Matrix, enough: int) -> list[list[int]]:
    """Return the rows of what could be a topic among the memories that are in none, the largest first."""
    chosen = [row for row in sample([leaf.id for leaf in leaves]) if np.any(vectors[row])]
    if len(chosen) < enough:
        return []
    both = nearness(vectors[chosen], vectors[chosen], middle)
    merges = [merge for merge in linkage(both) if merge.similarity >= ALIKE]
    found = [[chosen[place] for place in group] for group in groups_of(merges, len(chosen))]
    return sorted((group for group in found if len(group) >= enough), key=lambda group: (-len(group), group))
