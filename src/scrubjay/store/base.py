"""Ports: what every store must do, and how it must answer.

These docstrings are the contract; `scrubjay.testing.store_contract` is the suite that holds every
store to it, and the congruence suite demands equal answers in equal order from all of them.

Rules for all:

* A call sees exactly one scope. Nothing of another scope's memories is returned, counted, or felt in a
  score: N, df and lengths are summed over the scope's own visibility keys.
* Filters (`Where`) choose among what the scope sees. They never change a statistic.
* Scores are rounded to 1e-6 and ties go to the smaller id.
* A store that cannot do something raises; it never ignores an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from scrubjay.memory.models import Model
from scrubjay.memory.ranking import Hit
from scrubjay.memory.records import Document, Record, Source, Versions, Where
from scrubjay.memory.scope import Scope
from scrubjay.store.graph import GraphReader
from scrubjay.store.life import LifeReader
from scrubjay.store.quota import Quota
from scrubjay.store.whole import WholeReader

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.memory.reports import Enlarged, Progress
    from scrubjay.store.changes import Change, Codes, Prepared
    from scrubjay.text.tokens import TermGroup


class Scored(Protocol):
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


class WordsScored(Scored, Protocol):
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


@dataclass(frozen=True, slots=True)
class ModelState:
    """A registered model.

    Attributes:
        model: The model.
        state: ``active`` (ranked with) or ``adding`` (embedded beside, not ranked with yet).
    """

    model: Model
    state: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a model's vectors reach within one scope.

    Attributes:
        covered: Visible memories that have its vectors.
        waiting: Visible memories that wait for them.
    """

    covered: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that waits for a model's vectors.

    Attributes:
        record: The memory.
        before: Content of the passage before it in its document where both are of one section (their
            heading paths are equal) and of one visibility key, else an empty string.
    """

    record: Record
    before: str


@dataclass(frozen=True, slots=True)
class Head:
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


@dataclass(frozen=True, slots=True)
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


class Reader(GraphReader, LifeReader, Protocol):
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

    def heads(self, ids: Sequence[str]) -> dict[str, Head]:
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

    def words(self, groups: Sequence[TermGroup], where: Where) -> WordsScored:
        """Score by BM25 (k1 1.2, b .75) over term groups.

        tf is the largest of a group's forms, 255 at most; df counts memories with any of them; idf is
        ``ln(1 + (N - df + .5) / (df + .5))``. A quarter of a group's weight is for its first form, the word
        itself: ``.75`` of what the group earns is added to ``.25`` of what that form would earn alone.
        """
        ...

    def frequencies(self, groups: Sequence[TermGroup]) -> list[int]:
        """Return how many visible memories hold each group (df)."""
        ...

    def nearest(self, fingerprint: str, query: NDArray[np.float32], where: Where) -> Scored:
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

    def waiting(self, fingerprint: str, limit: int) -> list[Waiting]:
        """Return memories that wait for a model's vectors, in the order of their ids' hashes."""
        ...

    def cached(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Codes]:
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

    def versions(self) -> Versions | None:
        """Return the versions that the current generation was stamped with, None before the first stamp."""
        ...


class Whole(WholeReader, Reader, Protocol):
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

    def whole(self, tenant: str) -> AbstractContextManager[Whole]:
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

    def enlarge(self, scope: Scope, progress: Callable[[Progress], None]) -> Enlarged:
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

    def passages(self, document: Document) -> list[Prepared]:
        """Return a document's passages as they are stored, in order, with terms left empty."""
        ...

    def additions(self) -> list[Prepared]:
        """Return the memories that belong to no document, with terms left empty."""
        ...

    def write(self, changes: Sequence[Change]) -> None:
        """Apply changes to the generation that is being filled.

        Raises:
            InputError: A change of what belongs to no generation: a source, a model, a tombstone.
        """
        ...
