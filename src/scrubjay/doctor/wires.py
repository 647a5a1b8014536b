"""Wires: an agent's configuration as it lies there -> the commands in it by which the agent reaches scrubjay."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scrubjay.agents import edit_json
from scrubjay.agents.agent import NAME, Agent, Home, Options
from scrubjay.errors import InputError

EVENTS: Final = ("session-start", "prompt", "stop", "pre-compact", "session-end", "heartbeat")
"""At which a plugin calls."""
COMMAND: Final = re.compile(r"^const COMMAND = (\[.*\]);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Wires:
    """How one agent reaches scrubjay.

    Attributes:
        hooks: Event, as scrubjay calls it, to the shell's command line.
        server: The words of the command that starts the MCP server; none where there is none.
        env: What the agent puts into the server's environment.
    """

    hooks: Mapping[str, str] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def wires(agent: Agent, home: Home) -> Wires:
    """Read an agent's files and return the commands in them.

    Raises:
        InputError: A file is broken or cannot be read; the message names it.
    """
    hooks: dict[str, str] = {}
    server: tuple[str, ...] = ()
    env: dict[str, str] = {}
    ours = re.compile(rf"(?=.*{NAME}).*? hook {re.escape(agent.name)} ([a-z-]+)", re.DOTALL)
    for change in agent.install(home, Options()):
        hooks |= _in_program(agent.name, change.path, change.old)
        for name, value in _walk(_parsed(change.path, change.old)):
            if isinstance(value, str) and (found := ours.match(value)):
                hooks[found[1]] = value
            elif name == NAME and isinstance(value, dict) and not server:
                server, env = _server(value)
                hooks |= _plugin(agent.name, value)
    return Wires(hooks, server, env)


def _parsed(path: Path, data: bytes | None) -> Any:
    """A configuration's value; None of a file that is instructions or a program."""
    if data is None:
        return None
    if path.suffix == ".toml":
        try:
            return tomllib.loads(data.decode("utf-8-sig"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{path} is broken: {error}. Nothing was changed.") from error
    return edit_json.parse(data, path) if path.suffix.startswith(".json") else None


def _walk(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)


def _server(entry: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The command of a server's entry: a text with ``args`` beside it, or a list of words."""
    if isinstance(plugin := entry.get("config"), dict):
        entry = {"command": _list(plugin.get("command")), "args": ["mcp"]}
    command = entry.get("command")
    words = [*command] if isinstance(command, list) else [command]
    words += _list(entry.get("args"))
    known = tuple(word for word in words if isinstance(word, str))
    if len(known) < 2 or len(known) < len(words):
        return (), {}
    given = entry.get("env") or entry.get("environment") or {}
    return known, {str(key): str(value) for key, value in dict(given).items()}


def _in_program(agent: str, path: Path, data: bytes | None) -> dict[str, str]:
    """What a plugin of ours calls whose command stands in the plugin itself."""
    found = COMMAND.search((data or b"").decode("utf-8", "replace")) if path.suffix == ".js" else None
    if found is None:
        return {}
    try:
        words = json.loads(found[1])
    except ValueError:
        return {}
    return {event: shlex.join([*map(str, words), "hook", agent, event]) for event in EVENTS}


def _plugin(agent: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """What a plugin of ours calls at the agent's events, as its configuration says."""
    plugin = entry.get("config")
    if not isinstance(plugin, dict) or not plugin.get("log"):
        return {}
    words = _list(plugin.get("command"))
    return {event: shlex.join([*map(str, words), "hook", agent, event]) for event in EVENTS} if words else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
