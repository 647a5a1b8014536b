"""Memory: the facade. It wires and decides nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from scrubjay.config import Settings, load
from scrubjay.engine_ask import Asking
from scrubjay.engine_life import Living
from scrubjay.engine_look import Looking
from scrubjay.engine_move import Moving
from scrubjay.engine_search import Searching
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.memory.scope import Scope
from scrubjay.store.open import open_store
from scrubjay.store.quota import Quota
from scrubjay.wiring.arguments import check, checked
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.lineup import Lineup, catalog, given
from scrubjay.wiring.reranking import Rerankers
from scrubjay.wiring.rewriting import Rewriter
from scrubjay.wiring.telling import ended

if TYPE_CHECKING:
    from scrubjay.log import Log
    from scrubjay.memory.new import NewMemory
    from scrubjay.memory.redactions import Redaction
    from scrubjay.memory.reports import (
        Added,
        Embedded,
        Enlarged,
        Fetched,
        Forgotten,
        ModelStatus,
        Progress,
        RemovedSource,
        SourceStatus,
        Status,
        Summary,
    )
    from scrubjay.memory.webs import Link
    from scrubjay.providers.embedders.port import Embedder
    from scrubjay.providers.rerankers.port import Reranker
    from scrubjay.wiring.categories import Categories
    from scrubjay.wiring.concepts import Concepts


def _silent(message: str) -> None:
    """Nobody listens to announcements of remote providers."""


@checked
class Memory(Searching, Asking, Looking, Living, Moving):
    """Everything one principal remembers, in one store.

    A call with an argument of a wrong type, and any call after `close`, raises `InputError`.

    Example:
        >>> from scrubjay.testing.hash_embedder import HashEmbedder
        >>> with Memory.open("memory://", user="ann", embedders=[HashEmbedder(64)]) as memory:
        ...     _ = memory.add("The launch code is blue bunny.")
        ...     memory.search("launch code").results[0].snippet
        'The launch code is blue bunny.'
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

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
        announce: Callable[[str], None] = _silent,
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
        check(cls.open, url, user=user, groups=groups, tenant=tenant, cold=cold)
        found = settings if settings is not None else load()
        limits = Quota(found.quota.memories_per_tenant, found.quota.memories_per_user)
        store = open_store(str(url) if url is not None else found.store, quota=limits)
        scope = Scope(
            tenant or found.tenant, user or found.user, tuple(found.groups if groups is None else groups)
        )
        models = catalog(found, announce) if embedders is None else given(embedders)
        lineup = Lineup(store, scope, models, cold=cold, overlap=found.chunk.overlap)
        rewriter, rerankers = Rewriter(found.llm, announce), Rerankers(reranker)
        return cls(
            Desk(
                store, scope, lineup, found,
                announce=announce, log=log, rewriter=rewriter, rerankers=rerankers,
            )
        )  # fmt: skip

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
        from scrubjay.wiring.seats import seat

        scope = Scope(tenant or self._desk.scope.tenant, user, tuple(groups))
        return type(self)(seat(self._desk, scope, curates=curate))

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
    ) -> Summary:
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
        from scrubjay.memory.records import Source
        from scrubjay.wiring.syncing import sync

        if trust not in (None, "auto", "trusted", "untrusted"):
            raise InputError(
                f"Trust {trust!r:.40} is not auto, trusted or untrusted. Nothing was synced.",
                hint="leave it out to keep what was said before",
            )
        choice = TrustChoice("" if trust == "auto" else trust, share)
        settings = self._desk.settings.sync
        wish = Source(
            "", "", description, tuple(include or settings.include), tuple(exclude or settings.exclude)
        )
        one = Path(only) if only is not None else None
        summary = sync(
            self._desk, Path(path) if path is not None else None, wish, progress, one, project, choice
        )
        if embed_seconds > 0:
            done = self.embed(seconds=embed_seconds, progress=progress)
            seconds = summary.seconds + done.seconds
            summary = replace(summary, embedded=done.embedded, waiting=done.waiting, seconds=seconds)
        return summary

    def sources(self) -> list[SourceStatus]:
        """Return the registered sources with what they hold."""
        from scrubjay.wiring.facts import sources

        return sources(self._desk)

    def redactions(self) -> list[Redaction]:
        """Return what was replaced as a secret or private in the memories that the caller may see, with its place."""
        from scrubjay.wiring.redactions import redactions

        return redactions(self._desk)

    def remove_source(self, name: str) -> RemovedSource:
        """Remove a source by id or path, with everything it brought and what rests on that alone.

        Its files are not touched. What has other evidence stays, and what was pinned.

        Raises:
            NotFoundError: No such source is registered.
        """
        from scrubjay.wiring.facts import source
        from scrubjay.wiring.syncing import remove

        return remove(self._desk, source(self._desk, name))

    def watch(self, *, stop: threading.Event, report: Callable[[Summary], None]) -> None:
        """Sync now and whenever a source's files change, until ``stop`` is set.

        Raises:
            SourceError: The watch ended although nobody stopped it.
        """
        from scrubjay.ingest.watching import watching

        with self._desk.store.reader(self._desk.scope) as reader:
            sources = reader.sources()
        try:
            watching(sources, self.sync, report, debounce=self._desk.settings.sync.debounce, stop=stop)
        except ScrubjayError as error:
            ended(self._desk, "watch", error)
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
    ) -> Fetched:
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
        from scrubjay.recall.get import Window, fetch
        from scrubjay.wiring.touching import touch

        wanted = [ids] if isinstance(ids, str) else list(ids)
        with self._desk.store.reader(self._desk.scope) as reader:
            window = Window(neighbours, limit, offset, evidence)
            found = fetch(reader, wanted, str(path) if path else None, lines, window)
        if wanted:
            touch(self._desk, wanted, found)
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
    ) -> Added:
        """Add one memory, durably; adding the same content in the same scope again finds the same memory.

        Secrets in it are replaced before anything is stored. With a notes folder in the settings it is also
        appended to the day's note. The fields are those of `NewMemory`.

        Raises:
            InputError: A field has a value it cannot have; nothing was written.
        """
        from scrubjay.memory.new import NewMemory

        new = NewMemory(
            content, tier, title, tags, date, session, role, turn,
            project, agent, visibility, group, confidence, valid_from, valid_until, origin, pinned,
        )  # fmt: skip
        from scrubjay.wiring.adding import add_one

        return add_one(self._desk, new)

    def add_many(self, memories: Iterable[NewMemory]) -> list[Added]:
        """Add many memories at once; all are checked before the first is written.

        A turn that is nothing but recalled memories is left out: ``passed`` of its answer says why.
        """
        from scrubjay.wiring.adding import add

        return add(self._desk, memories)

    def forget(self, ids: str | Sequence[str]) -> Forgotten:
        """Remove memories for good: text, vectors, index, cache, and names and digests that rest on them.

        A keyed hash keeps `sync` from bringing them back; files are not edited, their lines are named.
        """
        from scrubjay.wiring.forgetting import forget

        return forget(self._desk, [ids] if isinstance(ids, str) else list(ids))

    @property
    def concepts(self) -> Concepts:
        """The dictionary: list, show, add, merge, rename and remove concepts."""
        self._refuse_closed()
        from scrubjay.wiring.concepts import Concepts

        return Concepts(self._desk)

    @property
    def categories(self) -> Categories:
        """The hierarchy of topics and places: list and show categories."""
        self._refuse_closed()
        from scrubjay.wiring.categories import Categories

        return Categories(self._desk)

    def links(self, memory: str) -> tuple[Link, ...]:
        """Return what a memory is joined with, to and fro: the heaviest ten of each kind.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.wiring.linking import links

        return links(self._desk, memory)

    def link(self, src: str, dst: str, kind: str = "links", weight: float = 1.0, rule: str = "") -> Link:
        """Join two memories, for whoever asks: ``links``, ``derived_from``, ``supersedes`` or ``contradicts``.

        Raises:
            InputError: An id is not there, both are one, or kind or weight (0..1) cannot be.
        """
        from scrubjay.memory.edges import Edge
        from scrubjay.wiring.linking import link

        return link(self._desk, Edge(src, kind, dst, "", weight, rule=rule))

    def unlink(self, src: str, dst: str, kind: str = "links") -> None:
        """Part two memories again; what a text itself says comes back when that text is written again.

        Raises:
            NotFoundError: The first is not joined with the second in this way.
        """
        from scrubjay.wiring.linking import unlink

        unlink(self._desk, src, dst, kind)

    def embed(
        self, *, seconds: float | None = None, progress: Callable[[Progress], None] | None = None
    ) -> Embedded:
        """Embed what waits for a backfilled model; stopped at any moment, it goes on where it was.

        Raises:
            ProviderError: A model failed; what was embedded before is stored.
        """
        from scrubjay.wiring.embedding import embed

        return embed(self._desk, seconds, progress)

    def rebuild(self, *, progress: Callable[[Progress], None] | None = None) -> Summary:
        """Make every memory anew from what is stored, beside the old ones, and switch at once."""
        from scrubjay.wiring.syncing import remake

        return remake(self._desk, progress)

    def enlarge(self, *, progress: Callable[[Progress], None] | None = None) -> Enlarged:
        """Make what a large tenant on PostgreSQL is searched by: blocks of its words and, with pgvector, an index.

        For who owns the tables (docs/postgres.md, "A large tenant"); others read and write meanwhile.

        Raises:
            InputError: The store is of another kind, which needs none.
            StoreError: The database's user may not make it.
        """
        return self._desk.store.enlarge(self._desk.scope, progress or (lambda _: None))

    def reduce(self) -> None:
        """Take away what `enlarge` has made; the answers stay right, a search of a large tenant takes longer.

        Raises:
            InputError: The store is of another kind, which has none.
            StoreError: The database's user may not.
        """
        self._desk.store.reduce(self._desk.scope)

    def models(self) -> list[ModelStatus]:
        """Return the embedding models and how far each reaches, the base model first."""
        return self._desk.lineup.status()

    def add_model(self, name: str) -> ModelStatus:
        """Register a model of the settings, to be backfilled beside those in use."""
        return self._desk.lineup.add(name)

    def use_model(self, name: str) -> ModelStatus:
        """Rank with a model, beside the base model, from now on."""
        return self._desk.lineup.use(name)

    def drop_model(self, name: str) -> ModelStatus:
        """Remove a model and its vectors from the store."""
        return self._desk.lineup.drop(name)

    def status(self) -> Status:
        """Return facts: what is stored, which models and sources there are, how large it is."""
        from scrubjay.wiring.facts import status

        return status(self._desk)

    def close(self) -> None:
        """Close the store. What `seen_by` returned is closed with it; closing twice does nothing."""
        self._desk.closed.set()
        self._desk.store.close()

    def _refuse_closed(self) -> None:
        if self._desk.closed.is_set():
            raise InputError(
                f"The memory of {self._desk.store.url} was closed. Nothing was done.",
                hint="open it again with Memory.open, or call it inside its `with` block",
            )

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def as_stored(memory: Memory) -> Memory:
    """Return the same memory, answering from what is stored: files are not compared with it first."""
    return Memory(replace(memory._desk, looks=False))


def revisions(memory: Memory, ids: Sequence[str]) -> dict[str, str]:
    """Return the revision of each memory that is there: another one as soon as it says something else."""
    with memory._desk.store.reader(memory._desk.scope) as reader:
        records = reader.get(ids)
    return {one.id: f"{one.status} {one.updated_at} {one.content_hash}" for one in records.values()}


def unnoted(memory: Memory) -> Memory:
    """Return the same memory, whose additions are not appended to day notes: those are for what somebody adds."""
    from scrubjay.config import Notes

    return Memory(replace(memory._desk, settings=replace(memory._desk.settings, notes=Notes())))
