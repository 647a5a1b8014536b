"""Unused: traits -> memories that nobody read by their ids or said to have used, though there was time to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.memory.dates import DAY

DAYS: Final = 90
"""Days that a memory is given: a season of work."""


def unused(traits: Sequence[Trait], now: int) -> Iterator[Fault]:
    """Yield what was never used since it was written; nothing mends it, for nothing is wrong with it."""
    for one in traits:
        days = (now - one.recorded) // DAY
        if not one.used and days > DAYS:
            yield Fault(one.id, f"never used in {days:,} days", "never used", days)
