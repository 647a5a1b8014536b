"""Pipeline: the write path in one screen: sources > chunk > extract > label > embed > write."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest.chunk import ChunkSettings
from scrubjay.ingest.compare import compare, look
from scrubjay.ingest.label import Ids, Labelled, Traits, label
from scrubjay.ingest.noted import noted, said
from scrubjay.ingest.read import Drafted, draft, read
from scrubjay.ingest.sources.files import FileState
from scrubjay.ingest.sources.read import FileText
from scrubjay.ingest.write import Ready, batches, write
from scrubjay.memory.dates import now_micros, when
from scrubjay.memory.ids import tombstone_hash
from scrubjay.memory.records import Document, Source
from scrubjay.memory.reports import Progress, Trouble
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import DropDocument, PutSource

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

RACY_NS: Final = 2_000_000_000
"""A file changed this shortly before it was read may change again within one tick of its clock: its time
is not trusted, and the next sync compares its hash."""


@dataclass(slots=True)
class Tally:
    """What a sync has done so far; ``placed`` are the noted additions whose section it has found."""

    files: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    scrubbed: Counter[str] = field(default_factory=Counter)
    placed: set[str] = field(default_factory=set)
    problems: list[Trouble] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Run:
    """One sync of one source: where to, with what, and who watches."""

    store: Store
    scope: Scope
    base: Embedder
    chunks: ChunkSettings
    tally: Tally
    progress: Callable[[Progress], None] | None = None


def sync(run: Run, registered: Source, source: Source) -> None:
    """Bring the store in step with one source's files.

    Args:
        run: Where to, with what.
        registered: The source as it is registered.
        source: The same, leaving out what other sources inside it hold.
    """
    with run.store.reader(run.scope) as reader:
        known = reader.documents(source.id)
    found = look(source)
    changed, gone = compare(found, known)
    tally = run.tally
    tally.files += len(found.files)
    tally.problems += [Trouble(str(Path(source.root) / p.path), p.message, p.hint) for p in found.problems]
    if found.missing:  # the scan's problem says so, and why
        return
    if known and not found.files:
        tally.problems.append(
            Trouble(
                source.root,
                f"{source.root} is suddenly empty; its {len(known)} documents stay as they were.",
                f"bring its files back, or `scrubjay sources remove {source.root}`",
            )
        )
        return
    if changed or gone:
        _write_changes(run, source, known, (changed, gone))
    run.store.write(run.scope, [PutSource(replace(registered, synced_at=now_micros()))])


def _write_changes(
    run: Run, source: Source, known: Mapping[str, Document], work: tuple[list[FileState], list[str]]
) -> None:
    changed, gone = work
    left = {known[path].content_hash: path for path in sorted(gone, reverse=True)}
    started = time.monotonic()
    done = 0
    for batch in batches(_ready(run, source, known, changed, left)):
        write(run.store, run.scope, batch, run.base, run.chunks.overlap)
        done += len(batch)
        if run.progress is not None:
            run.progress(Progress("write", done, len(changed), time.monotonic() - started))
    dropped = [path for path in gone if path in left.values()]
    if dropped:
        with run.store.reader(run.scope) as reader:
            run.tally.removed += sum(len(reader.passages(source.id, path)) for path in dropped)
        run.store.write(run.scope, [DropDocument(source.id, path) for path in dropped])


def _ready(
    run: Run, source: Source, known: Mapping[str, Document], changed: list[FileState], left: dict[str, str]
) -> Iterator[Ready]:
    secret = run.store.secret(run.scope)
    for state in changed:
        try:
            file = read(Path(source.root), state.path)
        except SourceError as error:
            run.tally.problems.append(Trouble(str(Path(source.root) / state.path), str(error), error.hint))
            continue
        trusted = file if time.time_ns() - file.mtime_ns > RACY_NS else replace(file, mtime_ns=0)
        moved_from = left.pop(file.content_hash, None) if state.path not in known else None
        old = known.get(state.path)
        if old is not None and old.content_hash == file.content_hash:
            yield _touched(old, trusted)
            continue
        drafted = draft(source.id, state.path, trusted, run.chunks)
        with run.store.reader(run.scope) as reader:
            ready = _label(run, source, drafted, (reader, secret, moved_from, bool(known)))
        yield ready


def _touched(old: Document, file: FileText) -> Ready:
    document = replace(old, mtime_ns=file.mtime_ns, size=file.size)
    return Ready(Labelled(document, (), (), ()), ())


def _label(
    run: Run, source: Source, drafted: Drafted, context: tuple[Reader, bytes, str | None, bool]
) -> Ready:
    reader, secret, moved_from, seen_before = context
    document = drafted.document
    old = reader.passages(source.id, moved_from or document.path) if seen_before else []
    added = said([(d.heading_path, d.content) for d in drafted.drafts])
    texts = [{d.content, text} for d, text in zip(drafted.drafts, added, strict=True)]
    hashes = [{tombstone_hash(secret, text) for text in pair} for pair in texts]
    forgotten = reader.forgotten([digest for pair in hashes for digest in pair])
    kept = [d for d, pair in zip(drafted.drafts, hashes, strict=True) if forgotten.isdisjoint(pair)]
    ids = Ids(
        secret,
        taken=lambda memory: seen_before and bool(reader.get([memory])),
        find=lambda memory: reader.get([memory]).get(memory) if memory not in run.tally.placed else None,
    )
    labelled = replace(label(document, kept, _traits(run, source, drafted), old, ids), moved_from=moved_from)
    tally = run.tally
    known = {record.id for record in old}
    tally.placed.update(memory.record.id for memory in labelled.fresh if noted(memory.record.content))
    tally.added += sum(1 for memory in labelled.fresh if memory.record.id not in known)
    tally.updated += sum(1 for memory in labelled.fresh if memory.record.id in known)
    tally.removed += len(labelled.dropped)
    tally.scrubbed.update(drafted.scrubbed)
    full = str(Path(source.root) / document.path)
    tally.problems += [Trouble(full, problem) for problem in drafted.facts.problems]
    pieces = {d.place.ordinal: d for d in drafted.drafts}
    befores = []
    for memory in labelled.fresh:
        assert memory.record.place is not None
        before = pieces.get(memory.record.place.ordinal - 1)
        near = before is not None and before.heading_path == memory.record.heading_path
        befores.append(before.content if near and before is not None else "")
    return Ready(labelled, befores)


def _traits(run: Run, source: Source, drafted: Drafted) -> Traits:
    facts = drafted.facts
    key = source.key
    if facts.visibility is not None:
        try:
            key = run.scope.key(facts.visibility, facts.group)
        except InputError as error:
            # Cautious: what may not be shared as asked stays with its writer.
            key = run.scope.key("user")
            path = str(Path(source.root) / drafted.document.path)
            run.tally.problems.append(
                Trouble(path, f"{error} It was kept private.", "correct its front matter")
            )
    now = now_micros()
    event = None
    if facts.date is not None:
        text = facts.date.date().isoformat() if facts.precision == "day" else facts.date
        event = when(text)
    written = drafted.document.mtime_ns // 1000 or now
    tags = tuple(sorted({tag.lower() for tag in facts.tags}))
    return Traits(key, run.scope.user, tags, event, facts.pinned, min(written, now), now)
