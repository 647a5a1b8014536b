"""Sync pipeline: scan the sources, read what changed, write it and resolve its links.

A sync that is cut short leaves its source without a time of its last sync; the next one then settles all of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from scrubjay.categories.folders import update_folders
from scrubjay.errors import InputError, QuotaError
from scrubjay.ingest.alignment import LabelledDocument
from scrubjay.ingest.linker import LinkResolver, put_link_edges, relink_source
from scrubjay.ingest.projects import AUTOMATIC_PROJECT, ProjectResolver
from scrubjay.ingest.scanner import (
    DEFAULT_INCLUDE,
    TRANSCRIPT_INCLUDE,
    FileState,
    IncludePatterns,
    compare_with_stored,
    is_skipped_name,
    list_file,
    list_files,
    may_be_transcript,
    scan_files,
    select_within_budget,
    unread_bytes,
)
from scrubjay.ingest.transcripts.importer import AUTOMATIC_INCLUDE, format_of_file, import_transcript
from scrubjay.ingest.trust import NO_CHOICE, TrustChoice, judge_source
from scrubjay.ingest.writer import (
    PreparedDocument,
    StoredSource,
    SyncRun,
    document_batches,
    document_windows,
    prepare_document,
    write_documents,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import UNFINISHED, Document, PassageRef, Record, Scope, Source, note_documents
from scrubjay.models.reports import FileError, Progress
from scrubjay.models.sources import escape_pattern, is_single_file, source_id, source_location
from scrubjay.storage.changes import DropDocument, PutLifecycle, PutSource
from scrubjay.storage.interface import Store

MAX_PROBED_FILES: Final = 100
"""JSON files whose beginning is read to see whether a folder holds transcripts: a tenth of a second."""


def register_source(store: Store, scope: Scope, path: Path, wish: Source) -> Source:
    """Return the source of a folder or file, registered now if none holds it.

    A path inside a registered folder is that folder's: nothing is stored twice. A single file is a source
    whose root is its folder and whose one pattern is its name.

    Args:
        store: Where.
        scope: Who registers; what the source holds is private to them.
        path: The folder or file.
        wish: Description and patterns to set; empty ones leave what is there.

    Returns:
        The source. A folder in which a transcript lies takes in its JSON files besides its notes.

    Raises:
        InputError: Nothing is there, and no source of that root is registered; or it is a single JSON file
            that no known tool wrote.
    """
    full = Path(os.path.abspath(path.expanduser()))
    with store.reader(scope) as reader:
        known = reader.sources()
    source = containing_source(known, full)
    if source is None:
        if not full.exists():
            raise InputError(
                f"{full} is not there. Nothing was synced.", hint="name a folder or file that exists"
            )
        single = full.is_file()
        if single and may_be_transcript(full.name) and format_of_file(str(full.parent), full.name) is None:
            raise InputError(
                f"{full} is no transcript that is known. Nothing was synced.",
                hint="docs/transcripts.md describes the formats, with one for your own tools",
            )
        source = Source(
            id=source_id(store.secret(scope), str(full), scope.key()),
            root=str(full.parent if single else full),
            include=("/" + escape_pattern(full.name),) if single else (),
            key=scope.key("user"),
            added_at=now_micros(),
        )
    include = wish.include or source.include
    if not include and holds_transcripts(source):
        include = AUTOMATIC_INCLUDE
    changed = replace(
        source,
        description=wish.description or source.description,
        include=include,
        exclude=wish.exclude or source.exclude,
    )
    if changed not in known:
        store.write(scope, [PutSource(changed)])
    return changed


def holds_transcripts(source: Source) -> bool:
    """Return whether a transcript lies in a folder; of many files only the first are looked into."""
    found = scan_files(Path(source.root), include=TRANSCRIPT_INCLUDE, exclude=source.exclude)
    return any(
        format_of_file(source.root, state.path) is not None for state in found.files[:MAX_PROBED_FILES]
    )


def containing_source(known: Sequence[Source], full: Path) -> Source | None:
    """Return the registered source of a folder or file: itself, else one that it lies in; None for none.

    A source does not hold what lies below a hidden folder that it leaves out: who syncs their home folder has agents'
    transcripts in sources of their own.
    """
    for source in known:
        if source_location(source) == str(full):
            return source
    for source in known:
        if not is_single_file(source) and full.is_relative_to(source.root) and _enters(source, full):
            return source
    return None


def _enters(source: Source, full: Path) -> bool:
    asked_for = IncludePatterns(source.include or DEFAULT_INCLUDE)
    return all(
        asked_for.names(name) or not is_skipped_name(name) for name in full.relative_to(source.root).parts
    )


MAX_CACHED_PASSAGES: Final = 50_000
"""Passages whose place is remembered through one sync instead of being read again: 15 MB."""


class SourceFinalizer:
    """One source, while it is synced."""

    def __init__(self, run: SyncRun, source: Source, known: Mapping[str, Document]) -> None:
        """Args: the sync, the source, and its documents before it."""
        self._run = run
        self._source = source
        self._known = known
        self._resolver = LinkResolver(source.id, run.scope)
        self._written: set[str] = set()
        self._shown: set[str] = set()
        self._keys: set[str] = set()
        self._held: dict[str, tuple[PassageRef, ...]] = {}
        self._room = MAX_CACHED_PASSAGES

    def note(self, batch: Sequence[PreparedDocument]) -> None:
        """Remember what is about to be written."""
        labelled = [document.labelled for document in batch]
        before = [
            m for one in labelled for m in (*one.dropped, *one.renewed, *(kept.id for kept in one.kept))
        ]
        self.going(before)
        self._keys.update(*(document.keys for document in batch))
        for one in labelled:
            if one.fresh or one.kept or one.dropped:
                self._written.add(one.document.path)
            if one.shown:
                self._shown.add(one.document.path)
            self._resolver.gather((memory.record for memory in one.fresh), one.renewed)
            self._hold(one)

    def _hold(self, one: LabelledDocument) -> None:
        """Remember the passages of a document that is whole in what is about to be written, while there is room."""
        path = one.document.path
        parts = one.kept or one.dropped or one.grows or one.moved_from is not None or path in self._held
        if parts or self._known or len(one.fresh) > self._room:
            self._held[path] = ()  # read, when it is asked for
            return
        records = [memory.record for memory in one.fresh]
        self._held[path] = tuple(PassageRef(r.id, r.key, r.heading_path, r.title) for r in records)
        self._room -= len(records)

    def gone(self, records: Sequence[Record]) -> None:
        """Remember passages whose documents are about to go."""
        self._keys.update(record.key for record in records)
        self.going([record.id for record in records])

    def going(self, passages: Sequence[str]) -> None:
        """Remember who links to passages that are about to change or go."""
        if passages and "links" in self._run.weaver.stages:
            with self._run.store.reader(self._run.scope) as reader:
                self._resolver.touched(reader, passages)

    def settle(self, *, everything: bool) -> None:
        """Write what was waited with: the links by name, the categories by place.

        Args:
            everything: Look at all documents of the source, not only at those that were written.
        """
        run = self._run
        with run.store.reader(run.scope) as reader:
            documents = note_documents(reader.documents(self._source.id))
        if "links" in run.weaver.stages:
            self._link(documents, everything=everything)
        if "categories" in run.weaver.stages:
            self._file(documents.keys(), everything=everything)

    def _link(self, documents: Mapping[str, Document], *, everything: bool) -> None:
        run = self._run
        if everything:
            relink_source(run.store, run.scope, self._source)
            return
        with run.store.reader(run.scope) as reader:
            if self._known:
                # What stays in a document may name a heading that came, or be read from another folder now.
                for path in sorted(self._written & documents.keys()):
                    self._resolver.gather(reader.passages(self._source.id, path))
                titles = {path: document.title for path, document in self._known.items()}
                new = [
                    document
                    for path, document in documents.items()
                    if titles.get(path) != document.title or path in self._shown
                ]
                self._resolver.came(reader, new, documents)
            found = self._resolver.edges(reader, documents, now_micros(), self._held)
        put_link_edges(run.store, run.scope, found)

    def _file(self, now: Set[str], *, everything: bool) -> None:
        run, before = self._run, note_documents(self._known).keys()
        touched = self._written & now | now ^ before
        if everything or not before:
            held = {} if everything else self._held
            update_folders(run.store, run.scope, self._source, now_micros(), held=held)
        elif touched:
            # What happens to documents of one key does not bring the places of another in step: that would be felt.
            update_folders(run.store, run.scope, self._source, now_micros(), sorted(touched), keys=self._keys)


PROGRESS_SECONDS: Final = 0.2
"""Seconds between two reports of how far files were read."""


def assign_project(run: SyncRun, source: Source, chosen: str | None) -> None:
    """Give a source's passages the project they belong to; ids, texts and vectors stay as they are.

    There is something to do after a person chose, and once for what earlier versions stored. A turn of a talk keeps
    the project it was said in, and an addition the one it was given.

    Args:
        run: Where to.
        source: The source.
        chosen: A name, `projects.NONE` or `projects.AUTO`; None leaves what was chosen before.
    """
    projects = run.projects
    before = projects.chosen(source.id)
    now = chosen if chosen is not None else before
    if now == before is not None:
        return
    now = now or AUTOMATIC_PROJECT
    former = ProjectResolver(run.store, run.scope, learn=False)
    lives: dict[str, LifecycleChange] = {}
    with run.store.reader(run.scope) as reader:
        for path in reader.documents(source.id):
            folder = str((Path(source.root) / path).parent)
            held = former.formerly(source.root, folder) if before is None else projects.under(before, folder)
            project = projects.under(now, folder)
            if held != project:
                lives |= {
                    record.id: LifecycleChange(project=project)
                    for record in reader.passages(source.id, path)
                    if record.turn is None and record.project == held
                }
    run.store.write(run.scope, [PutLifecycle(lives), projects.choice(source.id, now)])


def sync_source(
    run: SyncRun,
    registered: Source,
    source: Source,
    only: Path | None = None,
    most: int | None = None,
    choice: TrustChoice = NO_CHOICE,
) -> None:
    """Bring the store in step with one source's files.

    Args:
        run: Where to, with what.
        registered: The source as it is registered.
        source: The same, leaving out what other sources inside it hold.
        only: The one file of it that is looked at; of the others nothing is learned, so none is judged as gone.
        most: Bytes that are read; changed files beyond are left for another sync, and so are those that could not be
            read as they are. None for all.
        choice: What a person says of it.
    """
    with run.store.reader(run.scope) as reader:
        known = reader.documents(source.id)
    found = list_files(source) if only is None else list_file(source, only)
    if found.files and not (most is not None and registered.repositories is None):
        judged = judge_source(run, registered, found.files, known, choice, whole=only is None)
        if judged is not registered:
            registered, source = judged, replace(judged, exclude=source.exclude)
            with run.store.reader(run.scope) as reader:
                known = reader.documents(source.id)
    changed, gone = compare_with_stored(found, known, again=most is None)
    if most is not None:
        changed, _ = select_within_budget(changed, known, most)
    if only is not None:
        gone = []
    tally = run.tally
    tally.files += len(found.files)
    tally.problems += [FileError(str(Path(source.root) / p.path), p.message, p.hint) for p in found.problems]
    if found.missing:  # the scan's problem says so, and why
        return
    if known and not found.files and only is None:
        tally.problems.append(
            FileError(
                source.root,
                f"{source.root} is suddenly empty; its {len(known)} documents stay as they were.",
                f"bring its files back, or `scrubjay sources remove {source.root}`",
            )
        )
        return
    unfinished = registered.synced_at is None and bool(known)  # the last sync was cut short before its end
    if changed or gone or unfinished:
        if registered.synced_at is not None:
            run.store.write(run.scope, [PutSource(replace(registered, synced_at=None))])
        settler = SourceFinalizer(run, source, known)
        _write_changes(run, source, known, (changed, gone), settler)
        settler.settle(everything=unfinished and only is None)
    synced = now_micros() if only is None else registered.synced_at
    run.store.write(run.scope, [PutSource(replace(registered, synced_at=synced))])


def _write_changes(
    run: SyncRun,
    source: Source,
    known: Mapping[str, Document],
    work: tuple[list[FileState], list[str]],
    settler: SourceFinalizer,
) -> None:
    changed, gone = work
    # What was said stays remembered when its log is thrown away; a note that is gone is gone.
    logs = [path for path in gone if known[path].cursor]
    notes = set(gone) - set(logs)
    left = {known[path].content_hash: path for path in sorted(notes, reverse=True)}
    movable = set(left.values())
    paths: set[str] = set()
    altered: set[str] = set()
    full: set[str] = set()
    pace = _ProgressMeter(run, changed, known)
    for window in document_windows(pace.read(_prepared_documents(run, source, known, changed, (left, logs)))):
        labelled = [document.labelled for document in window]
        run.weaver.learn(
            [memory.record for one in labelled for memory in one.fresh],
            {memory for one in labelled for memory in one.renewed},
        )
        for batch in document_batches(window):
            _write_batch(run, source, batch, settler, full)
            paths.update(document.labelled.document.path for document in batch)
            pace.wrote(batch, len(paths))
            altered.update(
                one.labelled.document.path for one in batch if one.labelled.fresh or one.labelled.dropped
            )
    pace.ends()
    dropped = sorted(notes - (movable - set(left.values())))
    if dropped:
        with run.store.reader(run.scope) as reader:
            gone_with = [record for path in dropped for record in reader.passages(source.id, path)]
        run.tally.removed += len(gone_with)
        settler.gone(gone_with)
        run.store.write(run.scope, [DropDocument(source.id, path) for path in dropped])
    run.tally.changed += [str(Path(source.root) / path) for path in sorted(altered | set(dropped))]


class _ProgressMeter:
    """How far one source is, by bytes: half of a file's bytes count when it is read, the rest when it is stored."""

    def __init__(self, run: SyncRun, changed: Sequence[FileState], known: Mapping[str, Document]) -> None:
        self._tell = run.progress
        self._sizes = {state.path: unread_bytes(state, known) for state in changed}
        self._read: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._files = 0
        self._started = self._told = time.monotonic()

    def read(self, ready: Iterable[PreparedDocument]) -> Iterator[PreparedDocument]:
        """Pass documents on, noting how far they were read."""
        for one in ready:
            self._note(self._read, one)
            if time.monotonic() - self._told >= PROGRESS_SECONDS:
                self._report(self._files)
            yield one

    def wrote(self, batch: Sequence[PreparedDocument], files: int) -> None:
        """Note what was stored, and how many files that makes."""
        for one in batch:
            self._note(self._stored, one)
        self._files = files
        self._report(files)

    def ends(self) -> None:
        """Tell that all is done, whatever could not be read."""
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
        if self._tell is not None:
            self._told = time.monotonic()
            done = (sum(self._read.values()) + sum(self._stored.values())) // 2
            total = sum(self._sizes.values())
            self._tell(Progress("write", files, len(self._sizes), self._told - self._started, done, total))


