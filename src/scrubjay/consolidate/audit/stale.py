"""Stale: traits -> memories that were true once, whose place another took, or that nobody used for ages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.memory.dates import DAY
from scrubjay.recall.life import HALF_LIFE

LIVES: Final = 4
"""Half-lives after which age has taken fifteen sixteenths of what it can take."""


def stale(traits: Sequence[Trait], superseded: Mapping[str, str], now: int) -> Iterator[Fault]:
    """Yield what is out of date.

    Args:
        traits: The active memories.
        superseded: Id of a memory to the active one that took its place.
        now: UTC microseconds.
    """
    for one in traits:
        if one.pinned:
            continue
        days = (now - one.young) / DAY
        newer = superseded.get(one.id)
        if newer is not None:
            yield Fault(one.id, "superseded, and active all the same", "superseded", 1e6, "superseded", newer)
        elif one.ends is not None and one.ends <= now:
            yield Fault(one.id, "no longer true", "no longer true", 1e5 + (now - one.ends) / DAY, "archived")
        elif not one.used and days > LIVES * HALF_LIFE[one.tier]:
            yield Fault(
                one.id, f"{days:,.0f} days old, and never used", "old and never used", days, "archived"
            )
