"""Repeated turns: the same words said again in a conversation, or the same turns added again.

With a turn number or a date, equal turns are the same turn. Without, only their places distinguish them: where they
repeat the conversation from its beginning, or its end, they are the stored turns; else a text that follows other turns
is a turn of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.models.ids import memory_id, memory_key
from scrubjay.models.records import STATUSES, Record, RecordFilter
from scrubjay.storage.interface import Reader, all_records

MIN_REPLAYED_TURNS: Final = 3
"""Turns by which the beginning of a conversation is recognized; a question and its reply may come twice in it."""


def is_unplaced_turn(record: Record) -> bool:
    """Return whether nothing but its place distinguishes a turn from another with its text."""
    return None not in (record.session, record.role) and record.turn is None and record.event is None


def number_repeats(
    reader: Reader, secret: bytes, turns: Sequence[Record]
) -> tuple[list[str], dict[str, Record]]:
    """Return the ids of unplaced turns of one session and visibility key, and the stored records among them.

    The turns are given with the ids of first occurrences.
    """
    stored: dict[str, Record] = {}
    first_of: dict[str, str] = {}
    counts: dict[str, int] = {}
    for turn in {one.id: one for one in turns}.values():
        counts[turn.id], occurrence = 0, turn.id
        while records := reader.get([occurrence]):
            stored |= records
            first_of[occurrence] = turn.id
            counts[turn.id] += 1
            occurrence = _occurrence_id(secret, turn, counts[turn.id])
    earlier = _stored_turns(reader, turns[0])
    ids: list[str] = []
    places = _known_places([first_of.get(memory, memory) for memory in earlier], [one.id for one in turns])
    last = earlier[-1] if earlier else ""
    for turn, place in zip(turns, places, strict=True):
        if place is not None:
            last = earlier[place]
        elif first_of.get(last, last) != turn.id:  # else the same is said twice in a row
            last = _occurrence_id(secret, turn, counts[turn.id])
            first_of[last] = turn.id
            counts[turn.id] += 1
        ids.append(last)
    return ids, stored


def _occurrence_id(secret: bytes, turn: Record, before: int) -> str:
    """Return the id of a turn that was said ``before`` times already."""
    return memory_id(turn.tier, memory_key(secret, ("repeat", turn.id, str(before)))) if before else turn.id


def _stored_turns(reader: Reader, turn: Record) -> list[str]:
    assert turn.session is not None
    records = all_records(reader, RecordFilter(sessions=(turn.session,), statuses=STATUSES))
    turns = [one for one in records if one.key == turn.key and one.role is not None]
    return [one.id for one in sorted(turns, key=lambda one: (one.recorded_at, one.id))]


def _known_places(stored: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """Return the place among stored turns of each new one that is merely added again, or None.

    >>> _known_places(list("abac"), list("abacd")), _known_places(list("abac"), list("acd"))
    ([0, 1, 2, 3, None], [2, 3, None])
    >>> _known_places(list("ab"), list("a")), _known_places(list("abab"), list("ab"))
    ([None], [2, 3])
    """
    texts: list[str] = []  # the same text twice in a row is one turn
    numbers = []
    for one in new:
        if texts[-1:] != [one]:
            texts.append(one)
        numbers.append(len(texts) - 1)
    shared = min(len(stored), len(texts))
    start = 0
    if stored[:shared] == texts[:shared] and (shared == len(stored) or shared >= MIN_REPLAYED_TURNS):
        size = shared
    else:
        size = next((n for n in range(shared, 0, -1) if stored[-n:] == texts[:n]), 0)
        start = len(stored) - size
    return [start + number if number < size else None for number in numbers]
