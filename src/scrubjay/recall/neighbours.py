"""Neighbours: candidates -> candidates, with what the turns next to them lend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.store.base import Head

SHARE: Final = 0.5
"""What a turn without a word of its own borrows of its better neighbour's positive score."""
WORDS: Final = 100.0
"""Words at which a turn borrows half as much: a long turn says itself what it is about. Measured: LoCoMo turns
R@10 .587 to .647, BEAM R@5 .435 to .497, LongMemEval turns .853 to .878; the same for all lengths, or both
neighbours' sum, hurts LongMemEval (bench/LOG.md)."""


def neighbours(
    candidates: Sequence[Candidate],
    scores: Mapping[str, float],
    adjacent: Mapping[str, tuple[str, ...]],
    heads: Mapping[str, Head],
) -> list[Candidate]:
    """Let each turn of a conversation borrow from the better of the turns next to it.

    An answer often stands beside the words that were asked for: "When was that?" "Last Tuesday."

    Args:
        candidates: Candidates as they are scored so far.
        scores: Score of each candidate and of each neighbour, before anything was borrowed.
        adjacent: Candidate to the turns next to it.
        heads: Length of each candidate.
    """
    found = []
    for candidate in candidates:
        lent = max((scores.get(near, 0.0) for near in adjacent.get(candidate.id, ())), default=0.0)
        head = heads.get(candidate.id)
        if lent > 0.0 and head is not None:
            part = Contribution("neighbours", lent, lent, SHARE / (1.0 + head.words / WORDS))
            candidate = candidate.plus(part)
        found.append(candidate)
    return found
