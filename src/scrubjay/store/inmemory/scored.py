"""Scores of the reference store, as dictionaries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.memory.ranking import Hit, rounded


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