def _write_batch(
    run: SyncRun, source: Source, batch: Sequence[PreparedDocument], settler: SourceFinalizer, full: set[str]
) -> None:
    """Write a batch; where there is no room for all of it, each document that there is room for.

    What is stored of the others stays, and the next sync tries them again.

    Args:
        run: The sync.
        source: Whose documents they are.
        batch: The documents.
        settler: Told before they are written.
        full: Paths of those that there was no room for; of a transcript nothing more is taken then, so that its turns
            have no gap.
    """
    ready = [one for one in batch if one.labelled.document.path not in full]
    for one in batch:
        if one.labelled.document.path in full:
            _uncount_rejected(run, one)
    if not ready:
        return
    try:
        settler.note(ready)
        write_documents(run.store, run.scope, ready, run.base, run.chunks.overlap, run.weaver, run.learner)
    except QuotaError as error:
        if len(ready) > 1:
            for one in ready:
                _write_batch(run, source, [one], settler, full)
            return
        path = ready[0].labelled.document.path
        full.add(path)
        _uncount_rejected(run, ready[0])
        told = f"{error} What is stored of this file stays as it was."
        run.tally.problems.append(FileError(str(Path(source.root) / path), told, error.hint))


def _uncount_rejected(run: SyncRun, one: PreparedDocument) -> None:
    """Take back what was counted of a document that is not written."""
    fresh = [memory.record.id for memory in one.labelled.fresh]
    with run.store.reader(run.scope) as reader:
        known = len(reader.get(fresh))
    run.tally.added -= len(fresh) - known
    run.tally.updated -= known
    run.tally.removed -= len(one.labelled.dropped)


def _prepared_documents(
    run: SyncRun,
    source: Source,
    known: Mapping[str, Document],
    changed: list[FileState],
    gone: tuple[dict[str, str], list[str]],
) -> Iterator[PreparedDocument]:
    left, logs = gone
    for state in changed:
        said = import_transcript(run, source, state, known, logs)
        if said is not None:
            yield from said
            continue
        yield from prepare_document(
            run, source, state, StoredSource(bool(known), known.get(state.path), left)
        )
