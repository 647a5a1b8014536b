"""Dated: memories that are judged -> the same, with what the time that is asked about gives those that tell of it.

A preference, never a filter: people misremember days, and what happened is often told of later. The words of the time
stay words of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.memory.dates import DAY
from scrubjay.recall.slate import Slate
from scrubjay.recall.understand import Meant

DATED: Final = 1.0
"""What lying in the time that is asked about adds, on z-scores: as much as being a deviation nearer, which no chance
hit makes up for. LoCoMo's 68 questions with a time R@5 .347 to .533, LongMemEval's 19 .626 to .679; 1.5 gives LoCoMo no
more than .01 and begins to take from LongMemEval (bench/LOG.md)."""


def dated(rows: Slate, meant: Sequence[Meant]) -> None:
    """Add to each memory by how near it lies to a time that is meant.

    ``DATED x 2^(-gap / length)``: nothing is lost within the time, half at a distance of the time's own length (of at
    least a day), nothing is left far away. Of several times the nearest counts.

    Args:
        rows: Memories, whose heads tell when each happened.
        meant: Times that the question names.
    """
    for _, head, parts in rows:
        if head is not None:
            near = max(nearness(head.at, one) for one in meant)
            parts.append(("dated", near, near, DATED))


def nearness(at: int, meant: Meant) -> float:
    """Return 1 within a time, and less and less outside it."""
    gap = 0
    if meant.start is not None and at < meant.start:
        gap = meant.start - at
    elif meant.end is not None and at >= meant.end:
        gap = at - meant.end + 1
    return float(2.0 ** (-gap / max(meant.length, DAY)))
