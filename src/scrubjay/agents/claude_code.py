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
from scrubjay.agents.base import SERVER_NAME, Agent, Home, Hook, Options, Part, read_if_exists

SERVER_PATH: Final = ("mcpServers", SERVER_NAME)
HOOKS: Final = (
    Hook("SessionStart", "session-start", 5, "startup|resume|clear|compact"),
    Hook("UserPromptSubmit", "prompt", 5),
    Hook("Stop", "stop", 5),
    Hook("PreCompact", "pre-compact", 5),
    Hook("SessionEnd", "session-end", 5),
)
"""Seconds are a last resort: scrubjay's own budget is far shorter."""


class ClaudeCode(Agent):
    name = "claude-code"
    title = "Claude Code"
    program = "claude"
    plain_hooks = True

    def folder(self, home: Home) -> Path:
        return home.folder("CLAUDE_CONFIG_DIR", ".claude")

    def parts(self, home: Home, options: Options) -> list[Part]:
        entry = {"type": "stdio", **home.server}
        folder = options.project / ".claude" if options.project else self.folder(home)
        if options.project:
            servers, hooks = options.project / ".mcp.json", folder / "settings.local.json"
        else:
            servers, hooks = home.folder("CLAUDE_CONFIG_DIR") / ".claude.json", folder / "settings.json"
        parts = [
            base.server_part(servers, SERVER_PATH, entry, options.mode),
            base.hooks_part(self, hooks, HOOKS, home, options.mode),
            base.text_part(folder / "skills" / SERVER_NAME / "SKILL.md", base.skill()),
        ]
        return parts if options.project else [*parts, base.block_part(folder / "CLAUDE.md")]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        return base.transcript_notes(self.title, self.folder(home) / "projects")

    def has_plugin(self, home: Home) -> bool:
        settings = self.folder(home) / "settings.json"
        enabled = json_edit.get_value(read_if_exists(settings), ("enabledPlugins",), settings)
        return isinstance(enabled, dict) and any(
            base.is_plugin(name) and on is True for name, on in enabled.items()
        )


AGENT: Final = ClaudeCode()
