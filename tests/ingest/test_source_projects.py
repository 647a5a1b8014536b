"""Which project the files of a synced folder belong to: their repository's, the one a person names, else none."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from notes_folder import Notes

from scrubjay import Memory
from scrubjay.errors import InputError
from scrubjay.ingest.projects import ProjectResolver
from scrubjay.models.records import Scope
from scrubjay.storage.urls import open_store


def repository(folder: Path, remote: str) -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    return folder


def project_of(memory: Memory, question: str) -> str | None:
    found = memory.search(question).results
    assert found, question
    return found[0].project


def as_an_earlier_version_left_it(file: Path, root: Path) -> str:
    """Give what a folder holds the project that every synced folder once was, and forget that it was looked at."""
    store = open_store(str(file))
    name = ProjectResolver(store, Scope("default", "ann"), learn=False).of_directory(str(root))
    assert name is not None
    store.close()
    with sqlite3.connect(file) as db:
        db.execute("DELETE FROM project")
        db.execute("UPDATE memory SET project = ? WHERE project IS NULL", (name,))
    db.close()
    return name


def test_a_synced_folder_that_is_no_repository_belongs_to_no_project(notes: Notes, memory: Memory) -> None:
    notes.write("plans.md", "# Plans\n\nThe Osprey plan costs 49 euros a month.\n")
    memory.sync(notes.root)
    assert project_of(memory, "price of the Osprey plan") is None
    assert [source.project for source in memory.sources()] == [None]


def test_files_of_a_repository_inside_a_plain_folder_are_its_own(notes: Notes, memory: Memory) -> None:
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    repository(notes.root / "kestrel", "git@h.org:ann/kestrel.git")
    notes.write("kestrel/build.md", "Kestrel is built by ninja on Mondays.\n")
    memory.sync(notes.root)
    assert project_of(memory, "price of the Osprey plan") is None
    assert project_of(memory, "how is Kestrel built") == "h.org/ann/kestrel"


def test_a_synced_repository_is_its_project(notes: Notes, memory: Memory) -> None:
    repository(notes.root, "git@h.org:ann/notes.git")
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    memory.sync(notes.root)
    assert project_of(memory, "price of the Osprey plan") == "h.org/ann/notes"
    assert [source.project for source in memory.sources()] == ["h.org/ann/notes"]


def test_a_person_says_which_project_a_source_belongs_to_and_takes_it_back(
    notes: Notes, memory: Memory
) -> None:
    repository(notes.root, "git@h.org:ann/notes.git")
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    for said, wanted in (
        ("none", None), ("osprey", "osprey"), ("none", None), ("auto", "h.org/ann/notes"),
    ):  # fmt: skip
        memory.sync(notes.root, project=said)
        assert project_of(memory, "price of the Osprey plan") == wanted
        assert [source.project for source in memory.sources()] == [wanted]


def test_what_a_person_said_stays_with_later_syncs_and_new_files(notes: Notes, memory: Memory) -> None:
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    memory.sync(notes.root, project="osprey")
    notes.write("ships.md", "The ferry to Hirta leaves at noon.\n")
    memory.sync()
    assert project_of(memory, "when does the ferry to Hirta leave") == "osprey"


def test_a_project_needs_a_folder_and_a_place_that_can_be_one(notes: Notes, memory: Memory) -> None:
    with pytest.raises(InputError, match="Project osprey was named for no folder"):
        memory.sync(project="osprey")
    with pytest.raises(InputError, match="is no project"):
        memory.sync(notes.root, project="/")
    assert memory.sources() == []


def test_changing_the_project_keeps_ids_and_embeds_nothing(
    notes: Notes, memory: Memory, model: object
) -> None:
    notes.write("plans.md", "# Osprey\n\nThe plan costs 49 euros.\n\n# Owl\n\nThe plan is free.\n")
    memory.sync(notes.root)
    before = {one.id for one in memory.timeline().memories}
    heard = list(model.heard)  # type: ignore[attr-defined]
    done = memory.sync(notes.root, project="osprey")
    assert (done.added, done.updated, done.removed) == (0, 0, 0)
    assert model.heard == heard  # type: ignore[attr-defined]
    assert {one.id for one in memory.timeline(projects=["osprey"]).memories} == before


def test_the_next_sync_frees_what_an_earlier_version_kept_in_a_project_of_its_own(
    notes: Notes, opened: Callable[..., Memory], tmp_path: Path, model: object
) -> None:
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    memory = opened()
    memory.sync(notes.root)
    memory.add("Ferries to Hirta leave at noon.", project="owl")
    memory.close()
    name = as_an_earlier_version_left_it(tmp_path / "memory.db", notes.root)
    memory = opened()
    assert project_of(memory, "price of the Osprey plan") == name
    heard = list(model.heard)  # type: ignore[attr-defined]
    memory.sync()
    assert project_of(memory, "price of the Osprey plan") is None
    assert project_of(memory, "when do ferries leave for Hirta") == "owl"
    assert model.heard == heard  # type: ignore[attr-defined]


def test_a_talk_held_in_a_synced_folder_stays_of_that_folder(
    notes: Notes, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    notes.write("plans.md", "The Osprey plan costs 49 euros a month.\n")
    notes.write(
        "talk.jsonl",
        '{"session": "s", "role": "user", "content": "Our wharf is painted green.", '
        f'"cwd": "{notes.root}", "time": "2026-03-01T10:00:00Z"}}\n',
    )
    memory = opened()
    memory.sync(notes.root)
    own = project_of(memory, "how is our wharf painted")
    assert own is not None
    memory.sync(notes.root, project="osprey")
    assert project_of(memory, "how is our wharf painted") == own
    assert project_of(memory, "price of the Osprey plan") == "osprey"
