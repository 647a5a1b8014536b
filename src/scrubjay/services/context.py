"""Context service: build the request of a context, open a store view, time and log it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from scrubjay.ingest.freshness import head_changed, outdated_memories, outdated_shared
from scrubjay.models.dates import load_zone, moment
from scrubjay.models.results import ANSWERING_PARTS, CONTEXT_PARTS, STALE_STORE
from scrubjay.models.sources import repository_of
from scrubjay.search.context import OUTDATED, ContextRequest, ContextScope, build_context
from scrubjay.search.request import SearchOptions
from scrubjay.services.query_rewriter import RewriteOutcome
from scrubjay.services.search import (
    SHARED_CHANGED,
    SearchView,
    StageTimer,
    log_slow_query,
    open_view,
    reread_files,
    search_request,
    unknown_projects,
)
from scrubjay.services.workspace import Workspace, resolve_projects

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.models.records import Record
    from scrubjay.models.results import Context
    from scrubjay.storage.interface import Reader


REREAD_FACTOR: Final = 3
"""Multiple of a context's build time within which changed files can mostly be read and the context built again."""
MAX_HOOK_BYTES: Final = 20_000
"""Bytes of changed files that a hook ingests itself."""


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
    known: Mapping[str, float] = MappingProxyType({}),
    hook: bool = False,
    first: bool = True,
    until: float = 0.0,
) -> Context:
    """Return a context as `Memory.context` describes it.

    ``known`` are ids of the memories that the conversation has already, which are not repeated in any form. With
    ``hook`` it is for an agent's hook: with a query a briefing (`search.briefing`), for the ``first`` prompt of a
    session or a later one; else the context of a new session (`search.context`). If files are not checked before,
    memories whose file is gone or newer are left out; such files are read again first if that is likely to end before
    ``until``, a time of ``time.monotonic``.
    """
    timer = StageTimer()
    settings = workspace.settings.context
    zone = load_zone(workspace.settings.recall.tz)
    at = moment(now, zone)
    (name,) = resolve_projects(workspace, [project]) if project else (project,)
    asking = None
    if query is not None:
        asking = replace(search_request(workspace, query, SearchOptions(here=project)), now=at)
    request = ContextRequest(
        asking=asking,
        budget=settings.budget if budget is None else budget,
        scope=ContextScope(name, agent, session, at, workspace.scope.user),
        exclude_paths=settings.loaded if exclude_paths is None else exclude_paths,
        parts=(CONTEXT_PARTS if query is None else ANSWERING_PARTS) if parts is None else parts,
        sessions=settings.sessions,
        unprompted=unprompted,
        known=known,
        hook=hook,
        zone=zone,
    ).checked()
    rewriting = RewriteOutcome()
    if asking is not None and query is not None:
        rewriting = workspace.rewriter.rewrite(query, history)
        timer.lap("rewriting")
        request = replace(request, asking=replace(asking, rewritten=rewriting.text))
    projects = [project] if project and not hook else []
    built, view = _build_context(workspace, timer, request, projects, first=first)
    outdated = [one.id for one in built.left_out if one.why == OUTDATED]
    build_seconds = timer.ms / 1000
    if (
        outdated
        and until - time.monotonic() > REREAD_FACTOR * build_seconds
        and reread_files(workspace, outdated, MAX_HOOK_BYTES)
        and until - time.monotonic() > build_seconds
    ):
        built, view = _build_context(workspace, timer, request, projects, first=first)
    log_slow_query(workspace, "context", query, timer, len(built.memories), view.names)
    partial = (*view.stale, *rewriting.partial, *view.failed, *built.partial)
    return replace(built, partial=partial, took_ms=timer.ms)


def hook_context(workspace: Workspace, query: str | None, **options: Any) -> Context:
    """Return a context for an agent's hook as `context`, with a check of the files of its memories alone."""
    unchecked = replace(workspace, checks_files=False)
    return context(unchecked, query, unprompted=query is not None, hook=True, **options)


def _build_context(
    workspace: Workspace, timer: StageTimer, request: ContextRequest, projects: Sequence[str], *, first: bool
) -> tuple[Context, SearchView]:
    shared: set[str] = set()

    def outdated(reader: Reader, records: Iterable[Record]) -> set[str]:
        records = list(records)
        shared.update(outdated_shared(reader, records))
        return shared if workspace.checks_files else shared | outdated_memories(reader, records).keys()

    request = replace(request, outdated=outdated)
    with open_view(workspace, timer) as view:
        if request.hook and request.asking is not None:
            from scrubjay.search.briefing import build_briefing

            built = build_briefing(view.reader, view.embedders, request, first=first)
        else:
            built = build_context(view.reader, view.embedders, request)
        unread = request.hook and any(map(head_changed, filter(repository_of, view.reader.sources())))
        unknown = unknown_projects(workspace, view.reader, projects, ())
    timer.lap("rank")
    left_out = {one.id for one in built.left_out if one.why == OUTDATED}
    notices = (SHARED_CHANGED,) * bool(left_out & shared) + (STALE_STORE,) * bool(unread or left_out - shared)
    return replace(built, partial=(*unknown, *built.partial, *notices)), view
