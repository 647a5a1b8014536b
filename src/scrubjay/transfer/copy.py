"""Copy: copy a tenant from one store to another of any kind, resumably, and verify the result.

A digest is the sum of its rows' hashes, so it does not depend on their order; events are hashed with their place. The
embedding cache and the mark of the copy itself are not part of it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from scrubjay.errors import InputError, NotFoundError, StoreBusyError, StoreError
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Entity
from scrubjay.models.lifecycle import ConsolidationRun
from scrubjay.models.records import NO_FILTER, UnrestrictedScope
from scrubjay.models.reports import CopyReport, Progress, ProgressCallback
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
from scrubjay.storage.interface import BATCH_ROWS, in_batches
from scrubjay.text.tokenizer import TermGroup, index_terms

if TYPE_CHECKING:
    from scrubjay.models.lifecycle import Event
    from scrubjay.models.records import Document, Record
    from scrubjay.models.results import Hit
    from scrubjay.storage.interface import Reader, Store, TenantReader


COPY_RUN_PREFIX: Final = "copy:"
"""Visibility key of the row that marks a copy; no caller's scope has it."""
DIGEST_BITS: Final = 256
PARTS: Final = (
    "memories", "readings", "sources", "documents", "models", "edges", "concepts", "categories", "projects", "events",
    "runs", "tombstones", "versions",
)  # fmt: skip
NO_LIMIT: Final = 10_000_000
"""More runs than a tenant has."""

CountCallback = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class TenantDigest:
    counts: Mapping[str, int]
    digests: Mapping[str, str]


def digest_tenant(reader: TenantReader, on_count: CountCallback | None = None) -> TenantDigest:
    counts: dict[str, int] = {}
    totals: dict[str, int] = {}
    for part, row in _row_bytes(reader, on_count):
        counts[part] = counts.get(part, 0) + 1
        totals[part] = totals.get(part, 0) + int.from_bytes(hashlib.sha256(row).digest())
    digests = {part: f"{totals.get(part, 0) % (1 << DIGEST_BITS):064x}" for part in PARTS}
    return TenantDigest({part: counts.get(part, 0) for part in PARTS}, digests)


def _row_bytes(reader: TenantReader, on_count: CountCallback | None) -> Iterator[tuple[str, bytes]]:
    done = 0
    for batch in reader.memories():
        yield from (("memories", _memory_bytes(one)) for one in batch)
        readings = reader.extractions([one.record.id for one in batch])
        yield from (("readings", repr(one).encode()) for one in readings.values())
        done += len(batch)
        if on_count is not None:
            on_count(done)
    for part, rows in _rows_by_part(reader):
        yield from ((part, repr(row).encode()) for row in rows)


def _memory_bytes(one: PreparedMemory) -> bytes:
    terms = sorted(one.terms.counts.items())
    parts = [repr((one.record, terms, one.terms.length, one.language)).encode()]
    for fingerprint, codes in sorted(one.vectors.items()):
        parts += [fingerprint.encode(), codes.scales.astype("<f4").tobytes(), codes.data.tobytes()]
    return b"\0".join(parts)


def _rows_by_part(reader: TenantReader) -> Iterator[tuple[str, Iterable[object]]]:
    sources = reader.sources()
    yield "sources", sources
    yield "documents", (one for source in sources for one in reader.documents(source.id).values())
    yield "models", reader.models()
    yield "edges", chain.from_iterable(reader.all_edges())
    yield "concepts", reader.concepts()
    yield "categories", reader.categories()
    yield "projects", reader.all_projects()
    yield "events", enumerate(chain.from_iterable(reader.all_events()))
    yield "runs", (run for run in reader.runs(NO_LIMIT) if run.key != COPY_RUN_PREFIX)
    yield "tombstones", chain.from_iterable(reader.tombstones())
    yield "versions", (one for one in [reader.versions()] if one is not None)


T = TypeVar("T")

UNKNOWN_CONCEPT: Final = "a concept that nobody knows by now"


