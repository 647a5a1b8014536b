"""Times: what people call a time is one, what could as well be something else is left alone."""

import sys
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.text.temporal import TIME_VOCABULARIES, find_times

NOW = datetime(2026, 11, 22, 14, 30)
"""A Sunday."""


def read(text, now=NOW):
    """Every time in a text: where it stands, its relation, its first day and the first after it."""
    return [
        (text[s.first : s.last], s.relation, *(str(d)[:10] for d in (s.start, s.end)))
        for s in find_times(text, now)
    ]


@pytest.mark.parametrize(
    ("text", "stands", "start", "end"),
    [
        ("notes between 5 and 12 October", "between 5 and 12 October", "2026-10-05", "2026-10-13"),
        ("from 5 to 12 October", "from 5 to 12 October", "2026-10-05", "2026-10-13"),
        ("from the 5th to the 12th of May 2025", "from the 5th to the 12th of May 2025", "2025-05-05", "2025-05-13"),
        ("between October 5 and 12?", "between October 5 and 12", "2026-10-05", "2026-10-13"),
        ("October 5-12", "October 5-12", "2026-10-05", "2026-10-13"),
        ("the trip of 5-12 October", "5-12 October", "2026-10-05", "2026-10-13"),
        ("the trip, October 5–12, 2026", "October 5–12", "2026-10-05", "2026-10-13"),
        ("was geschah vom 5. bis 12. Oktober", "vom 5. bis 12. Oktober", "2026-10-05", "2026-10-13"),
        ("vom 5. bis zum 12. Oktober", "vom 5. bis zum 12. Oktober", "2026-10-05", "2026-10-13"),
        ("zwischen dem 5. und dem 12. Oktober", "zwischen dem 5. und dem 12. Oktober", "2026-10-05", "2026-10-13"),
        ("die Reise 5.-12. Oktober", "5.-12. Oktober", "2026-10-05", "2026-10-13"),
        ("in the week of 12 October", "in the week of 12 October", "2026-10-12", "2026-10-19"),
        ("the week of 2026-10-14", "the week of 2026-10-14", "2026-10-12", "2026-10-19"),
        ("in der Woche vom 12. Oktober", "in der Woche vom 12. Oktober", "2026-10-12", "2026-10-19"),
        ("in the first week of November", "in the first week of November", "2026-11-01", "2026-11-08"),
        ("in der ersten Novemberwoche im November", "im November", "2026-11-01", "2026-12-01"),
        ("in der zweiten Woche im Oktober", "in der zweiten Woche im Oktober", "2026-10-08", "2026-10-15"),
        ("on the last Friday of September", "on the last Friday of September", "2026-09-25", "2026-09-26"),
        ("am ersten Montag im Mai 2025", "am ersten Montag im Mai 2025", "2025-05-05", "2025-05-06"),
        ("at the end of October", "at the end of October", "2026-10-21", "2026-11-01"),
        ("by the beginning of May 2025", "the beginning of May 2025", "2025-05-01", "2025-05-11"),
        ("was war in KW 42?", "in KW 42", "2026-10-12", "2026-10-19"),
        ("in calendar week 42", "in calendar week 42", "2026-10-12", "2026-10-19"),
        ("Kalenderwoche 1 2026", "Kalenderwoche 1 2026", "2025-12-29", "2026-01-05"),
        ("what broke on 2026-03-01?", "on 2026-03-01", "2026-03-01", "2026-03-02"),
        ("notes of 2026-03", "2026-03", "2026-03-01", "2026-04-01"),
        ("the plan of March 2026", "March 2026", "2026-03-01", "2026-04-01"),
        ("how many appointments in March?", "in March", "2026-03-01", "2026-04-01"),
        ("the fair in December", "in December", "2025-12-01", "2026-01-01"),
        ("on 3 May 2023 we moved", "on 3 May 2023", "2023-05-03", "2023-05-04"),
        ("what was said on May 3rd?", "on May 3rd", "2026-05-03", "2026-05-04"),
        ("the 3rd of May, 2023", "the 3rd of May, 2023", "2023-05-03", "2023-05-04"),
        ("what did I do yesterday?", "yesterday", "2026-11-21", "2026-11-22"),
        ("the day before yesterday", "the day before yesterday", "2026-11-20", "2026-11-21"),
        ("last week's numbers", "last week", "2026-11-09", "2026-11-16"),
        ("what did we do this week", "this week", "2026-11-16", "2026-11-23"),
        ("cleaned last month", "last month", "2026-10-01", "2026-11-01"),
        ("in the last quarter", "in the last quarter", "2026-07-01", "2026-10-01"),
        ("in Q3 2024", "in Q3 2024", "2024-07-01", "2024-10-01"),
        ("last year", "last year", "2025-01-01", "2026-01-01"),
        ("lunch last Tuesday", "last Tuesday", "2026-11-17", "2026-11-18"),
        ("lunch last Sunday", "last Sunday", "2026-11-15", "2026-11-16"),
        ("lunch on Sunday", "on Sunday", "2026-11-22", "2026-11-23"),
        ("two weeks ago", "two weeks ago", "2026-11-05", "2026-11-12"),
        ("a couple of weeks ago", "a couple of weeks ago", "2026-11-05", "2026-11-12"),
        ("3 days ago", "3 days ago", "2026-11-19", "2026-11-20"),
        ("a month ago", "a month ago", "2026-10-07", "2026-11-07"),
        ("in the past month", "in the past month", "2026-10-22", "2026-11-23"),
        ("in the last 10 days", "in the last 10 days", "2026-11-12", "2026-11-23"),
        ("spring 2024", "spring 2024", "2024-03-01", "2024-06-01"),
        ("in the fall of 2024", "in the fall of 2024", "2024-09-01", "2024-12-01"),
        ("last summer", "last summer", "2026-06-01", "2026-09-01"),
        ("cocktails last weekend", "last weekend", "2026-11-14", "2026-11-16"),
        ("what did I do at the weekend", "at the weekend", "2026-11-21", "2026-11-23"),
        ("in early 2023", "in early 2023", "2023-01-01", "2023-05-02"),
        ("what was decided in mid-August?", "in mid-August", "2026-08-11", "2026-08-21"),
        ("prices of Mid-2023", "Mid-2023", "2023-05-02", "2023-08-31"),
        ("planned for late Q3 2025", "late Q3 2025", "2025-08-30", "2025-10-01"),
        ("paid on 25/4/2023", "on 25/4/2023", "2023-04-25", "2023-04-26"),
        ("what happened in the last week of August", "in the last week of August", "2026-08-25", "2026-09-01"),
        ("the last weekend in October", "in October", "2026-10-01", "2026-11-01"),
        ("the last day of July 2025", "July 2025", "2025-07-01", "2025-08-01"),
        ("was war letzten Freitag im Oktober", "im Oktober", "2026-10-01", "2026-11-01"),
        ("die Kosten Ende August", "Ende August", "2026-08-21", "2026-09-01"),
        ("die Zahlen Anfang Q2", "Anfang Q2", "2026-04-01", "2026-05-01"),
        ("what did we do last year in March?", "last year in March", "2025-03-01", "2025-04-01"),
        ("sold in March last year", "in March last year", "2025-03-01", "2025-04-01"),
        ("sold in march last year", "in march last year", "2025-03-01", "2025-04-01"),
        ("Q4 last year", "Q4 last year", "2025-10-01", "2026-01-01"),
        ("in the summer of last year", "in the summer of last year", "2025-06-01", "2025-09-01"),
        ("on 3 May last year", "on 3 May last year", "2025-05-03", "2025-05-04"),
        ("what is on 3 May next year?", "on 3 May next year", "2027-05-03", "2027-05-04"),
        ("this year in December", "this year in December", "2026-12-01", "2027-01-01"),
        ("the first week of March last year", "the first week of March last year", "2025-03-01", "2025-03-08"),
        ("was war letztes Jahr im März?", "letztes Jahr im März", "2025-03-01", "2025-04-01"),
        ("was war im März letzten Jahres?", "im März letzten Jahres", "2025-03-01", "2025-04-01"),
        ("letztes Jahr am 3. Mai", "letztes Jahr am 3. Mai", "2025-05-03", "2025-05-04"),
        ("last year in March 2024", "in March 2024", "2024-03-01", "2024-04-01"),
        ("sales fall last year", "last year", "2025-01-01", "2026-01-01"),
        ("what happened in Dec '25?", "in Dec '25", "2025-12-01", "2026-01-01"),
        ("on May 3, '25", "on May 3, '25", "2025-05-03", "2025-05-04"),
        ("Nov '25 - Jan '26", "Nov '25 - Jan '26", "2025-11-01", "2026-02-01"),
        ("half a year ago", "half a year ago", "2026-05-07", "2026-06-07"),
        ("vor einem halben Jahr", "vor einem halben Jahr", "2026-05-07", "2026-06-07"),
        ("was letzte Woche los war", "letzte Woche", "2026-11-09", "2026-11-16"),
        ("was vor zwei Wochen war", "vor zwei Wochen", "2026-11-05", "2026-11-12"),
        ("am 3. Mai 2023", "am 3. Mai 2023", "2023-05-03", "2023-05-04"),
        ("der Termin am 2.10.2023.", "am 2.10.2023", "2023-10-02", "2023-10-03"),
        ("in den letzten 10 Tagen", "in den letzten 10 Tagen", "2026-11-12", "2026-11-23"),
        ("was war vorgestern?", "vorgestern", "2026-11-20", "2026-11-21"),
        ("im Sommer 2024", "im Sommer 2024", "2024-06-01", "2024-09-01"),
        ("am letzten Dienstag", "am letzten Dienstag", "2026-11-17", "2026-11-18"),
        ("am Wochenende", "am Wochenende", "2026-11-21", "2026-11-23"),
    ],
)  # fmt: skip
def test_a_time_is_read_with_the_words_that_name_it(text, stands, start, end):
    assert read(text) == [(stands, "in", start, end)]


