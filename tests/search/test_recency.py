"""Of two memories that answer a question about as well and tell of the same, the newer stands first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scrubjay import Memory
from scrubjay.search.request import STAGES

OLD = """---
date: 2026-06-03
---
# How long we keep tracking events

We keep tracking events for 90 days, then a job deletes the partition. Legal asked for a number.
"""
NEW = """---
date: 2026-09-02
---
# Tracking events, second round

Two customers lost the proof of a delivery after the job deleted the partition, so how long we keep tracking events
changes: 180 days from now on.
"""
ASKED = "how long do we keep tracking events"


def notes(memory: Memory, folder: Path, **texts: str) -> Memory:
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    for number in range(20):
        (folder / f"day{number}.md").write_text(f"# Day {number}\n\nWorked on task {number}.\n", "utf-8")
    memory.sync(folder)
    return memory


def first(memory: Memory, query: str, **options: object) -> str:
    return Path(memory.search(query, **options).results[0].path or "").stem  # type: ignore[arg-type]


def test_a_decision_that_was_changed_stands_behind_the_one_that_holds_now(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = notes(opened(), tmp_path / "notes", old=OLD, new=NEW)
    assert first(memory, ASKED) == "new"
    assert first(memory, ASKED, limit=1) == "new"
    assert first(memory, ASKED, deep=True) == "new"
    assert first(memory, ASKED, stages=[stage for stage in STAGES if stage != "recency"]) == "old"


def test_of_a_time_that_the_question_names_the_older_decision_stands_first(
    opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = notes(opened(), tmp_path / "notes", old=OLD, new=NEW)
    assert first(memory, f"{ASKED} as of 2026-07-01") == "old"


def test_a_newer_note_that_matches_less_stays_behind(opened: Callable[..., Memory], tmp_path: Path) -> None:
    weak = "---\ndate: 2026-10-01\n---\n# Partitions\n\nThe job deletes the partition of tracking events at night.\n"
    memory = notes(opened(), tmp_path / "notes", old=OLD, new=weak)
    assert first(memory, ASKED) == "old"


def test_a_file_without_a_date_is_newer_than_nothing(opened: Callable[..., Memory], tmp_path: Path) -> None:
    memory = notes(opened(), tmp_path / "notes", old=OLD, new=NEW.split("---\n")[-1])
    assert first(memory, ASKED) == "old"
