"""Linkage: similarities -> merges, average linkage by nearest-neighbour chains.

Average linkage is reducible, so following nearest neighbours until two are each other's, and merging those,
gives the same tree as always merging the closest pair, in O(n^2) time (Murtagh, 1983; Müllner, 2011).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scrubjay.ingest.topics.leaf import Matrix


class Merge(NamedTuple):
    """Two clusters become one: the clusters that hold points ``left`` and ``right``, at this similarity."""

    similarity: float
    left: int
    right: int


def linkage(similarity: Matrix) -> list[Merge]:
    """Return the n - 1 merges of n points, most similar first.

    Args:
        similarity: Symmetric, (n, n); it is overwritten.
    """
    rows = similarity
    np.fill_diagonal(rows, -np.inf)
    sizes = np.ones(len(rows), dtype=np.float32)
    alive = np.ones(len(rows), dtype=bool)
    merges: list[Merge] = []
    chain: list[int] = []
    while len(merges) < len(rows) - 1:
        chain = chain or [int(np.argmax(alive))]
        while True:
            last = chain[-1]
            nearest = int(np.argmax(rows[last]))
            if len(chain) > 1 and rows[last, chain[-2]] >= rows[last, nearest]:
                break
            chain.append(nearest)
        right, left = chain.pop(), chain.pop()
        merges.append(Merge(float(rows[left, right]), left, right))
        total = sizes[left] + sizes[right]
        joined = (rows[left] * sizes[left] + rows[right] * sizes[right]) / total
        rows[left] = rows[:, left] = joined
        rows[right] = rows[:, right] = -np.inf
        rows[left, left] = -np.inf
        sizes[left], alive[right] = total, False
    return sorted(merges, key=lambda merge: -merge.similarity)
