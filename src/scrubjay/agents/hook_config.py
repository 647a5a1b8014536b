"""Add and remove our hooks in the JSON format of Claude Code, Codex and Gemini CLI.

The form is ``{"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "...",
"timeout": 5}]}]}}``. Our hooks are recognised by their command, ``... hook AGENT EVENT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.agents import json_edit
from scrubjay.agents.base import SERVER_NAME, Home, read_file


class Hook(NamedTuple):
    """One event at which an agent calls scrubjay.

    Attributes:
        theirs: The agent's name of the event, ``UserPromptSubmit``.
        ours: Our name of the event, ``prompt``.
        timeout: In the agent's unit.
        matcher: Matching occasions of the event; None for all.
    """

    theirs: str
    ours: str
    timeout: int
    matcher: str | None = None


def put_hooks(data: bytes | None, agent: str, hooks: Sequence[Hook], home: Home, where: Path) -> bytes | None:
    """Return the document with these hooks and no others of ours.

    Raises:
        InputError: The document is malformed, or a value on the path has another type.
    """
    data = _remove_hooks(data, agent, where, keep={hook.theirs for hook in hooks})
    for hook in hooks:
        group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
        command = home.hook(agent, hook.ours)
        group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
        data = json_edit.put_item(
            data, ("hooks", hook.theirs), group, lambda found: _all_ours(found, agent), where
        )
    return data


def remove_hooks(data: bytes | None, agent: str, where: Path) -> bytes | None:
    """Return the document without our hooks.

    Raises:
        InputError: The document is malformed.
    """
    return _remove_hooks(data, agent, where, keep=frozenset())


def plain_json_warning(path: Path, title: str) -> tuple[str, ...]:
    """Return a warning where a file is not plain JSON: such agents then ignore all of it.

    A comment or trailing comma is enough; Claude Code 2.1.197 says nothing, codex-cli 0.169.0 warns.
    """
    at = json_edit.first_non_json(read_file(path), path)
    if not at:
        return ()
    return (f"{title} ignores all of {path} while it is no plain JSON: mend {at}, or no hook runs.",)


def has_hooks(
    data: bytes | None, agent: str, hooks: Sequence[Hook], where: Path, *, plain: bool = True
) -> bool:
    """Return whether all these hooks are configured in a file that the agent reads; ``plain``: one without comments.

    Raises:
        InputError: The document is malformed.
    """
    if plain and json_edit.first_non_json(data, where):
        return False
    return all(
        any(_all_ours(group, agent) for group in _hook_groups(data, hook.theirs, where)) for hook in hooks
    )


def _remove_hooks(
    data: bytes | None, agent: str, where: Path, keep: frozenset[str] | set[str]
) -> bytes | None:
    events = json_edit.get_value(data, ("hooks",), where)
    for event in list(events) if isinstance(events, dict) else []:
        for at in reversed(range(len(_hook_groups(data, event, where)))):
            keys = ("hooks", event, at)
            if not _all_ours(json_edit.get_value(data, keys, where), agent):
                data = json_edit.remove_items(
                    data, (*keys, "hooks"), lambda hook: _is_ours(hook, agent), where
                )
            elif event not in keep:
                data = json_edit.remove_value(data, keys, where)
    return data


def _hook_groups(data: bytes | None, event: str, where: Path) -> list[Any]:
    found = json_edit.get_value(data, ("hooks", event), where)
    return found if isinstance(found, list) else []


def _all_ours(group: Any, agent: str) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(_is_ours(hook, agent) for hook in hooks)


def _is_ours(hook: Any, agent: str) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and SERVER_NAME in command and f" hook {agent} " in command
