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
from scrubjay.agents.base import SERVER_NAME, Agent, Home, Hook, Options, Part, read_if_exists

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


class Gemini(Agent):
    name = "gemini"
    title = "Gemini CLI"
    program = "gemini"
    merges_hooks = True

    def folder(self, home: Home) -> Path:
        return home.folder("GEMINI_CLI_HOME") / ".gemini"

    def parts(self, home: Home, options: Options) -> list[Part]:
        settings = self._settings(home, options)
        file_name = _file_name(settings) or _file_name(self.folder(home) / "settings.json") or FILE_NAME
        return [
            base.server_part(settings, SERVER_PATH, home.server, options.mode),
            Part(
                "mcp",
                settings,
                put=lambda data: _allow_server(data, settings),
                remove=lambda data: _disallow_server(data, settings),
                exists=lambda _: True,  # without a list of servers all are allowed
            ),
            base.hooks_part(self, settings, HOOKS, home, options.mode),
            base.block_part((options.project or settings.parent) / file_name),
        ]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        return base.transcript_notes(self.title, self.folder(home) / "tmp", compaction="compression")

    def warnings(self, home: Home, options: Options) -> tuple[str, ...]:
        settings = self._settings(home, options)
        data = read_if_exists(settings)
        warnings = list(super().warnings(home, options))
        if SERVER_NAME in json_edit.get_list(data, EXCLUDED_PATH, settings):
            warnings.append(
                f"{settings} excludes the server {SERVER_NAME} (mcp.excluded): Gemini will not start it."
            )
        if options.hooks and json_edit.get_value(data, ("hooksConfig", "enabled"), settings) is False:
            warnings.append(
                f"{settings} switches all hooks off (hooksConfig.enabled): none of these will run."
            )
        return tuple(warnings)

    def has_plugin(self, home: Home) -> bool:
        return (self.folder(home) / "extensions" / SERVER_NAME / "gemini-extension.json").is_file()

    def _settings(self, home: Home, options: Options) -> Path:
        return (options.project / ".gemini" if options.project else self.folder(home)) / "settings.json"


def _allow_server(data: bytes | None, settings: Path) -> bytes | None:
    foreign = base.is_foreign_server(json_edit.get_value(data, SERVER_PATH, settings))
    if foreign or json_edit.get_value(data, ALLOWED_PATH, settings) is None:
        return data
    return json_edit.put_item(data, ALLOWED_PATH, SERVER_NAME, _is_ours, settings)


def _disallow_server(data: bytes | None, settings: Path) -> bytes | None:
    if json_edit.get_value(data, SERVER_PATH, settings) is not None:  # the person's own
        return data
    return json_edit.remove_items(data, ALLOWED_PATH, _is_ours, settings)


def _file_name(settings: Path) -> str | None:
    value = json_edit.get_value(read_if_exists(settings), ("context", "fileName"), settings)
    names = value if isinstance(value, list) else [value]
    if FILE_NAME in names:
        return FILE_NAME
    return next((name for name in names if isinstance(name, str) and name), None)


def _is_ours(name: object) -> bool:
    return name == SERVER_NAME


AGENT: Final = Gemini()
