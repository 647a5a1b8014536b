"""A marker is taken in by an agent's own commands, recalled, forgotten and gone; what stands in the way is named."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.agents import installation
from scrubjay.agents.base import Options, find_agent
from scrubjay.config.paths import Pauses, runtime_folder, settings_fingerprint
from scrubjay.daemon import client
from scrubjay.daemon.client import socket_path
from scrubjay.daemon.server import host_daemon
from scrubjay.doctor import agent_proof, checks
from scrubjay.doctor.agent_commands import read_agent_commands
from scrubjay.doctor.agent_proof import SAMPLES
from scrubjay.doctor.checks import Installation
from scrubjay.doctor.run import run_checks
from scrubjay.errors import StoreBusyError
from scrubjay.models.reports import OK, PROBLEM, WARNING, Check
from scrubjay.storage.sqlite.lock import writer_turn

Make = Callable[..., Installation]


@pytest.fixture
def case(make: Make, environ: dict[str, str]) -> Installation:
    """An installation in which something is remembered, with time enough for a busy machine."""
    found = make()
    environ["SCRUBJAY_HOOKS_BUDGET_MS"] = "8000"
    with found.memory() as memory:
        memory.add("The key hangs on the hook behind the door.")
    return found


def install(case: Installation, name: str, *, hooks: bool = True) -> None:
    installation.apply_plan(
        installation.plan_install(find_agent(name), case.home, Options(hooks=hooks)), case.home
    )


def proven(case: Installation, name: str) -> list[Check]:
    return agent_proof.prove_agent(find_agent(name), read_agent_commands(find_agent(name), case.home), case)


def held(case: Installation) -> dict[str, object]:
    """What is in the store, and what lies in the doctor's folder."""
    with case.memory() as memory:
        status = memory.status()
        concepts = [concept.name for concept in memory.concepts.list()]
        return {
            "memories": (status.memories, status.documents, status.statuses),
            "sources": status.sources,
            "concepts": concepts,
            "folders": [path.name for path in agent_proof.leftover_markers(case)],
        }


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_an_agent_would_do_is_done_and_nothing_of_it_is_left(case: Installation, name: str) -> None:
    install(case, name)
    before = held(case)
    found = proven(case, name)
    assert [(check.about, check.state) for check in found] == [
        (f"{name} {step}", OK) for step in ("capture", "start", "recall", "search", "forget")
    ], found
    assert held(case) == before
    assert b"kestrel" not in case.file.read_bytes()  # type: ignore[union-attr]
    assert list((case.home.data / "injections").glob("*")) == []


def test_the_persons_own_conversations_are_not_looked_at(case: Installation) -> None:
    install(case, "claude-code")
    own = case.home.root / ".claude" / "projects" / "-p" / "s.jsonl"
    own.parent.mkdir(parents=True)
    own.write_bytes(b'{"role": "user", "content": "mine"}\n')
    before = held(case)
    assert all(check.state == OK for check in proven(case, "claude-code"))
    assert held(case) == before
    assert [path.name for path in own.parent.parent.iterdir()] == ["-p"]


def test_a_hook_that_takes_nothing_in_is_named_and_no_later_step_is_tried(
    case: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_proof, "BACKGROUND_TIMEOUT", 0.1)
    install(case, "claude-code")
    file = case.home.root / ".claude" / "settings.json"
    file.write_text(file.read_text().replace(f"{case.home.command[0]} hook", "true scrubjay hook"))
    (found,) = proven(case, "claude-code")
    assert (found.about, found.state) == ("claude-code capture", PROBLEM)
    assert "nothing was captured" in found.found
    assert found.fix
    assert agent_proof.leftover_markers(case) == []


def test_a_hook_that_recalls_nothing_is_told_from_one_that_captures_nothing(case: Installation) -> None:
    install(case, "codex")
    file = case.home.root / ".codex" / "hooks.json"
    ours = case.home.command[0]
    file.write_text(file.read_text().replace(f"{ours} hook codex prompt", "true scrubjay hook codex prompt"))
    found = proven(case, "codex")
    assert [(check.about, check.state) for check in found] == [
        ("codex capture", OK), ("codex start", OK), ("codex recall", PROBLEM),
    ]  # fmt: skip
    assert agent_proof.leftover_markers(case) == []


def replace_start(case: Installation, script: str) -> None:
    """Have Claude Code run a script of the test's own where a session starts."""
    file = case.home.root / ".claude" / "settings.json"
    path = case.home.root / "scrubjay"
    path.write_text(f"#!/bin/sh\ncat >/dev/null\n{script}\n")
    path.chmod(0o755)
    ours = f"{case.home.command[0]} hook claude-code session-start"
    text = file.read_text()
    assert ours in text
    file.write_text(text.replace(ours, f"{path} hook claude-code session-start"))


