"""Words: values -> how a page says them: numbers with their noun, days, short lines."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from scrubjay.memory.dates import date_of, moment
from scrubjay.memory.records import Record

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def named(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> named(1, "memory", "memories"), named(12000, "memory", "memories"), named(0, "source")
    ('1 memory', '12,000 memories', '0 sources')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def day(text: str) -> str:
    """Return an ISO date, however precise, as people write it; other text as it is.

    >>> day("2026-03-01T10:05:00+00:00"), day("2026-03-01"), day("2026-03"), day("2026"), day("soon")
    ('1 March 2026, 10:05 UTC', '1 March 2026', 'March 2026', '2026', 'soon')
    """
    try:
        if len(text) == len("2026-03"):
            return f"{MONTHS[int(text[5:]) - 1]} {int(text[:4])}"
        if len(text) == len("2026-03-01"):
            at = datetime.fromisoformat(text)
            return f"{at.day} {MONTHS[at.month - 1]} {at.year}"
        at = datetime.fromisoformat(text)
    except (ValueError, IndexError):
        return text
    if at.tzinfo is None:
        return text
    at = at.astimezone(UTC)
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


def few(text: str, most: int = 280) -> str:
    r"""Return the beginning of a text on one line.

    >>> few("a  b\nc", 9), few("one two three", 8)
    ('a b c', 'one two…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most].rsplit(" ", 1)[0] + "…"


def tidy(number: float) -> str:
    """Return a number as a table shows it.

    >>> tidy(1.0), tidy(0.123456), tidy(-2.5)
    ('1', '0.123', '-2.5')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".") or "0"


def dated(record: Record) -> str:
    """Return the ISO date of a memory, empty where a file names none."""
    return date_of(record) or ""


def at(micros: int | None) -> str:
    """Return microseconds as ISO text, empty for none."""
    return "" if micros is None else moment(micros).isoformat(timespec="seconds")
