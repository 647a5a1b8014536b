"""Times: text, now -> the times that it names, on the wall clock of whoever asks.

No model and no guess at a language: words have classes and rules are orders of classes (`text.time_words`), tried from
each word on, in one pass. What could as well be something else is left alone: ``12/4``, ``2.10.3``, a date inside a
file's name, *may* and *march* without a sign that a month is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from scrubjay.text.stretches import Stretch, stretch, written
from scrubjay.text.time_words import TONGUES, Tongue

LONGEST: Final = 40
"""Characters of a word beyond which it is no part of a time."""
YEARS: Final = range(1900, 2101)
"""Four digits that are read as a year."""
NOBODY_ASKS: Final = 1_000
"""Units ago from which on a number is not read as a time."""
_BEFORE: Final = "([{\"'`„“”‚‘’«»<*_"
_BEHIND: Final = ".,;:!?)]}\"'`„“”‚‘’«»>*_…"
_ENDS: Final = frozenset(".;:!?)]}…")
_POSSESSIVE: Final = ("'s", "’s")
_ORDINAL: Final = re.compile(r"(\d\d?)(?:st|nd|rd|th)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    """A time that a text names.

    Attributes:
        start: First moment of what is named, on the wall clock.
        end: First moment after it; always later than ``start``.
        precision: ``hour``, ``day``, ``week``, ``month``, ``season``, ``quarter``, ``year`` or ``range``.
        relation: ``in``, ``before`` (its start), ``until`` (its end), ``since`` (its start), ``after`` (its end)
            or ``as_of``.
        first: Character that the expression begins at.
        last: First character after it.
    """

    start: datetime
    end: datetime
    precision: str
    relation: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Token:
    """A word: lower case, as it stands, where, its classes a language, and whether a sentence may end behind it."""

    word: str
    raw: str
    first: int
    last: int
    closed: bool
    dotted: bool


@dataclass(frozen=True, slots=True)
class _Atom:
    """A time without what stands before it: tokens ``begin`` to ``end``, its rule and the rule's numbers."""

    begin: int
    end: int
    rule: str
    values: Mapping[str, int]
    stretch: Stretch


def times(text: str, now: datetime) -> tuple[Span, ...]:
    """Return the times that a text names, in its order; none overlap.

    A month, weekday or season without a year is the latest that began by ``now``. "Two weeks ago" is the week around
    that day, "two months ago" the month around it.

    Args:
        text: A question.
        now: When it is asked, on the wall clock (no zone).

    >>> [(s.start.date().isoformat(), s.precision) for s in times("what broke last week?", datetime(2026, 11, 22))]
    [('2026-11-09', 'week')]
    >>> times("we may march on 12/4 with v2.10.3", datetime(2026, 11, 22))
    ()
    """
    tokens = _tokens(text)
    found: list[Span] = []
    for tongue in TONGUES:
        found += _spans(tokens, tongue, now)
    found.sort(key=lambda span: (span.first - span.last, span.first))
    kept: list[Span] = []
    taken = bytearray(len(text) + 1)
    for span in found:
        if not any(taken[span.first : span.last]):
            taken[span.first : span.last] = b"\1" * (span.last - span.first)
            kept.append(span)
    return tuple(sorted(kept, key=lambda span: span.first))


def _tokens(text: str) -> list[_Token]:
    found = []
    for match in re.finditer(r"\S+", text):
        raw = match.group()
        if len(raw) > LONGEST:
            found.append(_Token("", "", match.start(), match.end(), True, False))
            continue
        core = raw.lstrip(_BEFORE)
        first = match.start() + len(raw) - len(core)
        bare = core.rstrip(_BEHIND)
        behind = core[len(bare) :]
        word = bare.casefold()
        if word.endswith(_POSSESSIVE):
            bare, word = bare[:-2], word[:-2]
        closed = not _ENDS.isdisjoint(behind)
        found.append(_Token(word, bare, first, first + len(bare), closed, behind == "."))
    return found


def _spans(tokens: Sequence[_Token], tongue: Tongue, now: datetime) -> list[Span]:
    classes = [_classes(token, tongue) for token in tokens]
    found: list[Span] = []
    place = 0
    before: _Atom | None = None
    while place < len(tokens):
        atom = _atom(tokens, classes, tongue, place, now) if classes[place] else None
        if atom is None:
            place += 1
            continue
        joined = before is not None and _joined(tokens, classes, before, atom)
        if joined and before is not None:
            found[-1:] = _between(tokens, classes, (before, atom), tongue, now)
            before = None
        else:
            found += _meant(tokens, classes, atom, tongue)
            before = atom
        place = atom.end
    return found


def _classes(token: _Token, tongue: Tongue) -> Mapping[str, int]:
    word = token.word
    if not word:
        return {}
    if not word[0].isdigit() and word in tongue.words:
        return {} if word in tongue.small and token.raw != word else tongue.words[word]
    if not word.isascii() or not any(sign.isdigit() for sign in word):
        return {}
    if word.isdigit():
        number = int(word)
        if len(word) == 4:
            return {"year": number} if number in YEARS else {}
        found = {"number": number} if 0 < number < NOBODY_ASKS else {}
        if 1 <= number <= 31 and len(word) <= 2:
            found |= {"daynum": number} | ({"daydot": number} if token.dotted else {})
        return found
    if len(word) == 2 and word[0] == "q" and word[1] in "1234":
        return {"quarter": int(word[1])}
    ordinal = _ORDINAL.fullmatch(word)
    if ordinal and 1 <= int(ordinal[1]) <= 31:
        return {"daynum": int(ordinal[1])}
    return {"date": 0} if written(word) is not None else {}