def copy_rows(here: TenantReader, target: Store, on_count: CountCallback) -> None:
    """Copy all that a view holds into a store.

    Each transaction names only the visibility keys of what it holds: a tenant of a million users has a million of them.
    """
    tenant, sources = here.scope.tenant, here.sources()
    keys = {source.id: source.key for source in sources}
    documents = {
        (source.id, path): one for source in sources for path, one in here.documents(source.id).items()
    }
    no_keys = _copy_scope(tenant, ())
    for models in in_batches(here.models(), BATCH_ROWS):
        target.write(no_keys, [PutModel(one.model, one.state) for one in models])
    _copy_each(tenant, sources, target, PutSource)
    _copy_each(tenant, documents.values(), target, PutDocument, lambda one: keys[one.source])
    _copy_memories(here, target, documents, keys, on_count)
    _copy_graph(here, target)
    _copy_history(here, target)
    for fingerprint, texts in here.all_cached_texts():
        target.write(no_keys, [PutVectors(fingerprint, {}, texts)])
    for tombstones in here.tombstones():
        target.write(no_keys, [PutTombstones(tuple(tombstones))])
    versions = here.versions()
    if versions is not None:
        target.write(no_keys, [PutVersions(versions)])


def _copy_scope(tenant: str, keys: Iterable[str]) -> UnrestrictedScope:
    return UnrestrictedScope(tenant, "", (), tuple(sorted({*keys, COPY_RUN_PREFIX})))


def _copy_each(
    tenant: str,
    rows: Iterable[T],
    target: Store,
    change: Callable[[T], Change],
    key: Callable[[T], str] = attrgetter("key"),
) -> None:
    for some in in_batches(rows, BATCH_ROWS):
        target.write(_copy_scope(tenant, map(key, some)), list(map(change, some)))


def _copy_memories(
    here: TenantReader,
    target: Store,
    documents: dict[tuple[str, str], Document],
    keys: dict[str, str],
    on_count: CountCallback,
) -> None:
    tenant = here.scope.tenant
    with target.tenant_reader(tenant) as there:
        resumed = there.counts().memories > 0
    done = 0
    # The view of an interrupted copy; without one, none is held open, since the log would grow with every write.
    with target.tenant_reader(tenant) if resumed else nullcontext() as earlier:
        for batch in in_batches(chain.from_iterable(here.memories()), BATCH_ROWS):
            ids = [one.record.id for one in batch]
            batch_keys = {one.record.key for one in batch}
            batch_keys |= {keys[one.record.place.source] for one in batch if one.record.place is not None}
            before = {} if earlier is None else earlier.keys_of(ids)
            scope = _copy_scope(tenant, batch_keys.union(before.values()))
            changes = _missing_memories(batch, documents, target, scope if before else None)
            if readings := here.extractions(ids):
                changes.append(PutExtractions(tuple(readings.values())))
            if changes:
                target.write(scope, changes)
            done += len(batch)
            on_count(done)


def _missing_memories(
    batch: Sequence[PreparedMemory],
    documents: dict[tuple[str, str], Document],
    target: Store,
    scope: UnrestrictedScope | None,
) -> list[Change]:
    stored: dict[str, Record] = {}
    if scope is not None:
        with target.reader(scope) as there:
            stored = there.get([one.record.id for one in batch])
    changes: list[Change] = []
    by_document: dict[tuple[str, str], list[PreparedMemory]] = {}
    new_vectors: dict[str, dict[str, tuple[str, object]]] = {}
    for one in batch:
        record = one.record
        if stored.get(record.id) == record:  # its vectors may have come since
            for fingerprint, codes in one.vectors.items():
                new_vectors.setdefault(fingerprint, {})[record.id] = (record.content_hash, codes)
        elif record.place is None:
            changes.append(PutMemory(one))
        else:
            by_document.setdefault((record.place.source, record.place.path), []).append(one)
    changes += [
        PutDocument(documents[where], tuple(fresh), grows=True) for where, fresh in by_document.items()
    ]
    return changes + [PutVectors(fingerprint, vectors) for fingerprint, vectors in new_vectors.items()]  # type: ignore[arg-type]


def _copy_graph(here: TenantReader, target: Store) -> None:
    tenant = here.scope.tenant
    concepts, categories = here.concepts(), here.categories()
    _copy_each(tenant, concepts, target, PutConcept)
    _copy_each(tenant, categories, target, PutCategory)
    nodes = {one.id: one.key for one in concepts} | {one.id: one.key for one in categories}
    known = {concept.id for concept in concepts}
    for edges in in_batches(chain.from_iterable(here.all_edges()), BATCH_ROWS):
        ends = {end for edge in edges for end in (edge.src, edge.dst)}
        keys = {edge.key for edge in edges}.union(here.keys_of(ends).values())
        keys |= {nodes[end] for end in ends if end in nodes}
        # An edge may refer to an entity that nobody knows any more: it exists while the edge is written.
        lost = sorted({edge.dst for edge in edges if edge.kind == "references" and edge.dst not in known})
        changes: list[Change] = [PutConcept(Entity(one, COPY_RUN_PREFIX, UNKNOWN_CONCEPT)) for one in lost]
        changes += [PutEdges(tuple(edges)), *(DropConcept(one, COPY_RUN_PREFIX) for one in lost)]
        target.write(_copy_scope(tenant, keys), changes)
    _copy_each(tenant, here.all_projects(), target, lambda one: one)


