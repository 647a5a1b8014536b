"""Unique: items -> items of which none says what one before it said, and why the others are left out.

Two say the same when one's words stand in a row in the other, or when they differ by nothing but small words: a
number, a negation or a name makes a difference, however alike the rest is. What was made from a memory does not
stand beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from scrubjay.memory.contexts import Item, LeftOut

LEAST: Final = 8
"""Words from which on two texts may be near duplicates: of fewer, one word is a large part."""
_SMALL: Final = (
    "a an the of is are was were be been that this it its in on at to for and so very just also please"
)
SMALL: Final = frozenset(_SMALL.split())
_WORD: Final = re.compile(r"\w+")


def unique(
    items: Sequence[Item], made_from: Mapping[str, Collection[str]]
) -> tuple[list[Item], list[LeftOut]]:
    """Leave out what repeats; of two the first stays.

    Args:
        items: The most wanted first.
        made_from: Memory to those that it was made from.
    """
    kept: list[tuple[Item, str]] = []
    left: list[LeftOut] = []
    for item in items:
        if any(item.record.id == other.record.id for other, _ in kept):
            continue
        words = _words(item.record.content)
        if any(_repeats(item, words, other, said, made_from) for other, said in kept):
            left.append(LeftOut(item.record.id, item.part, "repeats"))
        else:
            kept.append((item, words))
    return [item for item, _ in kept], left


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _repeats(
    item: Item, words: str, other: Item, said: str, made_from: Mapping[str, Collection[str]]
) -> bool:
    one, two = item.record.id, other.record.id
    if one in made_from.get(two, ()) or two in made_from.get(one, ()):
        return True
    return words in said or said in words or _near(words.split(), said.split())


def _near(words: list[str], said: list[str]) -> bool:
    """Return whether two texts are the same words in the same order but for small ones."""
    if min(len(words), len(said)) < LEAST:
        return False
    return [word for word in words if word not in SMALL] == [word for word in said if word not in SMALL]
