"""Changes: every write that a store accepts, as frozen values.

Everything is computed (read, chunked, counted, embedded) before a change is made; applying one only stores it. A store
applies a sequence of changes in one transaction: all of them or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.models.graph import Category, Edge, Entity
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event, LifecycleChange
from scrubjay.models.records import Document, Record, Source, SourcePlace, StageVersions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.tokenizer import Terms


TEXT_CACHE_BYTES: Final = 32 * 1024 * 1024
"""Bytes of embedded texts kept per tenant, oldest out first: about 80,000 passages of 384 dimensions."""


@frozen
class QuantizedVectors:
    """Quantized vectors, one row per window; or token codes, which are opaque to a store.

    Attributes:
        data: int8, shape (windows, dimensions); codes are of shape (rows, ``model.row_bytes``).
        scales: float32, shape (windows,). A row is about ``data * scale``; a zero row has scale 0. Of codes all are 1.
    """

    data: NDArray[np.int8]
    scales: NDArray[np.float32]


@frozen
class PreparedMemory:
    """A memory with everything stored beside it.

    Attributes:
        record: The memory. One with the same id is replaced.
        vectors: Fingerprint of a model to the memory's windows.
        language: ISO code of the language whose stems ``terms`` holds.
    """

    record: Record
    terms: Terms
    vectors: Mapping[str, QuantizedVectors] = field(default_factory=dict)
    language: str = "en"


@frozen
class UnchangedPassage:
    """A passage whose text did not change, though its place may have."""

    id: str
    place: SourcePlace


@frozen
class PutSource:
    """Register a source, or change one of the same id; the id of a source out of sight is refused.

    Attributes:
        was: The source as it was read, or nothing if there was none. If it has changed since, the whole write is
            refused with a `StoreConflictError`. None replaces any.
    """

    source: Source
    was: tuple[Source, ...] | None = None


@frozen
class DropSource:
    """Remove a visible source with its documents and passages, and what is kept of absent ones."""

    id: str


@frozen
class PutDocument:
    """Make a document of a visible source hold exactly these passages, as far as the writer sees.

    With nothing fresh, kept or dropped the passages stay as they are: the file was only touched. Ids in ``kept`` and
    ``dropped`` that do not exist any more are ignored. A fresh passage with the place and text of one that was removed
    gets back what a person said of that one (`scrubjay.storage.absent_passages`).

    Attributes:
        document: The document as it is now. One that was under its path is replaced by one moved there.
        fresh: Passages that are new or whose text changed.
        kept: Unchanged passages, with their place now.
        dropped: Ids of passages to remove.
        moved_from: Path under which the source held this document until now, when it was renamed.
        grows: The fresh passages are added to the others: an append-only document grew.
    """

    document: Document
    fresh: tuple[PreparedMemory, ...] = ()
    kept: tuple[UnchangedPassage, ...] = ()
    dropped: tuple[str, ...] = ()
    moved_from: str | None = None
    grows: bool = False


@frozen
class DropDocument:
    """Remove a document of a visible source and its passages."""

    source: str
    path: str


@frozen
class PutMemory:
    """Add a memory that belongs to no document, or replace the one of the same id.

    An id whose number another memory has, out of the writer's sight or in another tier, is refused.
    """

    memory: PreparedMemory


@frozen
class RequireUnchanged:
    """Refuse the whole write with a `StoreConflictError` if memories are not as they were read, but for their last use.

    Attributes:
        records: Id to the memory as it was read; None if the writer saw no such memory.
    """

    records: Mapping[str, Record | None]


@frozen
class Forget:
    """Remove visible memories for good; a keyed hash of text and visibility key remains (`ids.tombstone_hash`).

    The same holds for an absent passage.
    """

    ids: tuple[str, ...]


@frozen
class DropUser:
    """Remove the rest of a user whose memories and sources are gone, and the name.

    That is everything under the user's own visibility key: edges, concepts, categories, project names, runs, and the
    user as the actor of events.
    """

    user: str


@frozen
class PutTombstones:
    """Add tombstones (`ids.tombstone_hash`) from a store that had the same secret."""

    hashes: tuple[str, ...]


@frozen
class DropMemory:
    """Remove visible memories that belong to no document, without tombstones; other ids are ignored."""

    ids: tuple[str, ...]


@frozen
class PutModel:
    """Register an embedding model, or change the state of one.

    Attributes:
        state: ``active`` (embedded and ranked with) or ``adding`` (embedded, not ranked with yet).
    """

    model: EmbeddingModel
    state: str = "active"


@frozen
class DropModel:
    """Remove a model and all of its vectors."""

    fingerprint: str


@frozen
class PutVectors:
    """Store vectors that were computed after their memories were written.

    Attributes:
        fingerprint: The model, which must be registered.
        vectors: Memory id to (content hash it was computed from, windows). A memory that is gone, has
            another text by now, or has its vectors already is ignored.
        texts: sha256 of an embedded text to its windows, for the cache.
    """

    fingerprint: str
    vectors: Mapping[str, tuple[str, QuantizedVectors]]
    texts: Mapping[str, QuantizedVectors] = field(default_factory=dict)


@frozen
class PutDue:
    """Mark visible memories for enrichment, or as enriched; other ids are ignored.

    Attributes:
        marks: Memory id to its new mark (`records.due_mark`), or 0.
        was: The marks that they had when their enrichment began; one that has another by now keeps it. None only ever
            adds: a memory keeps the level that it has if that is higher.
    """

    marks: Mapping[str, int]
    was: Mapping[str, int] | None = None


@frozen
class PutVersions:
    """Stamp the tenant's memories with the versions of the stages that made them."""

    versions: StageVersions


