"""Codex: MCP in `config.toml`, hooks in `hooks.json`, a few lines in `AGENTS.md`.

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

from scrubjay.agents import edit_text, edit_toml, hook_groups, texts
from scrubjay.agents.agent import NAME, OPEN_MODE, SECRET_MODE, Change, Home, Options, edited, read
from scrubjay.agents.hook_groups import Hook

SERVER: Final = ("mcp_servers", NAME)
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
        """Return whether its folder or its program is there."""
        return _folder(home).is_dir() or bool(shutil.which("codex", path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return its files with scrubjay in them."""
        config, hooks, instructions = _places(home, options)
        entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
        # Codex runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        wanted = HOOKS if options.hooks and not twice else ()
        mode = OPEN_MODE if options.project else SECRET_MODE
        return [
            edited(config, lambda data: edit_toml.put_members(data, SERVER, entry, config), mode=mode),
            edited(
                hooks,
                lambda data: hook_groups.put(data, self.name, wanted, home, hooks),
                mode=mode,
            ),
            edited(instructions, lambda data: edit_text.put(data, texts.block())),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return its files without scrubjay."""
        config, hooks, instructions = _places(home, options)
        return [
            edited(config, lambda data: edit_toml.cut(data, SERVER, config)),
            edited(hooks, lambda data: hook_groups.cut(data, self.name, hooks)),
            edited(instructions, edit_text.cut),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return what will be read and kept."""
        if not options.hooks:
            return (
                f"Nothing by itself: {self.title} can search, add and forget memories when it decides to.",
            )
        return (
            f"Your sessions with {self.title}: what you and it say is taken in from its transcripts "
            f"({_folder(home) / 'sessions'}) after each answer, before it compacts and at the end. Sessions from "
            "before that are still there are taken in when the next one begins.",
            "When a session starts, and before it answers you, memories that fit are put into its context, each "
            "time with a line that says so.",
            "Codex asks you first: open /hooks in it and trust the hooks of scrubjay. Until then they do not run.",
            *hook_groups.ignored(_places(home, options)[1], self.title),
        )

    def installed(self, home: Home) -> dict[str, bool]:
        """Return which of its parts are in place for the person."""
        config, hooks, instructions = _places(home, Options())
        return {
            "mcp": edit_toml.get(read(config), SERVER, config) is not None,
            "hooks": hook_groups.has(read(hooks), self.name, HOOKS, hooks),
            "instructions": edit_text.has(read(instructions)),
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
