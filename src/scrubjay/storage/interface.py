"""Storage protocols: what every store must do and how it must answer.

These docstrings are the contract. ``tests/store_contract`` runs it against every store, and the congruence suite
demands equal answers in equal order from all of them.

* A call sees exactly one scope. Nothing of another scope's memories is returned, counted, or reflected in a score: N,
  df and lengths are summed over the scope's own visibility keys.
* Filters (`RecordFilter`) choose among what the scope sees. They never change a statistic.
* Scores are rounded to 1e-6 and ties go to the smaller id.
* An edge is visible to a scope that sees its key and both of its ends, whatever the memories' status; of a concept, any
  of its rows. What several visible keys say of one source, kind and target is one edge (`Reader.edges`).
* An event is visible to a scope that sees its key and its memory. It names the other memory only to a scope that sees
  that one, too. Events of a memory are deleted with it, but stay when it is replaced under its id, moved, renamed or
  rebuilt: events and runs belong to no generation. Those of a passage of which a person said something also stay while
  its document or text is away (`scrubjay.storage.absent_passages`); no reader returns them until it is back.
* A `TenantReader` sees every visibility key (`UnrestrictedScope`), and returns rows as they are stored.
* A store that cannot do something raises; it never ignores an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, TypeVar

from scrubjay.errors import InputError, StoreConflictError
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


T = TypeVar("T")


class ChannelScores(Protocol):
    """Every visible memory's score on one channel."""

    @property
    def mean(self) -> float:
        """Mean score over all visible, covered memories (filters do not count)."""

    @property
    def deviation(self) -> float:
        """Standard deviation over the same, 0.0 when none is covered."""

    @property
    def covered(self) -> int:
        """How many memories the channel can score: all visible ones for words, those with a vector for a model."""

    def top(self, limit: int) -> list[Hit]:
        """Return the best memories that pass the filter, best first.

        Memories without any evidence (no query term in words; no vector of the model) are never hits.
        """

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        """Return the rounded scores of memories, None where the channel cannot score one.

        Words score 0.0 where no term matches; vectors return None where the model has no vector.
        """


