"""The plugin in OpenClaw's memory slot, run by node: its tools are scrubjay's, its hooks never hold a turn up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from installing import install

from scrubjay.agents.base import Home
from scrubjay.api.tools import TOOLS
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.memory import Memory

NODE = os.environ.get("AGENT_NODE") or shutil.which("node")
pytestmark = pytest.mark.skipif(not NODE, reason="node is not here, and AGENT_NODE names none")

HARNESS = Path(__file__).with_name("plugin_openclaw.mjs")
USER = {"agentId": "main", "sessionId": "s1", "sessionKey": "agent:main:main", "trigger": "user"}
SCRUBJAY = """#!{python}
import json, os, sys
if sys.argv[1] == "hook":
    said = json.load(sys.stdin)
    with open(os.path.join({folder!r}, "asked.jsonl"), "a") as file:
        file.write(json.dumps([sys.argv[2:], said]) + chr(10))
    answers = json.load(open(os.path.join({folder!r}, "answers.json")))
    sys.stdout.write(answers.get(sys.argv[3], ""))
else:
    os.environ["SCRUBJAY_STORE"] = os.path.join({folder!r}, "memory.db")
    from scrubjay.cli.main import main
    sys.exit(main())
"""


class Played:
    """A plugin that is registered and waits for steps."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def step(self, step: str, **arguments: Any) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"step": step, **arguments}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def played(home: Home, tmp_path: Path, **own: Any) -> Iterator[Played]:
    install("openclaw", home)
    config = json.loads((home.root / ".openclaw" / "openclaw.json").read_text())
    entry = config["plugins"]["entries"]["scrubjay"]["config"]
    given = {"config": own.pop("config", config), "pluginConfig": {**entry, **own}}
    with started(home.root / ".openclaw/scrubjay/plugin", given, os.environ) as plugin:
        yield plugin


@contextmanager
def started(folder: Path, given: Mapping[str, Any], env: Mapping[str, str]) -> Iterator[Played]:
    assert NODE
    arguments = [NODE, str(HARNESS), str(folder), json.dumps(given)]
    process = subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**env}
    )
    try:
        yield Played(process)
        assert process.stdin
        process.stdin.close()
        # A command of OpenClaw that is done ends: no server, no timer keeps it.
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


@pytest.fixture
def standing(home: Home, tmp_path: Path) -> Home:
    """A home whose scrubjay is the real one, but for hooks, of which it writes down what they are asked."""
    path = tmp_path / "scrubjay"
    path.write_text(SCRUBJAY.format(python=sys.executable, folder=str(tmp_path)))
    path.chmod(0o755)
    answering(tmp_path)
    return Home(home.root, home.env, (str(path),), home.data)


def answering(tmp_path: Path, **answers: Any) -> None:
    told = {event.replace("_", "-"): json.dumps(answer) for event, answer in answers.items()}
    (tmp_path / "answers.json").write_text(json.dumps(told))


def asked(tmp_path: Path) -> list[tuple[str, dict[str, Any]]]:
    path = tmp_path / "asked.jsonl"
    rows = [json.loads(row) for row in path.read_text().splitlines()] if path.exists() else []
    path.unlink(missing_ok=True)
    assert all(arguments[0] == "openclaw" for arguments, _ in rows)
    return sorted((arguments[1], said) for arguments, said in rows)


def test_the_tools_are_scrubjays_by_name_and_schema(standing: Home, tmp_path: Path) -> None:
    with played(standing, tmp_path) as plugin:
        tools = dict(plugin.step("tools"))
        assert list(tools) == [tool.name for tool in TOOLS]
        assert tools["memory_search"]["parameters"] == TOOLS[0].input_schema
        assert plugin.step("prompt", available=["memory_search"])[0] == "## Memory (scrubjay)"
        assert plugin.step("prompt", available=["exec"]) == []
    folder = standing.root / ".openclaw" / "scrubjay" / "plugin"
    manifest = json.loads((folder / "openclaw.plugin.json").read_text())
    assert manifest["contracts"]["tools"] == [tool.name for tool in TOOLS]
    assert manifest["kind"] == "memory"
    assert {name: "sideEffecting" in each for name, each in manifest["toolMetadata"].items()} == {
        tool.name: tool.writes for tool in TOOLS
    }


