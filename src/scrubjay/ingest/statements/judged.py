"""Judged: a clause -> the rule that keeps it, or None."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from scrubjay.ingest.statements.carried import carried
from scrubjay.ingest.statements.clauses import Clause
from scrubjay.ingest.statements.foreign import OPENINGS, foreign
from scrubjay.ingest.statements.labelled import labelled
from scrubjay.ingest.statements.lead import lead
from scrubjay.ingest.statements.marks import DONE, DOUBTS, IF, LABELS, RIGHTS, STARTS, STEPS, WANTS, WISHES
from scrubjay.ingest.statements.process import process
from scrubjay.ingest.statements.reading import Words
from scrubjay.ingest.statements.righted import righted
from scrubjay.ingest.statements.rules import OUTLIVE, lasting
from scrubjay.ingest.statements.signed import signed
from scrubjay.ingest.statements.signs import BITS
from scrubjay.ingest.statements.steps import done, steps
from scrubjay.ingest.statements.veto import doubted, passing, told, unreal
from scrubjay.ingest.statements.wanted import wanted
from scrubjay.ingest.statements.wishes import wish
from scrubjay.ingest.statements.words import FIRST

_STATED: Final = frozenset(("as is done", "process", "there is", "feels"))
"""Rules of wishes that only state: not after an "if"."""
_BEGINS: Final = frozenset(("first", "then", "any", "all", "new"))
"""Words that lead in, and with which a how-to may begin."""


class Seen(NamedTuple):
    """A clause as it is looked at.

    Attributes:
        said: The words of the turn.
        first: Its first word.
        at: Its first word after what leads in; `last` where nothing else stands there.
        last: The word after its last.
        start: Where it begins.
        end: Where it ends.
        words: Its words.
        marks: The classes of its words.
        named: Whether a name, known by its capital, stands after the word `at`, and whether that has a capital.
    """

    said: Words
    first: int
    at: int
    last: int
    start: int
    end: int
    words: list[str]
    marks: int
    named: tuple[bool, bool]


def look(text: str, said: Words, clause: Clause) -> Seen:
    """Look at a clause once, for all that is asked about it."""
    first, last = clause.first, clause.last
    at = lead(said.words, first, last)
    return Seen(
        said,
        first,
        at,
        last,
        said.starts[first],
        said.ends[last - 1],
        said.words[first:last],
        reduce(or_, said.marks[first:last]),
        _capitals(text, said, at, last) if at < last else _capitals(text, said, first, last),
    )


def of_whole(said: Words, parts: list[Clause]) -> tuple[Clause, str] | None:
    """Return a how-to or a correction of several clauses; it may begin behind a colon."""
    last = parts[-1].last
    for number, clause in enumerate(parts):
        if number and said.raw[clause.first - 1][-1] not in ":;":
            continue
        first = clause.first
        marks = reduce(or_, said.marks[first:last])
        if not marks & (STEPS | LABELS | RIGHTS):
            continue
        rule = _of_whole(said, first, last, marks)
        if not rule:
            continue
        words, start, end = said.words[first:last], said.starts[first], said.ends[last - 1]
        if not told(said.text, start, end, words) and not unreal(said.text, start, end, words):
            return Clause(first, last, False), rule
    return None


def _of_whole(said: Words, first: int, last: int, marks: int) -> str | None:
    at = lead(said.words, first, last)
    words, start, end = said.words[first:last], said.starts[first], said.ends[last - 1]
    rest, begin = said.words[at:last], said.starts[at] if at < last else end
    rule = steps(said.text, begin, end, rest) if rest and marks & STEPS else None
    if not rule and marks & STEPS and words[0] in _BEGINS:
        rule = steps(said.text, start, end, words)
    rule = rule or (labelled(said.text, begin, end, rest) if rest and marks & LABELS else None)
    if rule or not marks & RIGHTS or marks & IF:
        return rule
    rule = righted(said.text, start, end, frozenset(words))
    return None if rule and rule != "mended" and doubted(said.text, start, end, words) else rule


def of_clause(seen: Seen, supposed: bool) -> str | None:
    """Return the rule that a clause falls under: what is wanted, how things are done, or what is so."""
    said, at, last, end, marks = seen.said, seen.at, seen.last, seen.end, seen.marks
    rule = foreign(said.text, seen.start, end, seen.words) if seen.words[0] in OPENINGS else None
    if rule or at >= last:
        return rule
    if marks & (WISHES | DONE | STARTS | WANTS):
        for first in (at, seen.first) if at > seen.first else (at,):
            rule = _wished(said, first, last, marks)
            if rule and not (supposed and rule in _STATED):
                return rule
    if supposed:
        return None
    rule = lasting(said.words, at, last, seen.first, seen.named)
    if not rule or (marks & DOUBTS and doubted(said.text, seen.start, end, seen.words)):
        return None
    return None if rule not in OUTLIVE and passing(said.text, seen.start, end) else rule


def _wished(said: Words, first: int, last: int, marks: int) -> str | None:
    """Return the rule of how something is wanted or done; each is asked where one of its words stands."""
    rest, begin, end = said.words[first:last], said.starts[first], said.ends[last - 1]
    rule = wish(said.text, begin, end, rest) if marks & WISHES else None
    if not rule and marks & DONE:
        rule = done(said.text, begin, end, rest)
    if not rule and said.marks[first] & STARTS:
        rule = process(said.text, begin, end, rest)
    return rule or (wanted(said.text, begin, end, rest) if marks & WANTS else None)


def known_to_all(text: str, seen: Seen) -> bool:
    """Tell whether it begins with two names: people of one's own life go by one, Marie Curie does not."""
    at, starts = seen.at if seen.at < seen.last else seen.first, seen.said.starts
    return at + 1 < seen.last and text[starts[at]].isupper() and text[starts[at + 1]].isupper()


def signs_of(seen: Seen) -> int:
    """Return the signs of a clause."""
    said, at, last, marks = seen.said, seen.at, seen.last, seen.marks
    if at >= last:
        at = seen.first
    elif at > seen.first:
        marks = reduce(or_, said.marks[at:last])
    known = signed(said, at, last, seen.named, marks)
    if seen.marks & DOUBTS and doubted(said.text, seen.start, seen.end, seen.words):
        known |= BITS["doubt"]
    return known


def of_them(seen: Seen) -> str | None:
    """Return the rule of a clause about the person whom the statement before names."""
    said, at, last = seen.said, seen.at, seen.last
    theirs = carried(said.words, at, last) if at < last else None
    if not theirs or doubted(said.text, said.starts[at], seen.end, seen.words):
        return None
    if passing(said.text, said.starts[at], seen.end):
        return None
    return "of them" if lasting(theirs, 0, len(theirs), 0, seen.named) else None


def _capitals(text: str, said: Words, at: int, last: int) -> tuple[bool, bool]:
    """Tell whether a name stands after a clause's first word, and whether that has a capital itself."""
    starts, words = said.starts, said.words
    first = text[starts[at]].isupper()
    if text[starts[at] + 1 : said.ends[last - 1]].islower():
        return False, first
    for on in range(at + 1, last):
        if text[starts[on]].isupper() and words[on] not in FIRST:
            return True, first
    return False, first
