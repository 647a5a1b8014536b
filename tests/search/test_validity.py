"""Valid time: what is true now is the default, what was true then is asked for, and no more is let in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scrubjay.config.settings import FactSettings, Settings
from scrubjay.errors import InputError

NOW = "2026-11-22T12:00:00Z"


@pytest.fixture
def limits(opened: Callable[..., Any], settings: Settings) -> Any:
    """Three limits, each of which takes the place of the one before, the last in a year."""
    memory = opened(settings=replace(settings, facts=FactSettings()), embedders=None)
    memory.add("The deploy limit is 30 seconds", tier="semantic", valid_from="2026-01-01")
    memory.add("The deploy limit is 90 seconds", tier="semantic", valid_from="2026-06-01")
    memory.add("The deploy limit is 120 seconds", tier="semantic", valid_from="2027-06-01")
    return memory


def said(memory: Any, query: str = "deploy limit", **options: Any) -> list[str]:
    """Seconds of the limits that are found."""
    return [
        one.snippet.split()[4] for one in memory.search(query, now=NOW, min_relevance=0, **options).results
    ]


@pytest.mark.parametrize(
    ("as_of", "seconds"),
    [("2025", []), ("2026-03-01", ["30"]), ("2026-05-31", ["30"]), ("2026-06-01", ["90"]), ("2028", ["120"])],
)
def test_as_of_a_day_what_was_true_at_its_end_is_found_and_nothing_else(
    limits: Any, as_of: str, seconds: list[str]
) -> None:
    assert said(limits, as_of=as_of) == seconds
    assert said(limits, f"deploy limit as of {as_of}") == (
        seconds or said(limits, f"deploy limit as of {as_of}")
    )


def test_a_question_may_say_of_which_time_it_asks(limits: Any) -> None:
    assert said(limits, "what was the deploy limit as of 2026-03-01?") == ["30"]


def test_now_is_the_default_also_where_what_comes_next_is_known_already(limits: Any) -> None:
    assert said(limits) == ["90"]
    (result,) = limits.search("deploy limit", now=NOW).results
    assert (result.valid_from or "")[:4] == "2026"
    assert (result.valid_until or "")[:4] == "2027"


def test_what_a_person_gave_an_end_leaves_the_answers_when_it_comes(memory: Any) -> None:
    memory.add("The office is in Porto", valid_until="2026-05-31")
    memory.add("The office party is planned", valid_from="2027-01-01")
    assert not memory.search("office", now=NOW).results
    assert len(memory.search("office", now="2026-02-01").results) == 1
    assert len(memory.search("office", now=NOW, statuses=["active", "superseded"]).results) == 2


@pytest.mark.parametrize("fusion", ["auto", "rrf", "weighted"])
def test_every_fusion_keeps_to_it(limits: Any, fusion: str) -> None:
    assert said(limits, as_of="2026-03-01", fusion=fusion) == ["30"]


def test_what_replaced_another_was_not_true_before_it(memory: Any) -> None:
    old = memory.add("The standup is at nine", tier="semantic", date="2026-01-05T09:00:00Z")
    memory.update(old.id, content="The standup is at ten")
    found = memory.search("standup", as_of="2026-02-01", now="2099-01-01").results
    assert [one.snippet for one in found] == ["The standup is at nine"]


def test_what_tells_of_a_later_day_is_out_where_a_caller_sets_the_time_and_behind_where_a_word_does(
    memory: Any,
) -> None:
    memory.add("The move was planned, said in June", date="2026-06-05")
    memory.add("The move was planned, said in January", date="2026-01-05")
    found = memory.search("was a move planned?", as_of="2026-03-01", now=NOW).results
    assert [one.date for one in found] == ["2026-01-05"]
    found = memory.search("was a move planned as of 2026-03-01?", now=NOW).results
    assert [one.date for one in found] == ["2026-01-05", "2026-06-05"]


def test_the_answer_says_of_which_time_it_is(limits: Any) -> None:
    assert limits.search("deploy limit", as_of="2026-03-01", tz="UTC").as_of == "2026-03-01T23:59:59+00:00"
    assert limits.search("deploy limit").as_of is None


def test_a_thread_as_of_a_day_tells_nothing_later(limits: Any) -> None:
    told = limits.thread("deploy limit", as_of="2026-03-01", tz="UTC", now=NOW)
    assert [knot.result.snippet.split()[4] for knot in told.entries] == ["30"]
    assert told.as_of == "2026-03-01T23:59:59+00:00"
    assert len(limits.thread("deploy limit", now=NOW).entries) == 3


@pytest.mark.parametrize(
    "wrong", [{"as_of": "then"}, {"tz": "Mars/Base"}, {"since": "2026-03", "until": "2026-02"}]
)
def test_what_cannot_be_is_refused_and_named(memory: Any, wrong: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        memory.search("q", **wrong)
    assert all(value in str(caught.value) for value in wrong.values())
    assert caught.value.hint


def test_as_of_an_earlier_day_an_addition_without_a_date_of_its_own_is_found(
    opened: Callable[..., Any],
) -> None:
    memory = opened(embedders=None)
    undated = memory.add("The deploy window is on Mondays.").id
    memory.add("The deploy window moved to Tuesdays.", date="2026-10-01")
    assert [one.id for one in memory.search("deploy window", as_of="2020-01-01").results] == [undated]
