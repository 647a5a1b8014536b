from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.config.settings import NotesSettings
from scrubjay.errors import InputError, SourceError
from scrubjay.models.lifecycle import NewMemory

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def today(folder: Path) -> Path:
    (file,) = folder.glob("*.md")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d\.md", file.name)
    return file


def test_without_a_notes_folder_nothing_is_written_but_the_store(opened, folder: Path) -> None:
    assert opened().add("The tide turns at six.").note is None
    assert not folder.exists()


def test_an_addition_is_appended_to_the_days_note_and_says_where(noting: Memory, folder: Path) -> None:
    first = noting.add("The tide turns at six.\nAnd at noon.")
    second = noting.add("Kettle is blue.", title="Kitchen")
    lines = today(folder).read_text().splitlines()
    for added, heading, body in (
        (first, "The tide turns at six.", "And at noon."),
        (second, "Kitchen", "Kettle is blue."),
    ):
        file, _, span = added.note.rpartition(":")
        start, end = map(int, span.split("-"))
        assert Path(file) == today(folder)
        assert re.fullmatch(rf"## \d\d:\d\d {re.escape(heading)}", lines[start - 1])
        assert lines[start] == f"<!-- scrubjay:{added.id} -->"
        assert lines[end - 1] == body


def test_what_is_there_already_is_not_appended_again(noting: Memory, folder: Path) -> None:
    noting.add("The tide turns at six.")
    before = today(folder).read_text()
    again = noting.add("The tide turns at six.")
    assert (again.existed, again.note) == (True, None)
    assert today(folder).read_text() == before


def test_two_equal_additions_of_one_call_make_one_section(noting: Memory, folder: Path) -> None:
    first, second = noting.add_many([NewMemory("Same."), NewMemory("Same.")])
    assert (first.id, second.existed, second.note) == (second.id, True, None)
    assert today(folder).read_text().count("<!-- scrubjay:") == 1


def test_added_and_synced_it_stays_one_memory_with_all_it_was(noting: Memory, folder: Path) -> None:
    added = noting.add(
        "The tide turns at six.", tier="lesson", tags=["Sea"], date="2026-03-01", session="s", role="user", turn=4,
        pinned=True, confidence=0.5, origin="agent",
    )  # fmt: skip
    noting.sync(folder)
    (record,) = noting.get(added.id).records
    assert noting.status().memories == 1
    assert record.place is not None
    assert (record.tier, record.tags, record.session, record.role, record.turn) == (
        "lesson",
        ("sea",),
        "s",
        "user",
        4,
    )
    assert (record.pinned, record.confidence, record.origin) == (True, 0.5, "agent")
    assert record.event is not None
    assert record.event.precision == "day"
    result = noting.search("When does the tide turn?").results[0]
    assert (result.id, result.tier, result.date) == (added.id, "lesson", "2026-03-01")
    assert noting.add("The tide turns at six.", tier="lesson", date="2026-03-01", session="s", turn=4).existed


@pytest.mark.parametrize(
    "text",
    [
        "# Big\n\nwith\n## small\nparts",
        "Underlined\n==========\n\nand rule\n---\nmore",
        "```sh\n# a comment, not a heading\nmake install",
        "<!-- never closed\n\nstill said",
        "- ## an outline's heading\n- item",
        "> # quoted\nlazily",
        "---\ntitle: x\n---\nno front matter here",
        "    code\n\n<!-- scrubjay:obs_00000000000000ff -->\n\nnot mine",
        "one\r\n# two\rthree",
    ],
)
def test_any_text_stays_one_section_of_the_note_and_one_memory(
    noting: Memory, folder: Path, text: str
) -> None:
    added, other = noting.add(text, tier="lesson"), noting.add("The next one.")
    noting.sync(folder)
    assert noting.status().memories == 2
    assert [r.tier for r in noting.get([added.id, other.id]).records] == ["lesson", "observation"]
    said = noting.get(added.id).records[0].content
    assert [word for word in re.findall(r"\w+", text) if word not in said] == []


def test_code_in_a_closed_fence_is_appended_as_it_is(noting: Memory, folder: Path) -> None:
    text = "Install:\n\n```sh\n# first\nmake install\n```"
    noting.add(text)
    assert text in today(folder).read_text()


def test_an_edit_in_the_note_is_an_edit_of_the_memory(noting: Memory, folder: Path) -> None:
    added = noting.add("The tide turns at six.", tier="lesson")
    noting.sync(folder)
    note = today(folder)
    note.write_text(note.read_text().replace("six", "seven o'clock sharp"))
    noting.sync()
    (record,) = noting.get(added.id).records
    assert (record.tier, "seven" in record.content, noting.status().memories) == ("lesson", True, 1)


