"""Search service: build the request, ingest changed files, open a store view, time and log a query, record usage."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreBusyError, StoreError, StoreReadOnlyError
from scrubjay.frozen import frozen
from scrubjay.models.dates import SECOND, now_micros
from scrubjay.models.ids import is_short_id, may_be_id
from scrubjay.models.options import check_options
from scrubjay.models.records import STATUSES, RecordFilter
from scrubjay.models.results import Notice
from scrubjay.search.request import (
    NO_EXPANSION,
    RECALL_DEFAULTS,
    STAGES,
    ResultCaps,
    SearchOptions,
    SearchRequest,
    ThreadOptions,
    TierOptions,
    build_request,
)
from scrubjay.services.workspace import Workspace, resolve_projects
from scrubjay.storage.quota import used_allowances
from scrubjay.tracing import annotate, traced

if TYPE_CHECKING:
    from pathlib import Path

    from scrubjay.embeddings.base import AnyEmbedder
    from scrubjay.models.records import Source, StageVersions
    from scrubjay.models.reports import FetchReport
    from scrubjay.models.results import Answer, Result, Thread
    from scrubjay.search.browse import FetchWindow
    from scrubjay.storage.interface import Reader

STALE_QUOTA = Notice(
    "Files changed, but there is no room ([quota]): results may be out of date; "
    "`scrubjay sync` takes what fits."
)
STALE_READ_ONLY = Notice("Files changed, but the store is read-only: results may be out of date.")
STALE_BUSY = Notice("Files changed, but another process is writing: results may be out of date.")
SHARED_CHANGED = Notice(
    "Files that others share have changed: their passages are left out until their owner runs `scrubjay sync`."
)
STALE_VERSION = Notice(
    "The store was made by another version or with other settings: `scrubjay sync` brings it up to date."
)


@frozen
class ChangedFiles:
    """Result of a check for changed files.

    Attributes:
        changed: Sources with a few changed files.
        partial: What was not checked, a sentence each.
        versions: Versions of the stages that made the store.
    """

    changed: tuple[Source, ...] = ()
    partial: tuple[str, ...] = ()
    versions: StageVersions | None = None


@traced("scrubjay.search.files")
def find_changed_files(
    workspace: Workspace, reader: Reader, only: Collection[str] | None = None
) -> ChangedFiles:
    """Look for changed files of the sources with these ids; by default of all, if the workspace checks files."""
    sources = reader.sources() if workspace.checks_files or only else []
    if not sources:
        return ChangedFiles()
    from scrubjay.ingest.freshness import check_freshness
    from scrubjay.models.sources import exclude_memory_notes, exclude_nested_sources

    learned = workspace.settings.notes.learned_dir
    freshness = check_freshness(
        reader,
        [
            exclude_memory_notes(exclude_nested_sources(source, sources), learned)
            for source in sources
            if only is None or source.id in only
        ],
        workspace.settings.sync.look_seconds,
        workspace.scan_cache,
    )
    changed = tuple(source for source in sources if source.id in freshness.changed)
    return ChangedFiles(changed, freshness.partial, reader.versions() if changed else None)


@traced("scrubjay.search.ingest")
def ingest_changed_files(
    workspace: Workspace, files: ChangedFiles, max_bytes: int | None = None
) -> tuple[str, ...]:
    """Ingest changed files while no view of the store is open; return what was not checked or not ingested."""
    if any(limit.used >= limit.allowed for limit in used_allowances(workspace.store, workspace.scope)):
        return (*files.partial, STALE_QUOTA)
    try:
        if workspace.store.busy(workspace.scope):
            return (*files.partial, STALE_BUSY)
        from scrubjay.ingest.freshness import MAX_INLINE_BYTES
        from scrubjay.ingest.git import UNREAD_COMMITS
        from scrubjay.services.sync import current_versions, sync_each

        if files.versions is not None and files.versions != current_versions(workspace):
            return (*files.partial, STALE_VERSION)
        most = MAX_INLINE_BYTES if max_bytes is None else max_bytes
        done = sync_each(workspace, list(files.changed), time.monotonic(), None, inline=most)
    except StoreBusyError:
        return (*files.partial, STALE_BUSY)
    except StoreReadOnlyError:
        return (*files.partial, STALE_READ_ONLY)
    return (*files.partial, *(one.message for one in done.notices if one.hint == UNREAD_COMMITS))


def reread_files(workspace: Workspace, memories: Sequence[str], max_bytes: int) -> bool:
    """Ingest changed files of the sources of these memories as a search does, at most ``max_bytes``; return if any."""
    with workspace.reader() as reader:
        places = [record.place for record in reader.get(memories).values()]
        files = find_changed_files(workspace, reader, {place.source for place in places if place is not None})
    if files.changed:
        ingest_changed_files(workspace, files, max_bytes)
    return bool(files.changed)


MAX_LOGGED_QUERY: Final = 2_000
"""Characters of a query that are logged, if the settings allow it."""


class StageTimer:
    """Milliseconds of one query, by part."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.parts: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End a part; parts of one name are added up."""
        now = time.perf_counter()
        self.parts[name] = round(self.parts.get(name, 0.0) + (now - self._last) * 1000, 1)
        self._last = now

    @property
    def ms(self) -> float:
        return round((self._last - self._started) * 1000, 3)


