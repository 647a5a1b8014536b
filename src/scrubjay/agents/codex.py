"""Codex: MCP in ``config.toml``, hooks in ``hooks.json``, a block in ``AGENTS.md``.

Formats as published at developers.openai.com/codex (pages config-reference, mcp, hooks, guides/agents-md) and as
codex-cli 0.169.0 reads them: servers in ``[mcp_servers.NAME]``; hooks in ``hooks.json`` beside it, of Claude Code's
form, timeouts in seconds, that of ``SessionEnd`` at most 3; all in ``~/.codex`` or CODEX_HOME, for one project in its
``.codex``. Codex runs a hook that is new or has changed only after the person trusted it in ``/hooks``; this module
reads that trust and does not write it: ``trusted_hash`` in ``[hooks.state."FILE:EVENT:GROUP:HANDLER"]`` of
``config.toml``, a hash of the hook's content (codex-rs/hooks/src/engine/discovery.rs). Where there is an
``AGENTS.override.md``, Codex does not read ``AGENTS.md``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.agents import base, claude_code, toml_edit
from scrubjay.agents.base import SERVER_NAME, Agent, Editor, Home, Hook, Options, Part, read_if_exists

TOML: Final = Editor(toml_edit.get_value, toml_edit.put_table, toml_edit.remove_table)
SERVER_PATH: Final = ("mcp_servers", SERVER_NAME)
HOOKS: Final = (*claude_code.HOOKS[:-1], Hook("SessionEnd", "session-end", 3))


class Codex(Agent):
    name = "codex"
    title = "Codex"
    program = "codex"
    merges_hooks = True
    plain_hooks = True

    def folder(self, home: Home) -> Path:
        return home.folder("CODEX_HOME", ".codex")

    def parts(self, home: Home, options: Options) -> list[Part]:
        folder = options.project / ".codex" if options.project else self.folder(home)
        text_folder = options.project or folder
        override = text_folder / "AGENTS.override.md"
        return [
            base.server_part(folder / "config.toml", SERVER_PATH, home.server, options.mode, TOML),
            base.hooks_part(self, folder / "hooks.json", HOOKS, home, options.mode),
            base.block_part(override if override.is_file() else text_folder / "AGENTS.md"),
        ]

    def hook_notes(self, home: Home) -> tuple[str, ...]:
        return (
            *base.transcript_notes(self.title, self.folder(home) / "sessions"),
            "Codex asks you first: open /hooks in it and trust the hooks of scrubjay. Until then they do not run.",
        )

    def has_plugin(self, home: Home) -> bool:
        config = self.folder(home) / "config.toml"
        plugins = toml_edit.get_value(read_if_exists(config), ("plugins",), config)
        return isinstance(plugins, dict) and any(
            base.is_plugin(name) and isinstance(plugin, dict) and plugin.get("enabled") is not False
            for name, plugin in plugins.items()
        )


class ListedHook(NamedTuple):
    """A hook of ours as Codex lists it.

    Attributes:
        event: Our name of its event.
        keys: Its possible keys in Codex's configuration: by the path as named, and with links resolved.
        digest: The hash that its trust is bound to.
        state: ``trusted``, ``untrusted``, ``changed`` since it was trusted, or ``off``.
    """

    event: str
    keys: tuple[str, ...]
    digest: str
    state: str


def listed_hooks(home: Home) -> list[ListedHook]:
    config, file = AGENT.folder(home) / "config.toml", AGENT.hook_file(home, Options())
    states = toml_edit.get_value(read_if_exists(config), ("hooks", "state"), config)
    document, hooks = read_if_exists(file), []
    for hook in HOOKS:
        event = re.sub(r"(?<!^)(?=[A-Z])", "_", hook.theirs).lower()
        for group_index, index, group, handler in base.own_hooks(document, AGENT.name, hook.theirs, file):
            digest = _trust_digest(event, group.get("matcher") if hook.matcher else None, handler)
            paths = dict.fromkeys((str(file), os.path.realpath(file)))
            keys = tuple(f"{path}:{event}:{group_index}:{index}" for path in paths)
            hooks.append(ListedHook(hook.ours, keys, digest, _trust_state(states, keys, digest)))
    return hooks


def _trust_digest(event: str, matcher: str | None, handler: dict[str, Any]) -> str:
    """Codex's hash of a hook: of its sorted JSON, with defaults filled in."""
    command = {
        "type": "command",
        "command": handler["command"],
        "timeout": handler.get("timeout", 600),
        "async": handler.get("async", False),
    }
    identity = {"event_name": event, "hooks": [command]} | ({"matcher": matcher} if matcher else {})
    data = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(data.encode('utf-8')).hexdigest()}"


def _trust_state(states: Any, keys: tuple[str, ...], digest: str) -> str:
    entries = [states[key] for key in keys if key in states] if isinstance(states, dict) else []
    state = entries[0] if entries and isinstance(entries[0], dict) else {}
    if state.get("enabled") is False:
        return "off"
    if "trusted_hash" not in state:
        return "untrusted"
    return "trusted" if state["trusted_hash"] == digest else "changed"


AGENT: Final = Codex()
