"""Incremental sync: what a change of files changes in the store, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from notes_folder import Listening, Notes

from scrubjay import Memory
from scrubjay.ingest.freshness import MAX_INLINE_FILES
from scrubjay.ingest.preparer import TICK_NS

GARDEN = """\
# Garden

All of it.

## Apples

The apple tree bears red fruit.

## Pears

The pear tree is old.
"""


def ids(memory: Memory, path: Path) -> dict[str, str]:
    """Title of each passage of a file to its id."""
    return {record.title: record.id for record in memory.get(path=path).records}


def text(memory: Memory, path: Path) -> str:
    return "".join(record.content for record in memory.get(path=path).records)


def found(memory: Memory, query: str) -> list[str]:
    """Paths of what a search by words finds."""
    answer = memory.search(query, channels=["bm25"], limit=50)
    return [Path(result.path).name for result in answer.results if result.path]


def test_a_sync_tells_what_it_did(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    notes.write("house.md", "# House\n\nThe roof leaks.\n")
    first = memory.sync(notes.root, description="home")
    assert (first.files, first.passages, first.added, first.updated, first.removed) == (2, 4, 4, 0, 0)
    again = memory.sync()
    assert (again.files, again.passages, again.added, again.unchanged) == (2, 4, 0, 4)
    assert memory.search("roof").results[0].source == "home"


def test_an_unchanged_file_is_not_read_again(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", "# Garden\n\nquince\n")
    memory.sync(notes.root)
    seen = file.stat()
    file.write_text("# Garden\n\nmedlar\n"[: seen.st_size])
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    memory.sync()
    # Size and time say that nothing changed, and they were believed.
    assert found(memory, "quince") == ["garden.md"]


def test_a_file_written_a_moment_before_it_is_read_is_compared_by_its_hash(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("garden.md", "# Garden\n\nquince\n")
    soon = time.time_ns() + 60 * 10**9
    os.utime(file, ns=(soon, soon))  # however long a busy machine takes until it is read
    memory.sync(notes.root)
    seen = file.stat()
    file.write_text("# Garden\n\nmedlar\n")
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    memory.sync()
    assert (found(memory, "quince"), found(memory, "medlar")) == ([], ["garden.md"])


def test_files_written_just_before_a_sync_are_not_called_changed_after_it(
    memory: Memory, notes: Notes
) -> None:
    just_now = time.time_ns() - 2 * TICK_NS | 1  # its clock tells parts of a second
    for number in range(MAX_INLINE_FILES + 1):
        os.utime(notes.write(f"{number}.md", f"# Quince {number}\n"), ns=(just_now, just_now))
    memory.sync(notes.root)
    assert memory.search("quince").partial == ()


def test_a_touched_file_changes_nothing(memory: Memory, notes: Notes, model: Listening) -> None:
    notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    model.heard.clear()
    notes.write("garden.md", GARDEN)
    summary = memory.sync()
    assert (summary.added, summary.updated, summary.unchanged, model.heard) == (0, 0, 3, [])


def test_an_edit_of_one_section_embeds_one_section_and_keeps_every_id(
    memory: Memory, notes: Notes, model: Listening
) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = ids(memory, file)
    model.heard.clear()
    notes.write("garden.md", GARDEN.replace("red fruit", "green fruit"))
    summary = memory.sync()
    assert (summary.added, summary.updated, summary.removed, summary.unchanged) == (0, 1, 0, 2)
    assert len(model.heard) == 1
    assert "green fruit" in model.heard[0]
    assert ids(memory, file) == before
    assert text(memory, file) == file.read_text()


def test_a_section_that_is_mostly_rewritten_under_its_heading_stays_one_memory(
    memory: Memory, notes: Notes
) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = ids(memory, file)
    notes.write(
        "garden.md",
        GARDEN.replace("The apple tree bears red fruit.", "Felled in the storm, the apple is gone."),
    )
    summary = memory.sync()
    assert (summary.added, summary.updated, summary.removed) == (0, 1, 0)
    assert ids(memory, file) == before


def test_a_section_put_in_front_moves_the_others_without_embedding_them(
    memory: Memory, notes: Notes, model: Listening
) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = ids(memory, file)
    model.heard.clear()
    notes.write("garden.md", GARDEN.replace("## Apples", "## Bees\n\nTwo hives.\n\n## Apples"))
    summary = memory.sync()
    assert (summary.added, summary.updated, summary.removed, len(model.heard)) == (1, 0, 0, 1)
    after = ids(memory, file)
    assert {title: after[title] for title in before} == before
    apples = memory.get(after["Apples"]).records[0].place
    assert file.read_text().splitlines()[apples.line_start - 1] == "## Apples"


def test_a_renamed_file_keeps_its_memories(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    before = ids(memory, file)
    (notes.root / "2026").mkdir()
    moved = file.rename(notes.root / "2026" / "orchard.md")
    summary = memory.sync()
    assert (summary.added, summary.removed) == (0, 0)
    assert ids(memory, moved) == before
    assert memory.get(path=file).records == ()
    assert found(memory, "pear") == ["orchard.md"]


def test_of_two_copies_one_may_go_and_the_other_keeps_its_own_ids(memory: Memory, notes: Notes) -> None:
    one, two = notes.write("one.md", GARDEN), notes.write("two.md", GARDEN)
    memory.sync(notes.root)
    before = ids(memory, two)
    assert not set(before.values()) & set(ids(memory, one).values())
    one.unlink()
    memory.sync()
    assert ids(memory, two) == before


def test_two_files_that_trade_places_hold_what_they_hold(memory: Memory, notes: Notes) -> None:
    one, two = notes.write("one.md", "# A\n\nheron\n"), notes.write("two.md", "# B\n\nstork\n")
    memory.sync(notes.root)
    notes.write("one.md", "# B\n\nstork\n")
    notes.write("two.md", "# A\n\nheron\n")
    memory.sync()
    assert (found(memory, "heron"), found(memory, "stork")) == (["two.md"], ["one.md"])
    assert (text(memory, one), text(memory, two)) == (one.read_text(), two.read_text())


def test_a_deleted_file_leaves_search_at_once(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    notes.write("house.md", "# House\n\nThe roof leaks.\n").rename(notes.root / "h.md")
    memory.sync(notes.root)
    (notes.root / "h.md").unlink()
    assert memory.sync().removed == 1
    assert found(memory, "roof leaks") == []
    assert memory.status().memories == 3


def test_a_search_sees_edits_new_files_and_deletions_without_a_sync(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    notes.write("gone.md", "# Gone\n\nvanishing cream\n")
    memory.sync(notes.root)
    notes.write("garden.md", GARDEN.replace("red", "crimson"))
    notes.write("new.md", "# New\n\nfreshly written\n")
    (notes.root / "gone.md").unlink()
    assert found(memory, "crimson") == [file.name]
    assert found(memory, "freshly") == ["new.md"]
    assert found(memory, "vanishing") == []


def test_a_search_does_not_take_in_a_flood_of_changes_and_says_so(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    for number in range(40):
        notes.write(f"{number}.md", f"# {number}\n\nflood\n")
    answer = memory.search("flood", channels=["bm25"])
    assert answer.results == ()
    assert "40 files that changed" in answer.partial[0]


def test_a_vanished_folder_deletes_nothing_and_says_so(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    shutil.rmtree(notes.root)
    summary = memory.sync()
    assert summary.removed == 0
    assert [problem.path for problem in summary.problems] == [str(notes.root)]
    assert summary.problems[0].message.endswith("Nothing was removed.")
    assert found(memory, "pear") == ["garden.md"]
    assert [source.present for source in memory.sources()] == [False]


def test_a_suddenly_empty_folder_deletes_nothing_and_says_so(memory: Memory, notes: Notes) -> None:
    file = notes.write("garden.md", GARDEN)
    memory.sync(notes.root)
    file.unlink()
    for summary in (memory.sync(), memory.sync(notes.root)):
        assert summary.removed == 0
        assert "suddenly empty" in summary.problems[0].message
    assert found(memory, "pear") == ["garden.md"]


def test_a_file_turned_to_broken_utf8_is_named_and_its_old_text_stays(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    notes.write("house.md", "# House\n\nThe roof leaks.\n")
    memory.sync(notes.root)
    notes.write("garden.md", b"# Garden\n\n\xff\xfe\xfa broken\n")
    notes.write("house.md", "# House\n\nThe roof is whole.\n")
    summary = memory.sync()
    assert [Path(problem.path).name for problem in summary.problems] == ["garden.md"]
    assert found(memory, "pear") == ["garden.md"]
    assert found(memory, "whole") == ["house.md"]


def test_a_broken_file_that_is_new_is_named_and_the_others_are_stored(memory: Memory, notes: Notes) -> None:
    notes.write("broken.md", b"\xc3\x28")
    notes.write("garden.md", GARDEN)
    summary = memory.sync(notes.root)
    assert [Path(problem.path).name for problem in summary.problems] == ["broken.md"]
    assert summary.passages == 3


def test_two_sections_of_one_title_are_two_memories_that_stay_themselves(
    memory: Memory, notes: Notes
) -> None:
    twice = "# Log\n\n## Notes\n\nheron seen\n\n## Notes\n\nstork seen\n"
    file = notes.write("log.md", twice)
    memory.sync(notes.root)
    before = [record.id for record in memory.get(path=file).records]
    assert len(set(before)) == len(before)
    notes.write("log.md", twice.replace("stork seen", "stork seen twice"))
    memory.sync()
    assert [record.id for record in memory.get(path=file).records] == before


def test_equal_sections_are_kept_apart(memory: Memory, notes: Notes) -> None:
    file = notes.write("log.md", "# Log\n\n## Day\n\nnothing\n\n## Day\n\nnothing\n\n## Day\n\nnothing\n")
    memory.sync(notes.root)
    records = memory.get(path=file).records
    assert len({record.id for record in records}) == len(records)
    assert text(memory, file) == file.read_text()


def test_a_file_that_becomes_empty_loses_its_passages(memory: Memory, notes: Notes) -> None:
    notes.write("garden.md", GARDEN)
    notes.write("house.md", "# House\n\nThe roof leaks.\n")
    memory.sync(notes.root)
    notes.write("garden.md", "")
    assert memory.sync().removed == 3
    assert found(memory, "pear") == []
    notes.write("garden.md", GARDEN)
    assert memory.sync().added == 3


def test_another_writer_on_the_same_store_does_not_double_a_file(
    opened: Callable[..., Memory], notes: Notes
) -> None:
    notes.write("garden.md", GARDEN)
    one, two = opened(), opened()
    one.sync(notes.root)
    assert two.sync(notes.root).added == 0
    assert two.status().memories == 3


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_are_kept_as_they_are(memory: Memory, notes: Notes, newline: str) -> None:
    file = notes.write("garden.md", GARDEN.replace("\n", newline))
    memory.sync(notes.root)
    assert text(memory, file).encode() == file.read_bytes()
    assert memory.sync().unchanged == 3


def test_files_of_one_text_that_go_at_once_all_leave_search(memory: Memory, notes: Notes) -> None:
    files = [notes.write(f"{name}.md", "# Quince\n\nquince\n") for name in "abc"]
    notes.write("d.md", "# House\n\nmedlar\n")
    memory.sync(notes.root)
    for file in files[:2]:
        file.unlink()
    assert memory.sync().removed == 2
    files[2].rename(notes.root / "e.md")
    assert memory.sync().removed == 0
    assert found(memory, "quince") == ["e.md"]
