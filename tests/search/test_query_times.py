"""What a query means beside its words: in the asker's zone, outside quotes, and never an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.models.dates import micros
from scrubjay.search.query import QueryMeaning, interpret_query, parse_query

NOW = micros(datetime(2026, 11, 22, 23, 30, tzinfo=UTC))
BERLIN = ZoneInfo("Europe/Berlin")


def understood(query: str, zone: object = UTC) -> QueryMeaning:
    return interpret_query(parse_query(query), NOW, zone)  # type: ignore[arg-type]


def test_yesterday_is_that_of_the_askers_zone() -> None:
    (here,), (there,) = understood("yesterday").times, understood("yesterday", BERLIN).times
    assert here.start == micros(datetime(2026, 11, 21, tzinfo=UTC))
    assert there.start == micros(datetime(2026, 11, 22, tzinfo=BERLIN))  # it is already Monday there


def test_a_day_on_which_clocks_change_has_its_own_length() -> None:
    (day,) = understood("on 2026-10-25", BERLIN).times
    assert day.length == 25 * 3600 * 1_000_000


def test_before_since_until_and_after_are_open_on_one_side() -> None:
    start, end = (micros(datetime(2026, 3, day, tzinfo=UTC)) for day in (1, 2))
    bounds = {
        word: (one.start, one.end)
        for word in ("before", "until", "since", "after")
        for one in understood(f"{word} 2026-03-01").times
    }
    assert bounds == {
        "before": (None, start),
        "until": (None, end),
        "since": (start, None),
        "after": (end, None),
    }


def test_as_of_is_the_last_moment_of_what_it_names_and_prefers_what_was_before_it() -> None:
    found = understood("the limit as of 2026-03")
    assert found.as_of == micros(datetime(2026, 4, 1, tzinfo=UTC)) - 1
    assert [(one.start, one.end) for one in found.times] == [(None, micros(datetime(2026, 4, 1, tzinfo=UTC)))]


def test_what_was_read_is_told_in_a_sentence() -> None:
    assert understood("what broke last week, and after May 3rd?").notes == (
        "Read as a time: last week = 2026-11-09 to 2026-11-15.",
        "Read as a time: after May 3rd = from 2026-05-04 on.",
    )
    assert understood("an hour ago").notes == (
        "Read as a time: an hour ago = 2026-11-22 22:00 to 2026-11-22 23:00.",
    )


def test_what_is_quoted_is_not_read() -> None:
    assert understood('who was on "Last Week Tonight" and when did it begin?').times == ()


@given(st.text(max_size=60), st.integers(0, 4_000_000_000_000_000))
@settings(max_examples=100, deadline=None)
def test_nothing_that_can_be_typed_is_an_error(text: str, now: int) -> None:
    found = interpret_query(parse_query(f"{text} last week 0001-01-01 9999-12-31"), now, None)
    assert all(one.start is None or one.end is None or one.start < one.end for one in found.times)


@pytest.mark.parametrize(
    "query",
    [
        "what did we do last year in March?",
        "what did we do in March last year?",
        "was haben wir letztes Jahr im März gemacht?",
    ],
)
def test_a_month_of_another_year_is_found_in_that_year(query: str) -> None:
    with Memory.open("memory://") as memory:
        memory.add("Sold the old boat.", date="2025-03-10")
        memory.add("Painted the shed.", date="2026-03-12")
        found = [each.snippet for each in memory.search(query, now="2026-11-30").results]
        assert found == ["Sold the old boat."]


def test_the_time_of_a_question_and_the_time_to_answer_as_of_are_read_as_in_filters() -> None:
    with Memory.open("memory://") as memory:
        memory.add("The rent is 900.", valid_from="2026-01-01", valid_until="2026-11-29")
        found = memory.search("rent", now="2026-12-01", as_of="last week", tz="UTC", min_relevance=0).results
        assert [one.snippet for one in found] == ["The rent is 900."]
        assert not memory.search(
            "rent", now="2026-12-01", as_of="yesterday", tz="UTC", min_relevance=0
        ).results
        today = datetime.now(UTC).date()
        notes = memory.search(
            "rent of the day before yesterday", now="yesterday", tz="UTC", explain=True
        ).notes
        assert f"Read as a time: the day before yesterday = {today - timedelta(days=3)}." in notes
