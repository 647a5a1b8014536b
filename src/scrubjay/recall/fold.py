"""Fold: candidates -> candidates, with what a person stated shown where they said it.

A statement that was taken from a turn ranks that turn: shorter than the turn, it is often the nearer of the two, and
beside it would say the same twice. It is shown by itself where the turn is not among the candidates: archived by a
night, or left out by a filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.tiers import PREFIX

STATED: Final = tuple(PREFIX[tier] for tier in ("facet", "lesson", "procedural", "semantic"))
"""What ids of statements begin with."""
SEEN: Final = PREFIX["observation"]


@dataclass(frozen=True, slots=True)
class Folded:
    """Candidates after folding.

    Attributes:
        candidates: In no order; whoever folds orders them anew.
        into: Turn to the statements that it stands for.
    """

    candidates: tuple[Candidate, ...]
    into: Mapping[str, tuple[str, ...]]


def statements(candidates: Sequence[Candidate]) -> list[str]:
    """Return the ids of candidates that may have been taken from others."""
    return [one.id for one in candidates if one.id.startswith(STATED)]


def fold(candidates: Sequence[Candidate], evidence: Mapping[str, Sequence[str]]) -> Folded:
    """Let turns stand for their statements.

    Args:
        candidates: Ranked candidates.
        evidence: Statement to the memories that it was taken from.
    """
    scores = {one.id: one.score for one in candidates}
    into: dict[str, list[str]] = {}
    for one in candidates:
        turns = [turn for turn in evidence.get(one.id, ()) if turn in scores and turn.startswith(SEEN)]
        if turns:
            best = min(turns, key=lambda turn: (-scores[turn], turn))
            into.setdefault(best, []).append(one.id)
    gone = {memory for folded in into.values() for memory in folded}
    kept = []
    for one in candidates:
        if one.id in into:
            best_score = max(scores[memory] for memory in into[one.id])
            if best_score > scores[one.id]:
                lift = best_score - scores[one.id]
                part = Contribution("statement", best_score, lift, 1.0)
                one = replace(one, contributions=(*one.contributions, part))
        if one.id not in gone:
            kept.append(one)
    return Folded(tuple(kept), {turn: tuple(sorted(folded)) for turn, folded in into.items()})
