"""Plugins start the scrubjay that is there, say what is missing, and never double what `scrubjay install` has put."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hooking import PATIENCE, Machine
from installing import install

from scrubjay import __version__
from scrubjay.agents.base import Home, Options, find_agent

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
FOLDERS = {
    "claude-code": "CLAUDE_PLUGIN_ROOT",
    "codex": "PLUGIN_ROOT",
    "cursor": "CURSOR_PLUGIN_ROOT",
    "gemini": "extensionPath",
}
"""Plugins with hooks, and what each agent calls the folder of one."""
ELSEWHERE = "/usr/local/bin"
"""Where a plugin looks besides PATH."""
alone = pytest.mark.skipif(
    bool(shutil.which("scrubjay", path=ELSEWHERE) or shutil.which("uvx", path=ELSEWHERE)),
    reason="this machine has a scrubjay or uvx for everyone",
)


@dataclass(frozen=True)
class Desk:
    """A home folder and a folder of programs, in which a stand-in writes down how it was called."""

    home: Path
    programs: Path

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": str(self.programs)}

    def put(self, name: str, last: str = "") -> None:
        path = self.programs / name
        path.write_text(
            f'#!/bin/sh\n[ "$1" = mcp ] || cat >/dev/null\necho "$@" >>"{self.home}/{name}.called"\n{last}\n'
        )
        path.chmod(0o755)

    def called(self, name: str) -> list[str]:
        path = self.home / f"{name}.called"
        return path.read_text().splitlines() if path.exists() else []

    def installer(self) -> Home:
        return Home(self.home, {"PATH": ""}, (str(self.programs / "scrubjay"),), self.home / "data")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path / "home", tmp_path / "bin")
    found.home.mkdir()
    found.programs.mkdir()
    for name in ("sh", "cat", "grep", "git"):
        (found.programs / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    return found


def commands(hooks: Any) -> Iterator[tuple[str, str]]:
    """Yield the event that a command names, and the command, in a file of hooks of any agent."""
    if isinstance(hooks, dict):
        if isinstance(hooks.get("command"), str):
            found = re.search(r"(?:hook\.sh\"| hook [a-z-]+) ([a-z-]+)", hooks["command"])
            assert found
            yield found[1], hooks["command"]
        hooks = list(hooks.values())
    for inner in hooks if isinstance(hooks, list) else ():
        yield from commands(inner)


def shipped(agent: str) -> dict[str, str]:
    return dict(commands(json.loads((PLUGINS / agent / "hooks" / "hooks.json").read_text())["hooks"]))


def run(agent: str, command: str, env: Mapping[str, str], folder: Path, said: Any = None) -> str:
    """Run a hook as its agent does, and return what it says."""
    whole = command.replace("${extensionPath}", str(PLUGINS / agent))
    ran = subprocess.run(
        ["/bin/sh", "-c", whole],
        input=json.dumps(said or {}).encode(),
        env={**env, FOLDERS[agent]: str(PLUGINS / agent)},
        cwd=folder,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == b""
    return ran.stdout.decode()


@pytest.mark.parametrize("agent", FOLDERS)
def test_a_plugin_has_the_hooks_of_the_installer_and_calls_the_scrubjay_on_the_path(
    agent: str, desk: Desk
) -> None:
    desk.put("scrubjay")
    install(agent, desk.installer())
    files = (path for path in desk.home.rglob("*.json") if "data" not in path.parts)
    configured = dict(
        pair for path in files for pair in commands(json.loads(path.read_text()).get("hooks", {}))
    )
    assert shipped(agent).keys() == configured.keys() != set()
    shutil.rmtree(desk.home)
    desk.home.mkdir()
    for event, command in shipped(agent).items():
        assert run(agent, command, desk.env, desk.home) == ""
        assert desk.called("scrubjay")[-1] == f"hook {agent} {event}"


@pytest.mark.parametrize("where", ["person", "project"])
@pytest.mark.parametrize("agent", FOLDERS)
def test_a_hook_that_is_installed_and_in_a_plugin_runs_once(agent: str, where: str, desk: Desk) -> None:
    desk.put("scrubjay")
    project = desk.home / "project"
    project.mkdir()
    install(agent, desk.installer(), Options(project=project if where == "project" else None))
    said = {event: run(agent, command, desk.env, project) for event, command in shipped(agent).items()}
    assert desk.called("scrubjay") == []
    told = {event: text for event, text in said.items() if text}
    if agent == "cursor":
        assert told == {}
        return
    assert list(told) == ["session-start"]
    assert f"scrubjay uninstall {agent}" in json.loads(told["session-start"])["systemMessage"]


@alone
@pytest.mark.parametrize("agent", FOLDERS)
def test_without_scrubjay_and_uv_a_session_begins_with_what_to_do_and_goes_on(agent: str, desk: Desk) -> None:
    said = {event: run(agent, command, desk.env, desk.home) for event, command in shipped(agent).items()}
    told = [event for event, text in said.items() if text]
    assert told == ([] if agent == "cursor" else ["session-start"])
    assert agent == "cursor" or "install uv" in json.loads(said["session-start"])["systemMessage"]


@alone
def test_with_uv_alone_a_hook_runs_this_version_and_downloads_nothing(desk: Desk) -> None:
    desk.put("uvx", "exit 2")
    told = run("claude-code", shipped("claude-code")["session-start"], desk.env, desk.home)
    assert "is not here yet" in json.loads(told)["systemMessage"]
    assert run("claude-code", shipped("claude-code")["prompt"], desk.env, desk.home) == ""
    desk.put("uvx")
    assert run("claude-code", shipped("claude-code")["session-start"], desk.env, desk.home) == ""
    once = f"--offline --quiet --from scrubjay=={__version__} scrubjay hook claude-code"
    assert desk.called("uvx") == [f"{once} {event}" for event in ("session-start", "prompt", "session-start")]


SERVERS = ("claude-code", "codex", "cursor", "gemini", "agent-plugin", "openclaw")


@pytest.fixture
def servers(packages: Path) -> dict[str, list[str]]:
    """Return how each plugin starts its server."""
    found = {
        name: json.loads((PLUGINS / path).read_text())["mcpServers"]["scrubjay"]
        for name, path in {
            "claude-code": "claude-code/.mcp.json",
            "codex": "codex/.mcp.json",
            "cursor": "cursor/mcp.json",
            "gemini": "gemini/gemini-extension.json",
            "agent-plugin": "agent-plugin/mcp.json",
        }.items()
    }
    starts = {name: [entry["command"], *entry["args"]] for name, entry in found.items()}
    return {**starts, "openclaw": [*json.loads((packages / "openclaw" / "start.json").read_text()), "mcp"]}


@alone
@pytest.mark.parametrize("plugin", SERVERS)
def test_a_server_is_the_scrubjay_that_is_there_else_this_version_else_a_clear_error(
    plugin: str, desk: Desk, servers: dict[str, list[str]]
) -> None:
    def start() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            servers[plugin], env=desk.env, cwd=desk.home, stdin=subprocess.DEVNULL, capture_output=True
        )

    missing = start()
    assert missing.returncode == 127
    assert missing.stderr.startswith(b"scrubjay is missing: install uv")
    desk.put("uvx")
    assert start().returncode == 0
    desk.put("scrubjay")
    assert start().returncode == 0
    assert desk.called("uvx") == [f"--from scrubjay=={__version__} scrubjay mcp"]
    assert desk.called("scrubjay") == ["mcp"]


def test_a_server_by_the_open_standard_does_not_take_the_plugin_for_a_project(
    desk: Desk, servers: dict[str, list[str]]
) -> None:
    desk.put("scrubjay", 'pwd >"$HOME/at"')
    for folder, at in ((PLUGINS / "agent-plugin", desk.home), (desk.programs, desk.programs)):
        env = {**desk.env, "PLUGIN_ROOT": str(PLUGINS / "agent-plugin")}
        subprocess.run(servers["agent-plugin"], env=env, cwd=folder, stdin=subprocess.DEVNULL, check=True)
        assert Path((desk.home / "at").read_text().strip()) == at


def test_a_plugins_prompt_is_answered_from_memory_and_its_server_serves(
    here: Machine, servers: dict[str, list[str]]
) -> None:
    programs = here.root / "bin"
    programs.mkdir()
    own = programs / "scrubjay"
    own.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m scrubjay "$@"\n')
    own.chmod(0o755)
    env = {**here.env, "PATH": f"{programs}:{here.env['PATH']}"}
    assert here.run("add", "Our staging database is called heron and lives in Lisbon.").code == 0
    said = {
        "session_id": "now", "cwd": str(here.project), "hook_event_name": "UserPromptSubmit",
        "prompt": "Where does the staging database live?",
    }  # fmt: skip
    answer = run("claude-code", shipped("claude-code")["prompt"], env, here.project, said)
    assert "heron" in json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    served = subprocess.run(
        servers["claude-code"],
        input=json.dumps(hello).encode() + b"\n",
        env=env,
        cwd=here.project,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert json.loads(served.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "scrubjay"


ENABLED = {
    "claude-code": (".claude/settings.json", '{"enabledPlugins": {"scrubjay@scrubjay": true}}'),
    "codex": (".codex/config.toml", '[plugins."scrubjay@scrubjay"]\nenabled = true\n'),
    "gemini": (".gemini/extensions/scrubjay/gemini-extension.json", "{}"),
}


@pytest.mark.parametrize("agent", ENABLED)
def test_the_installer_says_that_a_plugin_is_there(agent: str, home: Home) -> None:
    assert not any("plugin" in line for line in find_agent(agent).install_notes(home, Options()))
    name, text = ENABLED[agent]
    path = home.root / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert find_agent(agent).installed_parts(home) == {"plugin": True}
    for options, what in ((Options(), "stand back"), (Options(hooks=False), "by itself, and its tools")):
        assert any(
            "plugin" in line and what in line for line in find_agent(agent).install_notes(home, options)
        )
    install(agent, home)
    assert find_agent(agent).installed_parts(home) == {
        "mcp": True, "hooks": True, "instructions": True, "plugin": True,
    }  # fmt: skip


def test_a_plugin_that_is_switched_off_is_none(home: Home) -> None:
    (home.root / ".claude").mkdir()
    (home.root / ".claude" / "settings.json").write_text('{"enabledPlugins": {"scrubjay@scrubjay": false}}')
    (home.root / ".codex").mkdir()
    (home.root / ".codex" / "config.toml").write_text('[plugins."scrubjay@x"]\nenabled = false\n')
    for agent in ("claude-code", "codex"):
        assert "plugin" not in find_agent(agent).installed_parts(home)


CLIENTS = {
    "claude-code": (
        "AGENT_CLAUDE",
        [["plugin", "marketplace", "add", str(ROOT)], ["plugin", "install", "scrubjay@scrubjay"]],
        ["-p", "hello"],
        {"session-start", "prompt", "session-end"},
    ),
    "codex": (
        "AGENT_CODEX",
        [["plugin", "marketplace", "add", str(ROOT)], ["plugin", "add", "scrubjay@scrubjay"]],
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "hello"],
        {"session-start", "prompt"},
    ),
    "gemini": (
        "AGENT_GEMINI",
        [["extensions", "install", "--consent", str(PLUGINS / "gemini")]],
        ["-p", "hello"],
        {"session-start", "prompt"},
    ),
}


@pytest.mark.parametrize("both", [False, True], ids=["plugin", "plugin-and-installed"])
@pytest.mark.parametrize("agent", CLIENTS)
def test_the_client_itself_runs_each_hook_once(agent: str, both: bool, desk: Desk) -> None:
    """Runs where the variable names the client. It has no account here: hooks come before a model is asked."""
    variable, setup, arguments, events = CLIENTS[agent]
    client = os.environ.get(variable)
    if not client:
        pytest.skip(f"{variable} names no client")
    # Its server ends at once: Gemini CLI waits for one that says nothing.
    desk.put("scrubjay", "exit 2")
    env = {
        "HOME": str(desk.home), "PATH": f"{desk.programs}:{os.environ['PATH']}",
        "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }  # fmt: skip
    for command in setup:
        subprocess.run([client, *command], env=env, cwd=desk.home, check=True, stdout=subprocess.DEVNULL)
    if both:
        install(agent, desk.installer())
    wanted = {f"hook {agent} {event}" for event in events}
    process = subprocess.Popen(
        [client, *arguments],
        cwd=desk.home,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        # Claude Code ends by itself without an account; Codex waits for the network.
        for _ in range(60):
            if process.poll() is not None or wanted <= set(desk.called("scrubjay")):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)
    finally:
        # All of it: what npm installs starts the program itself as a child.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    counted = Counter(desk.called("scrubjay"))
    assert {call: counted[call] for call in wanted} == dict.fromkeys(wanted, 1)
