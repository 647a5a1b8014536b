"""Statements: str -> tuple[Statement, ...] of what a person says in earnest that will matter in a month.

No model: ``offered`` reads the turn and names what it knows, and ``weighed`` decides by what speaks for and against
each clause whether it is kept. What weighs too little is left: a missed fact still stands in its turn, a wrong one
would be handed out as knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.statements.cues import cued
from scrubjay.ingest.statements.offered import Offer, offered
from scrubjay.ingest.statements.rules import KINDS
from scrubjay.ingest.statements.weighed import kept
from scrubjay.ingest.statements.words import JOINS

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
LEAST_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

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
    if not cued(text):
        return ()
    found: list[Statement] = []
    for offer in offered(text):
        if offer is None:
            found = found[:-1]
        elif kept(offer.rule, offer.signs, only=offer.only):
            found += made(text, offer)
    return tuple(found)


def made(text: str, offer: Offer) -> Iterator[Statement]:
    """Yield the statement of a clause, without what joins it to another and the marks around it."""
    said, first, last, rule = offer.said, offer.first, offer.last, offer.rule or "weighed"

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
        yield Statement(start, end, KINDS.get(rule, "fact"), _SPACE.sub(" ", text[start:end]), rule)
