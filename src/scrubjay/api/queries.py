"""Queries: read operations by name, in JSON, for the daemon and the server's worker processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from scrubjay.api import serializers
from scrubjay.config.paths import ANSWERED_EVENTS
from scrubjay.errors import InputError
from scrubjay.text.dialogue import is_small_talk

if TYPE_CHECKING:
    from scrubjay.config.settings import HookSettings
    from scrubjay.memory import Memory
    from scrubjay.models.results import Citation, Context


Arguments = dict[str, Any]
FALLBACK_TOKENS: Final = 300
"""Tokens of what is told of a person who asks about themselves and to whose question no memory is sure to belong."""
PROFILE_SHARE: Final = 5
"""A profile has a fifth of a context's budget where something is asked (recall/room.py)."""


def _search(memory: Memory, arguments: Arguments) -> Any:
    explain = bool(arguments.get("explain", False))
    return serializers.answer_fields(memory.search(arguments.pop("query"), **arguments), explain=explain)


def _thread(memory: Memory, arguments: Arguments) -> Any:
    return serializers.thread_fields(memory.thread(arguments.pop("query"), **arguments))


def _context(memory: Memory, arguments: Arguments) -> Any:
    return serializers.to_plain(memory.context(arguments.pop("query", None), **arguments))


def _recall(memory: Memory, arguments: Arguments) -> Any:
    """``otherwise`` are parts that are told, more shortly, where nothing has to do with the question for sure.

    ``revisions`` are for `_unchanged`, as long as the text is kept.
    """
    from scrubjay.memory import revisions, without_file_check

    standing, query = without_file_check(memory), arguments.pop("query")
    otherwise = arguments.pop("otherwise", ())
    found = standing.context(query, **arguments)
    if not found.text and otherwise:
        less = {"parts": otherwise, "budget": min(arguments["budget"], FALLBACK_TOKENS) * PROFILE_SHARE}
        found = standing.context(query, **(arguments | less))
    ids = [one.id for one in found.memories]
    return {"text": found.text, "memories": len(ids), "revisions": revisions(memory, ids)}


def _unchanged(memory: Memory, arguments: Arguments) -> Any:
    """Tell whether memories still say what they did: none was forgotten, changed or archived since."""
    from scrubjay.memory import revisions

    known = arguments["revisions"]
    return revisions(memory, list(known)) == known


def _get(memory: Memory, arguments: Arguments) -> Any:
    return serializers.fetched_fields(memory.get(arguments.pop("ids", ()), **arguments))


QUERIES: Final[Mapping[str, Callable[[Memory, Arguments], Any]]] = {
    "search": _search,
    "thread": _thread,
    "context": _context,
    "recall": _recall,
    "unchanged": _unchanged,
    "get": _get,
}
"""Verb to what it does; the arguments are the facade's. ``recall`` is a context's text, without a look at files."""


def run_query(memory: Memory, verb: str, arguments: Mapping[str, Any]) -> bytes:
    """Return what a verb answers, as JSON in UTF-8.

    Raises:
        InputError: There is no such verb.
        ScrubjayError: As the facade says.
    """
    found = QUERIES.get(verb)
    if found is None:
        raise InputError(f"There is no question {verb!r:.80}.", hint=f"one of {', '.join(QUERIES)}")
    told = found(memory, dict(arguments))
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


EMPTY_CONTEXT: Final[dict[str, Any]] = {"text": "", "cited": []}


def event_context(memory: Memory, hooks: HookSettings, event: Mapping[str, Any]) -> dict[str, Any]:
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
    if name not in ANSWERED_EVENTS:
        raise InputError(
            f"{name!r} is no event that is answered.", hint=f"one of {', '.join(ANSWERED_EVENTS)}"
        )
    if name not in hooks.events:
        return EMPTY_CONTEXT
    if name == "session-start":
        found = _query_context(memory, hooks, event, None, budget=hooks.start_tokens)
    else:
        prompt = str(event.get("prompt") or "").strip()
        if not prompt or is_small_talk(prompt):
            return EMPTY_CONTEXT
        found = _query_context(memory, hooks, event, prompt, budget=hooks.prompt_tokens, parts=("relevant",))
    return {"text": found.text, "cited": [citation_label(one) for one in found.memories]}


def citation_label(one: Citation) -> str:
    """Return what a person knows a memory by: its file and lines, else what it is and when it was."""
    return f"{one.tier} of {one.date[:10]}" if one.date and one.citation == one.id else one.citation


def _query_context(
    memory: Memory, hooks: HookSettings, event: Mapping[str, Any], query: str | None, **options: Any
) -> Context:
    session, folder = event.get("session") or None, event.get("folder") if hooks.own_project else None
    from scrubjay.memory import without_file_check

    standing, folder = without_file_check(memory), folder or None
    try:
        return standing.context(query, project=folder, session=session, **options)
    except InputError:
        if folder is None:
            raise
        # The home folder is no project: then memories of all of them may answer.
        return standing.context(query, session=session, **options)
