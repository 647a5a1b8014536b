"""Remind: an event of an agent -> the text to put into its conversation, and what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.text.idle import idle

if TYPE_CHECKING:
    from scrubjay.config_hooks import Hooks
    from scrubjay.engine import Memory
    from scrubjay.memory.contexts import Cited, Context

EVENTS: Final = ("session-start", "prompt")
NOTHING: Final[dict[str, Any]] = {"text": "", "cited": []}


def remind(memory: Memory, hooks: Hooks, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``text``, empty where there is nothing to say, and ``cited``, where each memory of it stands.

    Files are not looked at first: what an edit changed is taken in behind the agent's back.

    Args:
        memory: Whom to ask.
        hooks: The settings of hooks.
        event: ``name``, ``folder``, ``session`` and ``prompt``, as far as the agent says.

    Raises:
        InputError: The event is none of these.
    """
    name = event.get("name")
    if name not in EVENTS:
        raise InputError(f"{name!r} is no event that is answered.", hint=f"one of {', '.join(EVENTS)}")
    if name not in hooks.events:
        return NOTHING
    if name == "session-start":
        found = _asked(memory, hooks, event, None, budget=hooks.start_tokens)
    else:
        prompt = str(event.get("prompt") or "").strip()
        if not prompt or idle(prompt):
            return NOTHING
        found = _asked(memory, hooks, event, prompt, budget=hooks.prompt_tokens, parts=("relevant",))
    return {"text": found.text, "cited": [shown(one) for one in found.memories]}


def shown(one: Cited) -> str:
    """Return what a person knows a memory by: its file and lines, else what it is and when it was."""
    return f"{one.tier} of {one.date[:10]}" if one.date and one.citation == one.id else one.citation


def _asked(
    memory: Memory, hooks: Hooks, event: Mapping[str, Any], query: str | None, **options: Any
) -> Context:
    session, folder = event.get("session") or None, event.get("folder") if hooks.own_project else None
    from scrubjay.engine import as_stored

    standing, folder = as_stored(memory), folder or None
    try:
        return standing.context(query, project=folder, session=session, **options)
    except InputError:
        if folder is None:
            raise
        # The home folder is no project: then memories of all of them may answer.
        return standing.context(query, session=session, **options)
