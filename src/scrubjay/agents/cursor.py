"""Cursor: MCP in ``mcp.json``, one hook in ``hooks.json``, a skill; in a project a rule instead.

Formats as published at cursor.com/docs (context/mcp, agent/hooks, context/skills, context/rules) in November 2026; not
tried with Cursor itself. Servers in ``mcpServers`` of ``~/.cursor/mcp.json``, of a project of its
``.cursor/mcp.json``; hooks in ``hooks.json`` beside it, ``{"version": 1, "hooks": {"sessionStart": [{"command": "...",
"timeout": 5}]}}``, timeouts in seconds; rules in a project's ``.cursor/rules/*.mdc``. A hook before a prompt cannot
return context, and Cursor's transcripts have no published form: so there is no recall at a prompt and no capture.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from scrubjay.agents import base, json_edit
from scrubjay.agents.base import SERVER_NAME, Agent, Home, Options, Part

SERVER_PATH: Final = ("mcpServers", SERVER_NAME)
HOOK_PATH: Final = ("hooks", "sessionStart")
VERSION_PATH: Final = ("version",)
TIMEOUT: Final = 5
"""Seconds, a last resort: scrubjay's own budget is far shorter."""
_is_our_hook: Final = partial(base.is_our_hook, agent="cursor")
_is_extended: Final = partial(base.is_extended_hook, agent="cursor")
RULE_HEADER: Final = "---\ndescription: How to use the memory\nalwaysApply: true\n---\n\n"


class Cursor(Agent):
    name = "cursor"
    title = "Cursor"
    program = "cursor"
    merges_hooks = True

    def folder(self, home: Home) -> Path:
        return home.root / ".cursor"

    def parts(self, home: Home, options: Options) -> list[Part]:
        folder = options.project / ".cursor" if options.project else self.folder(home)
        hooks = folder / "hooks.json"
        if options.project:
            rule = f"{RULE_HEADER}{base.instructions()}\n"
            instructions = base.text_part(folder / "rules" / f"{SERVER_NAME}.mdc", rule)
        else:
            instructions = base.text_part(folder / "skills" / SERVER_NAME / "SKILL.md", base.skill())
        return [
            base.server_part(folder / "mcp.json", SERVER_PATH, home.server, options.mode),
            Part(
                "hooks",
                hooks,
                put=lambda data: _put_hook(data, home, hooks),
                remove=lambda data: _remove_hook(data, hooks),
                exists=lambda data: (
                    _is_extended_in(data, hooks)
                    or any(map(_is_our_hook, json_edit.get_list(data, HOOK_PATH, hooks)))
                ),
                mode=options.mode,
                note=lambda data: base.extended_note(["sessionStart"] * _is_extended_in(data, hooks), hooks),
            ),
            instructions,
        ]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        return (
            self.no_hooks_note,
            "When a session starts, what is known of its project is put into its context.",
        )


def _is_extended_in(data: bytes | None, where: Path) -> bool:
    return any(map(_is_extended, json_edit.get_list(data, HOOK_PATH, where)))


def _put_hook(data: bytes | None, home: Home, where: Path) -> bytes | None:
    if _is_extended_in(data, where):
        return _remove_hook(data, where)
    if json_edit.get_value(data, VERSION_PATH, where) is None:
        data = json_edit.put_value(data, VERSION_PATH, 1, where)
    hook = {"command": home.hook("cursor", "session-start"), "timeout": TIMEOUT}
    return json_edit.put_item(data, HOOK_PATH, hook, _is_our_hook, where)


def _remove_hook(data: bytes | None, where: Path) -> bytes | None:
    data = json_edit.remove_items(data, HOOK_PATH, _is_our_hook, where)
    # A version alone says nothing, and was written with our hook.
    is_bare = json_edit.parse_json(data, where) == {"version": 1}
    return json_edit.remove_value(data, VERSION_PATH, where) if is_bare else data


AGENT: Final = Cursor()
