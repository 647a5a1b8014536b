"""Signed: a clause -> the signs in it, from the classes of its words."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements import things
from scrubjay.ingest.statements.clauses import Clause
from scrubjay.ingest.statements.marks import BETWEEN, ENGLISH, FLEETS, ING, IS, LIVES, PAST, SIGNS, VERBAL
from scrubjay.ingest.statements.reading import Words
from scrubjay.ingest.statements.signs import BITS, SUBJECT
from scrubjay.ingest.statements.words import FIRST, JOINS, bag

FEW: Final = 3
"""Words up to which there may be no small English word among them."""
VERB: Final = 8
"""Words within which a clause has its verb."""
OVER: Final = 13
"""Words of a long clause."""

_LEADING: Final = JOINS | bag(
    "btw also oh ok okay yes no hi hey hello well actually fyi then please just yeah nope"
)
"""What leads in to what a clause says."""
_MINE: Final = BITS["of i"] | BITS["of we"]
_BEING: Final = BITS["is"] | BITS["was"]
_TURNING: Final = BITS["denies"] | BITS["rather"]
_ENDS: Final = {"!": BITS["exclaims"], ",": BITS["goes on"], ":": BITS["heads"]}
_BY_LENGTH: Final = tuple(
    (BITS["under 3"] if count < 3 else 0)
    | (BITS["under 5"] if count < 5 else 0)
    | (BITS["over 12"] if count == OVER else 0)
    for count in range(OVER + 1)
)


def signs_of(text: str, said: Words, clause: Clause, opens: int) -> int:
    """Return the signs of a clause.

    Args:
        text: The turn as written.
        said: The words of the turn.
        clause: The clause.
        opens: The first word of its sentence.
    """
    at, last = clause.first, clause.last
    while at + 1 < last and said.words[at] in _LEADING:
        at += 1
    found = 0
    for bits in said.marks[at:last]:
        found |= bits
    signs = _signed(said, at, last, _capitals(text, said, at, last), found)
    signs |= BITS["first"] if clause.first == opens else 0
    signs |= BITS["opens turn"] if clause.first == 0 else 0
    return signs | (BITS["ends turn"] if last == len(said.words) else 0)


def _signed(said: Words, at: int, last: int, named: tuple[bool, bool], found: int) -> int:
    """Return the signs of a clause.

    Args:
        said: The words of the turn.
        at: The clause's first word after what leads in.
        last: The word after its last.
        named: Whether a name, known by its capital, stands after the first word, and whether that has a
            capital.
        found: The classes of the clause's words.
    """
    known, first, count = said.marks, said.words[at], last - at
    subject = SUBJECT.get(first, 0)
    if subject:
        subject &= -subject  # a word may open in two ways: the first of `_SUBJECTS` holds
    else:
        subject = BITS["of name"] if named[1] and first not in things.WELL_KNOWN else BITS["of other"]
    signs = subject | found & SIGNS
    mine = subject & _MINE
    verbal = next((bits for bits in known[at + 1 : min(at + VERB, last)] if bits & VERBAL), 0)
    if not verbal:
        signs |= 0 if mine or subject == BITS["of order"] else BITS["no verb"]
    elif verbal & PAST and not verbal & IS:
        signs |= BITS["past"]
    if mine and count > 1:
        does = next((bits for bits in known[at + 1 : min(at + 6, last)] if not bits & BETWEEN), 0)
        signs |= BITS["fleeting"] if does & FLEETS else 0
        lived = known[at + 1] | known[min(at + 2, last - 1)] | known[min(at + 3, last - 1)]
        signs |= BITS["lived"] if lived & LIVES else 0
    signs |= BITS["named"] if named[0] else 0
    signs |= BITS["foreign"] if count > FEW and not found & ENGLISH else 0
    if found & ING and found & _BEING:
        signs |= BITS["ing"]
    if found & _TURNING and said.text.find(",", said.starts[at], said.ends[last - 1]) > 0:
        signs |= BITS["not but"]
    return signs | _ENDS.get(said.raw[last - 1][-1], 0) | _BY_LENGTH[min(count, OVER)]


def _capitals(text: str, said: Words, at: int, last: int) -> tuple[bool, bool]:
    """Tell whether a name stands after a clause's first word, and whether that has a capital itself."""
    starts, words = said.starts, said.words
    first = text[starts[at]].isupper()
    if text[starts[at] + 1 : said.ends[last - 1]].islower():
        return False, first
    named = any(text[starts[on]].isupper() and words[on] not in FIRST for on in range(at + 1, last))
    return named, first
