"""Verb: list[Piece] -> Verb. Where the subject of an English statement ends, by its first finite verb."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from scrubjay.ingest.change.levels import level
from scrubjay.ingest.change.piece import Piece
from scrubjay.ingest.change.words import (
    AUXILIARY,
    BE,
    CHANGE,
    DETERMINERS,
    FUTURE,
    IRREGULAR,
    NEGATORS,
    PAST,
    PERSONS,
    VERBS,
    listed,
)
from scrubjay.text.stems import stem

_SUBJECTS: Final = listed("i we you they he she it who that which there")
_POSSESSIVE: Final = DETERMINERS | {"'s", "of", "in", "on", "at", "with", "from"}
SHORTEST: Final = 4
"""Letters up to which an -ed is of the word itself: red, need."""
NOUNS: Final = frozenset(
    (
        "nothing",
        "something",
        "everything",
        "anything",
        "thing",
        "king",
        "ring",
        "spring",
        "string",
        "morning",
        "evening",
        "during",
        "sibling",
        "ceiling",
    )
)
OPENERS: Final = listed(
    "after before when whenever while in on at for since because if as during with by once until from"
    " every due despite starting although though"
)
"""Words with which a statement begins that comes to its subject later."""
_PARTING: Final = frozenset((":", "=", "->", "→", "will", "'ll"))
_WAS: Final = frozenset(("was", "were", "did", "had"))
_STATES: Final = frozenset(("have", "get", "live", "know", "own", "like", "be"))
"""What has been so and is so: "I have always had", "we have lived"."""
_HAS: Final = frozenset(("has", "have", "had", "'ve"))


class Verb(NamedTuple):
    """A verb.

    Attributes:
        at: The place of its piece; -1 for none.
        key: Its stem; "be" for a copula or a colon.
        tense: The signal of its tense, or "".
        start: Where its subject begins.
    """

    at: int
    key: str
    tense: str
    start: int = 0


def find_verb(pieces: list[Piece]) -> Verb:
    """Return the verb that parts a statement, and whether it speaks of the past or of a plan.

    An auxiliary parts too, and then the verb is the one behind it. A form without an ending is a verb only
    where a noun cannot stand: behind "I", behind a plural, after "to", or at the start.
    """
    start = _opening(pieces)
    first = next((at for at in range(start, len(pieces)) if _parts(pieces, at)), -1)
    if first < 0:
        first = next((at for at in range(max(start, 1), len(pieces)) if _looks_finite(pieces, at)), -1)
    if first < 0:
        return Verb(-1, "", "")
    start = (
        max((at + 1 for at in range(start, first) if pieces[at].low == ","), default=start) if start else 0
    )
    low = pieces[first].low
    if low in (":", "=", "->", "→"):
        return Verb(first, "be", "noted", start)
    tense = "past" if low in _WAS or low in PAST or _ended(low) else ""
    if low not in BE and low not in AUXILIARY and low not in FUTURE:
        return Verb(first, level(low, "en").key, tense, start)
    main = _main(pieces, first)
    if main < 0:
        return Verb(first, "be" if low in BE else "have" if low in _HAS else low, tense, start)
    been = first + 1 < len(pieces) and pieces[first + 1].low == "been"  # "the contract's been signed"
    if (low in _HAS or (low == "'s" and been)) and _participle(pieces[main].low) and low not in _WAS:
        tense = "" if level(pieces[main].low, "en").key in _STATES else "past"
    if low in BE and low not in _WAS and pieces[main].low.endswith("ing"):
        tense = "ongoing"
    return Verb(main, level(pieces[main].low, "en").key, tense, start)


def _opening(pieces: list[Piece]) -> int:
    """Return where the main clause begins, behind a clause or phrase that tells when, where or why."""
    if not pieces or pieces[0].low not in OPENERS:
        return 0
    return next((at + 1 for at, piece in enumerate(pieces[:-1]) if piece.low == ","), 0)


def _parts(pieces: list[Piece], at: int) -> bool:
    low = pieces[at].low
    if not low or not _may_part(low):
        return False
    if low in (":", "=", "->", "→"):
        return at > 0
    if low in BE or low in ("will", "'ll") or low in AUXILIARY:
        return (not (low == "'s" and not _copula(pieces, at)) and low != "may") or pieces[at].raw == "may"
    return _finite(pieces, at)


@lru_cache(10_000)
def _may_part(low: str) -> bool:
    """Return whether a word is ever what parts a subject from what is said of it."""
    if low in _PARTING or low in BE or low in AUXILIARY:
        return True
    return stem(IRREGULAR.get(low, low), "en") in VERBS or (low in CHANGE and low.endswith("ed"))


def _copula(pieces: list[Piece], at: int) -> bool:
    """Return whether an "'s" is "is": behind a pronoun, or before what no name can own."""
    following = pieces[at + 1].low if at + 1 < len(pieces) else ""
    return (
        (at > 0 and pieces[at - 1].low in _SUBJECTS)
        or following == "been"
        or following in DETERMINERS
        or following in NEGATORS
        or following.endswith("ing")
    )


def _finite(pieces: list[Piece], at: int) -> bool:
    low, before = pieces[at].low, pieces[at - 1].low if at else ""
    if low in CHANGE and low.endswith("ed"):
        return at > 0
    base = stem(IRREGULAR.get(low, low), "en")
    if base not in VERBS or before in _POSSESSIVE or low.endswith("ing") or low in _SUBJECTS:
        return False
    if low in PAST or _ended(low):
        return at > 0
    if low.endswith("s") and not low.endswith("ss"):
        follows = pieces[at + 1].low if at + 1 < len(pieces) else ""
        return at > 0 and not (
            follows and stem(follows, "en") in VERBS and not follows.endswith(("s", "ing", "ed"))
        )
    if at == 0 and (low == "last" or _heads(pieces)):
        return False
    return (
        at == 0
        or before in _SUBJECTS
        or before in PERSONS
        or (before.endswith("s") and not before.endswith("ss"))
        or before in NEGATORS
        or before in ("always", "please", "and", ",")
    )


def _heads(pieces: list[Piece]) -> bool:
    """Return whether a statement begins with a noun, since its verb comes next: "Release 4.2 is", "Work is"."""
    verb = 2 if len(pieces) > 2 and pieces[1].number else 1
    low = pieces[verb].low if verb < len(pieces) else ""
    return low in BE or low in AUXILIARY or (verb == 2 and _ended(low))


def _looks_finite(pieces: list[Piece], at: int) -> bool:
    """Return whether a word that is no known verb has a verb's ending where one can stand."""
    low, before = pieces[at].low, pieces[at - 1].low
    if not low.isalpha() or len(low) <= SHORTEST or before in _POSSESSIVE or pieces[at].raw[:1].isupper():
        return before in _SUBJECTS and low.isalpha() and before not in ("it", "that", "which", "who")
    return _ended(low) or (
        low.endswith("s") and not low.endswith(("ss", "us", "is")) and at + 1 < len(pieces)
    )


def _main(pieces: list[Piece], first: int) -> int:
    """Return the place of the verb that an auxiliary helps, or -1."""
    copula = pieces[first].low in BE or [piece.low for piece in pieces[first + 1 : first + 2]] == ["been"]
    for at in range(first + 1, min(first + 6, len(pieces))):
        low = pieces[at].low
        if not low or low in DETERMINERS:
            return -1
        base = stem(IRREGULAR.get(low, low), "en")
        if (
            (base in VERBS and not copula)
            or (copula and _participle(low))
            or (low.endswith("ing") and low not in NOUNS)
        ):
            return at
    return -1


def _participle(low: str) -> bool:
    return _ended(low) or low in IRREGULAR or (low.startswith("re") and low[2:] in IRREGULAR)


def _ended(low: str) -> bool:
    """Return whether a word has the ending of the past: "moved", not "red" or "need"."""
    return low.endswith("ed") and len(low) > SHORTEST and (low[-3] != "e" or low in ("agreed", "freed"))
