"""Statements: str -> tuple[Statement, ...] of what a person says in earnest that will matter in a month.

No model: ``prose`` leaves out what others wrote, ``clauses`` cuts, ``veto`` drops what is asked, supposed, told, played
or taken back, and ``weighed`` decides by the signs of what remains. What weighs too little is left: a missed fact still
stands in its turn, a wrong one would be handed out as knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from scrubjay.ingest.statements.clauses import asks, clauses
from scrubjay.ingest.statements.kinds import kind
from scrubjay.ingest.statements.marks import IF, TELLS
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import Words, read, sentences
from scrubjay.ingest.statements.signed import signs_of
from scrubjay.ingest.statements.signs import of_turn
from scrubjay.ingest.statements.veto import earnest, told, unreal, unsaid
from scrubjay.ingest.statements.weighed import kept
from scrubjay.ingest.statements.words import JOINS

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
LEAST_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

_KNOWN: Final = frozenset(("the", "a", "an", "he", "she", "they"))
"""What is said of these before a question belongs to the question: "the train leaves at 9, when do I get up?"."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of a turn that says one thing worth keeping.

    Attributes:
        start: Where it begins, in code points of the turn.
        end: Where it ends.
        kind: ``preference``, ``decision``, ``fact``, ``correction`` or ``howto``.
        text: What stands there, whitespace as one space.
        rule: Name of the rule that found it.
    """

    start: int
    end: int
    kind: str
    text: str
    rule: str


def statements(text: str) -> tuple[Statement, ...]:
    """Return the lasting statements of a person's turn in order; they do not overlap.

    Args:
        text: The turn as written. An assistant's turn is not for this function.

    >>> [(found.kind, found.text) for found in statements("My sister Ana lives in Porto, what should I see there?")]
    [('fact', 'My sister Ana lives in Porto')]
    """
    found: list[Statement] = []
    for offer in offered(text):
        if offer is None:
            found = found[:-1]
        elif kept(offer.signs):
            found += made(text, offer)
    return tuple(found)


class Offer(NamedTuple):
    """A clause that may be kept: the words of the turn, its first, the one after its last, and its signs."""

    said: Words
    first: int
    last: int
    signs: int


def offered(text: str) -> Iterator[Offer | None]:
    """Yield the clauses of a turn that may be kept, in order; None where the one before is taken back."""
    plain = prose(text)
    said = read(plain, len(plain))
    limit = earnest(plain, frozenset(said.words))
    turn = of_turn(text, plain, said.words)
    for first, last, asked in sentences(said):
        if said.starts[first] >= limit:
            break
        if unsaid(plain, said.starts[first], said.ends[last - 1]):
            yield None
        for offer in _of_sentence(text, said, first, last, asked, turn):
            if said.ends[offer.last - 1] <= limit:
                yield offer


def _of_sentence(text: str, said: Words, first: int, last: int, asked: bool, turn: int) -> Iterator[Offer]:
    """Yield the clauses of a sentence up to what it asks, supposes or hands on."""
    if asks(said.words, first, last):
        return
    for clause in clauses(said, first, last, asked):
        words, start, end = (
            said.words[clause.first : clause.last],
            said.starts[clause.first],
            said.ends[clause.last - 1],
        )
        marks = 0
        for bits in said.marks[clause.first : clause.last]:
            marks |= bits
        if clause.asked or marks & IF or (marks & TELLS and told(said.text, start, end, words)):
            return
        if unreal(said.text, said.starts[first], end, said.words[first : clause.last + 1]):
            return
        if not (asked and words[0] in _KNOWN):
            yield Offer(said, clause.first, clause.last, signs_of(text, said, clause, first) | turn)


def made(text: str, offer: Offer) -> Iterator[Statement]:
    """Yield the statement of a clause, without what joins it to another and the marks around it."""
    said, first, last = offer.said, offer.first, offer.last

    def bare(at: int) -> bool:
        return not any(char.isalnum() for char in text[said.starts[at] : said.ends[at]])

    while first < last and bare(first):
        first += 1
    while first + LEAST_WORDS < last and said.words[first] in JOINS:
        first += 1
    while last > first and bare(last - 1):
        last -= 1
    if first >= last:
        return
    start = said.starts[first]
    end = start + len(text[start : said.ends[last - 1]].rstrip(",;:- "))
    if LEAST <= end - start <= MOST:
        yield Statement(start, end, kind(said.words[first:last]), _SPACE.sub(" ", text[start:end]), "weighed")
