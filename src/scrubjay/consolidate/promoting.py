"""Promoting: what one visibility key holds -> what each tier's rules draw from it, read from the store as they ask.

Observations come page by page, as often as a rule wants them, with what was once read from their texts (``told.py``);
whole texts are read only where several sources share something. Held are what is known (facts and lessons) and
the digests: of 100,000 observations about 10,000 digests, 30 MB.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.gather import concepts, pages
from scrubjay.consolidate.night import PAGE, RULE, TIER, Night
from scrubjay.consolidate.promote.crystals import crystals
from scrubjay.consolidate.promote.drawn import Drawn
from scrubjay.consolidate.promote.facets import TIERS, facets
from scrubjay.consolidate.promote.insights import insights
from scrubjay.consolidate.promote.procedural import procedural
from scrubjay.consolidate.promote.semantic import Borne, semantic
from scrubjay.consolidate.told import SEEN, told
from scrubjay.ingest.directions import directions
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import EDITED
from scrubjay.memory.records import Record, Where
from scrubjay.memory.tiers import STATUSES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_KNOWN: Final = Where(tiers=TIERS, statuses=STATUSES)
_DIGESTS: Final = Where(tiers=(TIER,))


def borne(night: Night) -> Borne:
    """Return the facts that several sources bear out."""
    known = _all(night, _KNOWN)
    edges = _joined(night, known, "derived_from")
    held = {memory: list(own) for memory, own in edges.items()}
    return semantic(told(night), partial(_whole, night), known, held)


def patterns(night: Night) -> Iterator[Drawn]:
    """Yield what else can be drawn, once the facts are written."""
    past = {old.id for _, old in night.foreseen.changed}
    stored = (record for record in _pages(night, Where(tiers=TIERS)) if record.id not in past)
    yield from facets(chain(stored, (record for record in night.foreseen.facts if record.id not in past)))
    yield from procedural(told(night), partial(_of_sessions, night))
    known = _all(night, _KNOWN)
    changed = [*_changes(night, known), *night.foreseen.changed]
    del known
    digests = [*_digests(night), *(one.record for one in night.foreseen.digests)]
    digests.sort(key=lambda record: record.id)
    records = [*digests, *{one.id: one for pair in changed for one in pair}.values()]
    references = {**concepts(night.store, night.viewers, records)}
    for memory, named in night.foreseen.references.items():
        references[memory] = [*dict.fromkeys((*references.get(memory, ()), *named))]
    known_by = _named(night, references)
    yield from crystals(digests, _vectors(night, digests), references, known_by)
    yield from insights(digests, references, known_by, changed)


def _pages(night: Night, where: Where) -> Iterator[Record]:
    return _there(night, pages(night.store, night.viewers, night.key, where))


def _there(night: Night, records: Iterable[Record]) -> Iterator[Record]:
    own = (record for record in records if record.key == night.key)
    return (record for record in own if record.id not in night.foreseen.gone)


def _whole(night: Night, ids: Collection[str]) -> Iterator[Record]:
    wanted = sorted(ids)
    for first in range(0, len(wanted), PAGE):
        with night.store.reader(night.viewers) as reader:
            held = reader.get(wanted[first : first + PAGE])
        yield from _there(night, held.values())


def _of_sessions(night: Night, sessions: Collection[str]) -> Iterator[Record]:
    wanted = sorted(sessions)
    for first in range(0, len(wanted), PAGE):
        yield from _pages(night, replace(SEEN, sessions=tuple(wanted[first : first + PAGE])))


def _all(night: Night, where: Where) -> list[Record]:
    return list(_pages(night, where))


def _joined(
    night: Night, records: Sequence[Record], kind: str, *, inward: bool = False
) -> dict[str, list[str]]:
    """Return the other ends of the edges of a kind that leave some memories, or lead to them."""
    found: dict[str, list[str]] = {}
    for batch in _batches(records):
        ids = [record.id for record in batch]
        with night.store.reader(night.viewers) as reader:
            for edge in reader.edges(ids, [kind], inward=inward):
                if edge.rule == EDITED:  # other words are no change of the thing
                    continue
                own, other = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
                found.setdefault(own, []).append(other)
    return found


def _changes(night: Night, known: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return what superseded what."""
    by_id = {record.id: record for record in known}
    past = [record for record in known if record.status == "superseded"]
    newer = _joined(night, past, "supersedes", inward=True)
    return [(by_id[new], old) for old in past for new in newer.get(old.id, ()) if new in by_id]


def _digests(night: Night) -> list[Record]:
    """Return the digests, not the crystals that were made from them."""
    found: list[Record] = []
    for batch in _batches(_all(night, _DIGESTS)):
        with night.store.reader(night.viewers) as reader:
            edges = reader.edges([record.id for record in batch], ["derived_from"])
        told = {edge.src for edge in edges if edge.rule == RULE}
        found += [record for record in batch if record.id in told]
    return found


def _batches(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    for first in range(0, len(records), PAGE):
        yield records[first : first + PAGE]


def _vectors(night: Night, digests: Sequence[Record]) -> Mapping[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    model = night.base.model
    for batch in _batches(digests):
        with night.store.reader(night.viewers) as reader:
            held = reader.vectors(model.fingerprint, [record.id for record in batch])
        ids = sorted(held)
        found |= zip(ids, directions([held[one] for one in ids], model.dimensions), strict=True)
    for one in night.foreseen.digests:
        (found[one.record.id],) = directions([one.vectors[model.fingerprint]], model.dimensions)
    return found


def _named(night: Night, references: Mapping[str, Sequence[str]]) -> Mapping[str, Concept]:
    """Return the concepts by id, each as the night's key knows it, else as whoever sees the key does."""
    ids = sorted({concept for own in references.values() for concept in own})
    found = {one: night.foreseen.concepts[one] for one in ids if one in night.foreseen.concepts}
    for first in range(0, len(ids), PAGE):
        with night.store.reader(night.viewers) as reader:
            for row in reader.concepts(ids[first : first + PAGE]):
                if row.kind != "refused" and (row.id not in found or row.key == night.key):
                    found[row.id] = row
    return found
