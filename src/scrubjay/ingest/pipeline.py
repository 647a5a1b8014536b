"""Sync pipeline: scan a source, compare it with the store, read and write what changed.

Written passages can be found at once, by words and the base model, and are marked for enrichment (`enrichment.py`).
Edges of a deleted or replaced text are deleted in the same transaction.

An interrupted sync leaves its source with `synced_at` unset; the next one then looks at all of its folders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.categories.folders import folder_changes
from scrubjay.errors import QuotaError, SourceError
from scrubjay.ingest.alignment import FreshPassage, PreparedDocument
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.ingest.enrichment import linking_passages
from scrubjay.ingest.freshness import exclude_hidden, has_enough_new_lines, select_inline
from scrubjay.ingest.linker import DERIVED_EDGE_KINDS
from scrubjay.ingest.preparer import prepare_documents
from scrubjay.ingest.projects import project_changes
from scrubjay.ingest.scanner import FileState, ScanResult, compare_with_stored, list_file, list_files
from scrubjay.ingest.sources import NO_CHOICE, TrustChoice, reassess_history_trust, reassess_trust, with_head
from scrubjay.ingest.sync_run import (
    MAX_BATCH_DOCUMENTS,
    MAX_BATCH_PASSAGES,
    ProgressMeter,
    SyncRun,
    write_in_batches,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.lifecycle import Event, merge_lifecycle
from scrubjay.models.records import (
    DUE_EDGES,
    DUE_FACTS,
    DUE_LINKS,
    DUE_PLACE,
    Document,
    Record,
    Source,
    due_mark,
    note_documents,
)
from scrubjay.models.reports import FileError
from scrubjay.storage.changes import (
    Change,
    DropDocument,
    PreparedMemory,
    PutDocument,
    PutDue,
    PutEdges,
    PutEvents,
    PutSource,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, retry_conflicts
from scrubjay.tracing import traced, traced_items

if TYPE_CHECKING:
    from scrubjay.ingest.git import Repository


def sync_source(
    run: SyncRun,
    registered: Source,
    source: Source,
    only: Path | None = None,
    max_bytes: int | None = None,
    choice: TrustChoice = NO_CHOICE,
    project: str | None = None,
    scan: ScanResult | None = None,
) -> None:
    """Bring the store up to date with the files of one source.

    Args:
        run: The sync.
        registered: The source as it is registered.
        source: The same, excluding what other sources inside it hold.
        only: The one file to look at.
        max_bytes: Maximum number of bytes to read; other files, and those that failed before, are left to a later sync.
        choice: The person's choice of trust.
        project: The person's choice of project (`project_changes`).
        scan: Its files, where they were scanned already; not with ``only``.
    """
    if scan is None:
        scan = list_files(source) if only is None else list_file(source, only)

    to_judge = scan.files
    if max_bytes is not None and registered.repositories is None:
        to_judge = ()
    chosen = retry_conflicts(
        lambda: _apply_choices(run, registered, to_judge, choice, project, whole=only is None),
        run.projects.refresh,
    )
    if chosen is None:
        return
    current, known = chosen
    source = replace(current, exclude=source.exclude)

    with run.store.reader(run.scope) as reader:
        changed, gone = compare_with_stored(scan, known, retry_failed=max_bytes is None)
        if max_bytes is not None:
            changed = [state for state in changed if has_enough_new_lines(source, known.get(state.path))]
            changed, gone, _ = exclude_hidden(reader, source, changed, gone, known)
            changed, gone, *_ = select_inline(changed, gone, known, max_bytes)
    if only is not None:
        gone = []
    elif max_bytes is None:
        changed += _recheck_refused(run, source, scan, known, changed)
    if not _report_scan(run, source, scan, known, changed, whole=only is None):
        return

    unfinished = current.synced_at is None and bool(known)  # the last sync was interrupted
    changes: list[Change] = []
    if changed or gone or unfinished:
        if current.synced_at is not None and not _update_source(run, current, synced_at=None):
            return
        touched, keys = _write_changed(run, source, known, changed, gone)
        if unfinished and only is None:
            changes = _folder_changes(run, source)
        elif touched:
            changes = _folder_changes(run, source, touched, keys)
    write_in_batches(run.write, changes)
    _update_source(run, current, synced_at=now_micros() if only is None else current.synced_at)


def _apply_choices(
    run: SyncRun,
    registered: Source,
    files: Sequence[FileState],
    choice: TrustChoice,
    project: str | None,
    *,
    whole: bool,
) -> tuple[Source, dict[str, Document]] | None:
    """Write a person's choices of trust and project with what follows from them.

    Return the source and its documents by path as they are now, or None if the source was removed. Without ``files``
    its trust is not judged anew.
    """
    with run.store.reader(run.scope) as reader:
        current = _stored_source(reader, registered.id)
        if current is None:
            return None
        known = reader.documents(current.id)
        changes = project_changes(run.projects, reader, current, known, project)
        if files:
            current, trust_changes = reassess_trust(
                reader, run.tally, current, files, known, choice, whole=whole
            )
            changes += trust_changes
            known |= {
                one.document.path: one.document for one in trust_changes if isinstance(one, PutDocument)
            }
    run.write(changes)
    return current, known


def _stored_source(reader: Reader, source: str) -> Source | None:
    return next((one for one in reader.sources() if one.id == source), None)


def _update_source(run: SyncRun, source: Source, **fields: Any) -> bool:
    """Set fields of a source, whose rules may have changed during the sync; return False if it was removed."""

    def update() -> bool:
        with run.store.reader(run.scope) as reader:
            current = _stored_source(reader, source.id)
        if current is not None:
            run.write([PutSource(replace(current, **fields), (current,))])
        return current is not None

    return retry_conflicts(update)


def _recheck_refused(
    run: SyncRun,
    source: Source,
    scan: ScanResult,
    known: Mapping[str, Document],
    changed: Sequence[FileState],
) -> list[FileState]:
    """Return unchanged notes that may now be shared with the group they name, and record those that still may not."""
    due = []
    read = set(changed)
    for state in scan.files:
        group = known[state.path].refused_group if state.path in known and state not in read else ""
        if group in run.owner.groups:
            due.append(state)
        elif group:
            run.tally.refused[str(Path(source.root) / state.path)] = group
    return due


def _folder_changes(
    run: SyncRun, source: Source, changed: Collection[str] | None = None, keys: Set[str] | None = None
) -> list[Change]:
    """Return the changes that update the folder categories of documents that were already stored."""
    if "categories" not in run.stages:
        return []
    with run.store.reader(run.scope) as reader:
        paths = None if changed is None else sorted(changed)
        return folder_changes(reader, run.secret, source, now_micros(), changed=paths, keys=keys)


def sync_history(
    run: SyncRun,
    registered: Source,
    repository: Repository,
    choice: TrustChoice = NO_CHOICE,
    project: str | None = None,
    most: int | None = None,
) -> None:
    """Bring the store up to date with the commits that a repository has checked out.

    Commits that the branch no longer holds are removed, like the text of deleted files. While no branch is checked out
    (during a rebase or bisection), only those that no branch or tag holds are.

    Args:
        run: The sync.
        registered: The history's source, registered with the first write.
        repository: Its repository.
        choice: The person's choice of trust.
        project: The person's choice of project (`project_changes`).
        most: Number of commits above which only a notice is added; None for no limit.
    """
    from scrubjay.ingest.git import (  # a sync of notes needs none of it
        UNREAD_COMMITS,
        compare_history,
        count_commits,
        find_referring_commits,
        prepare_commits,
        status_updates,
        superseded_ids,
        superseding_edges,
    )

    with run.store.reader(run.scope) as reader:
        known = reader.documents(registered.id)
        changes = project_changes(run.projects, reader, registered, known, project)
        try:
            diff = compare_history(repository, registered, known)
        except SourceError as error:
            run.tally.problems.append(FileError(repository.folder, str(error), error.hint))
            return
        source, trust_changes = reassess_history_trust(reader, registered, known, choice, diff.head)
    if diff.empty and registered.synced_at is None:
        message = "Nothing was committed there yet; the history is read from the first commit on."
        run.tally.notices.append(FileError(repository.folder, message))
    if most is not None and len(diff.new) + len(diff.gone) > most:
        message = (
            f"{repository.folder} has {len(diff.new):,} commits that were not read: run `scrubjay sync`."
        )
        run.tally.notices.append(FileError(repository.folder, message, UNREAD_COMMITS))
        count_commits(run.tally, known)
        return
    unfinished = registered.synced_at is None and bool(known)  # the last sync was interrupted
    pending = replace(source, synced_at=None) if diff.new or diff.gone or unfinished else source

    def begin() -> bool:
        """Register the history; return False if a person removed it meanwhile."""
        with run.store.reader(run.scope) as reader:
            current = _stored_source(reader, source.id)
        if current is None and (known or registered.synced_at is not None):
            return False
        begun = replace(
            current or pending,
            synced_at=pending.synced_at,
            repositories=pending.repositories,
            trust=pending.trust,
        )
        run.write([*changes, *trust_changes, PutSource(begun, () if current is None else (current,))])
        return True

    if not retry_conflicts(begin):
        return
    problems = len(run.tally.problems)
    referring: list[str] = []
    changed: Mapping[str, Set[str]] = {}
    meter = ProgressMeter(run.progress, [FileState(path, 0, 1) for path in diff.new], known, "history")
    try:
        documents = prepare_commits(run, source, repository.read(list(diff.new.values())), known, referring)
        changed = _write_documents(run, source, meter.read(documents), meter)
    except SourceError as error:
        run.tally.problems.append(FileError(repository.folder, str(error), error.hint))
    meter.finish()
    with run.store.reader(run.scope) as reader:
        if unfinished:
            referring += find_referring_commits(reader, source, known)
        reverted = superseded_ids(reader, source, diff.gone)
    _drop_documents(run, source, diff.gone)
    run.tally.changed += [str(Path(source.root) / path) for path in sorted(changed.keys() | set(diff.gone))]
    with run.store.reader(run.scope) as reader:
        documents_now = reader.documents(source.id)
        edges = superseding_edges(reader, source, reader.get(referring).values(), documents_now)
    run.write([PutEdges(tuple(edges))] if edges else [])

    def update_statuses() -> None:
        with run.store.reader(run.scope) as reader:
            changes = status_updates(reader, reverted | {edge.dst for edge in edges})
        write_in_batches(run.write, changes)

    retry_conflicts(update_statuses)
    count_commits(run.tally, documents_now)
    if len(run.tally.problems) == problems:  # else the whole history is compared the next time
        source = with_head(source, diff.head)
    _update_source(run, source, synced_at=now_micros(), repositories=source.repositories)


def _report_scan(
    run: SyncRun,
    source: Source,
    scan: ScanResult,
    known: Mapping[str, Document],
    changed: Sequence[FileState],
    *,
    whole: bool,
) -> bool:
    """Report what a scan found; return whether its files may be compared with the store."""
    run.tally.files += len(scan.files)
    run.tally.skipped += [str(Path(source.root) / path) for path in scan.skipped]
    for problem in scan.problems:
        run.report_problem(source, problem.path, problem.message, problem.hint)
    if scan.missing:  # one of the problems reports it
        return False
    seen = sum(not one.is_unseen for one in known.values())
    if seen and not scan.files and not scan.skipped and whole:
        run.report_problem(
            source,
            "",
            f"{source.root} is suddenly empty; its {seen} documents stay as they were.",
            f"bring its files back, or `scrubjay sources remove {source.root}`",
        )
        return False
    read = {state.path for state in changed}
    run.tally.unconverted += [
        str(Path(source.root) / state.path)
        for state in scan.files
        if (old := known.get(state.path)) is not None
        and old.is_unconverted
        and old.trouble
        and state.path not in read
    ]
    return True


def _write_changed(
    run: SyncRun,
    source: Source,
    known: Mapping[str, Document],
    changed: Sequence[FileState],
    gone: Sequence[str],
) -> tuple[set[str], set[str]]:
    """Write changed documents and drop deleted ones; return the paths and keys of the stored notes affected."""
    # Conversations stay when their log is deleted; notes do not.
    logs = [path for path in gone if known[path].cursor]
    notes = set(gone) - set(logs)
    present = {state.path for state in changed}
    unseen = {path for path, one in known.items() if one.is_unseen and not one.cursor} - present
    unclaimed = {known[path].content_hash: path for path in sorted(notes | unseen, reverse=True)}
    movable = set(unclaimed.values())
    meter = ProgressMeter(run.progress, changed, known)
    documents = meter.read(prepare_documents(run, source, known, changed, unclaimed, logs))
    written = _write_documents(run, source, documents, meter)
    meter.finish()
    renamed = movable - set(unclaimed.values())  # reading a renamed note claims its earlier path
    dropped = sorted(notes - renamed)
    keys = _drop_documents(run, source, dropped).union(*written.values())
    run.tally.changed += [str(Path(source.root) / path) for path in sorted(written.keys() | set(dropped))]
    return (written.keys() | set(dropped) | renamed) & note_documents(known).keys(), keys


def _write_documents(
    run: SyncRun, source: Source, documents: Iterable[PreparedDocument], meter: ProgressMeter
) -> dict[str, frozenset[str]]:
    """Write documents in batches, and return the paths of those that changed, with the keys that they change."""
    changed: dict[str, frozenset[str]] = {}
    rejected: set[str] = set()
    # Reading, redacting and chunking happen as a batch is asked for.
    batches = _batches(documents, MAX_BATCH_DOCUMENTS, MAX_BATCH_PASSAGES)
    for batch in traced_items("scrubjay.sync.prepare", batches):
        _write_batch(run, source, batch, rejected)
        meter.add_written(batch)
        changed |= {one.path: one.keys for one in batch if one.fresh or one.dropped}
    return changed


def _drop_documents(run: SyncRun, source: Source, paths: Sequence[str]) -> set[str]:
    """Drop documents, and return the keys of their passages."""
    if not paths:
        return set()
    with run.store.reader(run.scope) as reader:
        records = [record for path in paths for record in reader.passages(source.id, path)]
        linking = linking_passages(reader, [record.id for record in records])
    run.tally.removed += len(records)
    mark = due_mark(DUE_LINKS, now_micros())
    run.write([*(DropDocument(source.id, path) for path in paths), PutDue(dict.fromkeys(linking, mark))])
    return {record.key for record in records}


def _batches(
    documents: Iterable[PreparedDocument], most_documents: int, most_passages: int
) -> Iterator[list[PreparedDocument]]:
    group: list[PreparedDocument] = []
    passages = 0
    for document in documents:
        group.append(document)
        passages += len(document.fresh)
        # The next part of a transcript is compared with what is stored of it, so a part ends its group.
        if len(group) >= most_documents or passages >= most_passages or document.grows:
            yield group
            group, passages = [], 0
    if group:
        yield group


@traced("scrubjay.sync.write")
def _write_batch(run: SyncRun, source: Source, batch: Sequence[PreparedDocument], rejected: set[str]) -> None:
    """Write a batch; if the quota has no room for all of it, each document that fits.

    ``rejected`` collects paths that did not fit: no later part of them is written, so that a transcript has no gap.
    """
    fitting = [one for one in batch if one.path not in rejected]
    if not fitting:
        return
    try:
        _write_prepared(run, fitting)
    except QuotaError as error:
        if len(fitting) > 1:
            for document in fitting:
                _write_batch(run, source, [document], rejected)
            return
        path = fitting[0].path
        rejected.add(path)
        run.report_problem(source, path, f"{error} What is stored of this file stays as it was.", error.hint)


def _write_prepared(run: SyncRun, batch: Sequence[PreparedDocument]) -> None:
    """Write documents, remove edges of their earlier texts, mark them for enrichment, and count passages."""
    now = now_micros()
    fresh = [one for document in batch for one in document.fresh]
    memories = [prepare_memory(one.record, one.language) for one in fresh]
    embedded = embed_memories(memories, [one.before for one in fresh], run.base, run.chunks.overlap)
    embedded = [_mark_due(memory, now) for memory in embedded]
    before = retry_conflicts(lambda: _write_embedded(run, batch, fresh, embedded, now))
    updated = sum(record.place is not None for record in before.values())  # an addition is new to its note
    run.tally.added += len(fresh) - updated
    run.tally.updated += updated
    run.tally.removed += sum(len(document.dropped) for document in batch)


def _write_embedded(
    run: SyncRun,
    batch: Sequence[PreparedDocument],
    fresh: Sequence[FreshPassage],
    embedded: Sequence[PreparedMemory],
    now: int,
) -> Mapping[str, Record]:
    """Write documents with their embedded fresh passages, and return the memories that these replace."""
    renewed = tuple(one.record.id for one in fresh if one.old is not None)
    kept = [(one, kept.id) for one in batch for kept in one.kept]
    replaced = [
        *renewed,
        *(memory for one in batch for memory in one.dropped),
        *(memory for _, memory in kept),
    ]
    with run.store.reader(run.scope) as reader:
        before = reader.get([memory.record.id for memory in embedded])
        linking = linking_passages(reader, replaced)
    memories = [
        replace(memory, record=merge_lifecycle(memory.record, one.old or memory.record, stored))
        if (stored := before.get(memory.record.id)) is not None
        else memory
        for one, memory in zip(fresh, embedded, strict=True)
    ]
    passages = iter(memories)
    changes: list[Change] = [
        PutDocument(
            one.document,
            tuple(islice(passages, len(one.fresh))),
            one.kept,
            one.dropped,
            one.moved_from,
            one.grows,
        )
        for one in batch
    ]
    if replaced:
        marks = dict.fromkeys(linking, due_mark(DUE_LINKS, now))
        # Fresh passages mark their whole document.
        marks |= {memory: due_mark(DUE_PLACE, now) for one, memory in kept if not one.fresh}
        restored = tuple(
            Event(record.id, "restored", record.updated_at, record.key, before=before[record.id].status)
            for record in (memory.record for memory in memories)
            if record.status == "active" and record.id in before and before[record.id].status != "active"
        )
        changes += [
            PutEdges((), renewed, (*DERIVED_EDGE_KINDS, "links")),
            PutEdges((), renewed, ("similar",), inward=True),
            PutDue(marks),
            *([PutEvents(restored)] if restored else []),
        ]
    unchanged = {memory.record.id: before.get(memory.record.id) for memory in memories}
    run.write([RequireUnchanged(unchanged), *changes])
    return before


def _mark_due(memory: PreparedMemory, now: int) -> PreparedMemory:
    level = DUE_EDGES if memory.record.turn is None else DUE_FACTS
    return replace(memory, record=replace(memory.record, due=due_mark(level, now)))
