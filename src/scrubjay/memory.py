"""Memory: the public API."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from scrubjay import services
from scrubjay.config.loader import load_settings
from scrubjay.config.settings import Settings
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.models.dates import moment, parse_duration
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import Amendment, NewMemory
from scrubjay.models.records import UNCHANGED, Scope, Unchanged
from scrubjay.models.sources import expand_path
from scrubjay.services.models import ModelRegistry, caller_catalog, settings_catalog
from scrubjay.services.query_rewriter import QueryRewriter
from scrubjay.services.reranker_registry import RerankerRegistry
from scrubjay.services.workspace import (
    Workspace,
    check_arguments,
    check_calls,
    check_principal,
    enable_tracing,
    ignore_announcement,
)
from scrubjay.storage.quota import Quota
from scrubjay.storage.urls import open_store, store_file

if TYPE_CHECKING:
    from scrubjay.consolidation.skills import Skill
    from scrubjay.embeddings.base import AnyEmbedder
    from scrubjay.log import Log
    from scrubjay.models import reports, results, views
    from scrubjay.rerankers.base import Reranker
    from scrubjay.services.dictionary import Categories, Concepts


@check_calls
class Memory:
    """The memories of one principal, in one store.

    An argument of a wrong type, and any call after `close`, raises `InputError`.

    Example:
        >>> from scrubjay.embeddings.hash_embedder import HashEmbedder
        >>> with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        ...     _ = memory.add("The launch code is blue bunny.")
        ...     memory.search("launch code").results[0].snippet
        'The launch code is blue bunny.'
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        """For the modules of this package; not part of the public API."""

    @classmethod
    def open(
        cls,
        url: str | Path | None = None,
        *,
        user: str | None = None,
        groups: Sequence[str] | None = None,
        tenant: str | None = None,
        settings: Settings | None = None,
        embedders: Sequence[AnyEmbedder] | None = None,
        reranker: Reranker | None = None,
        cold: bool = False,
        announce: Callable[[str], None] = ignore_announcement,
        log: Log | None = None,
    ) -> Self:
        """Open a store, creating it and its folder if they do not exist. None takes the setting of the same name.

        Args:
            url: A path, ``sqlite:///path``, ``memory://`` or ``postgresql://…``.
            user: Who asks and writes.
            groups: Groups the user belongs to.
            tenant: Tenants share nothing.
            settings: Settings; None loads them from file and environment.
            embedders: Models instead of the settings' own: the first is the base model, which always covers every
                memory; `embed` backfills the others.
            reranker: Reranker instead of the settings' own.
            cold: Rank with words and the base model only, for a process that answers once.
            announce: Called with the host and the counts before a remote provider is first used.
            log: Where slow queries and sync problems are logged; None for nowhere.

        Raises:
            NotFoundError: The folder that the store's folder would be created in does not exist.
            ScrubjayError: The store cannot be opened, or a setting is wrong.
        """
        check_arguments(cls.open, url, user=user, groups=groups, tenant=tenant, cold=cold)
        file = store_file(str(url)) if url is not None else None
        if file is not None and not file.parent.parent.exists():
            raise NotFoundError(
                f"There is no folder {file.parent.parent}, so {file} was not opened. Nothing was created.",
                hint="check the path, or create the folder",
            )
        settings = settings if settings is not None else load_settings()
        user = settings.user if user is None else user
        groups = settings.groups if groups is None else groups
        tenant = settings.tenant if tenant is None else tenant
        check_principal("open", user, groups, tenant)
        if not cold:  # loading the library takes 110 ms, a command that answers once 160
            enable_tracing(settings)
        quota = Quota(settings.quota.memories_per_tenant, settings.quota.memories_per_user)
        store = open_store(str(url) if url is not None else settings.store, quota=quota)
        scope = Scope(tenant, user, tuple(groups))
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
        """Return the same store and models for another principal.

        Leaving its `with` block closes nothing; `close` closes the store for all. Another user's additions are not
        appended to this user's day notes.

        Args:
            user: Who asks and writes.
            groups: Groups the user belongs to; this principal's are not inherited.
            tenant: None for the same.
            curate: Whether the user may change, archive, forget and rate what others shared.

        Raises:
            InputError: A name is empty.
        """
        check_principal("seen_by", user, groups, tenant)
        scope = Scope(self.workspace.scope.tenant if tenant is None else tenant, user, tuple(groups))
        return type(self)(self.workspace.for_principal(scope, may_curate=curate))

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
        git: bool | None = None,
        embed_seconds: float = 0.0,
        enrich: bool = True,
        progress: Callable[[reports.Progress], None] | None = None,
    ) -> reports.SyncReport:
        """Sync a folder or file, or every registered source, into the store.

        First everything becomes searchable, then it is enriched (`enrich`).

        Args:
            path: Folder or file, registered as a source if it is new; None for all sources.
            only: The one file of the folder to read, absolute or relative to it; the others stay as stored.
            description: One line that is returned with the source's results.
            include: gitignore patterns of files to ingest, stored with the source. Those of the settings apply to a
                source that has none.
            exclude: gitignore patterns of files to skip, stored with the source, after those of the settings.
            project: Project of the files, by name or path, stored with the source: ``none`` for no project, ``auto``
                (the default) for that of the repository they are in. None keeps what is stored.
            trust: ``trusted``, ``untrusted`` or ``auto`` (the default), stored with the source. ``auto`` distrusts
                folders of dependencies and repositories that are mostly others' work. No facts are extracted from
                untrusted text, and it is never injected. None keeps what is stored.
            share: Whether front matter may share notes with others, stored with the source; off by default. None keeps
                what is stored.
            git: Whether to ingest the commits of a folder that is the root of a git repository, stored with the source;
                on by default. None keeps what is stored.
            embed_seconds: Seconds to spend on backfilled models afterwards.
            enrich: Whether to return after the enrichment; otherwise as soon as everything is searchable.
            progress: Called with the progress.

        Raises:
            InputError: The path or file does not exist, an option is invalid, or an option is given without a path.
            StoreError: The store cannot be written; what was stored stays.
        """
        rules = services.sync.SyncRules(
            description, tuple(include), tuple(exclude), project, trust, share, git
        )
        summary = services.sync.sync(self.workspace, path, rules, progress, only=only, enriched=enrich)
        if embed_seconds > 0:
            summary = summary.with_embedded(self.embed(seconds=embed_seconds, progress=progress))
        return summary

    def sources(self) -> list[reports.SourceStatus]:
        """Return the registered sources and their counts."""
        return services.inspection.list_sources(self.workspace)

    def redactions(self) -> list[reports.Redaction]:
        """Return what was replaced as secret or private in the visible memories, with its place."""
        return services.inspection.list_redactions(self.workspace)

    def conflicts(self) -> list[views.Conflict]:
        """Return the pairs of active memories that contradict each other, the latest first."""
        return services.inspection.list_conflicts(self.workspace)

    def remove_source(self, name: str) -> reports.RemovedSource:
        """Remove a source by id or path, with its memories and everything derived only from them.

        Its files are not touched. Pinned memories, and those with other evidence, stay.

        Raises:
            NotFoundError: No such source is registered.
        """
        return services.sync.remove_source(
            self.workspace, services.inspection.find_source(self.workspace, name)
        )

    def watch(self, *, stop: threading.Event, report: Callable[[reports.SyncReport], None]) -> None:
        """Sync now and whenever a source's files change, until ``stop`` is set.

        Raises:
            SourceError: The watch ended by itself.
        """
        from scrubjay.ingest.watcher import sync_on_change

        with self.workspace.reader() as reader:
            sources = reader.sources()
        try:
            sync_on_change(
                sources, self.sync, report, debounce=self.workspace.settings.sync.debounce, stop=stop
            )
        except ScrubjayError as error:
            if self.workspace.log is not None:
                self.workspace.log.write("error", "watch ended", error=type(error).__name__)
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
    ) -> reports.FetchReport:
        """Return memories by id (or its shortest unique prefix), or a file's passages by path or name and lines.

        Reading one's own memory by id counts as using it, at most once an hour (``[recall] touch``).

        Args:
            ids: Up to 20 ids.
            path: A synced file: absolute, relative to the current folder, or relative to its source; or a note's file
                name, title, alias or ``[[wiki link]]``.
            lines: First and last line, inclusive; None for the whole file.
            neighbours: Passages, or turns of a conversation, to return on either side of each.
            limit: Maximum characters to return.
            offset: Characters to skip, as ``next_offset`` says.
            evidence: Also return the sources of each derived memory.

        Raises:
            InputError: Neither or both of ids and path, too many ids, or numbers out of range.
            NotFoundError: Several notes have this name, or an id's prefix is ambiguous.
        """
        from scrubjay.search.browse import FetchWindow

        window = FetchWindow(neighbours, limit, offset, evidence)
        return services.search.fetch(self.workspace, _as_list(ids), path, lines, window)

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
    ) -> reports.AddReport:
        """Add one memory, durably; adding the same content in the same scope again returns the same memory.

        Secrets are replaced before anything is stored, and so is a NUL character, by U+FFFD. With a notes folder in the
        settings it is also appended to the day's note. The fields are those of `NewMemory`.

        Raises:
            InputError: A field has an invalid value; nothing was written.
        """
        new = NewMemory(
            content, tier=tier, title=title, tags=tags, date=date, session=session, role=role, turn=turn,
            project=project, agent=agent, visibility=visibility, group=group, confidence=confidence,
            valid_from=valid_from, valid_until=valid_until, origin=origin, pinned=pinned,
        )  # fmt: skip
        return services.curation.add_one(self.workspace, new)

    def add_many(self, memories: Iterable[NewMemory]) -> list[reports.AddReport]:
        """Add many memories at once; all are checked before the first is written.

        A turn that only repeats recalled memories is skipped; ``passed`` of its report says why.

        Raises:
            InputError: An item is not a `NewMemory`, or one of its fields has an invalid value.
        """
        return services.curation.add(self.workspace, memories)

    def forget(self, ids: str | Sequence[str]) -> reports.ForgetReport:
        """Delete memories permanently: text, vectors, index, cache, and names and digests derived only from them.

        A keyed hash keeps `sync` from restoring them; files are not edited, and the report names their lines. An id may
        be whole or short (its first six digits or more), with or without its tier.

        Raises:
            InputError: An id has fewer than six digits; nothing was deleted.
            NotFoundError: A short id is ambiguous; nothing was deleted.
        """
        return services.curation.forget_memories(self.workspace, _as_list(ids))

    def forget_everything(self) -> reports.ForgetReport:
        """Delete everything that this user ever stored, and the user's name.

        This covers memories of every visibility, including those of groups that the settings do not name; everything
        that repeats them; sources, links, dictionary and runs; and the name in the histories of other people's
        memories. Keyed hashes remain, so that no sync restores a text. Files, tokens, backups and exports are not
        changed.
        """
        return services.curation.forget_everything(self.workspace)

    @property
    def concepts(self) -> Concepts:
        """The dictionary: list, show, add, merge, rename and remove concepts."""
        self._refuse_closed()
        return services.dictionary.Concepts(self.workspace)

    @property
    def categories(self) -> Categories:
        """The hierarchy of topics and folders: list and show categories."""
        self._refuse_closed()
        return services.dictionary.Categories(self.workspace)

    def links(self, memory: str) -> tuple[views.MemoryLink, ...]:
        """Return a memory's links in both directions: the ten of each kind with the most weight.

        Raises:
            NotFoundError: No memory has this id, or its prefix is ambiguous.
        """
        return services.inspection.list_links(self.workspace, memory)

    def link(
        self, src: str, dst: str, kind: str = "links", weight: float = 1.0, rule: str = ""
    ) -> views.MemoryLink:
        """Link two memories: ``links``, ``derived_from``, ``supersedes`` or ``contradicts``.

        Raises:
            InputError: An id does not exist, both are the same, or kind or weight (0..1) is invalid.
        """
        return services.curation.add_link(self.workspace, Edge(src, kind, dst, "", weight, rule=rule))

    def unlink(self, src: str, dst: str, kind: str = "links") -> None:
        """Remove a link; one that a text contains comes back when that text is written again.

        Raises:
            NotFoundError: There is no such link.
        """
        services.curation.remove_link(self.workspace, src, dst, kind)

    def enrich(self, *, progress: Callable[[reports.Progress], None] | None = None) -> reports.EnrichReport:
        """Find the concepts, links, categories and facts that a sync left for later; safe to interrupt at any time.

        If another process or thread is already doing this, it returns at once.
        """
        return services.sync.enrich(self.workspace, progress)

    def embed(
        self, *, seconds: float | None = None, progress: Callable[[reports.Progress], None] | None = None
    ) -> reports.EmbedReport:
        """Compute the pending embeddings of backfilled models; it can be interrupted at any time and continues later.

        Only the memories that this user sees are embedded and counted; for other users, call it on `seen_by`.

        Raises:
            ProviderError: A model failed; what was embedded before is stored.
        """
        return services.sync.embed_pending(self.workspace, seconds, progress)

    def rebuild(self, *, progress: Callable[[reports.Progress], None] | None = None) -> reports.SyncReport:
        """Rebuild every memory from what is stored, beside the old ones, then switch."""
        return services.sync.rebuild_store(self.workspace, progress)

    def build_index(
        self, *, progress: Callable[[reports.Progress], None] | None = None
    ) -> reports.IndexReport:
        """Build the index of a large tenant on PostgreSQL: blocks of words and, with pgvector, a vector index.

        Needs the rights of the tables' owner (docs/deployment.md, "A large tenant"); others read and write meanwhile.

        Raises:
            InputError: The store is of another kind, which needs none.
            StoreError: The database's user may not build it.
        """
        return self.workspace.store.build_index(self.workspace.scope, progress or (lambda _: None))

    def drop_index(self) -> None:
        """Drop what `build_index` built; answers stay the same, a search of a large tenant takes longer.

        Raises:
            InputError: The store is of another kind, which has none.
            StoreError: The database's user may not.
        """
        self.workspace.store.drop_index(self.workspace.scope)

    def models(self) -> list[reports.ModelStatus]:
        """Return the embedding models and how many memories each covers, the base model first."""
        return self.workspace.models.status()

    def add_model(self, name: str) -> reports.ModelStatus:
        """Register a model of the settings, to be backfilled beside those in use."""
        return self.workspace.models.add(name)

    def use_model(self, name: str) -> reports.ModelStatus:
        """Rank with this model and the base model from now on."""
        return self.workspace.models.use(name)

    def drop_model(self, name: str) -> reports.ModelStatus:
        """Remove a model and its vectors from the store."""
        return self.workspace.models.drop(name)

    def status(self) -> reports.StoreStatus:
        """Return counts, models, sources and sizes of the store."""
        return services.inspection.store_status(self.workspace)

    def close(self) -> None:
        """Close the store, also for every `Memory` that `seen_by` returned; closing twice does nothing."""
        self.workspace.closed.set()
        self.workspace.scan_cache.close()
        self.workspace.store.close()

    def _refuse_closed(self) -> None:
        if self.workspace.closed.is_set():
            raise InputError(
                f"The memory of {self.workspace.store.url} was closed. Nothing was done.",
                hint="open it again with Memory.open, or call it inside its `with` block",
            )

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.workspace.borrowed:
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
        statuses: Sequence[str] = (),
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
        deep: bool = False,
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
    ) -> results.Answer:
        """Return the memories that answer a query, best first.

        Args:
            query: A question, words, an identifier. ``"quoted"`` text must appear in a result; ``-word`` must not.
            limit: Maximum number of results.
            tiers: Any of these tiers.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: At or after this time: ISO text (``2026``, ``2026-03``, ``2026-03-01``, with time) or datetime.
            until: Before the end of this day, month or year, or before this time.
            statuses: Any of these statuses; without them, a search also returns archived memories where no active one
                is likely to answer.
            projects: Any of these projects, by name, by the end of a name, or by a path (``.`` is the current one).
            agents: Recorded by any of these agents.
            sessions: Any of these conversations.
            categories: In any of these categories or below, by id or name.
            fusion: ``auto`` (weights follow the query), ``rrf``, ``weighted`` (z-scores) or ``raw`` (cosine, BM25 and
                trigrams, each from 0 to 1).
            weights: Weight of each channel (``bm25``, ``vector``, ``ngram``, ``graph``).
            preset: Another system's fusion: ``kit``, ``openclaw`` or ``router``.
            channels: Channels to use; None for all.
            models: Names of embedding models to use; None for all in use.
            stages: Optional stages to use (docs/ranking.md names them); None for all.
            rerank: Reranker of the best results (docs/models.md): ``features``, ``cross-encoder``, ``http``, ``chat``
                or ``off``; None takes that of `open`, else that of the settings.
            deep: Rerank with the bundled cross-encoder where neither ``rerank`` nor the settings name another model. It
                reads the best results for at most 1.5 seconds.
            links: Hops over links to follow from the results; None takes the setting, which holds for fusion ``auto``
                alone.
            hierarchy: Whether to raise and add memories of matching categories; None as for ``links``.
            depth: Levels of categories for that, 1..10.
            alpha: Weight of a memory's own score beside its category's, 0..1.
            threshold: Minimum score, 0..1, for fusion ``raw``, whose scores have a unit.
            explain: Return every part of each score.
            snippet: Maximum characters of a snippet.
            now: Current time, from which ages are computed; None for this moment.
            history: The conversation so far, oldest first. With ``[llm] rewrite`` on, a language model completes the
                query from it ("and when was that?"), and the completed query is searched too.
            as_of: Answer with what was true then (valid time, not the state of the index): superseded memories are
                found, later ones are not. A date means its end. "As of" in the query does the same.
            tz: IANA zone of dates and of "yesterday"; None takes the setting.
            min_relevance: ``auto``: an empty answer that says so if nothing is likely to answer; a number from 0 to 1:
                the minimum relevance of a result; None takes the setting, which is ``auto``.
            here: Project whose memories are preferred, by name or a path in it (``.`` is the current one); the others
                are searched too. None prefers none.
            confidence_floor: Minimum confidence of a result; None takes the setting.
            by: ``memory``, or ``session`` for one result per conversation: its best turn, with the next two in
                ``turns``.
            neighbours: Turns of its conversation to return on either side of a result, in ``turns``; at most 10.
                Results among them are not repeated.

        Raises:
            InputError: An option has an invalid value.
        """
        from scrubjay.search.request import Clock, ExpansionOptions, Filters, SearchOptions

        options = SearchOptions(
            limit=limit,
            filters=Filters(
                tiers=tiers, tags=tags, path=path, sources=sources, projects=projects, agents=agents, sessions=sessions,
                categories=categories, since=since, until=until, statuses=statuses,
            ),
            fusion=fusion, weights=weights, preset=preset, channels=channels, models=models, stages=stages,
            rerank=rerank, deep=deep, expansion=ExpansionOptions(links, hierarchy, depth, alpha, threshold),
            explain=explain, snippet=snippet, clock=Clock(now, as_of, tz), history=history, min_relevance=min_relevance,
            here=here, confidence_floor=confidence_floor, by=by, neighbours=neighbours,
        )  # fmt: skip
        return services.search.search(self.workspace, query, options)

    def thread(  # noqa: D417 the filters are those of `search`
        self,
        query: str,
        *,
        hops: int = 2,
        limit: int = 12,
        fan_out: int = 8,
        deep: bool = False,
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
    ) -> results.Thread:
        """Return the memories that a question is about as a timeline.

        It starts from the results of `search` and follows shared and related concepts, the turns or passages before and
        after, links, evidence, and what superseded or contradicts what. Each memory has the path by which it was
        reached. The filters are those of `search` and apply to every memory shown; superseded memories are included and
        marked.

        Args:
            query: A question, words, an identifier, as in `search`; or the id of a memory, which is asked about.
            hops: Maximum hops from the search results, 0..4. A shared concept is one hop, two related concepts are two.
            limit: Maximum number of memories, 1..100.
            fan_out: Maximum edges of a kind to follow from one memory or concept, 1..50.
            deep: Rerank what the search finds with a cross-encoder, as in `search`.
            as_of: Only what was true then (valid time, not the state of the index), as in `search`.

        Raises:
            InputError: An option has an invalid value.
        """
        from scrubjay.search.request import Clock, Filters, ThreadOptions

        options = ThreadOptions(
            limit=limit, hops=hops, fan_out=fan_out, deep=deep, clock=Clock(now, as_of, tz), snippet=snippet,
            filters=Filters(
                tiers=tiers, tags=tags, path=path, sources=sources, projects=projects, agents=agents, sessions=sessions,
                categories=categories, since=since, until=until, statuses=statuses,
            ),
        )  # fmt: skip
        return services.search.thread(self.workspace, query, options)

    def page(  # noqa: D417 the filters are those of `search`
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
    ) -> reports.MemoryPage:
        """Return memories a page at a time, in the order of their ids' digits, so that writes do not disturb them.

        The filters are those of `search`.

        Args:
            after: Continue after this id, as ``next`` of the previous page says; empty for the first page.
            limit: Maximum number of memories, 1..1,000.

        Raises:
            InputError: An option has an invalid value.
        """
        from scrubjay.search.request import Filters

        filters = Filters(
            tiers=tiers, tags=tags, path=path, sources=sources, projects=projects, agents=agents, sessions=sessions,
            categories=categories, since=since, until=until, statuses=statuses,
        )  # fmt: skip
        return services.inspection.list_page(self.workspace, filters, limit, after)

    def vectors(self, texts: Sequence[str], *, model: str | None = None) -> reports.VectorReport:
        """Return one unit vector for each text, computed by a bundled model; nothing is stored.

        A text longer than the model's window gets the mean of its windows.

        Args:
            texts: The texts.
            model: Name of a bundled model; None for the base model.

        Raises:
            NotFoundError: No bundled model has this name.
            ProviderError: The model is missing or damaged.
        """
        return services.sync.embed_texts(self.workspace, texts, model)

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
        unprompted: bool = False,
    ) -> results.Context:
        """Return memories as one text to be injected into a conversation.

        Without a query, for a new session: pinned memories, the project's profile and recent sessions. With one: pinned
        and relevant memories; if none is relevant, the pinned ones and a sentence that says so, or with ``unprompted``
        nothing. It is delimited, so that it is never captured as new, escaped, so that nothing in it can end it, and
        contains no memory of origin ``untrusted`` or derived from one.

        Args:
            query: The question; None for a new session.
            budget: Maximum tokens, 50..100,000; None takes the setting.
            project: Only this project and memories without one, by name, the end of a name, or a path; the empty text
                for only memories without a project, None for all.
            session: The current conversation, whose own turns are left out.
            agent: Only memories recorded by this agent; None for all.
            exclude_paths: Names (``CLAUDE.md``) or path patterns of files that the agent reads itself; None takes the
                setting.
            parts: Any of ``pinned``, ``profile``, ``recent``, ``relevant``; None for all in a new session, and for
                ``pinned`` and ``relevant`` with a query.
            now: Current time; None for this moment.
            history: The conversation so far, oldest first, as in `search`.
            unprompted: Whether it is injected automatically, as in a hook: then only the few memories are returned that
                are likely to answer. Else the budget is filled with all that may.

        Raises:
            InputError: An option has an invalid value.
        """
        return services.context.context(
            self.workspace, query, budget=budget, project=project, session=session, agent=agent,
            exclude_paths=exclude_paths, parts=parts, now=now, history=history, unprompted=unprompted,
        )  # fmt: skip

    def look(self, memory: str, *, neighbours: int = 2) -> views.MemoryView:
        """Return a memory with its neighbours, links, concepts, categories and history. It does not count as used.

        Args:
            memory: Its id, or the id's shortest unique prefix.
            neighbours: Passages or turns to return on either side.

        Raises:
            NotFoundError: No memory has this id, or its prefix is ambiguous.
        """
        return services.inspection.view_memory(self.workspace, memory, neighbours)

    def records(self, ids: Sequence[str]) -> views.TimelinePage:
        """Return memories by id in the order given, without those that are unknown. They do not count as used.

        Raises:
            NotFoundError: An id's prefix is ambiguous.
        """
        return services.inspection.list_records(self.workspace, ids)

    def conversations(self, *, limit: int = 50, skip: int = 0) -> views.ConversationList:
        """Return a page of the conversations, the one with the latest turn first.

        Args:
            limit: Maximum number of conversations, 1 to 200.
            skip: Conversations to skip first.

        Raises:
            InputError: A number is out of range.
        """
        return services.inspection.list_conversations(self.workspace, limit, skip)

    def conversation(self, session: str, *, limit: int = 50, skip: int = 0) -> views.ConversationPage:
        """Return turns of a conversation in order, with what was learned from each. They do not count as used.

        Args:
            session: Id of the conversation.
            limit: Maximum number of turns, 1 to 200.
            skip: Turns to skip first.

        Raises:
            InputError: A number is out of range.
            NotFoundError: No visible memory belongs to such a conversation.
        """
        return services.inspection.read_conversation(self.workspace, session, limit, skip)

    def timeline(  # noqa: D417 the filters are those of `search`
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
    ) -> views.TimelinePage:
        """Return a page of memories by the date of their event, else by when they were recorded, newest first.

        The filters are those of `search`.

        Args:
            limit: Maximum number of memories, 1 to 1,000.
            skip: Memories to skip first.

        Raises:
            InputError: An option has an invalid value.
        """
        from scrubjay.search.request import Filters

        filters = Filters(
            tiers=tiers, tags=tags, path=path, sources=sources, projects=projects, agents=agents, sessions=sessions,
            categories=categories, since=since, until=until, statuses=statuses,
        )  # fmt: skip
        return services.inspection.list_timeline(self.workspace, filters, limit, skip)

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
    ) -> views.UpdateReport:
        """Change a memory in place: it keeps its id, and what is not given stays as it is.

        A new text is redacted, embedded, indexed and linked again. The old one stays as a superseded memory, which
        `history` returns. A derived digest or fact belongs to the caller once its text is changed.

        Args:
            memory: Its id, or the id's shortest unique prefix.
            content: The new text.
            title: The new title.
            tags: All of its tags; only `feedback` removes never-inject.
            date: Date of the event; None removes it.
            confidence: 0..1.
            valid_from: When it became true; None for always.
            valid_until: When it stopped being true; None for still true.
            pinned: Whether it is exempt from decay.
            origin: Who stated the new text.

        Raises:
            NotFoundError: No memory has this id, or its prefix is ambiguous.
            InputError: The text belongs to a file (the message names the lines), was forgotten or is another memory's,
                or a field has an invalid value; nothing was written.
        """
        amendment = Amendment(content, title, tags, date, confidence, valid_from, valid_until, pinned, origin)
        return services.curation.update_memory(self.workspace, memory, amendment)

    def rewrite(self, memory: str, content: str, *, was: str | None = None) -> views.RewriteReport:
        """Write a passage's new text into its file, and sync the file.

        The file is replaced atomically, and only if it still has the stored text. Front matter, blank lines around the
        passage, line ends and encoding stay. A passage with a redacted secret is refused.

        Args:
            memory: The passage's id, or its shortest unique prefix.
            content: The new text.
            was: ``content_hash`` of the memory as the caller saw it; a memory that changed since is refused.

        Raises:
            NotFoundError: No memory has this id, or its prefix is ambiguous.
            ForbiddenError: The file is somebody else's.
            InputError: The memory is in no file, or the file has another text by now, is read-only, a log, …; the
                message names path and lines, and nothing was written.
            SourceError: The file cannot be read or written.
        """
        return services.curation.rewrite_passage(self.workspace, memory, content, was)

    def archive(self, ids: str | Sequence[str]) -> views.ChangeReport:
        """Hide memories from default results; nothing is deleted, and `restore` brings them back.

        A passage of a file stays archived as long as its text does not change. An exact identifier that only an
        archived memory has still finds it; `statuses=("active", "archived")` finds all of them.
        """
        return services.curation.set_status(self.workspace, _as_list(ids), "archived")

    def restore(self, ids: str | Sequence[str]) -> views.ChangeReport:
        """Make archived or superseded memories active again."""
        return services.curation.set_status(self.workspace, _as_list(ids), "active")

    def restore_consolidated(self) -> views.ChangeReport:
        """Restore everything that consolidation archived, in any run; later runs archive it only if it changes.

        What was archived by hand stays archived. Digests stay until the next run, which remakes those of earlier
        versions.

        Raises:
            StoreBusyError: Another process is consolidating.
        """
        return services.consolidation.restore_consolidated(self.workspace)

    def feedback(self, ids: str | Sequence[str], verdict: str) -> views.ChangeReport:
        """Record that memories were ``used``, ``useful`` or ``wrong``, or are never to be injected.

        The effect is bounded: ``wrong`` lowers a memory's strength, to .3 at the least, ``useful`` raises it again, and
        ``useful`` and ``used`` reset its age. ``not-wrong`` withdraws every earlier ``wrong``. ``never-inject`` is a
        tag: hooks and the proxy leave the memory out, and searches still find it; ``inject`` withdraws it.

        Raises:
            InputError: The verdict is none of these, or the tag to withdraw comes from the memory's file.
            ForbiddenError: Somebody else shared the memory, and the verdict is neither ``used`` nor ``useful``.
        """
        return services.curation.record_feedback(self.workspace, _as_list(ids), verdict)

    def history(self, memory: str) -> views.MemoryHistory:
        """Return the history of a memory: its changes, its evidence and what superseded it.

        Raises:
            NotFoundError: No memory has this id, or its prefix is ambiguous.
        """
        return services.inspection.memory_history(self.workspace, memory)

    def skills(self, project: str | None = None) -> tuple[Skill, ...]:
        """Return the procedures that at least three conversations carried out in the same way; nothing is written.

        Commands are those that agents' logs on this disk say were run, redacted, else those that turns show.

        Args:
            project: Only procedures of this project, by name or path; None for all.

        Raises:
            InputError: The project is a path that does not lead to a project.
        """
        return services.consolidation.list_skills(self.workspace, project)

    def audit(
        self,
        fix: Sequence[str] = (),
        limit: int = 20,
        *,
        dry_run: bool = False,
        now: str | datetime | None = None,
    ) -> reports.AuditReport:
        """Count faulty active memories by kind, and archive or supersede those of the kinds in ``fix``.

        Args:
            fix: Kinds to fix: ``junk``, ``near-duplicate``, ``stale``, ``orphaned``. Memories that are pinned, or were
                restored by hand, are left alone.
            limit: Maximum examples of each kind, the worst first.
            dry_run: Write nothing, and report what would change (by all fixes, if none is named).
            now: Current time, from which ages are computed; None for this moment.

        Raises:
            InputError: A kind has no fix, the limit is below 0, or ``now`` is not a time.
        """
        return services.audit.run_audit(self.workspace, fix, limit, dry_run=dry_run, now=moment(now))

    def undo_audit(self, run: str) -> views.ChangeReport:
        """Undo a run of `audit` or `retain`; what was changed since stays as it is.

        Raises:
            NotFoundError: No run with this id changed anything that the caller can see.
        """
        return services.audit.undo_audit(self.workspace, run)

    def retain(self, *, dry_run: bool = False, now: str | datetime | None = None) -> reports.RetentionReport:
        """Apply the settings of [retention]: archive or forget memories that are too old or too many.

        Only the caller's own memories are affected, and never pinned ones or passages of files.

        Args:
            dry_run: Write nothing, and report what would change.
            now: Current time, from which ages are computed; None for this moment.

        Raises:
            InputError: ``now`` is not a time.
        """
        return services.audit.apply_retention(self.workspace, dry_run=dry_run, now=moment(now))

    def consolidate(
        self,
        *,
        if_due: str | None = None,
        after_days: int | None = None,
        archive: str | None = None,
        dry_run: bool = False,
        now: str | datetime | None = None,
        progress: Callable[[reports.Progress], None] | None = None,
    ) -> reports.ConsolidationReport:
        """Add a digest of each old conversation, and promote statements. Sources stay active.

        A facet ("my X is Y") may come from one statement; everything else comes from several sources. Nothing is
        archived unless the settings ([consolidation] archive) or ``archive`` ask for it. A digest links to its sources,
        `restore` undoes an archiving, `undo` a whole run. If another process is consolidating, nothing is done, and the
        report says so.

        Args:
            if_due: Do nothing if the last run began less than this ago: ``4h``, ``30m``, ``1d``.
            after_days: Days after which an observation is old; None takes the setting.
            archive: Archive, once they have a digest, ``transcripts`` (turns and tool results) or ``notes`` (passages
                of daily notes, which get a digest only then); None takes the setting.
            dry_run: Write nothing, and report what would be made.
            now: Current time, from which ages are computed; None for this moment.
            progress: Called with the progress.

        Raises:
            InputError: ``if_due`` or ``now`` is not a time, or ``archive`` is neither of the two.
            StoreError: The store cannot be written; what was written before is complete.
        """
        if archive not in (None, "transcripts", "notes"):
            raise InputError(f"archive {archive!r} is not transcripts or notes. Nothing was done.")
        return services.consolidation.run_consolidation(
            self.workspace,
            dry_run=dry_run,
            now=moment(now),
            after_days=after_days,
            due=None if if_due is None else parse_duration(if_due),
            archive=archive,
            progress=progress,
        )

    def undo(self, run: str) -> reports.UndoReport:
        """Undo a consolidation: remove the memories it made, and make those it archived active again.

        Memories that a person archived, restored or edited since stay as they are.

        Args:
            run: Id of the run, or its shortest unique prefix.

        Raises:
            NotFoundError: No run has this id, or its prefix is ambiguous.
            StoreBusyError: Another process is consolidating.
        """
        return services.consolidation.undo_consolidation(self.workspace, run)

    def export(
        self,
        path: str | Path | BinaryIO,
        *,
        format: str = "jsonl",
        overwrite: bool = False,
        progress: Callable[[reports.Progress], None] | None = None,
    ) -> reports.ExportReport:
        """Write everything the caller may see to a file, one JSON object a line, from one consistent view.

        It holds memories of all tiers and statuses with every field, their documents and sources, edges, concepts,
        histories and consolidation runs; no vectors, forgotten memories or settings. docs/reference/export.md describes
        the lines.

        Args:
            path: The file, made with mode 0600 and written atomically; or a stream of bytes. For Markdown a folder.
            format: ``jsonl``, or ``markdown``: facts, digests and additions as one Markdown file each, to read; files
                there that a person edited or another program wrote are left.
            overwrite: Whether an existing file may be replaced.
            progress: Called with the progress.

        Raises:
            InputError: Something exists at the path that must not be replaced.
            SourceError: The file cannot be written; none was left behind.
            StoreDamagedError: The store cannot be read to its end, or a text is not what was written. No file was left
                behind; a stream got no footer, so that no import accepts it as complete.
        """
        return services.exports.export_memories(
            self.workspace, path, format=format, overwrite=overwrite, progress=progress
        )

    def import_(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        dry_run: bool = False,
        shared: bool = False,
        untrusted: bool = False,
        forget: bool = False,
        include_forgotten: bool = False,
        progress: Callable[[reports.Progress], None] | None = None,
    ) -> reports.ImportReport:
        """Import an export of scrubjay, or the memories of another tool; what is already stored is not imported twice.

        All of it becomes the caller's. An interrupted import continues when it is run again.

        Args:
            path: A file or folder.
            format: ``scrubjay``, ``openclaw``, ``claude-code``, ``basic-memory``, ``mem0``, ``agentmemory``,
                ``mcp-memory`` or ``jsonl``; ``auto`` detects it. docs/conversations.md describes each.
            dry_run: Write nothing, and report what would be done.
            shared: Of an export: share again what was shared, as far as the caller may. Otherwise it is private, unless
                it is an export of the same store.
            untrusted: Mark all of it as untrusted: it is found, but never injected.
            forget: Of an export: also forget memories that the exporting store forgot, except those that were edited
                or added again here. Otherwise the report only names them.
            include_forgotten: Also import memories that were forgotten here.
            progress: Called with the progress.

        Raises:
            SourceError: It cannot be read.
            InputError: Its format is unknown, it is incomplete, or of another version; nothing was imported.
            StoreBusyError: Another process imports into this store.
        """
        options = services.imports.ImportOptions(
            dry_run=dry_run, shared=shared, untrusted=untrusted, forget=forget,
            include_forgotten=include_forgotten, progress=progress,
        )  # fmt: skip
        return services.imports.import_path(self.workspace, Path(expand_path(str(path))), format, options)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> reports.BackupReport:
        """Copy the whole store, of all its users, to one file while others write, and verify the copy.

        To restore it, replace the store's file while nobody has it open, and remove the ``-wal``, ``-shm`` and
        ``-vectors`` beside the old one.

        Args:
            path: The file, made with mode 0600 and written atomically.
            overwrite: Whether an earlier backup may be replaced.

        Raises:
            InputError: The store is no file (PostgreSQL, memory://), or something else exists at the path.
            StoreError: The store cannot be read, or the copy did not pass its check.
            SourceError: The file cannot be written; none was left behind.
        """
        return services.exports.back_up_store(self.workspace, path, overwrite=overwrite)

    def copy(
        self,
        to: str | Path,
        *,
        tenant: str | None = None,
        all_tenants: bool = False,
        progress: Callable[[reports.Progress], None] | None = None,
    ) -> tuple[reports.CopyReport, ...]:
        """Copy everything of a tenant, whoever may see it, to another store of any kind, and verify the copy.

        Ids, the tenant's secret, vectors, histories and tombstones are the same there, and so are the answers. The copy
        is a consistent snapshot, even while others write. An interrupted copy continues when it is run again. For
        administrators, like `backup`: it does not check whose memories they are.

        Args:
            to: URL or path of the other store, created if it does not exist.
            tenant: Which tenant; None for this one's own.
            all_tenants: All tenants, one after the other.
            progress: Called with the progress.

        Raises:
            InputError: The other store has something else of the tenant, or is this one; nothing was written.
            NotFoundError: There is no such tenant.
            StoreBusyError: Another process copies to it.
            StoreError: It was interrupted (run it again), or the copy is not the same.
        """
        tenants = None if all_tenants else (self.workspace.scope.tenant if tenant is None else tenant,)
        return services.exports.copy_tenants(self.workspace.store, str(to), tenants, progress)


def _as_list(ids: str | Sequence[str]) -> list[str]:
    return [ids] if isinstance(ids, str) else list(ids)
