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

from scrubjay.ingest.statements.carried import PEOPLE, carried
from scrubjay.ingest.statements.clauses import Clause, asks, clauses
from scrubjay.ingest.statements.cues import cued
from scrubjay.ingest.statements.foreign import OPENINGS, foreign
from scrubjay.ingest.statements.labelled import LABELS, labelled
from scrubjay.ingest.statements.lead import lead
from scrubjay.ingest.statements.process import process
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import Words, read, sentences
from scrubjay.ingest.statements.righted import righted
from scrubjay.ingest.statements.rules import KINDS, OUTLIVE, lasting
from scrubjay.ingest.statements.signs import BITS, of_turn, signs
from scrubjay.ingest.statements.steps import done, steps
from scrubjay.ingest.statements.veto import doubted, earnest, passing, told, unreal, unsaid
from scrubjay.ingest.statements.wanted import wanted
from scrubjay.ingest.statements.weighed import ENOUGH, weight
from scrubjay.ingest.statements.wishes import noted, wish
from scrubjay.ingest.statements.words import FIRST, JOINS, STATES, bag

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
LEAST_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

_SPACE = re.compile(r"\s+")
_STATED: Final = frozenset(("as is done", "process", "there is", "feels"))
"""Rules of wishes that only state: not after an "if"."""
_OURS: Final = bag("we our we're we've ours my")
"""Who speaks of these also tells of their own world when they name a thing with "the"."""
_KNOWN: Final = bag("the a an")
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
    if asks(said.words, first, last):
        return
    parts = clauses(said, first, last, asked)
    parts = parts[: next((number for number, clause in enumerate(parts) if clause.asked), len(parts))]
    if not parts:
        return
    whole = _of_whole(said, parts)
    if whole:
        yield from _made(text, said, *whole)
        return
    settled = supposed = False
    for clause in parts:
        words = said.words[clause.first : clause.last]
        start, end = said.starts[clause.first], said.ends[clause.last - 1]
        if told(said.text, start, end, words):
            return
        supposed = supposed or "if" in words or "unless" in words[:3]
        rule = "noted" if settled else _of_clause(text, said, clause, words, supposed)
        if not rule and person and not supposed:
            rule = _of_them(text, said, clause, words)
        person = rule in PEOPLE
        if not rule and not supposed and not (asked and words[0] in _KNOWN) and _weighed(text, said, clause, words, turn, clause.first == first):
            rule = "weighed"
        if rule and unreal(said.text, said.starts[first], end, said.words[first : clause.last + 1]):
            return
        settled = noted(said.text, start, said.starts[clause.last - 1] + len(words[-1]))
        if rule and not settled:
            yield from _made(text, said, clause, rule)


def _of_whole(said: Words, parts: list[Clause]) -> tuple[Clause, str] | None:
    """Return a how-to or a correction of several clauses; it may begin behind a colon."""
    last = parts[-1].last
    for number, clause in enumerate(parts):
        if number and said.raw[clause.first - 1][-1] not in ":;":
            continue
        first = clause.first
        at = lead(said.words, first, last)
        words, start, end = said.words[first:last], said.starts[first], said.ends[last - 1]
        rest = said.words[at:last]
        rule = steps(said.text, said.starts[at], end, rest) if rest else None
        if not rule and words[0] in ("first", "then", "any", "all", "new"):
            rule = steps(said.text, start, end, words)
        rule = rule or (labelled(said.text, said.starts[at], end, rest) if rest else None)
        if not rule and "if" not in words:
            rule = righted(said.text, start, end, frozenset(words))
            rule = None if rule and rule != "mended" and doubted(said.text, start, end, words) else rule
        if rule and not told(said.text, start, end, words) and not unreal(said.text, start, end, words):
            return Clause(first, last, False), rule
    return None


def _of_clause(text: str, said: Words, clause: Clause, words: list[str], supposed: bool) -> str | None:
    start, end = said.starts[clause.first], said.ends[clause.last - 1]
    rule = foreign(said.text, start, end, words) if words[0] in OPENINGS else None
    at = lead(said.words, clause.first, clause.last)
    if rule or at >= clause.last:
        return rule
    for first in (at, clause.first) if at > clause.first else (at,):
        rest = said.words[first : clause.last]
        begin = said.starts[first]
        rule = wish(said.text, begin, end, rest) or done(said.text, begin, end, rest)
        rule = rule or process(said.text, begin, end, rest) or wanted(said.text, begin, end, rest)
        if rule and not (supposed and rule in _STATED):
            return rule
    if supposed:
        return None
    rule = lasting(said.words, at, clause.last, clause.first, _capitals(text, said, at, clause.last))
    if not rule or doubted(said.text, start, end, words):
        return None
    return None if rule not in OUTLIVE and passing(said.text, start, end) else rule


def _weighed(text: str, said: Words, clause: Clause, words: list[str], turn: int, first: bool) -> bool:
    """Tell whether the signs of a clause that no rule knows speak for it."""
    start, end = said.starts[clause.first], said.ends[clause.last - 1]
    at = lead(said.words, clause.first, clause.last)
    at = clause.first if at >= clause.last else at
    if at + 1 < clause.last and text[said.starts[at]].isupper() and text[said.starts[at + 1]].isupper():
        return False  # "Marie Curie was born in Warsaw": people of one's own life go by one name
    known = signs(
        said.words[at : clause.last],
        said.text[said.starts[at] : end],
        _capitals(text, said, at, clause.last),
        doubted(said.text, start, end, words),
    )
    return weight(known | turn | (BITS["first"] if first else 0)) >= ENOUGH


def _of_them(text: str, said: Words, clause: Clause, words: list[str]) -> str | None:
    """Return the rule of a clause about the person whom the statement before names."""
    at = lead(said.words, clause.first, clause.last)
    theirs = carried(said.words, at, clause.last) if at < clause.last else None
    if not theirs or doubted(said.text, said.starts[at], said.ends[clause.last - 1], words):
        return None
    if passing(said.text, said.starts[at], said.ends[clause.last - 1]):
        return None
    return "of them" if lasting(theirs, 0, len(theirs), 0, _capitals(text, said, at, clause.last)) else None


def _capitals(text: str, said: Words, at: int, last: int) -> tuple[bool, bool]:
    """Tell whether a name stands after a clause's first word, and whether that has a capital itself."""
    starts, words = said.starts, said.words
    first = text[starts[at]].isupper()
    if text[starts[at] + 1 : said.ends[last - 1]].islower():
        return False, first
    return any(text[starts[on]].isupper() and words[on] not in FIRST for on in range(at + 1, last)), first


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
