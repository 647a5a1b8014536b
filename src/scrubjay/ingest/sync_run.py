"""Sync run: the state that all steps of one sync share, its tally and its progress."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.categories.folders import EDGE_BATCH
from scrubjay.ingest.alignment import PreparedDocument
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.projects import ProjectResolver
from scrubjay.ingest.reader import stage_versions
from scrubjay.ingest.scanner import FileState, unread_bytes
from scrubjay.ingest.vaults import VaultFinder, VaultNote
from scrubjay.models.records import FAILED_PREFIX, UNCONVERTED, UNFINISHED, Document, Scope, Source
from scrubjay.models.reports import FileError, Progress
from scrubjay.storage.changes import Change, PutEdges
from scrubjay.storage.interface import Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder

LINK_BATCH: Final = 2_000
"""Memories whose links one transaction replaces."""
MAX_BATCH_DOCUMENTS: Final = 64
"""Maximum number of documents of one transaction."""
MAX_BATCH_PASSAGES: Final = 1_000
"""Passages after which a transaction is full: about 50 ms of holding the lock."""
PROGRESS_SECONDS: Final = 0.2
"""Seconds between two progress reports while files are read."""


@dataclass(slots=True)
class SyncTally:
    """Counts of a sync so far, as in `SyncReport`.

    Attributes:
        placed: Additions whose section in a note was found.
        unshared: Files whose front matter asks for a visibility that it may not give, and that visibility.
        refused: Files that name a group which their owner is not in, and that group.
        skipped: Documents that were not read because the extra ``documents`` is not installed.
        unconverted: Documents that an earlier sync could not read and that have not changed since.
    """

    files: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    forgotten: int = 0
    scrubbed: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)
    problems: list[FileError] = field(default_factory=list)
    notices: list[FileError] = field(default_factory=list)
    unshared: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    unconverted: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    commits: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class SyncRun:
    """One sync of some sources.

    The passages of a file belong to its source, and the source to the user who registered it. So a sync reads and
    replaces all of them, also those of groups that the user has left; only the sync of a search does not. Which group a
    file is shared with from now on is decided by the groups that its owner is in now.

    Attributes:
        scope: The owner of a source, with all groups that see its passages: reads and writes.
        owner: The same with the groups of now: decides about visibility.
        stages: Stages of linking (`LinkingOptions`).
        paused: Whether memory was paused for an agent's session at a time; turns of that time are skipped.
        notes: Folder of the days' notes to which additions are appended.
        vaults: Root of a source to the finder of its vaults.
    """

    store: Store
    scope: Scope
    owner: Scope
    secret: bytes
    base: Embedder
    chunks: ChunkSettings
    tally: SyncTally
    projects: ProjectResolver
    stages: Sequence[str]
    progress: Callable[[Progress], None] | None
    paused: Callable[[str, str, int | None], bool]
    notes: Path | None
    vaults: dict[str, VaultFinder] = field(default_factory=dict)

    def vault_note(self, source: Source, path: str) -> VaultNote | None:
        return self.vaults.setdefault(source.root, VaultFinder(source.root)).note(path)

    def write(self, changes: Sequence[Change]) -> None:
        """Write changes in one transaction."""
        if changes:
            self.store.write(self.scope, changes)

    def report_problem(self, source: Source, path: str, message: str, hint: str = "") -> None:
        self.tally.problems.append(FileError(str(Path(source.root) / path), message, hint))

    def stored_or_new(self, source: Source, path: str, stored: Document | None) -> Document:
        return stored or Document(
            source.id, path, "", 0, 0, PurePosixPath(path).name, stage_versions(self.chunks)
        )

    def unreadable_document(
        self, source: Source, state: FileState, stored: Document | None, reason: str, *, retry: bool = True
    ) -> PreparedDocument:
        """Return a document that could not be read; its stored passages stay.

        Without ``retry`` it is not read again before it changes.
        """
        document = self.stored_or_new(source, state.path, stored)
        extractor = stage_versions(self.chunks).extractor if retry else UNCONVERTED
        document = replace(
            document.with_extractor(extractor),
            content_hash=FAILED_PREFIX + reason,
            mtime_ns=state.mtime_ns,
            size=state.size,
        )
        return PreparedDocument(document)


def write_in_batches(write: Callable[[Sequence[Change]], None], changes: Sequence[Change]) -> None:
    """Write many changes in order, in transactions of limited size."""
    batch: list[Change] = []
    relinked = 0
    for change in changes:
        batch.append(change)
        relinked += len(change.of) if isinstance(change, PutEdges) else 0
        if relinked >= LINK_BATCH or len(batch) >= EDGE_BATCH:
            write(batch)
            batch, relinked = [], 0
    if batch:
        write(batch)


class ProgressMeter:
    """Reports progress by bytes: half of a file's bytes count when it is read, the rest when it is stored."""

    def __init__(
        self,
        progress: Callable[[Progress], None] | None,
        changed: Sequence[FileState],
        known: Mapping[str, Document],
        stage: str = "write",
    ) -> None:
        self._stage = stage
        self._progress = progress
        self._sizes = {state.path: unread_bytes(state, known) for state in changed}
        self._read: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._started = self._reported = time.monotonic()

    def read(self, documents: Iterable[PreparedDocument]) -> Iterator[PreparedDocument]:
        for document in documents:
            self._record_bytes(self._read, document)
            if time.monotonic() - self._reported >= PROGRESS_SECONDS:
                self._report()
            yield document

    def add_written(self, batch: Sequence[PreparedDocument]) -> None:
        for document in batch:
            self._record_bytes(self._stored, document)
        self._report()

    def finish(self) -> None:
        if self._sizes:
            self._read = self._stored = dict(self._sizes)
            self._report()

    def _record_bytes(self, reached: dict[str, int], document: PreparedDocument) -> None:
        path = document.path
        size = self._sizes.get(path, 0)
        place = document.fresh[-1].record.place if document.fresh else None
        unfinished = document.document.content_hash == UNFINISHED
        reached[path] = min(size, place.end) if unfinished and place is not None else size

    def _report(self) -> None:
        if self._progress is not None:
            self._reported = time.monotonic()
            done = (sum(self._read.values()) + sum(self._stored.values())) // 2
            total = sum(self._sizes.values())
            seconds = self._reported - self._started
            self._progress(Progress(self._stage, len(self._stored), len(self._sizes), seconds, done, total))
