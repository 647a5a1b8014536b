"""Storage protocols: what every store must do and how it must answer; the contract is in the docstrings.

These docstrings are the contract. The suite in ``tests/store_contract`` runs it against every store, and the congruence
suite demands equal answers in equal order from all of them.

* A call sees exactly one scope. Nothing of another scope's memories is returned, counted, or reflected in a
  score: N, df and lengths are summed over the scope's own visibility keys.
* Filters (`RecordFilter`) choose among what the scope sees. They never change a statistic.
* Scores are rounded to 1e-6 and ties go to the smaller id.
* An edge is visible to a scope that sees its key and both of its ends, whatever the memories' status; of a concept, any
  of its rows. What several visible keys say of one source, kind and end is one edge (`GraphReader.edges`).
* An event is visible to a scope that sees its key and its memory. The other memory in it is named only to a scope that
  sees that one, too. Events of a memory are deleted with it. They stay when it is replaced under its id, moved, renamed
  or rebuilt: events and runs belong to no generation.
* A `TenantReader` sees every visibility key (`UnrestrictedScope`), and returns rows as they are stored.
* A store that cannot do something raises; it never ignores an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import NO_FILTER, Document, Record, RecordFilter, Scope, Source, StageVersions
from scrubjay.models.results import Hit
from scrubjay.storage.quota import Quota

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.graph import Category, Edge, Entity, EntityRow
    from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
    from scrubjay.models.records import UnrestrictedScope
    from scrubjay.models.reports import IndexReport, Progress
    from scrubjay.storage.changes import Change, PreparedMemory, PutProject, QuantizedVectors
    from scrubjay.text.tokenizer import TermGroup


class GraphReader(Protocol):
    """What connects memories, as one scope sees it."""

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        """Return visible rows of concepts, all or those of these ids, by id and key."""
        ...

    def concept_rows(self) -> list[EntityRow]:
        """Return all that `concepts` would, in any order, without an object for each."""
        ...

    def concept_mark(self) -> int:
        """Return a number that differs whenever `concepts` would, within one store and one scope.

        It grows by one with each row of a visible key that is put, and never falls.
        """
        ...

    def categories(self) -> list[Category]:
        """Return the visible categories, by id."""
        ...

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
    ) -> list[Edge]:
        """Return visible stored edges that leave these ids, or with ``inward`` those that lead to them.

        Args:
            ids: Memories, concepts or categories; unknown ones have no edges.
            kinds: Any of `scrubjay.models.graph.STORED_EDGE_KINDS`.
            inward: Those that lead to ``ids``.
            limit: Most edges of each id and kind, the heaviest first, then the smaller other end.

        Returns:
            By the id asked for (in the order given), kind, falling weight, other end. Of several visible edges
            with one source, kind and end (of several keys) a given one before a found one, then the heaviest,
            then that of the smaller key, stands for all; `degrees` and `meetings` count them once.
        """
        ...

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many visible edges of a kind lead to each id (to any, without ``ids``); 0 is left out."""
        ...

    def meetings(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        """Return how often other concepts are referred to by the memories that refer to one.

        Args:
            concept: Its id.
            limit: Most memories looked at: those whose id's digits are greatest, so that the choice does not
                depend on when they came.

        Returns:
            Other concept to number of memories, and how many memories were looked at. Visible edges only.
        """
        ...

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        """Return the ``follows`` edges, later to earlier, that begin or end in these visible memories.

        Of three chains, told by ``rule``; each edge has weight 1, the later one's key, and as ``at`` the
        earlier one's time (event start, else recorded):

        * ``session``: memories of one session whose turns differ by one.
        * ``document``: passages of one document, without a session, whose ordinals differ by one.
        * ``project``: neighbours in (time, id) among a project's heads. A head is a memory with a project
          that is turn 0 of a session, or without session and turn stands first (ordinal 0) in its document,
          or stands in none.

        Pieces of one turn share it: each follows every piece of the turn before. Edges are ``found``, and of
        memories of whatever status.

        Returns:
            Each edge once, by rule, source, end.
        """
        ...

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        """Return a session's visible turns from ``first`` to ``last`` (inclusive), by turn, ordinal, id.

        What stands in no document comes before the pieces of the same turn that do.
        """
        ...

    def last_turn(self, session: str) -> int | None:
        """Return the greatest turn of a session's visible memories, None where it has none."""
        ...

    def page(self, after: str, limit: int, where: RecordFilter | None = None) -> list[Record]:
        """Return visible memories whose id's digits come after those of ``after`` (all when empty), in that order.

        The order is that of the hash alone, whatever the tier; ``after`` may be an id that is gone. Without
        ``where`` all are returned, of whatever status.

        Raises:
            InputError: ``after`` is neither empty nor an id of a memory.
        """
        ...

    def latest(self, where: RecordFilter, limit: int, skip: int = 0) -> list[Record]:
        """Return the visible memories that pass a filter and happened last (event start, else recorded), last first.

        Of one time, the order is that of `page`; then that of the tiers. The first ``skip`` are passed over.
        """
        ...

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        """Return the windows that visible memories have of a model; those without are left out.

        Raises:
            NotFoundError: The model is not registered.
        """
        ...

    def alike(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        """Return, for each query, the visible memories nearest to it by the best window; active ones, by default.

        The answer is that of ``nearest(fingerprint, query, where).top(limit)`` with scores below ``floor``
        left out, for all queries at once.

        Args:
            fingerprint: The model.
            queries: float32, shape (queries, dimensions), unit rows.
            limit: Most memories a query.
            floor: Least cosine.
            where: Which memories may be returned.

        Raises:
            NotFoundError: The model is not registered.
            ModelMismatchError: The queries' length is not the model's dimensions.
        """
        ...

    def projects(self) -> dict[str, str]:
        """Return place to project name, as the scope's keys know them (the smaller key wins)."""
        ...


class HistoryReader(Protocol):
    """What happened to memories, as one scope sees it."""

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return visible events, newest first; of one time, the one that was written later first.

        Args:
            ids: Memories they happened to, any without; unknown and foreign ones have none.
            run: Those of this run alone.
            limit: Most events.

        Returns:
            Events whose ``other`` is None where that memory is gone or out of sight.
        """
        ...

    def readings(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        """Return what was read from visible memories, by id; those that nothing was read from are left out."""
        ...

    def runs(self, limit: int = 20) -> list[ConsolidationRun]:
        """Return the runs of visible keys, started last first, then by id and key; at most ``limit`` rows."""
        ...


BATCH_ROWS: Final = 500
"""Most rows of a piece: a transaction of a few milliseconds, and a few megabytes with their vectors."""


@frozen
class AlteredMemory:
    """A memory whose text is not the one that was written.

    Attributes:
        id: The memory.
        source: Id of the source that it is a passage of, None for one of no file.
        path: Path of its document in that source.
    """

    id: str
    source: str | None = None
    path: str | None = None


class TenantRows(Protocol):
    """All rows of one tenant, as they are at one moment."""

    @property
    def scope(self) -> UnrestrictedScope:
        """Who sees all of it: the keys of memories, sources, names, edges, histories and nights."""
        ...

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones, None where there is no such tenant."""
        ...

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility key of those of these memories that there are."""
        ...

    def memories(self) -> Iterator[list[PreparedMemory]]:
        """Yield every memory once, of whatever status, with its terms, vectors and language, in any order.

        Counts of terms are 255 at most.
        """
        ...

    def altered(self) -> Iterator[tuple[int, list[AlteredMemory]]]:
        """Yield how many memories were looked at, a piece at a time, with those whose text has not the hash beside it.

        A disk that gives back other letters than it was given is not noticed by who reads them.
        """
        ...

    def connections(self) -> Iterator[list[Edge]]:
        """Yield every edge as it is stored, one a key, also where nobody knows the concept it leads to by now."""
        ...

    def past(self) -> Iterator[list[Event]]:
        """Yield every event in the order of writing."""
        ...

    def texts(self) -> Iterator[tuple[str, dict[str, QuantizedVectors]]]:
        """Yield fingerprints of models with cached windows of texts (by sha256), in the order they came."""
        ...

    def tombstones(self) -> Iterator[list[str]]:
        """Yield the hashes of what was forgotten."""
        ...

    def places(self) -> list[PutProject]:
        """Return what every key calls the project of every place, by key and place."""
        ...


class NoTenantIndex:
    """A store that needs no index for large tenants."""

    def slow(self, scope: Scope) -> str:
        """Return nothing: it is as fast as it can be."""
        return ""

    def enlarge(self, scope: Scope, progress: Callable[[Progress], None]) -> NoReturn:
        """Refuse."""
        self.reduce(scope)

    def reduce(self, scope: Scope) -> NoReturn:
        """Refuse."""
        raise InputError(
            "Only a PostgreSQL store has an index for large tenants; this one searches any size as it is. "
            "Nothing was written.",
            hint="leave it out, or name the store: --store postgresql://…",
        )


class ChannelScores(Protocol):
    """Every visible memory's score on one channel.

    Attributes:
        mean: Mean score over all visible, covered memories (filters do not count).
        deviation: Standard deviation over the same, 0.0 when none is covered.
        covered: How many memories the channel can score: all visible ones for words, those with a
            vector for a model.
    """

    @property
    def mean(self) -> float:
        """Mean score over the covered."""
        ...

    @property
    def deviation(self) -> float:
        """Standard deviation over the covered."""
        ...

    @property
    def covered(self) -> int:
        """How many memories the channel can score."""
        ...

    def top(self, limit: int) -> list[Hit]:
        """Return the best memories that pass the filter, best first.

        Memories without any evidence (no query term in words; no vector of the model) are never hits.
        """
        ...

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id, rounded, None where the channel cannot score one.

        Words score 0.0 where no term matches; vectors answer None where the model has no vector.
        """
        ...


class WordScores(ChannelScores, Protocol):
    """Scores by words (BM25), which can tell what each query word gave."""

    def parts(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return, a memory, what each of the query's term groups added, in the groups' order."""
        ...

    @property
    def frequencies(self) -> tuple[int, ...]:
        """How many visible memories hold each term group (df), in the groups' order."""
        ...

    @property
    def memories(self) -> int:
        """How many memories are visible (N)."""
        ...


@frozen
class ModelState:
    """A registered model.

    Attributes:
        model: The model.
        state: ``active`` (ranked with) or ``adding`` (embedded beside, not ranked with yet).
    """

    model: EmbeddingModel
    state: str


@frozen
class Coverage:
    """How far a model's vectors reach within one scope.

    Attributes:
        covered: Visible memories that have its vectors.
        waiting: Visible memories that wait for them.
    """

    covered: int
    waiting: int


@frozen
class PendingMemory:
    """A memory that waits for a model's vectors.

    Attributes:
        record: The memory.
        before: Content of the passage before it in its document where both are of one section (their
            heading paths are equal) and of one visibility key, else an empty string.
    """

    record: Record
    before: str


@frozen
class RankingMetadata:
    """What ranking asks of a memory without reading its text.

    Attributes:
        title: Its title.
        words: Its source words, as words are scored.
        turn: Whether it is a turn of a conversation.
        role: Who speaks, or None.
        at: When what it tells of happened, else when it was recorded, UTC microseconds.
        used: When it was last used, or None.
        pinned: Whether time does nothing to it.
        strength: 0..1, what feedback made of it.
        confidence: 0..1, how sure it is.
        session: Conversation it belongs to, or None.
        project: Project it belongs to, or None.
    """

    title: str
    words: int
    turn: bool = False
    role: str | None = None
    at: int = 0
    used: int | None = None
    pinned: bool = False
    strength: float = 1.0
    confidence: float = 1.0
    session: str | None = None
    project: str | None = None


@frozen
class Counts:
    """What a scope holds.

    Attributes:
        memories: Memories of every status.
        tiers: Tier to number of memories.
        statuses: Status to number of memories.
        documents: Ingested documents.
        sources: Registered sources.
        by_tier: Tier to status to number of memories; what is none is left out.
    """

    memories: int
    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    documents: int
    sources: int
    by_tier: Mapping[str, Mapping[str, int]]


class Reader(GraphReader, HistoryReader, Protocol):
    """One consistent view of a store for one scope. It ends with its ``with`` block."""

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""
        ...

    def documents(self, source: str) -> dict[str, Document]:
        """Return a source's documents by path."""
        ...

    def held(self, sources: Sequence[str]) -> int:
        """Return how many visible passages these sources' documents hold."""
        ...

    def passages(self, source: str, path: str) -> list[Record]:
        """Return a document's passages in the order of the document."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these whole ids; unknown and foreign ids are left out alike."""
        ...

    def heads(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        """Return what ranking asks of the visible memories of these whole ids."""
        ...

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the visible turns just before and after each of these turns of a session, in that order.

        Memories without session and turn, and turns without a neighbour, are left out.
        """
        ...

    def complete(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with ``prefix``, smallest first."""
        ...

    def words(self, groups: Sequence[TermGroup], where: RecordFilter) -> WordScores:
        """Score by BM25 (k1 1.2, b .75) over term groups.

        tf is the largest of a group's forms, 255 at most; df counts memories with any of them; idf is
        ``ln(1 + (N - df + .5) / (df + .5))``. A quarter of a group's weight is for its first form, the word
        itself: ``.75`` of what the group earns is added to ``.25`` of what that form would earn alone.
        """
        ...

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return how many visible memories hold each group (df)."""
        ...

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter) -> ChannelScores:
        """Score by cosine between the query (float32, shape (dimensions,), unit) and a memory's best window.

        Both are int8 codes with a scale; the product of whole numbers is exact on every machine.

        Raises:
            ModelMismatchError: The query's length is not the model's dimensions.
            NotFoundError: The model is not registered.
        """
        ...

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories, sorted: a query is stemmed in each."""
        ...

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return terms of visible memories that a mistyped word may mean, with `grams.nearest`'s score."""
        ...

    def models(self) -> list[ModelState]:
        """Return the tenant's registered models, by name and fingerprint."""
        ...

    def coverage(self, fingerprint: str) -> Coverage:
        """Return how many visible memories have a model's vectors, and how many wait for them.

        All of them wait for a model that is not registered.
        """
        ...

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model; cheap enough for every search.

        Vectors of memories that were removed may still count: it is never less than what is covered.
        """
        ...

    def waiting(self, fingerprint: str, limit: int) -> list[PendingMemory]:
        """Return memories that wait for a model's vectors, in the order of their ids' hashes."""
        ...

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        """Return windows of texts that were embedded before, by sha256 of the text."""
        ...

    def forgotten(self, hashes: Iterable[str]) -> set[str]:
        """Return those of these tombstone hashes (`ids.tombstone_hash`) that this tenant's forgotten texts left.

        Where nothing was forgotten a store need not look at any: so they may be made as they are asked for.
        """
        ...

    def counts(self) -> Counts:
        """Return what the scope holds."""
        ...

    def amount(self, key: str) -> int:
        """Return how many memories one visibility key holds, 0 for one that is not the scope's; cheap at any size."""
        ...

    def versions(self) -> StageVersions | None:
        """Return the versions that the current generation was stamped with, None before the first stamp."""
        ...


class TenantReader(TenantRows, Reader, Protocol):
    """One consistent view of all that a tenant has, whoever may see it; for who moves or checks a store."""


class Store(Protocol):
    """Where memories live."""

    @property
    def url(self) -> str:
        """What `open_store` opens it by."""
        ...

    @property
    def quota(self) -> Quota:
        """How many memories may be held: what every `write` is held to, and no rebuild."""
        ...

    def held(self, tenant: str) -> Mapping[str, int]:
        """Return visibility key to how many memories a tenant holds, whoever may see them; cheap at any size.

        For quotas alone: a sum over keys that a caller does not see is told where the settings bound it.
        """
        ...

    def secret(self, scope: Scope) -> bytes:
        """Return the tenant's key for ids and tombstones; made once, never changed."""
        ...

    def reader(self, scope: Scope) -> AbstractContextManager[Reader]:
        """Open a consistent view. Writers are not blocked by it."""
        ...

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        """Apply all of these changes in order, or none of them.

        Args:
            scope: Who writes. A memory's key must be one of the scope's.
            changes: What to do.
            durable: Return only when the changes would survive a loss of power.
            patience: Most seconds to wait for other writers; None for as many as the store was opened with.

        Raises:
            StoreBusyError: Another writer's turn did not end in time.
            QuotaError: There would be more memories than are allowed, and more than there are now.
            InputError: A change that cannot be: a key that is not the scope's, an id that is another
                memory's, a passage outside its document, half a character.
            NotFoundError: A source or a model that is not registered.
            ModelMismatchError: Vectors whose length is not their model's dimensions.
        """
        ...

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        """Return whether a writer's turn would not come within ``patience`` seconds.

        A reader who would like to write something on the side asks this first, and need not wait.
        """
        ...

    def alone(self, scope: Scope, name: str) -> AbstractContextManager[bool]:
        """Tell whether this caller alone, among all threads and processes, holds a name until the block ends.

        It never waits, and writers are not kept from writing. Whoever dies lets go of what they held.

        Args:
            scope: Whose tenant; the same name in another one is another.
            name: What is held, such as what is done meanwhile.
        """
        ...

    def tenants(self) -> list[str]:
        """Return the names of all tenants, sorted.

        Raises:
            StoreError: Who is connected may not see them.
        """
        ...

    def whole(self, tenant: str) -> AbstractContextManager[TenantReader]:
        """Open a consistent view of all that a tenant has, whoever may see it. It makes no tenant."""
        ...

    def rebuild(self, scope: Scope) -> AbstractContextManager[Rebuild]:
        """Fill the next generation beside the current one; a normal end of the block flips to it."""
        ...

    def backup(self, file: Path) -> None:
        """Write a copy of the whole store, of all tenants, as it is at one moment; writers are not kept waiting.

        Args:
            file: Where to; it must not be there yet. It is made with mode 0600.

        Raises:
            InputError: This kind of store is backed up by other means, which the hint names.
            StoreError: It cannot be read or written, or the copy is damaged.
        """
        ...

    def vacuum(self) -> None:
        """Rewrite the file where words of what was forgotten or removed may be left in it; writers wait meanwhile.

        It does nothing where that is not so since the last time, and where the store has no file of its own.
        """
        ...

    def size(self) -> int:
        """Return the bytes that the store takes on disk, 0 where it has no file."""
        ...

    def unguarded(self) -> str:
        """Return why a second fence between tenants, which this kind of store has, is not in force; else nothing."""
        ...

    def slow(self, scope: Scope) -> str:
        """Return why searches of this scope take longer than they must, and what helps; else nothing."""
        ...

    def enlarge(self, scope: Scope, progress: Callable[[Progress], None]) -> IndexReport:
        """Make what a tenant as large as the scope's is searched by, while others read and write.

        Raises:
            InputError: This kind of store needs nothing of the kind.
            StoreError: Who is connected may not, or the tenant is not there.
            StoreBusyError: A writer's turn did not end in time; it goes on there the next time.
        """
        ...

    def reduce(self, scope: Scope) -> None:
        """Take away all that `enlarge` has made of the scope's tenant; errors are the same."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


class Rebuild(Protocol):
    """A generation that is being filled, for the whole tenant.

    The current one answers until the block ends without an error. What other writers commit meanwhile is
    not lost: they wait for the block, or their changes are carried over before the flip.
    """

    def documents(self) -> list[Document]:
        """Return the documents of the current generation, by source and path."""
        ...

    def passages(self, document: Document) -> list[PreparedMemory]:
        """Return a document's passages as they are stored, in order, with terms left empty."""
        ...

    def additions(self) -> list[PreparedMemory]:
        """Return the memories that belong to no document, with terms left empty."""
        ...

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the generation that is being filled.

        Raises:
            InputError: A change of what belongs to no generation: a source, a model, a tombstone.
        """
        ...
