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

from scrubjay.ingest.statements.clauses import Clause, clauses
from scrubjay.ingest.statements.foreign import OPENINGS, foreign
from scrubjay.ingest.statements.lead import lead
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import Words, read, sentences
from scrubjay.ingest.statements.righted import righted
from scrubjay.ingest.statements.rules import KINDS, OUTLIVE, lasting
from scrubjay.ingest.statements.steps import done, steps
from scrubjay.ingest.statements.veto import doubted, earnest, passing, told, unreal, unsaid
from scrubjay.ingest.statements.wishes import noted, wish
from scrubjay.ingest.statements.words import FIRST, JOINS

LEAST: Final = 8
"""Characters of the shortest statement: "I'm vegan"."""
MOST: Final = 400
"""Characters of the longest: nobody says one thing at such length."""
LEAST_WORDS: Final = 2
"""Words that stay when a leading "and" is left out."""

_SPACE = re.compile(r"\s+")
_STATED: Final = frozenset(("as is done", "there is", "feels"))
"""Rules of wishes that only state: not after an "if"."""


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
    plain = prose(text)
    said = read(plain, len(plain))
    limit = earnest(plain, frozenset(said.words))
    found: list[Statement] = []
    for first, last, asked in sentences(said):
        if said.starts[first] >= limit:
            break
        if found and unsaid(plain, said.starts[first], said.ends[last - 1]):
            found.pop()
        found += _of_sentence(text, said, first, last, asked)
    return tuple(one for one in found if one.end <= limit)


def _of_sentence(text: str, said: Words, first: int, last: int, asked: bool) -> Iterator[Statement]:
    parts = clauses(said, first, last, asked)
    parts = parts[: next((number for number, clause in enumerate(parts) if clause.asked), len(parts))]
    if not parts:
        return
    whole = Clause(first, parts[-1].last, False)
    words = said.words[first : whole.last]
    start, end = said.starts[first], said.ends[whole.last - 1]
    if not told(said.text, start, end, words) and not unreal(said.text, start, end, words):
        for at in (
            first,
            *(
                clause.first
                for clause in parts
                if clause.first > first and said.raw[clause.first - 1][-1] in ":;"
            ),
        ):
            rule = _of_whole(said, Clause(at, whole.last, False), said.words[at : whole.last])
            if rule:
                yield from _made(text, said, Clause(at, whole.last, False), rule)
                return
    settled = supposed = False
    for clause in parts:
        bag = said.words[clause.first : clause.last]
        start, end = said.starts[clause.first], said.ends[clause.last - 1]
        if told(said.text, start, end, bag):
            return
        supposed = supposed or "if" in bag or "unless" in bag[:3]
        if unreal(said.text, start, end, said.words[clause.first : clause.last + 1]):
            return
        rule = "noted" if settled else _of_clause(text, said, clause, bag, supposed)
        settled = noted(said.text, start, said.starts[clause.last - 1] + len(bag[-1]))
        if rule and not settled:
            yield from _made(text, said, clause, rule)


def _of_whole(said: Words, whole: Clause, words: list[str]) -> str | None:
    """Return the rule that finds a how-to or a correction in a sentence."""
    end = said.ends[whole.last - 1]
    at = lead(said.words, whole.first, whole.last)
    bag = frozenset(words)
    rule = steps(said.text, said.starts[at], end, bag) if at < whole.last else None
    if rule or "if" in bag or doubted(said.text, said.starts[whole.first], end, words):
        return rule
    return righted(said.text, said.starts[whole.first], end, bag)


def _capitals(text: str, said: Words, at: int, last: int) -> tuple[bool, bool]:
    """Tell whether a name stands after a clause's first word, and whether that has a capital itself."""
    named = any(
        text[said.starts[number]].isupper() and said.words[number] not in FIRST
        for number in range(at + 1, last)
    )
    return named, text[said.starts[at]].isupper()


def _of_clause(text: str, said: Words, clause: Clause, bag: list[str], supposed: bool) -> str | None:
    start, end = said.starts[clause.first], said.ends[clause.last - 1]
    if bag[0] in OPENINGS:
        rule = foreign(said.text, start, end, bag)
        if rule:
            return rule
    at = lead(said.words, clause.first, clause.last)
    if at >= clause.last:
        return None
    for first in (at, clause.first) if at > clause.first else (at,):
        words = said.words[first : clause.last]
        rule = wish(said.text, said.starts[first], end, words) or done(
            said.text, said.starts[first], end, words
        )
        if rule and not (supposed and rule in _STATED):
            return rule
    if supposed or doubted(said.text, start, end, bag):
        return None
    rule = lasting(said.words, at, clause.last, clause.first, _capitals(text, said, at, clause.last))
    return None if rule and rule not in OUTLIVE and passing(said.text, start, end) else rule


def _made(text: str, said: Words, clause: Clause, rule: str) -> Iterator[Statement]:
    first, last = clause.first, clause.last
    while first < last and not said.words[first][0].isalnum() and said.words[first] in "-;()--*&+...":
        first += 1
    while first + LEAST_WORDS < last and said.words[first] in JOINS:
        first += 1
    while last > first and not any(char.isalnum() for char in said.raw[last - 1]):
        last -= 1
    if first >= last:
        return
    start = said.starts[first]
    end = start + len(text[start : said.ends[last - 1]].rstrip(",;:- "))
    if LEAST <= end - start <= MOST:
        yield Statement(start, end, KINDS.get(rule, "fact"), _SPACE.sub(" ", text[start:end]), rule)
