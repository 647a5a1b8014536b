"""Changes: every write that a store accepts, as frozen values.

All computing (reading, chunking, counting, embedding) is done before a change is made; applying one
only stores it. A store applies a sequence of changes in one transaction: all of them or none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.models.graph import Category, Edge, Entity
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.lifecycle import CachedExtraction, ConsolidationRun, Event
from scrubjay.models.lifecycle import LifecycleChange as lifecycle_LifecycleChange
from scrubjay.models.records import Document, Record, Source, SourcePlace, StageVersions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.text.tokenizer import Terms


TEXT_CACHE_BYTES: Final = 32 * 1024 * 1024
"""Bytes of embedded texts kept a tenant, oldest out first: about 80,000 passages of 384 dimensions."""


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """Vectors as they are kept: whole numbers and one scale a row.

    Attributes:
        data: int8, shape (windows, dimensions).
        scales: float32, shape (windows,). A row is about ``data * scale``; a zero row has scale 0.
    """

    data: NDArray[np.int8]
    scales: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A memory with all that is kept beside it.

    Attributes:
        record: The memory. One with the same id is replaced.
        terms: Its terms, counted.
        vectors: Fingerprint of a model to the memory's windows.
        language: ISO code of the language whose stems ``terms`` holds.
    """

    record: Record
    terms: Terms
    vectors: Mapping[str, QuantizedVectors] = field(default_factory=dict)
    language: str = "en"


@dataclass(frozen=True, slots=True)
class UnchangedPassage:
    """A passage whose text did not change, though its place may have."""

    id: str
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class PutSource:
    """Register a source, or change one of the same id; the id of a source out of sight is refused."""

    source: Source


@dataclass(frozen=True, slots=True)
class DropSource:
    """Remove a visible source with its documents and passages; any other is as if unknown."""

    id: str


@dataclass(frozen=True, slots=True)
class PutDocument:
    """Make a document of a visible source hold exactly these passages, as far as the writer sees.

    With nothing fresh, kept or dropped the passages stay as they are: the file was only touched.

    Attributes:
        document: The document as it is now. One that stood under its path makes way for one moved there.
        fresh: Passages that are new or whose text changed.
        kept: Passages that stay as they are, with their place now; one that is gone is passed over.
        dropped: Ids of passages that are no more; one that is gone is passed over.
        moved_from: Path under which the source held this document until now, when it was renamed.
        grows: The fresh passages join those that it holds, which stay: an append-only document was read on.
            Kept and dropped ones are treated as ever.
    """

    document: Document
    fresh: tuple[PreparedMemory, ...] = ()
    kept: tuple[UnchangedPassage, ...] = ()
    dropped: tuple[str, ...] = ()
    moved_from: str | None = None
    grows: bool = False


@dataclass(frozen=True, slots=True)
class DropDocument:
    """Remove a document of a visible source and its passages."""

    source: str
    path: str


@dataclass(frozen=True, slots=True)
class PutMemory:
    """Add a memory that belongs to no document, or replace the one of the same id.

    An id whose number another memory has, out of the writer's sight or in another tier, is refused.
    """

    memory: PreparedMemory


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove visible memories for good, so that none comes back.

    A keyed hash of each one's text and visibility key is remembered (`ids.tombstone_hash`).
    """

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PutTombstones:
    """Remember what was forgotten in a store that had the same secret.

    Attributes:
        hashes: As `ids.tombstone_hash` makes them.
    """

    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DropMemory:
    """Remove visible memories that belong to no document, and remember nothing: they may be made again.

    Passages, unknown ids and those out of the writer's sight are passed over.
    """

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PutModel:
    """Register an embedding model, or change the state of one.

    Attributes:
        model: The model.
        state: ``active`` (embedded and ranked with) or ``adding`` (embedded, not ranked with yet).
    """

    model: EmbeddingModel
    state: str = "active"


@dataclass(frozen=True, slots=True)
class DropModel:
    """Remove a model and all of its vectors."""

    fingerprint: str


@dataclass(frozen=True, slots=True)
class PutVectors:
    """Store vectors that were computed after their memories were written.

    Attributes:
        fingerprint: The model, which must be registered.
        vectors: Memory id to (content hash it was computed from, windows). A memory that is gone,
            whose text is another by now, or that has its vectors already is passed over.
        texts: sha256 of an embedded text to its windows, for the cache.
    """

    fingerprint: str
    vectors: Mapping[str, tuple[str, QuantizedVectors]]
    texts: Mapping[str, QuantizedVectors] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutVersions:
    """Stamp the tenant's memories with the versions of the stages that made them."""

    versions: StageVersions


