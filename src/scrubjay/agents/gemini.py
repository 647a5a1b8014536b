"""Gemini CLI: MCP and hooks in ``settings.json``, a block in ``GEMINI.md``.

Formats as in the docs of the package @google/gemini-cli 0.61.0 (reference/configuration, tools/mcp-server, hooks/
reference, cli/gemini-md, cli/trusted-folders; geminicli.com/docs) and as that version reads them: servers in
``mcpServers``, hooks in Claude Code's form in ``hooks`` with timeouts in milliseconds, both in
``~/.gemini/settings.json`` or below GEMINI_CLI_HOME, for a project in its ``.gemini``. Comments are allowed.
``context.fileName`` names the instruction file. Gemini starts no server in an untrusted folder.
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
ALLOWED_PATH: Final = ("mcp", "allowed")
EXCLUDED_PATH: Final = ("mcp", "excluded")
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
        return base.on_this_machine(_folder(home), "gemini", home)

    def install(self, home: Home, options: Options) -> list[Change]:
        settings, instructions = _places(home, options)
        # Gemini runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home).get("hooks")
        events = HOOKS if options.hooks and not twice else ()

        def put(data: bytes | None) -> bytes | None:
            entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
            data = json_edit.put_members(data, SERVER_PATH, entry, settings)
            if json_edit.get_value(data, ALLOWED_PATH, settings) is not None:
                data = json_edit.put_item(data, ALLOWED_PATH, SERVER_NAME, _is_ours, settings)
            return base.put_hooks(data, self.name, events, home, settings)

        return [
            edit_file(settings, put, mode=SHARED_MODE if options.project else PRIVATE_MODE),
            edit_file(instructions, lambda data: base.put_block(data, base.instructions())),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        settings, instructions = _places(home, options)

        def cut(data: bytes | None) -> bytes | None:
            data = json_edit.remove_value(data, SERVER_PATH, settings)
            data = json_edit.remove_items(data, ALLOWED_PATH, _is_ours, settings)
            return base.remove_hooks(data, self.name, settings)

        return [edit_file(settings, cut), edit_file(instructions, base.remove_block)]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        settings, _ = _places(home, options)
        excluded = json_edit.get_value(read_file(settings), EXCLUDED_PATH, settings)
        kept_out = (
            f"{settings} excludes the server {SERVER_NAME} (mcp.excluded): Gemini will not start it.",
        )
        warnings = base.plugin_warning(self.title, _has_plugin(home), options.hooks)
        if isinstance(excluded, list) and SERVER_NAME in excluded:
            warnings += kept_out
        if not options.hooks:
            return (
                base.captures_nothing(self.title),
                *warnings,
            )
        if json_edit.get_value(read_file(settings), ("hooksConfig", "enabled"), settings) is False:
            warnings = (
                *warnings,
                f"{settings} switches all hooks off (hooksConfig.enabled): none of these will run.",
            )
        return (
            *base.captures_transcripts(self.title, _folder(home) / "tmp", compacts="compresses"),
            *warnings,
        )

    def installed(self, home: Home) -> dict[str, bool]:
        settings, instructions = _places(home, Options())
        data = read_file(settings)
        parts = {
            "mcp": json_edit.get_value(data, SERVER_PATH, settings) is not None,
            "hooks": base.has_hooks(data, self.name, HOOKS, settings, plain=False),
            "instructions": base.has_block(read_file(instructions)),
        }
        return base.with_plugin(parts, _has_plugin(home))


def _folder(home: Home) -> Path:
    return home.folder("GEMINI_CLI_HOME") / ".gemini"


def _has_plugin(home: Home) -> bool:
    return (_folder(home) / "extensions" / SERVER_NAME / "gemini-extension.json").is_file()


def _places(home: Home, options: Options) -> tuple[Path, Path]:
    folder = options.project / ".gemini" if options.project else _folder(home)
    settings = folder / "settings.json"
    own = _file_name(settings) or _file_name(_folder(home) / "settings.json") or FILE_NAME
    return settings, (options.project or folder) / own


def _file_name(settings: Path) -> str | None:
    named = json_edit.get_value(read_file(settings), ("context", "fileName"), settings)
    names = named if isinstance(named, list) else [named]
    if FILE_NAME in names:
        return FILE_NAME
    return next((name for name in names if isinstance(name, str) and name), None)


def _is_ours(name: object) -> bool:
    return name == SERVER_NAME


AGENT: Final = Gemini()
