"""Order: when a record happened, and so which comes first. Alike for all stages, so that they agree."""

from __future__ import annotations

from scrubjay.memory.records import Record


def time(record: Record) -> int:
    """Return when a record happened, else when it was recorded; UTC microseconds."""
    return record.event.start if record.event is not None else record.recorded_at


def over(record: Record) -> int:
    """Return when it was over: of a day's note the end of the day, of a moment the moment."""
    return record.event.end if record.event is not None else record.recorded_at


def order(record: Record) -> tuple[int, int, int, str]:
    """Return what sorts records by time, then place in their conversation and document, then id."""
    ordinal = record.place.ordinal if record.place is not None else 0
    return (time(record), record.turn or 0, ordinal, record.id)
