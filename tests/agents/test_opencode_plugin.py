"""OpenCode's plugin, run by node: what it asks of scrubjay at a session's events, and what the model then reads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from installing import install, tree, uninstall

from scrubjay.agents import json_edit
from scrubjay.agents.base import Home, Options, find_agent

NODE = os.environ.get("AGENT_NODE") or shutil.which("node")
needs_node = pytest.mark.skipif(not NODE, reason="node is not here, and AGENT_NODE names none")

HARNESS = Path(__file__).with_name("plugin_opencode.mjs")
SCRUBJAY = """#!{python}
import json, os, sys
said = json.load(sys.stdin)
with open(os.path.join({folder!r}, "asked"), "w") as pipe:
    pipe.write(json.dumps([sys.argv[1:3], sys.argv[3], said]) + chr(10))
sys.stdout.write(json.load(open(os.path.join({folder!r}, "answers.json"))).get(sys.argv[3], ""))
"""


def play(home: Home, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    install("opencode", home)
    assert NODE
    done = subprocess.run(
        [NODE, str(HARNESS), str(home.root / ".config/opencode/plugins/scrubjay.js")],
        input="".join(f"{json.dumps(step)}\n" for step in steps),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


class Asked:
    """What scrubjay was asked, by a pipe: OpenCode does not wait for every call."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.pipe = os.fdopen(os.open(path, os.O_RDWR), "r")

    def rows(self, count: int) -> list[list[Any]]:
        rows = [json.loads(self.pipe.readline()) for _ in range(count)]
        assert all(arguments == ["hook", "opencode"] for arguments, *_ in rows)
        return sorted(([event, said] for _, event, said in rows), key=json.dumps)


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Asked]:
    opened = Asked(tmp_path / "asked")
    yield opened
    opened.pipe.close()


@pytest.fixture
def standing(home: Home, tmp_path: Path) -> Home:
    path = tmp_path / "scrubjay"
    path.write_text(SCRUBJAY.format(python=sys.executable, folder=str(tmp_path)))
    path.chmod(0o755)
    return Home(home.root, home.env, (str(path),), home.data)


def answering(tmp_path: Path, answers: dict[str, dict[str, str]]) -> None:
    told = {event: json.dumps(answer) for event, answer in answers.items()}
    (tmp_path / "answers.json").write_text(json.dumps(told))


def message(session: str, *parts: dict[str, Any]) -> dict[str, Any]:
    held = [{"id": f"prt_{at}", "type": "text", **part} for at, part in enumerate(parts)]
    output = {"message": {"id": "msg_1"}, "parts": held}
    return {"hook": "chat.message", "input": {"sessionID": session}, "output": output}


def event(kind: str, **properties: Any) -> dict[str, Any]:
    return {"hook": "event", "input": {"event": {"type": kind, "properties": properties}}}


@needs_node
def test_memories_stand_beside_what_was_typed_and_the_person_is_told(
    standing: Home, asked: Asked, tmp_path: Path
) -> None:
    answering(
        tmp_path,
        {
            "session-start": {"context": "pinned", "message": "2 memories"},
            "prompt": {"context": "tea", "message": "1 memory"},
        },
    )
    file = {"text": "contents of a file", "synthetic": True}
    first, second = play(standing, [message("s1", {"text": "Hi"}, file), message("s1", {"text": "And?"})])
    assert [part["text"] for part in first["output"]["parts"]] == [
        "Hi",
        "contents of a file",
        "pinned",
        "tea",
    ]
    added = first["output"]["parts"][2:]
    assert all(part["synthetic"] and part["messageID"] == "msg_1" for part in added)
    assert [part["id"] for part in first["output"]["parts"]] == sorted(
        {part["id"] for part in first["output"]["parts"]}
    )
    assert first["shown"] == ["2 memories", "1 memory"]
    assert [part["text"] for part in second["output"]["parts"]] == ["And?", "tea"]
    about = {"session": "s1", "folder": "/work"}
    assert asked.rows(3) == [
        ["prompt", {**about, "prompt": "And?"}],
        ["prompt", {**about, "prompt": "Hi"}],
        ["session-start", {**about, "afresh": False}],
    ]


@needs_node
def test_an_answer_is_taken_in_and_after_a_compaction_the_context_is_told_anew(
    standing: Home, asked: Asked, tmp_path: Path
) -> None:
    answering(tmp_path, {})
    steps = [
        message("s1", {"text": "Hi"}),
        event("session.idle", sessionID="s1"),
        {"hook": "experimental.session.compacting", "input": {"sessionID": "s1"}},
        event("session.compacted", sessionID="s1"),
        message("s1", {"text": "Go on"}),
    ]
    played = play(standing, steps)
    assert [part["text"] for part in played[-1]["output"]["parts"]] == ["Go on"]
    about = {"session": "s1", "folder": "/work"}
    rows = asked.rows(6)
    assert [row for row in rows if row[0] != "prompt"] == [
        ["pre-compact", about],
        ["session-start", {**about, "afresh": False}],
        ["session-start", {**about, "afresh": True}],
        ["stop", about],
    ]


@needs_node
def test_a_sub_agent_is_no_talk_of_the_person(standing: Home, asked: Asked, tmp_path: Path) -> None:
    answering(tmp_path, {"prompt": {"context": "tea"}})
    steps = [
        event("session.created", info={"id": "s2", "parentID": "s1"}),
        message("s2", {"text": "Look for it"}),
        event("session.idle", sessionID="s2"),
        event("session.idle", sessionID="s1"),
    ]
    assert len(play(standing, steps)[1]["output"]["parts"]) == 1
    assert asked.rows(1) == [["stop", {"session": "s1", "folder": "/work"}]]


@needs_node
def test_a_scrubjay_that_is_gone_holds_nothing_up(home: Home) -> None:
    gone = Home(home.root, home.env, ("/nowhere/scrubjay",), home.data)
    steps = [message("s1", {"text": "Hi"}), event("session.idle", sessionID="s1")]
    played = play(gone, steps)
    assert [part["text"] for part in played[0]["output"]["parts"]] == ["Hi"]
    assert len(played) == 2


def test_the_file_and_the_folder_that_are_there_are_used(home: Home) -> None:
    folder = home.root / ".config" / "opencode"
    (folder / "plugin").mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{} // mine\n")
    before = tree(home.root)
    install("opencode", home)
    assert (
        json_edit.get_value((folder / "opencode.jsonc").read_bytes(), ("mcp", "scrubjay", "type"), folder)
        == "local"
    )
    assert not (folder / "opencode.json").exists()
    code = (folder / "plugin" / "scrubjay.js").read_text()
    assert f"const COMMAND = {json.dumps(home.command)};" in code
    uninstall("opencode", home)
    assert tree(home.root) == before


def test_a_plugin_does_not_run_for_a_person_and_for_a_project_both(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install("opencode", home, Options(project=project))
    assert (project / ".opencode" / "plugins" / "scrubjay.js").exists()
    install("opencode", home)
    install("opencode", home, Options(project=project))
    assert not (project / ".opencode" / "plugins" / "scrubjay.js").exists()
    assert find_agent("opencode").installed_parts(home) == {"mcp": True, "hooks": True, "instructions": True}
