"""Understand: Query, now -> Question (the times that it names, and what it asks for), without a model.

It changes no word of the query: what is understood is still looked for as it was typed. What is inside quotes is not
read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from typing import Final

from scrubjay.memory.dates import local_micros, wall
from scrubjay.recall.query import Query
from scrubjay.text.telling import asks_of_all
from scrubjay.text.times import Span, times
from scrubjay.text.tokens import words


@dataclass(frozen=True, slots=True)
class Meant:
    """A time that a question names.

    Attributes:
        words: The characters that name it.
        start: First moment that is meant, UTC microseconds, or None for ever before ``end``.
        end: First moment after it, or None for ever after ``start``.
        length: Microseconds that the words themselves name: a day of "before 3 May".
        relation: As of a `Span`.
        shown: What it was read as, in words.
        anchor: The memory that tells when it was, of a time that is counted from an event; else empty.
    """

    words: str
    start: int | None
    end: int | None
    length: int
    relation: str
    shown: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is understood of a query.

    Attributes:
        times: Times that it names.
        as_of: Last moment of the time as of which it is to be answered, UTC microseconds, or None.
        notes: What was understood, a sentence each.
        alone: Whether a time is all that it names ("what did we do yesterday?"): then it asks for what happened then.
    """

    times: tuple[Meant, ...] = ()
    as_of: int | None = None
    notes: tuple[str, ...] = ()
    alone: bool = False

    @property
    def window(self) -> tuple[int | None, int | None]:
        """From when until when its times reach together; None for no end."""
        starts = [one.start for one in self.times]
        ends = [one.end for one in self.times]
        first = None if None in starts else min((at for at in starts if at is not None), default=None)
        last = None if None in ends else max((at for at in ends if at is not None), default=None)
        return first, last


NOTHING: Final = Question()


def understand(query: Query, now: int, zone: tzinfo | None) -> Question:
    """Read what a query means beside its words; nothing that can be typed is an error.

    Args:
        query: The query taken apart.
        now: When it is asked, UTC microseconds.
        zone: Whose midnight ends a day; None is this machine's zone.
    """
    quoted = [text for text in (*query.phrases, *query.wished) if text]
    places = [(at, at + len(text)) for text in quoted if (at := query.text.find(text)) >= 0]
    found: list[Meant] = []
    for span in times(query.text, wall(now, zone)):
        said = query.text[span.first : span.last]
        read = meant(span, said, zone)
        if read is not None and all(span.last <= first or last <= span.first for first, last in places):
            found.append(read)
    as_of = [one for one in found if one.relation == "as_of"]
    return Question(
        tuple(found),
        as_of[-1].end - 1 if as_of and as_of[-1].end is not None else None,
        tuple(dict.fromkeys(f"Read as a time: {one.words} = {one.shown}." for one in found)),
        _alone(query, found),
    )


def _alone(query: Query, found: Sequence[Meant]) -> bool:
    """Tell whether a query names a time and nothing besides."""
    if not found or query.phrases or query.wished or query.excluded:
        return False
    if any(one.relation == "as_of" for one in found):
        return False
    return all(asks_of_all(word.text) for word in words(beside(query.text, found)))


def beside(text: str, times: Sequence[Meant]) -> str:
    """Return a query's text without the words that name these times."""
    for one in times:
        text = text.replace(one.words, " ", 1)
    return text


def meant(span: Span, words: str, zone: tzinfo | None) -> Meant | None:
    """Return a time in UTC; None for one that no calendar here reaches."""
    try:
        start, end = local_micros(span.start, zone), local_micros(span.end, zone)
    except (OverflowError, ValueError):  # the first and the last day that can be written
        return None
    bounds: Mapping[str, tuple[int | None, int | None]] = {
        "before": (None, start), "until": (None, end), "since": (start, None), "after": (end, None),
        "as_of": (None, end),
    }  # fmt: skip
    first, last = bounds.get(span.relation, (start, end))
    return Meant(words, first, last, end - start, span.relation, _shown(span))


def _shown(span: Span) -> str:
    if span.precision == "hour":
        first, last, after = (f"{at:%Y-%m-%d %H:%M}" for at in (span.start, span.end, span.end))
    else:
        first, last = span.start.date().isoformat(), (span.end - timedelta(days=1)).date().isoformat()
        after = span.end.date().isoformat()
    said = {
        "before": f"before {first}",
        "until": f"until {last}",
        "since": f"from {first} on",
        "after": f"from {after} on",
        "as_of": f"what was true on {last}, not what was stored then",
    }
    return said.get(span.relation, first if first == last else f"{first} to {last}")
