"""A source's owner decides who sees its files: at a sync, and before a search of anybody who sees them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scrubjay import Memory
from scrubjay.ingest import scanner
from scrubjay.memory import hook_context

LONG_AGO = 1_700_000_000


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


def test_a_search_reads_what_others_share_as_its_owner_would(
    opened: Callable[..., Memory], files: Files
) -> None:
    desk = opened(user="desk", groups=["ops"])
    desk.sync(files.root, share=True)
    for colleague in (opened(user="ann", groups=["ops"]), desk.seen_by("ines", groups=["ops"])):
        files.write("a.md", "Rack a costs 300 euros.")
        assert "300" in colleague.search("rack costs euros").results[0].snippet
        files.write("a.md", "Rack a costs 400 euros.")
        found = colleague.search("rack costs euros")
        assert "400" in found.results[0].snippet
        assert found.partial == ()
    (files.root / "b.md").unlink()
    files.write("c.md", "Rack c beeps when its battery is weak.", "user")
    files.write("new.md", "Rack new beeps when its battery is weak.")
    assert racks(colleague) == ["a.md", "new.md"]
    assert "Rack c" not in colleague.context("rack beeps battery").text
    assert racks(desk) == ["a.md", "c.md", "new.md"]


def test_a_search_without_the_group_leaves_an_edited_note_to_the_group(
    opened: Callable[..., Memory], files: Files
) -> None:
    desk = opened(user="desk", groups=["ops"])
    desk.sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its fan is weak.")
    monitor = desk.seen_by("desk")
    assert racks(monitor) == []
    assert racks(desk, "rack fan")[0] == "a.md"
    assert desk.sync().problems == ()


def test_changed_files_of_others_that_were_not_read_are_left_out(
    opened: Callable[..., Memory], files: Files
) -> None:
    desk = opened(user="desk", groups=["ops"])
    desk.sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its battery is weak.", "user")
    for number in range(scanner.MAX_INLINE_FILES):
        files.write(f"{number}.md", f"Rack {number} beeps when its battery is weak.")
    colleague = opened(user="ann", groups=["ops"])
    found = colleague.search("rack beeps battery")
    assert sorted(one.title for one in found.results) == ["b.md", "c.md"]
    assert "their owner runs `scrubjay sync`" in found.partial[0]
    assert str(files.root) not in "".join(found.partial)
    assert "Rack a" not in colleague.context("rack beeps battery").text
    desk.sync()
    assert racks(colleague, '"Rack 0"') == ["0.md"]


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
            colleague,
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


def test_a_thread_of_others_leaves_out_changed_files_that_were_not_read(
    opened: Callable[..., Memory], files: Files
) -> None:
    opened(user="desk", groups=["ops"]).sync(files.root, share=True)
    files.write("a.md", "Rack a beeps when its battery is weak.", "user")
    for number in range(scanner.MAX_INLINE_FILES):
        files.write(f"{number}.md", "Nothing of the kind.")
    found = opened(user="ann", groups=["ops"]).thread("rack beeps battery")
    assert sorted(one.result.title for one in found.knots) == ["b.md", "c.md"]
