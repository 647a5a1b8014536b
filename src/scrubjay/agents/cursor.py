"""Cursor: MCP in `mcp.json`, one hook in `hooks.json`, a skill; in a project a rule instead.

Formats as published at cursor.com/docs (context/mcp, agent/hooks, context/skills, context/rules), read in November
2026; no Cursor was at hand to try them. Servers in ``mcpServers`` of ``~/.cursor/mcp.json``, of a project of its
``.cursor/mcp.json``; hooks in ``hooks.json`` beside it, ``{"version": 1, "hooks": {"sessionStart": [{"command": "...",
"timeout": 5}]}}``, timeouts in seconds; rules in a project's ``.cursor/rules/*.mdc``. What a hook answers before a
prompt cannot carry context, and what Cursor writes of a conversation has no published form: so nothing is recalled at
a prompt, and nothing is taken in.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.agents import edit_json, texts
from scrubjay.agents.agent import NAME, OPEN_MODE, SECRET_MODE, Change, Home, Options, edited, read

SERVER: Final = ("mcpServers", NAME)
EVENT: Final = ("hooks", "sessionStart")
VERSION: Final = ("version",)
TIMEOUT: Final = 5
"""Seconds, a last resort: scrubjay's own budget is far shorter."""
RULE: Final = "---\ndescription: How to use the memory\nalwaysApply: true\n---\n\n"


class Places(NamedTuple):
    """Where what is written; a rule or a skill tells when to use the memory."""

    mcp: Path
    hooks: Path
    told: Path


class Cursor:
    """Installer for Cursor."""

    name = "cursor"
    title = "Cursor"

    def found(self, home: Home) -> bool:
        """Return whether its folder or its program is there."""
        return (home.root / ".cursor").is_dir() or bool(shutil.which("cursor", path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return its files with scrubjay in them."""
        mcp, hooks, told = _places(home, options)
        entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
        # Cursor runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        wanted = options.hooks and not twice
        mode = OPEN_MODE if options.project else SECRET_MODE
        return [
            edited(mcp, lambda data: edit_json.put_members(data, SERVER, entry, mcp), mode=mode),
            edited(hooks, lambda data: _put(data, home, hooks) if wanted else _cut(data, hooks), mode=mode),
            edited(told, lambda _: _told(options)),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return its files without scrubjay."""
        mcp, hooks, told = _places(home, options)
        return [
            edited(mcp, lambda data: edit_json.cut(data, SERVER, mcp)),
            edited(hooks, lambda data: _cut(data, hooks)),
            # Somebody who has rewritten it keeps it.
            edited(told, lambda data: None if data == _told(options) else data),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return what will be read and kept."""
        nothing = f"Nothing by itself: {self.title} can search, add and forget memories when it decides to."
        if not options.hooks:
            return (nothing,)
        return (
            nothing,
            "When a session starts, what is known of its project is put into its context.",
        )

    def installed(self, home: Home) -> dict[str, bool]:
        """Return which of its parts are in place for the person."""
        mcp, hooks, told = _places(home, Options())
        found = edit_json.get(read(hooks), EVENT, hooks)
        return {
            "mcp": edit_json.get(read(mcp), SERVER, mcp) is not None,
            "hooks": isinstance(found, list) and any(map(_is_ours, found)),
            "instructions": read(told) is not None,
        }


def _put(data: bytes | None, home: Home, where: Path) -> bytes | None:
    if edit_json.get(data, VERSION, where) is None:
        data = edit_json.put(data, VERSION, 1, where)
    hook = {"command": home.hook("cursor", "session-start"), "timeout": TIMEOUT}
    return edit_json.put_item(data, EVENT, hook, _is_ours, where)


def _cut(data: bytes | None, where: Path) -> bytes | None:
    data = edit_json.cut_items(data, EVENT, _is_ours, where)
    # A version alone says nothing, and was written with our hook.
    return edit_json.cut(data, VERSION, where) if edit_json.parse(data, where) == {"version": 1} else data


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and NAME in command and " hook cursor " in command


def _told(options: Options) -> bytes:
    return f"{RULE}{texts.block()}\n".encode() if options.project else texts.skill().encode("utf-8")


def _places(home: Home, options: Options) -> Places:
    folder = (options.project or home.root) / ".cursor"
    told = folder / "rules" / f"{NAME}.mdc" if options.project else folder / "skills" / NAME / "SKILL.md"
    return Places(folder / "mcp.json", folder / "hooks.json", told)


AGENT: Final = Cursor()
