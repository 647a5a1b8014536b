"""Document writer: prepare changed documents and write them with vectors, facts and edges."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, QuotaError, SourceError
from scrubjay.ingest.alignment import (
    DocumentTraits,
    DraftPassage,
    IdFactory,
    LabelledDocument,
    PlannedDocument,
    addition_texts,
    note_marker_id,
    plan_document,
)
from scrubjay.ingest.chunker import ChunkSettings
from scrubjay.ingest.deletion import REREAD_HASH, remaining_title
from scrubjay.ingest.embedder import embed_memories
from scrubjay.ingest.fact_stage import FactStage
from scrubjay.ingest.files import FileText
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.projects import ProjectResolver
from scrubjay.ingest.reader import DraftDocument, draft_document, read_document, stage_versions
from scrubjay.ingest.scanner import FileState
from scrubjay.models.dates import now_micros, parse_when
from scrubjay.models.ids import text_hash, tombstone_hashes
from scrubjay.models.records import FAILED_PREFIX, OWN, UNFINISHED, UNTRUSTED, Document, Record, Scope, Source
from scrubjay.models.reports import FileError, Progress
from scrubjay.models.sources import authorship
from scrubjay.storage.changes import Change, PreparedMemory, PutDocument, PutMemory
from scrubjay.storage.interface import Reader, Store
from scrubjay.storage.quota import check_planned_writes

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@dataclass(slots=True)
class SyncTally:
    """What a sync has done so far.

    Attributes:
        placed: The noted additions whose section it has found.
        unshared: Files whose front matter asks for a visibility that it may not give, and that visibility.

    The other fields are those of `Summary`.
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
    """One sync: where to, with what, and who watches.

    Attributes:
        store: Where to.
        scope: Who syncs.
        base: The base model.
        chunks: How documents are cut.
        tally: What it has done so far.
        projects: Which project a directory belongs to.
        weaver: Connects what is written.
        learner: Learns from what people say in it.
        progress: Told how far it is.
        silent: Tells of an agent, a session and a time whether what was said there is passed over.
    """

    store: Store
    scope: Scope
    base: Embedder
    chunks: ChunkSettings
    tally: SyncTally
    projects: ProjectResolver
    weaver: EdgeBuilder
    learner: FactStage
    progress: Callable[[Progress], None] | None = None
    silent: Callable[[str, str, int | None], bool] = _never_paused


MAX_BATCH_DOCUMENTS: Final = 64
"""Most documents of one transaction."""
MAX_BATCH_PASSAGES: Final = 1_000
"""Passages after which a transaction is full: about 50 ms of holding the lock."""


MAX_WINDOW_PASSAGES: Final = 3_000
"""Passages that are held while their names are counted: about 100 MB with their terms."""
MAX_WINDOW_DOCUMENTS: Final = 3_000


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A labelled document.

    Attributes:
        labelled: The document.
        befores: What each fresh passage borrows from the piece before it.
        keys: Visibility keys under which something of it came, changed, moved or went.
    """

    labelled: LabelledDocument
    befores: Sequence[str]
    keys: frozenset[str] = frozenset()


def document_windows(ready: Iterable[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    """Group documents into what is looked through for concepts together: a whole small source, a part of a large."""
    yield from _grouped(ready, MAX_WINDOW_DOCUMENTS, MAX_WINDOW_PASSAGES)


def document_batches(ready: Iterable[PreparedDocument]) -> Iterator[list[PreparedDocument]]:
    """Group documents into what one transaction takes."""
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


def write_documents(
    store: Store,
    scope: Scope,
    batch: Sequence[PreparedDocument],
    base: Embedder,
    overlap: int,
    weaver: EdgeBuilder,
    learner: FactStage,
) -> None:
    """Embed the fresh passages with the base model, learn from turns, connect, then store all in one transaction."""
    fresh = [memory for document in batch for memory in document.labelled.fresh]
    befores = [before for document in batch for before in document.befores]
    embedded = embed_memories(fresh, befores, base, overlap)
    renewed = [memory for document in batch for memory in document.labelled.renewed]
    learned = learner.learn([one for one in embedded if one.record.turn is not None], settle=False)
    weaver.learn([one.record for one in learned.fresh])
    first, last = weaver.changes([*embedded, *learned.fresh], renewed)
    passages = iter(embedded)
    said = [PutMemory(memory) for memory in learned.fresh]
    documents = [_document_change(document.labelled, passages) for document in batch]
    try:
        store.write(scope, [*first, *documents, *said, *last, *learned.after])
    except QuotaError:
        weaver.refused()
        raise


def _document_change(labelled: LabelledDocument, embedded: Iterable[PreparedMemory]) -> Change:
    fresh = tuple(islice(embedded, len(labelled.fresh)))
    return PutDocument(
        labelled.document, fresh, labelled.kept, labelled.dropped, labelled.moved_from, labelled.grows
    )


LARGE_DOCUMENT: Final = 1_000_000
"""Bytes of a file from which it is noted that it is being read, before it is."""
SECOND_NS: Final = 1_000_000_000
TICK_NS: Final = 100_000_000
"""Ten times the longest tick of a clock that tells parts of a second: Linux's is 10 ms at most, exFAT's 10 ms."""
COARSE_TICK_NS: Final = 2 * SECOND_NS
"""The tick of FAT's clock, which like that of HFS+ tells whole seconds."""


