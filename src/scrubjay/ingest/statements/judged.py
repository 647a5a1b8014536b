"""Judged: a clause -> the rule that keeps it, or None."""

from __future__ import annotations

from typing import Final

from scrubjay.ingest.statements.carried import carried
from scrubjay.ingest.statements.clauses import Clause
from scrubjay.ingest.statements.foreign import OPENINGS, foreign
from scrubjay.ingest.statements.labelled import labelled
from scrubjay.ingest.statements.lead import lead
from scrubjay.ingest.statements.process import process
from scrubjay.ingest.statements.reading import Words
from scrubjay.ingest.statements.righted import righted
from scrubjay.ingest.statements.rules import OUTLIVE, lasting
from scrubjay.ingest.statements.signs import signs
from scrubjay.ingest.statements.steps import done, steps
from scrubjay.ingest.statements.veto import doubted, passing, told, unreal
from scrubjay.ingest.statements.wanted import wanted
from scrubjay.ingest.statements.weighed import ENOUGH, weight
from scrubjay.ingest.statements.wishes import wish
from scrubjay.ingest.statements.words import FIRST

_STATED: Final = frozenset(("as is done", "process", "there is", "feels"))
"""Rules of wishes that only state: not after an "if"."""


def of_whole(said: Words, parts: list[Clause]) -> tuple[Clause, str] | None:
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


def of_clause(text: str, said: Words, clause: Clause, words: list[str], supposed: bool) -> str | None:
    """Return the rule that a clause falls under: what is wanted, how things are done, or what is so."""
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


def weighed(text: str, said: Words, clause: Clause, words: list[str], turn: int) -> bool:
    """Tell whether the signs of a clause that no rule knows speak for it."""
    at = clause.first
    if at + 1 < clause.last and text[said.starts[at]].isupper() and text[said.starts[at + 1]].isupper():
        return False  # "Marie Curie was born in Warsaw": people of one's own life go by one name
    return weight(signs_of(text, said, clause, words, turn)) >= ENOUGH


def signs_of(text: str, said: Words, clause: Clause, words: list[str], turn: int) -> int:
    """Return the signs of a clause and those of its turn."""
    start, end = said.starts[clause.first], said.ends[clause.last - 1]
    at = lead(said.words, clause.first, clause.last)
    at = clause.first if at >= clause.last else at
    known = signs(
        said.words[at : clause.last],
        said.text[said.starts[at] : end],
        _capitals(text, said, at, clause.last),
        doubted(said.text, start, end, words),
    )
    return known | turn


def of_them(text: str, said: Words, clause: Clause, words: list[str]) -> str | None:
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
