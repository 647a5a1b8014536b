"""The time that is asked about: a bounded preference, never a filter, and nothing without such a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from recall_values import rows

from scrubjay.models.dates import DAY
from scrubjay.search.fusion import DATE_WEIGHT, add_date_feature, date_proximity
from scrubjay.search.query import QueryTime
from scrubjay.search.request import STAGES
from scrubjay.storage.interface import RankingMetadata

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
WEEK = QueryTime("last week", 100 * DAY, 107 * DAY, 7 * DAY, "in", "")
WITHOUT = tuple(stage for stage in STAGES if stage != "dated")


def test_it_gives_all_within_the_time_half_at_its_own_length_away_and_nothing_far_off() -> None:
    assert date_proximity(100 * DAY, WEEK) == date_proximity(107 * DAY - 1, WEEK) == 1
    assert date_proximity(93 * DAY, WEEK) == 0.5
    assert 0.49 < date_proximity(114 * DAY, WEEK) < 0.51
    assert date_proximity(1000 * DAY, WEEK) < 1e-6


def test_of_an_open_time_one_side_loses_nothing() -> None:
    before = QueryTime("before", None, 100 * DAY, DAY, "before", "")
    assert date_proximity(0, before) == 1
    assert date_proximity(101 * DAY - 1, before) == 0.5


@given(st.integers(-(10**17), 10**17), st.floats(-9, 9))
def test_it_adds_no_more_than_its_weight_and_takes_nothing(at: int, score: float) -> None:
    (one,) = told = rows({"a": score}, {"a": RankingMetadata("", 1, at=at)})
    add_date_feature(told, [WEEK])
    assert -1e-5 <= one.score - score <= DATE_WEIGHT + 1e-5


def test_of_several_times_the_nearest_counts() -> None:
    other = QueryTime("in March", 200 * DAY, 231 * DAY, 31 * DAY, "in", "")
    (one,) = told = rows({"a": 1.0}, {"a": RankingMetadata("", 1, at=205 * DAY)})
    add_date_feature(told, [WEEK, other])
    assert one.score == 1 + DATE_WEIGHT


def test_what_happened_then_stands_before_what_is_worded_alike(memory: Any) -> None:
    for day in ("2026-09-02", "2026-11-11", "2026-11-20"):
        memory.add(f"Cleaned the boots, note of {day[5:]}", date=day)
    ask = {"query": "which boots were cleaned last week?", "now": NOW, "tz": "UTC"}
    assert memory.search(**ask).results[0].date == "2026-11-11"
    assert memory.search(**ask, stages=WITHOUT).results[0].date != "2026-11-11"
    assert len(memory.search(**ask).results) == 3  # never a filter


def test_an_explanation_says_of_the_time_asked_about_only_of_memories_that_lie_in_it(memory: Any) -> None:
    for day in ("2026-10-23", "2026-11-11", "2026-11-21"):
        memory.add(f"Cleaned the boots, note of {day[5:]}", date=day)
    found = memory.search("which boots were cleaned last week?", now=NOW, tz="UTC", explain=True).results
    reasons = {one.date: one.explanation.reason for one in found}
    assert {day for day, reason in reasons.items() if "of the time asked about" in reason} == {"2026-11-11"}


def test_it_is_shown_among_the_parts_of_the_score(memory: Any) -> None:
    memory.add("Cleaned the boots", date="2026-11-11")
    found = memory.search("boots last week", now=NOW, tz="UTC", explain=True)
    (part,) = [one for one in found.results[0].explanation.contributions if one.channel == "dated"]
    assert (part.value, part.weight) == (1.0, DATE_WEIGHT)
    assert found.notes == ("Read as a time: last week = 2026-11-09 to 2026-11-15.",)


def test_a_query_without_a_time_is_answered_as_without_the_stage(memory: Any) -> None:
    memory.add("Cleaned the boots", date="2026-11-11")
    found, without = (
        memory.search("cleaned boots", now=NOW, explain=True, stages=stages).results
        for stages in (None, WITHOUT)
    )
    assert found == without


def test_the_words_of_the_time_are_still_looked_for(memory: Any) -> None:
    memory.add("The march issue of the paper", date="2020-01-01")
    memory.add("Something else", date="2026-03-03")
    found = memory.search("what was in March?", now=NOW, channels=["bm25"]).results
    assert [one.date for one in found] == ["2020-01-01"]
