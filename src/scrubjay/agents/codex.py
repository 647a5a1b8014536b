"""Codex: MCP in ``config.toml``, hooks in ``hooks.json``, a block in ``AGENTS.md``.

Formats as published at developers.openai.com/codex (pages config-reference, mcp, hooks, guides/agents-md) and as
codex-cli 0.169.0 reads them: servers in ``[mcp_servers.NAME]``; hooks in ``hooks.json`` beside it, of Claude Code's
form, timeouts in seconds, that of ``SessionEnd`` at most 3; all in ``~/.codex`` or CODEX_HOME, for one project in its
``.codex``. Codex runs a hook that is new or has changed only after the person trusted it in ``/hooks``; this module
does not write that trust. Where there is an ``AGENTS.override.md``, Codex does not read ``AGENTS.md``.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from scrubjay.agents import base, texts, toml_edit
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

SERVER_PATH: Final = ("mcp_servers", SERVER_NAME)
HOOKS: Final = (
    Hook("SessionStart", "session-start", 5, "startup|resume|clear|compact"),
    Hook("UserPromptSubmit", "prompt", 5),
    Hook("Stop", "stop", 5),
    Hook("PreCompact", "pre-compact", 5),
    Hook("SessionEnd", "session-end", 3),
)


class Codex:
    """Installer for Codex."""

    name = "codex"
    title = "Codex"

    def found(self, home: Home) -> bool:
        return _folder(home).is_dir() or bool(shutil.which("codex", path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        config, hooks, instructions = _places(home, options)
        entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
        # Codex runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        events = HOOKS if options.hooks and not twice else ()
        mode = SHARED_MODE if options.project else PRIVATE_MODE
        return [
            edit_file(config, lambda data: toml_edit.put_table(data, SERVER_PATH, entry, config), mode=mode),
            edit_file(
                hooks,
                lambda data: base.put_hooks(data, self.name, events, home, hooks),
                mode=mode,
            ),
            edit_file(instructions, lambda data: base.put_block(data, texts.block())),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        config, hooks, instructions = _places(home, options)
        return [
            edit_file(config, lambda data: toml_edit.remove_table(data, SERVER_PATH, config)),
            edit_file(hooks, lambda data: base.remove_hooks(data, self.name, hooks)),
            edit_file(instructions, base.remove_block),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        if not options.hooks:
            return (
                f"Nothing by itself: {self.title} can search, add and forget memories when it decides to.",
            )
        return (
            f"Your sessions with {self.title}: what you and it say is captured from its transcripts "
            f"({_folder(home) / 'sessions'}) after each answer, before it compacts and at the end. Sessions from "
            "before that still exist are captured when the next one begins.",
            "When a session starts, and before it answers you, memories that fit are put into its context, each "
            "time with a line that says so.",
            "Codex asks you first: open /hooks in it and trust the hooks of scrubjay. Until then they do not run.",
            *base.plain_json_warning(_places(home, options)[1], self.title),
        )

    def installed(self, home: Home) -> dict[str, bool]:
        config, hooks, instructions = _places(home, Options())
        return {
            "mcp": toml_edit.get_value(read_file(config), SERVER_PATH, config) is not None,
            "hooks": base.has_hooks(read_file(hooks), self.name, HOOKS, hooks),
            "instructions": base.has_block(read_file(instructions)),
        }


def _folder(home: Home) -> Path:
    return home.folder("CODEX_HOME", ".codex")


def _places(home: Home, options: Options) -> tuple[Path, Path, Path]:
    folder = options.project / ".codex" if options.project else _folder(home)
    texts_in = options.project or folder
    override = texts_in / "AGENTS.override.md"
    return (
        folder / "config.toml",
        folder / "hooks.json",
        override if override.is_file() else texts_in / "AGENTS.md",
    )


AGENT: Final = Codex()
