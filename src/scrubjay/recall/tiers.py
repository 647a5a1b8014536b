"""Tiers: candidates of all tiers -> one pool, in which each tier weighs what it is given and nothing unsure answers.

All tiers are ranked by the same channels on their own texts; this stage knows no texts and reads nothing. A store of
one tier, in which everything is sure, passes through unchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.tiers import PREFIX
from scrubjay.recall.request import Pool
from scrubjay.store.base import Head

MOST: Final = 50
"""Candidates of one tier, or as many as results are wanted: no tier takes all the places in what later stages read."""
TIER: Final = 0.5
"""What a tier gains whose weight is doubled, on z-scores, and loses when it is halved: a logarithm, so that a weight
means the same for a strong match and for a weak one, and can turn no sign."""
SURE: Final = 0.15
"""What a crystal or a fact gains that is surely so: what was distilled of several stands before one of its pieces that
matches as well. As much as age takes at most, so that it decides between near equals only."""
SURELY: Final = 0.85
"""Confidence above which it is: three independent sources (two make .85), or a person that says so."""
DISTILLED: Final = frozenset(("crystal", "semantic"))
"""Tiers of which what is sure gains."""
PROJECT: Final = 0.3
"""What a memory of the project one is in gains: as much as a person's own turn over an assistant's. A better match of
another project still stands before it."""
_TIER: Final = {prefix: tier for tier, prefix in PREFIX.items()}


@dataclass(frozen=True, slots=True)
class Pooled:
    """What is left of the candidates, in their order, and how many were kept out for being unsure."""

    candidates: list[Candidate]
    unsure: int


def tiers(candidates: Sequence[Candidate], heads: Mapping[str, Head], pool: Pool) -> list[Candidate]:
    """Add what tier, certainty and project are worth; their order is for the caller to make.

    Args:
        candidates: Fused candidates.
        heads: Confidence and project of each.
        pool: What the caller and the settings say of tiers and projects.
    """
    found = []
    for candidate in candidates:
        head, tier = heads.get(candidate.id), tier_of(candidate.id)
        parts = []
        weight = pool.weights.get(tier, 1.0)
        if weight not in (0.0, 1.0):
            parts.append(Contribution("tier", weight, math.log2(weight), TIER))
        if head is not None and tier in DISTILLED and head.confidence > SURELY:
            parts.append(Contribution("sure", head.confidence, 1.0, SURE))
        if head is not None and pool.here is not None and head.project == pool.here:
            parts.append(Contribution("project", 1.0, 1.0, PROJECT))
        found.append(candidate.plus(*parts) if parts else candidate)
    return found


def pooled(ranked: Sequence[Candidate], heads: Mapping[str, Head], pool: Pool, most: int = MOST) -> Pooled:
    """Leave out what is less sure than the floor, tiers that weigh nothing, and what is beyond a tier's share.

    What is pinned is never unsure: somebody said that it holds.

    Args:
        ranked: Candidates, best first.
        heads: Confidence of each.
        pool: Floor and weights.
        most: Candidates of one tier.
    """
    kept: list[Candidate] = []
    counted: Counter[str] = Counter()
    unsure = 0
    for candidate in ranked:
        head, tier = heads.get(candidate.id), tier_of(candidate.id)
        if pool.weights.get(tier, 1.0) == 0.0:
            continue
        if head is not None and head.confidence < pool.floor and not head.pinned:
            unsure += 1
            continue
        counted[tier] += 1
        if counted[tier] <= most:
            kept.append(candidate)
    return Pooled(kept, unsure)


def kept_out(unsure: int, floor: float) -> tuple[str, ...]:
    """Return what explain says of what was kept out.

    >>> kept_out(2, 0.3)
    ('2 found with a confidence below 0.3 were left out.',)
    """
    return (f"{unsure:,} found with a confidence below {floor:g} were left out.",) if unsure else ()


def tier_of(memory: str) -> str:
    """Return the tier that an id names.

    >>> tier_of("crys_8f3a6c2d9b40")
    'crystal'
    """
    return _TIER[memory[: memory.index("_") + 1]]