def test_a_session_start_is_proven_cold_beside_a_running_resident(case: Installation) -> None:
    install(case, "claude-code")
    env = case.home.env
    mark = settings_fingerprint(env)
    with case.memory() as memory, host_daemon(case.settings, lambda: memory, env, "watch"):
        (start,) = [check for check in proven(case, "claude-code") if check.about == "claude-code start"]
        state = client.daemon_state(socket_path(runtime_folder(env), mark), mark)
    assert start.state == OK, start
    assert "cold" in start.found
    assert state is not None
    answered = [
        json.loads(line)
        for line in (case.home.data / "log").read_text().splitlines()
        if "hook session-start" in line
    ]
    assert len(answered) == 1
    # The resident was asked when the session stopped and at the prompt, and not at the start.
    assert state["requests"] == 2
    # What the hook left to be done was not the doctor's to do.
    queued = [path.read_bytes() for path in (case.home.data / "errands").glob("*/*")]
    assert not any(b"catch-up" in job for job in queued)


def test_a_session_start_that_is_late_is_a_warning_and_the_proof_goes_on(case: Installation) -> None:
    install(case, "claude-code")
    late = '{"time": "9999-01-01T00:00:00.000Z", "level": "warning", "event": "hook late", "ms": 1970.5}'
    replace_start(case, f"echo '{late}' >>'{case.home.data / 'log'}'")
    found = {check.about: check for check in proven(case, "claude-code")}
    start = found["claude-code start"]
    assert start.state == WARNING
    assert "1970 ms" in start.found
    assert "[hooks]" in start.fix
    assert found["claude-code forget"].state == OK


def test_a_session_start_that_does_nothing_is_a_problem(case: Installation) -> None:
    install(case, "claude-code")
    replace_start(case, "true")
    found = proven(case, "claude-code")[-1]
    assert (found.about, found.state) == ("claude-code start", PROBLEM)
    assert "neither" in found.found


def test_a_server_that_does_not_start_is_named(case: Installation, tmp_path: Path) -> None:
    install(case, "claude-code")
    file = case.home.root / ".claude.json"
    entry = json.loads(file.read_text())
    entry["mcpServers"]["scrubjay"]["args"] = ["no-such-command"]
    file.write_text(json.dumps(entry))
    found = proven(case, "claude-code")[-1]
    assert (found.about, found.state) == ("claude-code search", PROBLEM)
    assert "server" in found.found


def test_without_hooks_the_tools_are_proven_and_the_line_says_what_is_not(case: Installation) -> None:
    install(case, "claude-code", hooks=False)
    before = held(case)
    found = proven(case, "claude-code")
    assert [check.about for check in found] == [
        "claude-code capture",
        "claude-code search",
        "claude-code forget",
    ]
    assert {check.state for check in found} == {OK}, found
    assert "not proven" in found[0].found
    assert held(case) == before


def test_what_a_killed_doctor_left_is_told_and_taken_away_by_the_next(case: Installation) -> None:
    install(case, "claude-code")
    script = (
        "import sys, time, pickle\n"
        "from scrubjay.doctor import agent_proof as marks\n"
        "from scrubjay.doctor.agent_proof import SAMPLES\n"
        "case = pickle.load(sys.stdin.buffer)\n"
        "with marks.exclusive_markers(case), case.memory() as memory:\n"
        "    marker = marks.create_marker(case)\n"
        "    SAMPLES['claude-code'].write(marker)\n"
        "    memory.sync(marker.folder / 'projects')\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.close(); time.sleep(60)\n"
    )
    before = held(case)
    killed = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert killed.stdin is not None
    assert killed.stdout is not None
    with killed:
        killed.stdin.write(pickle.dumps(case))
        killed.stdin.close()
        assert killed.stdout.readline() == b"ready\n"
        assert list(agent_proof.check_leftover_markers(case)) == []  # it is at it
        killed.send_signal(signal.SIGKILL)
    (told,) = agent_proof.check_leftover_markers(case)
    assert (told.state, told.fix) == (WARNING, "scrubjay doctor --fix")
    assert len(agent_proof.leftover_markers(case)) == 1
    (fixed,) = agent_proof.check_leftover_markers(replace(case, fix=True))
    assert (fixed.state, fixed.mended) == (OK, True)
    assert held(case) == before
    assert list(agent_proof.check_leftover_markers(case)) == []


def test_a_doctor_beside_another_one_waits_for_nothing_and_says_so(case: Installation) -> None:
    install(case, "codex")
    with agent_proof.exclusive_markers(case):
        (found,) = proven(case, "codex")
    assert found.state == WARNING
    assert "another doctor" in found.found


