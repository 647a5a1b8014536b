"""Queries: read operations by name, in JSON, for the server's worker processes; hooks and the proxy use the context."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scrubjay.api import serializers
from scrubjay.config.paths import ANSWERED_EVENTS
from scrubjay.errors import InputError
from scrubjay.models.dates import load_zone, local_day
from scrubjay.models.ids import text_hash
from scrubjay.models.results import BLOCK_CLOSE, BLOCK_OPEN, STALE_STORE
from scrubjay.text.dialogue import cut_blocks, is_small_talk

if TYPE_CHECKING:
    from datetime import tzinfo

    from scrubjay.config.settings import HookSettings
    from scrubjay.memory import Memory
    from scrubjay.models.results import Citation, Context


Arguments = dict[str, Any]
T = TypeVar("T")
FALLBACK_TOKENS: Final = 300
"""Tokens of the profile that answers a personal question to which no memory is surely relevant."""
PROFILE_SHARE: Final = 5
"""A profile gets a fifth of a context's budget (search/context.py)."""


def _search(memory: Memory, arguments: Arguments) -> Any:
    explain = bool(arguments.get("explain", False))
    return serializers.answer_fields(_query_checked(memory, memory.search, arguments), explain=explain)


def _thread(memory: Memory, arguments: Arguments) -> Any:
    return serializers.thread_fields(_query_checked(memory, memory.thread, arguments))


def _query_checked(memory: Memory, query: Callable[..., T], arguments: Arguments) -> T:
    """Return a query's answer; if it is empty, ``silence`` names a filter value that no memory has."""
    from scrubjay.services.workspace import retry_if_empty

    answer: Any = query(**arguments)
    try:
        checked: T = retry_if_empty(memory.workspace, query, arguments, answer)
    except InputError as error:
        checked = replace(answer, silence=str(error))
    return checked


def _context_or_profile(memory: Memory, arguments: Arguments) -> Any:
    """Answer with the ``otherwise`` parts, on a smaller budget, if nothing is surely relevant.

    ``revisions`` let `_are_unchanged` check whether the text still holds.
    """
    from scrubjay.memory import Memory

    fast_memory = Memory(replace(memory.workspace, checks_files=False))
    otherwise = arguments.pop("otherwise", ())
    arguments["unprompted"] = True
    context = fast_memory.context(**arguments)
    if not context.text and otherwise:
        budget = min(arguments["budget"], FALLBACK_TOKENS) * PROFILE_SHARE
        context = fast_memory.context(**(arguments | {"parts": otherwise, "budget": budget}))
    ids = [citation.id for citation in context.memories]
    return {"text": context.text, "memories": len(ids), "revisions": _revisions(memory, ids)}


def _are_unchanged(memory: Memory, arguments: Arguments) -> Any:
    known = arguments["revisions"]
    return _revisions(memory, list(known)) == known


def _revisions(memory: Memory, ids: Sequence[str]) -> dict[str, str]:
    """Return a text for each existing memory that changes whenever it or its evidence does, but not by mere use."""
    from scrubjay.search.context import evidence_roots

    with memory.workspace.reader() as reader:
        roots = evidence_roots(reader, ids)
        records = reader.get(sorted(set(ids).union(*roots.values())))
    known = {one.id: repr(replace(one, last_used=None, due=0)) for one in records.values()}
    return {
        one: text_hash("".join(known.get(each, "") for each in (one, *sorted(roots[one]))))
        for one in ids
        if one in known
    }


QUERIES: Final[Mapping[str, Callable[[Memory, Arguments], Any]]] = {
    "search": _search,
    "thread": _thread,
    "context": lambda memory, arguments: serializers.to_plain(memory.context(**arguments)),
    "recall": _context_or_profile,
    "unchanged": _are_unchanged,
    "get": lambda memory, arguments: serializers.fetched_fields(memory.get(**arguments)),
}


def run_query(memory: Memory, verb: str, arguments: Mapping[str, Any]) -> bytes:
    """Run a query and return its result as JSON in UTF-8."""
    query = QUERIES.get(verb)
    if query is None:
        raise InputError(f"There is no query {verb!r:.80}.", hint=f"one of {', '.join(QUERIES)}")
    result = query(memory, dict(arguments))
    return json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


