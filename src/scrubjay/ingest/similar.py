"""Similar: memories with vectors -> the edges to those that tell of the same.

Each memory is joined with the few nearest that were there before it. A link is stored once, from the later
one, and read from both ends, so what others write never uses up anybody's room. Whoever sees a memory must
see what it is joined with: a shared memory is joined with shared ones, a private one with any that its owner
sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.directions import directions
from scrubjay.ingest.worth import worth
from scrubjay.memory.edges import Edge
from scrubjay.memory.ranking import MICRO
from scrubjay.memory.records import Record
from scrubjay.store.changes import Codes, Prepared
from scrubjay.store.score import EXACT_IN_FLOAT32, quantised

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.store.base import Reader

WIDER: Final = 8
"""Times as many are asked for once more, where of those that came nearest too many cannot be joined with."""
MOST_KNOWN: Final = 100_000
"""Memories whose place is remembered through one sync: 20 MB."""


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


@dataclass(frozen=True, slots=True)
class Spot:
    """What decides whether another memory may be joined with one.

    Attributes:
        key: Its visibility key.
        document: Where it stands: passages of one document are joined by it. Its own id, if in none.
        tells: Whether it says enough to be like another.
    """

    key: str
    document: tuple[str, str]
    tells: bool


class Neighbours:
    """Joins the memories that one call writes."""

    def __init__(self, fingerprint: str, nearness: Nearness) -> None:
        """Args: the base model, whose vectors are compared, and when two are joined."""
        self._fingerprint = fingerprint
        self._nearness = nearness
        self._spots: dict[str, Spot] = {}

    def similar(
        self,
        reader: Reader,
        fresh: Sequence[Prepared],
        at: int,
        *,
        beside: Sequence[Prepared] = (),
        again: bool = False,
    ) -> list[Edge]:
        """Return the edges from memories that are about to be written to those nearest to them.

        Args:
            reader: What whoever sees the memories sees: they share one visibility key.
            fresh: The memories, none of them stored as they are now.
            at: UTC microseconds of the edges.
            beside: What else is about to be written and seen by all who see these: of wider keys.
            again: The memories are stored as they are, and all are joined anew: of two with one key, the one
                with the greater id makes their link.
        """
        import numpy as np

        if len(self._spots) > MOST_KNOWN:
            self._spots.clear()
        self._remember([memory.record for memory in (*fresh, *beside)])
        telling = self._telling(fresh)
        if not telling:
            return []
        codes = [memory.vectors[self._fingerprint] for memory in telling]
        queries = directions(codes, codes[0].data.shape[1])
        others = [*telling, *self._telling(beside)]
        now = {memory.record.id for memory in (*fresh, *beside)}
        found = self._stored(reader, [memory.record for memory in telling], queries, now, again=again)
        micro = _products(queries, [memory.vectors[self._fingerprint] for memory in others])
        ids = np.array([memory.record.id for memory in others])
        documents = np.unique(["\n".join(self._spots[one].document) for one in ids], return_inverse=True)[1]
        near = (micro / MICRO >= self._nearness.floor) & (documents != documents[: len(telling), None])
        near[:, : len(telling)] &= np.tri(len(telling), k=-1, dtype=bool)  # the later of two makes their link
        beside_it = near.any(axis=1)
        edges = []
        for place, memory in enumerate(telling):
            if beside_it[place]:
                rows = np.flatnonzero(near[place])
                order = np.lexsort((ids[rows], -micro[place, rows]))[: self._nearness.links]
                found[place] |= {str(ids[row]): float(micro[place, row] / MICRO) for row in rows[order]}
            edges += self._best(memory.record, found[place], at)
        return edges

    def _telling(self, memories: Sequence[Prepared]) -> list[Prepared]:
        return [m for m in memories if self._fingerprint in m.vectors and self._spots[m.record.id].tells]

    def _stored(
        self,
        reader: Reader,
        records: Sequence[Record],
        queries: NDArray[np.float32],
        now: set[str],
        *,
        again: bool,
    ) -> list[dict[str, float]]:
        """Return for each memory the stored ones it may be joined with, and how near they are."""
        found: list[dict[str, float]] = [{} for _ in records]
        if not reader.windows(self._fingerprint):
            return found
        links, texts = self._nearness.links, [query.tobytes() for query in queries]
        wanted, rows = links * 2, list(range(len(records)))
        for most in (wanted, wanted * WIDER):
            # Each text once: of a thousand that are the same, every one is as near to every other.
            first: dict[bytes, int] = {}
            for row in rows:
                first.setdefault(texts[row], row)
            asked = queries[list(first.values())]
            nearest = reader.alike(self._fingerprint, asked, most, self._nearness.floor)
            hits = dict(zip(first, nearest, strict=True))
            unknown = {hit.id for some in nearest for hit in some} - self._spots.keys()
            self._remember(list(reader.get(list(unknown)).values()))
            short = []
            for row in rows:
                some = hits[texts[row]]
                fit = [hit for hit in some if hit.id not in now and self._fits(records[row], hit.id, again)]
                found[row] = {hit.id: hit.score for hit in fit}
                if len(some) == most and len(fit) < links:
                    short.append(row)
            rows = short
            if not rows:
                break
        return found

    def _fits(self, record: Record, other: str, again: bool) -> bool:
        spot = self._spots.get(other)
        if spot is None or not spot.tells or spot.document == self._spots[record.id].document:
            return False
        return not again or spot.key != record.key or _digits(other) < _digits(record.id)

    def _remember(self, records: Sequence[Record]) -> None:
        for record in records:
            place = record.place
            document = (place.source, place.path) if place is not None else ("", record.id)
            self._spots[record.id] = Spot(record.key, document, worth(record))

    def _best(self, record: Record, found: Mapping[str, float], at: int) -> list[Edge]:
        ranked = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[: self._nearness.links]
        return [
            Edge(record.id, "similar", other, record.key, min(score, 1.0), at, rule="cosine")
            for other, score in ranked
        ]


def _digits(memory: str) -> str:
    return memory.partition("_")[2]


def _products(queries: NDArray[np.float32], held: Sequence[Codes]) -> NDArray[np.int64]:
    """Return the cosine of each query with each memory's best window, in millionths, as a store scores them."""
    import numpy as np

    packed = [quantised(query) for query in queries]
    kind = np.dtype(np.float32 if queries.shape[1] <= EXACT_IN_FLOAT32 else np.float64)
    rows = np.concatenate([codes.data for codes in held]).astype(kind)
    scores = (np.stack([row for row, _ in packed]).astype(kind) @ rows.T).astype(np.float64)
    scales = np.concatenate([codes.scales for codes in held]).astype(np.float64)
    scores *= scales * np.array([scale for _, scale in packed])[:, None]
    scores *= MICRO
    micro = np.rint(scores, out=scores).astype(np.int64)
    if len(rows) == len(held):
        return micro
    first = np.cumsum([0, *(len(codes.scales) for codes in held[:-1])])
    return np.maximum.reduceat(micro, first, axis=1)
