"""VS Code, Cline, Zed, Windsurf and Hermes: an MCP entry and instructions, no hooks.

Formats as published in November 2026; not tried with the programs themselves.

- VS Code with Copilot (code.visualstudio.com/docs, agents/reference/mcp-configuration and agent-customization/
  custom-instructions): ``servers`` in ``mcp.json`` of the user's data, of a project in its ``.vscode``; instructions of
  their own file in ``~/.copilot/instructions``, of a project in ``.github/instructions``, for all files by ``applyTo``.
- Cline (docs.cline.bot, getting-started/config, mcp/mcp-overview, customization/cline-rules): ``mcpServers`` in
  ``~/.cline/data/settings/cline_mcp_settings.json`` or where CLINE_MCP_SETTINGS_PATH leads; rules in
  ``~/.cline/rules``.
- Zed (zed.dev/docs, ai/mcp and ai/instructions): ``context_servers`` in ``~/.config/zed/settings.json``, JSON with
  comments; ``AGENTS.md`` beside it.
- Windsurf (docs.windsurf.com, windsurf/cascade/mcp and cascade/memories): ``mcpServers`` in
  ``~/.codeium/windsurf/mcp_config.json``; ``memories/global_rules.md`` beside it, of at most 6,000 characters.
- Hermes (hermes-agent.nousresearch.com/docs, reference/mcp-config-reference, user-guide/features/skills):
  ``mcp_servers`` in ``~/.hermes/config.yaml`` or in HERMES_HOME; skills in ``skills`` beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from scrubjay.agents import base, yaml_edit
from scrubjay.agents.base import JSON, SERVER_NAME, Agent, Editor, Home, Options, Part, read_if_exists
from scrubjay.errors import InputError
from scrubjay.frozen import frozen

WINDSURF_CHARACTERS: Final = 6_000
"""Characters that Windsurf reads of its global rules; it ignores the rest."""


YAML: Final = Editor(yaml_edit.get_entry, yaml_edit.put_entry, yaml_edit.remove_entry)


@frozen
class McpClient(Agent):
    """A client with an MCP entry and instructions.

    Attributes:
        servers: Key of its MCP servers.
        own_folder: Returns its folder.
        config: Returns the file of its servers.
        instructions: Returns the file of instructions.
        text: Returns the whole file of instructions, where it is ours alone; None for a block in the person's own.
        project: Files of servers and instructions in a project, where its makers document both.
        extra: Members of the entry besides command and arguments.
        editor: For its file of servers.
        limit: Characters of instructions that it reads; 0 for any number.
    """

    name: str
    title: str
    program: str
    servers: str
    own_folder: Callable[[Home], Path]
    config: Callable[[Home], Path]
    instructions: Callable[[Home], Path]
    text: Callable[[], str] | None = None
    project: tuple[str, str] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    editor: Editor = JSON
    limit: int = 0

    def folder(self, home: Home) -> Path:
        return self.own_folder(home)

    def parts(self, home: Home, options: Options) -> list[Part]:
        config, instructions = self._config_files(home, options)
        entry = {**self.extra, **home.server}
        return [
            base.server_part(config, (self.servers, SERVER_NAME), entry, options.mode, self.editor),
            base.text_part(instructions, self.text()) if self.text else base.block_part(instructions),
        ]

    def warnings(self, home: Home, options: Options) -> tuple[str, ...]:
        _, instructions = self._config_files(home, options)
        text = base.put_block(read_if_exists(instructions), base.instructions()).decode("utf-8", "replace")
        if not self.limit or len(text) <= self.limit:
            return ()
        return (
            f"{instructions} will have {len(text):,} characters, of which {self.title} reads {self.limit:,}.",
        )

    def _config_files(self, home: Home, options: Options) -> tuple[Path, Path]:
        if options.project is None:
            return self.config(home), self.instructions(home)
        if self.project is None:
            raise InputError(
                f"{self.title} has no documented file of MCP servers for a project. Nothing was changed.",
                hint="leave --project out",
            )
        config, instructions = self.project
        return options.project / config, options.project / instructions


def _vscode_folder(home: Home) -> Path:
    if sys.platform == "darwin":
        return home.root / "Library" / "Application Support" / "Code" / "User"
    return home.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"


def _zed_folder(home: Home) -> Path:
    return home.folder("XDG_CONFIG_HOME", ".config") / "zed"


def _windsurf_folder(home: Home) -> Path:
    return home.root / ".codeium" / "windsurf"


def _hermes_folder(home: Home) -> Path:
    return home.folder("HERMES_HOME", ".hermes")


VSCODE: Final = McpClient(
    "vscode",
    "VS Code",
    "code",
    "servers",
    own_folder=_vscode_folder,
    config=lambda home: _vscode_folder(home) / "mcp.json",
    instructions=lambda home: home.root / ".copilot" / "instructions" / "scrubjay.instructions.md",
    text=lambda: (
        "---\nname: scrubjay\ndescription: How to use the memory\n"
        f'applyTo: "**"\n---\n\n{base.instructions()}\n'
    ),
    project=(".vscode/mcp.json", ".github/instructions/scrubjay.instructions.md"),
    extra={"type": "stdio"},
)
CLINE: Final = McpClient(
    "cline",
    "Cline",
    "cline",
    "mcpServers",
    own_folder=lambda home: home.root / ".cline",
    config=lambda home: home.folder(
        "CLINE_MCP_SETTINGS_PATH", ".cline", "data", "settings", "cline_mcp_settings.json"
    ),
    instructions=lambda home: home.root / ".cline" / "rules" / "scrubjay.md",
    text=lambda: f"{base.instructions()}\n",
)
ZED: Final = McpClient(
    "zed",
    "Zed",
    "zed",
    "context_servers",
    own_folder=_zed_folder,
    config=lambda home: _zed_folder(home) / "settings.json",
    instructions=lambda home: _zed_folder(home) / "AGENTS.md",
)
WINDSURF: Final = McpClient(
    "windsurf",
    "Windsurf",
    "windsurf",
    "mcpServers",
    own_folder=_windsurf_folder,
    config=lambda home: _windsurf_folder(home) / "mcp_config.json",
    instructions=lambda home: _windsurf_folder(home) / "memories" / "global_rules.md",
    limit=WINDSURF_CHARACTERS,
)
HERMES: Final = McpClient(
    "hermes",
    "Hermes",
    "hermes",
    "mcp_servers",
    own_folder=_hermes_folder,
    config=lambda home: _hermes_folder(home) / "config.yaml",
    instructions=lambda home: _hermes_folder(home) / "skills" / SERVER_NAME / "SKILL.md",
    text=base.skill,
    editor=YAML,
)