EMPTY_CONTEXT: Final[dict[str, Any]] = {"text": "", "cited": [], "tokens": 0, "memories": [], "stale": False}
ADDED_BLOCKS: Final = (("<hook_context>", "</hook_context>"), (BLOCK_OPEN, BLOCK_CLOSE))
"""What hooks add to a prompt: Gemini CLI's mark, and our own."""
MAX_PROMPT: Final = 4_000
"""Characters of a prompt that are searched: half of them its first, half its last."""


def event_context(memory: Memory, hooks: HookSettings, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context for an agent's event.

    These are its ``text``, empty if there is nothing to add; the places ``cited`` in it; its ``tokens``; and of each of
    its ``memories`` ``id``, ``part``, ``tokens`` and ``relevance``. Memories whose file is gone or newer are left out
    if there is no time to read it again; ``stale`` tells that a sync in the background has something to read.

    Args:
        memory: Whose memory to search.
        hooks: Hook settings.
        event: ``name``, ``folder``, ``session`` and ``prompt``, as far as the agent sends them. ``known`` are the ids
            of the memories that the session has already, each with the time at which it got them, ``first`` tells
            whether no prompt of it was answered yet, and ``start`` whether the context of its start is still pending.
            ``seconds`` is the time for the answer.

    Raises:
        InputError: The event has no context.
    """
    deadline_at = time.monotonic() + float(event.get("seconds") or 0.0)
    name = event.get("name")
    if name not in ANSWERED_EVENTS:
        raise InputError(f"Event {name!r} has no context.", hint=f"one of {', '.join(ANSWERED_EVENTS)}")
    if name not in hooks.events:
        return EMPTY_CONTEXT
    known: dict[str, float] = dict(event.get("known") or {})
    start = None
    if name == "session-start" or (event.get("start") and "session-start" in hooks.events):
        start = _query_context(
            memory, hooks, event, None, known=known, budget=hooks.start_tokens, until=deadline_at
        )
        known |= dict.fromkeys((citation.id for citation in start.memories), time.time())
    answer = None
    prompt = "" if name == "session-start" else searched_prompt(str(event.get("prompt") or ""))
    if prompt and not is_small_talk(prompt):
        first = bool(event.get("first"))
        answer = _query_context(
            memory, hooks, event, prompt, known=known, first=first, parts=("relevant",),
            budget=hooks.first_tokens if first else hooks.prompt_tokens, until=deadline_at,
        )  # fmt: skip
    zone = load_zone(memory.workspace.settings.recall.tz)
    contexts = [context for context in (start, answer) if context is not None]
    filled = [context for context in contexts if context.text]
    memories = [citation for context in filled for citation in context.memories]
    return {
        "text": "\n".join(context.text for context in filled),
        "cited": [citation_label(citation, zone) for citation in memories],
        "tokens": sum(context.tokens for context in filled),
        "memories": [
            {"id": one.id, "part": one.part, "tokens": one.tokens}
            | ({} if one.relevance is None else {"relevance": one.relevance})
            for one in memories
        ],
        "stale": any(STALE_STORE in context.partial for context in contexts),
    }


def searched_prompt(prompt: str) -> str:
    """Return a prompt without what hooks added to it, and of a long one its first and its last words."""
    for opening, closing in ADDED_BLOCKS:
        prompt, _ = cut_blocks(prompt, opening, closing)
    prompt = prompt.strip()
    if len(prompt) > MAX_PROMPT:
        prompt = f"{prompt[: MAX_PROMPT // 2]}\n{prompt[-MAX_PROMPT // 2 :]}"
    return prompt


def citation_label(citation: Citation, zone: tzinfo | None = None) -> str:
    """Return a memory's file and lines, else its tier and the day of its date in a zone."""
    if citation.date and citation.citation == citation.id:
        return f"{citation.tier} of {local_day(citation.date, zone)}"
    return citation.citation


def _query_context(
    memory: Memory, hooks: HookSettings, event: Mapping[str, Any], query: str | None, **options: Any
) -> Context:
    from scrubjay.services.context import hook_context

    session = event.get("session") or None
    project = (event.get("folder") or None) if hooks.own_project else None
    try:
        return hook_context(memory.workspace, query, project=project, session=session, **options)
    except InputError:
        if project is None:
            raise
        # The home folder and the root of the disk are no project: they get what belongs to none.
        return hook_context(memory.workspace, query, project="", session=session, **options)