@pytest.mark.parametrize(
    ("text", "stands", "relation", "start", "end"),
    [
        ("before 2026-03-01", "before 2026-03-01", "before", "2026-03-01", "2026-03-02"),
        ("until March 2026", "until March 2026", "until", "2026-03-01", "2026-04-01"),
        ("since Sept '24", "since Sept '24", "since", "2024-09-01", "2024-10-01"),
        ("since March last year", "since March last year", "since", "2025-03-01", "2025-04-01"),
        ("since last month", "since last month", "since", "2026-10-01", "2026-11-01"),
        ("after the 3rd of May", "after the 3rd of May", "after", "2026-05-03", "2026-05-04"),
        ("between March and May 2024", "between March and May 2024", "in", "2024-03-01", "2024-06-01"),
        ("from Monday to Wednesday", "from Monday to Wednesday", "in", "2026-11-16", "2026-11-19"),
        ("from March on", "from March", "since", "2026-03-01", "2026-04-01"),
        ("as of 2026-03-01 the limit is", "as of 2026-03-01", "as_of", "2026-03-01", "2026-03-02"),
        ("as of last month", "as of last month", "as_of", "2026-10-01", "2026-11-01"),
        ("seit vorgestern", "seit vorgestern", "since", "2026-11-20", "2026-11-21"),
        ("vor dem 3. Mai", "vor dem 3. Mai", "before", "2026-05-03", "2026-05-04"),
        ("zwischen März und Mai", "zwischen März und Mai", "in", "2026-03-01", "2026-06-01"),
        ("Stand 1. März 2026", "Stand 1. März 2026", "as_of", "2026-03-01", "2026-03-02"),
    ],
)  # fmt: skip
def test_words_before_a_time_say_how_it_is_meant(text, stands, relation, start, end):
    assert read(text) == [(stands, relation, start, end)]


