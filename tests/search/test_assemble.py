from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recall_values import record

from scrubjay import Memory
from scrubjay.models.dates import parse_when
from scrubjay.models.records import Source, SourcePlace
from scrubjay.search.results import build_result, full_path

HOME = {"src_1": Source("src_1", "/home/ann/notes", description="Ann's notes")}
PLACE = SourcePlace("src_1", "sea/tide.md", 2, 10, 60, 4, 9)


def test_a_passage_is_cited_by_file_and_lines() -> None:
    found = build_result(record("obs_1", "text", place=PLACE), HOME, 1.5, "text", None)
    assert (found.path, found.line_start, found.line_end) == ("/home/ann/notes/sea/tide.md", 4, 9)
    assert found.citation == "/home/ann/notes/sea/tide.md:4-9"
    assert found.source == "Ann's notes"


def test_an_addition_is_cited_by_its_id() -> None:
    found = build_result(record("obs_1", "text"), HOME, 1.5, "text", None)
    assert (found.path, found.line_start, found.citation, found.source) == (None, None, "obs_1", "")


def test_the_date_is_the_events_as_precise_as_it_is_known_else_when_it_was_recorded() -> None:
    at = parse_when("2026-03-01T10:00:00Z")
    assert at is not None
    dates = [
        build_result(record("obs_1", "t", event=event, recorded_at=at.start), {}, 0.0, "t", None).date
        for event in (
            parse_when("2025"),
            parse_when("2025-11"),
            parse_when("2025-11-03"),
            parse_when("2025-11-03T08:30:00Z"),
            None,
        )
    ]
    assert dates == [
        "2025",
        "2025-11",
        "2025-11-03",
        "2025-11-03T08:30:00+00:00",
        "2026-03-01T10:00:00+00:00",
    ]


def test_relevance_is_not_made_up_from_the_score() -> None:
    assert build_result(record("obs_1", "t"), {}, 9.9, "t", None).relevance is None


def test_a_passage_of_a_source_out_of_sight_has_no_path() -> None:
    assert full_path(record("obs_1", "t", place=PLACE), {}) is None


def test_what_a_memory_is_comes_with_it(memory: Memory) -> None:
    added = memory.add(
        "Tide.", tier="lesson", title="Sea", tags=["b", "a"], session="s1", role="user", turn=1
    )
    found = memory.search("tide").results[0]
    assert (found.id, found.tier, found.title, found.tags) == (added.id, "lesson", "Sea", ("a", "b"))
    assert (found.session, found.role, found.status) == ("s1", "user", "active")


@pytest.mark.parametrize("limit", [40, 700, 1_000])
def test_a_snippet_is_around_the_match_and_within_its_limit(memory: Memory, limit: int) -> None:
    memory.add("filler words here. " * 200 + "The kingfisher dives. " + "more words there. " * 200)
    (found,) = memory.search("kingfisher", snippet=limit).results
    assert "kingfisher" in found.snippet
    assert len(found.snippet) <= limit
    assert len(memory.search("kingfisher").results[0].snippet) <= 700


def test_explanations_come_only_when_asked_for(memory: Memory) -> None:
    memory.add("The red door.")
    assert memory.search("red door").results[0].explanation is None
    explained = memory.search("red door window", explain=True).results[0].explanation
    assert explained is not None
    assert set(explained.words) == {"red", "door"}
    (words,) = [part for part in explained.contributions if part.channel == "bm25"]
    assert sum(explained.words.values()) == pytest.approx(words.raw, abs=2e-6)


def test_paths_are_absolute_and_lines_count_from_one(opened: Callable[..., Memory], tmp_path: Path) -> None:
    root = tmp_path / "notes"
    (root / "sea").mkdir(parents=True)
    (root / "sea" / "tide.md").write_text("# Sea\n\nCalm.\n\n# Tide\n\nIt turns at six.\n")
    memory = opened(tmp_path / "a.db")
    memory.sync(root, description="Ann's notes")
    found = memory.search("when does it turn").results[0]
    assert found.path == str(root / "sea" / "tide.md")
    assert (found.line_start, found.line_end, found.title, found.source) == (5, 7, "Tide", "Ann's notes")