@frozen
class PutConcept:
    """Put one visibility key's row of a concept (`validation.check_concept`).

    Attributes:
        was: The key's row as it was read, or nothing if there was none. If it has changed since, the whole write is
            refused with a `StoreConflictError`. None replaces any row.
    """

    concept: Entity
    was: tuple[Entity, ...] | None = None


@frozen
class DropConcept:
    """Remove one visibility key's row of a concept, with the edges of the same key that lead to it.

    Edges of other keys stay. One that is unknown or whose key the writer does not have is ignored.

    Attributes:
        was: As in `PutConcept`.
    """

    id: str
    key: str
    was: tuple[Entity, ...] | None = None


@frozen
class PutCategory:
    """Put a category, or replace the one of its id (`validation.check_category`).

    The id of another key's category is refused.
    """

    category: Category


@frozen
class DropCategory:
    """Remove a visible category and the edges that lead to it."""

    id: str


@frozen
class PutEdges:
    """Put edges, after removing found ones.

    An edge's identity is its source, kind, target and key. One whose source is not a visible memory, or whose target is
    not a visible memory, concept or category, is ignored: it may have been forgotten meanwhile. A found edge never
    replaces a given one; a given one replaces any. An invalid one (`validation.check_edge`) refuses the whole write.

    Edges of memories that are removed for good are removed, on both sides and of every key; those of a memory that is
    renamed, moved or replaced under its id within one change stay. Edges belong to no generation: those of memories
    that a rebuild leaves out are removed at its end.

    Attributes:
        edges: Edges to put; one of the same identity is replaced.
        of: Memories whose visible found edges of ``kinds`` are removed first.
        inward: Remove those that lead to ``of`` as well.
    """

    edges: tuple[Edge, ...] = ()
    of: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    inward: bool = False


@frozen
class DropEdges:
    """Remove visible edges by (source, kind, target), of every key the writer sees, found or given."""

    edges: tuple[tuple[str, str, str], ...]


@frozen
class PutProject:
    """Set, for one visibility key, the project name of a place; a place has one name.

    Attributes:
        place: Keyed hash of the place's path or folder identity, never the path itself.
    """

    place: str
    name: str
    key: str


GraphChange = PutConcept | DropConcept | PutCategory | DropCategory | PutEdges | DropEdges | PutProject
"""Changes that belong to no generation."""


@frozen
class PutLifecycle:
    """Change lifecycle fields of visible memories by id; text, place, words, edges, vectors and ``updated_at`` stay.

    Other ids are ignored. One invalid value (`validation.check_lifecycle`, `check_validity`) refuses the whole write.
    """

    changes: Mapping[str, LifecycleChange]


@frozen
class PutEvents:
    """Add events of visible memories, in this order.

    An event of a memory that the writer does not see, or whose key is not the memory's, is ignored. An ``other`` that
    the writer does not see is left out.

    Attributes:
        imported: They happened in another store, when a memory may have had another key: each keeps its own,
            which must be one of the writer's.
    """

    events: tuple[Event, ...]
    imported: bool = False


@frozen
class PutRun:
    """Put or replace one visibility key's row of a consolidation run."""

    run: ConsolidationRun


@frozen
class PutExtractions:
    """Cache extractions from visible memories, each replacing the last; other ids are ignored.

    One is removed when its memory is removed, or written again by a `PutMemory`, a `PutDocument` or a rebuild.
    """

    extractions: tuple[CachedExtraction, ...]


HistoryChange = PutLifecycle | PutEvents | PutRun | PutExtractions
"""Changes that no rebuild makes."""

Change = (
    PutVersions
    | PutSource
    | DropSource
    | PutDocument
    | DropDocument
    | PutMemory
    | RequireUnchanged
    | DropMemory
    | Forget
    | DropUser
    | PutTombstones
    | PutModel
    | DropModel
    | PutVectors
    | PutDue
    | GraphChange
    | HistoryChange
)
