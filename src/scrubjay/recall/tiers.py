"""Tiers: candidates of all tiers -> one pool, in which each tier weighs what it is given and nothing unsure answers.

All tiers are ranked by the same channels on their own texts; this stage knows no texts and reads nothing. A store of
one tier, in which everything is sure, passes through unchanged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from scrubjay.memory.tiers import PREFIX
from scrubjay.recall.request import Pool
from scrubjay.recall.slate import Slate
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


class Named(Protocol):
    """Whatever is ranked by the id of a memory."""

    @property
    def id(self) -> str:
        """The memory."""
        ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Pooled(Generic[T]):
    """What is left of the memories, in their order, and how many were kept out for being unsure."""

    left: list[T]
    unsure: int


def tiers(rows: Slate, pool: Pool) -> None:
    """Add what tier, certainty and project are worth.

    Args:
        rows: Memories, whose heads tell confidence and project.
        pool: What the caller and the settings say of tiers and projects.
    """
    for memory, head, parts in rows:
        tier = tier_of(memory)
        weight = pool.weights.get(tier, 1.0)
        if weight not in (0.0, 1.0):
            parts.append(("tier", weight, math.log2(weight), TIER))
        if head is not None and tier in DISTILLED and head.confidence > SURELY:
            parts.append(("sure", head.confidence, 1.0, SURE))
        if head is not None and pool.here is not None and head.project == pool.here:
            parts.append(("project", 1.0, 1.0, PROJECT))


def pooled(ranked: Sequence[T], heads: Mapping[str, Head], pool: Pool, most: int = MOST) -> Pooled[T]:
    """Leave out what is less sure than the floor, tiers that weigh nothing, and what is beyond a tier's share.

    What is pinned is never unsure: somebody said that it holds.

    Args:
        ranked: Memories, best first.
        heads: Confidence of each.
        pool: Floor and weights.
        most: Memories of one tier.
    """
    kept: list[T] = []
    counted: Counter[str] = Counter()
    unsure = 0
    for one in ranked:
        head, tier = heads.get(one.id), tier_of(one.id)
        if pool.weights.get(tier, 1.0) == 0.0:
            continue
        if head is not None and head.confidence < pool.floor and not head.pinned:
            unsure += 1
            continue
        counted[tier] += 1
        if counted[tier] <= most:
            kept.append(one)
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
