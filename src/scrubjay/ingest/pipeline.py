"""Sync pipeline: scan a source, compare it with the store, read and write what changed, resolve links and folders.

An interrupted sync leaves its source without a time of its last sync; the next one then finalizes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scrubjay.errors import QuotaError
from scrubjay.ingest.finalizer import SourceFinalizer
from scrubjay.ingest.preparer import prepare_documents
from scrubjay.ingest.projects import project_changes
from scrubjay.ingest.scanner import (
    FileState,
    ScanResult,
    compare_with_stored,
    list_file,
    list_files,
    select_within_budget,
)
from scrubjay.ingest.trust import NO_CHOICE, TrustChoice, judge_source
from scrubjay.ingest.writer import (
    PreparedDocument,
    ProgressMeter,
    SyncRun,
    document_batches,
    document_changes,
    document_windows,
    embed_documents,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.records import Document, Source
from scrubjay.models.reports import FileError
from scrubjay.storage.changes import DropDocument, PutDocument, PutSource


def sync_source(
    run: SyncRun,
    registered: Source,
    source: Source,
    only: Path | None = None,
    most: int | None = None,
    choice: TrustChoice = NO_CHOICE,
    project: str | None = None,
    found: ScanResult | None = None,
) -> None:
    """Bring the store up to date with the files of one source.

    Args:
        run: The sync.
        registered: The source as it is registered.
        source: The same, excluding what other sources inside it hold.
        only: The one file to look at.
        most: Most bytes to read; files beyond are left for a later sync, as are files that failed before. None for all.
        choice: The person's choice of trust.
        project: The person's choice of project (`project_changes`).
        found: Its files, where they were scanned already; not with ``only``.
    """
    if found is None:
        found = list_files(source) if only is None else list_file(source, only)

    with run.store.reader(run.scope) as reader:
        known = reader.documents(source.id)
        changes = project_changes(run.projects, reader, registered, known, project)
        if found.files and not (most is not None and registered.repositories is None):
            registered, judged = judge_source(
                reader, run.tally, registered, found.files, known, choice, whole=only is None
            )
            source = replace(registered, exclude=source.exclude)
            known |= {one.document.path: one.document for one in judged if isinstance(one, PutDocument)}
            changes += judged
    changed, gone = compare_with_stored(found, known, again=most is None)
    if most is not None:
        changed, _ = select_within_budget(changed, known, most)
    if only is not None:
        gone = []
    if not _report_scan(run, source, found, known, whole=only is None):
        run.write(changes)
        return

    unfinished = registered.synced_at is None and bool(known)  # the last sync was cut short
    if changed or gone or unfinished:
        if registered.synced_at is not None:
            changes.append(PutSource(replace(registered, synced_at=None)))
        if known:
            run.write(changes)
        else:  # nothing stored depends on them: they go with the first batch
            run.pending.extend(changes)
        finalizer = SourceFinalizer(run, source, known)
        _write_changed(run, source, known, changed, gone, finalizer)
        with run.store.reader(run.scope) as reader:
            changes = finalizer.changes(reader, everything=unfinished and only is None)
    synced_at = now_micros() if only is None else registered.synced_at
    run.write_in_batches([*changes, PutSource(replace(registered, synced_at=synced_at))])


def _report_scan(
    run: SyncRun, source: Source, found: ScanResult, known: Mapping[str, Document], *, whole: bool
) -> bool:
    run.tally.files += len(found.files)
    run.tally.problems += [
        FileError(str(Path(source.root) / one.path), one.message, one.hint) for one in found.problems
    ]
    if found.missing:  # one of the problems says so
        return False
    if known and not found.files and whole:
        run.tally.problems.append(
            FileError(
                source.root,
                f"{source.root} is suddenly empty; its {len(known)} documents stay as they were.",
                f"bring its files back, or `scrubjay sources remove {source.root}`",
            )
        )
        return False
    return True


def _write_changed(
    run: SyncRun,
    source: Source,
    known: Mapping[str, Document],
    changed: Sequence[FileState],
    gone: Sequence[str],
    finalizer: SourceFinalizer,
) -> None:
    # Conversations stay remembered when their log is deleted; notes do not.
    logs = [path for path in gone if known[path].cursor]
    notes = set(gone) - set(logs)
    moved = {known[path].content_hash: path for path in sorted(notes, reverse=True)}
    movable = set(moved.values())
    paths: set[str] = set()
    altered: set[str] = set()
    rejected: set[str] = set()
    meter = ProgressMeter(run.progress, changed, known)
    for window in document_windows(meter.read(prepare_documents(run, source, known, changed, moved, logs))):
        for number, batch in enumerate(document_batches(window)):
            _write_batch(run, source, batch, finalizer, rejected, window=() if number else window)
            paths.update(document.labelled.document.path for document in batch)
            meter.add_written(batch, len(paths))
            altered.update(
                one.labelled.document.path for one in batch if one.labelled.fresh or one.labelled.dropped
            )
    meter.finish()
    dropped = sorted(notes - (movable - set(moved.values())))
    _drop_documents(run, source, dropped, finalizer)
    run.tally.changed += [str(Path(source.root) / path) for path in sorted(altered | set(dropped))]


def _write_batch(
    run: SyncRun,
    source: Source,
    batch: Sequence[PreparedDocument],
    finalizer: SourceFinalizer,
    rejected: set[str],
    window: Sequence[PreparedDocument] = (),
) -> None:
    """Write a batch; where the quota has no room for all, each document that fits.

    ``rejected`` collects paths that did not fit: no later part of them is written, so that a transcript has no gap.
    ``window`` are the documents whose entities are discovered first.
    """
    ready = [one for one in batch if one.labelled.document.path not in rejected]
    for one in batch:
        if one.labelled.document.path in rejected:
            _uncount(run, one)
    embedded = embed_documents(run, ready)
    with run.store.reader(run.scope) as reader:
        run.edges.add_entities(
            [memory.record for one in window for memory in one.labelled.fresh],
            {memory for one in window for memory in one.labelled.renewed},
        )
        if not ready:
            return
        finalizer.note_batch(reader, ready)
        changes = document_changes(run, ready, embedded)
    try:
        run.write(changes)
    except QuotaError as error:
        run.edges.requeue()
        if len(ready) > 1:
            for one in ready:
                _write_batch(run, source, [one], finalizer, rejected)
            return
        path = ready[0].labelled.document.path
        rejected.add(path)
        _uncount(run, ready[0])
        message = f"{error} What is stored of this file stays as it was."
        run.tally.problems.append(FileError(str(Path(source.root) / path), message, error.hint))


def _uncount(run: SyncRun, one: PreparedDocument) -> None:
    fresh = [memory.record.id for memory in one.labelled.fresh]
    with run.store.reader(run.scope) as reader:
        stored = len(reader.get(fresh))
    run.tally.added -= len(fresh) - stored
    run.tally.updated -= stored
    run.tally.removed -= len(one.labelled.dropped)


def _drop_documents(run: SyncRun, source: Source, paths: Sequence[str], finalizer: SourceFinalizer) -> None:
    if not paths:
        return
    with run.store.reader(run.scope) as reader:
        records = [record for path in paths for record in reader.passages(source.id, path)]
        finalizer.note_dropped(reader, records)
    run.tally.removed += len(records)
    run.write([DropDocument(source.id, path) for path in paths])
