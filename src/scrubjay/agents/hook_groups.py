"""Hook groups: the hooks that Claude Code, and others after it, keep in JSON -> the same with ours, or without.

The form is ``{"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "...",
"timeout": 5}]}]}}``. A hook is known as ours by its command, ``... hook AGENT EVENT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.agents import edit_json
from scrubjay.agents.agent import NAME, Home, read


class Hook(NamedTuple):
    """One event at which an agent calls scrubjay.

    Attributes:
        theirs: The agent's name of the event, ``UserPromptSubmit``.
        ours: The name that the command is called with, ``prompt``.
        timeout: After how long the agent goes on without it, in the agent's unit.
        matcher: Which occasions of the event; None for all.
    """

    theirs: str
    ours: str
    timeout: int
    matcher: str | None = None


def put(data: bytes | None, agent: str, hooks: Sequence[Hook], home: Home, where: Path) -> bytes | None:
    """Return the document with these hooks, and no others of ours.

    Raises:
        InputError: The document is broken, or what stands on the way is of another kind.
    """
    data = _cut(data, agent, where, keep={hook.theirs for hook in hooks})
    for hook in hooks:
        group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
        command = home.hook(agent, hook.ours)
        group["hooks"] = [{"type": "command", "command": command, "timeout": hook.timeout}]
        data = edit_json.put_item(
            data, ("hooks", hook.theirs), group, lambda found: _all_ours(found, agent), where
        )
    return data


def cut(data: bytes | None, agent: str, where: Path) -> bytes | None:
    """Return the document without hooks of ours.

    Raises:
        InputError: The document is broken.
    """
    return _cut(data, agent, where, keep=frozenset())


def ignored(path: Path, title: str) -> tuple[str, ...]:
    """Return a warning where a file is no plain JSON: such agents then read nothing of it.

    Tried with Claude Code 2.1.197, which says nothing, and codex-cli 0.169.0, which warns: a comment or a comma before
    a closing bracket is enough.
    """
    at = edit_json.stray(read(path), path)
    if not at:
        return ()
    return (f"{title} ignores all of {path} while it is no plain JSON: mend {at}, or no hook runs.",)


def has(data: bytes | None, agent: str, hooks: Sequence[Hook], where: Path, *, plain: bool = True) -> bool:
    """Return whether all these hooks are there, in a file that the agent reads: ``plain`` if only without comments.

    Raises:
        InputError: The document is broken.
    """
    if plain and edit_json.stray(data, where):
        return False
    return all(any(_all_ours(group, agent) for group in _groups(data, hook.theirs, where)) for hook in hooks)


def _cut(data: bytes | None, agent: str, where: Path, keep: frozenset[str] | set[str]) -> bytes | None:
    events = edit_json.get(data, ("hooks",), where)
    for event in list(events) if isinstance(events, dict) else []:
        for at in reversed(range(len(_groups(data, event, where)))):
            keys = ("hooks", event, at)
            if not _all_ours(edit_json.get(data, keys, where), agent):
                data = edit_json.cut_items(data, (*keys, "hooks"), lambda hook: _is_ours(hook, agent), where)
            elif event not in keep:
                data = edit_json.cut(data, keys, where)
    return data


def _groups(data: bytes | None, event: str, where: Path) -> list[Any]:
    found = edit_json.get(data, ("hooks", event), where)
    return found if isinstance(found, list) else []


def _all_ours(group: Any, agent: str) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(_is_ours(hook, agent) for hook in hooks)


def _is_ours(hook: Any, agent: str) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and NAME in command and f" hook {agent} " in command
