"""Bags: the terms of memories -> numbers, once for all that is counted in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Which memory holds which terms, how often: a sparse matrix, one row a memory.

    Attributes:
        words: The terms, sorted.
        rows: Memory of each entry, ascending, (entries,).
        terms: Term of each entry, index into ``words``, (entries,).
        counts: How often the memory holds it, (entries,).
        size: Memories.
    """

    words: tuple[str, ...]
    rows: NDArray[np.intp]
    terms: NDArray[np.intp]
    counts: NDArray[np.float32]
    size: int

    def held(self) -> NDArray[np.intp]:
        """Return how many memories hold each term, (words,)."""
        return np.bincount(self.terms, minlength=len(self.words))

    def of(self, rows: Sequence[int]) -> Bags:
        """Return the bags of some of the memories, in this order; the terms keep their numbers."""
        place = np.full(self.size, -1, dtype=np.intp)
        place[list(rows)] = np.arange(len(rows))
        kept = place[self.rows] >= 0
        moved = place[self.rows[kept]]
        order = np.argsort(moved, kind="stable")
        return Bags(self.words, moved[order], self.terms[kept][order], self.counts[kept][order], len(rows))


def bags(counted: Iterable[Mapping[str, int]]) -> Bags:
    """Return the bags of memories, given their terms with counts."""
    places: defaultdict[str, int] = defaultdict(count().__next__)
    sizes: list[int] = []
    terms: list[int] = []
    counts: list[int] = []
    for bag in counted:
        sizes.append(len(bag))
        terms += map(places.__getitem__, bag)
        counts += bag.values()
    words = sorted(places)
    moved = np.empty(len(words), dtype=np.intp)
    moved[np.fromiter(map(places.__getitem__, words), dtype=np.intp, count=len(words))] = np.arange(
        len(words)
    )
    return Bags(
        tuple(words),
        np.repeat(np.arange(len(sizes)), sizes),
        moved[np.array(terms, dtype=np.intp)],
        np.array(counts, dtype=np.float32),
        len(sizes),
    )
