"""Level: str -> Level. One spelling for words of one meaning, and whether a word says the opposite of it."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, NamedTuple

from scrubjay.ingest.change import tongues
from scrubjay.ingest.change.likeness import meanings
from scrubjay.ingest.change.words import IRREGULAR, PLURALS
from scrubjay.text.folding import plain
from scrubjay.text.stems import stem

KNOWN: Final = 20_000
"""Words whose level is remembered."""


class Level(NamedTuple):
    """What a word is read as: the stem of the first word of its meaning, and whether it is the opposite of that."""

    key: str
    opposite: bool


@lru_cache(KNOWN)
def level(word: str, tongue: str) -> Level:
    """Return what a folded word is read as.

    >>> level("forbidden", "en"), level("allows", "en"), level("bought", "en")
    (Level(key='allow', opposite=True), Level(key='allow', opposite=False), Level(key='buy', opposite=False))
    """
    if tongue != "en":
        same, opposite = tongues.opposites(tongue).get(word, (word, False))
        return Level(plain(stem(same, tongue)), opposite)
    base = IRREGULAR.get(word) or PLURALS.get(word, word)
    found = meanings().get(word) or meanings().get(base) or _stems().get(stem(base, "en"))
    same, opposite = found or (base, False)
    return Level(stem(same, "en"), opposite)


@cache
def _stems() -> dict[str, tuple[str, bool]]:
    """Return the table by stems, so that every form of its words is found; of "cost" and "costly" the shorter is it."""
    table: dict[str, tuple[str, bool]] = {}
    for word, found in sorted(meanings().items(), key=lambda one: len(one[0])):
        table.setdefault(stem(word, "en"), found)
    return table