def log_slow_query(
    workspace: Workspace, kind: str, query: str | None, timer: StageTimer, results: int, models: list[str]
) -> None:
    """Log a query that took longer than ``[log] slow_ms``; its words only with ``[log] queries``.

    Its span gets the same, without words.
    """
    annotate(
        {
            "db.system.name": "postgresql" if workspace.store.url.startswith("postgres") else "sqlite",
            "scrubjay.results": results,
            "scrubjay.models": tuple(models),
            "scrubjay.query.words": len((query or "").split()),
        }
    )
    settings = workspace.settings.log
    if workspace.log is None or timer.ms < settings.slow_ms:
        return
    with workspace.reader() as reader:
        memories = sum(map(reader.count_memories, workspace.scope.keys))
    fields: dict[str, str | float | bool] = {f"{name}_ms": ms for name, ms in timer.parts.items()}
    fields |= {"memories": memories, "results": results, "models": ",".join(models)}
    fields |= {"words": len((query or "").split())}
    if settings.queries and query:
        fields["query"] = query[:MAX_LOGGED_QUERY]
    workspace.log.write("warning", f"slow {kind}", timer.ms, **fields)


@frozen
class SearchView:
    """An open store and the models that rank.

    Attributes:
        reader: The view of the store.
        embedders: The models that rank, base first.
        stale: Files that were not checked or not ingested, a sentence each.
        lacks_folder: Whether the folder of a source is missing.
        failed: Models that failed, or that are missed, a sentence each.
        skipped: Other models that a cold process does not load, a sentence each.
        now: UTC microseconds, after changed files were ingested.
    """

    reader: Reader
    embedders: list[AnyEmbedder]
    stale: tuple[str, ...]
    lacks_folder: bool
    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    now: int

    @property
    def names(self) -> list[str]:
        return [one.model.name for one in self.embedders]

    def mark_outdated(self, results: Sequence[Result]) -> tuple[tuple[Result, ...], tuple[Notice, ...]]:
        """Mark the results whose file is gone or newer, if some files were not ingested or a folder is missing.

        Outdated results of others' files are left out, with a notice.
        """
        of_others = any(one.path is None and one.line_start is not None for one in results)
        if not (of_others or (results and (self.stale or self.lacks_folder))):
            return tuple(results), ()
        from scrubjay.ingest.freshness import outdated_memories, outdated_shared

        records = self.reader.get([one.id for one in results]).values()
        hidden = outdated_shared(self.reader, records)
        shown = tuple(one for one in results if one.id not in hidden)
        if self.stale or self.lacks_folder:
            outdated = outdated_memories(self.reader, records, missing_roots=self.lacks_folder)
            shown = tuple(replace(one, outdated=outdated.get(one.id, "")) for one in shown)
        return shown, (SHARED_CHANGED,) if hidden else ()


def unknown_projects(
    workspace: Workspace, reader: Reader, projects: Sequence[str], shown: Collection[str | None]
) -> tuple[Notice, ...]:
    """Return a notice for each of these projects that no visible memory has; those in ``shown`` are not looked up.

    Paths are skipped: a folder may have no memories yet.
    """
    named = [one for one in projects if one and not one.startswith((".", "~", "/", "\\"))]
    return tuple(
        Notice(f"No memory belongs to a project {name!r:.80}.")
        for name in resolve_projects(workspace, named)
        if name not in shown and not reader.latest(RecordFilter(projects=(name,), statuses=STATUSES), 1)
    )


def _embed_changes(workspace: Workspace, embedders: Sequence[AnyEmbedder]) -> None:
    """Embed the few memories that a search ingested, with the models that it ranks with anyway."""
    from scrubjay.services.sync import embed_if_few

    with suppress(StoreBusyError, StoreReadOnlyError):  # it stays pending, and its scores are predicted
        embed_if_few(workspace, embedders)


