"""Life: memories that are judged -> the same, with what time and use make of them.

A pure function of now: nothing is rewritten as time goes by, and no job can compound it. What a memory loses by age
is bounded, so that age decides between near equals and never puts a strong match below a weak one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from scrubjay.memory.dates import DAY
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.tiers import PREFIX
from scrubjay.recall.slate import Slate
from scrubjay.store.base import Head

AGE: Final = 0.15
"""What a memory as old as time has lost by age, on z-scores: a tenth of what lies between a match and a chance hit.
LongMemEval turns R@5 .785 to .798, LoCoMo, BEAM and sessions as before (bench/LOG.md)."""
STRENGTH: Final = 0.5
"""What a memory loses that is called wrong for ever: it falls behind its equals, an exact hit stays one."""
CONFIDENCE: Final = 0.3
"""What a memory loses of which nothing is sure."""
HALF_LIFE: Final = {
    "crystal": 365.0,
    "facet": 730.0,
    "insight": 365.0,
    "lesson": 730.0,
    "observation": 180.0,
    "procedural": 730.0,
    "semantic": 730.0,
}
"""Days after which half of what age can take is taken: what was seen fades first, what was learned last."""
_TIER: Final = {prefix: tier for tier, prefix in PREFIX.items()}


def life(rows: Slate, now: int) -> None:
    """Take away what age, doubt and bad experience cost.

    Args:
        rows: Memories, whose heads tell when each happened and was used, and how good it is known to be.
        now: UTC microseconds of the question.
    """
    for memory, head, parts in rows:
        if head is None:
            continue
        faded = fading(memory, head, now)
        if faded > 0:
            parts.append(("age", float(days(head, now)), -faded, AGE))
        if head.strength < 1:
            parts.append(("strength", head.strength, head.strength - 1, STRENGTH))
        if head.confidence < 1:
            parts.append(("confidence", head.confidence, head.confidence - 1, CONFIDENCE))


def since(head: Head) -> int:
    """Return from when on a memory ages: when it was last used, else when what it tells of happened."""
    return max(head.at, head.used) if head.used is not None else head.at


def days(head: Head, now: int) -> int:
    """Return how many whole days old a memory is: two questions of one day see one age."""
    return (now - since(head)) // DAY


def fading(memory: str, head: Head, now: int) -> float:
    """Return how much of what age can take is taken, 0 to 1; 0 for what is pinned or still to come."""
    old = days(head, now)
    if head.pinned or old <= 0:
        return 0.0
    half = HALF_LIFE[_TIER[memory[: memory.index("_") + 1]]]
    return 1.0 - float(2.0 ** (-old / half))


def outlived(ranked: Sequence[Candidate], limit: int) -> int:
    """Return how many would be among the first but for their age.

    Args:
        ranked: Candidates, best first.
        limit: How many are first.
    """
    ageless: list[tuple[float, str]] = []
    for one in ranked:
        score = one.score
        if len(ageless) >= limit and score + AGE < ranked[limit - 1].score:
            break  # even ageless it would be behind these
        faded = math.fsum([part.amount for part in one.contributions if part.channel == "age"])
        ageless.append((faded - score, one.id))
    first = {memory for _, memory in sorted(ageless)[:limit]}
    return len(first - {one.id for one in ranked[:limit]})
