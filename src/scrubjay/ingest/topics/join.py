"""Join: vectors -> the standing topic that each is near enough to, if any.

Nearness is the cosine after the middle of all topics is taken away, as in ``features``: raw cosines of one
person's texts are all high, and how high differs between models; centred ones can be held against one number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scrubjay.ingest.directions import unit
from scrubjay.ingest.topics.leaf import Matrix

NEAR: Final = 0.3
"""Least centred cosine to a topic's centroid. About a tenth of the members found by clustering stand further
off, with the static model and with MiniLM; of memories held out, 65 to 90 % join."""


def join(vectors: Matrix, centroids: Matrix, sizes: Sequence[int]) -> list[int]:
    """Return for each vector the index of the topic it joins, or -1.

    Args:
        vectors: Unit rows; rows of zeros join none, (n, d).
        centroids: Unit rows, (topics, d).
        sizes: Members of each topic.
    """
    if not len(vectors) or not len(centroids):
        return [-1] * len(vectors)
    near = nearness(vectors, centroids, middle_of(vectors, centroids, sizes))
    near[~np.any(vectors != 0, axis=1)] = -1
    best = near.argmax(axis=1)
    return [int(topic) if near[row, topic] >= NEAR else -1 for row, topic in enumerate(best)]


def nearness(one: Matrix, other: Matrix, middle: Matrix) -> Matrix:
    """Return the centred cosine of each pair, but never more than the plain one, (rows of one, rows of other).

    Without that bar two texts that have nothing in common with the rest would be alike in just that.
    """
    centred = unit(one - middle) @ unit(other - middle).T
    return np.asarray(np.minimum(one @ other.T, centred), dtype=np.float32)


def middle_of(vectors: Matrix, centroids: Matrix, sizes: Sequence[int]) -> Matrix:
    """Return where the middle of all memories lies, from the topics' centroids and the memories in none, (d,)."""
    weights = np.asarray(sizes, dtype=np.float32)
    present = int(np.any(vectors != 0, axis=1).sum())
    total = (centroids * weights[:, None]).sum(axis=0) + vectors.sum(axis=0)
    return np.asarray(total / max(1.0, float(weights.sum()) + present), dtype=np.float32)
