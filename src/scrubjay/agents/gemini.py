"""Gemini CLI: MCP and hooks in `settings.json`, a few lines in `GEMINI.md`.

Formats as in the docs of the package @google/gemini-cli 0.61.0 (reference/configuration, tools/mcp-server, hooks/
reference, cli/gemini-md, cli/trusted-folders; geminicli.com/docs) and as that version reads them: servers in
``mcpServers``, hooks in Claude Code's form in ``hooks`` with timeouts in milliseconds, both in
``~/.gemini/settings.json`` or below GEMINI_CLI_HOME, for a project in its ``.gemini``. Comments are allowed. The file
of instructions is called as ``context.fileName`` says. In a folder that it does not trust Gemini starts no server.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from scrubjay.agents import edit_json, edit_text, hook_groups, texts
from scrubjay.agents.agent import NAME, OPEN_MODE, SECRET_MODE, Change, Home, Options, edited, read
from scrubjay.agents.hook_groups import Hook

SERVER: Final = ("mcpServers", NAME)
ALLOWED: Final = ("mcp", "allowed")
EXCLUDED: Final = ("mcp", "excluded")
FILE_NAME: Final = "GEMINI.md"
HOOKS: Final = (
    Hook("SessionStart", "session-start", 5_000),
    Hook("BeforeAgent", "prompt", 5_000),
    Hook("AfterAgent", "stop", 5_000),
    Hook("PreCompress", "pre-compact", 5_000),
    Hook("SessionEnd", "session-end", 5_000),
)


class Gemini:
    """Installer for Gemini CLI."""

    name = "gemini"
    title = "Gemini CLI"

    def found(self, home: Home) -> bool:
        """Return whether its folder or its program is there."""
        return _folder(home).is_dir() or bool(shutil.which("gemini", path=home.env.get("PATH")))

    def install(self, home: Home, options: Options) -> list[Change]:
        """Return its files with scrubjay in them."""
        settings, instructions = _places(home, options)
        # Gemini runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home)["hooks"]
        wanted = HOOKS if options.hooks and not twice else ()

        def put(data: bytes | None) -> bytes | None:
            entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
            data = edit_json.put_members(data, SERVER, entry, settings)
            if edit_json.get(data, ALLOWED, settings) is not None:
                data = edit_json.put_item(data, ALLOWED, NAME, _is_ours, settings)
            return hook_groups.put(data, self.name, wanted, home, settings)

        return [
            edited(settings, put, mode=OPEN_MODE if options.project else SECRET_MODE),
            edited(instructions, lambda data: edit_text.put(data, texts.block())),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        """Return its files without scrubjay."""
        settings, instructions = _places(home, options)

        def cut(data: bytes | None) -> bytes | None:
            data = edit_json.cut(data, SERVER, settings)
            data = edit_json.cut_items(data, ALLOWED, _is_ours, settings)
            return hook_groups.cut(data, self.name, settings)

        return [edited(settings, cut), edited(instructions, edit_text.cut)]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        """Return what will be read and kept."""
        settings, _ = _places(home, options)
        excluded = edit_json.get(read(settings), EXCLUDED, settings)
        kept_out = (f"{settings} excludes the server {NAME} (mcp.excluded): Gemini will not start it.",)
        said = kept_out if isinstance(excluded, list) and NAME in excluded else ()
        if not options.hooks:
            return (
                f"Nothing by itself: {self.title} can search, add and forget memories when it decides to.",
                *said,
            )
        if edit_json.get(read(settings), ("hooksConfig", "enabled"), settings) is False:
            said = (
                *said,
                f"{settings} switches all hooks off (hooksConfig.enabled): none of these will run.",
            )
        return (
            f"Your sessions with {self.title}: what you and it say is taken in from its transcripts "
            f"({_folder(home) / 'tmp'}) after each answer, before it compresses and at the end. Sessions from "
            "before that are still there are taken in when the next one begins.",
            "When a session starts, and before it answers you, memories that fit are put into its context, each "
            "time with a line that says so.",
            *said,
        )

    def installed(self, home: Home) -> dict[str, bool]:
        """Return which of its parts are in place for the person."""
        settings, instructions = _places(home, Options())
        data = read(settings)
        return {
            "mcp": edit_json.get(data, SERVER, settings) is not None,
            "hooks": hook_groups.has(data, self.name, HOOKS, settings, plain=False),
            "instructions": edit_text.has(read(instructions)),
        }


def _folder(home: Home) -> Path:
    return home.folder("GEMINI_CLI_HOME") / ".gemini"


def _places(home: Home, options: Options) -> tuple[Path, Path]:
    folder = options.project / ".gemini" if options.project else _folder(home)
    settings = folder / "settings.json"
    own = _file_name(settings) or _file_name(_folder(home) / "settings.json") or FILE_NAME
    return settings, (options.project or folder) / own


def _file_name(settings: Path) -> str | None:
    """How the settings call the file of instructions; None where they do not say."""
    named = edit_json.get(read(settings), ("context", "fileName"), settings)
    names = named if isinstance(named, list) else [named]
    if FILE_NAME in names:
        return FILE_NAME
    return next((name for name in names if isinstance(name, str) and name), None)


def _is_ours(name: object) -> bool:
    return name == NAME


AGENT: Final = Gemini()