@dataclass(frozen=True, slots=True)
class PutConcept:
    """Make what one visibility key knows of a concept be this row.

    Raises at the write (`validation.check_concept`): an id that is no concept's, an unknown kind, a key that is not
    the writer's.
    """

    concept: Entity


@dataclass(frozen=True, slots=True)
class DropConcept:
    """Remove what one visibility key knows of a concept, with the edges of that key that lead to it.

    Edges of other keys stay, and are seen again by who knows the concept. What is out of the writer's sight or
    unknown is passed over.
    """

    id: str
    key: str


@dataclass(frozen=True, slots=True)
class PutCategory:
    """Make a category be this; two writers that put the same one leave one.

    An id that a category of another key has is refused. Its parent may be one that is not there.
    """

    category: Category


@dataclass(frozen=True, slots=True)
class DropCategory:
    """Remove a category with the edges that lead to it; a foreign or unknown one is passed over."""

    id: str


@dataclass(frozen=True, slots=True)
class PutEdges:
    """Put edges, after taking away what was found before.

    An edge is told by its source, kind, end and key, so that what one key knows neither replaces nor hinders
    what another does. It is passed over when its source is not a visible memory, or its end is not a visible
    memory, concept or category: it may have been forgotten meanwhile. A found edge never replaces a given one;
    a given one replaces any. One that cannot be (`validation.check_edge`) is refused with the whole write.

    Edges of memories that are removed for good go with them, on both sides and whatever their key; those of a
    memory that is renamed, moved or replaced under its id within one change stay. Edges belong to no
    generation: those of memories that a rebuild leaves out go when it ends well.

    Attributes:
        edges: Edges to put; one with the same source, kind, end and key is replaced.
        of: Memories whose visible found edges of ``kinds`` are taken away first.
        kinds: Kinds that are taken away.
        inward: Take away those that lead to ``of`` as well.
    """

    edges: tuple[Edge, ...] = ()
    of: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    inward: bool = False


@dataclass(frozen=True, slots=True)
class DropEdges:
    """Remove visible edges by (source, kind, end), of every key the writer sees, found or given.

    Those that are unknown or out of sight are passed over.
    """

    edges: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class PutProject:
    """Remember, for one visibility key, what a place's project is called; a place has one name.

    Attributes:
        place: Keyed hash of what tells the place (a path, a folder's identity), never the path itself.
        name: The project's name.
        key: Visibility key: who knows it.
    """

    place: str
    name: str
    key: str


GraphChange = PutConcept | DropConcept | PutCategory | DropCategory | PutEdges | DropEdges | PutProject
"""Changes of what connects memories; they belong to no generation."""


@dataclass(frozen=True, slots=True)
class PutLifecycle:
    """Change what time and use make of visible memories; text, place, words, edges and vectors stay.

    So does ``updated_at``. Unknown ids and those out of the writer's sight are passed over. One bad value
    (`validation.check_lifecycle`, `check_validity`) refuses the whole write.

    Attributes:
        lives: Memory id to what becomes of it.
    """

    lives: Mapping[str, lifecycle_LifecycleChange]


@dataclass(frozen=True, slots=True)
class PutEvents:
    """Write down what happened to visible memories, in this order.

    An event of a memory that is out of the writer's sight, or whose key is not the memory's, is passed over. An
    ``other`` that the writer does not see is left out.

    Attributes:
        events: The events.
        past: They happened elsewhere, when a memory may have had another key: each keeps its own, which must be one
            of the writer's.
    """

    events: tuple[Event, ...]
    past: bool = False


@dataclass(frozen=True, slots=True)
class PutRun:
    """Make what a run did for one visibility key of the writer's be this row."""

    run: ConsolidationRun


@dataclass(frozen=True, slots=True)
class PutReadings:
    """Keep what was read from visible memories, each in the place of what was read before.

    Those of unknown ids and of memories out of the writer's sight are passed over. A reading goes when its memory
    is removed, or written anew by a `PutMemory`, a `PutDocument` or a rebuild.
    """

    readings: tuple[CachedExtraction, ...]


LifecycleChange = PutLifecycle | PutEvents | PutRun | PutReadings
"""Changes of what happens to memories; no rebuild makes them."""

Change = (
    PutVersions
    | PutSource
    | DropSource
    | PutDocument
    | DropDocument
    | PutMemory
    | DropMemory
    | Forget
    | PutTombstones
    | PutModel
    | DropModel
    | PutVectors
    | GraphChange
    | LifecycleChange
)
