"""The order of a story, and what is said to lie between two of its memories."""

from __future__ import annotations

from typing import Any

from recall_values import record

from scrubjay.models.dates import DAY
from scrubjay.models.records import EventTime, Record, SourcePlace
from scrubjay.search.thread import chronological_order


def told(*records: Record) -> list[tuple[str, str, bool]]:
    return [(one.id, one.gap, one.dated) for one in chronological_order({each.id: each for each in records})]


def on(day: int) -> EventTime:
    return EventTime(day * DAY, (day + 1) * DAY, "day")


def passage(memory: str, ordinal: int, path: str = "a.md", **fields: Any) -> Record:
    return record(memory, memory, place=SourcePlace("notes", path, ordinal, 0, 1, 1, 1), **fields)


def test_memories_are_told_in_the_order_in_which_they_happened() -> None:
    found = told(
        record("obs_3", "c", event=on(900)),
        record("obs_1", "a", event=on(0)),
        record("obs_2", "b", event=on(5)),
    )
    assert found == [("obs_1", "", True), ("obs_2", "5 days later", True), ("obs_3", "2 years later", True)]


def test_an_undated_passage_stands_where_its_document_has_it() -> None:
    found = told(
        passage("obs_d", 3),
        passage("obs_b", 1),
        passage("obs_c", 2, event=on(50)),
        passage("obs_a", 0, event=on(10)),
        record("obs_x", "x", event=on(30)),
    )
    assert [memory for memory, _, _ in found] == ["obs_a", "obs_b", "obs_x", "obs_c", "obs_d"]
    assert [dated for _, _, dated in found] == [True, False, True, True, False]


def test_pages_without_any_date_come_last_in_their_own_order() -> None:
    found = told(passage("obs_b", 4, "z.md"), passage("obs_a", 1, "z.md"), record("obs_x", "x", event=on(30)))
    assert found == [
        ("obs_x", "", True),
        ("obs_a", "not dated", False),
        ("obs_b", "2 passages left out", False),
    ]


def test_turns_that_are_left_out_are_counted() -> None:
    turns = [record(f"obs_{n}", str(n), session="s", turn=n, event=on(n)) for n in (1, 2, 9)]
    assert [gap for _, gap, _ in told(*turns)] == ["", "", "6 turns left out"]


def test_the_moment_of_adding_dates_a_memory_that_is_no_file() -> None:
    assert told(record("obs_b", "b", recorded_at=5 * DAY), record("obs_a", "a", event=on(1)))[1] == (
        "obs_b",
        "4 days later",
        True,
    )