@pytest.mark.parametrize(
    "text",
    [
        "may I see it?",
        "this may be wrong, and they march on",
        "we march on with 3 may people",
        "upgrade to 2.10.3 or v2.10.2023",
        "12/4 of the cake, or 12/4/2023 at that",
        "what is in notes/2026-03-01.md and 2026-03-01-meeting?",
        "wait a second, the second one took 5 seconds",
        "what do I do on Saturday mornings?",
        "any film for tonight?",
        "the last one, the next step, the past",
        "in Spring Boot 3",
        "how many days passed between the workshop and the fair?",
        "guten Morgen, wo stand das Auto?",
        "CVE-2026-0301 on port 2026",
        "2026-02-30, 2026-13, 31/4/2023",
        "a mid-range phone, a late-night call, mid-may and Ende-zu-Ende",
        "ago since before until between last",
        "the last year and a half",
        "half an hour ago",
        "3 days before yesterday",
        "the weekend before last",
        "the day after 3 May, three days after 3 May, the Friday before 3 May",
        "am Tag nach dem 3. Mai",
        "Bruce Willis in '12 Monkeys'",
        "",
    ],
)
def test_what_may_be_something_else_is_left_alone(text):
    assert read(text) == []


def test_the_29th_of_february_is_that_of_the_last_leap_year():
    assert read("on February 29") == [("on February 29", "in", "2024-02-29", "2024-03-01")]


def test_more_than_one_time_is_read_in_the_order_of_the_text():
    assert [found[0] for found in read("in March, not last week, and yesterday")] == [
        "in March", "last week", "yesterday",
    ]  # fmt: skip


WORDS = sorted({word for tongue in TIME_VOCABULARIES for word in tongue.words})
PARTS = st.one_of(
    st.sampled_from(WORDS),
    st.integers(0, 3000).map(str),
    st.dates().map(str),
    st.sampled_from(["3rd", "3.", "2026-", "12/4/2023", ",", "?", "q3", "'s"]),
    st.text(max_size=6),
)


@given(st.lists(PARTS, max_size=30).map(" ".join), st.datetimes())
@settings(max_examples=300, deadline=None)
def test_nothing_that_can_be_typed_is_an_error_and_every_time_has_an_end_behind_its_start(text, now):
    found = find_times(text, now)
    assert all(span.start < span.end for span in found)
    assert all(0 <= span.first < span.last <= len(text) for span in found)
    assert all(one.last <= other.first for one, other in pairwise(found))


@pytest.mark.parametrize(
    "unit", ["between march and ", "last ", "the ", "3 ", "vor zwei ", "x" * 39 + " ", "("]
)
def test_twice_as_long_a_text_takes_twice_the_steps(unit):
    """Counted in calls, not seconds: 20,000 characters of anything are read in one pass."""

    def calls(length):
        count = 0

        def step(*_):
            nonlocal count
            count += 1

        text = (unit * length)[:length]
        sys.setprofile(step)
        try:
            find_times(text, NOW)
        finally:
            sys.setprofile(None)
        return count

    half, whole = calls(10_000), calls(20_000)
    assert whole < 2.2 * half + 100


@given(st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_days_ago_are_counted_from_the_day_of_the_question(days):
    (span,) = find_times(f"{days} days ago", NOW)
    assert span.start == NOW.replace(hour=0, minute=0) - timedelta(days=days)
