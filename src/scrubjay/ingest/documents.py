"""Documents: a changed file -> a Ready document: read, scrubbed, cut and labelled."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

from scrubjay.errors import InputError, QuotaError, SourceError
from scrubjay.ingest.forget import AGAIN, title_left
from scrubjay.ingest.label import Draft, Ids, Labelled, Planned, Traits, plan
from scrubjay.ingest.noted import noted, said
from scrubjay.ingest.read import Drafted, draft, read, versions
from scrubjay.ingest.run import Run
from scrubjay.ingest.sources.files import FileState
from scrubjay.ingest.sources.read import FileText
from scrubjay.ingest.write import PASSAGES_AT_ONCE, Ready
from scrubjay.memory.dates import now_micros, when
from scrubjay.memory.ids import text_hash, tombstones
from scrubjay.memory.records import FAILED, OWN, UNFINISHED, Document, Record, Source
from scrubjay.memory.reports import Trouble
from scrubjay.memory.sources import whose
from scrubjay.memory.tiers import UNTRUSTED
from scrubjay.store.base import Reader
from scrubjay.store.changes import PutDocument
from scrubjay.store.room import foreseen

LARGE: Final = 1_000_000
"""Bytes of a file from which it is noted that it is being read, before it is."""
SECOND: Final = 1_000_000_000
TICK_NS: Final = 100_000_000
"""Ten times the longest tick of a clock that tells parts of a second: Linux's is 10 ms at most, exFAT's 10 ms."""
COARSE_TICK_NS: Final = 2 * SECOND
"""The tick of FAT's clock, which like that of HFS+ tells whole seconds."""


@dataclass(frozen=True, slots=True)
class Before:
    """What is stored of a source.

    Attributes:
        known: Whether it was synced before.
        document: The document under this path, if there is one.
        left: Content hash to path of the documents whose file is gone: a new file of that hash is one of them.
    """

    known: bool
    document: Document | None
    left: dict[str, str]


def ready(run: Run, source: Source, state: FileState, before: Before) -> Iterator[Ready]:
    """Make one file ready to be written: whole, or in parts where many passages are new.

    What was stored of a file that cannot be read stays, and the file is not read again before it changes or somebody
    asks for a sync.
    """
    full = Path(source.root) / state.path
    try:
        file = read(Path(source.root), state.path)
    except SourceError as error:
        run.tally.problems.append(Trouble(str(full), str(error), error.hint))
        yield failed(run, source, state, before.document, str(error))
        return
    trusted = file if settled(file.mtime_ns, time.time_ns()) else replace(file, mtime_ns=0)
    old = before.document
    moved_from = before.left.pop(file.content_hash, None) if old is None else None
    if old is not None and old.content_hash == file.content_hash:
        yield _touched(old, trusted)
        return
    if file.size > LARGE:  # a process that is killed over it leaves word of it
        begun = replace(_known(run, source, state, old), content_hash=UNFINISHED, mtime_ns=0, size=file.size)
        run.store.write(run.scope, [PutDocument(begun)])
    drafted = draft(source.id, state.path, trusted, run.chunks)
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
        run.tally.problems.append(Trouble(str(full), told, error.hint))
        run.tally.added -= len(planned.fresh) - len(planned.renewed)
        run.tally.updated -= len(planned.renewed)
        run.tally.removed -= len(planned.dropped)
        yield failed(run, source, state, old, told)


def failed(run: Run, source: Source, state: FileState, old: Document | None, why: str) -> Ready:
    """Remember that a file could not be read as it is now; the passages that are stored of it stay."""
    document = replace(
        _known(run, source, state, old), content_hash=FAILED + why, mtime_ns=state.mtime_ns, size=state.size
    )
    return Ready(Labelled(document, (), (), ()), ())


def _known(run: Run, source: Source, state: FileState, old: Document | None) -> Document:
    name = PurePosixPath(state.path).name
    return old or Document(source.id, state.path, "", 0, 0, name, versions(run.chunks))


def _parts(
    run: Run, planned: Planned, befores: Sequence[str], more: tuple[str | None, frozenset[str]]
) -> Iterator[Ready]:
    """Count words part by part: a large document is written by several transactions, and is whole with the last.

    A sync that ends before that leaves the document unfinished, and the next one goes on from what is stored.

    Raises:
        QuotaError: There is no room for all of it. Nothing of it was written.
    """
    moved_from, keys = more
    fresh = planned.fresh
    if len(fresh) <= PASSAGES_AT_ONCE:
        yield Ready(replace(planned.labelled(), moved_from=moved_from), befores, keys)
        return
    gained = Counter(record.key for record, _ in fresh if record.id not in planned.renewed)
    foreseen(run.store, run.scope.tenant, gained)
    unfinished = replace(planned.document, content_hash=UNFINISHED, mtime_ns=0)
    for first in range(0, len(fresh), PASSAGES_AT_ONCE):
        end = first + PASSAGES_AT_ONCE
        part = replace(
            planned,
            document=planned.document if end >= len(fresh) else unfinished,
            fresh=fresh[first:end],
            kept=() if first else planned.kept,
            dropped=() if first else planned.dropped,
        )
        moved = None if first else moved_from
        yield Ready(replace(part.labelled(), moved_from=moved, grows=True), befores[first:end], keys)


