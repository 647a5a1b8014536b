"""Registered sources: nested, single files, patterns, removed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from notes_folder import Notes

from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError, NotFoundError
from scrubjay.ingest import scanner
from scrubjay.models.records import NEVER_INJECT


def test_a_folder_inside_a_registered_one_is_synced_as_part_of_it(memory: Memory, notes: Notes) -> None:
    notes.write("a/one.md", "# One\n\nheron\n")
    notes.write("two.md", "# Two\n\nstork\n")
    memory.sync(notes.root)
    assert memory.sync(notes.root / "a").added == 0
    assert len(memory.sources()) == 1
    assert memory.status().memories == 2


def test_a_folder_around_a_registered_one_leaves_it_to_it(memory: Memory, notes: Notes) -> None:
    inner = notes.write("a/one.md", "# One\n\nheron\n")
    notes.write("two.md", "# Two\n\nstork\n")
    memory.sync(notes.root / "a")
    before = memory.get(path=inner).records[0].id
    assert memory.sync(notes.root).added == 1
    assert memory.status().memories == 2
    assert memory.get(path=inner).records[0].id == before
    memory.sync()
    assert len(memory.search("heron", channels=["bm25"]).results) == 1


def test_a_single_file_is_a_source_and_its_neighbours_are_not(memory: Memory, notes: Notes) -> None:
    file = notes.write("weird [name] (1).md", "# One\n\nheron\n")
    notes.write("two.md", "# Two\n\nstork\n")
    summary = memory.sync(file)
    assert (summary.files, summary.passages) == (1, 1)
    assert [source.root for source in memory.sources()] == [str(file)]
    assert memory.sync(notes.root).added == 1
    assert memory.status().memories == 2
    file.unlink()
    summary = memory.sync(file)
    assert summary.removed == 0
    assert summary.problems


def test_a_file_without_a_notes_ending_is_taken_when_it_is_named(memory: Memory, notes: Notes) -> None:
    file = notes.write("NOTES", "heron\n")
    assert memory.sync(file).passages == 1


def test_what_is_not_there_is_an_error_and_registers_nothing(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        memory.sync(tmp_path / "missing")
    assert memory.sources() == []


def test_include_and_exclude_are_kept_with_the_source(memory: Memory, notes: Notes) -> None:
    notes.write("a.rst", "heron\n")
    notes.write("b.md", "stork\n")
    notes.write("drafts/c.rst", "crane\n")
    memory.sync(notes.root, include=["*.rst"], exclude=["drafts/"])
    assert memory.sync().passages == 1
    assert memory.search("heron", channels=["bm25"]).results
    assert memory.search("stork crane", channels=["bm25"]).results == ()


@pytest.fixture
def filtering(opened: Callable[..., Memory], settings: Settings) -> Memory:
    patterns = replace(settings.sync, include=("*.txt",), exclude=("drafts/",))
    return opened(settings=replace(settings, sync=patterns))


def test_patterns_of_the_settings_replace_none_of_a_source(filtering: Memory, notes: Notes) -> None:
    for name in ("a.md", "b.txt", "drafts/c.md", "old/d.md"):
        notes.write(name, f"heron {name}\n")
    for rules in ({"include": ["*.md"], "exclude": ["old/"]}, {}, {"exclude": ["old/"]}):
        filtering.sync(notes.root, **rules)
        assert [record.content for record in filtering.page().records] == ["heron a.md\n"]


def test_patterns_of_the_settings_apply_to_a_source_without_any(
    memory: Memory, filtering: Memory, notes: Notes
) -> None:
    for name in ("a.md", "b.txt", "drafts/c.txt"):
        notes.write(name, f"heron {name}\n")
    filtering.sync(notes.root)
    assert [record.content for record in filtering.page().records] == ["heron b.txt\n"]
    assert memory.sync(notes.root).removed == 0


def test_a_file_is_a_source_alone_whatever_the_settings_include(filtering: Memory, notes: Notes) -> None:
    file = notes.write("a.md", "heron\n")
    notes.write("b.txt", "stork\n")
    assert filtering.sync(file).passages == 1
    assert filtering.search("stork", channels=["bm25"]).results == ()


def absent_with_verdicts(memory: Memory, notes: Notes, count: int = 4) -> tuple[Path, set[str]]:
    """Sync notes, keep all out of contexts, and move their folder away; return where to, and the ids."""
    for number in range(count):
        notes.write(f"n{number}.md", f"# Note {number}\n\nheron {number}\n")
    memory.sync(notes.root)
    ids = {record.id for record in memory.page().records}
    memory.feedback(sorted(ids), "never-inject")
    return notes.root.rename(notes.root.with_name("unmounted")), ids


def copied_to(folder: Path, original: Path, *numbers: int) -> Path:
    folder.mkdir()
    for number in numbers:
        shutil.copy2(original / f"n{number}.md", folder)
    return folder


def withheld(memory: Memory) -> set[str]:
    return {record.id for record in memory.page().records if NEVER_INJECT in record.tags}


def test_a_copy_of_a_part_of_a_folder_on_an_absent_disk_takes_nothing_from_it(
    memory: Memory, notes: Notes, tmp_path: Path
) -> None:
    disk, ids = absent_with_verdicts(memory, notes)
    assert memory.sync(copied_to(tmp_path / "copy", disk, 0, 1, 2)).removed == 0
    assert withheld(memory) == ids
    disk.rename(notes.root)
    assert memory.sync().removed == 0
    assert withheld(memory) == ids
    assert {source.root for source in memory.sources()} == {str(notes.root), str(tmp_path / "copy")}


@pytest.mark.parametrize("hidden", ["older", "excluded", "ignored", "nested"])
def test_a_copy_whose_sync_would_lose_a_note_of_the_absent_folder_takes_nothing_from_it(
    memory: Memory, notes: Notes, tmp_path: Path, hidden: str
) -> None:
    notes.write("deep/n9.md", "# Deep\n\nstork\n")
    disk, ids = absent_with_verdicts(memory, notes)
    copy = shutil.copytree(disk, tmp_path / "copy")
    if hidden == "older":
        (copy / "n3.md").write_text("# Note 3\n")
        os.utime(copy / "n3.md", (1, 1))
    elif hidden == "ignored":
        (copy / ".scrubjayignore").write_text("n3.md\n")
    elif hidden == "nested":
        memory.sync(copy / "deep")
    assert memory.sync(copy, exclude=["n3.md"] if hidden == "excluded" else []).removed == 0
    assert withheld(memory) == ids


def test_a_folder_that_was_renamed_and_edited_keeps_its_memories(memory: Memory, notes: Notes) -> None:
    renamed, ids = absent_with_verdicts(memory, notes)
    (renamed / "n3.md").write_text("# Note 3\n\nstork 3\n")
    (renamed / "new.md").write_text("# New\n\ncrane\n")
    done = memory.sync(renamed)
    assert (done.added, done.updated, done.removed) == (1, 1, 0)
    assert withheld(memory) == ids
    assert [source.root for source in memory.sources()] == [str(renamed)]


def test_the_original_of_a_whole_copy_is_a_source_of_its_own_when_it_is_back(
    memory: Memory, notes: Notes, tmp_path: Path
) -> None:
    disk, ids = absent_with_verdicts(memory, notes)
    copy = copied_to(tmp_path / "copy", disk, 0, 1, 2, 3)
    (copy / "new.md").write_text("# New\n\ncrane\n")
    (notice,) = memory.sync(copy).notices
    assert f"scrubjay sync {notes.root}" in notice.hint
    disk.rename(notes.root)
    assert (memory.sync(notes.root).added, memory.sync().removed) == (4, 0)
    assert withheld(memory) == ids
    assert memory.search("crane", channels=["bm25"]).results


def test_ignore_files_are_honoured_and_take_effect_on_what_is_stored(memory: Memory, notes: Notes) -> None:
    notes.write("keep.md", "heron\n")
    notes.write("secret.md", "stork\n")
    memory.sync(notes.root)
    notes.write(".scrubjayignore", "secret.md\n")
    memory.sync()
    assert memory.search("stork", channels=["bm25"]).results == ()
    assert memory.search("heron", channels=["bm25"]).results


def test_a_removed_source_takes_its_memories_along_and_leaves_the_files(memory: Memory, notes: Notes) -> None:
    file = notes.write("one.md", "# One\n\nheron\n")
    memory.sync(notes.root)
    gone = memory.remove_source(str(notes.root))
    assert gone.passages == 1
    assert memory.search("heron").results == ()
    assert memory.sources() == []
    assert file.exists()
    with pytest.raises(NotFoundError):
        memory.remove_source(str(notes.root))
    assert memory.sync(notes.root).added == 1


def test_links_out_of_the_folder_and_loops_are_not_followed(
    memory: Memory, notes: Notes, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\nheron\n")
    notes.write("in.md", "# In\n\nstork\n")
    (notes.root / "link.md").symlink_to(outside)
    (notes.root / "loop").symlink_to(notes.root, target_is_directory=True)
    assert memory.sync(notes.root).passages == 1
    assert memory.search("heron", channels=["bm25"]).results == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_listed_keeps_what_was_in_it(memory: Memory, notes: Notes) -> None:
    notes.write("a/one.md", "# One\n\nheron\n")
    notes.write("two.md", "# Two\n\nstork\n")
    memory.sync(notes.root)
    (notes.root / "a").chmod(0)
    try:
        summary = memory.sync()
        assert summary.removed == 0
        assert summary.problems
    finally:
        (notes.root / "a").chmod(0o700)
    assert memory.search("heron", channels=["bm25"]).results


def test_an_empty_folder_is_a_source_that_fills_later(memory: Memory, notes: Notes) -> None:
    assert memory.sync(notes.root).passages == 0
    notes.write("one.md", "# One\n\nheron\n")
    assert memory.sync().added == 1


def test_transcripts_in_a_hidden_folder_are_taken_in_beside_a_source_of_the_whole_home(
    memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "home" / "notes").mkdir(parents=True)
    (tmp_path / "home" / "notes" / "pier.md").write_text("The pier is closed.\n")
    talks = tmp_path / "home" / ".claude" / "projects"
    talks.mkdir(parents=True)
    line = {"role": "user", "content": "The kestrel cluster is blue.", "session": "s"}
    (talks / "talk.jsonl").write_text(f"{json.dumps(line)}\n")
    memory.sync(tmp_path / "home")
    memory.sync(talks, only=talks / "talk.jsonl")
    assert sorted(record.content.strip() for record in memory.page().records) == [
        "The kestrel cluster is blue.",
        "The pier is closed.",
    ]


def test_one_file_of_a_folder_is_named_by_its_path_or_relative_to_the_folder(
    memory: Memory, notes: Notes
) -> None:
    for number, only in enumerate((notes.root / "a/one.md", "a/one.md", "a/../a/one.md")):
        notes.write("a/one.md", f"heron {number}\n")
        notes.write("two.md", f"stork {number}\n")
        assert memory.sync(notes.root, only=only).changed == (str(notes.root / "a/one.md"),)
    assert memory.sync(notes.root / "a", only="one.md").files == 1


@pytest.mark.parametrize("only", ["", "missing.md", "a", "../outside.md"])
def test_a_file_that_is_not_in_the_folder_is_an_error_and_registers_nothing(
    memory: Memory, notes: Notes, only: str
) -> None:
    notes.write("a/one.md", "heron\n")
    notes.write("../outside.md", "stork\n")
    with pytest.raises(InputError, match=r"is no file in|is empty"):
        memory.sync(notes.root, only=only)
    assert memory.sources() == []


def test_a_file_that_the_patterns_leave_out_is_reported(memory: Memory, notes: Notes) -> None:
    file = notes.write("a.rst", "heron\n")
    for path in (notes.root, None):
        (notice,) = memory.sync(path, only=file).notices
        assert (notice.path, "leave it out" in notice.message) == (str(file), True)


def test_a_sync_of_a_folder_lists_it_once(
    memory: Memory, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("a/one.md", "# One\n\nheron\n")
    notes.write("a/data.json", "{}")
    memory.sync(notes.root)
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(str(path)) or scandir(path))
    notes.write("a/two.md", "# Two\n\nstork\n")
    assert memory.sync(notes.root).files == 2
    assert listed.count(str(notes.root / "a")) == 1


def test_a_link_to_a_file_that_is_no_note_is_read_under_the_name_of_the_link(
    memory: Memory, notes: Notes
) -> None:
    notes.write("data.json", "heron")
    (notes.root / "link.md").symlink_to("data.json")
    assert memory.sync(notes.root).files == 1
    assert memory.get(path=notes.root / "link.md").records


@pytest.mark.parametrize(
    "documents", [(), ("*.pdf", "*.docx", "*.html", "*.htm", "*.xhtml", "*.epub")], ids=["0.1", "0.2"]
)
def test_data_files_stay_unread_in_a_folder_whose_patterns_a_release_chose(
    memory: Memory, notes: Notes, documents: tuple[str, ...]
) -> None:
    """Sources keep the patterns that were chosen, so `_AUTOMATIC_INCLUDES` of ingest/scanner.py keeps all of them."""
    chosen = (
        "*.md", "*.markdown", "*.mdx", "*.txt", *documents,
        "*.jsonl", "*.json", "*.jsonl.reset.*", "*.jsonl.deleted.*", "opencode*.db",
    )  # fmt: skip
    line = json.dumps({"role": "user", "content": "The kestrel cluster is blue.", "session": "s"})
    notes.write("talk.jsonl", f"{line}\n")
    notes.write("data.json", '{"heron": "grey"}')
    memory.sync(notes.root, include=chosen)
    notes.write("data.json", '{"heron": "white"}')
    memory.sync()
    assert [record.content.strip() for record in memory.page().records] == ["The kestrel cluster is blue."]


def test_patterns_that_a_release_chooses_are_known_to_the_next() -> None:
    assert " ".join(scanner.AUTOMATIC_INCLUDE) == scanner._AUTOMATIC_INCLUDES[-1], (
        "add the new patterns as the last of _AUTOMATIC_INCLUDES, and change no other"
    )


def test_patterns_that_a_person_names_are_taken_as_they_are(memory: Memory, notes: Notes) -> None:
    """Also where they hold all that a release would choose: none of their files is dropped or passed over."""
    named = ("*.md", "*.markdown", "*.mdx", "*.txt", "*.jsonl", "*.json", "*.rst")
    notes.write("data.json", '{"heron": "grey"}')
    notes.write("pier.rst", "The pier is closed.\n")
    memory.sync(notes.root, include=named)
    notes.write("data.json", '{"heron": "white"}')
    memory.sync()
    texts = sorted(record.content.strip() for record in memory.page().records)
    assert texts == ["The pier is closed.", '{"heron": "white"}']
