"""Carry: Whole, Store -> what the view holds is in the store, a piece a transaction, each piece whole or not there.

What is there already is left or written over by the same, so a carrying that was stopped can be begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
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
    from scrubjay.memory.records import Document
    from scrubjay.store.base import Store, Whole

T = TypeVar("T")

UNKNOWN: Final = "a concept that nobody knows by now"


def carry(here: Whole, target: Store, scope: Everyone, seen: Callable[[int], None]) -> None:
    """Put all that a view holds into a store.

    Args:
        here: The view.
        target: Where to.
        scope: Who sees every key of the view, and `MARK`.
        seen: Told how many memories are there.
    """
    documents = {
        (source.id, path): one for source in here.sources() for path, one in here.documents(source.id).items()
    }
    _put(target, scope, (PutModel(one.model, one.state) for one in here.models()))
    _put(target, scope, map(PutSource, here.sources()))
    _put(target, scope, map(PutDocument, documents.values()))
    done = 0
    for piece in here.memories():
        changes = _memories(piece, documents, target, scope)
        if read := here.readings([one.record.id for one in piece]):
            changes.append(PutReadings(tuple(read.values())))
        if changes:
            target.write(scope, changes)
        done += len(piece)
        seen(done)
    _graph(here, target, scope)
    _life(here, target, scope)
    for fingerprint, texts in here.texts():
        target.write(scope, [PutVectors(fingerprint, {}, texts)])
    for marks in here.tombstones():
        target.write(scope, [PutTombstones(tuple(marks))])
    versions = here.versions()
    if versions is not None:
        target.write(scope, [PutVersions(versions)])


def _put(target: Store, scope: Everyone, changes: Iterable[Change]) -> None:
    for piece in _pieces(changes):
        target.write(scope, piece)


def _pieces(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while piece := list(islice(left, PIECE)):
        yield piece


def _memories(
    piece: Sequence[Prepared], documents: dict[tuple[str, str], Document], target: Store, scope: Everyone
) -> list[Change]:
    """Return what puts memories where they are not yet as they are here, by document."""
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


def _graph(here: Whole, target: Store, scope: Everyone) -> None:
    concepts = here.concepts()
    known = {concept.id for concept in concepts}
    _put(target, scope, map(PutConcept, concepts))
    _put(target, scope, map(PutCategory, here.categories()))
    for piece in here.connections():
        target.write(scope, _edges(piece, known))
    _put(target, scope, here.places())


def _edges(piece: Sequence[Edge], known: set[str]) -> list[Change]:
    """Return what puts edges, also those whose concept is known to nobody by now: for them it is known for a moment."""
    lost = sorted({edge.dst for edge in piece if edge.kind == "references" and edge.dst not in known})
    named = [PutConcept(Concept(concept, MARK, UNKNOWN)) for concept in lost]
    return [*named, PutEdges(tuple(piece)), *(DropConcept(concept, MARK) for concept in lost)]


def _life(here: Whole, target: Store, scope: Everyone) -> None:
    _put(target, scope, (PutRun(run) for run in here.runs(EVERY) if run.key != MARK))
    there = _told(target, scope)
    for events in _pieces(_new(here, there)):
        target.write(scope, [PutEvents(tuple(events), past=True)])


def _told(target: Store, scope: Everyone) -> list[Event]:
    """Return the events that a carrying before this one put there."""
    with target.whole(scope.tenant) as there:
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
