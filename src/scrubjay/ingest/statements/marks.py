"""Marks: a word as it stands -> (the word without what is around it, the classes it belongs to, each one bit).

What a word is does not depend on where it stands, so it is looked up once and remembered; a clause's classes are those
of its words joined.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from scrubjay.ingest.statements import veto, words
from scrubjay.ingest.statements.signs import BITS, BY_WORD, LIVED, OURS_ABROAD
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
) - bag("am was do") | OURS_ABROAD
_NO_ING: Final = bag(
    "thing nothing anything everything something morning evening during king ring spring string bring sing"
)
_STRONG: Final = bag(
    """was were had did went came took gave made got saw ran wrote read said told thought knew found felt
    left lost kept held met paid sent spent put cut let set began broke chose drove ate drank flew
    forgot grew heard hid hit hurt led lent lay rode rang rose sold sang sat slept spoke stood stole
    swam taught tore threw understood woke wore won bought brought built caught dealt dug fed fought
    hung laid lit meant quit shot shut slid stuck swept"""
)
"""Verbs whose past has no -ed."""
_PAST: Final = _STRONG | words.DATED | words.TALKED
_PRESENT: Final = bag("need feed speed breed bleed exceed proceed succeed seed embed shed wed heed weed")
"""Verbs that end in -ed all the same."""
_CLASSES: Final = (
    words.BE,
    words.FLEETING,
    words.ADVERBS | words.NEGATIVE | words.AUXILIARY,
    LIVED,
    _ENGLISH,
    veto.TELLS,
    bag("if unless"),
)
_FIRST: Final = len(BITS)
IS, FLEETS, BETWEEN, LIVES, ENGLISH, TELLS, IF = (1 << _FIRST + number for number in range(len(_CLASSES)))
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
    if (word[-2:] == "ed" and word not in _PRESENT) or word in _PAST:
        found |= VERBAL | PAST
    elif word in words.STATES or word in words.AUXILIARY or word in OURS_ABROAD:
        found |= VERBAL
    if word[-3:] == "ing" and word not in _NO_ING:
        found |= ING
    if word[-2:] == "ed":
        found |= BITS["ed"]
    found |= BITS["number"] if _DIGIT.search(raw) else 0
    return word, found | (BITS["code"] if _CODE.search(raw) else 0)