def test_what_is_added_is_found_and_an_error_says_what_helps(standing: Home, tmp_path: Path) -> None:
    with played(standing, tmp_path) as plugin:
        added = plugin.step("call", name="memory_add", args={"content": "Staging listens on port 5544."})
        found = plugin.step("call", name="memory_search", args={"query": "staging port"})
        assert added["details"]["id"].partition("_")[2][:6] in found["content"][0]["text"]
        assert "Staging listens on port 5544." in found["content"][0]["text"]
        wrong = plugin.step("call", name="memory_search", args={"query": "x", "corpus": "wiki"})
        assert wrong["thrown"].startswith("memory_search takes no 'corpus'. (it takes query,")
        gone = plugin.step("call", name="memory_search", args={"query": "x"}, abort_ms=0)
        assert "abort" in gone["thrown"]
        again = plugin.step("call", name="memory_search", args={"query": "staging"})
        assert "port 5544" in again["content"][0]["text"]


def test_the_package_of_the_hub_finds_scrubjay_without_configuration(
    standing: Home, tmp_path: Path, packages: Path
) -> None:
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with started(packages / "openclaw", {"config": {}, "pluginConfig": {}}, env) as plugin:
        assert [name for name, _ in plugin.step("tools")] == [tool.name for tool in TOOLS]
        assert [name for name, _ in plugin.step("hooks")] == ["gateway_stop"]
        assert plugin.step("call", name="memory_add", args={"content": "Staging listens on port 5544."})[
            "details"
        ]
        assert plugin.step("logged") == []


def test_a_scrubjay_that_is_gone_or_dies_is_an_error_that_a_model_can_read(
    home: Home, tmp_path: Path
) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\necho 'no such store' >&2\nexit 3\n")
    dying.chmod(0o755)
    for command, told in (
        ("/nowhere/scrubjay", "scrubjay did not start (/nowhere/scrubjay: ENOENT)"),
        (str(dying), "scrubjay ended (exit code 3): no such store"),
    ):
        with played(Home(home.root, home.env, (command,), home.data), tmp_path) as plugin:
            for _ in range(2):
                thrown = plugin.step("call", name="memory_search", args={"query": "x"})["thrown"]
                assert thrown == f"{told}. Run `scrubjay install openclaw` again."
            assert plugin.step("hook", name="before_prompt_build", event={"prompt": "Hi"}, ctx=USER) is None


def test_a_session_begins_with_its_context_and_each_prompt_is_answered(
    standing: Home, tmp_path: Path
) -> None:
    answering(tmp_path, session_start={"context": "<m>pinned</m>", "message": "2 memories"})
    with played(standing, tmp_path) as plugin:
        event = {"prompt": "[Sun] wrapped: Hi", "currentUserMessage": "Hi"}
        answer = plugin.step("hook", name="before_prompt_build", event=event, ctx=USER)
        assert answer == {"prependContext": "<m>pinned</m>"}
        assert plugin.step("logged") == ["info: 2 memories"]
        start, prompt = reversed(asked(tmp_path))
        assert start == ("session-start", {"session": "s1", "afresh": False})
        assert prompt == ("prompt", {"session": "s1", "prompt": "Hi"})
        answering(
            tmp_path, session_start={"context": "again"}, prompt={"context": "tea", "message": "1 memory"}
        )
        answer = plugin.step("hook", name="before_prompt_build", event=event, ctx=USER)
        assert answer == {"prependContext": "tea"}
        assert [name for name, _ in asked(tmp_path)] == ["prompt"]
        plugin.step("hook", name="after_compaction", ctx=USER)
        answer = plugin.step("hook", name="before_prompt_build", event=event, ctx=USER)
        assert answer == {"prependContext": "again\n\ntea"}
        assert ("session-start", {"session": "s1", "afresh": True}) in asked(tmp_path)
        nothing = {"prompt": "history", "currentUserMessage": ""}
        assert plugin.step("hook", name="before_prompt_build", event=nothing, ctx=USER) is None
        assert asked(tmp_path) == []


