"""Context service: build the request of a context, open a store view, time and log it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.errors import InputError
from scrubjay.models.dates import load_zone, now_micros, parse_when
from scrubjay.models.results import ANSWERING_PARTS, CONTEXT_PARTS
from scrubjay.search.context import ContextRequest, ContextScope, build_context
from scrubjay.search.request import SearchOptions
from scrubjay.services.models import RewriteOutcome
from scrubjay.services.search import StageTimer, log_slow_query, open_view, search_request
from scrubjay.services.workspace import Workspace, resolve_projects

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.models.results import Context


def context(
    workspace: Workspace,
    query: str | None,
    *,
    budget: int | None = None,
    project: str | None = None,
    session: str | None = None,
    agent: str | None = None,
    exclude_paths: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    now: str | datetime | None = None,
    history: Sequence[str] = (),
    unprompted: bool = False,
    known: Sequence[str] = (),
    hook: bool = False,
    without_amended: bool = False,
    first: bool = True,
) -> Context:
    """Return a context as `Memory.context` describes it.

    ``known`` are ids of the memories that the conversation has already, which are not repeated in any form. ``hook``
    tells that it is for an agent's hook: with a query it is a briefing (`search.briefing`), for the ``first`` prompt of
    a session or a later one; else what the session begins with, without what a later document seems to change if
    ``without_amended`` (`search.context`).
    """
    if query is not None and not isinstance(query, str):
        raise InputError(f"The query is a {type(query).__name__}, not a text.")
    timer = StageTimer()
    settings = workspace.settings.context
    asked_at = parse_when(now, load_zone(workspace.settings.recall.tz))
    (name,) = resolve_projects(workspace, [project]) if project else (project,)
    moment = asked_at.start if asked_at is not None else now_micros()
    asking = None
    if query is not None:
        asking = replace(search_request(workspace, query, SearchOptions(here=project)), now=moment)
    request = ContextRequest(
        asking,
        settings.budget if budget is None else budget,
        ContextScope(name, agent, session, moment),
        settings.loaded if exclude_paths is None else exclude_paths,
        (CONTEXT_PARTS if query is None else ANSWERING_PARTS) if parts is None else parts,
        settings.sessions,
        unprompted,
        known,
        hook,
        without_amended,
    ).checked()
    rewriting = RewriteOutcome()
    if asking is not None and query is not None:
        rewriting = workspace.rewriter.rewrite(query, history)
        timer.lap("rewriting")
        request = replace(request, asking=replace(asking, rewritten=rewriting.text))
    with open_view(workspace, timer, embed=not hook) as view:
        if hook and query is not None:
            from scrubjay.search.briefing import build_briefing

            found = build_briefing(view.reader, view.embedders, request, first=first)
        else:
            found = build_context(view.reader, view.embedders, request)
    timer.lap("rank")
    log_slow_query(workspace, "context", query, timer, len(found.memories), view.names)
    partial = (*view.stale, *rewriting.partial, *view.failed, *found.partial)
    return replace(found, partial=partial, took_ms=timer.ms)
