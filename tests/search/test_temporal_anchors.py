"""Times that are counted from an event: taken from the memory that tells of it, only where that is clear."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrubjay import Memory
from scrubjay.search.request import STAGES
from scrubjay.storage.sqlite.reader import SQLiteReader

ASK = {"now": datetime(2026, 11, 22, 12, tzinfo=UTC), "tz": "UTC"}
WITHOUT = tuple(stage for stage in STAGES if stage != "dated")
BOOTS = ("2026-01-10", "2026-02-20", "2026-06-20", "2026-07-30")


@pytest.fixture
def diary(memory: Memory) -> Memory:
    for day in BOOTS:
        memory.add(f"Cleaned the boots, note of {day[5:]}", date=day)
    memory.add("The database migration was done today.", date="2026-03-02")
    return memory


def days(memory: Memory, query: str, **options: Any) -> list[str]:
    return [r.date for r in memory.search(query, **ASK | options).results if r.snippet.startswith("Cleaned")]


def read(memory: Memory, query: str, **options: Any) -> tuple[str, ...]:
    notes = memory.search(query, explain=True, **ASK | options).notes
    return tuple(note for note in notes if note.startswith("Read as a time"))


def test_what_happened_before_or_after_it_stands_first(opened: Callable[..., Memory]) -> None:
    memory = opened()
    for day in BOOTS:
        memory.add(f"Cleaned the boots, note of {day[5:]}", date=day)
    memory.add("The database migration was done today.", date="2026-03-02")
    before, after = "which boots were cleaned before the migration?", "boots cleaned after the migration"
    assert set(days(memory, before)[:2]) == set(BOOTS[:2])
    assert set(days(memory, after)[:2]) == set(BOOTS[2:])
    assert len(days(memory, before)) == len(BOOTS)  # never a filter
    bare = days(memory, before, stages=WITHOUT)
    assert set(bare[:2]) != set(BOOTS[:2])
    assert bare == days(memory, after, stages=WITHOUT)


def test_explain_says_what_was_read_and_by_which_memory(diary: Memory) -> None:
    teller = diary.search("database migration done", **ASK).results[0].id
    assert read(diary, "boots before the migration") == (
        f"Read as a time: before the migration = before 2026-03-02 ({teller}: The database migration was done today.).",
    )
    assert "after the migration = from 2026-03-03 on" in read(diary, "boots after the migration?")[0]
    assert "since our migration = from 2026-03-02 on" in read(diary, "since our migration, boots")[0]
    assert "until the migration = until 2026-03-02" in read(diary, "boots until the migration")[0]


def test_a_date_is_that_of_the_memory_and_a_moment_has_the_askers_day(memory: Memory) -> None:
    memory.add("The regatta was lost.", date="2026-03")
    memory.add("The concert was loud.", date="2026-05-05T23:30:00Z")
    for zone in ("UTC", "Pacific/Auckland", "America/New_York"):
        assert "after the regatta = from 2026-04-01 on" in read(memory, "boots after the regatta", tz=zone)[0]
        assert "until the regatta = until 2026-03-31" in read(memory, "boots until the regatta", tz=zone)[0]
    assert "before the concert = before 2026-05-05" in read(memory, "boots before the concert")[0]
    there = read(memory, "boots before the concert", tz="Pacific/Auckland")
    assert "before the concert = before 2026-05-06" in there[0]


@pytest.mark.parametrize("day", ["0001-01-01T01:00:00Z", "0001-01-02", "9999-12-29", "9999-12-31T20:00:00Z"])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
def test_the_ends_of_all_calendars_are_no_error(memory: Memory, day: str, zone: str) -> None:
    memory.add("The regatta was lost.", date=day)
    for relation in ("before", "after", "since", "until"):
        read(memory, f"boots {relation} the regatta", tz=zone)


def test_german_is_understood(memory: Memory) -> None:
    memory.add("Umzug in die neue Wohnung.", date="2026-03-02")
    for day in BOOTS:
        memory.add(f"Stiefel geputzt, Notiz vom {day[5:]}", date=day)
    query = "Wann wurden vor dem Umzug die Stiefel geputzt?"
    assert "vor dem Umzug = before 2026-03-02" in read(memory, query)[0]
    found = [r.date for r in memory.search(query, **ASK).results if r.snippet.startswith("Stiefel")]
    assert set(found[:2]) == set(BOOTS[:2])


def test_an_event_told_of_at_two_times_is_not_guessed_at(diary: Memory) -> None:
    diary.add("The database migration was done again.", date="2026-05-05")
    assert read(diary, "boots before the migration") == ()
    assert days(diary, "boots before the migration") == days(
        diary, "boots before the migration", stages=WITHOUT
    )


def test_what_is_told_of_for_a_week_is_one_event(diary: Memory) -> None:
    diary.add("The database migration was done again.", date="2026-03-06")
    assert len(read(diary, "boots before the migration")) == 1


def test_a_file_without_a_date_tells_of_no_day(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "migration.md").write_text("# Migration\n\nThe database migration was done.\n")
    memory.sync(tmp_path / "notes")
    assert read(memory, "boots before the migration") == ()
    memory.add("The database migration is done.", date="2026-03-02")
    assert "before 2026-03-02" in read(memory, "boots before the migration")[0]


def test_a_memory_that_counts_from_the_event_itself_does_not_tell_when_it_was(diary: Memory) -> None:
    diary.add("What did we do before the migration?", date="2026-08-08")
    diary.add("Slow since the database migration.", date="2026-09-09")
    assert "before 2026-03-02" in read(diary, "boots before the migration")[0]


def test_all_words_of_the_event_must_be_held_and_one_must_be_rare(diary: Memory) -> None:
    assert read(diary, "boots before the router migration") == ()
    assert read(diary, "boots before the boots and after the concert") == ()
    assert (
        "(" in read(diary, "boots before the migration to Postgres")[0]
    )  # what follows a preposition may be the question's


def test_words_held_by_very_many_name_no_event(memory: Memory) -> None:
    for number in range(30):
        memory.add(f"Standup number {number} was short.", date="2026-03-02")
    assert read(memory, "boots before the standup") == ()


def test_the_words_of_the_event_stay_words_of_the_query(diary: Memory) -> None:
    found = diary.search("before the migration", channels=["bm25"], **ASK)
    assert found.results[0].snippet.startswith("The database migration")
    assert (
        found.results[0].relevance
        == diary.search("the migration", channels=["bm25"], **ASK).results[0].relevance
    )


def test_the_event_is_looked_for_beyond_the_filters_and_not_beyond_the_scope(
    opened: Callable[..., Memory],
) -> None:
    ann = opened()
    for day in BOOTS:
        ann.add(f"Cleaned the boots, note of {day[5:]}", date=day, tags=["boots"])
    bob = ann.seen_by("bob")
    bob.add("The database migration was done today.", date="2026-03-02")
    assert read(ann, "boots before the migration", tags=["boots"]) == ()
    ann.add("The database migration was done today.", date="2026-03-03")
    assert "before 2026-03-03" in read(ann, "boots before the migration", tags=["boots"])[0]
    assert set(days(ann, "boots before the migration", tags=["boots"])[:2]) == set(BOOTS[:2])


def test_what_was_not_yet_is_no_anchor_as_of_an_earlier_day(diary: Memory) -> None:
    assert read(diary, "boots before the migration", as_of="2026-02-01") == ()
    assert len(read(diary, "boots before the migration", as_of="2026-04-01")) == 1


def test_calendar_times_and_quotes_come_first(diary: Memory) -> None:
    diary.add("The weekend in the hut.", date="2026-05-05")
    assert ["hut" in note for note in read(diary, "boots before the weekend")] == [False]
    assert read(diary, 'which boots did we clean "before the migration"?') == ()
    both = read(diary, "boots cleaned before the migration and after 2026-01-20")
    assert [note.split(" = ")[0] for note in both] == [
        "Read as a time: after 2026-01-20",
        "Read as a time: before the migration",
    ]


def test_without_such_words_the_store_is_not_asked_for_them(
    diary: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    words = SQLiteReader.words

    def counted(self: Any, *given: Any) -> Any:
        asked.append(given)
        return words(self, *given)

    monkeypatch.setattr(SQLiteReader, "words", counted)
    dated = tuple(stage for stage in STAGES if stage != "recency")  # which looks for words of its own
    undated = tuple(stage for stage in WITHOUT if stage != "recency")
    diary.search("which boots were cleaned?", stages=dated, **ASK)
    alone = len(asked)
    diary.search("which boots were cleaned before the migration?", stages=dated, **ASK)
    assert len(asked) == 2 * alone + 1
    asked.clear()
    diary.search("which boots were cleaned before the migration?", stages=undated, **ASK)
    diary.search("which boots were cleaned before the migration?", stages=dated, fusion="rrf", **ASK)
    assert len(asked) == 2 * alone


def test_of_a_long_memory_the_place_that_names_the_event_is_quoted(memory: Memory) -> None:
    memory.add(
        "Talk of this. " * 30 + "The regatta was on Sunday. " + "And of that. " * 30, date="2026-03-02"
    )
    assert "The regatta was on Sunday." in read(memory, "boots before the regatta")[0]


def test_a_memory_cannot_break_the_note_that_quotes_it(memory: Memory) -> None:
    memory.add("</x>\x1b[2J\u202eregatta\n" + "long " * 500, date="2026-03-02")
    (note,) = read(memory, "boots before the regatta")
    assert "\n" not in note
    assert "\x1b" not in note
    assert "<" not in note
    assert len(note) < 200


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "before",
                "the",
                "migration",
                "after",
                "database",
                "vor",
                "dem",
                '"',
                "-x",
                "to",
                "…",
                "\x00",
                "9999",
                "is",
            ]
        ),
        max_size=12,
    ).map(" ".join)
)
def test_no_order_of_such_words_is_an_error(diary: Memory, query: str) -> None:
    diary.search(query, **ASK)
