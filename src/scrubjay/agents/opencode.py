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
from typing import Final

from scrubjay.agents import base, json_edit
from scrubjay.agents.base import SERVER_NAME, Agent, Home, Options, Part

SERVER_PATH: Final = ("mcp", SERVER_NAME)
INSTRUCTIONS_PATH: Final = ("instructions",)
CONFIG_NAMES: Final = ("opencode.jsonc", "opencode.json")
PLUGIN_FILE: Final = "scrubjay.js"
COMMAND_LINE: Final = 'const COMMAND = ["scrubjay"];'
"""The line of the plugin that is written for this machine."""


class OpenCode(Agent):
    name = "opencode"
    title = "OpenCode"
    program = "opencode"
    merges_hooks = True

    def folder(self, home: Home) -> Path:
        return home.folder("XDG_CONFIG_HOME", ".config") / "opencode"

    def parts(self, home: Home, options: Options) -> list[Part]:
        folder = options.project / ".opencode" if options.project else self.folder(home)
        candidates = [(options.project or folder) / name for name in CONFIG_NAMES]
        config = next((path for path in candidates if path.is_file()), candidates[-1])
        plugins = next(
            (path for path in (folder / "plugins", folder / "plugin") if path.is_dir()), folder / "plugins"
        )
        instructions = folder / SERVER_NAME / "instructions.md"
        entry = {"type": "local", "command": [*home.command, "mcp"]}
        return [
            base.server_part(config, SERVER_PATH, entry, options.mode),
            Part(
                "instructions",
                config,
                put=lambda data: json_edit.put_item(
                    data, INSTRUCTIONS_PATH, str(instructions), _is_ours, config
                ),
                remove=lambda data: json_edit.remove_items(data, INSTRUCTIONS_PATH, _is_ours, config),
                exists=lambda data: any(map(_is_ours, json_edit.get_list(data, INSTRUCTIONS_PATH, config))),
            ),
            base.text_part(instructions, f"{base.instructions()}\n"),
            base.file_part("hooks", plugins / PLUGIN_FILE, _plugin_source(home)),
        ]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        data = home.folder("XDG_DATA_HOME", ".local", "share") / "opencode"
        return (
            f"Your sessions with {self.title}: both sides are captured from its database ({data}) after "
            "each answer and before compaction.",
            "When a session starts, and before it answers you, relevant memories are added to your prompt; a "
            "note on the screen says so each time.",
        )


def _plugin_source(home: Home) -> bytes:
    shipped = base.plugin_files("opencode")[PLUGIN_FILE].decode("utf-8")
    command = f"const COMMAND = {json.dumps(home.command, ensure_ascii=False)};"
    return shipped.replace(COMMAND_LINE, command, 1).encode("utf-8")


def _is_ours(path: object) -> bool:
    return isinstance(path, str) and path.endswith(f"/{SERVER_NAME}/instructions.md")


AGENT: Final = OpenCode()
