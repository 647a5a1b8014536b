"""Rules: a sentence's clauses -> (rule, kind) of those that say something lasting."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.first import first, unsubjected
from scrubjay.ingest.statements.named import ended, person
from scrubjay.ingest.statements.subjects import plain
from scrubjay.ingest.statements.things import BARE_KIN
from scrubjay.ingest.statements.third import third
from scrubjay.ingest.statements.words import FIRST

_PREFERENCES: Final = (
    "likes",
    "house style",
    "no such",
    "feels",
    "favourite",
    "always do",
    "from now on",
    "until further",
    "call me",
    "no more",
    "whenever",
    "in general",
    "to me",
)
_DECISIONS: Final = ("decided", "took", "settled", "from now", "let us", "noted")
_HOWTOS: Final = (
    "process",
    "to do so",
    "as is done",
    "here is",
    "rule of order",
    "in order",
    "by doing",
    "first then",
)
KINDS: Final = {
    **dict.fromkeys(_PREFERENCES, "preference"),
    **dict.fromkeys(_DECISIONS, "decision"),
    **dict.fromkeys(_HOWTOS, "howto"),
    **dict.fromkeys(("righted", "mended", "not but", "foreign righted", "mine"), "correction"),
    "foreign likes": "preference",
    "foreign decided": "decision",
}
"""Rule -> kind; a rule that is not named here finds facts."""
OUTLIVE: Final = frozenset(
    (
        "did",
        "did once",
        "did so",
        "decided",
        "became",
        "from now",
        "kin",
        "name",
        "righted",
        "not but",
        "likes",
    )
)
"""Rules whose statements outlive the day they speak of."""
_THEY: Final = {"she's": "she", "he's": "he", "they're": "they"}


def lasting(words: list[str], at: int, last: int, start: int, marks: tuple[bool, bool]) -> str | None:
    """Return the rule that finds a lasting statement in a clause whose subject is named, or None.

    Args:
        words: All words.
        at: The clause's first word after what leads in.
        last: The word after its last.
        start: The clause's first word.
        marks: Whether a name, known by its capital, stands after the word `at`, and whether that has a capital.
    """
    named, capital = marks
    simple = plain(words, at, last)
    if simple:
        return lasting(simple, 0, len(simple), 0, (named, False)) if len(simple) > 1 else None
    word = words[at]
    if word in FIRST and word not in ("my", "our"):
        return first(words, at, last, start, named)
    found = unsubjected(words, at, last, named)
    if found:
        return found
    if word in BARE_KIN or (word[-2:] == "'s" and word[:-2] in BARE_KIN):
        return third(["my", *words[at:last]], 0, last - at + 1, named)
    if word in _THEY:
        return third([_THEY[word], "is", *words[at + 1 : last]], 0, last - at + 1, named)
    if word in ("ours", "mine") and at + 2 < last and words[at + 1] in ("is", "are", "has"):
        return "name" if word == "ours" else "mine"
    if word in ("his", "her", "their") and words[at + 1 : at + 2] in (["name"], ["name's"], ["birthday"]):
        return third(["my", *words[at + 1 : last]], 0, last - at, named)
    found = third(words, at, last, named)
    if found or not capital:
        return found or ended(words, at, last)
    return ended(words, at, last) or person(words, at, last)
