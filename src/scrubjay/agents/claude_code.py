"""Claude Code: MCP in ``.claude.json``, hooks in ``settings.json``, a skill, and a block in ``CLAUDE.md``.

Formats as published at code.claude.com/docs (pages settings, mcp, hooks, skills, memory) and as Claude Code 2.1.197
reads them: servers for all projects in ``mcpServers`` of ``~/.claude.json``, of one project in its ``.mcp.json``; hooks
in ``~/.claude/settings.json``, for one person in one project in its ``.claude/settings.local.json``, timeouts in
seconds; with CLAUDE_CONFIG_DIR set all of a person's files lie in that folder. Files are plain
JSON: with a comment in it, ``settings.json`` is ignored and ``.claude.json`` is set aside as damaged.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scrubjay.agents import base, json_edit
from scrubjay.agents.base import (
    PRIVATE_MODE,
    SERVER_NAME,
    SHARED_MODE,
    Change,
    Home,
    Hook,
    Options,
    edit_file,
    read_file,
)

SERVER_PATH: Final = ("mcpServers", SERVER_NAME)
HOOKS: Final = (
    Hook("SessionStart", "session-start", 5, "startup|resume|clear|compact"),
    Hook("UserPromptSubmit", "prompt", 5),
    Hook("Stop", "stop", 5),
    Hook("PreCompact", "pre-compact", 5),
    Hook("SessionEnd", "session-end", 5),
)
"""Seconds are a last resort: scrubjay's own budget is far shorter."""


class ClaudeCode:
    """Installer for Claude Code."""

    name = "claude-code"
    title = "Claude Code"

    def found(self, home: Home) -> bool:
        return base.on_this_machine(_folder(home), "claude", home)

    def install(self, home: Home, options: Options) -> list[Change]:
        places = _places(home, options)
        entry = {"type": "stdio", "command": home.command[0], "args": [*home.command[1:], "mcp"]}
        hooks = HOOKS if options.hooks else ()
        mode = SHARED_MODE if options.project else PRIVATE_MODE
        changes = [
            edit_file(
                places["mcp"],
                lambda data: json_edit.put_members(data, SERVER_PATH, entry, places["mcp"]),
                mode=mode,
            ),
            edit_file(
                places["hooks"],
                lambda data: base.put_hooks(data, self.name, hooks, home, places["hooks"]),
                mode=mode,
            ),
            edit_file(places["skill"], lambda _: base.skill().encode("utf-8")),
        ]
        if "block" in places:
            changes.append(edit_file(places["block"], lambda data: base.put_block(data, base.instructions())))
        return changes

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        places = _places(home, options)
        changes = [
            edit_file(places["mcp"], lambda data: json_edit.remove_value(data, SERVER_PATH, places["mcp"])),
            edit_file(places["hooks"], lambda data: base.remove_hooks(data, self.name, places["hooks"])),
            # Somebody who has rewritten the skill keeps it.
            edit_file(places["skill"], lambda data: None if data == base.skill().encode("utf-8") else data),
        ]
        if "block" in places:
            changes.append(edit_file(places["block"], base.remove_block))
        return changes

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        besides = base.plugin_warning(self.title, _has_plugin(home), options.hooks)
        if not options.hooks:
            return (
                base.captures_nothing(self.title),
                *besides,
            )
        return (
            *base.captures_transcripts(self.title, _folder(home) / "projects"),
            *base.plain_json_warning(_places(home, options)["hooks"], self.title),
            *besides,
        )

    def installed(self, home: Home) -> dict[str, bool]:
        places = _places(home, Options())
        parts = {
            "mcp": json_edit.get_value(read_file(places["mcp"]), SERVER_PATH, places["mcp"]) is not None,
            "hooks": base.has_hooks(read_file(places["hooks"]), self.name, HOOKS, places["hooks"]),
            "instructions": read_file(places["skill"]) is not None
            and base.has_block(read_file(places["block"])),
        }
        return base.with_plugin(parts, _has_plugin(home))


def _folder(home: Home) -> Path:
    return home.folder("CLAUDE_CONFIG_DIR", ".claude")


def _has_plugin(home: Home) -> bool:
    settings = _folder(home) / "settings.json"
    enabled = json_edit.get_value(read_file(settings), ("enabledPlugins",), settings)
    return isinstance(enabled, dict) and any(
        base.is_plugin(name) and on is True for name, on in enabled.items()
    )


def _places(home: Home, options: Options) -> dict[str, Path]:
    if options.project:
        own = options.project / ".claude"
        return {
            "mcp": options.project / ".mcp.json",
            "hooks": own / "settings.local.json",
            "skill": own / "skills" / SERVER_NAME / "SKILL.md",
        }
    folder = _folder(home)
    return {
        "mcp": home.folder("CLAUDE_CONFIG_DIR") / ".claude.json",
        "hooks": folder / "settings.json",
        "skill": folder / "skills" / SERVER_NAME / "SKILL.md",
        "block": folder / "CLAUDE.md",
    }


AGENT: Final = ClaudeCode()
