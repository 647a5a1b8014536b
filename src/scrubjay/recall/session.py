"""Session: candidates -> candidates, with what the conversation that they stand in lends.

One turn that fits tells that its conversation is about the matter, and so what else was said in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.store.base import Head

SHARE: Final = 0.3
"""What a turn without a word of its own is lent of the best score in its session. From .2 to .5 all alike: BEAM R@5
.520 to .549, LongMemEval turns R@10 .879 to .892, LoCoMo R@10 .671 to .678 (bench/LOG.md)."""
WORDS: Final = 100.0
"""Words at which a turn borrows half as much, as from its neighbours. The same for all lengths: LongMemEval turns R@5
.763 to .729."""


def session(candidates: Sequence[Candidate], heads: Mapping[str, Head]) -> list[Candidate]:
    """Let each turn borrow from the best turn of its conversation, which may be itself.

    Args:
        candidates: Candidates as they are scored so far.
        heads: Conversation and length of each.
    """
    best: dict[str, float] = {}
    for candidate in candidates:
        name = _session(heads, candidate)
        if name is not None:
            best[name] = max(best.get(name, 0.0), candidate.score)
    found = []
    for candidate in candidates:
        name = _session(heads, candidate)
        lent = best[name] if name is not None else 0.0
        if lent > 0.0:
            part = Contribution("session", lent, lent, SHARE / (1.0 + heads[candidate.id].words / WORDS))
            candidate = candidate.plus(part)
        found.append(candidate)
    return found


def _session(heads: Mapping[str, Head], candidate: Candidate) -> str | None:
    """Return the conversation that a candidate is a turn of, or None."""
    head = heads.get(candidate.id)
    return head.session if head is not None and head.turn else None