def test_an_agent_whose_program_is_gone_is_not_asked_to_prove_anything(case: Installation) -> None:
    install(case, "codex")
    for path in (case.home.root / ".codex").iterdir():
        path.write_text(path.read_text().replace(case.home.command[0], "/nowhere/scrubjay"))
    about = [check.about for check in run_checks(case)]
    assert "codex program" in about
    assert "codex capture" not in about


def test_a_command_that_hangs_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(agent_proof.CommandError, match="did not end within"):
        agent_proof.run_hook("sleep 60 || true", {}, os.environ, 0.2, str(tmp_path))
    with pytest.raises(agent_proof.CommandError, match="did not answer in time"):
        agent_proof.call_mcp_tool(["tail", "-f", "/dev/null"], "memory_search", {}, os.environ, 0.2)


def test_a_server_that_writes_something_else_is_heard_as_that(tmp_path: Path) -> None:
    with pytest.raises(agent_proof.CommandError, match="other than the protocol"):
        agent_proof.call_mcp_tool(["echo", "Welcome!"], "memory_search", {}, os.environ, 5)
    with pytest.raises(agent_proof.CommandError, match="cannot be started"):
        agent_proof.call_mcp_tool([str(tmp_path / "none")], "memory_search", {}, os.environ, 5)


def test_the_log_is_read_from_its_end_through_both_files_and_past_torn_lines(tmp_path: Path) -> None:
    def line(at: int, level: str) -> str:
        return json.dumps({"time": f"2026-03-01T10:00:0{at}.000Z", "level": level, "event": f"e{at}"}) + "\n"

    assert checks.last_log_entries(tmp_path) == []
    (tmp_path / "log.1").write_text(line(1, "error") + line(2, "info"))
    (tmp_path / "log").write_text(line(3, "warning") + '{"time": "2026' + "\n[]\n" + line(4, "error"))
    assert [entry["event"] for entry in checks.last_log_entries(tmp_path)] == ["e4", "e1"]
    assert [entry["event"] for entry in checks.last_log_entries(tmp_path, "warning", 2)] == ["e4", "e3"]
    assert [
        entry["event"] for entry in checks.last_log_entries(tmp_path, "debug", 9, "2026-03-01T10:00:03")
    ] == [
        "e4",
        "e3",
    ]


@pytest.mark.parametrize("how", ["paused", "off"])
def test_an_agent_whose_hooks_do_nothing_for_now_has_nothing_to_prove(
    case: Installation, environ: dict[str, str], how: str
) -> None:
    install(case, "codex")
    if how == "off":
        environ["SCRUBJAY_OFF"] = "1"
    else:
        Pauses(str(case.home.data)).pause("codex", 3600)
    found = {check.about: check for check in run_checks(case)}
    assert found["pause"].state == WARNING
    assert found["codex proof"].state == WARNING
    assert "codex capture" not in found


def test_events_that_the_settings_leave_out_are_not_proven(
    make: Make, environ: dict[str, str], case: Installation
) -> None:
    install(case, "codex")
    environ["SCRUBJAY_HOOKS_EVENTS"] = "session-start"
    found = proven(make(), "codex")
    assert [(check.about, check.state) for check in found] == [
        (f"codex {step}", OK) for step in ("capture", "start", "search", "forget")
    ], found
    assert "[hooks] events excludes it" in found[0].found


def test_a_source_that_holds_the_data_folder_keeps_nothing_of_a_marker(case: Installation) -> None:
    install(case, "claude-code")
    with case.memory() as memory:
        memory.sync(case.home.root, include=["*.md", "*.jsonl"])
    before = held(case)
    proven(case, "claude-code")
    assert held(case) == before
    assert case.file is not None
    assert b"kestrel" not in case.file.read_bytes()


def test_a_store_that_is_locked_while_a_marker_is_taken_away_leaves_it_to_the_next_doctor(
    case: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert case.file is not None
    with agent_proof.exclusive_markers(case), case.memory() as memory:
        marker = agent_proof.create_marker(case)
        SAMPLES["claude-code"].write(marker)
        memory.sync(marker.folder / "projects")
        monkeypatch.setattr(memory.workspace.store, "_patience", 0.05)
        with writer_turn(case.file, 1), pytest.raises(StoreBusyError):
            agent_proof.remove_marker(memory, marker)
    assert agent_proof.leftover_markers(case) != []
    (fixed,) = agent_proof.check_leftover_markers(replace(case, fix=True))
    assert fixed.mended
    assert agent_proof.leftover_markers(case) == []


def test_an_agent_that_takes_nothing_in_has_its_tools_proven(case: Installation) -> None:
    install(case, "cursor")
    found = proven(case, "cursor")
    assert [(check.about, check.state) for check in found] == [
        (f"cursor {step}", OK) for step in ("capture", "start", "search", "forget")
    ], found
    assert "no capturing hook" in found[0].found