@dataclass(frozen=True, slots=True)
class StoredSource:
    """What is stored of a source.

    Attributes:
        known: Whether it was synced before.
        document: The document under this path, if there is one.
        left: Content hash to path of the documents whose file is gone: a new file of that hash is one of them.
    """

    known: bool
    document: Document | None
    left: dict[str, str]


def prepare_document(
    run: SyncRun, source: Source, state: FileState, before: StoredSource
) -> Iterator[PreparedDocument]:
    """Make one file ready to be written: whole, or in parts where many passages are new.

    What was stored of a file that cannot be read stays, and the file is not read again before it changes or somebody
    asks for a sync.
    """
    full = Path(source.root) / state.path
    try:
        file = read_document(Path(source.root), state.path)
    except SourceError as error:
        run.tally.problems.append(FileError(str(full), str(error), error.hint))
        yield unreadable_document(run, source, state, before.document, str(error))
        return
    trusted = file if is_mtime_settled(file.mtime_ns, time.time_ns()) else replace(file, mtime_ns=0)
    old = before.document
    moved_from = before.left.pop(file.content_hash, None) if old is None else None
    if old is not None and old.content_hash == file.content_hash:
        yield _touched(old, trusted)
        return
    if file.size > LARGE_DOCUMENT:  # a process that is killed over it leaves word of it
        begun = replace(_known(run, source, state, old), content_hash=UNFINISHED, mtime_ns=0, size=file.size)
        run.store.write(run.scope, [PutDocument(begun)])
    drafted = draft_document(source.id, state.path, trusted, run.chunks)
    del file, trusted
    with run.store.reader(run.scope) as reader:
        planned, befores, keys = _plan(
            run, source, drafted, (reader, run.store.secret(run.scope), moved_from, before)
        )
    del drafted
    try:
        yield from _parts(run, planned, befores, (moved_from, keys))
    except QuotaError as error:
        told = f"{error} What is stored of this file stays as it was."
        run.tally.problems.append(FileError(str(full), told, error.hint))
        run.tally.added -= len(planned.fresh) - len(planned.renewed)
        run.tally.updated -= len(planned.renewed)
        run.tally.removed -= len(planned.dropped)
        yield unreadable_document(run, source, state, old, told)


def unreadable_document(
    run: SyncRun, source: Source, state: FileState, old: Document | None, why: str
) -> PreparedDocument:
    """Remember that a file could not be read as it is now; the passages that are stored of it stay."""
    document = replace(
        _known(run, source, state, old),
        content_hash=FAILED_PREFIX + why,
        mtime_ns=state.mtime_ns,
        size=state.size,
    )
    return PreparedDocument(LabelledDocument(document, (), (), ()), ())


def _known(run: SyncRun, source: Source, state: FileState, old: Document | None) -> Document:
    name = PurePosixPath(state.path).name
    return old or Document(source.id, state.path, "", 0, 0, name, stage_versions(run.chunks))


