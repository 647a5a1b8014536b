"""OpenCode: MCP and instructions in ``opencode.json``, a plugin that forwards a session's events.

Formats as published at opencode.ai/docs (config, mcp-servers, plugins, rules) and as opencode-ai 1.18.33 reads them:
JSON with comments in ``~/.config/opencode`` (XDG_CONFIG_HOME), ``opencode.jsonc`` before ``opencode.json``; servers in
``mcp.NAME``; ``instructions`` names files that every prompt carries; each ``.js`` in ``plugins`` (or ``plugin``) is
loaded. In a project ``opencode.json`` beside its files and the rest in its ``.opencode``.

The instructions are a file of their own: an ``AGENTS.md`` that is new would keep OpenCode from reading
``~/.claude/CLAUDE.md``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from scrubjay.agents import base, json_edit
from scrubjay.agents.base import (
    PRIVATE_MODE,
    SERVER_NAME,
    SHARED_MODE,
    Change,
    Home,
    Options,
    edit_file,
    read_file,
)

SERVER_PATH: Final = ("mcp", SERVER_NAME)
INSTRUCTIONS_PATH: Final = ("instructions",)
CONFIG_NAMES: Final = ("opencode.jsonc", "opencode.json")
PLUGIN_FILE: Final = "scrubjay.js"
COMMAND_LINE: Final = 'const COMMAND = ["scrubjay"];'
"""The line of the plugin that is written for this machine."""


class Places(NamedTuple):
    config: Path
    plugin: Path
    instructions: Path


class OpenCode:
    """Installer for OpenCode."""

    name = "opencode"
    title = "OpenCode"

    def found(self, home: Home) -> bool:
        return base.on_this_machine(_folder(home), "opencode", home)

    def install(self, home: Home, options: Options) -> list[Change]:
        config, plugin, instructions = _places(home, options)
        # OpenCode runs the plugins of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        code = _plugin(home) if options.hooks and not twice else None

        def put(data: bytes | None) -> bytes | None:
            entry = {"type": "local", "command": [*home.command, "mcp"]}
            data = json_edit.put_members(data, SERVER_PATH, entry, config)
            return json_edit.put_item(data, INSTRUCTIONS_PATH, str(instructions), _is_ours, config)

        return [
            edit_file(config, put, mode=SHARED_MODE if options.project else PRIVATE_MODE),
            edit_file(instructions, lambda _: f"{base.instructions()}\n".encode()),
            edit_file(plugin, lambda _: code),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        config, plugin, instructions = _places(home, options)

        def cut(data: bytes | None) -> bytes | None:
            data = json_edit.remove_value(data, SERVER_PATH, config)
            return json_edit.remove_items(data, INSTRUCTIONS_PATH, _is_ours, config)

        return [
            edit_file(config, cut),
            edit_file(instructions, lambda _: None),
            edit_file(plugin, lambda _: None),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        if not options.hooks:
            return (base.captures_nothing(self.title),)
        data = home.folder("XDG_DATA_HOME", ".local", "share") / "opencode"
        return (
            f"Your sessions with {self.title}: both sides are captured from its database ({data}) after "
            "each answer and before it compacts.",
            "When a session starts, and before it answers you, memories that fit are put beside your prompt, each "
            "time with a note on the screen that says so.",
        )

    def installed(self, home: Home) -> dict[str, bool]:
        config, plugin, instructions = _places(home, Options())
        data = read_file(config)
        named = json_edit.get_value(data, INSTRUCTIONS_PATH, config)
        return {
            "mcp": json_edit.get_value(data, SERVER_PATH, config) is not None,
            "hooks": read_file(plugin) is not None,
            "instructions": isinstance(named, list)
            and any(map(_is_ours, named))
            and read_file(instructions) is not None,
        }


def _plugin(home: Home) -> bytes:
    shipped = base.plugin_files("opencode")[PLUGIN_FILE].decode("utf-8")
    command = f"const COMMAND = {json.dumps(home.command, ensure_ascii=False)};"
    return shipped.replace(COMMAND_LINE, command, 1).encode("utf-8")


def _is_ours(path: object) -> bool:
    return isinstance(path, str) and path.endswith(f"/{SERVER_NAME}/instructions.md")


def _folder(home: Home) -> Path:
    return home.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _places(home: Home, options: Options) -> Places:
    folder = options.project / ".opencode" if options.project else _folder(home)
    below = options.project or folder
    config = next(
        (below / name for name in CONFIG_NAMES if (below / name).is_file()), below / CONFIG_NAMES[-1]
    )
    own = next(
        (each for each in (folder / "plugins", folder / "plugin") if each.is_dir()), folder / "plugins"
    )
    return Places(config, own / PLUGIN_FILE, folder / SERVER_NAME / "instructions.md")


AGENT: Final = OpenCode()
