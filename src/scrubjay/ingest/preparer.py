"""Preparer: turn changed files into documents that are ready to be written.

Files are read, redacted and drafted by groups without a view of the store; then a group is planned in one view: which
passages are new, which stay, which were forgotten.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import QuotaError, SourceError
from scrubjay.ingest.alignment import (
    DocumentTraits,
    DraftPassage,
    IdFactory,
    PreparedDocument,
    addition_texts,
    has_text,
    note_marker_id,
    plan_document,
)
from scrubjay.ingest.deletion import (
    archived_by_hand,
    find_forgotten,
    remaining_title,
    withheld_ids,
)
from scrubjay.ingest.files import FileText, UnconvertibleError, file_text, read_bytes
from scrubjay.ingest.reader import DraftDocument, draft_document, redact_documents
from scrubjay.ingest.scanner import FileState, can_read_documents, document_suffix, may_be_transcript
from scrubjay.ingest.sync_run import MAX_BATCH_DOCUMENTS, MAX_BATCH_PASSAGES, SyncRun
from scrubjay.models.dates import now_micros
from scrubjay.models.ids import text_hash
from scrubjay.models.records import (
    FORGOTTEN_PREFIX,
    KEPT_PRIVATE_PREFIX,
    MISREAD_PREFIX,
    OWN,
    UNFINISHED,
    UNTRUSTED,
    Document,
    Record,
    Source,
)
from scrubjay.models.sources import authorship
from scrubjay.storage.changes import PutDocument
from scrubjay.storage.interface import Reader
from scrubjay.storage.quota import check_planned_writes

if TYPE_CHECKING:
    from scrubjay.ingest.documents.converter import DocumentConverter

GROUP_CHARACTERS: Final = 200_000
"""Characters of files that are redacted and planned together."""
LARGE_DOCUMENT: Final = 1_000_000
"""Bytes from which a file is marked in the store before it is read."""
SECOND_NS: Final = 1_000_000_000
TICK_NS: Final = 100_000_000
"""Ten times the longest tick of subsecond clocks (Linux, exFAT: 10 ms)."""
COARSE_TICK_NS: Final = 2 * SECOND_NS
"""The tick of FAT, which like HFS+ stores whole seconds."""


@dataclass(frozen=True, slots=True)
class _ReadFile:
    state: FileState
    text: FileText
    stored: Document | None
    moved_from: str | None


def prepare_documents(
    run: SyncRun,
    source: Source,
    known: Mapping[str, Document],
    changed: Iterable[FileState],
    moved: dict[str, str],
    gone_logs: list[str],
) -> Iterator[PreparedDocument]:
    """Yield changed files ready to be written: each whole, or in parts if many passages are new.

    Each document must be written before the next is requested.

    Args:
        run: The sync.
        source: The files' source.
        known: The source's documents.
        changed: The files.
        moved: Content hash to path of notes whose file is gone; a note found under another path is removed from it.
        gone_logs: Paths of transcripts whose file is gone; one found under another path is removed.
    """
    # A sync without changes needs none of it.
    from scrubjay.ingest.documents.converter import DocumentConverter

    group: list[_ReadFile | PreparedDocument] = []
    characters = 0
    with DocumentConverter() as converter:
        for state in changed:
            turns = None
            if may_be_transcript(state.path):
                # A sync of notes needs none of it.
                from scrubjay.ingest.transcripts.importer import import_transcript

                turns = import_transcript(run, source, state, known, gone_logs)
            if turns is None:
                file = _read_source_file(run, source, state, known.get(state.path), moved, converter)
                group.append(file)
                characters += len(file.text.text) if isinstance(file, _ReadFile) else 0
                if len(group) < MAX_BATCH_DOCUMENTS and characters < GROUP_CHARACTERS:
                    continue
            yield from _plan_group(run, source, group, first_sync=not known)
            group, characters = [], 0
            if turns is not None:
                yield from turns
        yield from _plan_group(run, source, group, first_sync=not known)


def _read_source_file(
    run: SyncRun,
    source: Source,
    state: FileState,
    stored: Document | None,
    moved: dict[str, str],
    converter: DocumentConverter,
) -> _ReadFile | PreparedDocument:
    """Read a file.

    The stored text of an unreadable file stays, and it is not read again before it changes or a person syncs.
    """
    try:
        data = read_bytes(Path(source.root), state.path)
        if not is_mtime_settled(data.mtime_ns, time.time_ns()):
            data = replace(data, mtime_ns=0)
        if stored is not None and stored.content_hash == data.content_hash and not stored.refused_group:
            return PreparedDocument(replace(stored, mtime_ns=data.mtime_ns, size=data.size))
        is_document = document_suffix(state.path) and can_read_documents()
        file = converter.convert(state.path, data) if is_document else file_text(state.path, data)
    except SourceError as error:
        run.report_problem(source, state.path, str(error), error.hint)
        return run.unreadable_document(
            source, state, stored, str(error), retry=not isinstance(error, UnconvertibleError)
        )
    moved_from = moved.pop(file.content_hash, None) if stored is None else None
    if file.size > LARGE_DOCUMENT:  # leave a mark in case the process is killed
        unfinished = replace(
            run.stored_or_new(source, state.path, stored), content_hash=UNFINISHED, mtime_ns=0, size=file.size
        )
        run.write([PutDocument(unfinished)])
    return _ReadFile(state, file, stored, moved_from)


def is_mtime_settled(changed: int, now: int) -> bool:
    """Return whether a later change must get another mtime; if not, the next sync compares hashes. In nanoseconds.

    >>> is_mtime_settled(1_700_000_000_500_000_000, 1_700_000_001_000_000_000)
    True
    >>> is_mtime_settled(1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    False
    """
    return now - changed > (TICK_NS if changed % SECOND_NS else COARSE_TICK_NS)


def _plan_group(
    run: SyncRun, source: Source, group: Sequence[_ReadFile | PreparedDocument], *, first_sync: bool
) -> Iterator[PreparedDocument]:
    files = [one for one in group if isinstance(one, _ReadFile)]
    plans: list[PreparedDocument] = []
    if files:
        drafts = _draft_files(run, source, files)
        with run.store.reader(run.scope) as reader:
            plans = [
                _plan_file(run, reader, source, file, drafted, first_sync=first_sync)
                for file, drafted in zip(files, drafts, strict=True)
            ]
    next_plans = iter(plans)
    for one in group:
        if isinstance(one, PreparedDocument):
            yield one
            continue
        try:
            yield from _write_parts(run, next(next_plans))
        except QuotaError as error:
            message = f"{error} What is stored of this file stays as it was."
            run.report_problem(source, one.state.path, message, error.hint)
            yield run.unreadable_document(source, one.state, one.stored, message)


def _draft_files(run: SyncRun, source: Source, files: Sequence[_ReadFile]) -> list[DraftDocument]:
    """Redact files together, and cut them into passages."""
    cleaned = redact_documents([file.text.text for file in files], run.chunks.allow)
    return [
        draft_document(
            source.id, one.state.path, one.text, clean, run.chunks, run.vault_note(source, one.state.path)
        )
        for one, clean in zip(files, cleaned, strict=True)
    ]


def _write_parts(run: SyncRun, planned: PreparedDocument) -> Iterator[PreparedDocument]:
    """Split a large document into several transactions; until the last it is marked unfinished.

    Raises:
        QuotaError: There is no room for all of it. Nothing of it was written.
    """
    fresh = planned.fresh
    if len(fresh) <= MAX_BATCH_PASSAGES:
        yield planned
        return
    gained = Counter(one.record.key for one in fresh if one.old is None)
    check_planned_writes(run.store, run.scope.tenant, gained)
    unfinished = replace(planned.document, content_hash=UNFINISHED, mtime_ns=0)
    for first in range(0, len(fresh), MAX_BATCH_PASSAGES):
        end = first + MAX_BATCH_PASSAGES
        part = replace(
            planned,
            fresh=fresh[first:end],
            grows=True,
        )
        if first:
            part = replace(part, kept=(), dropped=(), moved_from=None)
        if end < len(fresh):
            part = replace(part, document=unfinished)
        yield part


def _plan_file(
    run: SyncRun,
    reader: Reader,
    source: Source,
    file: _ReadFile,
    draft: DraftDocument,
    *,
    first_sync: bool,
) -> PreparedDocument:
    moved_from, tally = file.moved_from, run.tally
    document = draft.document
    own = authorship(source, document.path) == OWN
    old = [] if first_sync else reader.passages(source.id, moved_from or document.path)
    drafts = _without_forgotten(reader, run.secret, draft.drafts, old, run.owner.keys)
    if len(drafts) < len(draft.drafts):
        stay = {id(one) for one in drafts}
        gone = [one.heading_path for one in draft.drafts if id(one) not in stay]
        document = replace(
            document, title=remaining_title(document, gone, [one.heading_path for one in drafts])
        )
    ids = IdFactory(
        run.secret,
        is_taken=lambda memory: not first_sync and bool(reader.get([memory])),
        find=lambda memory: reader.get([memory]).get(memory) if own and memory not in tally.placed else None,
        is_section=partial(_is_section, run.notes, Path(source.root) / document.path),
    )
    traits = _traits(run, source, draft)
    refused = tally.refused.get(str(Path(source.root) / document.path))
    if refused is not None:
        document = document.with_extractor(KEPT_PRIVATE_PREFIX + refused)
    elif left_out := len(draft.drafts) - len(drafts):
        document = document.with_extractor(f"{FORGOTTEN_PREFIX}{left_out}")
    elif draft.metadata.problems:
        document = document.with_extractor(MISREAD_PREFIX + " ".join(draft.metadata.problems))
    if own and moved_from is not None and authorship(source, moved_from) != OWN:
        traits = replace(traits, origin="owner")
    planned = plan_document(
        document, drafts, traits, old, ids, withheld_ids(reader, old), archived_by_hand(reader, old)
    )

    fresh = [one.record for one in planned.fresh]
    tally.placed.update(record.id for record in fresh if note_marker_id(record.content))
    tally.scrubbed.update(draft.scrubbed)
    for problem in draft.metadata.problems:
        run.report_problem(source, document.path, problem)

    before = file.stored
    same_name = before is not None and before.title == document.title and moved_from is None
    unchanged = {kept.id for kept in planned.kept} if same_name else set()
    keys = {record.key for record in (*fresh, *old) if record.id not in unchanged}
    if before is not None and before.is_to_reread:  # something of it was forgotten since
        keys.add(traits.key)
    return replace(planned, moved_from=moved_from, keys=frozenset(keys))


_DAY_NOTE: Final = re.compile(r"\d{4}-\d\d-\d\d\.md")


def _is_section(notes: Path | None, file: Path, addition: Record, text: str) -> bool:
    """Return whether a text is an addition's section: in its day's note, or moved unchanged within that folder."""
    if notes is None:  # any folder may have been the one
        return has_text(addition, text)
    folder, file = Path(os.path.realpath(notes)), Path(os.path.realpath(file))
    if file.parent == folder and _DAY_NOTE.fullmatch(file.name):
        return True
    return file.is_relative_to(folder) and has_text(addition, text)


def _without_forgotten(
    reader: Reader, secret: bytes, drafts: Sequence[DraftPassage], old: Sequence[Record], keys: Sequence[str]
) -> list[DraftPassage]:
    """Drop passages whose text was forgotten, except stored copies, whose viewers must not learn that it was."""
    whole_texts = addition_texts([(one.heading_path, one.content) for one in drafts])
    texts = [{one.content, text} for one, text in zip(drafts, whole_texts, strict=True)]
    forgotten = find_forgotten(reader, secret, texts, lambda pair: pair, keys)
    stored = Counter(record.content_hash for record in old)
    remaining = []
    for one, gone in zip(drafts, forgotten, strict=True):
        if gone:
            digest = text_hash(one.content)
            if not stored[digest]:
                continue
            stored[digest] -= 1
        remaining.append(one)
    return remaining


def _traits(run: SyncRun, source: Source, draft: DraftDocument) -> DocumentTraits:
    metadata, path = draft.metadata, draft.document.path
    file = Path(source.root) / path
    key = source.key
    own = authorship(source, path) == OWN
    if metadata.visibility not in (None, "user") and not (own and source.share is not False):
        if own:
            wish = f"group:{metadata.group}" if metadata.visibility == "group" else str(metadata.visibility)
            run.tally.unshared[str(file)] = wish
    elif metadata.group is not None and metadata.group not in run.owner.groups:
        key = run.owner.key("user")
        run.tally.refused[str(file)] = metadata.group
    elif metadata.visibility is not None:
        key = run.owner.key(metadata.visibility, metadata.group)
    now = now_micros()
    return DocumentTraits(
        key=key,
        owner=run.scope.user,
        tags=tuple(sorted({tag.lower() for tag in metadata.tags})),
        event=metadata.event,
        pinned=metadata.pinned and own,
        recorded_at=min(draft.document.mtime_ns // 1000 or now, now),
        updated_at=now,
        project=run.projects.of_source_directory(source.id, str(file.parent)),
        origin=None if own else UNTRUSTED,
    )