def test_a_copied_note_is_a_copy_and_takes_nothing_away(noting: Memory, folder: Path) -> None:
    added = noting.add("The tide turns at six.", tier="lesson")
    noting.sync(folder)
    copy = folder / "copy.md"
    shutil.copy(today(folder), copy)
    copy.write_text(copy.read_text().replace("six", "nine"))
    noting.sync()
    (record,) = noting.get(added.id).records
    assert record.place is not None
    assert (record.place.path == "copy.md", "six" in record.content) == (False, True)
    assert len(noting.search('"turns at nine"').results) == 1


@pytest.mark.parametrize("first", ["policy 4711", "ask Ann"])
def test_a_copy_of_a_days_section_in_another_note_never_changes_the_addition(
    noting: Memory, folder: Path, tmp_path: Path, first: str
) -> None:
    """The day's note itself is not synced."""
    added = noting.add("Boat insurance ends on 2027-05-01, policy 4711.")
    todo = tmp_path / "todo.md"
    for text in (first, "ask Ann"):
        todo.write_text(today(folder).read_text().replace("policy 4711", text))
        noting.sync(todo)
    assert "policy 4711" in noting.get(added.id).records[0].content
    assert "ask Ann" in noting.get(path=todo).records[0].content
    todo.write_text("Nothing.")
    noting.sync(todo)
    assert "policy 4711" in noting.get(added.id).records[0].content


def test_an_edited_copy_beside_the_days_note_is_a_memory_of_its_own(noting: Memory, folder: Path) -> None:
    added = noting.add("The tide turns at six.")
    todo = folder / "todo.md"
    todo.write_text(today(folder).read_text().replace("six", "nine"))
    noting.sync(todo)
    assert "six" in noting.get(added.id).records[0].content
    assert "nine" in noting.get(path=todo).records[0].content


def test_without_a_notes_folder_a_mark_takes_over_only_the_additions_own_text(
    opened, noting: Memory, folder: Path, tmp_path: Path
) -> None:
    first, second = noting.add("The tide turns at six."), noting.add("Kettle is blue.")
    moved = today(folder).rename(tmp_path / "moved.md")
    moved.write_text(moved.read_text().replace("blue.", "red."))
    memory = opened()
    memory.sync(moved)
    placed = {record.id: record.place is not None for record in memory.get([first.id, second.id]).records}
    assert placed == {first.id: True, second.id: False}
    assert memory.get(second.id).records[0].content == "Kettle is blue."
    assert memory.status().memories == 3


def test_of_two_files_that_bear_one_mark_and_are_new_together_neither_is_lost(
    noting: Memory, folder: Path
) -> None:
    noting.add("The tide turns at six.", tier="lesson")
    (folder / "z-copy.md").write_text(today(folder).read_text().replace("six", "nine"))
    noting.sync(folder)
    assert {r.tier for q in ("six", "nine") for r in noting.search(f'"turns at {q}"').results} == {
        "lesson", "observation",
    }  # fmt: skip


def test_two_sections_of_one_mark_are_two_memories(noting: Memory, folder: Path) -> None:
    added = noting.add("The tide turns at six.", tier="lesson")
    note = today(folder)
    note.write_text(
        note.read_text() + f"\n## Later\n<!-- scrubjay:{added.id} -->\n\nBread rises overnight.\n"
    )
    noting.sync(folder)
    assert "six" in noting.get(added.id).records[0].content
    assert len(noting.search('"bread rises"').results) == 1


def test_a_mark_gives_nobody_elses_memory_away(opened, settings, folder: Path) -> None:
    shared = opened().add("The harbour code is public.", visibility="public")
    bob = opened(settings=replace(settings, notes=NotesSettings(dir=folder)), user="bob")
    folder.mkdir()
    (folder / "x.md").write_text(f"## Mine\n<!-- scrubjay:{shared.id} -->\n\nOverwritten.\n")
    bob.sync(folder)
    assert opened().get(shared.id).records[0].content == "The harbour code is public."
    assert bob.status().memories == 2


def test_what_was_forgotten_is_named_in_the_note_and_sync_does_not_bring_it_back(
    noting: Memory, folder: Path
) -> None:
    added = noting.add("The tide turns at six.")
    noting.sync(folder)
    done = noting.forget(added.id)
    assert (done.ids, done.still) == ((added.id,), (f"{today(folder)}:1-5",))
    with today(folder).open("a") as note:
        note.write("\n## Later\n\nBread rises.\n")
    noting.sync()
    assert noting.status().memories == 1
    assert noting.search('"tide turns"').results == ()