def _copy_history(here: TenantReader, target: Store) -> None:
    tenant = here.scope.tenant
    runs = (run for run in here.runs(NO_LIMIT) if run.key != COPY_RUN_PREFIX)
    _copy_each(tenant, runs, target, PutRun)
    with target.tenant_reader(tenant) as target_reader:  # what an interrupted copy wrote
        copied = [event for batch in target_reader.all_events() for event in batch]
    for events in in_batches(_missing_events(here, copied), BATCH_ROWS):
        memory_keys = here.keys_of(
            one for event in events for one in (event.memory, event.other) if one is not None
        )
        keys = {event.key for event in events}.union(memory_keys.values())
        target.write(_copy_scope(tenant, keys), [PutEvents(tuple(events), imported=True)])


def _missing_events(here: TenantReader, copied: Sequence[Event]) -> Iterator[Event]:
    """Yield the events that were not copied yet; raises `StoreError` if the copied ones are not the first of these."""
    place = 0
    for batch in here.all_events():
        for event in batch:
            if place >= len(copied):
                yield event
            elif copied[place] != event:
                raise StoreError(
                    f"The history that the copy begins with is not that of the store: {copied[place].op} of "
                    f"{copied[place].memory} there, {event.op} of {event.memory} here. Memories were removed since it "
                    "began, or another program wrote to it.",
                    hint="copy into an empty store",
                )
            place += 1


PROBE_SAMPLES: Final = 20
PROBE_WORDS: Final = 4
PROBE_HITS: Final = 10
EXACT_UP_TO: Final = 100_000
"""Memories from which on vector search may be approximate, so that two stores need not agree."""


def compare_searches(here: TenantReader, there: TenantReader) -> str | None:
    """Search for samples in both; return the first query whose answers differ."""
    models = [one.model.fingerprint for one in here.models() if not one.model.late_interaction]
    if here.counts().memories >= EXACT_UP_TO:
        models = []
    for record in here.page("", PROBE_SAMPLES):
        pairs = zip(
            _sample_searches(here, here, record, models),
            _sample_searches(there, here, record, models),
            strict=True,
        )
        for (query, source_answer), (_, target_answer) in pairs:
            if source_answer != target_answer:
                return query
    return None


def _sample_searches(
    reader: Reader, here: TenantReader, record: Record, models: list[str]
) -> Iterator[tuple[str, list[Hit]]]:
    words = list(index_terms(record.content).counts)[:PROBE_WORDS]
    if words:
        groups = [TermGroup(word, (word,)) for word in words]
        yield f"the words of {record.id}", reader.words(groups, NO_FILTER).top(PROBE_HITS)
    for fingerprint in models:
        vectors = here.vectors(fingerprint, [record.id]).get(record.id)
        if vectors is not None and vectors.scales[0] > 0:
            row = vectors.data[0].astype(np.float64)
            query = (row / np.sqrt((row**2).sum())).astype(np.float32)
            yield (
                f"the vector of {record.id} by {fingerprint}",
                reader.nearest(fingerprint, query, NO_FILTER).top(PROBE_HITS),
            )


COPY_RUN: Final = "copy"
"""Id of the row that marks a copy, and name of its lock."""
LOCK_PATIENCE: Final = 5.0
"""Seconds to wait for another copy to end: a server notices a lost connection late."""
LOCK_PAUSE: Final = 0.1
"""Seconds between two attempts."""
EMPTY_STORE_HINT: Final = "copy into an empty store: name a file that does not exist yet, or another database"


