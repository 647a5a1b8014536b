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


def test_turns_are_selected_once_the_last_one_is_old() -> None:
    closed = [turn("a", 0, days=20), turn("b", 1, days=15, role="assistant")]
    assert ids(*closed) == ["obs_0000", "obs_0001"]
    assert ids(*closed, turn("c", 2, days=13)) == []


def test_a_recent_turn_keeps_a_conversation_open_in_any_order() -> None:
    records = [turn("a", 0, days=20), turn("b", 1, days=2), turn("c", 2, days=15)]
    for seed in range(6):
        assert ids(*random.Random(seed).sample(records, 3)) == []


def test_a_pinned_or_archived_recent_turn_keeps_its_conversation_open() -> None:
    assert ids(turn("a", 0, days=20), turn("b", 1, days=2, pinned=True)) == []
    assert ids(turn("a", 0, days=20), turn("b", 1, days=2, status="archived")) == []


def test_conversations_of_other_principals_do_not_matter() -> None:
    mine, theirs = turn("a", 0, days=20), turn("b", 1, days=2, key="user:bob")
    assert ids(mine, theirs) == [mine.id]


def test_tool_results_are_selected_within_a_conversation_only_once_it_is_over() -> None:
    alone = observation("ran", origin="tool")
    assert ids(alone) == []
    assert ids(alone, archive=("transcripts",)) == ["obs_0000"]
    inside = observation("ran", 5, origin="tool", session="s1", days=20)
    assert ids(inside, turn("a", 0, days=3)) == []
    assert ids(inside, turn("a", 0, days=19)) == ["obs_0000", "obs_0005"]


@pytest.mark.parametrize("path", ["2026-01-14.md", "log/2026_01_14.md", "20260114.md", "2026-01-14 Wed.md"])
def test_daily_notes_are_selected_if_notes_are_archived(path: str) -> None:
    daily = passage("stood up", path, origin="tool")
    assert ids(daily, archive=("notes",)) == ["obs_0000"]
    assert ids(daily, archive=("transcripts",)) == []


def test_passages_below_a_date_heading_are_selected_if_notes_are_archived() -> None:
    assert ids(passage("stood up", "log.md", title="2026-01-14"), archive=("notes",)) == ["obs_0000"]
    below = passage("stood up", "log.md", title="Deploy", heading_path=("2026-01-14", "Deploy"))
    assert ids(below, archive=("notes",)) == ["obs_0000"]


@pytest.mark.parametrize(
    "path",
    ["2026-01-14-postgresql.md", "2026-13-40.md", "release.md", "2026-01.md", "decisions/2026-01-1.md"],
)
def test_other_notes_are_never_selected(path: str) -> None:
    assert ids(passage("We take PostgreSQL.", path, days=3000), archive=("notes", "transcripts")) == []


def test_additions_are_never_selected() -> None:
    assert ids(observation("My blood type is A+.", days=3000)) == []
    assert ids(observation("My blood type is A+.", days=3000, title="2026-01-14")) == []


@pytest.mark.parametrize(
    "fields",
    [{"pinned": True}, {"status": "archived"}, {"status": "superseded"}, {"origin": "untrusted"},
     {"origin": "derived"}, {"tier": "lesson"}, {"tags": ("never-inject",)}],
)  # fmt: skip
def test_pinned_withheld_inactive_untrusted_and_derived_memories_are_not_selected(
    fields: dict[str, object],
) -> None:
    assert ids(turn("a", 0)) == ["obs_0000"]
    assert ids(turn("a", 0, **fields)) == []


def test_a_day_counts_from_its_end() -> None:
    at = NOW - 15 * DAY
    day = passage("stood up", "2026-01-14.md", event=EventTime(at, at + DAY, "day"))
    assert ids(day, archive=("notes",)) == []
    assert ids(day, archive=("notes",), after_days=13) == ["obs_0000"]


def test_an_undated_record_counts_from_when_it_was_recorded() -> None:
    assert ids(turn("a", 0, event=None, recorded_at=NOW - 13 * DAY)) == []
    assert ids(turn("a", 0, event=None, recorded_at=NOW - 15 * DAY)) == ["obs_0000"]
