"""Conversions between written dates and UTC microseconds."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from scrubjay.errors import InputError
from scrubjay.models.records import EventTime, Record

SECOND = 1_000_000
DAY = 86_400 * SECOND


def micros(moment: datetime) -> int:
    """Return UTC microseconds since 1970; a naive datetime is local time.

    >>> micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    delta = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds


def now_micros() -> int:
    return micros(datetime.now(UTC))


def to_datetime(at: int) -> datetime:
    """Return the UTC moment of microseconds since 1970.

    >>> to_datetime(1000000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)


def load_zone(name: str | None) -> tzinfo | None:
    """Return a zone by its IANA name (``Europe/Berlin``); None or an empty name means this machine's zone, None.

    Raises:
        InputError: The zone is unknown.
    """
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise InputError(
            f"{name!r} is not a zone.", hint="write an IANA name, such as Europe/Berlin or UTC"
        ) from error


def iso_seconds(micros: int) -> str:
    """Return a moment as ISO text in UTC, to the second.

    >>> iso_seconds(1000000)
    '1970-01-01T00:00:01+00:00'
    """
    return to_datetime(micros).isoformat(timespec="seconds")


def local_day(text: str, zone: tzinfo | None = None) -> str:
    """Return the ISO day of a date or time in ``zone`` (None: this machine's); a month or year unchanged.

    >>> local_day("2026-03"), local_day("2026-03-01"), local_day("")
    ('2026-03', '2026-03-01', '')
    >>> local_day("2026-11-28T01:30:00+00:00", load_zone("America/New_York"))
    '2026-11-27'
    """
    if "T" not in text:
        return text[:10]
    try:
        return datetime.fromisoformat(text).astimezone(zone).date().isoformat()
    except (ValueError, OverflowError):
        return text[:10]


def to_local(at: int, zone: tzinfo | None = None) -> datetime:
    """Return naive local time in ``zone``; None is this machine's zone.

    >>> to_local(1000000, UTC).isoformat()
    '1970-01-01T00:00:01'
    """
    return to_datetime(at).astimezone(zone).replace(tzinfo=None)


def parse_when(value: str | date | None, zone: tzinfo | None = None) -> EventTime | None:
    """Parse ISO text, a date or a datetime into an `EventTime`.

    ``2026``, ``2026-03`` and ``2026-03-01`` mean the whole year, month or day in ``zone``, that of local times
    (None: this machine's).

    >>> (
    ...     parse_when("2026-03-01").precision, parse_when("2026-03").precision,
    ...     parse_when("2026-03-01T10:00:00Z").precision
    ... )
    ('day', 'month', 'second')

    Raises:
        InputError: Not a date, or a date that no calendar has.
    """
    if value is None:
        return None
    try:
        if isinstance(value, datetime):
            return _point_in_time(value, zone)
        text = value.isoformat() if isinstance(value, date) else str(value).strip()
        return _parse_period(text, zone) or _point_in_time(
            datetime.fromisoformat(text.replace("Z", "+00:00")), zone
        )
    except (ValueError, OverflowError) as error:
        if _is_impossible_date(str(value).strip()):
            raise InputError(
                f"{value!r} is not a date: there is no such day.",
                hint="write a day that the calendar has, as 2026-03-01",
            ) from error
        raise InputError(
            f"{value!r} is not a date.", hint="write 2026-03-01 or 2026-03-01T10:00:00Z"
        ) from error


def moment(value: str | date | None, zone: tzinfo | None = None) -> int:
    """Return the UTC microseconds at which a time begins, as `parse_when`; None is now."""
    event = parse_when(value, zone)
    return event.start if event is not None else now_micros()


def _is_impossible_date(text: str) -> bool:
    """Whether a text has the form of a date, with or without a time, that does not exist."""
    day = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])", text)
    dotted = re.match(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?![0-9])", text)
    parts = day.groups() if day else dotted.groups()[::-1] if dotted else ()
    if not parts:
        return False
    try:
        date(*map(int, parts))
    except ValueError:
        return True
    return False


def _point_in_time(value: datetime, zone: tzinfo | None) -> EventTime:
    at = local_micros(value, zone) if value.tzinfo is None else micros(value)
    return EventTime(at, at, "second", str(value.tzinfo) if value.tzinfo else None)


def local_micros(value: datetime, zone: tzinfo | None) -> int:
    """Return UTC microseconds of a naive local time in ``zone``; None is this machine's zone."""
    return micros(value.replace(tzinfo=zone))


def stored_day(bound: int | None, zone: tzinfo | None) -> int | None:
    """Return the moment under which the day that begins at ``bound`` in ``zone`` is stored; None if no day begins then.

    Memories of a whole day, month or year are stored by midnight in this machine's zone, whatever the zone of a search.
    """
    try:
        local = to_local(bound, zone) if bound is not None else None
        return local_micros(local, None) if local is not None and local.time() == time() else None
    except (OverflowError, ValueError):  # the first and the last day that can be written
        return None


def _parse_period(text: str, zone: tzinfo | None) -> EventTime | None:
    if len(text) == len("20260301") and text.isdigit():
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    parts = text.split("-")
    if not all(part.isdigit() for part in parts) or len(parts) > 3 or len(parts[0]) != 4:
        return None
    year, month, day = (*(int(part) for part in parts), 1, 1)[:3]
    first = date(year, month, day)
    if len(parts) == 3:
        last, precision = first + timedelta(days=1), "day"
    elif len(parts) == 2:
        last, precision = (first.replace(day=28) + timedelta(days=4)).replace(day=1), "month"
    else:
        last, precision = first.replace(year=year + 1), "year"
    return EventTime(_midnight(first, zone), _midnight(last, zone), precision)


def _midnight(day: date, zone: tzinfo | None) -> int:
    return local_micros(datetime.combine(day, time()), zone)


def format_event(event: EventTime | None, recorded_at: int) -> str:
    """Return the ISO date of an event, as precise as it is known.

    >>> format_event(parse_when("2026-03"), 0), format_event(parse_when("0999"), 0)
    ('2026-03', '0999')
    """
    if event is None:
        return iso_seconds(recorded_at)
    if event.precision == "second":
        return iso_seconds(event.start)
    local = to_datetime(event.start).astimezone()
    # Not strftime, which writes the year 999 in three digits on some systems.
    return local.date().isoformat()[: {"day": 10, "month": 7, "year": 4}[event.precision]]


def record_date(record: Record) -> str | None:
    """Return the ISO date of a memory's event, else of when it was recorded.

    None for an undated passage of a file, turn of a transcript or import: neither the file's modification time nor the
    day of the import dates its content.
    """
    return format_event(record.event, record.recorded_at) if record.is_dated else None


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def parse_duration(value: str) -> int:
    """Return a duration in microseconds.

    >>> parse_duration("90m") == parse_duration("1.5h") == 5_400 * SECOND
    True

    Raises:
        InputError: Not a duration.
    """
    number, unit = value.strip()[:-1], value.strip()[-1:]
    if unit not in _UNITS or not number.replace(".", "", 1).isdecimal():
        raise InputError(f"{value!r} is not a length of time.", hint="write 30m, 4h or 1d")
    return round(float(number) * _UNITS[unit] * SECOND)
