"""The commands by which agents start scrubjay, and whether they run this version."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scrubjay import __version__
from scrubjay.agents import codex, json_edit, toml_edit, yaml_edit
from scrubjay.agents.base import SERVER_NAME, Agent, Home, Options
from scrubjay.config.paths import HOOK_EVENTS
from scrubjay.doctor.checks import Installation
from scrubjay.models.reports import Check, check_ok, check_problem, check_warning

COMMAND_LINE: Final = re.compile(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class AgentCommands:
    """Commands in one agent's configuration.

    Attributes:
        hooks: Shell command line by event.
        server: Words of the command that starts the MCP server; None where there is none.
        env: Environment that the agent sets for the server.
    """

    hooks: Mapping[str, str] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def read_agent_commands(agent: Agent, home: Home) -> AgentCommands:
    """Read the commands in an agent's files."""
    hooks: dict[str, str] = {}
    server: tuple[str, ...] = ()
    env: dict[str, str] = {}
    pattern = re.compile(rf"(?=.*{SERVER_NAME}).*? hook {re.escape(agent.name)} ([a-z-]+)", re.DOTALL)
    for change in agent.install(home, Options()):
        hooks |= _plugin_file_commands(agent.name, change.path, change.old)
        for name, value in _walk(_parse_config(change.path, change.old)):
            if isinstance(value, str) and (match := pattern.match(value)):
                hooks[match[1]] = value
            elif name == SERVER_NAME and isinstance(value, dict) and not server:
                server, env = _server_command(value)
                hooks |= _plugin_config_commands(agent.name, value)
    return AgentCommands(hooks, server, env)


def _parse_config(path: Path, data: bytes | None) -> Any:
    """The parsed configuration; None for instructions or a program."""
    if data is None:
        return None
    if path.suffix == ".toml":
        return toml_edit.parse_toml(data, path)
    if path.suffix == ".yaml":
        return yaml_edit.parse_yaml(data, path)
    return json_edit.parse_json(data, path) if path.suffix.startswith(".json") else None


def _walk(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)


def _server_command(entry: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The server's command: a string with ``args`` beside it, or a list of words."""
    if isinstance(plugin := entry.get("config"), dict):
        entry = {"command": _as_list(plugin.get("command")), "args": ["mcp"]}
    command = entry.get("command")
    words = [*command] if isinstance(command, list) else [command]
    words += _as_list(entry.get("args"))
    texts = tuple(word for word in words if isinstance(word, str))
    if len(texts) < 2 or len(texts) < len(words):
        return (), {}
    env = entry.get("env") or entry.get("environment") or {}
    return texts, {str(key): str(value) for key, value in dict(env).items()}


def _plugin_file_commands(agent: str, path: Path, data: bytes | None) -> dict[str, str]:
    match = COMMAND_LINE.search((data or b"").decode("utf-8", "replace")) if path.suffix == ".js" else None
    if match is None:
        return {}
    try:
        words = json.loads(match[1])
    except ValueError:
        return {}
    return _hook_commands(agent, words)


def _plugin_config_commands(agent: str, entry: Mapping[str, Any]) -> dict[str, str]:
    plugin = entry.get("config")
    if not isinstance(plugin, dict) or not plugin.get("log"):
        return {}
    words = _as_list(plugin.get("command"))
    return _hook_commands(agent, words) if words else {}


def _hook_commands(agent: str, words: list[Any]) -> dict[str, str]:
    return {event: shlex.join([*map(str, words), "hook", agent, event]) for event in HOOK_EVENTS}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def check_programs(installation: Installation) -> Iterator[Check]:
    """Check the scrubjay programs on the PATH."""
    found: dict[Path, Path] = {}
    for path in programs_on_path(installation.home.env):
        found.setdefault(path.resolve(), path)
    if len(found) > 1:
        listed = ", ".join(
            f"{path} ({program_version([str(path)], installation)})" for path in found.values()
        )
        yield check_warning(
            "program",
            f"several installed: {listed}",
            "keep one, then scrubjay install AGENT for each agent",
        )
    elif not found:
        yield check_ok("program", f"{__version__}; not on the PATH; agents start it by its full path")
    else:
        yield check_ok("program", f"{__version__}, {next(iter(found.values()))}")


def programs_on_path(env: Mapping[str, str]) -> list[Path]:
    """Return every scrubjay on the PATH, the one that a shell runs first."""
    folders = [folder for folder in env.get("PATH", "").split(os.pathsep) if folder]
    paths = (shutil.which(SERVER_NAME, path=folder) for folder in folders)
    return [Path(path) for path in paths if path]


def check_agent_programs(agent: Agent, commands: AgentCommands, installation: Installation) -> Check:
    """Check that the programs in an agent's configuration exist and have this version."""
    name = f"{agent.name} program"
    fix = f"scrubjay install {agent.name}"
    for words in sorted(set(_program_words(commands))):
        path = Path(words[0])
        if not (os.access(path, os.X_OK) if path.is_absolute() else shutil.which(words[0])):
            return check_problem(name, f"it starts {words[0]}, which does not exist", fix)
        version = program_version(words, installation)
        if version != __version__:
            return check_problem(name, f"it starts {words[0]}, version {version}; this is {__version__}", fix)
    return check_ok(name, f"it starts {next(_program_words(commands))[0]}, this version")


def check_trust(agent: Agent, installation: Installation) -> Iterator[Check]:
    """Check that the person lets Codex run the hooks; other agents keep no such list."""
    hooks = codex.listed_hooks(installation.home) if agent.name == codex.AGENT.name else []
    if not hooks:
        return
    name = f"{agent.name} trust"
    states = {state: [hook.event for hook in hooks if hook.state == state] for state in UNTRUSTED}
    untrusted = [f"{UNTRUSTED[state]}: {', '.join(events)}" for state, events in states.items() if events]
    if not untrusted:
        yield check_ok(name, f"Codex is allowed to run all {len(hooks)} hooks")
        return
    runs = len(hooks) - sum(map(len, states.values()))
    summary = f"Codex runs {runs or 'none'} of its {len(hooks)} hooks; {'; '.join(untrusted)}"
    yield check_warning(name, summary, "open /hooks in Codex and trust the hooks of scrubjay")


UNTRUSTED: Final = {
    "untrusted": "not trusted",
    "changed": "changed since they were trusted",
    "off": "switched off",
}
"""State of a hook that Codex does not run, and its name for a person."""


def _program_words(commands: AgentCommands) -> Iterator[tuple[str, ...]]:
    if commands.server:
        at = commands.server.index("mcp") if "mcp" in commands.server else 1
        yield commands.server[:at]
    for command in commands.hooks.values():
        words = shlex.split(command)
        yield tuple(words[: words.index("hook")])


def program_version(words: Iterable[str], installation: Installation) -> str:
    """Return the version that a program reports, or why it reports none."""
    command = [*words, "--version"]
    try:
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=installation.seconds,
            env=dict(installation.home.env),
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return f"silent for {installation.seconds:g} seconds"
    except OSError as error:
        return f"unable to start ({error.strerror})"
    name, _, version = run.stdout.strip().partition(" ")
    return version if run.returncode == 0 and name == SERVER_NAME and version else "not a working scrubjay"