def _atom(
    tokens: Sequence[_Token], classes: Sequence[Mapping[str, int]], tongue: Tongue, place: int, now: datetime
) -> _Atom | None:
    """Return the longest time that begins at a token."""
    best: _Atom | None = None
    for first in classes[place]:
        for rule, rest in tongue.rules.get(first, ()):
            end = place + 1 + len(rest)
            if end > len(tokens) or (best is not None and end <= best.end):
                continue
            if not all(name in classes[place + 1 + at] for at, name in enumerate(rest)):
                continue
            order = (first, *rest)
            if any(
                tokens[place + at].closed and not (order[at] == "daydot" and tokens[place + at].dotted)
                for at in range(len(rest))
            ):
                continue
            values = {name: classes[place + at][name] for at, name in enumerate(order)}
            if _doubtful(tokens[place:end], order, rule, tongue) or not _led(
                tokens, classes, place, rule, tongue
            ):
                continue
            came = stretch(rule, values, tokens[place].word, now)
            if came is not None:
                best = _Atom(place, end, rule, values, came)
    return best


def _doubtful(tokens: Sequence[_Token], order: Sequence[str], rule: str, tongue: Tongue) -> bool:
    """Return whether a month's word is there that may mean something else: small, and with no year beside it."""
    if "month" not in order or "year" in order or rule == "lone_month":
        return False
    token = tokens[order.index("month")]
    return token.word in tongue.shy and token.raw == token.word


def _led(
    tokens: Sequence[_Token], classes: Sequence[Mapping[str, int]], place: int, rule: str, tongue: Tongue
) -> bool:
    """Return whether what cannot stand alone has a word before it that makes it a time."""
    if not rule.startswith("lone_"):
        return True
    leads = classes[place - 1] if place and not tokens[place - 1].closed else {}
    if rule == "lone_weekday":
        if place + 1 < len(tokens) and "habit" in classes[place + 1]:
            return False
        return not leads.keys().isdisjoint(
            ("on", "since", "until", "before", "after", "between", "and", "from", "to")
        )
    sure = ("in", "since", "until", "between")
    token = tokens[place]
    if rule == "lone_month" and token.word in tongue.shy and token.raw == token.word:
        return not leads.keys().isdisjoint(sure)
    return not leads.keys().isdisjoint((*sure, "on", "before", "after", "of", "from", "and", "to"))


def _meant(
    tokens: Sequence[_Token], classes: Sequence[Mapping[str, int]], atom: _Atom, tongue: Tongue
) -> list[Span]:
    """Return a time with what the words before it make of it."""
    begin, relation = atom.begin, "in"

    def word(back: int) -> Mapping[str, int]:
        place = begin - back
        return classes[place] if place >= 0 and not tokens[place].closed else {}

    skip = (
        1 if "the" in word(1) and not word(2).keys().isdisjoint(("before", "since", "until", "after")) else 0
    )
    lead = word(1 + skip)
    if "of" in lead and "as" in word(2 + skip):
        relation, begin = "as_of", begin - 2 - skip
    elif "stand" in lead and tokens[begin - 1 - skip].raw[0].isupper():
        relation, begin = "as_of", begin - 1 - skip
    elif "from" in lead and atom.end < len(tokens) and "onward" in classes[atom.end]:
        relation, begin = "since", begin - 1 - skip
    else:
        for name in ("since", "until", "before", "after"):
            if name in lead:
                relation, begin = name, begin - 1 - skip
                break
        else:
            begin -= 1 + skip if not lead.keys().isdisjoint(("in", "on", "from")) else 0
    return [_span(tokens, begin, atom.end, atom.stretch, relation)]


def _joined(tokens: Sequence[_Token], classes: Sequence[Mapping[str, int]], one: _Atom, other: _Atom) -> bool:
    """Return whether two times are the ends of one: between A and B, from A to B."""
    if other.begin != one.end + 1 or not one.begin or tokens[one.end - 1].closed or tokens[one.end].closed:
        return False
    lead, link = classes[one.begin - 1], classes[one.end]
    return ("between" in lead and "and" in link) or ("from" in lead and "to" in link)


def _between(
    tokens: Sequence[_Token],
    classes: Sequence[Mapping[str, int]],
    ends: tuple[_Atom, _Atom],
    tongue: Tongue,
    now: datetime,
) -> list[Span]:
    """Return the time from one to another; a first without a year is the latest before the second."""
    one, other = ends
    first = one.stretch
    if first[0] >= other.stretch[0]:
        again = stretch(one.rule, one.values, tokens[one.begin].word, other.stretch[0])
        first = again if again is not None and again[0] < other.stretch[1] else first
    if first[0] >= other.stretch[1]:
        return _meant(tokens, classes, one, tongue) + _meant(tokens, classes, other, tongue)
    return [_span(tokens, one.begin - 1, other.end, (first[0], other.stretch[1], "range"), "in")]


def _span(tokens: Sequence[_Token], begin: int, end: int, named: Stretch, relation: str) -> Span:
    start, stop, precision = named
    return Span(start, stop, precision, relation, tokens[begin].first, tokens[end - 1].last)
