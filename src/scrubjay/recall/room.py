"""Room: items and a budget -> which of them are shown, and how much of each.

Each part has a share. Where a session begins, what a part does not need flows on to the next, and what is left in the
end goes round once more. Where something was asked, it flows to what answers: a question needs no more of the rest
than its share. A memory that is too long for the room is told shorter
(its paragraph, its phrase); one that is too long even so is left out, and those behind it may still fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scrubjay.memory.contexts import PARTS, Item, LeftOut
from scrubjay.text.size import weigh

ASKED: Final[Mapping[str, int]] = {"pinned": 15, "profile": 20, "recent": 15, "relevant": 50}
BEGUN: Final[Mapping[str, int]] = {"pinned": 20, "profile": 45, "recent": 35, "relevant": 0}
"""Shares in per cent, where something was asked and where a session begins."""
ANSWER: Final = "relevant"
QUARTERS: Final = 4
"""A token is weighed in quarters, which add up exactly wherever a text is cut."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One item as it is shown: its line, and what it weighs in quarter tokens with the heading it may have brought."""

    item: Item
    line: str
    weight: int


@dataclass(slots=True)
class _Space:
    """What is free, and what was put in."""

    free: int
    headings: Mapping[str, str]
    shown: dict[str, list[Shown]] = field(default_factory=lambda: {part: [] for part in PARTS})

    def put(self, item: Item, room: int) -> int:
        """Put an item into a room at most so large, as long as may be; return what it took, 0 where it found none."""
        heading = 0 if self.shown[item.part] else weigh(self.headings[item.part])
        for text in item.texts:
            line = f"- {item.label} {text}"
            weight = heading + weigh(line)
            if weight <= min(room, self.free):
                self.free -= weight
                self.shown[item.part].append(Shown(item, line, weight))
                return weight
        return 0


def room(
    items: Sequence[Item], tokens: int, headings: Mapping[str, str], *, asked: bool
) -> tuple[list[Shown], list[LeftOut]]:
    """Choose what is shown, in the order of the parts.

    Args:
        items: Of each part the most wanted first.
        tokens: Room for all of it, in tokens.
        headings: Part to the line above it.
        asked: Whether there is a question, or a session begins.
    """
    space = _Space(max(tokens, 0) * QUARTERS, headings)
    whole, shares = space.free, ASKED if asked else BEGUN
    waiting: dict[str, list[Item]] = {}
    spare = 0
    for part in PARTS:
        flows = part == ANSWER or not asked
        left = whole * shares[part] // 100 + (spare if flows else 0)
        waiting[part] = []
        for item in (one for one in items if one.part == part):
            took = space.put(item, left)
            left -= took
            waiting[part] += [] if took else [item]
        spare = left if flows else spare + left
    out: list[LeftOut] = []
    for part in reversed(PARTS):
        again = part == ANSWER or not asked
        late = [item for item in waiting[part] if not (again and space.put(item, space.free))]
        out += [LeftOut(item.record.id, part, "budget") for item in late]
    order = {item.record.id: place for place, item in enumerate(items)}
    shown = [
        one for part in PARTS for one in sorted(space.shown[part], key=lambda s: order[s.item.record.id])
    ]
    return shown, out
