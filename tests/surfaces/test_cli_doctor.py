"""doctor as a person and a script meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def home(cli: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    cli.patch.setenv("HOME", str(folder))
    cli.patch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        cli.patch.delenv(name, raising=False)
    return folder


def test_a_sound_installation_is_told_line_by_line_and_ends_with_0(cli: Any, home: Path) -> None:
    cli("add", "The key hangs on the hook.")
    done = cli("doctor")
    assert done.code == 0, done.out
    assert "ok       settings" in done.out
    assert "fix: scrubjay install --list" in done.out
    assert done.out.splitlines()[-1].startswith("no problems,")


def test_a_problem_ends_with_1_and_a_script_gets_every_check(cli: Any, home: Path) -> None:
    cli("add", "The key hangs on the hook.")
    done = cli("doctor", "codex", "--json")
    assert done.code == 1
    assert done.json["sound"] is False
    (found,) = [check for check in done.json["checks"] if check["state"] == "problem"]
    assert found == {
        "about": "codex configuration", "state": "problem", "found": "scrubjay is not configured in it",
        "fix": "scrubjay install codex", "mended": False,
    }  # fmt: skip


def test_settings_that_cannot_be_read_are_the_one_problem(cli: Any, home: Path) -> None:
    cli.patch.setenv("SCRUBJAY_RECALL_LIMT", "3")
    done = cli("doctor")
    assert done.code == 1
    assert "problem  settings" in done.out
    assert "SCRUBJAY_RECALL_LIMT" in done.out


def test_another_store_is_examined_without_the_agents(cli: Any, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    cli("add", "the kayak leaks", "--store", other)
    done = cli("doctor", "--store", other, "--json")
    assert done.code == 0
    found = {each["about"]: each["found"] for each in done.json["checks"]}
    assert found["memories"].startswith(f"1 in sqlite:///{other}")
    assert not any("agent" in about or "proof" in about for about in found)


def test_a_store_that_is_not_there_or_an_agent_with_another_store_is_refused(
    cli: Any, home: Path, tmp_path: Path
) -> None:
    done = cli("doctor", "--store", tmp_path / "none.db")
    assert done.code == 2
    assert "There is no store at" in done.err
    done = cli("doctor", "codex", "--store", tmp_path / "none.db")
    assert done.code == 2
    assert "hint: scrubjay doctor codex" in done.err


def test_status_shows_the_last_errors_of_the_log(cli: Any, home: Path, tmp_path: Path) -> None:
    assert "errors" not in cli("status").out
    folder = tmp_path / "data" / "scrubjay"
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "time": "2026-03-01T10:00:00.123Z",
        "level": "error",
        "event": "hook failed",
        "error": "StoreError",
    }
    (folder / "log").write_text(json.dumps(entry) + "\n")
    assert "errors     2026-03-01T10:00:00Z hook failed StoreError" in cli("status").out
    assert cli("status", "--json").json["errors"] == [entry]
