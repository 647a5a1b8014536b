"""Marks: a word as it stands -> (the word without what is around it, the classes it belongs to, each one bit).

What a word is does not depend on where it stands, so it is looked up once and remembered; a clause's classes are those
of its words joined, and a rule is asked only where one of its words stands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scrubjay.ingest.statements import labelled, process, righted, steps, veto, wanted, wishes, words
from scrubjay.ingest.statements.said import past
from scrubjay.ingest.statements.signs import BITS, BY_WORD, LIVED
from scrubjay.ingest.statements.words import bag

KNOWN: Final = 1 << 14
"""Words remembered at once: some megabytes."""

_EDGES: Final = ".,;:!?()[]{}\"'*_~`<>#¿¡"
_CODE: Final = re.compile(r"`|\w[/_.]\w")
_DIGIT: Final = re.compile(r"\d")
_ENGLISH: Final = (
    words.FIRST
    | words.PRONOUNS
    | words.OWNED
    | words.AUXILIARY
    | words.LIKE
    | bag("a an to of in on for and it's not no at with from by please never always only every all")
) - bag("am was do")
_NO_ING: Final = bag(
    "thing nothing anything everything something morning evening during king ring spring string bring sing"
)
_CLASSES: Final = (
    words.BE,
    words.FLEETING,
    words.ADVERBS | words.NEGATIVE | words.AUXILIARY,
    LIVED,
    _ENGLISH,
    wishes.CUES,
    wanted.CUES,
    process.STARTS,
    steps.CUES,
    steps.TOLD,
    righted.CUES,
    labelled.LABELS,
    veto.DOUBTING,
    veto.TELLS,
    veto.JOKING,
    frozenset(("if",)),
)
_FIRST: Final = len(BITS)
(
    IS,
    FLEETS,
    BETWEEN,
    LIVES,
    ENGLISH,
    WISHES,
    WANTS,
    STARTS,
    STEPS,
    DONE,
    RIGHTS,
    LABELS,
    DOUBTS,
    TELLS,
    JOKES,
    IF,
) = (1 << _FIRST + number for number in range(len(_CLASSES)))
VERBAL: Final = 1 << _FIRST + len(_CLASSES)
PAST: Final = VERBAL << 1
ING: Final = VERBAL << 2
SIGNS: Final = (1 << _FIRST) - 1
"""The bits that are signs."""


@lru_cache(KNOWN)
def mark(raw: str) -> tuple[str, int]:
    """Return a word without the marks around it, and the classes it belongs to.

    >>> word, found = mark("`port`,")
    >>> word, bool(found & BITS["code"])
    ('port', True)
    """
    word = raw if raw.isalpha() else raw.strip(_EDGES) or raw
    found = BY_WORD.get(word, 0)
    for number, members in enumerate(_CLASSES):
        if word in members:
            found |= 1 << _FIRST + number
    if past(word):
        found |= VERBAL | PAST
    elif word in words.STATES or word in words.AUXILIARY:
        found |= VERBAL
    if word[-3:] == "ing" and word not in _NO_ING:
        found |= ING
    if word[-2:] == "ed":
        found |= BITS["ed"]
    found |= BITS["number"] if _DIGIT.search(raw) else 0
    return word, found | (BITS["code"] if _CODE.search(raw) else 0)