class WordScores(ChannelScores, Protocol):
    """Scores by words (BM25), with the share of each query word."""

    def group_scores(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return, a memory, what each of the query's term groups added, in the groups' order."""

    @property
    def frequencies(self) -> tuple[int, ...]:
        """How many visible memories hold each term group (df), in the groups' order."""

    @property
    def memories(self) -> int:
        """How many memories are visible (N)."""


@frozen
class ModelState:
    """A registered model; ``state`` is ``active`` (ranked with) or ``adding`` (embedded, not ranked with yet)."""

    model: EmbeddingModel
    state: str


@frozen
class Coverage:
    """How many visible memories have a model's vectors, and how many are pending."""

    covered: int
    waiting: int


@frozen
class PendingMemory:
    """A memory without a model's vectors.

    Attributes:
        before: Content of the passage before it in its document, if both have one heading path and one visibility
            key, else an empty string.
    """

    record: Record
    before: str


@frozen
class DueMemory:
    """A memory that enrichment is due for; ``source`` and ``path`` are its document's, ``mark`` is `Record.due`."""

    id: str
    key: str
    mark: int
    source: str | None = None
    path: str | None = None


@frozen
class RankingMetadata:
    """The fields of a memory that ranking reads, besides its text.

    Attributes:
        words: Its source words, as words are scored.
        turn: Whether it is a turn of a conversation.
        at: When its event happened, else when it was recorded, UTC microseconds.
        used: When it was last used, or None.
        pinned: Whether it is exempt from decay.
        strength: 0..1, result of feedback.
        confidence: 0..1.
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
    """Counts of a scope: memories in all, by tier and by status; documents and sources."""

    memories: int
    tiers: Mapping[str, int]
    statuses: Mapping[str, int]
    documents: int
    sources: int


class Reader(Protocol):
    """One consistent view of a store for one scope. It ends with its ``with`` block."""

    def sources(self) -> list[Source]:
        """Return the visible sources, by root."""

    def files_of_others(self, ids: Sequence[str]) -> dict[str, tuple[str, Document]]:
        """Return the source's root and the document of those visible passages whose source is not visible, by id."""

    def hidden_groups(self, source: str) -> dict[str, set[str]]:
        """Return the groups that this scope is not in and that see passages of a visible source, with their paths."""

    def documents(self, source: str, paths: Sequence[str] | None = None) -> dict[str, Document]:
        """Return a source's documents by path: all of them, or those of a few paths."""

    def count_passages(self, sources: Sequence[str]) -> int:
        """Return how many visible passages the documents of these sources have."""

    def passages(self, source: str, path: str) -> list[Record]:
        """Return a document's passages in the order of the document."""

    def get(self, ids: Sequence[str]) -> dict[str, Record]:
        """Return the visible memories of these complete ids; unknown and foreign ids are left out alike."""

    def ranking_metadata(self, ids: Sequence[str]) -> dict[str, RankingMetadata]:
        """Return the ranking metadata of the visible memories of these complete ids."""

    def adjacent(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the visible turns just before and after each of these turns of a session, in that order.

        Memories without session and turn, and turns without a neighbour, are left out.
        """

    def ids_with_prefix(self, prefix: str, limit: int = 10) -> list[str]:
        """Return visible ids that begin with ``prefix``, smallest first.

        A short id (`is_short_id`) begins those whose digits begin with it.
        """

    def project_names(self) -> list[str]:
        """Return the projects of the visible memories, sorted."""

    def words(self, groups: Sequence[TermGroup], where: RecordFilter) -> WordScores:
        """Score by BM25 (k1 1.2, b .75) over term groups.

        tf is the largest of a group's forms, 255 at most; df counts memories with any of them; idf is
        ``ln(1 + (N - df + .5) / (df + .5))``. A quarter of a group's weight is for its first form, the word
        itself: ``.75`` of what the group earns is added to ``.25`` of what that form would earn alone.
        """

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return how many visible memories hold each group (df)."""

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: RecordFilter) -> ChannelScores:
        """Score by cosine between the query (float32, shape (dimensions,), unit) and a memory's best window.

        Both are int8 codes with a scale; the product of whole numbers is exact on every machine.

        Raises:
            ModelMismatchError: The query's length is not the model's dimensions, or it makes codes of tokens.
            NotFoundError: The model is not registered.
        """

    def languages(self) -> tuple[str, ...]:
        """Return the languages of the visible memories, sorted: a query is stemmed in each."""

    def similar_terms(self, word: str, limit: int = 3) -> list[tuple[str, float]]:
        """Return terms of visible memories that a mistyped word may mean, with the score of `nearest_terms`."""

    def models(self) -> list[ModelState]:
        """Return the tenant's registered models, by name and fingerprint."""

    def coverage(self, fingerprint: str) -> Coverage:
        """Return a model's coverage; every visible memory is pending for one that is not registered."""

    def windows(self, fingerprint: str) -> int:
        """Return how many vectors the visible memories have of a model; cheap enough for every search.

        Vectors of removed memories may still count: it is never less than what is covered.
        """

    def pending(self, fingerprint: str, limit: int, *, newest: bool = False) -> list[PendingMemory]:
        """Return memories without a model's vectors, in the order of their ids' hashes.

        ``newest`` puts those first that became true last (`records.said_at`).
        """

    def oldest_pending(self, fingerprint: str) -> int | None:
        """Return when the visible memory pending longest for a model was last written (UTC microseconds), or None.

        None, too, for a model that is not registered.
        """

    def due(self, level: int) -> list[DueMemory]:
        """Return visible memories that enrichment of at least this level is due for, in the order of writing."""

    def cached_texts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, QuantizedVectors]:
        """Return windows of texts that were embedded before, by sha256 of the text."""

    def forgotten_hashes(self, hashes: Iterable[str]) -> set[str]:
        """Return those of these tombstone hashes (`ids.tombstone_hash`) that the tenant has.

        A store without tombstones need not read ``hashes``, so they may be computed lazily.
        """

    def forgotten_names(self, prefixes: Sequence[str]) -> set[str]:
        """Return the rest of each tombstone that begins with one of these (`ids.forgotten_prefix`)."""

    def counts(self) -> Counts:
        """Return the scope's counts."""

    def count_memories(self, key: str) -> int:
        """Return how many memories one visibility key holds, 0 for one that is not the scope's; cheap at any size."""

    @property
    def state(self) -> object:
        """State of the store that this view reads: equal ones have the same content, a write makes another."""

    def versions(self) -> StageVersions | None:
        """Return the versions that the current generation was stamped with, None before the first stamp."""

    def concepts(self, ids: Sequence[str] | None = None) -> list[Entity]:
        """Return visible rows of concepts, all or those of these ids, by id and key."""

    def concept_rows(self) -> list[EntityRow]:
        """Return all that `concepts` would, in any order, as tuples."""

    def concept_mark(self) -> int:
        """Return a number that grows by one with each row of a visible key that is put or dropped."""

    def categories(self) -> list[Category]:
        """Return the visible categories, by id."""

    def edges(
        self,
        ids: Sequence[str],
        kinds: Sequence[str],
        *,
        inward: bool = False,
        limit: int | None = None,
        rule: str | None = None,
    ) -> list[Edge]:
        """Return visible stored edges that leave these ids, or with ``inward`` those that lead to them.

        Args:
            ids: Memories, concepts or categories; unknown ones have no edges.
            kinds: Any of `scrubjay.models.graph.STORED_EDGE_KINDS`.
            inward: Those that lead to ``ids``.
            limit: Maximum number of edges of each id and kind, the heaviest first, then the smaller other end.
            rule: Only those that this rule made.

        Returns:
            By id (in the order given), kind, falling weight, other end. Of several keys' edges with one source, kind
            and target one is returned: given before found, then the heaviest, then that of the smaller key. `degrees`
            and `cooccurrences` count them once.
        """

    def degrees(self, kind: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many visible edges of a kind lead to each id (to any, without ``ids``); 0 is left out."""

    def cooccurrences(self, concept: str, limit: int) -> tuple[dict[str, int], int]:
        """Return how often other concepts are referred to by the memories that refer to one.

        Of more than ``limit`` memories those whose id's digits are greatest are counted, so that the choice does not
        depend on when they were added.

        Returns:
            Other concept to number of memories, and how many memories were counted. Visible edges only.
        """

    def follows(self, ids: Sequence[str]) -> list[Edge]:
        """Return the ``follows`` edges, later to earlier, that begin or end in these visible memories.

        There are three chains, named by ``rule``; each edge has weight 1, the later one's key, and as ``at`` the
        earlier one's time (event start, else recorded):

        * ``session``: memories of one session whose turns differ by one.
        * ``document``: passages of one document, without a session, whose ordinals differ by one.
        * ``project``: neighbours in (time, id) among a project's heads. A head is a memory with a project that is
          turn 0 of a session, or without session and turn is first (ordinal 0) in its document, or has no document.

        Pieces of one turn share it: each follows every piece of the turn before. Edges are ``found``, and of memories
        of any status.

        Returns:
            Each edge once, by rule, source, target.
        """

    def turns(self, session: str, first: int, last: int) -> list[Record]:
        """Return a session's visible turns from ``first`` to ``last`` (inclusive), by turn, ordinal, id.

        Memories of no document come before the pieces of the same turn that have one.
        """

    def last_turn(self, session: str) -> int | None:
        """Return the greatest turn of a session's visible memories, None where it has none."""

    def sessions(self, limit: int, skip: int = 0) -> list[str]:
        """Return the sessions that visible turns belong to, after ``skip``.

        The session with the latest turn (event start, else recorded) comes first; of one time, the smaller name.
        """

    def page(self, after: str, limit: int, where: RecordFilter | None = None) -> list[Record]:
        """Return visible memories whose id's digits come after those of ``after`` (all when empty), in that order.

        The order is that of the digits alone, whatever the tier; ``after`` need not exist any more. Without ``where``
        memories of every status are returned.

        Raises:
            InputError: ``after`` is neither empty nor an id of a memory.
        """

    def latest(self, where: RecordFilter, limit: int, skip: int = 0) -> list[Record]:
        """Return the visible memories that pass a filter, latest (event start, else recorded) first, after ``skip``.

        Of one time, the order is that of `page`; then that of the tiers.
        """

    def vectors(self, fingerprint: str, ids: Sequence[str]) -> dict[str, QuantizedVectors]:
        """Return the windows that visible memories have of a model; those without are left out.

        Of a late-interaction model these are codes of tokens, and only those of the given memories are read.

        Raises:
            NotFoundError: The model is not registered.
        """

    def nearest_batch(
        self,
        fingerprint: str,
        queries: NDArray[np.float32],
        limit: int,
        floor: float,
        where: RecordFilter = NO_FILTER,
    ) -> list[list[Hit]]:
        """Return, for each query, ``nearest(fingerprint, query, where).top(limit)`` without scores below ``floor``.

        ``queries`` are unit rows of float32, shape (queries, dimensions).

        Raises:
            NotFoundError: The model is not registered.
            ModelMismatchError: The queries' length is not the model's dimensions, or it makes codes of tokens.
        """

    def projects(self) -> dict[str, str]:
        """Return place to project name, as the scope's keys know them (the smaller key wins)."""

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return visible events, newest first; of one time, the one that was written later first.

        Unknown and foreign memories have none.

        Returns:
            Events whose ``other`` is None where that memory is gone or not visible.
        """

    def extractions(self, ids: Sequence[str]) -> dict[str, CachedExtraction]:
        """Return the cached extractions of visible memories, by id; those without are left out."""

    def runs(self, limit: int = 20) -> list[ConsolidationRun]:
        """Return the runs of visible keys, started last first, then by id and key; at most ``limit`` rows."""


BATCH_ROWS: Final = 500
"""Maximum number of rows of a batch: a transaction of a few milliseconds, and a few megabytes with their vectors."""


@frozen
class AlteredMemory:
    """A memory whose text is not the one that was written; ``source`` and ``path`` are its document's."""

    id: str
    source: str | None = None
    path: str | None = None


class TenantReader(Reader, Protocol):
    """One consistent view of everything a tenant has, for copies and checks; rows come in batches."""

    @property
    def scope(self) -> UnrestrictedScope:
        """All keys of memories, sources, concepts, categories, projects, edges, events and runs."""

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones, None where there is no such tenant."""

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility keys of the memories that exist."""

    def memories(self) -> Iterator[list[PreparedMemory]]:
        """Yield every memory once, of whatever status, with its terms, vectors and language, in any order.

        Counts of terms are 255 at most.
        """

    def altered_memories(self) -> Iterator[tuple[int, list[AlteredMemory]]]:
        """Yield, a batch, how many memories were checked, and those whose text does not have its stored hash."""

    def all_edges(self) -> Iterator[list[Edge]]:
        """Yield every edge as it is stored, one a key, also where no key knows its concept any more."""

    def all_events(self) -> Iterator[list[Event]]:
        """Yield every event in the order of writing."""

    def all_cached_texts(self) -> Iterator[tuple[str, dict[str, QuantizedVectors]]]:
        """Yield models' fingerprints with cached windows of texts (by sha256), in the order of writing."""

    def tombstones(self) -> Iterator[list[str]]:
        """Yield the hashes of forgotten memories."""

    def all_projects(self) -> list[PutProject]:
        """Return the project names of every key, by key and place."""


class Rebuild(Protocol):
    """A generation that is being filled, for the whole tenant.

    The current one answers until the block ends without an error. What other writers commit meanwhile is
    not lost: they wait for the block, or their changes are carried over before the flip.
    """

    def documents(self) -> list[Document]:
        """Return the documents of the current generation, by source and path."""

    def passages(self, document: Document) -> list[PreparedMemory]:
        """Return a document's passages as they are stored, in order, with terms left empty."""

    def additions(self) -> list[PreparedMemory]:
        """Return the memories that belong to no document, with terms left empty."""

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the generation that is being filled.

        Raises:
            InputError: A change of what belongs to no generation: a source, a model, a tombstone.
        """


class Store(Protocol):
    """A store of memories."""

    @property
    def url(self) -> str:
        """The URL that `open_store` takes."""

    @property
    def quota(self) -> Quota:
        """Limits on the number of memories, enforced by every `write` but not by a rebuild."""

    def memory_counts(self, tenant: str) -> Mapping[str, int]:
        """Return the number of a tenant's memories by visibility key, of every key; cheap at any size.

        For quotas only: a caller may learn a sum over keys that they do not see where the settings limit it.
        """

    def secret(self, scope: Scope) -> bytes:
        """Return the tenant's key for ids and tombstones; made once, never changed."""

    def reader(self, scope: Scope) -> AbstractContextManager[Reader]:
        """Open a consistent view. It does not block writers."""

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
            changes: What to write.
            durable: Return only when the changes would survive a loss of power.
            patience: Maximum seconds to wait for other writers; None for as many as the store was opened with.

        Raises:
            StoreBusyError: Another writer's turn did not end in time.
            StoreConflictError: A `RequireUnchanged` does not hold.
            QuotaError: There would be more memories than are allowed, and more than there are now.
            InputError: An invalid change: a key that is not the scope's, an id that is another memory's, a passage
                outside its document, an unpaired surrogate.
            NotFoundError: A source or a model that is not registered.
            ModelMismatchError: Vectors whose length is not their model's dimensions.
        """

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        """Return whether a write would wait for more than ``patience`` seconds; for optional writes of readers."""

    def try_exclusive(self, scope: Scope, name: str) -> AbstractContextManager[bool]:
        """Yield whether this caller alone, among all threads and processes, holds a name of the tenant in the block.

        It never waits and does not block writers. The name is released when its process dies.
        """

    def tenants(self) -> list[str]:
        """Return the names of all tenants, sorted.

        Raises:
            StoreError: The connected user may not see them.
        """

    def tenant_reader(self, tenant: str) -> AbstractContextManager[TenantReader]:
        """Open a consistent view of everything a tenant has. It creates no tenant."""

    def rebuild(self, scope: Scope) -> AbstractContextManager[Rebuild]:
        """Fill the next generation beside the current one; a normal end of the block flips to it."""

    def backup(self, file: Path) -> None:
        """Write a copy of the whole store, of all tenants, as it is at one moment, without blocking writers.

        The file must not exist; it is made with mode 0600.

        Raises:
            InputError: This kind of store is backed up by other means, which the hint names.
            StoreError: It cannot be read or written, or the copy is damaged.
        """

    def vacuum(self) -> None:
        """Rewrite the file if it may contain words of what was forgotten or removed; blocks writers meanwhile."""

    def size(self) -> int:
        """Return the bytes that the store takes on disk, 0 where it has no file."""

    def check_writable(self) -> None:
        """Raise the error that a write would end with now, as far as that can be told without changing the store.

        Raises:
            StoreReadOnlyError: It is read-only.
            StoreFullError: Its disk is full.
        """

    def row_security_warning(self) -> str:
        """Return why row-level security between tenants, if this kind of store has it, is not in force, or nothing."""

    def index_hint(self, scope: Scope) -> str:
        """Return what an index would speed up for this scope, or nothing."""

    def build_index(self, scope: Scope, progress: Callable[[Progress], None]) -> IndexReport:
        """Build the search index of a large tenant, while others read and write.

        Raises:
            InputError: This kind of store has no such index.
            StoreError: The connected user may not, or the tenant does not exist.
            StoreBusyError: A writer's turn did not end in time; the next call continues.
        """

    def drop_index(self, scope: Scope) -> None:
        """Remove the index of the scope's tenant; errors as in `build_index`."""

    def close(self) -> None:
        """Close files and connections."""


CONFLICT_ATTEMPTS: Final = 10
"""Attempts at work whose reads others keep changing; if more are needed, something is wrong."""


def retry_conflicts(work: Callable[[], T], discard: Callable[[], None] = lambda: None) -> T:
    """Return the result of work that reads and writes; repeat it if others changed meanwhile what it had read.

    ``discard`` is called before, so that what the refused attempt remembers as written does not count.
    """
    for _ in range(CONFLICT_ATTEMPTS - 1):
        with suppress(StoreConflictError):
            return work()
        discard()
    return work()


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most `size` items."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


RECORDS_PER_PAGE: Final = 1_000


def all_records(reader: Reader, where: RecordFilter | None = None) -> Iterator[Record]:
    """Yield the visible memories that pass a filter in the order of `Reader.page`; without one, of every status."""
    after = ""
    while page := reader.page(after, RECORDS_PER_PAGE, where):
        yield from page
        after = page[-1].id


class NoTenantIndex:
    """A store that needs no index for large tenants."""

    def index_hint(self, scope: Scope) -> str:
        return ""

    def drop_index(self, scope: Scope, progress: object = None) -> NoReturn:
        raise InputError(
            "Only a PostgreSQL store has an index for large tenants; this one searches any size as it is. "
            "Nothing was written.",
            hint="leave it out, or name the store: --store postgresql://…",
        )

    build_index = drop_index
