"""Memory: the public API."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.models.lifecycle import UNCHANGED, Unchanged
from scrubjay.models.records import Scope
from scrubjay.services.arguments import check_arguments, check_calls
from scrubjay.services.models import (
    ModelRegistry,
    QueryRewriter,
    RerankerRegistry,
    caller_catalog,
    settings_catalog,
)
from scrubjay.services.workspace import Workspace, ignore_announcement, log_unexpected_end
from scrubjay.storage.quota import Quota
from scrubjay.storage.urls import open_store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder
    from scrubjay.log import Log
    from scrubjay.models.lifecycle import NewMemory
    from scrubjay.models.reports import (
        AddReport,
        AuditReport,
        BackupReport,
        ConsolidationReport,
        CopyReport,
        EmbedReport,
        ExportReport,
        FetchReport,
        ForgetReport,
        ImportReport,
        IndexReport,
        MemoryPage,
        ModelStatus,
        Progress,
        Redaction,
        RemovedSource,
        RetentionReport,
        SourceStatus,
        StoreStatus,
        SyncReport,
        UndoReport,
        VectorReport,
    )
    from scrubjay.models.results import Answer, Context, Thread
    from scrubjay.models.views import (
        ChangeReport,
        MemoryHistory,
        MemoryLink,
        MemoryView,
        RewriteReport,
        TimelinePage,
        UpdateReport,
    )
    from scrubjay.rerankers.base import Reranker
    from scrubjay.services.dictionary import Categories, Concepts


def _warn_former_name(old: str, new: str) -> None:
    warnings.warn(
        f"Memory.{old} is called {new} now. The old name works for this release only.",
        FutureWarning,
        stacklevel=4,  # this function, the method, its argument check
    )


@check_calls
class Memory:
    """Everything one principal remembers, in one store.

    A call with an argument of a wrong type, and any call after `close`, raises `InputError`.

    Example:
        >>> from scrubjay.embeddings.hash_embedder import HashEmbedder
        >>> with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        ...     _ = memory.add("The launch code is blue bunny.")
        ...     memory.search("launch code").results[0].snippet
        'The launch code is blue bunny.'
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @classmethod
    def open(
        cls,
        url: str | Path | None = None,
        *,
        user: str | None = None,
        groups: Sequence[str] | None = None,
        tenant: str | None = None,
        settings: Settings | None = None,
        embedders: Sequence[Embedder] | None = None,
        reranker: Reranker | None = None,
        cold: bool = False,
        announce: Callable[[str], None] = ignore_announcement,
        log: Log | None = None,
    ) -> Self:
        """Open a store, made if it is not there.

        Args:
            url: A path, ``sqlite:///path``, ``memory://`` or ``postgresql://…``; None takes the settings' store.
            user: Who asks and writes; None takes the settings' user.
            groups: Groups they belong to; None takes the settings' groups.
            tenant: The walled garden; None takes the settings' tenant.
            settings: Settings; None loads them from file and environment.
            embedders: Models instead of the settings' own: the first is the base model, which is always
                complete, the others are backfilled by `embed`.
            reranker: Who looks again at the best of what a search found, instead of what the settings say.
            cold: Rank by words and the base model only, and say so: for a process that answers once.
            announce: Told the host and the counts before a remote provider is first used.
            log: Where slow questions and what syncs could not read are told; None for nowhere.

        Raises:
            ScrubjayError: The store cannot be opened, or a setting is wrong.
        """
        check_arguments(cls.open, url, user=user, groups=groups, tenant=tenant, cold=cold)
        settings = settings if settings is not None else load_settings()
        quota = Quota(settings.quota.memories_per_tenant, settings.quota.memories_per_user)
        store = open_store(str(url) if url is not None else settings.store, quota=quota)
        scope = Scope(
            tenant or settings.tenant,
            user or settings.user,
            tuple(settings.groups if groups is None else groups),
        )
        catalog = settings_catalog(settings, announce) if embedders is None else caller_catalog(embedders)
        return cls(
            Workspace(
                store,
                scope,
                ModelRegistry(store, scope, catalog, cold=cold, overlap=settings.chunk.overlap),
                settings,
                announce=announce,
                log=log,
                rewriter=QueryRewriter(settings.llm, announce),
                rerankers=RerankerRegistry(reranker),
            )
        )

    def seen_by(
        self, user: str, *, groups: Sequence[str] = (), tenant: str | None = None, curate: bool = False
    ) -> Self:
        """Return the same store, with the same models, as somebody else sees it; it ends when either is closed.

        Another user's additions are not appended to this one's day notes.

        Args:
            user: Who asks and writes.
            groups: Groups they belong to; none of this one's.
            tenant: The walled garden; None for the same.
            curate: Whether they may change, archive, forget and judge what others shared; else only what is theirs.
        """
        scope = Scope(tenant or self._workspace.scope.tenant, user, tuple(groups))
        return type(self)(self._workspace.for_principal(scope, may_curate=curate))

    def sync(
        self,
        path: str | Path | None = None,
        *,
        only: str | Path | None = None,
        description: str = "",
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        project: str | None = None,
        trust: str | None = None,
        share: bool | None = None,
        embed_seconds: float = 0.0,
        progress: Callable[[Progress], None] | None = None,
    ) -> SyncReport:
        """Bring the store in step with a folder or file, or with every registered source.

        Args:
            path: Folder or file, registered as a source if it is new; None takes all sources.
            only: The one file of the folder that is read; the others stay as they were stored.
            description: One line that is returned with the source's hits.
            include: gitignore patterns of what to take, kept with the source.
            exclude: gitignore patterns of what to leave out, kept with the source.
            project: Project that the files belong to, by name or path, kept with the source; ``none`` for no project,
                ``auto`` for that of the repository they lie in, which is the default. None leaves what was said before.
            trust: ``trusted`` or ``untrusted``, kept with the source, or ``auto``, which is the default: untrusted is
                what lies below a folder of dependencies or in a repository that is mostly others' work. None leaves
                what was said before. Of untrusted text nothing is learned, and it enters no injected context.
            share: Whether front matter may show notes to others, kept with the source; not by default. None leaves
                what was said before.
            embed_seconds: Time to spend on backfilled models afterwards.
            progress: Told how far it is.

        Raises:
            InputError: The path is not there, ``trust`` is none of the three, a project is named that can be none, or
                something is said of no path.
            StoreError: The store cannot be written; what was stored stays.
        """
        from scrubjay.ingest.trust import TrustChoice
        from scrubjay.models.records import Source
        from scrubjay.services.sync import sync

        if trust not in (None, "auto", "trusted", "untrusted"):
            raise InputError(
                f"Trust {trust!r:.40} is not auto, trusted or untrusted. Nothing was synced.",
                hint="leave it out to keep what was said before",
            )
        choice = TrustChoice("" if trust == "auto" else trust, share)
        settings = self._workspace.settings.sync
        wish = Source(
            "", "", description, tuple(include or settings.include), tuple(exclude or settings.exclude)
        )
        one = Path(only) if only is not None else None
        summary = sync(
            self._workspace, Path(path) if path is not None else None, wish, progress, one, project, choice
        )
        if embed_seconds > 0:
            done = self.embed(seconds=embed_seconds, progress=progress)
            seconds = summary.seconds + done.seconds
            summary = replace(summary, embedded=done.embedded, waiting=done.waiting, seconds=seconds)
        return summary

    def sources(self) -> list[SourceStatus]:
        """Return the registered sources with what they hold."""
        from scrubjay.services.inspection import list_sources

        return list_sources(self._workspace)

    def redactions(self) -> list[Redaction]:
        """Return what was replaced as a secret or private in the memories that the caller may see, with its place."""
        from scrubjay.services.inspection import list_redactions

        return list_redactions(self._workspace)

    def remove_source(self, name: str) -> RemovedSource:
        """Remove a source by id or path, with everything it brought and what rests on that alone.

        Its files are not touched. What has other evidence stays, and what was pinned.

        Raises:
            NotFoundError: No such source is registered.
        """
        from scrubjay.services.inspection import find_source
        from scrubjay.services.sync import remove_source

        return remove_source(self._workspace, find_source(self._workspace, name))

    def watch(self, *, stop: threading.Event, report: Callable[[SyncReport], None]) -> None:
        """Sync now and whenever a source's files change, until ``stop`` is set.

        Raises:
            SourceError: The watch ended although nobody stopped it.
        """
        from scrubjay.ingest.watcher import sync_on_change

        with self._workspace.store.reader(self._workspace.scope) as reader:
            sources = reader.sources()
        try:
            sync_on_change(
                sources, self.sync, report, debounce=self._workspace.settings.sync.debounce, stop=stop
            )
        except ScrubjayError as error:
            log_unexpected_end(self._workspace, "watch", error)
            raise

    def get(
        self,
        ids: str | Sequence[str] = (),
        *,
        path: str | Path | None = None,
        lines: tuple[int, int] | None = None,
        neighbours: int = 0,
        limit: int = 20_000,
        offset: int = 0,
        evidence: bool = False,
    ) -> FetchReport:
        """Return memories by id (or its shortest unique beginning), or a file's passages by path and lines.

        What is read by its id and is the caller's own counts as used now, once an hour (``[recall] touch``).

        Args:
            ids: Up to 20 ids.
            path: A synced file: absolute, from here, or relative to its source.
            lines: First and last line, inclusive; None takes the whole file.
            neighbours: Passages to return on either side of each; of a conversation, turns.
            limit: Most characters to return.
            offset: Characters to pass over first, as ``next_offset`` says.
            evidence: Return with each derived memory what it was taken from.

        Raises:
            InputError: Neither or both of ids and path, too many ids, or numbers out of range.
        """
        from scrubjay.search.browse import FetchWindow, fetch_memories
        from scrubjay.services.search import record_usage

        wanted = [ids] if isinstance(ids, str) else list(ids)
        with self._workspace.store.reader(self._workspace.scope) as reader:
            window = FetchWindow(neighbours, limit, offset, evidence)
            found = fetch_memories(reader, wanted, str(path) if path else None, lines, window)
        if wanted:
            record_usage(self._workspace, wanted, found)
        return found

    def add(
        self,
        content: str,
        *,
        tier: str = "observation",
        title: str = "",
        tags: Sequence[str] = (),
        date: str | datetime | None = None,
        session: str | None = None,
        role: str | None = None,
        turn: int | None = None,
        project: str | None = None,
        agent: str | None = None,
        visibility: str = "user",
        group: str | None = None,
        confidence: float = 1.0,
        valid_from: str | datetime | None = None,
        valid_until: str | datetime | None = None,
        origin: str = "owner",
        pinned: bool = False,
    ) -> AddReport:
        """Add one memory, durably; adding the same content in the same scope again finds the same memory.

        Secrets in it are replaced before anything is stored. With a notes folder in the settings it is also
        appended to the day's note. The fields are those of `NewMemory`.

        Raises:
            InputError: A field has a value it cannot have; nothing was written.
        """
        from scrubjay.models.lifecycle import NewMemory

        new = NewMemory(
            content, tier, title, tags, date, session, role, turn,
            project, agent, visibility, group, confidence, valid_from, valid_until, origin, pinned,
        )  # fmt: skip
        from scrubjay.services.additions import add_one

        return add_one(self._workspace, new)

    def add_many(self, memories: Iterable[NewMemory]) -> list[AddReport]:
        """Add many memories at once; all are checked before the first is written.

        A turn that is nothing but recalled memories is left out: ``passed`` of its answer says why.
        """
        from scrubjay.services.additions import add

        return add(self._workspace, memories)

    def forget(self, ids: str | Sequence[str]) -> ForgetReport:
        """Remove memories for good: text, vectors, index, cache, and names and digests that rest on them.

        A keyed hash keeps `sync` from bringing them back; files are not edited, their lines are named.
        """
        from scrubjay.services.curation import forget_memories

        return forget_memories(self._workspace, [ids] if isinstance(ids, str) else list(ids))

    @property
    def concepts(self) -> Concepts:
        """The dictionary: list, show, add, merge, rename and remove concepts."""
        self._refuse_closed()
        from scrubjay.services.dictionary import Concepts

        return Concepts(self._workspace)

    @property
    def categories(self) -> Categories:
        """The hierarchy of topics and places: list and show categories."""
        self._refuse_closed()
        from scrubjay.services.dictionary import Categories

        return Categories(self._workspace)

    def links(self, memory: str) -> tuple[MemoryLink, ...]:
        """Return what a memory is joined with, to and fro: the heaviest ten of each kind.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.services.inspection import list_links

        return list_links(self._workspace, memory)

    def link(
        self, src: str, dst: str, kind: str = "links", weight: float = 1.0, rule: str = ""
    ) -> MemoryLink:
        """Join two memories, for whoever asks: ``links``, ``derived_from``, ``supersedes`` or ``contradicts``.

        Raises:
            InputError: An id is not there, both are one, or kind or weight (0..1) cannot be.
        """
        from scrubjay.models.graph import Edge
        from scrubjay.services.curation import add_link

        return add_link(self._workspace, Edge(src, kind, dst, "", weight, rule=rule))

    def unlink(self, src: str, dst: str, kind: str = "links") -> None:
        """Part two memories again; what a text itself says comes back when that text is written again.

        Raises:
            NotFoundError: The first is not joined with the second in this way.
        """
        from scrubjay.services.curation import remove_link

        remove_link(self._workspace, src, dst, kind)

    def embed(
        self, *, seconds: float | None = None, progress: Callable[[Progress], None] | None = None
    ) -> EmbedReport:
        """Embed what waits for a backfilled model; stopped at any moment, it goes on where it was.

        Raises:
            ProviderError: A model failed; what was embedded before is stored.
        """
        from scrubjay.services.enrichment import embed_pending

        return embed_pending(self._workspace, seconds, progress)

    def rebuild(self, *, progress: Callable[[Progress], None] | None = None) -> SyncReport:
        """Make every memory anew from what is stored, beside the old ones, and switch at once."""
        from scrubjay.services.sync import rebuild_store

        return rebuild_store(self._workspace, progress)

    def build_index(self, *, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Build the index of a large tenant on PostgreSQL: blocks of its words and, with pgvector, a vector index.

        Needs the rights of the tables' owner (docs/postgres.md, "A large tenant"); others read and write meanwhile.

        Raises:
            InputError: The store is of another kind, which needs none.
            StoreError: The database's user may not build it.
        """
        return self._workspace.store.enlarge(self._workspace.scope, progress or (lambda _: None))

    def drop_index(self) -> None:
        """Drop what `build_index` built; answers stay the same, a search of a large tenant takes longer.

        Raises:
            InputError: The store is of another kind, which has none.
            StoreError: The database's user may not.
        """
        self._workspace.store.reduce(self._workspace.scope)

    def enlarge(self, *, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Former name of `build_index`; calling it warns."""
        _warn_former_name("enlarge", "build_index")
        return self.build_index(progress=progress)

    def reduce(self) -> None:
        """Former name of `drop_index`; calling it warns."""
        _warn_former_name("reduce", "drop_index")
        self.drop_index()

    def models(self) -> list[ModelStatus]:
        """Return the embedding models and how far each reaches, the base model first."""
        return self._workspace.models.status()

    def add_model(self, name: str) -> ModelStatus:
        """Register a model of the settings, to be backfilled beside those in use."""
        return self._workspace.models.add(name)

    def use_model(self, name: str) -> ModelStatus:
        """Rank with a model, beside the base model, from now on."""
        return self._workspace.models.use(name)

    def drop_model(self, name: str) -> ModelStatus:
        """Remove a model and its vectors from the store."""
        return self._workspace.models.drop(name)

    def status(self) -> StoreStatus:
        """Return facts: what is stored, which models and sources there are, how large it is."""
        from scrubjay.services.inspection import store_status

        return store_status(self._workspace)

    def close(self) -> None:
        """Close the store. What `seen_by` returned is closed with it; closing twice does nothing."""
        self._workspace.closed.set()
        self._workspace.store.close()

    def _refuse_closed(self) -> None:
        if self._workspace.closed.is_set():
            raise InputError(
                f"The memory of {self._workspace.store.url} was closed. Nothing was done.",
                hint="open it again with Memory.open, or call it inside its `with` block",
            )

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active",),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
        fusion: str | None = None,
        weights: Mapping[str, float] | None = None,
        preset: str | None = None,
        channels: Sequence[str] | None = None,
        models: Sequence[str] | None = None,
        stages: Sequence[str] | None = None,
        rerank: str | None = None,
        links: int | None = None,
        hierarchy: bool | None = None,
        depth: int = 3,
        alpha: float = 0.5,
        threshold: float | None = None,
        explain: bool = False,
        snippet: int | None = None,
        now: str | datetime | None = None,
        history: Sequence[str] = (),
        as_of: str | datetime | None = None,
        tz: str | None = None,
        min_relevance: float | str | None = None,
        here: str | None = None,
        confidence_floor: float | None = None,
        by: str = "memory",
        neighbours: int = 0,
    ) -> Answer:
        """Return the memories that answer a query, best first.

        Args:
            query: A question, words, an identifier. ``"quoted"`` text must stand in a result; ``-word`` must not.
            limit: Most results.
            tiers: Any of these tiers.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after: ISO text (``2026``, ``2026-03``, ``2026-03-01``, with time) or datetime.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path (``.`` is the one here).
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.
            fusion: ``auto`` (weights follow the query), ``rrf``, ``weighted`` (z-scores) or ``raw`` (cosine, BM25 and
                trigrams, each from 0 to 1).
            weights: Channel (``bm25``, ``vector``, ``ngram``, ``graph``) to weight.
            preset: Another system's fusion: ``kit``, ``openclaw`` or ``router``.
            channels: Channels that take part; None for all.
            models: Names of embedding models that take part; None for all in use.
            stages: Optional stages that take part (docs/recall.md names them); None for all.
            rerank: Who looks again at the best of what was found (docs/rerank.md): ``features``, ``cross-encoder``,
                ``http``, ``chat``, or ``off``; None takes the reranker that `open` was given, else the settings' one.
            links: Hops over links (given, written, automatic) that are followed from the results; 0 for none, None
                for what the settings say, which they say for fusion ``auto`` alone.
            hierarchy: Whether what belongs to the categories that fit is lifted and brought in; None as for ``links``.
            depth: Levels of categories for that, 1..10.
            alpha: What a memory's own score weighs beside its category's, 0..1.
            threshold: Least score of a result, 0..1, for fusion ``raw``, whose scores have a unit; None for none.
            explain: Return with each result every part of its score.
            snippet: Most characters of a snippet.
            now: When the question is asked, to which everything has its age; None for this moment.
            history: What was said before, oldest first. Where ``[llm] rewrite`` is on, a language model puts into the
                query what it leaves to that ("and when was that?"); what it makes of it is searched, too.
            as_of: Answer by what was true then (valid time, not the state of the index): what was replaced since is
                found, what became true later is not. A date means its end. "As of" in the query says the same.
            tz: The zone of dates and of "yesterday", by its IANA name; None for the settings'.
            min_relevance: ``auto``: an empty answer that says so where nothing is likely to answer; a number from
                0 to 1: only results of at least this relevance; 0 for all. None for the setting, which is ``auto``.
            here: Project whose memories are preferred, by name or a path in it (``.`` is the one here); the others
                are searched as well. None prefers none.
            confidence_floor: Confidence below which a memory is no result, 0 for none; None for the settings'.
            by: What a result is: a ``memory``; or a ``session``, one for each conversation, ranked from its turns:
                the best of them, with the next two in ``turns``.
            neighbours: Turns of its conversation to show with a result, on either side, in ``turns``; at most 10.
                Results that stand there are shown there alone.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.search.pipeline import run_search
        from scrubjay.search.request import Clock, Filters
        from scrubjay.services.search import (
            StageTimer,
            log_slow_query,
            open_view,
            search_request,
            uses_default_fusion,
        )

        workspace, timer = self._workspace, StageTimer()
        request = search_request(
            workspace,
            query,
            Filters(
                tiers, tags, path, sources, since, until, statuses, projects, agents, sessions, categories
            ),
            Clock(now, tz, as_of),
            fusion=fusion,
            weights=weights,
            preset=preset,
            channels=channels,
            models=models,
            stages=stages,
            limit=limit,
            snippet=snippet,
            explain=explain,
            min_relevance=min_relevance,
            here=here,
            confidence_floor=confidence_floor,
            links=links,
            hierarchy=hierarchy,
            depth=depth,
            alpha=alpha,
            threshold=threshold,
            by=by,
            neighbours=neighbours,
        )
        reranker, no_reranker = workspace.rerankers.choose(
            workspace, rerank, plain=not uses_default_fusion(request)
        )
        timer.lap("models")
        rewriting = workspace.rewriter.rewrite(query, history)
        timer.lap("rewriting")
        with open_view(workspace, timer) as view:
            request = replace(request, rewritten=rewriting.text, now=view.now if now is None else request.now)
            found = run_search(view.reader, view.embedders, request, reranker)
        timer.lap("rank")
        log_slow_query(workspace, "search", query, timer, len(found.results), view.names)
        partial = (*view.stale, *rewriting.partial, *view.failed, *no_reranker, *found.partial)
        notes = (*rewriting.notes, *view.skipped, *found.notes)
        return replace(found, partial=partial, notes=notes, took_ms=timer.ms)

    def thread(
        self,
        query: str,
        *,
        hops: int = 2,
        limit: int = 12,
        fan_out: int = 8,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active", "superseded"),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
        snippet: int | None = None,
        now: str | datetime | None = None,
        as_of: str | datetime | None = None,
        tz: str | None = None,
    ) -> Thread:
        """Return the story that a question is about: what was found, what led there and what came of it.

        It begins with what `search` finds and goes on over concepts that memories share, concepts related to
        those, what comes before and after in a conversation or document, links, evidence, and what superseded or
        contradicts what. Each memory says by which way it was come to.

        Args:
            query: A question, words, an identifier, as `search` takes it.
            hops: Most hops from what the search finds, 0..4. Over a concept is one, over two related concepts two.
            limit: Most memories, 1..100.
            fan_out: Most edges of a kind that are followed from one memory or concept, 1..50.
            tiers: Any of these tiers; this and the other filters hold for all that the thread shows.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses. A story tells what was before: superseded memories are marked as such.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.
            snippet: Most characters of a snippet.
            now: When the question is asked, to which everything has its age; None for this moment.
            as_of: Tell only what was true then (valid time, not the state of the index), as in `search`.
            tz: The zone of dates and of "yesterday", by its IANA name; None for the settings'.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.search.request import STAGES, Clock, Filters, ResultCaps
        from scrubjay.search.thread import ThreadOptions, build_thread
        from scrubjay.services.search import StageTimer, log_slow_query, open_view, search_request

        workspace, timer = self._workspace, StageTimer()
        bounds = ThreadOptions(hops, fan_out).checked(limit)
        request = search_request(
            workspace,
            query,
            Filters(
                tiers, tags, path, sources, since, until, statuses, projects, agents, sessions, categories
            ),
            Clock(now, tz, as_of),
            fusion="auto",
            limit=limit,
            snippet=snippet,
            explain=True,
            links=0,
            hierarchy=False,
        )
        request = replace(request, caps=ResultCaps(), stages=STAGES)  # a story may stay with one conversation
        with open_view(workspace, timer) as view:
            request = request if now is not None else replace(request, now=view.now)
            found = build_thread(view.reader, view.embedders, request, bounds)
        timer.lap("rank")
        log_slow_query(workspace, "thread", query, timer, len(found.knots), view.names)
        return replace(found, partial=(*view.stale, *view.failed, *found.partial), took_ms=timer.ms)

    def page(
        self,
        *,
        after: str = "",
        limit: int = 50,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active",),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> MemoryPage:
        """Return memories a page at a time, in the order of their ids' digits, which no writing disturbs.

        Args:
            after: Go on after this one, as ``next`` of the page before says; empty for the first page.
            limit: Most memories, 1..1,000.
            tiers: Any of these tiers.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.search.browse import page_memories
        from scrubjay.search.request import Filters, build_request
        from scrubjay.services.workspace import resolve_projects

        filters = Filters(
            tiers, tags, path, sources, since, until, statuses,
            resolve_projects(self._workspace, projects), agents, sessions, categories,
        )  # fmt: skip
        wanted = build_request("", filters=filters, limit=limit)
        with self._workspace.store.reader(self._workspace.scope) as reader:
            return page_memories(reader, wanted, after)

    def vectors(self, texts: Sequence[str], *, model: str | None = None) -> VectorReport:
        """Return what a bundled model makes of texts: one unit vector a text, whatever its length.

        Nothing is stored. A text longer than the model's window is the mean of its windows.

        Args:
            texts: The texts.
            model: Name of a bundled model; None for the base model.

        Raises:
            NotFoundError: No bundled model is called so.
            ProviderError: The model is missing or damaged.
        """
        from scrubjay.services.enrichment import embed_texts

        return embed_texts(self._workspace, texts, model)

    def context(
        self,
        query: str | None = None,
        *,
        budget: int | None = None,
        project: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        exclude_paths: Sequence[str] | None = None,
        parts: Sequence[str] | None = None,
        now: str | datetime | None = None,
        history: Sequence[str] = (),
    ) -> Context:
        """Return what is worth having in mind, as one text to be put into a conversation.

        Without a question, as when a session begins: what is pinned, what is known of the project, the last
        sessions. With one: what is pinned, and what has to do with it; where nothing has, the text is empty. It
        stands between `memory.delimiters`, so that it is never captured as new, is escaped, so that nothing in it
        ends it, and holds no memory of origin ``untrusted`` nor one that was made from such.

        Args:
            query: What is asked; None where a session begins.
            budget: Most tokens, 50..100,000; None for the settings'.
            project: Only of this project and of none, by name, the end of a name, or a path; None for all.
            session: The conversation that goes on; what was said in it is left out.
            agent: Only what this agent wrote or recorded; None for all.
            exclude_paths: Names (``CLAUDE.md``) or patterns of paths of files that the agent reads itself; None for
                the settings'.
            parts: Any of ``pinned``, ``profile``, ``recent``, ``relevant``; None for all where a session begins, and
                for what is pinned and what is relevant where something is asked.
            now: When it is asked; None for this moment.
            history: What was said before, oldest first; read as in `search`, where ``[llm] rewrite`` is on.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.models.dates import load_zone, now_micros, parse_when
        from scrubjay.models.results import ANSWERING_PARTS, CONTEXT_PARTS
        from scrubjay.search.context import ContextRequest, ContextScope, build_context
        from scrubjay.services.models import RewriteOutcome
        from scrubjay.services.search import StageTimer, log_slow_query, open_view, search_request
        from scrubjay.services.workspace import resolve_projects

        if query is not None and not isinstance(query, str):
            raise InputError(f"The query is a {type(query).__name__}, not a text.")
        workspace, timer = self._workspace, StageTimer()
        settings = workspace.settings.context
        asked_at = parse_when(now, load_zone(workspace.settings.recall.tz))
        (name,) = resolve_projects(workspace, [project]) if project is not None else (None,)
        moment = asked_at.start if asked_at is not None else now_micros()
        asking = None
        if query is not None:
            asking = replace(search_request(workspace, query, here=project), now=moment)
        request = ContextRequest(
            asking,
            settings.budget if budget is None else budget,
            ContextScope(name, agent, session, moment),
            settings.loaded if exclude_paths is None else exclude_paths,
            (CONTEXT_PARTS if query is None else ANSWERING_PARTS) if parts is None else parts,
            settings.sessions,
        ).checked()
        rewriting = RewriteOutcome()
        if asking is not None and query is not None:
            rewriting = workspace.rewriter.rewrite(query, history)
            timer.lap("rewriting")
            request = replace(request, asking=replace(asking, rewritten=rewriting.text))
        with open_view(workspace, timer) as view:
            found = build_context(view.reader, view.embedders, request)
        timer.lap("rank")
        log_slow_query(workspace, "context", query, timer, len(found.memories), view.names)
        partial = (*view.stale, *rewriting.partial, *view.failed, *found.partial)
        return replace(found, partial=partial, took_ms=timer.ms)

    def look(self, memory: str, *, neighbours: int = 2) -> MemoryView:
        """Return a memory with its neighbours, links, concepts, categories and history. It does not count as used.

        Args:
            memory: Its id, or the id's shortest unique beginning.
            neighbours: Passages or turns to show on either side.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.services.inspection import inspect_memory

        return inspect_memory(self._workspace, memory, neighbours)

    def timeline(
        self,
        *,
        limit: int = 50,
        skip: int = 0,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active",),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> TimelinePage:
        """Return a page of memories by when what they tell of happened, else by when they were recorded, last first.

        Args:
            limit: Most memories, 1 to 1,000.
            skip: Memories to pass over first.
            tiers: Any of these tiers; this and the other filters are those of `search`.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.search.request import Filters
        from scrubjay.services.inspection import list_timeline

        filters = Filters(
            tiers, tags, path, sources, since, until, statuses, projects, agents, sessions, categories
        )
        return list_timeline(self._workspace, filters, limit, skip)

    def update(
        self,
        memory: str,
        content: str | Unchanged = UNCHANGED,
        *,
        title: str | Unchanged = UNCHANGED,
        tags: Sequence[str] | Unchanged = UNCHANGED,
        date: str | datetime | Unchanged | None = UNCHANGED,
        confidence: float | Unchanged = UNCHANGED,
        valid_from: str | datetime | Unchanged | None = UNCHANGED,
        valid_until: str | datetime | Unchanged | None = UNCHANGED,
        pinned: bool | Unchanged = UNCHANGED,
        origin: str | Unchanged = UNCHANGED,
    ) -> UpdateReport:
        """Change a memory in place: it keeps its id, and what is not named stays as it is.

        Another text is scrubbed, embedded, counted and connected anew. The earlier one is kept as a superseded
        memory that `history` leads to. A digest or fact that was derived is the owner's once its text is changed.

        Args:
            memory: Its id, or the id's shortest unique beginning.
            content: What it says now.
            title: What it is called, and
            tags: all of its tags.
            date: When what it tells of happened; None takes that away.
            confidence: 0..1, how sure it is.
            valid_from: From when it is true; None for ever since.
            valid_until: Until when it is true; None for still.
            pinned: Whether time does nothing to it.
            origin: Who says the new text.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
            InputError: Its words are a file's (which is named, with the lines), the text was forgotten or is another
                memory's, or a field has a value it cannot have; nothing was written.
        """
        from scrubjay.models.lifecycle import Amendment
        from scrubjay.services.additions import update_memory

        wish = Amendment(content, title, tags, date, confidence, valid_from, valid_until, pinned, origin)
        return update_memory(self._workspace, memory, wish)

    def rewrite(self, memory: str, content: str, *, was: str | None = None) -> RewriteReport:
        """Write the new text of a passage into its file, and take the file in again.

        The file is written whole or not at all, and only where it still says what is stored. Front matter, the blank
        lines around the passage, line ends and encoding stay. A passage from which a secret was taken out is refused.

        Args:
            memory: The passage's id, or its shortest unique beginning.
            content: What shall stand there instead.
            was: ``content_hash`` of the memory as the caller saw it: refused, when it is another by now.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
            ForbiddenError: The file is somebody else's.
            InputError: It stands in no file, or the file no longer says so, is read-only, a log, …: path and lines
                are named, and nothing was written.
            SourceError: The file cannot be read or written.
        """
        from scrubjay.services.passages import rewrite_passage

        return rewrite_passage(self._workspace, memory, content, was)

    def archive(self, ids: str | Sequence[str]) -> ChangeReport:
        """Take memories out of default answers; they stay whole, and `restore` brings them back.

        A passage of a file stays archived as long as its text stays the same. An exact identifier that stands
        only in an archived memory still finds it; `statuses=("active", "archived")` finds all of them.

        Args:
            ids: Ids, or their shortest unique beginnings.
        """
        from scrubjay.services.curation import archive

        return archive(self._workspace, [ids] if isinstance(ids, str) else list(ids))

    def restore(self, ids: str | Sequence[str]) -> ChangeReport:
        """Make archived or superseded memories active again."""
        from scrubjay.services.curation import restore

        return restore(self._workspace, [ids] if isinstance(ids, str) else list(ids))

    def restore_consolidated(self) -> ChangeReport:
        """Make active again whatever consolidation archived, in any run; no later run archives it unless it changes.

        What was archived by hand stays archived. Digests stay until the next run, which makes anew what an earlier
        version told.

        Raises:
            StoreBusyError: Another process consolidates.
        """
        from scrubjay.services.consolidation import restore_consolidated

        return restore_consolidated(self._workspace)

    def feedback(self, ids: str | Sequence[str], verdict: str) -> ChangeReport:
        """Remember that memories were ``used``, ``useful`` or ``wrong``.

        It is counted apart from what searches return, and its effect is bounded: "wrong" lowers a memory's
        strength to .3 at the least, "useful" makes up for it, and both that and ``used`` keep it young.

        Raises:
            InputError: The verdict is none of the three.
        """
        from scrubjay.services.curation import record_feedback

        return record_feedback(self._workspace, [ids] if isinstance(ids, str) else list(ids), verdict)

    def history(self, memory: str) -> MemoryHistory:
        """Return what happened to a memory: when it changed, what it rests on, what took its place.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.services.inspection import memory_history

        return memory_history(self._workspace, memory)

    def audit(
        self,
        fix: Sequence[str] = (),
        limit: int = 20,
        *,
        dry_run: bool = False,
        now: str | datetime | None = None,
    ) -> AuditReport:
        """Count faulty active memories by kind, and archive or supersede those of the kinds in ``fix``.

        Args:
            fix: Kinds to fix: ``junk``, ``near-duplicate``, ``stale``, ``orphaned``. Memories that are pinned, or were
                restored by hand, are left alone.
            limit: Most examples of each kind, the worst first.
            dry_run: Write nothing, and say what would be put away (by all fixes, where none is named).
            now: To which everything has its age; None for this moment.

        Raises:
            InputError: A kind has no fix, the limit is below 0, or ``now`` is no time.
        """
        from scrubjay.models.dates import parse_when
        from scrubjay.services.audit import run_audit

        at = parse_when(now)
        return run_audit(
            self._workspace, fix, limit, dry_run=dry_run, now=at.start if at is not None else None
        )

    def undo_audit(self, run: str) -> ChangeReport:
        """Take back what a run of `audit` or `retain` put away; what was changed since stays as it is.

        Raises:
            NotFoundError: No such run put away anything that the caller sees.
        """
        from scrubjay.services.audit import undo_audit

        return undo_audit(self._workspace, run)

    def retain(self, *, dry_run: bool = False, now: str | datetime | None = None) -> RetentionReport:
        """Keep to the settings of [retention]: put away, or forget, what is too old or too much.

        Only the caller's own memories, never pinned ones nor passages of files.

        Args:
            dry_run: Write nothing, and say what would be done.
            now: To which everything has its age; None for this moment.

        Raises:
            InputError: ``now`` is no time.
        """
        from scrubjay.models.dates import parse_when
        from scrubjay.services.audit import apply_retention

        at = parse_when(now)
        return apply_retention(self._workspace, dry_run=dry_run, now=at.start if at is not None else None)

    def consolidate(
        self,
        *,
        if_due: str | None = None,
        after_days: int | None = None,
        archive: str | None = None,
        dry_run: bool = False,
        now: str | datetime | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> ConsolidationReport:
        """Add a digest of each old conversation, and promote what several sources say. Sources stay active.

        Nothing is archived unless the settings ([consolidation] archive) or ``archive`` ask for it. Everything leads
        back: a digest to its sources, an archived memory by `restore`, the whole run by `undo`. Where another
        process consolidates, nothing is done, and the answer says so.

        Args:
            if_due: Do nothing where the last run began less than this ago: ``4h``, ``30m``, ``1d``.
            after_days: Days after which an observation is old; None takes the settings'.
            archive: Archive, once a digest tells of them, ``transcripts`` (turns and tool results) or ``notes``
                (passages of daily notes, which have no digest otherwise); None takes the settings'.
            dry_run: Write nothing, and return what would be made.
            now: To which everything has its age; None for this moment.
            progress: Told how far it is.

        Raises:
            InputError: ``if_due`` or ``now`` is no time, or ``archive`` is neither of the two.
            StoreError: The store cannot be written; what was written before is whole.
        """
        from scrubjay.models.dates import now_micros, parse_duration, parse_when
        from scrubjay.services.consolidation import run_consolidation

        if archive not in (None, "transcripts", "notes"):
            raise InputError(f"archive {archive!r} is not transcripts or notes. Nothing was done.")
        at = parse_when(now)
        return run_consolidation(
            self._workspace,
            dry_run=dry_run,
            now=at.start if at is not None else now_micros(),
            after_days=self._workspace.settings.consolidation.after_days
            if after_days is None
            else after_days,
            due=None if if_due is None else parse_duration(if_due),
            archive=archive,
            progress=progress,
        )

    def undo(self, run: str) -> UndoReport:
        """Take a consolidation back: what it made goes, and what it archived, if anything, is active again.

        What a person archived, restored or edited since stays as they left it.

        Args:
            run: Id of the run, or its shortest unique beginning.

        Raises:
            NotFoundError: No run, or several, are called so.
            StoreBusyError: Another process consolidates.
        """
        from scrubjay.services.consolidation import undo_consolidation

        return undo_consolidation(self._workspace, run)

    def export(
        self,
        path: str | Path | BinaryIO,
        *,
        overwrite: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> ExportReport:
        """Write all that the caller may see to a file, a JSON object a line: one consistent view, while others write.

        Memories of all tiers and statuses with every field, their documents and sources, edges, concepts, histories and
        nights. Vectors are made again by who imports it; what was forgotten, and settings, are not in it. Texts are
        written exactly as they are stored. docs/portability.md describes the lines.

        Args:
            path: The file, made with mode 0600 and put there whole or not at all; or a stream of bytes.
            overwrite: Whether a file that stands there may be replaced.
            progress: Told how far it is.

        Raises:
            InputError: Something stands there that must not be replaced.
            SourceError: The file cannot be written; none was left behind.
            StoreDamagedError: The store cannot be read to its end, or a text is not what was written. No file was left
                behind; what a stream got has no footer, so that no import takes it for whole.
        """
        from scrubjay.services.exports import export_memories

        return export_memories(self._workspace, path, overwrite=overwrite, progress=progress)

    def import_(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        dry_run: bool = False,
        shared: bool = False,
        untrusted: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> ImportReport:
        """Take in an export of scrubjay, or the memories of another tool. What is here already is not taken twice.

        All of it becomes the caller's. An import that was stopped goes on when it is run again.

        Args:
            path: A file or folder.
            format: ``scrubjay``, ``openclaw``, ``claude-code``, ``basic-memory``, ``mem0``, ``agentmemory``,
                ``mcp-memory`` or ``jsonl``; ``auto`` looks. docs/import.md says what becomes of each.
            dry_run: Write nothing, and return what would be done.
            shared: Of an export: let what was shared be shared again, as far as the caller may. Else it is the
                caller's alone, unless it is their own store's.
            untrusted: Nobody vouches for any of it: it is found, and enters no injected context by itself.
            progress: Told how far it is.

        Raises:
            SourceError: It cannot be read.
            InputError: It is of no known format, not whole, or of another version; nothing was imported.
            StoreBusyError: Another process imports into this store.
        """
        from scrubjay.services.imports import import_path

        return import_path(
            self._workspace,
            Path(path),
            format=format,
            dry_run=dry_run,
            shared=shared,
            untrusted=untrusted,
            progress=progress,
        )

    def backup(self, path: str | Path, *, overwrite: bool = False) -> BackupReport:
        """Copy the whole store, of all its users, to one file while others write; the copy is checked.

        To go back, put the file where the store is while nobody has it open, and remove the ``-wal``, ``-shm`` and
        ``-vectors`` that stand beside the old one.

        Args:
            path: The file, made with mode 0600 and put there whole or not at all.
            overwrite: Whether a file that stands there may be replaced.

        Raises:
            InputError: The store is no file (PostgreSQL, memory://), or something stands at the path.
            StoreError: The store cannot be read, or the copy did not pass its check.
            SourceError: The file cannot be written; none was left behind.
        """
        from scrubjay.services.exports import back_up_store

        return back_up_store(self._workspace, path, overwrite=overwrite)

    def copy(
        self,
        to: str | Path,
        *,
        tenant: str | None = None,
        all_tenants: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[CopyReport, ...]:
        """Copy all that a tenant has, whoever may see it, to another store of any kind, and verify it.

        Ids, the tenant's secret, vectors, histories and what was forgotten are the same there; so are the answers. It
        is of the moment in which it begins, while others write. A copy that was stopped goes on when it is made again.
        For who runs the machine, as `backup` is: it asks nobody whose memories they are.

        Args:
            to: URL or path of the other store; one that is not there is made.
            tenant: Which tenant; None for this one's own.
            all_tenants: All of them, one after the other.
            progress: Told how far it is.

        Raises:
            InputError: The other store holds something else of the tenant, or is this one; nothing was written.
            NotFoundError: There is no such tenant.
            StoreBusyError: Another process copies to it.
            StoreError: It cannot go on (make it again), or what is there is not the same.
        """
        from scrubjay.services.exports import copy_tenants

        wanted = None if all_tenants else (tenant or self._workspace.scope.tenant,)
        return copy_tenants(self._workspace.store, str(to), wanted, progress)


def without_file_check(memory: Memory) -> Memory:
    """Return the same memory, answering from what is stored: files are not compared with it first."""
    return Memory(replace(memory._workspace, checks_files=False))


def revisions(memory: Memory, ids: Sequence[str]) -> dict[str, str]:
    """Return the revision of each memory that is there: another one as soon as it says something else."""
    with memory._workspace.store.reader(memory._workspace.scope) as reader:
        records = reader.get(ids)
    return {one.id: f"{one.status} {one.updated_at} {one.content_hash}" for one in records.values()}


def without_day_notes(memory: Memory) -> Memory:
    """Return the same memory, whose additions are not appended to day notes: those are for what somebody adds."""
    from scrubjay.config.settings import NotesSettings

    return Memory(
        replace(memory._workspace, settings=replace(memory._workspace.settings, notes=NotesSettings()))
    )