def copy_tenant(
    source: Store,
    open_target: Callable[[bytes], Store],
    tenant: str,
    progress: ProgressCallback | None = None,
) -> CopyReport:
    """Copy all that a tenant has when the copy begins.

    ``open_target`` opens the target store, given the secret for a tenant that is new there.

    Raises:
        NotFoundError: There is no such tenant.
        InputError: The target holds other data of the tenant; nothing was written.
        StoreBusyError: Another process copies to it.
        StoreError: It was interrupted (calling it again resumes), or the copy differs.
    """
    started = time.monotonic()

    def report(stage: str, total: int) -> CountCallback:
        def on_count(done: int) -> None:
            if progress is not None:
                progress(Progress(stage, done, total, time.monotonic() - started))

        return on_count

    with source.tenant_reader(tenant) as here:
        if here.secret is None:
            raise NotFoundError(f"{source.url} holds nothing of tenant {tenant}. Nothing was copied.")
        if _copy_state(here) == "running":
            raise InputError(
                f"{source.url} is itself a copy that was not finished. Nothing was copied.",
                hint="finish it first: run the copy that made it again",
            )
        target = open_target(here.secret)
        try:
            scope = UnrestrictedScope(tenant, "", (), (COPY_RUN_PREFIX,))
            with _lock_target(target, scope) as exclusive:
                if not exclusive:
                    raise StoreBusyError(
                        f"Another program is copying tenant {tenant} to {target.url}. Nothing was copied.",
                        hint="wait until it is done; running the same copy then verifies it",
                    )
                return _copy_once(source, here, target, scope, report, started)
        finally:
            target.close()


@contextmanager
def _lock_target(target: Store, scope: UnrestrictedScope) -> Iterator[bool]:
    end = time.monotonic() + LOCK_PATIENCE
    while True:
        with target.try_exclusive(scope, COPY_RUN) as exclusive:
            if exclusive or time.monotonic() >= end:
                yield exclusive
                return
        time.sleep(LOCK_PAUSE)


def _copy_once(
    source: Store,
    here: TenantReader,
    target: Store,
    scope: UnrestrictedScope,
    report: Callable[[str, int], CountCallback],
    started: float,
) -> CopyReport:
    total = here.counts().memories
    state = _target_state(here, target, report("verify", total))
    began = now_micros()
    if state != "done":
        if target.quota:
            amounts = source.memory_counts(scope.tenant)
            target.quota.check(scope.tenant, amounts, amounts)
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
    digest = _verify(here, target, report("verify", total))
    if state != "done":
        done = ConsolidationRun(
            COPY_RUN, COPY_RUN_PREFIX, "done", "1", began, now_micros(), {"memories": total}
        )
        target.write(scope, [PutRun(done)], durable=True)
    seconds = time.monotonic() - started
    return CopyReport(scope.tenant, target.url, digest.counts, digest.digests, state != "new", seconds)


def _copy_state(reader: TenantReader) -> str:
    states = [run.state for run in reader.runs(NO_LIMIT) if run.key == COPY_RUN_PREFIX]
    return states[0] if states else ""


def _target_state(here: TenantReader, target: Store, on_count: CountCallback) -> str:
    """Return ``new``, ``running`` where a copy was stopped, or ``done`` where the same data is there already."""
    tenant = here.scope.tenant
    with target.tenant_reader(tenant) as there:
        if there.secret is None:
            return "new"
        if there.secret != here.secret:
            raise InputError(
                f"{target.url} already has another tenant {tenant}, with {there.counts().memories:,} memories and "
                "another secret. Nothing was written.",
                hint=EMPTY_STORE_HINT,
            )
        if _copy_state(there) == "running":
            return "running"
        if not _differing_parts(digest_tenant(here), digest_tenant(there, on_count)):
            return "done"
    raise InputError(
        f"{target.url} already holds tenant {tenant} with different contents. Nothing was written.",
        hint=EMPTY_STORE_HINT,
    )


def _verify(here: TenantReader, target: Store, on_count: CountCallback) -> TenantDigest:
    source_digest = digest_tenant(here)
    with target.tenant_reader(here.scope.tenant) as there:
        target_digest = digest_tenant(there, on_count)
        parts = _differing_parts(source_digest, target_digest)
        if parts:
            counts = ", ".join(
                f"{source_digest.counts[part]:,} and {target_digest.counts[part]:,} {part}" for part in parts
            )
            raise StoreError(
                f"The store and its copy do not hold the same: {counts}. Another program wrote to {target.url}, or the "
                "store has changed since a copy that was stopped began. The store is untouched.",
                hint=f"stop who writes to the copy; {EMPTY_STORE_HINT}",
            )
        query = compare_searches(here, there)
        if query is not None:
            raise StoreError(
                f"The store and its copy hold the same rows but answer differently for {query}.",
                hint="run `scrubjay rebuild` on the store that was copied, then copy into an empty one",
            )
    return source_digest


def _differing_parts(source: TenantDigest, target: TenantDigest) -> list[str]:
    return [part for part in source.digests if source.digests[part] != target.digests[part]]
