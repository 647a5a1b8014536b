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
    sizes = [1] * len(rows)
    alive = dict.fromkeys(range(len(rows)))
    merges: list[Merge] = []
    chain: list[int] = []
    while len(alive) > 1:
        chain = chain or [next(iter(alive))]
        while True:
            last = rows[chain[-1]]
            nearest = int(last.argmax())
            if len(chain) > 1 and last[chain[-2]] >= last[nearest]:
                break
            chain.append(nearest)
        right, left = chain.pop(), chain.pop()
        merges.append(Merge(float(rows[left, right]), left, right))
        total = sizes[left] + sizes[right]
        joined = rows[left]
        joined *= sizes[left] / total
        joined += rows[right] * np.float32(sizes[right] / total)
        joined[left] = -np.inf
        rows[:, left] = joined
        rows[:, right] = -np.inf
        sizes[left] = total
        del alive[right]
    return sorted(merges, key=lambda merge: -merge.similarity)