def settled(changed: int, now: int) -> bool:
    """Return whether a file that changes again will have another time; else its hash is compared next time.

    >>> settled(1_700_000_000_500_000_000, 1_700_000_001_000_000_000)
    True
    >>> settled(1_700_000_000_000_000_000, 1_700_000_001_000_000_000)
    False

    Args:
        changed: When it was changed last, nanoseconds since 1970.
        now: When it was read.
    """
    return now - changed > (TICK_NS if changed % SECOND else COARSE_TICK_NS)


def _touched(old: Document, file: FileText) -> Ready:
    document = replace(old, mtime_ns=file.mtime_ns, size=file.size)
    return Ready(Labelled(document, (), (), ()), ())


def _plan(
    run: Run, source: Source, drafted: Drafted, context: tuple[Reader, bytes, str | None, Before]
) -> tuple[Planned, list[str], frozenset[str]]:
    reader, secret, moved_from, before = context
    document = drafted.document
    own = whose(source, document.path) == OWN
    old = reader.passages(source.id, moved_from or document.path) if before.known else []
    kept = _unforgotten(reader, secret, drafted.drafts, old, run.scope.keys)
    if len(kept) < len(drafted.drafts):
        stay = {id(one) for one in kept}
        gone = [one.heading_path for one in drafted.drafts if id(one) not in stay]
        document = replace(document, title=title_left(document, gone, [one.heading_path for one in kept]))
    ids = Ids(
        secret,
        taken=lambda memory: before.known and bool(reader.get([memory])),
        find=lambda memory: (
            reader.get([memory]).get(memory) if own and memory not in run.tally.placed else None
        ),
    )
    traits = _traits(run, source, drafted)
    if own and moved_from is not None and whose(source, moved_from) != OWN:
        traits = replace(traits, origin="owner")
    planned = plan(document, kept, traits, old, ids)
    tally = run.tally
    known = {record.id for record in old}
    tally.placed.update(record.id for record, _ in planned.fresh if noted(record.content))
    tally.added += sum(1 for record, _ in planned.fresh if record.id not in known)
    tally.updated += sum(1 for record, _ in planned.fresh if record.id in known)
    tally.removed += len(planned.dropped)
    tally.forgotten += len(drafted.drafts) - len(kept)
    tally.scrubbed.update(drafted.scrubbed)
    full = str(Path(source.root) / document.path)
    tally.problems += [Trouble(full, problem) for problem in drafted.facts.problems]
    touched = _touched_keys(planned, old, traits, (before.document, moved_from))
    return planned, _befores(planned, old), touched


def _unforgotten(
    reader: Reader, secret: bytes, drafts: Sequence[Draft], old: Sequence[Record], keys: Sequence[str]
) -> list[Draft]:
    """Leave out the passages whose text was forgotten, but for those that stand in the document as they are.

    What was forgotten stands nowhere any more. A passage that does is a copy that nobody forgot, and must not go
    at whatever hour its file happens to be read again: who else sees it would learn of that hour.
    """
    added = said([(d.heading_path, d.content) for d in drafts])
    texts = [{d.content, text} for d, text in zip(drafts, added, strict=True)]
    # A mark costs as much as all the rest of a passage's label: none is made where nothing was forgotten.
    forgotten = reader.forgotten(chain.from_iterable(_marks(secret, pair, keys) for pair in texts))
    if not forgotten:
        return list(drafts)
    standing = Counter(record.content_hash for record in old)
    kept = []
    for one, pair in zip(drafts, texts, strict=True):
        if not forgotten.isdisjoint(_marks(secret, pair, keys)):
            digest = text_hash(one.content)
            if not standing[digest]:
                continue
            standing[digest] -= 1
        kept.append(one)
    return kept


def _touched_keys(
    planned: Planned, old: Sequence[Record], traits: Traits, came: tuple[Document | None, str | None]
) -> frozenset[str]:
    """Return the visibility keys of what came, changed, moved or went."""
    before, moved_from = came
    named = before is not None and before.title == planned.document.title and moved_from is None
    stays = {kept.id for kept in planned.kept} if named else set()
    keys = {record.key for record, _ in planned.fresh}
    keys |= {record.key for record in old if record.id not in stays}
    # Something of it was forgotten, and how far that was followed up then is not known.
    again = before is not None and before.content_hash == AGAIN
    return frozenset(keys | {traits.key} if again else keys)


def _marks(secret: bytes, texts: Iterable[str], keys: Sequence[str]) -> set[str]:
    """Return what texts have left behind if any of them was forgotten."""
    return {mark for text in texts for mark in tombstones(secret, text, keys)}


def _befores(planned: Planned, old: Sequence[Record]) -> list[str]:
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


def _traits(run: Run, source: Source, drafted: Drafted) -> Traits:
    facts = drafted.facts
    key = source.key
    own = whose(source, drafted.document.path) == OWN
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
                Trouble(path, f"{error} It was kept private.", "correct its front matter")
            )
    now = now_micros()
    event = None
    if facts.date is not None:
        text = facts.date.date().isoformat() if facts.precision == "day" else facts.date
        event = when(text)
    written = drafted.document.mtime_ns // 1000 or now
    tags = tuple(sorted({tag.lower() for tag in facts.tags}))
    place = Path(source.root) / drafted.document.path
    project = run.projects.within(source.id, str(place.parent))
    pinned, origin = facts.pinned and own, None if own else UNTRUSTED
    return Traits(key, run.scope.user, tags, event, pinned, min(written, now), now, project, origin)
