from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InputError
from scrubjay.models.dates import SECOND, format_event, micros, now_micros, parse_when, to_datetime

HOUR = 3_600 * SECOND


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Set the local zone of the test."""

    def set_zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "precision", "first", "after"),
    [
        ("2026", "year", datetime(2026, 1, 1), datetime(2027, 1, 1)),
        ("2026-03", "month", datetime(2026, 3, 1), datetime(2026, 4, 1)),
        ("2026-12", "month", datetime(2026, 12, 1), datetime(2027, 1, 1)),
        ("2024-02", "month", datetime(2024, 2, 1), datetime(2024, 3, 1)),
        ("2026-03-01", "day", datetime(2026, 3, 1), datetime(2026, 3, 2)),
        ("2024-02-29", "day", datetime(2024, 2, 29), datetime(2024, 3, 1)),
        (" 2026-03-01 ", "day", datetime(2026, 3, 1), datetime(2026, 3, 2)),
        ("20260301", "day", datetime(2026, 3, 1), datetime(2026, 3, 2)),
    ],
)
def test_a_year_month_or_day_is_the_whole_of_it(
    text: str, precision: str, first: datetime, after: datetime
) -> None:
    found = parse_when(text)
    assert found is not None
    assert (found.precision, found.start, found.end) == (precision, micros(first), micros(after))


def test_a_date_without_a_time_is_the_writers_own_day(zone: Callable[[str], None]) -> None:
    zone("Asia/Tokyo")
    tokyo = parse_when("2026-03-01")
    zone("America/New_York")
    york = parse_when("2026-03-01")
    assert tokyo is not None
    assert york is not None
    assert york.start - tokyo.start == 14 * HOUR
    assert tokyo.start == micros(datetime(2026, 2, 28, 15, tzinfo=UTC))


def test_a_day_on_which_the_clock_is_changed_is_as_long_as_it_is(zone: Callable[[str], None]) -> None:
    zone("Europe/Berlin")
    hours = []
    for text in ("2026-03-29", "2026-10-25", "2026-06-01"):
        found = parse_when(text)
        assert found is not None
        hours.append((found.end - found.start) // HOUR)
    assert hours == [23, 25, 24]


@pytest.mark.parametrize("zone_name", ["Asia/Tokyo", "America/New_York", "Europe/Berlin", "UTC"])
@pytest.mark.parametrize("text", ["2026", "2026-03", "2026-03-01", "2026-10-25"])
def test_what_was_written_is_what_is_shown(zone: Callable[[str], None], zone_name: str, text: str) -> None:
    zone(zone_name)
    assert format_event(parse_when(text), 0) == text


def test_a_time_is_a_point_in_its_own_zone_or_the_local_one(zone: Callable[[str], None]) -> None:
    zone("Europe/Berlin")
    for value, at, name in (
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC), "UTC"),
        ("2026-03-01T10:00:00+05:30", datetime(2026, 3, 1, 4, 30, tzinfo=UTC), "UTC+05:30"),
        ("2026-03-01 10:00", datetime(2026, 3, 1, 9, tzinfo=UTC), None),
        (datetime(2026, 3, 1, 10), datetime(2026, 3, 1, 9, tzinfo=UTC), None),
        (
            datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=-3))),
            datetime(2026, 3, 1, 13, tzinfo=UTC),
            "UTC-03:00",
        ),
    ):
        found = parse_when(value)
        assert found is not None
        assert (found.start, found.end, found.precision, found.zone) == (
            micros(at),
            micros(at),
            "second",
            name,
        )


def test_a_date_object_is_its_day() -> None:
    assert parse_when(date(2026, 3, 1)) == parse_when("2026-03-01")


def test_nothing_is_nothing() -> None:
    assert parse_when(None) is None


@pytest.mark.parametrize(
    "wrong",
    [
        "", "soon", "26-03-01", "2026-13", "2026-00-01", "2026-02-30", "2026/03/01", "-2026", "²⁰²⁶",
        "2026-03-01T25:00:00", "9999-12-31", 5.5, [], datetime.min,
    ],
    ids=repr,
)  # fmt: skip
def test_what_no_calendar_has_is_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="is not a date") as caught:
        parse_when(wrong)  # type: ignore[arg-type]
    assert "2026-03-01" in caught.value.hint


def test_without_an_event_the_moment_of_recording_is_shown_in_utc() -> None:
    assert format_event(None, micros(datetime(2026, 3, 1, 10, tzinfo=UTC))) == "2026-03-01T10:00:00+00:00"
    assert format_event(parse_when("2026-03-01T10:00:00.5+02:00"), 0) == "2026-03-01T08:00:00+00:00"


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=st.just(UTC)))
def test_moments_are_kept_to_the_microsecond(at: datetime) -> None:
    assert to_datetime(micros(at)) == at


def test_now_is_now() -> None:
    before = micros(datetime.now(UTC))
    assert before <= now_micros() <= micros(datetime.now(UTC))
