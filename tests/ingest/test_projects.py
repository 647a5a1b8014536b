"""A project has one name, whatever path, clone, worktree or log leads to it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from reference_store.store import ReferenceStore
from scrubjay.ingest.projects import ProjectResolver, project_of_directory, remote_name
from scrubjay.models.records import Scope

ANN = Scope("t", "ann")


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore(b"secret")


def repository(folder: Path, remote: str = "", *, name: str = "origin") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "description").write_text("Unnamed repository\n")
    (git / "config").write_text(
        "[core]\n\tbare = false\n" + (f'[remote "{name}"]\n\turl = {remote}\n' if remote else "")
    )
    return folder


def fresh(store: ReferenceStore, scope: Scope = ANN) -> ProjectResolver:
    return ProjectResolver(store, scope)


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Ann/Notes.git",
        "https://github.com/ann/notes",
        "https://ann:secret@github.com/ann/notes.git/",
        "ssh://git@github.com:22/ann/notes.git",
        "git://github.com/Ann/Notes",
        "github.com:ann/notes",
    ],
)
def test_every_spelling_of_a_remote_is_one_name_without_its_password(url: str) -> None:
    assert remote_name(url) == "github.com/ann/notes"


@pytest.mark.parametrize(
    "url", ["", "/srv/git/notes.git", "file:///srv/notes", "C:\\repos\\notes", "..", "https://x/"]
)
def test_what_is_no_address_of_a_host_names_no_remote(url: str) -> None:
    assert remote_name(url) is None


def test_two_clones_and_their_folders_below_are_one_project(tmp_path: Path, store: ReferenceStore) -> None:
    one = repository(tmp_path / "one", "git@github.com:ann/notes.git")
    two = repository(tmp_path / "two", "https://github.com/ann/notes")
    (two / "src" / "deep").mkdir(parents=True)
    projects = fresh(store)
    assert (
        projects.of_directory(str(one))
        == projects.of_directory(str(two / "src" / "deep"))
        == "github.com/ann/notes"
    )


def test_a_linked_worktree_belongs_to_its_main_repository(tmp_path: Path, store: ReferenceStore) -> None:
    main = repository(tmp_path / "main")
    linked = main / ".git" / "worktrees" / "side"
    linked.mkdir(parents=True)
    (linked / "commondir").write_text("../..\n")
    side = tmp_path / "elsewhere"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {linked}\n")
    projects = fresh(store)
    assert projects.of_directory(str(side)) == projects.of_directory(str(main))
    assert (projects.of_directory(str(main)) or "").startswith("main-")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path, store: ReferenceStore) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/main.git")
    module = main / ".git" / "modules" / "lib"
    module.mkdir(parents=True)
    (module / "config").write_text('[remote "origin"]\n\turl = https://h.org/ann/lib\n')
    (main / "lib").mkdir()
    (main / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    assert fresh(store).of_directory(str(main / "lib")) == "h.org/ann/lib"


def test_a_worktree_that_was_removed_is_still_its_repository_when_it_lay_inside(
    tmp_path: Path, store: ReferenceStore
) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/main.git")
    assert fresh(store).of_directory(str(main / ".agents" / "worktrees" / "gone")) == "h.org/ann/main"


def test_a_renamed_repository_keeps_its_name(tmp_path: Path, store: ReferenceStore) -> None:
    main = repository(tmp_path / "before")
    name = fresh(store).of_directory(str(main))
    main.rename(tmp_path / "after")
    assert fresh(store).of_directory(str(tmp_path / "after")) == name


def test_a_remote_that_is_added_later_joins_the_name_that_was_there(
    tmp_path: Path, store: ReferenceStore
) -> None:
    main = repository(tmp_path / "main")
    name = fresh(store).of_directory(str(main))
    (main / ".git" / "config").write_text('[remote "origin"]\n\turl = git@h.org:ann/main.git\n')
    assert fresh(store).of_directory(str(main)) == name
    clone = repository(tmp_path / "clone", "git@h.org:ann/main.git")
    assert fresh(store).of_directory(str(clone)) == name


def test_a_remote_that_moved_is_the_same_project_in_every_clone(
    tmp_path: Path, store: ReferenceStore
) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/old.git")
    assert fresh(store).of_directory(str(main)) == "h.org/ann/old"
    (main / ".git" / "config").write_text('[remote "origin"]\n\turl = git@h.org:team/new.git\n')
    assert fresh(store).of_directory(str(main)) == "h.org/ann/old"
    assert (
        fresh(store).of_directory(str(repository(tmp_path / "clone", "git@h.org:team/new.git")))
        == "h.org/ann/old"
    )


def test_another_repository_at_the_same_path_is_another_project(
    tmp_path: Path, store: ReferenceStore
) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/one.git")
    assert fresh(store).of_directory(str(main)) == "h.org/ann/one"
    shutil.rmtree(main)
    repository(main, "git@h.org:ann/two.git")
    os.utime(main / ".git" / "description", ns=(time.time_ns() + 1, time.time_ns() + 1))
    assert fresh(store).of_directory(str(main)) == "h.org/ann/two"


def test_clones_of_a_repository_on_this_disk_are_one_project(tmp_path: Path, store: ReferenceStore) -> None:
    bare = tmp_path / "origin.git"
    bare.mkdir()
    one, two = (repository(tmp_path / name, str(bare)) for name in ("one", "two"))
    projects = fresh(store)
    assert projects.of_directory(str(one)) == projects.of_directory(str(two))


def test_a_renamed_plain_folder_is_known_by_its_files(tmp_path: Path, store: ReferenceStore) -> None:
    folder = tmp_path / "Notes"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.md"):
        (folder / name).touch()
    name = fresh(store).of_directory(str(folder))
    assert str(name).startswith("notes-")
    (folder / "c.md").unlink()
    folder.rename(tmp_path / "Papers")
    assert fresh(store).of_directory(str(tmp_path / "Papers")) == name


def test_two_plain_folders_of_one_name_are_two_projects(tmp_path: Path, store: ReferenceStore) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "notes").mkdir(parents=True)
        (tmp_path / parent / "notes" / "same.md").touch()
    projects = fresh(store)
    assert projects.of_directory(str(tmp_path / "a" / "notes")) != projects.of_directory(
        str(tmp_path / "b" / "notes")
    )


def test_a_folder_inside_a_known_plain_project_is_part_of_it(tmp_path: Path, store: ReferenceStore) -> None:
    (tmp_path / "vault" / "daily").mkdir(parents=True)
    projects = fresh(store)
    assert projects.of_directory(str(tmp_path / "vault")) == projects.of_directory(
        str(tmp_path / "vault" / "daily")
    )


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path, store: ReferenceStore) -> None:
    """As on a disk where upper and lower case are one: two paths, one folder."""
    (tmp_path / "Real").mkdir()
    (tmp_path / "Real" / "a.md").touch()
    (tmp_path / "real-link").symlink_to(tmp_path / "Real")
    projects = fresh(store)
    assert projects.of_directory(str(tmp_path / "Real")) == projects.of_directory(str(tmp_path / "real-link"))


@pytest.mark.parametrize("remote", ["", "git@github.com:Ann/Garden.git"])
def test_a_path_in_another_case_that_leads_there_is_the_same_project(
    tmp_path: Path, store: ReferenceStore, remote: str
) -> None:
    """As on a disk that does not tell case apart, in whatever case a tool writes its working directory."""
    real = repository(tmp_path / "Garden", remote)
    (real / "Beds").mkdir()
    (tmp_path / "garden").symlink_to(real)
    (real / "beds").symlink_to(real / "Beds")
    projects = fresh(store)
    name = projects.of_directory(str(real))
    ways = (tmp_path / "garden", tmp_path / "garden" / "beds", tmp_path / "garden" / "gone", real / "beds")
    assert {projects.of_directory(str(way)) for way in ways} == {name}
    assert {fresh(store).of_directory(str(way)) for way in ways} == {name}
    assert projects.names() == [name]


def test_home_and_the_root_of_the_disk_are_no_project_even_under_git(
    tmp_path: Path, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    repository(tmp_path, "git@h.org:ann/dotfiles.git")
    (tmp_path / "work").mkdir()
    projects = fresh(store)
    assert projects.of_directory(str(tmp_path)) is None
    assert projects.of_directory("/") is None
    assert (projects.of_directory(str(tmp_path / "work")) or "").startswith("work-")


def test_a_log_of_another_machine_is_placed_by_its_remote_else_by_its_folder(store: ReferenceStore) -> None:
    projects = fresh(store)
    assert projects.of_directory("/nowhere/on/this/disk", "git@h.org:ann/x.git") == "h.org/ann/x"
    assert projects.of_directory("", "git@h.org:ann/y.git") == "h.org/ann/y"
    assert projects.of_directory("") is None
    assert (projects.of_directory("/nowhere/else") or "").startswith("else-")


def test_a_broken_git_file_leaves_a_plain_folder(tmp_path: Path, store: ReferenceStore) -> None:
    for number, text in enumerate((b"", b"gitdir: /not/there", b"\xff\xfe\x00", b"gitdir: \x00")):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        (folder / ".git").write_bytes(text)
        assert not project_of_directory(str(folder)).repository
    broken = repository(tmp_path / "broken")
    (broken / ".git" / "config").write_bytes(b"[remote\nurl = = =\n\xff")
    assert project_of_directory(str(broken)).repository


def test_a_person_may_name_a_project_by_path_name_or_the_end_of_one(
    tmp_path: Path, store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/Notes.git")
    plain = tmp_path / "vault"
    plain.mkdir()
    projects = fresh(store)
    name = projects.of_directory(str(plain))
    projects.of_directory(str(main))
    monkeypatch.chdir(main)
    assert [projects.resolve(text) for text in (".", "h.org/ann/notes", "Notes", "ann/notes", str(main))] == [
        "h.org/ann/notes"
    ] * 5
    assert projects.resolve("vault") == name
    assert projects.resolve("unknown") == "unknown"


def test_what_one_person_calls_a_place_is_not_seen_by_another(tmp_path: Path, store: ReferenceStore) -> None:
    main = repository(tmp_path / "main", "git@h.org:ann/secret-plan.git")
    fresh(store).of_directory(str(main))
    assert fresh(store, Scope("t", "bob")).names() == []


def test_who_only_asks_writes_nothing(tmp_path: Path, store: ReferenceStore) -> None:
    main = repository(tmp_path / "main")
    asked = ProjectResolver(store, ANN, learn=False).of_directory(str(main))
    assert fresh(store).names() == []
    assert fresh(store).of_directory(str(main)) == asked


def test_a_directory_longer_or_deeper_than_any_is_no_project(store: ReferenceStore) -> None:
    projects = fresh(store)
    for directory in ("/a" * 20_000, "/a" * 65, "/" + "a" * 5_000, "/../a" * 1_000):
        assert projects.of_directory(directory) is None
    assert projects.of_directory("/a" * 20_000, "https://git.example/ann/jay.git") == "git.example/ann/jay"
    assert projects.names() == []
    assert (projects.of_directory("/a" * 64) or "").startswith("a-")
