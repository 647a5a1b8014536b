"""Tongues: the words by which German, French, Spanish, Portuguese and Italian deny, and say that something changed.

Other languages are compared word by word, with their numbers, dates and negations read; the finer rules are of English.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from scrubjay.ingest.change.figures import TONGUES
from scrubjay.ingest.change.tables import lines
from scrubjay.ingest.change.words import STOP
from scrubjay.text.languages import function_words

SILENT: Final = frozenset(("ne", "n"))
"""The halves of French denials that are not counted, since the other half is."""
_LETTERS = re.compile(r"[^\W\d_]+")
LEAST: Final = 2
"""Function words of a language that make a short statement one of it."""


@cache
def _table() -> dict[tuple[str, str], list[str]]:
    split = (line.split() for line in lines("tongues.txt"))
    return {(tongue, part): words for tongue, part, *words in split}


@cache
def denials(tongue: str) -> frozenset[str]:
    """Return the words that deny in a language other than English."""
    return frozenset(_table()[tongue, "denial"])


@cache
def changes(tongue: str) -> frozenset[str]:
    """Return the words of change of a language other than English."""
    return frozenset(_table()[tongue, "change"])


@cache
def opposites(tongue: str) -> dict[str, tuple[str, bool]]:
    """Return the words that are read as another, and whether they say its opposite."""
    pairs = (pair.split("/") for pair in _table()[tongue, "opposite"])
    return {word: (first, word != first) for first, second in pairs for word in (first, second)}


@cache
def fillers(tongue: str) -> frozenset[str]:
    """Return the function words of a language that neither deny nor tell of change."""
    own = frozenset(_table()[tongue, "filler"])
    return (function_words(tongue) | own) - denials(tongue) - changes(tongue)


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    owners: dict[str, list[str]] = {}
    for tongue in TONGUES:
        listed = (
            function_words("en") | STOP
            if tongue == "en"
            else fillers(tongue) | denials(tongue) | changes(tongue)
        )
        for word in listed:
            owners.setdefault(word, []).append(tongue)
    return {word: tuple(tongues) for word, tongues in owners.items()}


def tongue(old: str, new: str) -> str:
    """Return the language that both statements are taken to be in: English unless another has more evidence.

    >>> tongue("Der Kurs ist am Montag.", "Der Kurs ist am Freitag."), tongue("The gym is closed", "It is open")
    ('de', 'en')
    """
    scores = dict.fromkeys(TONGUES, 0.0)
    owners = _owners()
    for word in _LETTERS.findall(f"{old} {new}".lower()):
        listed = owners.get(word, ())
        for code in listed:
            scores[code] += 1 / len(listed)
    best = max(TONGUES, key=lambda code: scores[code])
    return best if scores[best] >= LEAST / 2 and scores[best] > scores["en"] else "en"
