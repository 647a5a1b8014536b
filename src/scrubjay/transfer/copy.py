"""Copy: copy a tenant from one store to another of any kind, resumably, and verify the result.

A digest is the sum of its rows' hashes, so it does not depend on the order in which a store tells them; histories,
whose order means something, are hashed with their place. Not in it: the cache of embedded texts, which each store
bounds in its own way, and the mark of a copy.

What is there already is left or written over by the same, so a carrying that was stopped can be begun again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from scrubjay.errors import InputError, NotFoundError, StoreBusyError, StoreError
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Entity
from scrubjay.models.lifecycle import ConsolidationRun
from scrubjay.models.records import NO_FILTER, UnrestrictedScope
from scrubjay.models.reports import CopyReport, Progress
from scrubjay.storage.changes import (
    Change,
    DropConcept,
    PreparedMemory,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutMemory,
    PutModel,
    PutRun,
    PutSource,
    PutTombstones,
    PutVectors,
    PutVersions,
)
from scrubjay.storage.interface import BATCH_ROWS
from scrubjay.text.tokenizer import TermGroup, index_terms

if TYPE_CHECKING:
    from scrubjay.models.graph import Edge
    from scrubjay.models.lifecycle import Event
    from scrubjay.models.records import Document, Record
    from scrubjay.models.results import Hit
    from scrubjay.storage.interface import ChannelScores, Reader, Store, TenantReader


COPY_RUN_PREFIX: Final = "copy:"
"""Visibility key of the row that tells of a copy. No scope of a caller has it, so nobody is shown the row."""
DIGEST_BITS: Final = 256
PARTS: Final = (
    "memories", "readings", "sources", "documents", "models", "edges", "concepts", "categories", "projects", "events",
    "runs", "tombstones", "versions",
)  # fmt: skip
NO_LIMIT: Final = 10_000_000
"""More nights than a tenant has."""

CountCallback = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class TenantDigest:
    """What a tenant's parts hold.

    Attributes:
        counts: Part (``memories``, ``edges``, …) to its rows.
        digests: Part to the digest of its rows, in hex.
    """

    counts: Mapping[str, int]
    digests: Mapping[str, str]


def digest_tenant(whole: TenantReader, seen: CountCallback | None = None) -> TenantDigest:
    """Count and digest all that a view holds; ``seen`` is told how many memories were looked at."""
    counts: dict[str, int] = {}
    totals: dict[str, int] = {}
    for part, row in _row_bytes(whole, seen):
        counts[part] = counts.get(part, 0) + 1
        totals[part] = totals.get(part, 0) + int.from_bytes(hashlib.sha256(row).digest())
    digests = {part: f"{totals.get(part, 0) % (1 << DIGEST_BITS):064x}" for part in PARTS}
    return TenantDigest({part: counts.get(part, 0) for part in PARTS}, digests)


def _row_bytes(whole: TenantReader, seen: CountCallback | None) -> Iterator[tuple[str, bytes]]:
    """Yield every row as bytes, with the part that it is of."""
    done = 0
    for piece in whole.memories():
        yield from (("memories", encode_memory(one)) for one in piece)
        read = whole.extractions([one.record.id for one in piece])
        yield from (("readings", _encode_row(one)) for one in read.values())
        done += len(piece)
        if seen is not None:
            seen(done)
    for part, rows in _rows_by_part(whole):
        yield from ((part, _encode_row(row)) for row in rows)


def _rows_by_part(whole: TenantReader) -> Iterator[tuple[str, Iterable[object]]]:
    sources = whole.sources()
    yield "sources", sources
    yield "documents", (one for source in sources for one in whole.documents(source.id).values())
    yield "models", whole.models()
    yield "edges", chain.from_iterable(whole.all_edges())
    yield "concepts", whole.concepts()
    yield "categories", whole.categories()
    yield "projects", whole.all_projects()
    yield "events", enumerate(chain.from_iterable(whole.all_events()))
    yield "runs", (run for run in whole.runs(NO_LIMIT) if run.key != COPY_RUN_PREFIX)
    yield "tombstones", chain.from_iterable(whole.tombstones())
    yield "versions", (one for one in [whole.versions()] if one is not None)


def _encode_row(row: object) -> bytes:
    return repr(row).encode()


def encode_memory(one: PreparedMemory) -> bytes:
    """Return all that is kept of a memory as bytes."""
    terms = sorted(one.terms.counts.items())
    parts = [repr((one.record, terms, one.terms.length, one.language)).encode()]
    for fingerprint, codes in sorted(one.vectors.items()):
        parts += [fingerprint.encode(), codes.scales.astype("<f4").tobytes(), codes.data.tobytes()]
    return b"\0".join(parts)


T = TypeVar("T")

UNKNOWN_CONCEPT: Final = "a concept that nobody knows by now"


def copy_rows(here: TenantReader, target: Store, seen: Callable[[int], None]) -> None:
    """Put all that a view holds into a store.

    Each transaction names the visibility keys of what it holds, and no others: a tenant of a million users has a
    million of them.

    Args:
        here: The view.
        target: Where to.
        seen: Told how many memories are there.
    """
    among = partial(_copy_scope, here.scope.tenant)
    sources = here.sources()
    keys = {source.id: source.key for source in sources}
    documents = {
        (source.id, path): one for source in sources for path, one in here.documents(source.id).items()
    }
    for piece in _batches(PutModel(one.model, one.state) for one in here.models()):
        target.write(among(()), piece)
    for new in _batches(sources):
        target.write(among(one.key for one in new), list(map(PutSource, new)))
    for stood in _batches(documents.values()):
        target.write(among(keys[one.source] for one in stood), list(map(PutDocument, stood)))
    _copy_memories(here, target, documents, keys, seen)
    _copy_graph(here, target)
    _copy_history(here, target)
    for fingerprint, texts in here.all_cached_texts():
        target.write(among(()), [PutVectors(fingerprint, {}, texts)])
    for marks in here.tombstones():
        target.write(among(()), [PutTombstones(tuple(marks))])
    versions = here.versions()
    if versions is not None:
        target.write(among(()), [PutVersions(versions)])


def _copy_scope(tenant: str, keys: Iterable[str]) -> UnrestrictedScope:
    """Return who sees these keys and the mark of a copy."""
    return UnrestrictedScope(tenant, "", (), tuple(sorted({*keys, COPY_RUN_PREFIX})))


def _batches(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while piece := list(islice(left, BATCH_ROWS)):
        yield piece


def _copy_memories(
    here: TenantReader,
    target: Store,
    documents: dict[tuple[str, str], Document],
    keys: dict[str, str],
    seen: Callable[[int], None],
) -> None:
    """Put every memory, a piece at a time; a view may give those of each key apart."""
    tenant = here.scope.tenant
    with target.tenant_reader(tenant) as there:
        begun = there.counts().memories > 0
    done = 0
    # What another carrying left. Where it left none no view of it is held: its log would grow with all that is written.
    with target.tenant_reader(tenant) if begun else nullcontext() as left:
        for piece in _batches(chain.from_iterable(here.memories())):
            ids = [one.record.id for one in piece]
            own = {one.record.key for one in piece}
            own |= {keys[one.record.place.source] for one in piece if one.record.place is not None}
            before = {} if left is None else left.keys_of(ids)
            scope = _copy_scope(tenant, own.union(before.values()))
            changes = _missing_memories(piece, documents, target, scope if before else None)
            if read := here.extractions(ids):
                changes.append(PutExtractions(tuple(read.values())))
            if changes:
                target.write(scope, changes)
            done += len(piece)
            seen(done)


def _missing_memories(
    piece: Sequence[PreparedMemory],
    documents: dict[tuple[str, str], Document],
    target: Store,
    scope: UnrestrictedScope | None,
) -> list[Change]:
    """Return what puts memories where they are not yet as they are here, by document; ``scope`` sees those that are."""
    held: dict[str, Record] = {}
    if scope is not None:
        with target.reader(scope) as there:
            held = there.get([one.record.id for one in piece])
    changes: list[Change] = []
    standing: dict[tuple[str, str], list[PreparedMemory]] = {}
    late: dict[str, dict[str, tuple[str, object]]] = {}
    for one in piece:
        record = one.record
        if held.get(record.id) == record:  # its vectors may have come since
            for fingerprint, codes in one.vectors.items():
                late.setdefault(fingerprint, {})[record.id] = (record.content_hash, codes)
        elif record.place is None:
            changes.append(PutMemory(one))
        else:
            standing.setdefault((record.place.source, record.place.path), []).append(one)
    changes += [PutDocument(documents[where], tuple(fresh), grows=True) for where, fresh in standing.items()]
    return changes + [PutVectors(fingerprint, vectors) for fingerprint, vectors in late.items()]  # type: ignore[arg-type]


def _copy_graph(here: TenantReader, target: Store) -> None:
    tenant = here.scope.tenant
    concepts, categories = here.concepts(), here.categories()
    for named in _batches(concepts):
        target.write(_copy_scope(tenant, (one.key for one in named)), list(map(PutConcept, named)))
    for filed in _batches(categories):
        target.write(_copy_scope(tenant, (one.key for one in filed)), list(map(PutCategory, filed)))
    nodes = {one.id: one.key for one in concepts} | {one.id: one.key for one in categories}
    known = {concept.id for concept in concepts}
    for piece in _batches(chain.from_iterable(here.all_edges())):
        ends = {end for edge in piece for end in (edge.src, edge.dst)}
        own = {edge.key for edge in piece}.union(here.keys_of(ends).values())
        own |= {nodes[end] for end in ends if end in nodes}
        target.write(_copy_scope(tenant, own), _edge_changes(piece, known))
    for places in _batches(here.all_projects()):
        target.write(_copy_scope(tenant, (one.key for one in places)), places)


def _edge_changes(piece: Sequence[Edge], known: set[str]) -> list[Change]:
    """Return what puts edges, also those whose concept is known to nobody by now: for them it is known for a moment."""
    lost = sorted({edge.dst for edge in piece if edge.kind == "references" and edge.dst not in known})
    named = [PutConcept(Entity(concept, COPY_RUN_PREFIX, UNKNOWN_CONCEPT)) for concept in lost]
    return [*named, PutEdges(tuple(piece)), *(DropConcept(concept, COPY_RUN_PREFIX) for concept in lost)]


def _copy_history(here: TenantReader, target: Store) -> None:
    tenant = here.scope.tenant
    for runs in _batches(run for run in here.runs(NO_LIMIT) if run.key != COPY_RUN_PREFIX):
        target.write(_copy_scope(tenant, (run.key for run in runs)), list(map(PutRun, runs)))
    there = _copied_events(target, tenant)
    for events in _batches(_missing_events(here, there)):
        named = here.keys_of(
            one for event in events for one in (event.memory, event.other) if one is not None
        )
        own = {event.key for event in events}.union(named.values())
        target.write(_copy_scope(tenant, own), [PutEvents(tuple(events), imported=True)])


def _copied_events(target: Store, tenant: str) -> list[Event]:
    """Return the events that a carrying before this one put there."""
    with target.tenant_reader(tenant) as there:
        return [event for piece in there.all_events() for event in piece]


def _missing_events(here: TenantReader, there: Sequence[Event]) -> Iterator[Event]:
    """Yield the events that are not there yet, which are the last ones.

    Raises:
        StoreError: What is there is not how the histories here begin.
    """
    place = 0
    for piece in here.all_events():
        for event in piece:
            if place >= len(there):
                yield event
            elif there[place] != event:
                raise StoreError(
                    f"The history that the copy begins with is not that of the store: {there[place].op} of "
                    f"{there[place].memory} there, {event.op} of {event.memory} here. Memories were removed since it "
                    "began, or another program wrote to it.",
                    hint="copy into an empty store",
                )
            place += 1


PROBE_SAMPLES: Final = 20
"""Memories whose words and vectors are searched for."""
PROBE_WORDS: Final = 4
PROBE_HITS: Final = 10
EXACT_UP_TO: Final = 100_000
"""Memories from which on a store may look at a choice of vectors, and two need not choose alike."""


def compare_searches(here: TenantReader, there: TenantReader) -> str | None:
    """Search for samples in both; return what was asked where the answers are not the same in the same order."""
    models = [one.model.fingerprint for one in here.models()] if here.counts().memories < EXACT_UP_TO else []
    for record in here.page("", PROBE_SAMPLES):
        for asked, mine in _sample_searches(here, here, record, models):
            theirs = dict(_sample_searches(there, here, record, models))[asked]
            if mine != theirs:
                return asked
    return None


def _sample_searches(
    reader: Reader, here: TenantReader, record: Record, models: list[str]
) -> Iterator[tuple[str, list[Hit]]]:
    words = list(index_terms(record.content).counts)[:PROBE_WORDS]
    if words:
        groups = [TermGroup(word, (word,)) for word in words]
        yield f"the words of {record.id}", _top_hits(reader.words(groups, NO_FILTER))
    for fingerprint in models:
        held = here.vectors(fingerprint, [record.id]).get(record.id)
        if held is not None and held.scales[0] > 0:
            row = held.data[0].astype(np.float64)
            query = (row / np.sqrt((row**2).sum())).astype(np.float32)
            yield (
                f"the vector of {record.id} by {fingerprint}",
                _top_hits(reader.nearest(fingerprint, query, NO_FILTER)),
            )


def _top_hits(found: ChannelScores) -> list[Hit]:
    return found.top(PROBE_HITS)


ReportProgress = Callable[[Progress], None]

COPY_RUN: Final = "copy"
"""Id of the row that marks a copy, and what is held while one is made."""
LOCK_PATIENCE: Final = 5.0
"""Seconds that a copy waits for another one to end: a server learns late that a connection was lost."""
LOCK_PAUSE: Final = 0.1
"""Seconds between two looks."""
EMPTY_HINT: Final = "copy into an empty store: name a file that is not there yet, or another database"


def copy_tenant(
    source: Store, opened: Callable[[bytes], Store], tenant: str, progress: ReportProgress | None = None
) -> CopyReport:
    """Copy all that a tenant has, as it is when the copy begins.

    Args:
        source: From where; others may write to it meanwhile.
        opened: Opens the store to copy to, which gives a tenant that is new there this secret.
        tenant: The tenant.
        progress: Told how far it is.

    Raises:
        NotFoundError: There is no such tenant.
        InputError: The target holds other things of the tenant; nothing was written.
        StoreBusyError: Another process copies to it.
        StoreError: It cannot go on (what is there stays, and the next call goes on), or the copy is not the same.
    """
    started = time.monotonic()

    def report(stage: str, total: int) -> Callable[[int], None]:
        def seen(done: int) -> None:
            if progress is not None:
                progress(Progress(stage, done, total, time.monotonic() - started))

        return seen

    with source.tenant_reader(tenant) as here:
        if here.secret is None:
            raise NotFoundError(f"{source.url} holds nothing of tenant {tenant}. Nothing was copied.")
        if _copy_state(here) == "running":
            raise InputError(
                f"{source.url} is itself a copy that was not finished. Nothing was copied.",
                hint="finish it first: run the copy that made it again",
            )
        target = opened(here.secret)
        try:
            scope = UnrestrictedScope(tenant, "", (), (COPY_RUN_PREFIX,))
            with _lock_target(target, scope) as alone:
                if not alone:
                    raise StoreBusyError(
                        f"Another program is copying tenant {tenant} to {target.url}. Nothing was copied.",
                        hint="wait until it is done; running the same copy then verifies it",
                    )
                return _copy_once(source, here, target, scope, report, started)
        finally:
            target.close()


@contextmanager
def _lock_target(target: Store, scope: UnrestrictedScope) -> Iterator[bool]:
    """Tell whether nobody else copies the tenant there; who does, has a moment to end."""
    end = time.monotonic() + LOCK_PATIENCE
    while True:
        with target.try_exclusive(scope, COPY_RUN) as alone:
            if alone or time.monotonic() >= end:
                yield alone
                return
        time.sleep(LOCK_PAUSE)


def _check_quota(source: Store, target: Store, tenant: str) -> None:
    """Hold what a tenant has to the quota of where it goes."""
    if target.quota:
        amounts = source.memory_counts(tenant)
        target.quota.check(tenant, amounts, amounts)


def _copy_once(
    source: Store,
    here: TenantReader,
    target: Store,
    scope: UnrestrictedScope,
    report: Callable[[str, int], Callable[[int], None]],
    started: float,
) -> CopyReport:
    total = here.counts().memories
    state = _target_state(here, target, report("verify", total))
    if state != "done":
        began = now_micros()
        _check_quota(source, target, scope.tenant)
        try:
            target.write(
                scope, [PutRun(ConsolidationRun(COPY_RUN, COPY_RUN_PREFIX, "running", "1", began, None, {}))]
            )
            copy_rows(here, target, report("copy", total))
        except StoreError as error:
            raise type(error)(
                f"{error} The copy of tenant {scope.tenant} to {target.url} is not finished; what is there stays.",
                hint=error.hint or "put that right, and run the same copy again: it goes on where it was",
            ) from error
        held = _verify(here, target, report("verify", total))
        done = ConsolidationRun(
            COPY_RUN, COPY_RUN_PREFIX, "done", "1", began, now_micros(), {"memories": total}
        )
        target.write(scope, [PutRun(done)], durable=True)
    else:
        held = _verify(here, target, report("verify", total))
    seconds = time.monotonic() - started
    return CopyReport(scope.tenant, target.url, held.counts, held.digests, state != "new", seconds)


def _copy_state(whole: TenantReader) -> str:
    """Return how far a copy that made a store is: ``running``, ``done``, or nothing where none made it."""
    states = [run.state for run in whole.runs(NO_LIMIT) if run.key == COPY_RUN_PREFIX]
    return states[0] if states else ""


def _target_state(here: TenantReader, target: Store, seen: Callable[[int], None]) -> str:
    """Return ``new``, ``running`` where a copy was stopped, or ``done`` where the same is there already.

    Raises:
        InputError: Something else of the tenant is there.
    """
    tenant = here.scope.tenant
    with target.tenant_reader(tenant) as there:
        if there.secret is None:
            return "new"
        if there.secret != here.secret:
            raise InputError(
                f"{target.url} already has another tenant {tenant}, with {there.counts().memories:,} "
                f"memories and another "
                "secret. Nothing was written.",
                hint=EMPTY_HINT,
            )
        if _copy_state(there) == "running":
            return "running"
        if not _first_difference(digest_tenant(here), digest_tenant(there, seen)):
            return "done"
    raise InputError(
        f"{target.url} already holds tenant {tenant} with different contents. Nothing was written.",
        hint=EMPTY_HINT,
    )


def _verify(here: TenantReader, target: Store, seen: Callable[[int], None]) -> TenantDigest:
    """Return what both hold.

    Raises:
        StoreError: They do not hold the same, or do not answer alike.
    """
    mine = digest_tenant(here)
    with target.tenant_reader(here.scope.tenant) as there:
        theirs = digest_tenant(there, seen)
        other = _first_difference(mine, theirs)
        if other:
            told = ", ".join(f"{mine.counts[part]:,} and {theirs.counts[part]:,} {part}" for part in other)
            raise StoreError(
                f"The store and its copy do not hold the same: {told}. Another program wrote to {target.url}, or the "
                "store has changed since a copy that was stopped began. The store is untouched.",
                hint=f"stop who writes to the copy; {EMPTY_HINT}",
            )
        asked = compare_searches(here, there)
        if asked is not None:
            raise StoreError(
                f"The store and its copy hold the same rows but answer differently for {asked}.",
                hint="run `scrubjay rebuild` on the store that was copied, then copy into an empty one",
            )
    return mine


def _first_difference(mine: TenantDigest, theirs: TenantDigest) -> list[str]:
    return [part for part in mine.digests if mine.digests[part] != theirs.digests[part]]
