"""OpenClaw: a plugin in its memory slot that replaces its own memory tools.

Formats as in the docs of the package openclaw 2026.9.6 (plugins/manifest, plugins/hooks, plugins/sdk-overview/
memory-and-context, tools/plugin, gateway/configuration) and as that version reads them: JSON5 in
``~/.openclaw/openclaw.json``, or where OPENCLAW_CONFIG_PATH, OPENCLAW_STATE_DIR or OPENCLAW_HOME lead. One plugin of
``kind: "memory"`` holds ``plugins.slots.memory``; the previous holder is disabled, as OpenClaw's own
``plugins install`` does, so that no tool exists twice. An external plugin sees conversations only with
``hooks.allowConversationAccess``.

The plugin is copied beside the configuration: a path into a deleted environment would make every OpenClaw command
warn. The previous holder of the slot is recorded in the plugin's own configuration, for an uninstall after somebody
edited the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from scrubjay.agents import base, json_edit
from scrubjay.agents.base import PRIVATE_MODE, SERVER_NAME, Agent, Home, Options, Part, read_if_exists
from scrubjay.errors import InputError

ENTRY_PATH: Final = ("plugins", "entries", SERVER_NAME)
PLUGIN_PATHS: Final = ("plugins", "load", "paths")
SLOT_PATH: Final = ("plugins", "slots", "memory")
ALLOW_PATH: Final = ("plugins", "allow")
BUILTIN_MEMORY: Final = "memory-core"
"""OpenClaw's own memory. Out of the slot it would still offer its tools, by the same names."""
TOOL_PROFILES: Final = ("coding",)
"""OpenClaw's tool profiles that include the tools by default; its own memory tools are in this one."""


class OpenClaw(Agent):
    """OpenClaw; it refuses a project, and a configuration that forbids the plugin."""

    name = "openclaw"
    title = "OpenClaw"
    program = "openclaw"

    def folder(self, home: Home) -> Path:
        return _state_folder(home)

    def parts(self, home: Home, options: Options) -> list[Part]:
        if options.project:
            raise InputError(
                "OpenClaw has one configuration for all its agents and none for a project. Nothing was changed.",
                hint="leave --project out",
            )
        config, folder = _config_file(home), _plugin_folder(home)
        shipped = {**base.plugin_files(self.name), **_plugin_files()}
        return [
            Part(
                "mcp",
                config,
                put=lambda data: _put_plugin(data, config, folder, home, options),
                remove=lambda data: _remove_plugin(data, config, folder),
                mode=PRIVATE_MODE,
            ),
            *(base.file_part("mcp", folder / name, content) for name, content in shipped.items()),
        ]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        return (
            f"Your own conversations with {self.title}, not those of groups, timers and sub-agents: both sides are "
            f"written to {_log_folder(home)} after each answer and captured from there.",
            "When a session starts, and before it answers you, relevant memories are added to its context; a "
            "line in the Gateway's log says so each time.",
        )

    def warnings(self, home: Home, options: Options) -> tuple[str, ...]:
        return (
            "Its own memory_search and memory_get give way to scrubjay's; what they searched is found again after "
            f"`scrubjay sync {_state_folder(home) / 'workspace'}`.",
        )

    def installed_parts(self, home: Home) -> dict[str, bool]:
        config, folder = _config_file(home), _plugin_folder(home)
        data = read_if_exists(config)
        configured = (
            json_edit.get_value(data, SLOT_PATH, config) == SERVER_NAME
            and read_if_exists(folder / "index.js") is not None
        )
        return {
            "mcp": configured,
            "hooks": configured
            and json_edit.get_value(data, (*ENTRY_PATH, "config", "log"), config) is not None,
            "instructions": configured,
        }


def _put_plugin(data: bytes | None, where: Path, folder: Path, home: Home, options: Options) -> bytes | None:
    _check_allowed(data, where)
    replaced = _replaced_plugins(data, where)
    data = json_edit.put_item(data, PLUGIN_PATHS, str(folder), lambda path: _is_ours(path, folder), where)
    data = json_edit.put_value(data, SLOT_PATH, SERVER_NAME, where)
    for name in replaced["enabled"]:
        data = json_edit.put_value(data, _enabled_path(name), False, where)
    data = json_edit.put_members(data, ENTRY_PATH, {"enabled": True}, where)
    access = (*ENTRY_PATH, "hooks", "allowConversationAccess")
    data = _set_or_remove(data, access, True if options.hooks else None, where)
    config = {"command": list(home.command), "replaces": replaced}
    if options.hooks:
        config["log"] = str(_log_folder(home))
    data = json_edit.put_members(data, (*ENTRY_PATH, "config"), config, where)
    if not options.hooks:
        data = json_edit.remove_value(data, (*ENTRY_PATH, "config", "log"), where)
    if json_edit.get_value(data, ALLOW_PATH, where) is not None:
        data = json_edit.put_item(data, ALLOW_PATH, SERVER_NAME, lambda name: name == SERVER_NAME, where)
    return data


