"""Unique: items -> items of which none says what one before it said, and why the others are left out.

Two say the same by the same rule as two results of a search (`repeated`), in whatever part they stand. What was made
from a memory does not stand beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from scrubjay.memory.contexts import Item, LeftOut
from scrubjay.memory.records import Record
from scrubjay.recall.repeated import Told


@dataclass(frozen=True, slots=True)
class Unique:
    """What is told once.

    Attributes:
        items: Those that are kept, in the order in which they came.
        left: The others, and why.
        instead: What is left out to what is told in its place.
    """

    items: tuple[Item, ...]
    left: tuple[LeftOut, ...]
    instead: Mapping[str, str]


def unique(
    items: Sequence[Item], made_from: Mapping[str, Collection[str]], loaded: Iterable[Record] = ()
) -> Unique:
    """Leave out what repeats; of two the first stays.

    Args:
        items: The most wanted first.
        made_from: Memory to those that it was made from.
        loaded: What the agent reads itself: what says the same is not told again.
    """
    told = Told()
    known = {record.id for record in loaded if not told.repeated(record)}
    kept: dict[str, Item] = {}
    behind: dict[str, str] = {}  # what the kept were made from
    left: list[LeftOut] = []
    instead: dict[str, str] = {}
    for item in items:
        memory = item.record.id
        if memory in kept or memory in instead:
            continue
        sources = made_from.get(memory, ())
        same = next((one for one in sorted(sources) if one in kept), None) or behind.get(memory)
        same = same or told.repeated(item.record)
        if same is not None:
            instead[memory] = same
            left.append(LeftOut(memory, item.part, "loaded" if same in known else "repeats"))
            continue
        kept[memory] = item
        behind |= dict.fromkeys(sources, memory)
    return Unique(tuple(kept.values()), tuple(left), instead)