@pytest.mark.parametrize(
    "ctx",
    [
        {"trigger": "heartbeat"},
        {"trigger": "cron"},
        {"sessionKey": "agent:main:telegram:group:-100"},
        {"sessionKey": "agent:main:discord:channel:7"},
        {"sessionKey": "agent:main:subagent:x"},
    ],
)
def test_what_is_no_talk_of_the_person_alone_is_neither_given_memories_nor_taken_in(
    ctx: dict[str, str], standing: Home, tmp_path: Path
) -> None:
    answering(tmp_path, session_start={"context": "secret"}, prompt={"context": "secret"})
    messages = [{"role": "user", "content": "Hi", "timestamp": 1}]
    with played(standing, tmp_path) as plugin:
        event = {"prompt": "Hi", "messages": messages}
        assert plugin.step("hook", name="before_prompt_build", event=event, ctx={**USER, **ctx}) is None
        plugin.step("hook", name="agent_end", event=event, ctx={**USER, **ctx})
    assert asked(tmp_path) == []
    assert not (standing.data / "agents" / "openclaw").exists()


def test_a_talk_is_written_once_as_openclaw_wrote_it_itself_and_read_by_sync(
    standing: Home, tmp_path: Path
) -> None:
    first = [
        {"role": "user", "content": "Staging moved to port 5544.", "timestamp": 1_760_000_000_000},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}],
         "timestamp": 1_760_000_001_000, "model": "m"},
        {"role": "toolResult", "content": [{"type": "text", "text": "noise"}]},
    ]  # fmt: skip
    # Read from its database, a prompt has another time than when it was said.
    earlier = {**first[0], "timestamp": 1_759_999_990_000}
    again = {"role": "user", "content": "Staging moved to port 5544.", "timestamp": 1_760_000_002_000}
    last = {"role": "user", "content": "And production to 6655.", "timestamp": 1_760_000_003_000}
    more = [earlier, *first[1:], again, last]
    # A compaction leaves a summary and the turn that has just ended.
    turn = [
        {"role": "user", "content": "Go on.", "timestamp": 1_760_000_004_000},
        {"role": "assistant", "content": "Done.", "timestamp": 1_760_000_005_000},
    ]
    for messages in (first, more, [{**earlier, "content": "What was said in short."}, *turn]):
        # A Gateway that was started anew knows what is in the file.
        with played(standing, tmp_path) as plugin:
            for _ in range(2):
                plugin.step(
                    "hook", name="agent_end", event={"messages": messages}, ctx={**USER, "workspaceDir": "/w"}
                )
    log = standing.data / "agents" / "openclaw" / "agents" / "main" / "s1.jsonl"
    assert [name for name, _ in asked(tmp_path)] == ["stop"] * 6
    assert log.stat().st_mode & 0o777 == 0o600
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [entry["type"] for entry in entries] == ["session", *["message"] * 6]
    assert [entry["parentId"] for entry in entries[2:]] == [entry["id"] for entry in entries[1:-1]]

    with Memory.open(tmp_path / "read.db", embedders=[HashEmbedder(32)]) as memory:
        memory.sync(str(log.parent))
        results = memory.search("production port").results
        said = {(result.snippet, result.role, result.agent, result.session) for result in results}
        assert ("And production to 6655.", "user", "openclaw", "s1") in said
        assert not any("noise" in result.snippet for result in results)