def _remove_plugin(data: bytes | None, where: Path, folder: Path) -> bytes | None:
    if json_edit.get_value(data, SLOT_PATH, where) == SERVER_NAME:
        replaced = _replaced_plugins(data, where)
        data = _set_or_remove(data, SLOT_PATH, replaced.get("slot") or None, where)
        for name, previous in replaced["enabled"].items():
            data = _set_or_remove(data, _enabled_path(name), previous, where)
    data = json_edit.remove_value(data, ENTRY_PATH, where)
    data = json_edit.remove_items(data, PLUGIN_PATHS, lambda path: _is_ours(path, folder), where)
    return json_edit.remove_items(data, ALLOW_PATH, lambda name: name == SERVER_NAME, where)


def _set_or_remove(data: bytes | None, keys: tuple[str, ...], value: Any, where: Path) -> bytes | None:
    if value is None:
        return json_edit.remove_value(data, keys, where)
    return json_edit.put_value(data, keys, value, where)


def _replaced_plugins(data: bytes | None, where: Path) -> dict[str, Any]:
    """The previous slot holder, and the ``enabled`` values of the plugins disabled for scrubjay (null for unset)."""
    slot = json_edit.get_value(data, SLOT_PATH, where)
    if slot == SERVER_NAME:
        saved = json_edit.get_value(data, (*ENTRY_PATH, "config", "replaces"), where)
        return (
            saved if isinstance(saved, dict) and isinstance(saved.get("enabled"), dict) else {"enabled": {}}
        )
    names = [
        name for name in dict.fromkeys((BUILTIN_MEMORY, slot)) if isinstance(name, str) and name != "none"
    ]
    previous = {name: json_edit.get_value(data, _enabled_path(name), where) for name in names}
    enabled = {name: value for name, value in previous.items() if value is not False}
    return {**({"slot": slot} if isinstance(slot, str) else {}), "enabled": enabled}


def _enabled_path(name: str) -> tuple[str, ...]:
    return ("plugins", "entries", name, "enabled")


def _check_allowed(data: bytes | None, where: Path) -> None:
    """Raise `InputError` where the person's configuration disables plugins, or denies or disables this one."""
    for reason, refused in (
        ("plugins.enabled is false", json_edit.get_value(data, ("plugins", "enabled"), where) is False),
        (
            f"plugins.deny names {SERVER_NAME}",
            SERVER_NAME in json_edit.get_list(data, ("plugins", "deny"), where),
        ),
        (
            f"plugins.entries.{SERVER_NAME}.enabled is false",
            json_edit.get_value(data, (*ENTRY_PATH, "enabled"), where) is False,
        ),
    ):
        if refused:
            raise InputError(
                f"{where}: {reason}, so OpenClaw would not load it. Nothing was changed.",
                hint="change that first if you want scrubjay in OpenClaw",
            )


def _is_ours(path: Any, folder: Path) -> bool:
    return isinstance(path, str) and (path == str(folder) or path.endswith(f"/{SERVER_NAME}/plugin"))


def _plugin_files() -> dict[str, bytes]:
    from importlib.metadata import version

    from scrubjay.api.tools import TOOLS

    files = base.plugin_files("openclaw")
    manifest = json.loads(files["openclaw.plugin.json"])
    manifest["contracts"] = {"tools": [tool.name for tool in TOOLS]}
    manifest["toolMetadata"] = {
        tool.name: {"profiles": list(TOOL_PROFILES), "sideEffecting" if tool.writes else "replaySafe": True}
        for tool in TOOLS
    }
    verbs = {
        "instructions": base.instructions().splitlines(),
        "tools": [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in TOOLS
        ],
    }
    package = json.loads(files["package.json"]) | {"version": version(SERVER_NAME)}
    return {
        "openclaw.plugin.json": _encode_json(manifest),
        "package.json": _encode_json(package),
        "verbs.json": _encode_json(verbs),
    }


def _encode_json(value: Any) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode()


def _state_folder(home: Home) -> Path:
    if home.env.get("OPENCLAW_STATE_DIR"):
        return home.folder("OPENCLAW_STATE_DIR")
    return home.folder("OPENCLAW_HOME") / ".openclaw"


def _config_file(home: Home) -> Path:
    is_named = bool(home.env.get("OPENCLAW_CONFIG_PATH", "").strip())
    return home.folder("OPENCLAW_CONFIG_PATH") if is_named else _state_folder(home) / "openclaw.json"


def _plugin_folder(home: Home) -> Path:
    return _state_folder(home) / SERVER_NAME / "plugin"


def _log_folder(home: Home) -> Path:
    return home.data / "agents" / "openclaw" / "agents"


AGENT: Final = OpenClaw()
