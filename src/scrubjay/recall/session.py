"""Session: memories that are judged -> the same, with what the conversation that they stand in lends.

One turn that fits tells that its conversation is about the matter, and so what else was said in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.recall.slate import Row, Slate

SHARE: Final = 0.3
"""What a turn without a word of its own is lent of the best score in its session. From .2 to .5 all alike: BEAM R@5
.520 to .549, LongMemEval turns R@10 .879 to .892, LoCoMo R@10 .671 to .678 (bench/LOG.md)."""
WORDS: Final = 100.0
"""Words at which a turn borrows half as much, as from its neighbours. The same for all lengths: LongMemEval turns R@5
.763 to .729."""


def session(rows: Slate, every: Slate, scores: Sequence[float]) -> None:
    """Let each turn borrow from the best turn of its conversation, which may be itself.

    Args:
        rows: Memories that may borrow.
        every: Those that may lend.
        scores: Score of each of them as it stands so far.
    """
    best: dict[str, float] = {}
    for row, score in zip(every, scores, strict=True):
        name = _session(row)
        if name is not None and score > best.get(name, 0.0):
            best[name] = score
    for row in rows:
        name = _session(row)
        lent = best.get(name, 0.0) if name is not None else 0.0
        if lent > 0.0 and row.head is not None:
            row.parts.append(("session", lent, lent, SHARE / (1.0 + row.head.words / WORDS)))


def _session(row: Row) -> str | None:
    """Return the conversation that a memory is a turn of, or None."""
    return row.head.session if row.head is not None and row.head.turn else None
