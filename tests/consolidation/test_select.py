"""What is old enough, and of a kind, to be told in a digest."""

import random
from typing import Any

import pytest
from observations import NOW, observation, passage, turn

from scrubjay.consolidation.digest import select_observations
from scrubjay.models.dates import DAY
from scrubjay.models.records import EventTime, Record


def ids(*records: Record, **options: Any) -> list[str]:
    return sorted(record.id for record in select_observations(records, NOW, **options))


def test_turns_of_a_conversation_go_when_its_last_one_is_older_than_the_limit() -> None:
    closed = [turn("a", 0, days=20), turn("b", 1, days=15, role="assistant")]
    assert ids(*closed) == ["obs_0000", "obs_0001"]
    assert ids(*closed, turn("c", 2, days=13)) == []


def test_a_conversation_is_open_whichever_of_its_turns_is_seen_first() -> None:
    records = [turn("a", 0, days=20), turn("b", 1, days=2), turn("c", 2, days=15)]
    for seed in range(6):
        assert ids(*random.Random(seed).sample(records, 3)) == []


def test_a_turn_that_stays_keeps_its_conversation_open_too() -> None:
    assert ids(turn("a", 0, days=20), turn("b", 1, days=2, pinned=True)) == []
    assert ids(turn("a", 0, days=20), turn("b", 1, days=2, status="archived")) == []


def test_a_conversation_of_another_principal_closes_no_other() -> None:
    mine, theirs = turn("a", 0, days=20), turn("b", 1, days=2, key="user:bob")
    assert ids(mine, theirs) == [mine.id]


def test_what_a_tool_observed_goes_but_within_a_conversation_only_once_that_is_closed() -> None:
    alone = observation("ran", origin="tool")
    assert ids(alone) == []
    assert ids(alone, archive=("transcripts",)) == ["obs_0000"]
    inside = observation("ran", 5, origin="tool", session="s1", days=20)
    assert ids(inside, turn("a", 0, days=3)) == []
    assert ids(inside, turn("a", 0, days=19)) == ["obs_0000", "obs_0005"]


@pytest.mark.parametrize("path", ["2026-01-14.md", "log/2026_01_14.md", "20260114.md", "2026-01-14 Wed.md"])
def test_a_note_whose_file_is_named_by_a_day_goes_where_that_is_asked_for(path: str) -> None:
    daily = passage("stood up", path, origin="tool")
    assert ids(daily, archive=("notes",)) == ["obs_0000"]
    assert ids(daily, archive=("transcripts",)) == []


def test_a_passage_below_a_heading_that_is_a_day_goes_where_that_is_asked_for() -> None:
    assert ids(passage("stood up", "log.md", title="2026-01-14"), archive=("notes",)) == ["obs_0000"]
    below = passage("stood up", "log.md", title="Deploy", heading_path=("2026-01-14", "Deploy"))
    assert ids(below, archive=("notes",)) == ["obs_0000"]


@pytest.mark.parametrize(
    "path",
    ["2026-01-14-postgresql.md", "2026-13-40.md", "release.md", "2026-01.md", "decisions/2026-01-1.md"],
)
def test_no_other_note_ever_goes_however_old(path: str) -> None:
    assert ids(passage("We take PostgreSQL.", path, days=3000), archive=("notes", "transcripts")) == []


def test_what_a_person_added_never_goes() -> None:
    assert ids(observation("My blood type is A+.", days=3000)) == []
    assert ids(observation("My blood type is A+.", days=3000, title="2026-01-14")) == []


@pytest.mark.parametrize(
    "fields",
    [{"pinned": True}, {"status": "archived"}, {"status": "superseded"}, {"origin": "untrusted"},
     {"origin": "derived"}, {"tier": "lesson"}],
)  # fmt: skip
def test_what_is_pinned_inactive_untrusted_or_derived_stays(fields: dict[str, object]) -> None:
    assert ids(turn("a", 0)) == ["obs_0000"]
    assert ids(turn("a", 0, **fields)) == []


def test_a_day_is_over_at_its_end_and_the_limit_is_given_in_days() -> None:
    at = NOW - 15 * DAY
    day = passage("stood up", "2026-01-14.md", event=EventTime(at, at + DAY, "day"))
    assert ids(day, archive=("notes",)) == []
    assert ids(day, archive=("notes",), after_days=13) == ["obs_0000"]


def test_what_has_no_date_counts_from_when_it_was_recorded() -> None:
    assert ids(turn("a", 0, event=None, recorded_at=NOW - 13 * DAY)) == []
    assert ids(turn("a", 0, event=None, recorded_at=NOW - 15 * DAY)) == ["obs_0000"]
