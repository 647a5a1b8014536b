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

from scrubjay.agents import base, toml_edit
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
        return base.on_this_machine(_folder(home), "codex", home)

    def install(self, home: Home, options: Options) -> list[Change]:
        config, hooks, instructions = _places(home, options)
        entry = {"command": home.command[0], "args": [*home.command[1:], "mcp"]}
        # Codex runs the hooks of a person and of a project both: ours would run twice.
        twice = options.project and self.installed(home).get("hooks")
        events = HOOKS if options.hooks and not twice else ()
        mode = SHARED_MODE if options.project else PRIVATE_MODE
        return [
            edit_file(config, lambda data: toml_edit.put_table(data, SERVER_PATH, entry, config), mode=mode),
            edit_file(
                hooks,
                lambda data: base.put_hooks(data, self.name, events, home, hooks),
                mode=mode,
            ),
            edit_file(instructions, lambda data: base.put_block(data, base.instructions())),
        ]

    def uninstall(self, home: Home, options: Options) -> list[Change]:
        config, hooks, instructions = _places(home, options)
        return [
            edit_file(config, lambda data: toml_edit.remove_table(data, SERVER_PATH, config)),
            edit_file(hooks, lambda data: base.remove_hooks(data, self.name, hooks)),
            edit_file(instructions, base.remove_block),
        ]

    def captured(self, home: Home, options: Options) -> tuple[str, ...]:
        besides = base.plugin_warning(self.title, _has_plugin(home), options.hooks)
        if not options.hooks:
            return (
                base.captures_nothing(self.title),
                *besides,
            )
        return (
            *base.captures_transcripts(self.title, _folder(home) / "sessions"),
            "Codex asks you first: open /hooks in it and trust the hooks of scrubjay. Until then they do not run.",
            *base.plain_json_warning(_places(home, options)[1], self.title),
            *besides,
        )

    def installed(self, home: Home) -> dict[str, bool]:
        config, hooks, instructions = _places(home, Options())
        parts = {
            "mcp": toml_edit.get_value(read_file(config), SERVER_PATH, config) is not None,
            "hooks": base.has_hooks(read_file(hooks), self.name, HOOKS, hooks),
            "instructions": base.has_block(read_file(instructions)),
        }
        return base.with_plugin(parts, _has_plugin(home))


class ListedHook(NamedTuple):
    """A hook of ours as Codex lists it.

    Attributes:
        event: Our name of its event.
        keys: What Codex may call it, by the path that was named and by the one it leads to.
        digest: The hash that its trust is bound to.
        state: ``trusted``, ``untrusted``, ``changed`` since it was trusted, or ``off``.
    """

    event: str
    keys: tuple[str, ...]
    digest: str
    state: str


def listed_hooks(home: Home) -> list[ListedHook]:
    """Return the person's hooks of ours, and whether Codex runs them.

    Raises:
        InputError: A file is malformed or unreadable.
    """
    config, file, _ = _places(home, Options())
    states = toml_edit.get_value(read_file(config), ("hooks", "state"), config)
    document, found = read_file(file), []
    for hook in HOOKS:
        theirs = re.sub(r"(?<!^)(?=[A-Z])", "_", hook.theirs).lower()
        for at, place, group, handler in base.own_hooks(document, AGENT.name, hook.theirs, file):
            digest = _trust_digest(theirs, group.get("matcher") if hook.matcher else None, handler)
            paths = dict.fromkeys((str(file), os.path.realpath(file)))
            keys = tuple(f"{path}:{theirs}:{at}:{place}" for path in paths)
            found.append(ListedHook(hook.ours, keys, digest, _trust_state(states, keys, digest)))
    return found


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
    known = [states[key] for key in keys if key in states] if isinstance(states, dict) else []
    state = known[0] if known and isinstance(known[0], dict) else {}
    if state.get("enabled") is False:
        return "off"
    if "trusted_hash" not in state:
        return "untrusted"
    return "trusted" if state["trusted_hash"] == digest else "changed"


def _folder(home: Home) -> Path:
    return home.folder("CODEX_HOME", ".codex")


def _has_plugin(home: Home) -> bool:
    config = _folder(home) / "config.toml"
    plugins = toml_edit.get_value(read_file(config), ("plugins",), config)
    return isinstance(plugins, dict) and any(
        base.is_plugin(name) and isinstance(each, dict) and each.get("enabled") is not False
        for name, each in plugins.items()
    )


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
