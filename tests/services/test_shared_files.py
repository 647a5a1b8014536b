"""A source's owner decides at a sync who sees its files; searches of others only leave out what has changed since."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.services.context import hook_context

LONG_AGO = 1_700_000_000
LEFT_OUT = "Files that others share have changed: their passages are left out until their owner runs `scrubjay sync`."


class Files:
    """A folder whose every edit has a later time than the one before."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._second = LONG_AGO
        root.mkdir()

    def write(self, name: str, text: str, visibility: str = "group:ops") -> None:
        file = self.root / name
        file.write_text(f"---\nvisibility: {visibility}\n---\n# {name}\n\n{text}\n")
        self._second += 10
        os.utime(file, (self._second, self._second))


@pytest.fixture(params=["sqlite", "postgres"])
def opened(opened: Callable[..., Memory], request: pytest.FixtureRequest) -> Callable[..., Memory]:
    """Open one store, as often as wanted."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return partial(opened, url, tenant=request.node.name)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    found = Files(tmp_path / "kb")
    for name in ("a", "b", "c"):
        found.write(f"{name}.md", f"Rack {name} beeps when its battery is weak.")
    return found


def racks(memory: Memory, query: str = "rack beeps battery") -> list[str]:
    return sorted(one.title for one in memory.search(query).results)


def test_a_source_that_no_longer_shares_is_seen_by_nobody_else_even_if_its_owner_left_the_group(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    colleague = opened(user="ann", groups=["ops"])
    assert racks(colleague) == ["a.md", "b.md", "c.md"]
    desk = opened(user="desk")
    done = desk.sync(files.root, share=False)
    assert (done.passages, done.unchanged, done.problems) == (3, 0, ())
    assert racks(colleague) == []
    assert racks(desk) == ["a.md", "b.md", "c.md"]


def test_a_note_made_private_renamed_or_removed_leaves_the_group_that_its_owner_left(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its battery is weak.", "user")
    (files.root / "b.md").rename(files.root / "bb.md")
    (files.root / "c.md").unlink()
    desk = opened(user="desk")
    assert desk.sync().passages == 2
    assert racks(desk) == ["a.md", "b.md"]
    assert [one for one in racks(opened(user="ann", groups=["ops"])) if one != "b.md"] == []


def test_an_edited_group_note_is_private_without_the_group_and_stops_no_other_file(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk").sync(files.root)  # their ids are those of private passages
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    files.write("b.md", "Rack b beeps when its battery is empty.")
    files.write("new.md", "Rack new beeps when its battery is old.", "public")
    desk = opened(user="desk")
    done = desk.sync()
    assert [(Path(one.path).name, one.message, one.hint) for one in done.problems] == [
        (
            "b.md",
            "desk is not in group ops, so this note is kept private.",
            'add groups = ["ops"] to the settings, or the group to the token that syncs, and sync again',
        )
    ]
    assert racks(desk) == ["b.md", "new.md"]
    assert racks(opened(user="ann", groups=["ops"])) == ["a.md", "c.md", "new.md"]


def test_notes_kept_private_go_to_the_group_as_soon_as_their_owner_is_in_it(
    opened: Callable[..., Memory], files: Files
) -> None:
    colleague = opened(user="ann", groups=["ops"])
    for _ in range(2):
        done = opened(user="desk", groups=["dev"]).sync(files.root, share=True)
        assert [one.message for one in done.problems] == [
            "desk is not in group ops, so 3 notes, this one the first, are kept private."
        ]
        assert 'groups = ["dev", "ops"]' in done.problems[0].hint
        assert racks(colleague) == []
    done = opened(user="desk", groups=["dev", "ops"]).sync()
    assert (done.updated, done.problems) == (3, ())
    assert racks(colleague) == ["a.md", "b.md", "c.md"]
    assert opened(user="desk", groups=["ops"]).sync().updated == 0


def test_notes_kept_private_keep_their_ids_when_renamed_and_their_source_when_moved(
    opened: Callable[..., Memory], files: Files
) -> None:
    desk = opened(user="desk")
    desk.sync(files.root, share=True)
    before = {one.id for one in desk.page().records}
    (files.root / "a.md").rename(files.root / "aa.md")
    done = desk.sync()
    assert (done.added, done.removed) == (0, 0)
    assert len(done.problems) == 1
    moved = files.root.rename(files.root.with_name("moved"))
    done = desk.sync(moved)
    assert (done.added, done.removed) == (0, 0)
    assert [one.root for one in desk.sources()] == [str(moved)]
    assert {one.id for one in desk.page().records} == before
    os.utime(moved / "aa.md", (LONG_AGO, LONG_AGO))
    assert "so 3 notes, this one the first, are kept private" in desk.sync().problems[0].message
    opened(user="desk", groups=["ops"]).sync()
    assert {one.id for one in opened(user="ann", groups=["ops"]).page().records} == before


def test_a_search_of_others_reads_no_file_and_leaves_out_what_has_changed(
    opened: Callable[..., Memory], files: Files
) -> None:
    desk = opened(user="desk", groups=["ops"])
    desk.sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its battery is weak.", "user")
    (files.root / "b.md").unlink()
    files.write("diary.md", "Rack diary beeps when its battery is secret.", "group:ops")
    for colleague in (opened(user="ann", groups=["ops"]), desk.seen_by("ines", groups=["ops"])):
        for _ in range(2):
            found = colleague.search("rack beeps battery")
            assert [one.title for one in found.results] == ["c.md"]
            assert found.partial == (LEFT_OUT,)
        thread = colleague.thread("rack beeps battery")
        assert [one.result.title for one in thread.entries] == ["c.md"]
        assert thread.partial == (LEFT_OUT,)
        context = colleague.context("rack beeps battery")
        assert "Rack c" in context.text
        assert "Rack a" not in context.text
        assert context.partial == (LEFT_OUT,)
    assert desk.status().memories == 3
    assert racks(desk) == ["a.md", "c.md", "diary.md"]
    assert racks(colleague) == ["c.md", "diary.md"]
    assert colleague.search("rack beeps battery").partial == ()


@pytest.mark.parametrize("state", ["missing", "empty"])
def test_a_shared_folder_that_is_not_on_this_machine_says_nothing_about_its_files(
    opened: Callable[..., Memory], files: Files, state: str
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    files.root.rename(files.root.with_name("elsewhere"))
    if state == "empty":
        files.root.mkdir()
    found = opened(user="ann", groups=["ops"]).search("rack beeps battery")
    assert (len(found.results), found.partial) == (3, ())


def test_a_search_follows_no_link_to_files_that_the_owner_may_not_read(
    opened: Callable[..., Memory], files: Files, tmp_path: Path
) -> None:
    desk = opened(user="desk", groups=["ops"])
    desk.sync(files.root, share=True)
    home = Files(tmp_path / "home")
    home.write("secret.md", "Rack secret beeps when its battery is weak.")
    files.root.rename(tmp_path / "old")
    files.root.symlink_to(home.root)
    assert racks(opened(user="ann", groups=["ops"])) == []
    assert sorted(one.title for one in desk.page().records) == ["a.md", "b.md", "c.md"]


def test_a_search_without_the_group_leaves_its_files_to_a_sync_and_keeps_new_ones_private(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its fan is weak.")
    (files.root / "b.md").rename(files.root / "bb.md")
    files.write("new.md", "Rack new beeps when its battery is weak.")
    desk = opened(user="desk")
    for _ in range(2):
        found = desk.search("rack beeps battery")
        assert [one.title for one in found.results] == ["new.md"]
        assert found.partial == (
            f"{files.root / 'a.md'} and 1 more changed and is shared with a group you are not in: run `scrubjay sync`.",
        )
        assert len(desk.get(path=files.root / "new.md").records) == 1
    colleague = opened(user="ann", groups=["ops"])
    assert racks(colleague) == ["c.md"]
    assert racks(opened(user="desk", groups=["ops"]), "rack fan")[0] == "a.md"
    assert racks(colleague) == ["a.md", "b.md", "c.md"]
    desk = opened(user="desk", groups=["ops"])
    assert desk.sync().problems == ()
    assert racks(colleague) == ["a.md", "b.md", "c.md", "new.md"]


def test_a_search_shares_the_notes_of_no_source_because_another_is_shared(
    opened: Callable[..., Memory], files: Files, tmp_path: Path
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    other = Files(tmp_path / "other")
    other.write("mine.md", "Rack mine beeps when its battery is weak.")
    desk = opened(user="desk")
    desk.sync(other.root, share=True)
    files.write("a.md", "Rack a beeps when its battery is weak!")
    other.write("mine.md", "Rack mine beeps when its battery is empty.")
    assert racks(desk) == ["mine.md"]
    assert "empty" in desk.search("rack battery").results[0].snippet
    desk.sync()
    assert racks(opened(user="ann", groups=["ops"])) == ["b.md", "c.md"]


def test_others_cite_a_shared_file_by_its_place_in_the_source(
    opened: Callable[..., Memory], files: Files
) -> None:
    (files.root / "racks").mkdir()
    files.write("racks/d.md", "Rack d hums.", "public")
    desk = opened(user="desk")
    desk.sync(files.root, share=True)
    colleague = opened(user="ann")
    (result,) = colleague.search("rack hums").results
    assert (result.path, result.citation) == (None, "racks/d.md:1-6")
    (cited,) = colleague.context("rack hums").memories
    assert cited.citation == "racks/d.md:1-6"


def test_a_hook_of_others_shows_no_text_of_a_file_that_is_shared_no_longer(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    colleague = opened(user="ann", groups=["ops"])

    def shown() -> str:
        return hook_context(
            colleague.workspace,
            "Which rack beeps when its battery is weak?",
            budget=400,
            project=None,
            session=None,
            known={},
        ).text

    assert "Rack a" in shown()
    files.write("a.md", "Rack a beeps when its battery is weak.", "user")
    assert "Rack b" in shown()
    assert "Rack a" not in shown()
