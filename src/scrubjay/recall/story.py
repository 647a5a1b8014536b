"""Story: memories -> the same in the order in which they happened, each with what lies before it.

What has no date of its own (a passage of an undated page) stands where its document has it: after the nearest
dated passage before it, else before the nearest after it. Pages without any date come last, in their own order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.memory.dates import DAY
from scrubjay.memory.records import Record

YEAR: Final = 365
MONTH: Final = 30.44
"""Days."""


@dataclass(frozen=True, slots=True)
class Told:
    """One memory in its place.

    Attributes:
        id: The memory.
        dated: Whether it is known when it happened.
        gap: What lies between the one before and this one, in words, or an empty string.
    """

    id: str
    dated: bool
    gap: str


def story(records: Mapping[str, Record]) -> list[Told]:
    """Put memories in order."""
    times = {memory: _time(record) for memory, record in records.items()}
    keys = {memory: _key(record, records, times) for memory, record in records.items()}
    order = sorted(records, key=lambda memory: keys[memory])
    told: list[Told] = []
    for place, memory in enumerate(order):
        gap = ""
        if place:
            before = order[place - 1]
            gap = _between(records[before], records[memory]) or _time_between(times[before], times[memory])
        told.append(Told(memory, times[memory] is not None, gap))
    return told


Key = tuple[bool, int, str, str, int, str]


def _key(record: Record, records: Mapping[str, Record], times: Mapping[str, int | None]) -> Key:
    at, place = times[record.id], record.place
    number = record.turn if record.turn is not None else place.ordinal if place is not None else 0
    group = record.session or (f"{place.source}/{place.path}" if place is not None else "")
    if at is None and place is not None:
        at = _lent(record, list(records.values()), times)
    return at is None, at or 0, group, record.session or "", number, record.id


def _time(record: Record) -> int | None:
    """Return when a memory happened; the moment that an undated file was read tells nothing of it."""
    if record.event is not None:
        return record.event.start
    return None if record.place is not None else record.recorded_at


def _lent(record: Record, records: Sequence[Record], times: Mapping[str, int | None]) -> int | None:
    """Return the time of the nearest dated passage of the same document, one before it first."""
    place = record.place
    assert place is not None
    dated = [
        (other.place.ordinal, at)
        for other in records
        if other.place is not None
        and (other.place.source, other.place.path) == (place.source, place.path)
        and (at := times[other.id]) is not None
    ]
    before = [pair for pair in dated if pair[0] < place.ordinal]
    if before:
        return max(before)[1]
    return min(dated)[1] if dated else None


def _between(before: Record, after: Record) -> str:
    """Return how much of one conversation or document is left out between two of its pieces."""
    one, other = before.place, after.place
    if before.session is not None and before.session == after.session:
        if before.turn is not None and after.turn is not None and after.turn - before.turn > 1:
            return _counted(after.turn - before.turn - 1, "turn")
        return ""
    if one is None or other is None or (one.source, one.path) != (other.source, other.path):
        return ""
    return _counted(other.ordinal - one.ordinal - 1, "passage") if other.ordinal - one.ordinal > 1 else ""


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number > 1 else ''} left out"


def _time_between(before: int | None, after: int | None) -> str:
    """Return how much later a memory is than the one before.

    >>> _time_between(0, 3 * DAY), _time_between(0, 70 * DAY), _time_between(0, 800 * DAY), _time_between(0, DAY)
    ('3 days later', '2 months later', '2 years later', '')
    """
    if before is None or after is None:
        return "not dated" if before is not None else ""
    days = (after - before) // DAY
    if days < 2:
        return ""
    if days < 2 * MONTH:
        return f"{days} days later"
    if days < 2 * YEAR:
        return f"{int(days / MONTH)} months later"
    return f"{days // YEAR} years later"