def _parts(
    run: SyncRun, planned: PlannedDocument, befores: Sequence[str], more: tuple[str | None, frozenset[str]]
) -> Iterator[PreparedDocument]:
    """Count words part by part: a large document is written by several transactions, and is whole with the last.

    A sync that ends before that leaves the document unfinished, and the next one goes on from what is stored.

    Raises:
        QuotaError: There is no room for all of it. Nothing of it was written.
    """
    moved_from, keys = more
    fresh = planned.fresh
    if len(fresh) <= MAX_BATCH_PASSAGES:
        yield PreparedDocument(replace(planned.labelled(), moved_from=moved_from), befores, keys)
        return
    gained = Counter(record.key for record, _ in fresh if record.id not in planned.renewed)
    check_planned_writes(run.store, run.scope.tenant, gained)
    unfinished = replace(planned.document, content_hash=UNFINISHED, mtime_ns=0)
    for first in range(0, len(fresh), MAX_BATCH_PASSAGES):
        end = first + MAX_BATCH_PASSAGES
        part = replace(
            planned,
            document=planned.document if end >= len(fresh) else unfinished,
            fresh=fresh[first:end],
            kept=() if first else planned.kept,
            dropped=() if first else planned.dropped,
        )
        moved = None if first else moved_from
        yield PreparedDocument(
            replace(part.labelled(), moved_from=moved, grows=True), befores[first:end], keys
        )


def is_mtime_settled(changed: int, now: int) -> bool:
    """Return whether a file that changes again will have another time; else its hash is compared next time.

    >>> is_mtime_settled(1_700_000_000_500_000_000, 1_700_000_001_000_000_000)
    True
    >>> is_mtime_settled(1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    False

    Args:
        changed: When it was changed last, nanoseconds since 1970.
        now: When it was read.
    """
    return now - changed > (TICK_NS if changed % SECOND_NS else COARSE_TICK_NS)


def _touched(old: Document, file: FileText) -> PreparedDocument:
    document = replace(old, mtime_ns=file.mtime_ns, size=file.size)
    return PreparedDocument(LabelledDocument(document, (), (), ()), ())


def _plan(
    run: SyncRun,
    source: Source,
    drafted: DraftDocument,
    context: tuple[Reader, bytes, str | None, StoredSource],
) -> tuple[PlannedDocument, list[str], frozenset[str]]:
    reader, secret, moved_from, before = context
    document = drafted.document
    own = authorship(source, document.path) == OWN
    old = reader.passages(source.id, moved_from or document.path) if before.known else []
    kept = _without_forgotten(reader, secret, drafted.drafts, old, run.scope.keys)
    if len(kept) < len(drafted.drafts):
        stay = {id(one) for one in kept}
        gone = [one.heading_path for one in drafted.drafts if id(one) not in stay]
        document = replace(
            document, title=remaining_title(document, gone, [one.heading_path for one in kept])
        )
    ids = IdFactory(
        secret,
        taken=lambda memory: before.known and bool(reader.get([memory])),
        find=lambda memory: (
            reader.get([memory]).get(memory) if own and memory not in run.tally.placed else None
        ),
    )
    traits = _traits(run, source, drafted)
    if own and moved_from is not None and authorship(source, moved_from) != OWN:
        traits = replace(traits, origin="owner")
    planned = plan_document(document, kept, traits, old, ids)
    tally = run.tally
    known = {record.id for record in old}
    tally.placed.update(record.id for record, _ in planned.fresh if note_marker_id(record.content))
    tally.added += sum(1 for record, _ in planned.fresh if record.id not in known)
    tally.updated += sum(1 for record, _ in planned.fresh if record.id in known)
    tally.removed += len(planned.dropped)
    tally.forgotten += len(drafted.drafts) - len(kept)
    tally.scrubbed.update(drafted.scrubbed)
    full = str(Path(source.root) / document.path)
    tally.problems += [FileError(full, problem) for problem in drafted.facts.problems]
    touched = _touched_keys(planned, old, traits, (before.document, moved_from))
    return planned, _preceding_texts(planned, old), touched