def _is_folder_missing(workspace: Workspace, reader: Reader) -> bool:
    """Return whether a source's folder is missing; sources of a database may be on another machine."""
    if not workspace.checks_files or workspace.store.url.startswith(("postgres:", "postgresql:")):
        return False
    return not all(os.path.exists(source.root) for source in reader.sources())


@contextmanager
def open_view(workspace: Workspace, timer: StageTimer) -> Iterator[SearchView]:
    """Ingest and embed the few files that changed since the last sync, and open the store.

    One view serves both, since opening one costs a server three round trips; it is reopened after a write or a slow
    model load.
    """
    with ExitStack() as stack:
        reader = stack.enter_context(workspace.reader())
        files = find_changed_files(workspace, reader)
        stale = files.partial
        if files.changed:
            stack.close()
            stale = ingest_changed_files(workspace, files)
            reader = stack.enter_context(workspace.reader())
        timer.lap("files")
        states, models = reader.models(), workspace.models
        if models.are_open(states) and not files.changed:
            embedders, failed = models.rankers(states)
        else:
            stack.close()
            embedders, failed = models.rankers(states)
            if files.changed:
                _embed_changes(workspace, embedders)
            reader = stack.enter_context(workspace.reader())
        timer.lap("models")
        missed, skipped = models.left_out(states)
        lacks_folder = _is_folder_missing(workspace, reader)
        yield SearchView(reader, embedders, stale, lacks_folder, (*failed, *missed), skipped, now_micros())


def search_request(workspace: Workspace, query: str, options: SearchOptions) -> SearchRequest:
    """Return a checked request; an option that is None takes its setting."""
    recall = workspace.settings.recall
    # A preset is fusion and weights at once, so the settings of either do not join it.
    default_fusion = recall.fusion if options.preset is None else "auto"
    default_weights = recall.weights if options.preset is None and not options.fusion else None
    fusion, weights = options.fusion or default_fusion, options.weights or default_weights
    filters, expansion, clock = options.filters, options.expansion, options.clock
    options = replace(options, fusion=fusion, weights=weights)
    expands = uses_default_fusion(options)
    options = replace(
        options,
        filters=replace(filters, projects=resolve_projects(workspace, filters.projects)),
        expansion=replace(
            expansion,
            links=(recall.links if expands else 0) if expansion.links is None else expansion.links,
            hierarchy=(expands and recall.hierarchy) if expansion.hierarchy is None else expansion.hierarchy,
        ),
        clock=replace(clock, tz=clock.tz or recall.tz),
    )
    unset = [name for name in RECALL_DEFAULTS if getattr(options, name) is None]
    options = replace(options, **{name: getattr(recall, name) for name in unset})
    assert options.confidence_floor is not None
    return build_request(
        query,
        options,
        multiplier=recall.candidates,
        tier_options=TierOptions(
            tiers=("observation",) if recall.tiers == "observations" else (),
            weights=recall.tier_weights or {},
            floor=options.confidence_floor,
            here=preferred_project(workspace, options.here) if options.here else None,
        ),
        caps=ResultCaps(recall.session_cap, recall.document_cap),
        variety=recall.variety,
        user=workspace.scope.user,
    )


def _empty_notes(workspace: Workspace, reader: Reader) -> tuple[str, ...]:
    """Return a note if the user sees no memories at all; a misspelt user sees none."""
    if any(map(reader.count_memories, workspace.scope.keys)):
        return ()
    return (f"{workspace.scope.user!r:.80} sees no memories in this store.",)


def search(workspace: Workspace, query: str, options: SearchOptions) -> Answer:
    """Return an answer as `Memory.search` describes it."""
    from scrubjay.search.pipeline import run_search

    timer = StageTimer()
    request = search_request(workspace, query, options)
    reranker, no_reranker = workspace.rerankers.choose(
        workspace, options.rerank, plain=not uses_default_fusion(request), deep=options.deep
    )
    timer.lap("models")
    rewriting = workspace.rewriter.rewrite(query, options.history)
    timer.lap("rewriting")
    with open_view(workspace, timer) as view:
        request = replace(request, rewritten=rewriting.text)
        if options.clock.now is None:
            request = replace(request, now=view.now)
        answer = run_search(view.reader, view.embedders, request, reranker)
        results, changed = view.mark_outdated(answer.results)
        nearest, changed_nearest = view.mark_outdated(answer.nearest)
        shown = {one.project for one in results}
        unknown = unknown_projects(workspace, view.reader, options.filters.projects, shown)
        empty = () if results or nearest else _empty_notes(workspace, view.reader)
    timer.lap("rank")
    log_slow_query(workspace, "search", query, timer, len(results), view.names)
    partial = (*view.stale, *(changed or changed_nearest), *rewriting.partial, *view.failed, *no_reranker)
    return replace(
        answer,
        results=results,
        nearest=nearest,
        partial=(*partial, *answer.partial),
        notes=(*empty, *unknown, *rewriting.notes, *view.skipped, *answer.notes),
        took_ms=timer.ms,
    )


