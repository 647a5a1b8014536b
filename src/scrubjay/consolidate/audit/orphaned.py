"""Orphaned: traits -> memories that were made from others, of which none is left.

Edges to nothing need not be looked for: every store drops them with the memory that they led to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.trait import Trait


def orphaned(traits: Sequence[Trait], grounded: Collection[str]) -> Iterator[Fault]:
    """Yield derived memories without evidence.

    Args:
        traits: The active memories.
        grounded: Ids of those that have some, of whatever status.
    """
    for one in traits:
        if one.derived and not one.pinned and one.id not in grounded:
            yield Fault(
                one.id,
                "nothing it was made from is left",
                "no evidence left",
                float(-one.recorded),
                "archived",
            )