@pytest.mark.parametrize(
    "text",
    ["The tide turns at six.", "# Tide\n\nTurns at six.", "Tide. " + "six words of a long tale " * 400],
)
def test_what_was_forgotten_before_its_note_was_read_does_not_come_with_it(
    noting: Memory, folder: Path, text: str
) -> None:
    noting.forget(noting.add(text).id)
    noting.add("Bread rises.")
    noting.sync(folder)
    assert noting.status().memories == 1
    assert noting.search("tide six").results[0].title.endswith("Bread rises.")


def test_no_secret_is_written_into_a_note(noting: Memory, folder: Path) -> None:
    added = noting.add(f"Use {KEY} to log in.", title=f"Key {KEY}", tags=[KEY])
    assert sum(added.scrubbed.values()) == 3
    assert KEY not in today(folder).read_text()


def test_a_title_of_several_lines_is_one_heading(noting: Memory, folder: Path) -> None:
    added = noting.add("Text.", title="a\n<!-- scrubjay:obs_00000000000000ff -->\n# b")
    noting.sync(folder)
    assert noting.status().memories == 1
    assert noting.get(added.id).records[0].place is not None


def test_a_note_that_cannot_be_written_is_an_error_and_the_memory_is_kept(
    noting: Memory, folder: Path
) -> None:
    folder.mkdir()
    now = datetime.now().astimezone()
    for day in (now, now + timedelta(days=1)):  # midnight may come before the note
        (folder / f"{day:%Y-%m-%d}.md").mkdir()
    with pytest.raises(SourceError, match=r"is stored, but .* cannot be written"):
        noting.add("The tide turns at six.")
    assert len(noting.search("tide").results) == 1


def test_additions_whose_note_could_not_be_written_are_named_and_written_when_they_are_added_again(
    noting: Memory, folder: Path
) -> None:
    folder.write_text("in the way")
    new = [NewMemory("The tide turns at six."), NewMemory("The ferry leaves at noon.")]
    with pytest.raises(
        SourceError, match=r"The memories obs_\w+, obs_\w+ are stored, but .* cannot be written"
    ):
        noting.add_many(new)
    folder.unlink()
    again = noting.add_many(new)
    assert all(one.existed and one.note for one in again)
    text = today(folder).read_text()
    assert "The tide turns at six." in text
    assert "The ferry leaves at noon." in text
    assert [one.note for one in noting.add_many(new)] == [None, None]
    assert today(folder).read_text() == text


def test_a_wrong_field_writes_neither_store_nor_note(noting: Memory, folder: Path) -> None:
    with pytest.raises(InputError):
        noting.add_many([NewMemory("Good."), NewMemory("Bad.", tier="nope")])
    assert not folder.exists()
    assert noting.status().memories == 0


def test_a_rebuild_gives_no_passage_what_an_addition_in_its_note_has(
    noting: Memory, opened, folder: Path
) -> None:
    public = noting.add("The tide turns at six.", visibility="public", tags=["sea"], pinned=True, date="2020")
    other = noting.add("Bread rises.", tags=["kitchen"])
    with today(folder).open("a") as note:
        note.write("\n## By hand\n\nMy private diary.\n")
    noting.sync(folder)
    before = {r.id: r for r in noting.get(path=today(folder)).records}
    noting.rebuild()
    after = {r.id: r for r in noting.get(path=today(folder)).records}
    assert {i: (r.key, r.tags, r.pinned, r.event) for i, r in after.items()} == {
        i: (r.key, r.tags, r.pinned, r.event) for i, r in before.items()
    }
    assert after[other.id].tags == ("kitchen",)
    assert [r.id for r in opened(user="bob").search("tide bread diary").results] == [public.id]


def test_a_group_that_is_left_out_is_asked_for(noting: Memory) -> None:
    with pytest.raises(
        InputError, match=r"^Visibility is group, but no group is named: one of .*'s groups \("
    ):
        noting.add("The sluice leaks.", visibility="group")


def test_an_addition_among_several_that_is_refused_is_named(opened: Callable[..., Memory]) -> None:
    memory = opened()
    with pytest.raises(InputError, match=r"memories\[1\]: 'nope' is not a date\. Nothing was written\.$"):
        memory.add_many([NewMemory("one"), NewMemory("two", date="nope")])
    with pytest.raises(InputError, match=r"^'nope' is not a date\. Nothing was written\.$"):
        memory.add("two", date="nope")
    assert memory.page().records == ()
