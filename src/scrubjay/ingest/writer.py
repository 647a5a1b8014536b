"""Document writer: group prepared documents into transactions, and make the changes that write them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.categories.folders import EDGE_BATCH
from scrubjay.ingest.alignment import LabelledDocument
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.embedder import embed_memories
from scrubjay.ingest.fact_stage import FactStage
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.projects import ProjectResolver
from scrubjay.ingest.reader import stage_versions
from scrubjay.ingest.scanner import FileState, unread_bytes
from scrubjay.models.records import FAILED_PREFIX, UNFINISHED, Document, Scope, Source
from scrubjay.models.reports import FileError, Progress
from scrubjay.storage.changes import Change, PreparedMemory, PutDocument, PutEdges, PutMemory
from scrubjay.storage.interface import Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@dataclass(slots=True)
class SyncTally:
    """Counts of a sync so far, as in `SyncReport`.

    Attributes:
        placed: Additions whose section in a note was found.
        unshared: Files whose front matter asks for a visibility that it may not give, and that visibility.
    """

    files: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    forgotten: int = 0
    scrubbed: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)
    problems: list[FileError] = field(default_factory=list)
    notices: list[FileError] = field(default_factory=list)
    unshared: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)


def _never_paused(_agent: str, _session: str, _at: int | None) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SyncRun:
    """One sync of some sources.

    Attributes:
        paused: Whether memory was paused for an agent's session at a time; what was said then is skipped.
        pending: Changes that go with the next write.
    """

    store: Store
    scope: Scope
    base: Embedder
    chunks: ChunkSettings
    tally: SyncTally
    projects: ProjectResolver
    edges: EdgeBuilder
    facts: FactStage
    progress: Callable[[Progress], None] | None = None
    paused: Callable[[str, str, int | None], bool] = _never_paused
    pending: list[Change] = field(default_factory=list)

    def write(self, changes: Sequence[Change]) -> None:
        """Write changes and what is pending in one transaction."""
        if self.pending or changes:
            self.store.write(self.scope, [*self.pending, *changes])
            self.pending.clear()

    def write_in_batches(self, changes: Sequence[Change]) -> None:
        """Write many changes in order, in transactions of limited size."""
        batch: list[Change] = []
        relinked = 0
        for change in changes:
            batch.append(change)
            relinked += len(change.of) if isinstance(change, PutEdges) else 0
            if relinked >= LINK_BATCH or len(batch) >= EDGE_BATCH:
                self.write(batch)
                batch, relinked = [], 0
        self.write(batch)

    def stored_or_new(self, source: Source, path: str, stored: Document | None) -> Document:
        return stored or Document(
            source.id, path, "", 0, 0, PurePosixPath(path).name, stage_versions(self.chunks)
        )


LINK_BATCH: Final = 2_000
"""Memories whose links one transaction replaces."""
MAX_BATCH_DOCUMENTS: Final = 64
"""Most documents of one transaction."""
MAX_BATCH_PASSAGES: Final = 1_000
"""Passages after which a transaction is full: about 50 ms of holding the lock."""


MAX_WINDOW_PASSAGES: Final = 3_000
"""Passages that are held while their names are counted: about 100 MB with their terms."""
MAX_WINDOW_DOCUMENTS: Final = 3_000


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A labelled document, the text before each fresh passage, and the visibility keys that it changes."""

    labelled: LabelledDocument
    preceding: Sequence[str] = ()
    keys: frozenset[str] = frozenset()


