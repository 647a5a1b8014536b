"""Statements: str -> tuple[Statement, ...] of what a person says in earnest that will matter in a month.

No model: ``prose`` leaves out what others wrote, ``clauses`` cuts, ``veto`` drops what is asked, supposed, told,
played or over tomorrow, and ``rules`` name what remains. What no rule knows is not kept: a missed fact still
stands in its turn, a wrong one would be handed out as knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.statements.carried import PEOPLE
from scrubjay.ingest.statements.clauses import Clause, asks, clauses
from scrubjay.ingest.statements.cues import cued, said_for_itself
from scrubjay.ingest.statements.judged import look, of_clause, of_them, of_whole, weighed
from scrubjay.ingest.statements.marks import IF, TELLS
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import Words, read, sentences
from scrubjay.ingest.statements.rules import KINDS
from scrubjay.ingest.statements.signs import BITS, ORDERS, of_turn
from scrubjay.ingest.statements.veto import earnest, told, unreal, unsaid
from scrubjay.ingest.statements.wishes import noted
from scrubjay.ingest.statements.words import JOINS, bag

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
LEAST_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

_SPACE = re.compile(r"\s+")
_OURS: Final = bag("we our we're we've ours my")
"""Who speaks of these also tells of their own world when they name a thing with "the"."""
_KNOWN: Final = frozenset(("the", "a", "an", "he", "she", "they"))
"""What is said of these before a question belongs to the question: "the train leaves at 9, when do I get up?"."""


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
    plain = prose(text)
    said = read(plain, len(plain))
    limit = earnest(plain, frozenset(said.words))
    turn = of_turn(text, plain, said.words)
    found: list[Statement] = []
    for first, last, asked in sentences(said):
        if said.starts[first] >= limit:
            break
        if found and unsaid(plain, said.starts[first], said.ends[last - 1]):
            found.pop()
        person = bool(found) and found[-1].rule in PEOPLE
        found += _of_sentence(text, said, first, last, asked, person, turn)
    ours = not _OURS.isdisjoint(said.words)
    return tuple(one for one in found if one.end <= limit and (ours or one.rule != "at large"))


def _of_sentence(
    text: str, said: Words, first: int, last: int, asked: bool, person: bool, turn: int
) -> Iterator[Statement]:
    ordered = said.words[first] in ORDERS and not said_for_itself(said.words[first:last])
    if ordered or asks(said.words, first, last):
        return
    parts = clauses(said, first, last, asked)
    parts = parts[: next((number for number, clause in enumerate(parts) if clause.asked), len(parts))]
    if not parts:
        return
    whole = of_whole(said, parts)
    if whole:
        yield from _made(text, said, *whole)
        return
    settled = supposed = False
    for clause in parts:
        seen = look(text, said, clause)
        words, end = seen.words, seen.end
        if seen.marks & TELLS and told(said.text, seen.start, end, words):
            return
        supposed = supposed or seen.marks & IF > 0 or "unless" in words[:3]
        rule = "noted" if settled else of_clause(seen, supposed)
        if not rule and person and not supposed:
            rule = of_them(seen)
        person = rule in PEOPLE
        if (
            not rule
            and not supposed
            and not (asked and words[0] in _KNOWN)
            and weighed(text, seen, turn | (BITS["first"] if clause.first == first else 0))
        ):
            rule = "weighed"
        if rule and unreal(said.text, said.starts[first], end, said.words[first : clause.last + 1]):
            return
        settled = noted(said.text, seen.start, said.starts[clause.last - 1] + len(words[-1]))
        if rule and not settled:
            yield from _made(text, said, clause, rule)


def _made(text: str, said: Words, clause: Clause, rule: str) -> Iterator[Statement]:
    """Yield the statement of a clause, without what joins it to another and the marks around it."""
    first, last = clause.first, clause.last

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
