"""Similar: memories with vectors -> the edges to those that tell of the same.

Each memory is joined with the few nearest that were there before it. A link is stored once, from the later
one, and read from both ends, so what others write never uses up anybody's room. Whoever sees a memory must
see what it is joined with: a shared memory is joined with shared ones, a private one with any that its owner
sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.ingest.worth import worth
from scrubjay.memory.edges import Edge
from scrubjay.memory.ranking import rounded
from scrubjay.memory.records import Record
from scrubjay.store.changes import Prepared

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.store.base import Reader


@dataclass(frozen=True, slots=True)
class Nearness:
    """When two memories are joined.

    Attributes:
        floor: Least cosine. With the static model, of pairs from two documents of the Rust book .75 still tells
            of one thing ("Sharing Data", "Reference Cycles"); of a handbook's tables it joins any two tables.
        links: Most links that a memory makes.
    """

    floor: float = 0.8
    links: int = 10


def similar(
    reader: Reader,
    fingerprint: str,
    fresh: Sequence[Prepared],
    at: int,
    nearness: Nearness,
    *,
    again: bool = False,
) -> list[Edge]:
    """Return the edges from memories that are about to be written to those nearest to them.

    Args:
        reader: What whoever sees the memories sees: they share one visibility key.
        fingerprint: The base model, of which each has vectors.
        fresh: The memories, none of them stored as they are now.
        at: UTC microseconds of the edges.
        nearness: When two are joined.
        again: The memories are stored as they are, and all are joined anew: each with those of smaller ids.
    """
    import numpy as np

    telling = [m for m in fresh if fingerprint in m.vectors and worth(m.record)]
    if not telling:
        return []
    queries = np.stack([_direction(memory, fingerprint) for memory in telling])
    own = {memory.record.id for memory in fresh}
    stored = (
        reader.alike(fingerprint, queries, nearness.links * 2, nearness.floor)
        if reader.windows(fingerprint)
        else []
    )
    near = reader.get(list({hit.id for hits in stored for hit in hits} - own))
    products = queries @ queries.T
    edges = []
    for place, memory in enumerate(telling):
        found = {hit.id: hit.score for hit in (stored[place] if stored else ()) if hit.id in near}
        found = {other: score for other, score in found.items() if _apart(memory.record, near[other])}
        if again:
            found = {
                other: score for other, score in found.items() if _digits(other) < _digits(memory.record.id)
            }
        # Of the same batch only the earlier ones: the later one of two makes their link.
        for before in np.flatnonzero(products[place, :place] >= nearness.floor).tolist():
            if _apart(memory.record, telling[before].record):
                found[telling[before].record.id] = rounded(float(products[place, before]))
        edges += _best(memory.record, found, at, nearness.links)
    return edges


def _best(record: Record, found: Mapping[str, float], at: int, most: int) -> list[Edge]:
    ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return [
        Edge(record.id, "similar", other, record.key, min(score, 1.0), at, rule="cosine")
        for other, score in ranked
    ]


def _digits(memory: str) -> str:
    return memory.partition("_")[2]


def _apart(one: Record, other: Record) -> bool:
    """Tell whether two memories stand in different documents; those of one document are joined by it."""
    if one.place is None or other.place is None:
        return one.id != other.id
    return (one.place.source, one.place.path) != (other.place.source, other.place.path)


def _direction(memory: Prepared, fingerprint: str) -> NDArray[np.float32]:
    """Return the direction of a memory's windows together, as a unit row."""
    import numpy as np

    codes = memory.vectors[fingerprint]
    total = (codes.data.astype(np.float32) * codes.scales[:, None]).sum(0)
    length = float(np.linalg.norm(total))
    found: NDArray[np.float32] = total / np.float32(length or 1.0)
    return found
