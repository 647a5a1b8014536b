"""Telling: a question -> which of its words tell what it is about: names, numbers, identifiers; and which do not."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from scrubjay.text.languages import function_words
from scrubjay.text.tokens import words

_ASKING: Final = (
    "any about also am could did do does done go got had has he him how i if it just know like make may me might my "
    "need our please say should show so some tell than then these those us use want was where why work you your "
    "being both each into its she too while within would"
)
ASKING: Final = frozenset(_ASKING.split())
"""English words that questions are made of; those of the language guesser are added."""
_GENERAL: Final = (
    "anything everything something nothing happen happened happening happens occur occurred going new news events "
    "event things thing else discuss discussed talk talked work worked "
    "etwas irgendetwas alles nichts los neu neues neuigkeiten passiert passierte geschah geschehen gab ereignisse "
    "gemacht besprochen gearbeitet"
)
GENERAL: Final = frozenset(_GENERAL.split())
"""Words that ask what there was at a time, without a word of what."""
_START: Final = re.compile(r"(?:\A|[.!?:;]\s|\n)\W*")
_ORDINAL: Final = re.compile(r"\d+(?:s|st|nd|rd|th|am|pm|k|m|km|kg|cm|mm)", re.I)
_IDENTIFIER: Final = re.compile(
    r"(?=.*[^\W\d_])(?:.*_.*|.*\d.*|[a-z]{2}[a-z0-9]*+[A-Z].*|\w{2,}\.[A-Za-z]\w*)", re.S
)
SHORTEST: Final = 4
"""Characters of an identifier: a shorter one (``v2``, ``h1``) stands in many places."""


@cache
def says_nothing(word: str) -> bool:
    """Return whether a folded word says nothing of what is asked for: a function word, one of asking, one letter.

    >>> says_nothing("where"), says_nothing("invoices")
    (True, False)
    """
    return (len(word) < 2 and not word.isdigit()) or word in ASKING or word in function_words()


def asks_of_all(word: str) -> bool:
    """Return whether a folded word, in a question that names a time, asks for all that there was then.

    >>> asks_of_all("happened"), asks_of_all("we"), asks_of_all("invoices")
    (True, True, False)
    """
    return says_nothing(word) or word in GENERAL


@lru_cache(maxsize=64)
def named(text: str) -> frozenset[str]:
    """Return the folded words of a text that are names or numbers, as far as capitals and digits tell.

    A capital at the beginning of a sentence tells nothing. German writes every noun so; then nouns are names.

    >>> sorted(named("When did Caroline go to Rome in 2023?"))
    ['2023', 'caroline', 'rome']
    """
    starts = {match.end() for match in _START.finditer(text)}
    found = set()
    for word in words(text):
        raw = text[word.start : word.end]
        inner = any(character.isupper() for character in raw[1:])
        if inner or any(c.isdigit() for c in raw) or (raw[:1].isupper() and word.start not in starts):
            found.add(word.text)
    return frozenset(found)


def identifiers(text: str) -> frozenset[str]:
    """Return the folded words of a text that are identifiers: what nobody writes but to name one certain thing.

    >>> sorted(identifiers("why does ERR_409 come from notes.md and getUserById, in the 1950s, on the 5th?"))
    ['err_409', 'getuserbyid', 'notes.md']
    """
    found = set()
    for word in words(text):
        raw = text[word.start : word.end]
        if len(raw) >= SHORTEST and _IDENTIFIER.fullmatch(raw) and not _ORDINAL.fullmatch(raw):
            found.add(word.text)
    return frozenset(found)
