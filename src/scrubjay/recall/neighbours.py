"""Neighbours: memories that are judged -> the same, with what the turns next to them lend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scrubjay.recall.slate import Slate

SHARE: Final = 0.5
"""What a turn without a word of its own borrows of its better neighbour's positive score."""
WORDS: Final = 100.0
"""Words at which a turn borrows half as much: a long turn says itself what it is about. Measured: LoCoMo turns
R@10 .587 to .647, BEAM R@5 .435 to .497, LongMemEval turns .853 to .878; the same for all lengths, or both
neighbours' sum, hurts LongMemEval (bench/LOG.md)."""


def neighbours(rows: Slate, scores: Mapping[str, float], adjacent: Mapping[str, tuple[str, ...]]) -> None:
    """Let each turn of a conversation borrow from the better of the turns next to it.

    An answer often stands beside the words that were asked for: "When was that?" "Last Tuesday."

    Args:
        rows: Memories that may borrow, whose heads tell their length.
        scores: Score of each of them and of each neighbour, before anything was borrowed.
        adjacent: Memory to the turns next to it.
    """
    for memory, head, parts in rows:
        lent = max([scores.get(near, 0.0) for near in adjacent.get(memory, ())], default=0.0)
        if lent > 0.0 and head is not None:
            parts.append(("neighbours", lent, lent, SHARE / (1.0 + head.words / WORDS)))
