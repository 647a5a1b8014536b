"""Anchored: Question, Reader -> Question, with the time of each event that it counts from, where a memory tells it.

"Before the migration" names no day; the memory that tells of the migration does. Where none is clearly the one,
nothing changes. The words of the event stay words of the query in every way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from typing import Final

from scrubjay.memory.dates import DAY, wall
from scrubjay.memory.ranking import rounded
from scrubjay.memory.records import ANY, Record
from scrubjay.recall.query import Query
from scrubjay.recall.understand import Question, meant
from scrubjay.store.base import Reader, WordsScored
from scrubjay.store.score import idf
from scrubjay.text.display import harmless
from scrubjay.text.events import Event, events
from scrubjay.text.snippets import snippet
from scrubjay.text.times import Span
from scrubjay.text.tokens import groups

MOST_EVENTS: Final = 2
"""Events of one question that are looked for, each by one look at the words: nobody counts from three."""
HOLDERS: Final = 50
"""Memories that hold an event's words, the best, of which its time is taken."""
RARE: Final = 0.5
"""Share of the greatest idf from which on a word is rare: about the root of all memories may hold it. An event none of
whose words is rare is none that one memory tells of."""
FEW: Final = 200
"""Memories that a store is taken to hold at least, for that: among ten memories a word in three of them is rare."""
CLEAR: Final = 0.8
"""Share of the best one's score from which on another memory may as well be the one that tells of the event."""
AGREED: Final = 7 * DAY
"""Within which the times of all that may be the one must lie: what is told of for a week happened then."""
MOST_READ: Final = 4_000
"""Characters of a memory in which it is looked whether it counts from the event itself: more than a passage has."""
MOST_TOLD: Final = 60
"""Characters of the memory that a note quotes."""


def anchored(
    question: Question,
    query: Query,
    reader: Reader,
    languages: Sequence[str],
    clock: tuple[tzinfo | None, int | None],
) -> Question:
    """Add the times of the events that a question counts from. Where it names none, the reader is not asked.

    Args:
        question: What is understood of the query without a store.
        query: The query taken apart.
        reader: What is visible: events are looked for in all of it, whatever the filters.
        languages: Languages whose stems the words are looked for by.
        clock: Zone of the question (None is this machine's), and the moment as of which it is asked, or None.
    """
    text = query.text
    known = [*query.phrases, *query.wished, *(one.words for one in question.times)]
    taken = [(at, at + len(words)) for words in known if words and (at := text.find(words)) >= 0]
    times, notes = list(question.times), list(question.notes)
    for event in events(text, taken)[:MOST_EVENTS]:
        told = _teller(event, reader, languages, clock[1])
        if told is None:
            continue
        record, at = told
        words = text[event.first : event.last]
        try:
            start, end, zone = _stretch(record, at, clock[0])
        except OverflowError:  # the first and the last day that can be written
            continue
        found = meant(Span(start, end, "day", event.relation, event.first, event.last), words, zone)
        if found is None:
            continue
        times.append(replace(found, anchor=record.id))
        asked = [group for word in event.core for group in groups(word, languages)]
        said = harmless(snippet(record.content, asked, MOST_TOLD).text)
        notes.append(f"Read as a time: {words} = {found.shown} ({record.id}: {said}).")
    return replace(question, times=tuple(times), notes=tuple(dict.fromkeys(notes)))


def _stretch(record: Record, at: int, zone: tzinfo | None) -> tuple[datetime, datetime, tzinfo | None]:
    """Return from when to when an event was, on the wall clock, and whose: its own day, month or year, else the day."""
    told = record.event
    if told is not None and told.precision != "second":
        return (
            wall(told.start),
            wall(told.end),
            None,
        )  # as such dates are read and shown, in this machine's zone
    start = datetime.combine(wall(at, zone).date(), time())
    return start, start + timedelta(days=1), zone


def _teller(
    event: Event, reader: Reader, languages: Sequence[str], as_of: int | None
) -> tuple[Record, int] | None:
    """Return the memory that tells of an event, and when that was; None where none clearly does."""
    asked = {word: groups(word, languages) for word in dict.fromkeys(event.whole)}
    every = [group for found in asked.values() for group in found]
    counted = reader.words(every, ANY)
    places, first = {}, 0
    for word, found in asked.items():
        places[word] = range(first, first + len(found))
        first += len(found)
    hits = [hit.id for hit in counted.top(HOLDERS)]
    parts = dict(zip(hits, counted.parts(hits), strict=True))
    for words in dict.fromkeys((event.whole, event.core)):
        if not any(_rare(counted, places[word]) for word in words):
            continue
        scores = {
            memory: rounded(math.fsum(given[at] for word in words for at in places[word]))
            for memory, given in parts.items()
            if all(_held(given, places[word]) for word in words)
        }
        if scores:
            return _clear(scores, event, reader, as_of)
    return None


def _rare(counted: WordsScored, place: range) -> bool:
    memories = max(counted.memories, FEW)
    least = RARE * idf(memories, 0)
    return any(counted.frequencies[at] and idf(memories, counted.frequencies[at]) >= least for at in place)


def _held(given: Sequence[float], place: range) -> bool:
    """Return whether a memory holds a word: itself, or all parts of it (``launch-party``)."""
    own, *rest = (given[at] > 0 for at in place) if place else (False,)
    return own or (bool(rest) and all(rest))


def _clear(
    scores: Mapping[str, float], event: Event, reader: Reader, as_of: int | None
) -> tuple[Record, int] | None:
    """Return the best memory and its time, where all that are nearly as good lie within a week of it.

    A memory that itself counts from the event (the question as it was asked before, too) does not tell when it was, and
    no more does a passage of a file without a date: when it was read in says nothing.
    """
    heads = reader.heads(list(scores))
    records = reader.get(list(scores))
    tellers = [
        memory
        for memory in scores
        if memory in heads
        and memory in records
        and (as_of is None or heads[memory].at <= as_of)
        and _dated(records[memory])
        and not _counts_from(records[memory].content, event.core)
    ]
    tellers.sort(key=lambda memory: (-scores[memory], memory))
    near = [memory for memory in tellers if scores[memory] >= CLEAR * scores[tellers[0]]]
    if not near:
        return None
    at = [heads[memory].at for memory in near]
    return (records[near[0]], at[0]) if max(at) - min(at) <= AGREED else None


def _dated(record: Record) -> bool:
    return record.event is not None or record.place is None


def _counts_from(content: str, core: Iterable[str]) -> bool:
    wanted = set(core)
    return any(wanted <= set(other.whole) for other in events(" ".join(content[:MOST_READ].split())))
