"""OpenClaw: a plugin in its memory slot, so that `memory_search` and `memory_get` are scrubjay's and no longer its own.

Formats as in the docs of the package openclaw 2026.9.6 (plugins/manifest, plugins/hooks, plugins/sdk-overview/
memory-and-context, tools/plugin, gateway/configuration) and as that version reads them: JSON5 in
``~/.openclaw/openclaw.json``, or where OPENCLAW_CONFIG_PATH, OPENCLAW_STATE_DIR or OPENCLAW_HOME lead. One plugin of
``kind: "memory"`` holds ``plugins.slots.memory``; the one that held it is disabled, as OpenClaw's own
``plugins install`` does, so that no tool is there twice. A plugin from outside may see conversations only with
``hooks.allowConversationAccess``.

The plugin is copied beside the configuration: a path into an environment that is gone would cost every command of
OpenClaw a warning, a copy only says that scrubjay does not start. Who was in the slot before stands in the plugin's
own configuration, for the day on which scrubjay goes and the file is not as it was left.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

from scrubjay.agents import edit_json, plugins, texts
from scrubjay.agents.agent import NAME, SECRET_MODE, Change, Home, Options, edited, read
from scrubjay.errors import InputError

ENTRY: Final = ("plugins", "entries", NAME)
PATHS: Final = ("plugins", "load", "paths")
SLOT: Final = ("plugins", "slots", "memory")
ALLOW: Final = ("plugins", "allow")
OWN: Final = "memory-core"
"""OpenClaw's own memory. Out of the slot it would still offer its tools, by the same names."""
PROFILES: Final = ("coding",)
"""OpenClaw's tool profiles that have the tools without further ado; its own memory tools are in this one."""


