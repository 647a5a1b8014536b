"""Cursor: MCP in ``mcp.json``, one hook in ``hooks.json``, a skill; in a project a rule instead.

Formats as published at cursor.com/docs (context/mcp, agent/hooks, context/skills, context/rules) in November 2026; not
tried with Cursor itself. Servers in ``mcpServers`` of ``~/.cursor/mcp.json``, of a project of its
``.cursor/mcp.json``; hooks in ``hooks.json`` beside it, ``{"version": 1, "hooks": {"sessionStart": [{"command": "...",
"timeout": 5}]}}``, timeouts in seconds; rules in a project's ``.cursor/rules/*.mdc``. A hook before a prompt cannot
return context, and Cursor's transcripts have no published form: so there is no recall at a prompt and no capture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

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

SERVER_PATH: Final = ("mcpServers", SERVER_NAME)
HOOK_PATH: Final = ("hooks", "sessionStart")
VERSION_PATH: Final = ("version",)
TIMEOUT: Final = 5
"""Seconds, a last resort: scrubjay's own budget is far shorter."""
RULE_HEADER: Final = "---\ndescription: How to use the memory\nalwaysApply: true\n---\n\n"


class Places(NamedTuple):
    mcp: Path
    hooks: Path
    told: Path


class Cursor:
    """Installer for Cursor."""

    name = "cursor"
    title = "Cursor"

    def found(self, home: Home) -> bool:
        return base.on_this_machine((home.root / ".cursor"), "cursor", home)

    def install(self, home: Home, options: Options) -> list[Change]:
        mcp, hooks, instructions = _places(home, options)
        entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
        # Cursor runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        hooked = options.hooks and not twice
        mode = SHARED_MODE if options.project else PRIVATE_MODE
        return [
            edit_file(mcp, lambda data: json_edit.put_members(data, SERVER_PATH, entry, mcp), mode=mode),
            edit_file(
                hooks,
                lambda data: _put_hook(data, home, hooks) if hooked else _remove_hook(data, hooks),
                mode=mode,
            ),
            edit_file(instructions, lambda _: _instructions(options)),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        mcp, hooks, instructions = _places(home, options)
        return [
            edit_file(mcp, lambda data: json_edit.remove_value(data, SERVER_PATH, mcp)),
            edit_file(hooks, lambda data: _remove_hook(data, hooks)),
            # Somebody who has rewritten it keeps it.
            edit_file(instructions, lambda data: None if data == _instructions(options) else data),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        nothing = base.captures_nothing(self.title)
        if not options.hooks:
            return (nothing,)
        return (
            nothing,
            "When a session starts, what is known of its project is put into its context.",
        )

    def installed(self, home: Home) -> dict[str, bool]:
        mcp, hooks, instructions = _places(home, Options())
        found = json_edit.get_value(read_file(hooks), HOOK_PATH, hooks)
        return {
            "mcp": json_edit.get_value(read_file(mcp), SERVER_PATH, mcp) is not None,
            "hooks": isinstance(found, list) and any(map(_is_ours, found)),
            "instructions": read_file(instructions) is not None,
        }


def _put_hook(data: bytes | None, home: Home, where: Path) -> bytes | None:
    if json_edit.get_value(data, VERSION_PATH, where) is None:
        data = json_edit.put_value(data, VERSION_PATH, 1, where)
    hook = {"command": home.hook("cursor", "session-start"), "timeout": TIMEOUT}
    return json_edit.put_item(data, HOOK_PATH, hook, _is_ours, where)


def _remove_hook(data: bytes | None, where: Path) -> bytes | None:
    data = json_edit.remove_items(data, HOOK_PATH, _is_ours, where)
    # A version alone says nothing, and was written with our hook.
    return (
        json_edit.remove_value(data, VERSION_PATH, where)
        if json_edit.parse_json(data, where) == {"version": 1}
        else data
    )


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and SERVER_NAME in command and " hook cursor " in command


def _instructions(options: Options) -> bytes:
    return (
        f"{RULE_HEADER}{base.instructions()}\n".encode() if options.project else base.skill().encode("utf-8")
    )


def _places(home: Home, options: Options) -> Places:
    folder = (options.project or home.root) / ".cursor"
    instructions = (
        folder / "rules" / f"{SERVER_NAME}.mdc"
        if options.project
        else folder / "skills" / SERVER_NAME / "SKILL.md"
    )
    return Places(folder / "mcp.json", folder / "hooks.json", instructions)


AGENT: Final = Cursor()
