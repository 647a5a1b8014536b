"""Hooks never put in what a file no longer says: it is read again where there is time, else left out and read later."""

from __future__ import annotations

import os
import subprocess

import pytest
from hooking import Machine, Said

BEFORE = "Deploys to production are allowed on Mondays from 7 to 8.\n"
AFTER = "Deploys to production are allowed only on Saturdays at 22:00.\n"
ASKED = "When are deploys to production allowed?"
SILENT = Said(0, b"", b"")


@pytest.fixture
def synced(here: Machine) -> Machine:
    note = here.project / "ops.md"
    note.write_text(BEFORE)
    os.utime(note, (1_700_000_000, 1_700_000_000))
    (here.project / "bread.md").write_text("Bread needs a night in the fridge.\n")
    here.run("sync", str(here.project))
    assert "Mondays" in here.hook("prompt", prompt=ASKED, session_id="before").context
    return here


def test_an_edited_note_is_read_again_before_it_is_put_in(synced: Machine) -> None:
    (synced.project / "ops.md").write_text(AFTER)
    said = synced.hook("prompt", prompt=ASKED).context
    assert "Saturdays" in said
    assert "Mondays" not in said


def test_a_note_that_was_edited_after_a_session_got_it_is_put_in_once_more(synced: Machine) -> None:
    assert "Mondays" in synced.hook("prompt", prompt=ASKED).context
    assert synced.hook("prompt", prompt=ASKED) == SILENT
    (synced.project / "ops.md").write_text(AFTER)
    assert "Saturdays" in synced.hook("prompt", prompt=ASKED).context
    assert synced.hook("prompt", prompt=ASKED) == SILENT


def test_an_edited_note_that_is_too_large_to_be_read_at_once_is_left_out_and_read_in_the_background(
    synced: Machine,
) -> None:
    (synced.project / "ops.md").write_text(AFTER + "\n" + "Filler text about nothing at all.\n" * 1_000)
    assert synced.hook("prompt", prompt=ASKED) == SILENT
    synced.wait(lambda: "errand catch-up" in synced.events())
    assert "Saturdays" in synced.hook("prompt", prompt=ASKED).context


@pytest.mark.parametrize("added", ["", "Filler text about nothing at all.\n" * 1_000])
def test_a_passage_that_a_touched_or_longer_file_still_contains_is_put_in(
    synced: Machine, added: str
) -> None:
    (synced.project / "ops.md").write_text(BEFORE + added)  # at another time, as after a switch of branches
    assert "Mondays" in synced.hook("prompt", prompt=ASKED).context


def test_a_passage_with_a_secret_is_put_in_if_its_large_file_was_only_touched(here: Machine) -> None:
    note = here.project / "ops.md"
    note.write_text(f"{BEFORE[:-1]} The password is hunter-22-Xq9.\n\n" + "Filler text.\n" * 3_000)
    here.run("sync", str(here.project))
    os.utime(note, (1_800_000_000, 1_800_000_000))
    assert "Mondays" in here.hook("prompt", prompt=ASKED).context


def test_a_note_that_is_gone_is_not_put_in(synced: Machine) -> None:
    (synced.project / "ops.md").rename(synced.root / "ops.md")
    assert synced.hook("prompt", prompt=ASKED) == SILENT


def test_a_renamed_note_is_cited_by_its_new_name(synced: Machine) -> None:
    (synced.project / "ops.md").rename(synced.project / "operations.md")
    assert "operations.md:1-1" in synced.hook("prompt", prompt=ASKED).context


def test_a_session_that_begins_is_not_told_a_pinned_note_that_changed(here: Machine) -> None:
    note = here.project / "rules.md"
    note.write_text("---\npinned: true\n---\nNever push on Mondays.\n")
    here.run("sync", str(here.project))
    assert "Mondays" in here.hook("session-start", source="startup").context
    note.write_text("---\npinned: true\n---\nNever push on any Friday.\n")
    said = here.hook("session-start", source="startup").context
    assert "Friday" in said
    assert "Mondays" not in said


def test_a_folder_that_is_not_mounted_says_nothing_about_its_notes(synced: Machine) -> None:
    synced.project.rename(synced.root / "elsewhere")
    synced.project.mkdir()
    assert "Mondays" in synced.hook("prompt", prompt=ASKED).context
    assert "errand catch-up" not in synced.events()


def test_a_commit_that_is_not_stored_is_read_in_the_background_after_a_prompt(here: Machine) -> None:
    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words]
        subprocess.run(command, cwd=here.project, env=dict(here.env), check=True, capture_output=True)

    git("init")
    git("commit", "--allow-empty", "-m", "Begin the harbour planner with an empty tree")
    here.run("sync", str(here.project))
    git("commit", "--allow-empty", "-m", "Deploy with blue-green slots because restarts dropped sockets")
    here.hook("prompt", prompt="Why do we deploy with blue-green slots?")
    here.wait(lambda: "errand catch-up" in here.events())
    assert any("blue-green" in one for one in here.found("blue-green slots"))
