"""Rules: a sentence's clauses -> (rule, kind) of those that say something lasting."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.first import first
from scrubjay.ingest.statements.third import ended, person, third
from scrubjay.ingest.statements.words import BARE_KIN, DATED, FIRST, LIFE, TALKED

_PREFERENCES: Final = ("likes", "house style", "no such", "feels", "favourite", "always do", "from now on", "until further", "call me")
_DECISIONS: Final = ("decided", "took", "settled", "from now", "let us", "noted")
_HOWTOS: Final = ("to do so", "as is done", "here is", "rule of order", "in order", "by doing")
KINDS: Final = {
    **dict.fromkeys(_PREFERENCES, "preference"),
    **dict.fromkeys(_DECISIONS, "decision"),
    **dict.fromkeys(_HOWTOS, "howto"),
    **dict.fromkeys(("righted", "not but", "foreign righted", "mine"), "correction"),
    "foreign likes": "preference",
    "foreign decided": "decision",
}
"""Rule -> kind; a rule that is not named here finds facts."""
OUTLIVE: Final = frozenset(("did", "did once", "did so", "decided", "became", "from now", "kin", "name", "righted", "not but", "likes"))
"""Rules whose statements outlive the day they speak of."""
_LEFT_OUT: Final = (LIFE | DATED | frozenset("allergic intolerant vegetarian vegan diagnosed decided lactose prefer hate live work born tore lost met".split())) - frozenset(
    "set cut saw read quit passed cancelled stopped led spent got had dropped released built closed opened created shipped enabled disabled merged deployed".split()
)
"""What begins a statement about its writer who leaves the I out, and is no order."""
_OBJECT: Final = frozenset("my our a an the to from in at with two three out up".split())
_LEFT_BEFORE: Final = frozenset("just recently finally also currently been still".split())


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
    if at >= last:
        return None
    word = words[at]
    if word in FIRST and word not in ("my", "our"):
        return first(words, at, last, start, named)
    if word in _LEFT_BEFORE or _left(words, at, last):
        return _without(words, at, last, named)
    if word in BARE_KIN or (word[-2:] == "'s" and word[:-2] in BARE_KIN):
        return third(["my", *words[at:last]], 0, last - at + 1, named)
    if word in ("she's", "he's", "they're"):
        return third([word[:-3] if word == "they're" else word[:-2], "is", *words[at + 1 : last]], 0, last - at + 1, named)
    if word == "ours" and at + 2 < last and words[at + 1] in ("is", "are", "has"):
        return "name"
    if word == "mine" and at + 2 < last and words[at + 1] in ("is", "are", "has", "was"):
        return "mine"
    return third(words, at, last, named) or ("no longer" if ended(words, at, last) else None) or (person(words, at, last) if capital else None)


def _left(words: list[str], at: int, last: int) -> bool:
    """Tell whether a word is what somebody did or is who leaves the I out: "Tore my rotator cuff in 2022"."""
    word = words[at]
    if word in _LEFT_OUT:
        return True
    return word[-2:] == "ed" and word.isalpha() and word not in TALKED and at + 2 < last and words[at + 1] in _OBJECT


def _without(words: list[str], at: int, last: int, named: bool) -> str | None:
    verb = at
    while verb < last and words[verb] in _LEFT_BEFORE:
        verb += 1
    if verb >= last or not _left(words, verb, last):
        return None
    bare = "i'm" if words[verb] in ("allergic", "intolerant", "vegetarian", "vegan", "lactose", "born", "married") else "i"
    return first([bare, *words[verb:last]], 0, last - verb + 1, 0, named)