def _without_forgotten(
    reader: Reader, secret: bytes, drafts: Sequence[DraftPassage], old: Sequence[Record], keys: Sequence[str]
) -> list[DraftPassage]:
    """Leave out the passages whose text was forgotten, but for those that stand in the document as they are.

    What was forgotten stands nowhere any more. A passage that does is a copy that nobody forgot, and must not go
    at whatever hour its file happens to be read again: who else sees it would learn of that hour.
    """
    added = addition_texts([(d.heading_path, d.content) for d in drafts])
    texts = [{d.content, text} for d, text in zip(drafts, added, strict=True)]
    # A mark costs as much as all the rest of a passage's label: none is made where nothing was forgotten.
    forgotten = reader.forgotten(chain.from_iterable(_tombstones_of(secret, pair, keys) for pair in texts))
    if not forgotten:
        return list(drafts)
    standing = Counter(record.content_hash for record in old)
    kept = []
    for one, pair in zip(drafts, texts, strict=True):
        if not forgotten.isdisjoint(_tombstones_of(secret, pair, keys)):
            digest = text_hash(one.content)
            if not standing[digest]:
                continue
            standing[digest] -= 1
        kept.append(one)
    return kept


def _touched_keys(
    planned: PlannedDocument,
    old: Sequence[Record],
    traits: DocumentTraits,
    came: tuple[Document | None, str | None],
) -> frozenset[str]:
    """Return the visibility keys of what came, changed, moved or went."""
    before, moved_from = came
    named = before is not None and before.title == planned.document.title and moved_from is None
    stays = {kept.id for kept in planned.kept} if named else set()
    keys = {record.key for record, _ in planned.fresh}
    keys |= {record.key for record in old if record.id not in stays}
    # Something of it was forgotten, and how far that was followed up then is not known.
    again = before is not None and before.content_hash == REREAD_HASH
    return frozenset(keys | {traits.key} if again else keys)


def _tombstones_of(secret: bytes, texts: Iterable[str], keys: Sequence[str]) -> set[str]:
    """Return what texts have left behind if any of them was forgotten."""
    return {mark for text in texts for mark in tombstone_hashes(secret, text, keys)}


def _preceding_texts(planned: PlannedDocument, old: Sequence[Record]) -> list[str]:
    """Return what each fresh passage borrows from the one before it, of its own section and visibility key.

    An addition that others see stands in its writer's note between what they do not see.
    """
    known = {record.id: record for record in old}
    stands = {record.place: record for record, _ in planned.fresh}
    stands |= {kept.place: known[kept.id] for kept in planned.kept}
    by_ordinal = {place.ordinal: record for place, record in stands.items() if place is not None}
    befores = []
    for record, _ in planned.fresh:
        before = by_ordinal.get(record.place.ordinal - 1) if record.place is not None else None
        near = before is not None and (before.heading_path, before.key) == (record.heading_path, record.key)
        befores.append(before.content if near and before is not None else "")
    return befores


def _traits(run: SyncRun, source: Source, drafted: DraftDocument) -> DocumentTraits:
    facts = drafted.facts
    key = source.key
    own = authorship(source, drafted.document.path) == OWN
    if facts.visibility not in (None, "user") and not (own and source.share is not False):
        if own:
            wish = f"group:{facts.group}" if facts.visibility == "group" else str(facts.visibility)
            run.tally.unshared[str(Path(source.root) / drafted.document.path)] = wish
    elif facts.visibility is not None:
        try:
            key = run.scope.key(facts.visibility, facts.group)
        except InputError as error:
            # Cautious: what may not be shared as asked stays with its writer.
            key = run.scope.key("user")
            path = str(Path(source.root) / drafted.document.path)
            run.tally.problems.append(
                FileError(path, f"{error} It was kept private.", "correct its front matter")
            )
    now = now_micros()
    event = None
    if facts.date is not None:
        text = facts.date.date().isoformat() if facts.precision == "day" else facts.date
        event = parse_when(text)
    written = drafted.document.mtime_ns // 1000 or now
    tags = tuple(sorted({tag.lower() for tag in facts.tags}))
    place = Path(source.root) / drafted.document.path
    project = run.projects.within(source.id, str(place.parent))
    pinned, origin = facts.pinned and own, None if own else UNTRUSTED
    return DocumentTraits(key, run.scope.user, tags, event, pinned, min(written, now), now, project, origin)