class OpenClaw:
    """Installer for OpenClaw."""

    name = "openclaw"
    title = "OpenClaw"

    def found(self, home: Home) -> bool:
        """Return whether its folder or its program is there."""
        return _state(home).is_dir() or bool(shutil.which("openclaw", path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return its files with scrubjay in them.

        Raises:
            InputError: A project was named, the configuration is broken, or it forbids plugins or this one.
        """
        _only_a_person(options)
        config, folder = _config(home), _folder(home)
        shipped = {**plugins.files(self.name), **_written()}
        return [
            edited(config, lambda data: _put(data, config, folder, home, options), mode=SECRET_MODE),
            *(
                edited(folder / name, lambda _, content=content: content)  # type: ignore[misc]
                for name, content in shipped.items()
            ),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return its files without scrubjay.

        Raises:
            InputError: A project was named, or the configuration is broken.
        """
        _only_a_person(options)
        config, folder = _config(home), _folder(home)
        names = (*plugins.files(self.name), *_written())
        return [
            edited(config, lambda data: _cut(data, config, folder)),
            *(edited(folder / name, lambda _: None) for name in dict.fromkeys(names)),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return what will be read and kept."""
        replaced = (
            "Its own memory_search and memory_get give way to scrubjay's; what they searched is found again after "
            f"`scrubjay sync {_state(home) / 'workspace'}`."
        )
        if not options.hooks:
            return (
                f"Nothing by itself: {self.title} can search, add and forget memories when it decides to.",
                replaced,
            )
        return (
            f"Your own talks with {self.title}, not those of groups, timers and sub-agents: what you and it say is "
            f"written to {_log(home)} after each answer and taken in from there.",
            "When a session starts, and before it answers you, memories that fit are put into its context, each "
            "time with a line in the Gateway's log.",
            replaced,
        )

    def installed(self, home: Home) -> dict[str, bool]:
        """Return which of its parts are in place; the tools and the instructions are the plugin's."""
        config, folder = _config(home), _folder(home)
        data = read(config)
        ours = edit_json.get(data, SLOT, config) == NAME and read(folder / "index.js") is not None
        return {
            "mcp": ours,
            "hooks": ours and edit_json.get(data, (*ENTRY, "config", "log"), config) is not None,
            "instructions": ours,
        }


def _put(data: bytes | None, where: Path, folder: Path, home: Home, options: Options) -> bytes | None:
    _must_be_allowed(data, where)
    replaced = _replaced(data, where)
    data = edit_json.put_item(data, PATHS, str(folder), lambda path: _is_ours(path, folder), where)
    data = edit_json.put(data, SLOT, NAME, where)
    for name in replaced["enabled"]:
        data = edit_json.put(data, _enabled(name), False, where)
    data = edit_json.put_members(data, ENTRY, {"enabled": True}, where)
    access = (*ENTRY, "hooks", "allowConversationAccess")
    data = edit_json.put(data, access, True, where) if options.hooks else edit_json.cut(data, access, where)
    own = {"command": list(home.command), "replaces": replaced}
    if options.hooks:
        own["log"] = str(_log(home))
    data = edit_json.put_members(data, (*ENTRY, "config"), own, where)
    if not options.hooks:
        data = edit_json.cut(data, (*ENTRY, "config", "log"), where)
    if edit_json.get(data, ALLOW, where) is not None:
        data = edit_json.put_item(data, ALLOW, NAME, lambda name: name == NAME, where)
    return data


def _cut(data: bytes | None, where: Path, folder: Path) -> bytes | None:
    if edit_json.get(data, SLOT, where) == NAME:
        replaced = _replaced(data, where)
        before = replaced.get("slot")
        data = edit_json.put(data, SLOT, before, where) if before else edit_json.cut(data, SLOT, where)
        for name, was in replaced["enabled"].items():
            keys = _enabled(name)
            data = edit_json.cut(data, keys, where) if was is None else edit_json.put(data, keys, was, where)
    data = edit_json.cut(data, ENTRY, where)
    data = edit_json.cut_items(data, PATHS, lambda path: _is_ours(path, folder), where)
    return edit_json.cut_items(data, ALLOW, lambda name: name == NAME, where)


def _replaced(data: bytes | None, where: Path) -> dict[str, Any]:
    """Who was in the slot, and what the plugins disabled for scrubjay had for ``enabled``: null for nothing."""
    slot = edit_json.get(data, SLOT, where)
    if slot == NAME:
        known = edit_json.get(data, (*ENTRY, "config", "replaces"), where)
        return (
            known if isinstance(known, dict) and isinstance(known.get("enabled"), dict) else {"enabled": {}}
        )
    names = [name for name in dict.fromkeys((OWN, slot)) if isinstance(name, str) and name != "none"]
    was = {name: edit_json.get(data, _enabled(name), where) for name in names}
    enabled = {name: value for name, value in was.items() if value is not False}
    return {**({"slot": slot} if isinstance(slot, str) else {}), "enabled": enabled}


def _enabled(name: str) -> tuple[str, ...]:
    return ("plugins", "entries", name, "enabled")


def _must_be_allowed(data: bytes | None, where: Path) -> None:
    """Raise where what a person has written forbids what is asked for.

    Raises:
        InputError: Plugins are off, or this one is denied or disabled.
    """
    denied = edit_json.get(data, ("plugins", "deny"), where)
    for reason, holds in (
        ("plugins.enabled is false", edit_json.get(data, ("plugins", "enabled"), where) is False),
        (f"plugins.deny names {NAME}", isinstance(denied, list) and NAME in denied),
        (
            f"plugins.entries.{NAME}.enabled is false",
            edit_json.get(data, (*ENTRY, "enabled"), where) is False,
        ),
    ):
        if holds:
            raise InputError(
                f"{where}: {reason}, so OpenClaw would not load it. Nothing was changed.",
                hint="change that first if you want scrubjay in OpenClaw",
            )


def _is_ours(path: Any, folder: Path) -> bool:
    return isinstance(path, str) and (path == str(folder) or path.endswith(f"/{NAME}/plugin"))


def _written() -> dict[str, bytes]:
    """What is written of the plugin for the tools that this scrubjay has."""
    from importlib.metadata import version

    from scrubjay.verbs.tools import TOOLS

    shipped = plugins.files("openclaw")
    manifest = json.loads(shipped["openclaw.plugin.json"])
    manifest["contracts"] = {"tools": [tool.name for tool in TOOLS]}
    manifest["toolMetadata"] = {
        tool.name: {"profiles": list(PROFILES), "sideEffecting" if tool.writes else "replaySafe": True}
        for tool in TOOLS
    }
    verbs = {
        "instructions": texts.block().splitlines(),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in TOOLS
        ],
    }
    package = json.loads(shipped["package.json"]) | {"version": version(NAME)}
    return {
        "openclaw.plugin.json": _json(manifest),
        "package.json": _json(package),
        "verbs.json": _json(verbs),
    }


def _json(value: Any) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode()


def _only_a_person(options: Options) -> None:
    if options.project:
        raise InputError(
            "OpenClaw has one configuration for all its agents and none for a project. Nothing was changed.",
            hint="leave --project out",
        )


def _state(home: Home) -> Path:
    return home.folder("OPENCLAW_STATE_DIR") if home.env.get("OPENCLAW_STATE_DIR") else _default(home)


def _default(home: Home) -> Path:
    return home.folder("OPENCLAW_HOME") / ".openclaw"


def _config(home: Home) -> Path:
    named = bool(home.env.get("OPENCLAW_CONFIG_PATH", "").strip())
    return home.folder("OPENCLAW_CONFIG_PATH") if named else _state(home) / "openclaw.json"


def _folder(home: Home) -> Path:
    return _state(home) / NAME / "plugin"


def _log(home: Home) -> Path:
    return home.data / "agents" / "openclaw" / "agents"


AGENT: Final = OpenClaw()
