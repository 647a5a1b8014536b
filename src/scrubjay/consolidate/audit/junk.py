"""Junk: traits -> memories that say nothing, and all but one of what stands everywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.trait import Trait

BOILERPLATE: Final = 20
"""Memories with one text from which on it is a form, a signature, a licence: it tells none of them apart."""


def junk(traits: Sequence[Trait]) -> list[Fault]:
    """Return the memories that say nothing. Of a text that stands everywhere the best one stays.

    What happened on a day of its own ("ran 5 km", thirty times) is no boilerplate.
    """
    free = [one for one in traits if not one.pinned]
    faults = [
        Fault(one.id, "says nothing", "says nothing", 1.0 / (1 + one.words), "archived")
        for one in free
        if one.bare
    ]
    bare = {fault.memory for fault in faults}
    texts: defaultdict[tuple[str, int], list[Trait]] = defaultdict(list)
    for one in traits:
        if one.id not in bare and not (one.dated and one.kind == "addition"):
            texts[one.key, one.said].append(one)
    for same in texts.values():
        if len(same) >= BOILERPLATE:
            first, *others = best(same)
            why = f"one text in {len(same):,} memories"
            faults += [
                Fault(one.id, why, "boilerplate", len(same), "archived", first.id)
                for one in others
                if not one.pinned
            ]
    return faults


def best(traits: Iterable[Trait]) -> list[Trait]:
    """Return memories that say the same in the order in which one would keep them: pinned, used, oldest."""
    return sorted(traits, key=lambda one: (not one.pinned, not one.used, one.recorded, one.id))