def test_a_gateway_that_starts_has_its_scrubjay_from_the_beginning(standing: Home, tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = tmp_path / "noting"
    command.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{standing.command[0]}" "$@"\n')
    command.chmod(0o755)
    with played(Home(standing.root, standing.env, (str(command),), standing.data), tmp_path) as plugin:
        plugin.step("hook", name="gateway_start")
        assert plugin.step("call", name="memory_search", args={"query": "x"})["content"]
        assert started.exists()
        started.unlink()
        plugin.step("hook", name="gateway_start")
        assert plugin.step("call", name="memory_search", args={"query": "x"})["content"]
        assert not started.exists()
        plugin.step("hook", name="gateway_stop")
    with played(Home(standing.root, standing.env, ("/nowhere/scrubjay",), standing.data), tmp_path) as plugin:
        assert plugin.step("hook", name="gateway_start") is None


def test_a_disk_that_is_full_costs_a_line_in_the_log_and_no_turn(standing: Home, tmp_path: Path) -> None:
    (standing.data / "agents" / "openclaw").mkdir(parents=True)
    (standing.data / "agents" / "openclaw" / "agents").write_text("a file in the way")
    with played(standing, tmp_path) as plugin:
        event = {"messages": [{"role": "user", "content": "Hi", "timestamp": 1}]}
        assert plugin.step("hook", name="agent_end", event=event, ctx=USER) is None
        (told,) = plugin.step("logged")
        assert told.startswith("warn: scrubjay: this turn was not stored")


def test_an_agent_whose_memory_is_switched_off_has_none_of_it(standing: Home, tmp_path: Path) -> None:
    config = {"agents": {"entries": {"work": {"memory": {"search": {"enabled": False}}}}}}
    with played(standing, tmp_path, config=config) as plugin:
        assert plugin.step("tools", ctx={"agentId": "work"}) == []
        assert plugin.step("tools", ctx={"agentId": "main"})
        event = {"prompt": "Hi"}
        plugin.step("hook", name="before_prompt_build", event=event, ctx={**USER, "agentId": "work"})
    assert asked(tmp_path) == []


SECRET = {"role": "user", "content": "The wifi password is Kartoffel.", "timestamp": 1_760_000_000_000}
OPEN = {"role": "user", "content": "The boat lies at berth twelve.", "timestamp": 1_760_000_004_000}


def answered(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [message, {"role": "assistant", "content": "Noted.", "timestamp": message["timestamp"] + 1}]


def stored(log: Path, tmp_path: Path) -> set[tuple[str, str | None]]:
    with Memory.open(tmp_path / "read.db", embedders=[HashEmbedder(32)]) as memory:
        memory.sync(str(log.parent))
        return {(record.content, record.session) for record in memory.page().records}


@pytest.mark.parametrize("how", ["switched off", "paused"])
def test_words_said_while_memory_was_off_are_never_written(how: str, standing: Home, tmp_path: Path) -> None:
    log = standing.data / "agents" / "openclaw" / "agents" / "main" / "s1.jsonl"
    off = {"memory": {"search": {"enabled": False}}} if how == "switched off" else {}
    answering(tmp_path, **({"prompt": {"paused": True}} if how == "paused" else {}))
    with played(standing, tmp_path, config=off) as plugin:
        plugin.step("hook", name="before_prompt_build", event={"prompt": SECRET["content"]}, ctx=USER)
        plugin.step("hook", name="agent_end", event={"messages": answered(SECRET)}, ctx=USER)
    assert "Kartoffel" not in log.read_text()
    asked(tmp_path)
    answering(tmp_path)
    # Another Gateway, which has the whole talk from its database.
    with played(standing, tmp_path) as plugin:
        plugin.step("hook", name="before_prompt_build", event={"prompt": OPEN["content"]}, ctx=USER)
        messages = [*answered(SECRET), *answered(OPEN)]
        plugin.step("hook", name="agent_end", event={"messages": messages}, ctx=USER)
    assert "Kartoffel" not in log.read_text()
    assert stored(log, tmp_path) == {(OPEN["content"], "s1"), ("Noted.", "s1")}


def test_a_torn_line_of_the_log_costs_no_turn(standing: Home, tmp_path: Path) -> None:
    log = standing.data / "agents" / "openclaw" / "agents" / "main" / "s1.jsonl"
    answering(tmp_path)
    messages: list[Mapping[str, Any]] = []
    for number, text in enumerate(("The mast is ten metres.", "The sails are blue.", "Ann has the key.")):
        messages += answered({**OPEN, "content": text, "timestamp": OPEN["timestamp"] + 10 * number})
        with played(standing, tmp_path) as plugin:
            plugin.step("hook", name="agent_end", event={"messages": messages}, ctx=USER)
        with log.open("r+b") as file:
            file.truncate(log.stat().st_size - 40)  # the machine died
    with played(standing, tmp_path) as plugin:
        plugin.step("hook", name="agent_end", event={"messages": messages}, ctx=USER)
    found = stored(log, tmp_path)
    assert {text for text, _ in found} == {"Noted.", *(str(message["content"]) for message in messages)}
    assert {session for _, session in found} == {"s1"}


def test_without_a_log_nothing_is_called_and_heartbeats_alone_consolidate(
    standing: Home, tmp_path: Path
) -> None:
    with played(standing, tmp_path, log="") as plugin:
        assert plugin.step("hooks") == [["gateway_stop", None]]
    with played(standing, tmp_path) as plugin:
        hooks = dict(plugin.step("hooks"))
        assert hooks["before_agent_reply"] == {"eligibleTriggers": ["heartbeat"]}
        plugin.step("hook", name="before_agent_reply", ctx={**USER, "trigger": "heartbeat"})
    assert [name for name, _ in asked(tmp_path)] == ["heartbeat"]
