"""Carry: Whole, Store -> what the view holds is in the store, a piece a transaction, each piece whole or not there.

What is there already is left or written over by the same, so a carrying that was stopped can be begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeVar

from scrubjay.errors import StoreError
from scrubjay.memory.concepts import Concept
from scrubjay.memory.scope import Everyone
from scrubjay.store.changes import (
    Change,
    DropConcept,
    Prepared,
    PutCategory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutMemory,
    PutModel,
    PutReadings,
    PutRun,
    PutSource,
    PutTombstones,
    PutVectors,
    PutVersions,
)
from scrubjay.store.copying.tally import EVERY, MARK
from scrubjay.store.whole import PIECE

if TYPE_CHECKING:
    from scrubjay.memory.edges import Edge
    from scrubjay.memory.events import Event
    from scrubjay.memory.records import Document, Record
    from scrubjay.store.base import Store, Whole

T = TypeVar("T")

UNKNOWN: Final = "a concept that nobody knows by now"


def carry(here: Whole, target: Store, seen: Callable[[int], None]) -> None:
    """Put all that a view holds into a store.

    Each transaction names the visibility keys of what it holds, and no others: a tenant of a million users has a
    million of them.

    Args:
        here: The view.
        target: Where to.
        seen: Told how many memories are there.
    """
    among = partial(_among, here.scope.tenant)
    sources = here.sources()
    keys = {source.id: source.key for source in sources}
    documents = {
        (source.id, path): one for source in sources for path, one in here.documents(source.id).items()
    }
    for piece in _pieces(PutModel(one.model, one.state) for one in here.models()):
        target.write(among(()), piece)
    for new in _pieces(sources):
        target.write(among(one.key for one in new), list(map(PutSource, new)))
    for stood in _pieces(documents.values()):
        target.write(among(keys[one.source] for one in stood), list(map(PutDocument, stood)))
    _all_memories(here, target, (documents, keys), seen)
    _graph(here, target)
    _life(here, target)
    for fingerprint, texts in here.texts():
        target.write(among(()), [PutVectors(fingerprint, {}, texts)])
    for marks in here.tombstones():
        target.write(among(()), [PutTombstones(tuple(marks))])
    versions = here.versions()
    if versions is not None:
        target.write(among(()), [PutVersions(versions)])


def _among(tenant: str, keys: Iterable[str]) -> Everyone:
    """Return who sees these keys and the mark of a copy."""
    return Everyone(tenant, "", (), tuple(sorted({*keys, MARK})))


def _pieces(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while piece := list(islice(left, PIECE)):
        yield piece


def _all_memories(
    here: Whole,
    target: Store,
    known: tuple[dict[tuple[str, str], Document], dict[str, str]],
    seen: Callable[[int], None],
) -> None:
    """Put every memory, a piece at a time; a view may give those of each key apart."""
    documents, keys = known
    tenant = here.scope.tenant
    with target.whole(tenant) as there:
        begun = there.counts().memories > 0
    done = 0
    # What another carrying left. Where it left none no view of it is held: its log would grow with all that is written.
    with target.whole(tenant) if begun else nullcontext() as left:
        for piece in _pieces(chain.from_iterable(here.memories())):
            ids = [one.record.id for one in piece]
            own = {one.record.key for one in piece}
            own |= {keys[one.record.place.source] for one in piece if one.record.place is not None}
            before = {} if left is None else left.keys_of(ids)
            scope = _among(tenant, own.union(before.values()))
            changes = _memories(piece, documents, target, scope if before else None)
            if read := here.readings(ids):
                changes.append(PutReadings(tuple(read.values())))
            if changes:
                target.write(scope, changes)
            done += len(piece)
            seen(done)


def _memories(
    piece: Sequence[Prepared],
    documents: dict[tuple[str, str], Document],
    target: Store,
    scope: Everyone | None,
) -> list[Change]:
    """Return what puts memories where they are not yet as they are here, by document; ``scope`` sees those that are."""
    held: dict[str, Record] = {}
    if scope is not None:
        with target.reader(scope) as there:
            held = there.get([one.record.id for one in piece])
    changes: list[Change] = []
    standing: dict[tuple[str, str], list[Prepared]] = {}
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


def _graph(here: Whole, target: Store) -> None:
    tenant = here.scope.tenant
    concepts, categories = here.concepts(), here.categories()
    for named in _pieces(concepts):
        target.write(_among(tenant, (one.key for one in named)), list(map(PutConcept, named)))
    for filed in _pieces(categories):
        target.write(_among(tenant, (one.key for one in filed)), list(map(PutCategory, filed)))
    nodes = {one.id: one.key for one in concepts} | {one.id: one.key for one in categories}
    known = {concept.id for concept in concepts}
    for piece in _pieces(chain.from_iterable(here.connections())):
        ends = {end for edge in piece for end in (edge.src, edge.dst)}
        own = {edge.key for edge in piece}.union(here.keys_of(ends).values())
        own |= {nodes[end] for end in ends if end in nodes}
        target.write(_among(tenant, own), _edges(piece, known))
    for places in _pieces(here.places()):
        target.write(_among(tenant, (one.key for one in places)), places)


def _edges(piece: Sequence[Edge], known: set[str]) -> list[Change]:
    """Return what puts edges, also those whose concept is known to nobody by now: for them it is known for a moment."""
    lost = sorted({edge.dst for edge in piece if edge.kind == "references" and edge.dst not in known})
    named = [PutConcept(Concept(concept, MARK, UNKNOWN)) for concept in lost]
    return [*named, PutEdges(tuple(piece)), *(DropConcept(concept, MARK) for concept in lost)]


def _life(here: Whole, target: Store) -> None:
    tenant = here.scope.tenant
    for runs in _pieces(run for run in here.runs(EVERY) if run.key != MARK):
        target.write(_among(tenant, (run.key for run in runs)), list(map(PutRun, runs)))
    there = _told(target, tenant)
    for events in _pieces(_new(here, there)):
        named = here.keys_of(
            one for event in events for one in (event.memory, event.other) if one is not None
        )
        own = {event.key for event in events}.union(named.values())
        target.write(_among(tenant, own), [PutEvents(tuple(events), past=True)])


def _told(target: Store, tenant: str) -> list[Event]:
    """Return the events that a carrying before this one put there."""
    with target.whole(tenant) as there:
        return [event for piece in there.past() for event in piece]


def _new(here: Whole, there: Sequence[Event]) -> Iterator[Event]:
    """Yield the events that are not there yet, which are the last ones.

    Raises:
        StoreError: What is there is not how the histories here begin.
    """
    place = 0
    for piece in here.past():
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
