"""The commands that are written into agents' configurations run as processes, and go on to whatever moves inside."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hooking import PATIENCE, Machine

SCRIPT = Path(sys.executable).with_name("scrubjay")
HOOK = re.compile(r"hook ([a-z-]+) ([a-z-]+)")
EVERY = {"session-start", "prompt", "stop", "pre-compact", "session-end"}
INSTALLED = {"claude-code": EVERY, "codex": EVERY, "cursor": {"session-start"}, "gemini": EVERY}
"""Events of the commands that stand in people's configurations: none of them may go, or be called otherwise."""
ANSWERED = ("session-start", "prompt")


def commands(here: Machine) -> dict[tuple[str, str], str]:
    """Return the commands in all files of the home folder, by agent and event."""
    found = {}
    for path in sorted((here.root / "home").rglob("*.json")):
        for text in texts(json.loads(path.read_text("utf-8"))):
            if match := HOOK.search(text):
                found[match[1], match[2]] = text
    return found


def texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in texts(each)]


@pytest.mark.parametrize("agent", sorted(INSTALLED))
def test_each_installed_hook_command_runs_as_it_is_written(here: Machine, agent: str) -> None:
    assert here.run("add", "Our staging database is called heron and lives in Lisbon.", "--pin").code == 0
    done = subprocess.run(
        [SCRIPT, "install", agent, "--yes"],
        env={**here.env},
        cwd=here.project,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    found = commands(here)
    assert {event for _, event in found} == INSTALLED[agent]
    for (of, event), command in found.items():
        assert of == agent
        assert str(SCRIPT) in command
        said = {
            "session_id": event, "cwd": str(here.project), "prompt": "Where does the staging database live?",
            "workspace_roots": [str(here.project)],
        }  # fmt: skip
        ran = subprocess.run(
            ["sh", "-c", command], input=json.dumps(said).encode(), env={**here.env}, cwd=here.project,
            capture_output=True, timeout=PATIENCE,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b""), event
        if event in ANSWERED:
            assert b"heron" in ran.stdout, event
    assert [line for line in here.log() if line["level"] != "info"] == []