def document_windows(ready: Iterable[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    """Group documents for entity discovery: a whole small source, or part of a large one."""
    yield from _grouped(ready, MAX_WINDOW_DOCUMENTS, MAX_WINDOW_PASSAGES)


def document_batches(ready: Iterable[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    """Group documents into transactions."""
    yield from _grouped(ready, MAX_BATCH_DOCUMENTS, MAX_BATCH_PASSAGES)


def _grouped(
    ready: Iterable[PreparedDocument], most_documents: int, most_passages: int
) -> Iterator[list[PreparedDocument]]:
    group: list[PreparedDocument] = []
    passages = 0
    for document in ready:
        group.append(document)
        passages += len(document.labelled.fresh)
        # What a transcript says next is judged by what is stored of it, so a part of one ends its group.
        if len(group) >= most_documents or passages >= most_passages or document.labelled.grows:
            yield group
            group, passages = [], 0
    if group:
        yield group


def embed_documents(run: SyncRun, batch: Sequence[PreparedDocument]) -> list[PreparedMemory]:
    """Return a batch's fresh passages with vectors of the base model, in order."""
    fresh = [memory for document in batch for memory in document.labelled.fresh]
    preceding = [text for document in batch for text in document.preceding]
    return embed_memories(fresh, preceding, run.base, run.chunks.overlap)


def document_changes(
    run: SyncRun, batch: Sequence[PreparedDocument], embedded: Sequence[PreparedMemory]
) -> list[Change]:
    """Return the changes that write a batch: its documents, the facts in their turns, and the edges of both."""
    renewed = [memory for document in batch for memory in document.labelled.renewed]
    turns = [one for one in embedded if one.record.turn is not None]
    facts = run.facts.extract(turns, settle=False)
    run.edges.add_entities([one.record for one in facts.fresh])
    first, last = run.edges.changes([*embedded, *facts.fresh], renewed)
    passages = iter(embedded)
    documents = [_document_change(document.labelled, passages) for document in batch]
    return [*first, *documents, *map(PutMemory, facts.fresh), *last, *facts.after]


def _document_change(labelled: LabelledDocument, embedded: Iterable[PreparedMemory]) -> Change:
    fresh = tuple(islice(embedded, len(labelled.fresh)))
    return PutDocument(
        labelled.document, fresh, labelled.kept, labelled.dropped, labelled.moved_from, labelled.grows
    )


def unreadable_document(
    run: SyncRun, source: Source, state: FileState, stored: Document | None, why: str
) -> PreparedDocument:
    """Return a document that could not be read; its stored passages stay."""
    document = replace(
        run.stored_or_new(source, state.path, stored),
        content_hash=FAILED_PREFIX + why,
        mtime_ns=state.mtime_ns,
        size=state.size,
    )
    return PreparedDocument(LabelledDocument(document, (), (), ()))


def unchanged_document(stored: Document, mtime_ns: int, size: int) -> PreparedDocument:
    """Return a document of which only time and size are new."""
    return PreparedDocument(LabelledDocument(replace(stored, mtime_ns=mtime_ns, size=size), (), (), ()))


PROGRESS_SECONDS: Final = 0.2
"""Seconds between two reports of how far files were read."""


class ProgressMeter:
    """Reports progress by bytes: half of a file's bytes count when it is read, the rest when it is stored."""

    def __init__(
        self,
        progress: Callable[[Progress], None] | None,
        changed: Sequence[FileState],
        known: Mapping[str, Document],
    ) -> None:
        self._progress = progress
        self._sizes = {state.path: unread_bytes(state, known) for state in changed}
        self._read: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._files = 0
        self._started = self._reported = time.monotonic()

    def read(self, ready: Iterable[PreparedDocument]) -> Iterator[PreparedDocument]:
        """Yield documents on, counting them as read."""
        for one in ready:
            self._note(self._read, one)
            if time.monotonic() - self._reported >= PROGRESS_SECONDS:
                self._report(self._files)
            yield one

    def add_written(self, batch: Sequence[PreparedDocument], files: int) -> None:
        """Count a batch as stored."""
        for one in batch:
            self._note(self._stored, one)
        self._files = files
        self._report(files)

    def finish(self) -> None:
        if self._sizes:
            self._read = self._stored = dict(self._sizes)
            self._report(len(self._sizes))

    def _note(self, reached: dict[str, int], one: PreparedDocument) -> None:
        document, fresh = one.labelled.document, one.labelled.fresh
        size = self._sizes.get(document.path, 0)
        place = fresh[-1].record.place if fresh else None
        part = document.content_hash == UNFINISHED and place is not None
        reached[document.path] = min(size, place.end) if part and place is not None else size

    def _report(self, files: int) -> None:
        if self._progress is not None:
            self._reported = time.monotonic()
            done = (sum(self._read.values()) + sum(self._stored.values())) // 2
            total = sum(self._sizes.values())
            self._progress(
                Progress("write", files, len(self._sizes), self._reported - self._started, done, total)
            )