def thread(workspace: Workspace, query: str, options: ThreadOptions) -> Thread:
    """Return a thread as `Memory.thread` describes it."""
    from scrubjay.search.thread import build_thread

    timer, deep = StageTimer(), options.deep
    check_options(options)
    request = search_request(
        workspace,
        thread_question(workspace, query),
        SearchOptions(
            limit=options.limit,
            filters=options.filters,
            clock=options.clock,
            snippet=options.snippet,
            fusion="auto",
            deep=deep,
            explain=True,
            expansion=NO_EXPANSION,
        ),
    )
    request = replace(request, caps=ResultCaps(), stages=STAGES)  # a story may stay with one conversation
    reranker, no_reranker = workspace.rerankers.choose(
        workspace, None if deep else "off", plain=False, deep=deep
    )
    with open_view(workspace, timer) as view:
        if options.clock.now is None:
            request = replace(request, now=view.now)
        story = build_thread(view.reader, view.embedders, request, options, reranker)
        results, changed = view.mark_outdated([entry.result for entry in story.entries])
    marked = {one.id: one for one in results}
    entries = tuple(
        replace(entry, result=marked[entry.result.id]) for entry in story.entries if entry.result.id in marked
    )
    timer.lap("rank")
    log_slow_query(workspace, "thread", query, timer, len(entries), view.names)
    partial = (*view.stale, *changed, *view.failed, *no_reranker, *story.partial)
    return replace(story, entries=entries, partial=partial, took_ms=timer.ms)


_OPERATORS = re.compile(r"[\"“„”«»「」]|(?<!\S)-")
MAX_THREAD_QUESTION: Final = 400
"""Characters of a memory that its thread asks about."""


def thread_question(workspace: Workspace, query: str) -> str:
    """Return the beginning of the memory whose id the query is, else the query."""
    id = query.strip() if isinstance(query, str) else ""
    if not may_be_id(id):
        return query
    from scrubjay.search.browse import find_records

    with workspace.reader() as reader:
        records = list(find_records(reader, [id])[0].values())
    return _OPERATORS.sub(" ", records[0].content[:MAX_THREAD_QUESTION]) if records else query


def uses_default_fusion(request: SearchRequest | SearchOptions) -> bool:
    """Return whether expansion and reranking may be used: any other fusion is only a weighted sum."""
    return request.fusion == "auto" and request.weights is None and request.preset is None


def preferred_project(workspace: Workspace, here: str) -> str | None:
    return workspace.projects().resolve(here) or None


def fetch(
    workspace: Workspace,
    ids: Sequence[str],
    path: str | Path | None,
    lines: tuple[int, int] | None,
    window: FetchWindow,
) -> FetchReport:
    """Return memories as `Memory.get` describes it."""
    from scrubjay.search.browse import fetch_memories
    from scrubjay.services.inspection import find_note

    with workspace.reader() as reader:
        report = fetch_memories(reader, ids, str(path) if path else None, lines, window)
        if path and report.unknown and (note := find_note(reader, str(path))):
            named = fetch_memories(reader, ids, note, lines, window)
            report = report if named.unknown else named
    if ids:
        record_usage(workspace, ids, report)
    return report


USAGE_INTERVAL: Final = 3_600 * SECOND
"""Microseconds within which reading a memory again is the same use; half-lives are weeks or more."""


def record_usage(workspace: Workspace, ids: Sequence[str], found: FetchReport) -> None:
    """Record that the caller's own memories among ``ids`` were used, in one write that waits for nobody.

    Others' memories are not touched: their viewers could tell that somebody reads them. A store that is busy or
    read-only is left as it is, since the read succeeded.
    """
    if not workspace.settings.recall.touch:
        return
    from scrubjay.models.lifecycle import LifecycleChange
    from scrubjay.storage.changes import PutLifecycle

    now, own = now_micros(), workspace.scope.key()
    prefixes = tuple(one for one in ids if one)
    short = tuple(one for one in prefixes if is_short_id(one))
    lives = {
        record.id: LifecycleChange(last_used=now)
        for record in found.records
        if record.key == own
        and (record.id.startswith(prefixes) or record.id.partition("_")[2].startswith(short))
        and (record.last_used is None or now - record.last_used >= USAGE_INTERVAL)
    }
    if lives:
        with suppress(StoreError):
            workspace.store.write(workspace.scope, [PutLifecycle(lives)], patience=0.0)
