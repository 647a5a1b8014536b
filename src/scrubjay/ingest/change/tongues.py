"""Tongues: the small words by which other languages deny, and say that something changed.

The finer rules are of English. Other languages are compared word by word, with their denials read, and with the numbers
and dates of German, French, Spanish, Portuguese and Italian.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from scrubjay.ingest.change.tables import lines
from scrubjay.ingest.change.words import STOP
from scrubjay.text.languages import function_words

SILENT: Final = frozenset(("ne", "n"))
"""The halves of French denials that are not counted, since the other half is."""
REMEMBERED: Final = 2_000
"""Texts whose language is remembered."""
_LETTERS = re.compile(r"[^\W\d_]+")
LEAST: Final = 1
"""Small words that only other languages have and that make a statement one of theirs."""
SHARED: Final = 0.5
"""What a word that English has too is worth to another language."""


@cache
def _table() -> dict[tuple[str, str], list[str]]:
    split = (line.split() for line in lines("tongues.txt"))
    return {(code, part): words for code, part, *words in split}


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
def _codes() -> tuple[str, ...]:
    return "en", *dict.fromkeys(code for code, _ in _table())


@cache
def _owners() -> dict[str, tuple[str, ...]]:
    """Return each small word with the languages that have it."""
    owners: dict[str, list[str]] = {word: ["en"] for word in function_words("en") | STOP}
    for code in _codes()[1:]:
        for word in fillers(code) | denials(code) | changes(code):
            owners.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in owners.items()}


def tongue(old: str, new: str) -> str:
    """Return the language that both statements are taken to be in: English unless another has more evidence.

    >>> tongue("Der Kurs ist am Montag.", "Der Kurs ist am Freitag."), tongue("The gym is closed", "It is open")
    ('de', 'en')
    """
    found = {
        code: one + other for code, one, other in zip(_codes(), evidence(old), evidence(new), strict=True)
    }
    best = max(found, key=lambda code: found[code])
    return best if found[best] >= LEAST and found[best] > found["en"] else "en"


@lru_cache(REMEMBERED)
def evidence(text: str) -> tuple[float, ...]:
    """Return how much evidence a text has of each language."""
    scores = dict.fromkeys(_codes(), 0.0)
    owners = _owners()
    for word in _LETTERS.findall(text.lower()):
        listed = owners.get(word, ())
        for code in listed:
            scores[code] += SHARED if code != "en" and listed[0] == "en" else 1
    return tuple(scores.values())
