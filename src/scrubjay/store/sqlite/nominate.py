"""Nominate: cosine over a large store, by sign bits first, then exactly for the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.memory.ranking import Hit, rounded
from scrubjay.store.score import products, quantised
from scrubjay.store.scored import ArrayScored, spread
from scrubjay.store.sqlite.files import Mapped, signs
from scrubjay.store.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGE: Final = 100_000
"""Rows from which on signs nominate; below, every row is scored exactly."""
NOMINATED: Final = 2_000
"""Rows, and those equally near, that are scored exactly. Recall at 50 against the exact scan: bench/LOG.md."""
SAMPLED: Final = 8_192
"""Rows, spread evenly, whose exact scores give mean and deviation."""
FEW: Final = 0.1
"""Share of the rows that may pass a filter for all of them to be scored exactly instead."""


class Span(NamedTuple):
    """One segment's vectors, and the table row of its first slot."""

    first: int
    vectors: Mapped


@dataclass(frozen=True, slots=True)
class NominatedScored:
    """Exact scores of the nominated rows; any other row is scored when it is asked for."""

    nominated: ArrayScored
    query: Query

    @property
    def mean(self) -> float:
        """Mean score, from an even sample."""
        return self.nominated.mean

    @property
    def deviation(self) -> float:
        """Standard deviation, from the same sample."""
        return self.nominated.deviation

    @property
    def covered(self) -> int:
        """How many rows have vectors of the model."""
        return self.nominated.covered

    def top(self, limit: int) -> list[Hit]:
        """Return the best rows that pass the filter."""
        return self.nominated.top(limit)

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id, exactly."""
        rows = self.nominated.table.find(ids)
        known = sorted({row for row in rows if row is not None})
        best = self.query.exact(np.array(known, np.int64))
        scores = dict(zip(known, best.tolist(), strict=True))
        return [rounded(scores[row]) if row is not None and scores[row] > -np.inf else None for row in rows]


@dataclass(frozen=True, slots=True)
class Query:
    """A query's codes against all spans of a table."""

    codes: NDArray[np.float32]
    scale: float
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, query: NDArray[np.float32], spans: Sequence[Span]) -> Query:
        """Return the query of a unit vector."""
        codes, scale = quantised(query)
        return cls(codes, scale, tuple(spans))

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best window's score of each of these rows (ascending), ``-inf`` where there is none."""
        best = np.full(len(rows), -np.inf, np.float64)
        ends = [span.first for span in self.spans[1:]] + [np.iinfo(np.int64).max]
        cuts = np.searchsorted(rows, ends)
        start = 0
        for span, end in zip(self.spans, cuts.tolist(), strict=True):
            if start == end:
                continue
            wanted, held = rows[start:end] - span.first, span.vectors
            if held.dense:
                wanted = wanted[: int(np.searchsorted(wanted, len(held.slots)))]
                amounts = products(held.data[wanted], self.codes)
                best[start : start + len(wanted)] = amounts * (
                    held.scales[wanted].astype(np.float64) * self.scale
                )
                start = end
                continue
            first = np.searchsorted(held.slots, wanted, "left")
            last = np.searchsorted(held.slots, wanted, "right")
            for window in range(int((last - first).max(initial=0))):
                there = np.flatnonzero(first + window < last)
                picked = first[there] + window
                amounts = products(held.data[picked], self.codes)
                amounts *= held.scales[picked].astype(np.float64) * self.scale
                best[start + there] = np.maximum(best[start + there], amounts)
            start = end
        return best


def nominate(
    table: Table, spans: Sequence[Span], query: NDArray[np.float32], passing: NDArray[np.bool_]
) -> NominatedScored:
    """Score a large table.

    The Hamming distance of signs orders rows nearly as the cosine does; the nearest are scored exactly.
    """
    asked = Query.of(query, spans)
    covered = sum(len(span.vectors.slots) for span in spans)
    mean, deviation = spread(_sample(table, asked, covered))
    found = nominated(table, asked, passing)
    return NominatedScored(
        replace(found, mean=mean, deviation=deviation, covered=min(covered, table.memories)), asked
    )


def nominated(table: Table, asked: Query, passing: NDArray[np.bool_]) -> ArrayScored:
    """Score the rows that are nominated and no others, without mean and deviation."""
    few = int(passing.sum()) <= max(FEW * table.rows, NOMINATED)
    rows = np.flatnonzero(passing) if few else _nearest(table, asked, passing)
    best = np.full(table.rows, -np.inf, np.float64)
    best[rows] = asked.exact(rows)
    known = table.live & (best > -np.inf)
    return ArrayScored(
        table=table,
        scores=best,
        known=known,
        passing=rows[known[rows]],
        mean=0.0,
        deviation=0.0,
        covered=len(rows),
    )


def _nearest(table: Table, asked: Query, passing: NDArray[np.bool_]) -> NDArray[np.int64]:
    codes, spans = asked.codes, asked.spans
    wanted = signs(codes[None, :])[:, 0]
    far = np.uint16(np.iinfo(np.uint16).max)
    distance = np.full(table.rows, far, np.uint16)
    for span in spans:
        held = span.vectors
        near = np.zeros(len(held.slots), np.uint16)
        for bits, sign in zip(held.bits, wanted, strict=True):
            near += np.bitwise_count(bits ^ sign)
        if held.dense:
            distance[span.first : span.first + len(near)] = near
            continue
        rows = held.slots.astype(np.int64) + span.first
        if len(rows) > 1 and (rows[1:] == rows[:-1]).any():
            np.minimum.at(distance, rows, near)
        else:
            distance[rows] = near
    distance[~passing] = far
    counted = np.bincount(np.minimum(distance, len(codes) + 1), minlength=len(codes) + 2)[:-1]
    last = int(np.searchsorted(np.cumsum(counted), NOMINATED))
    return np.flatnonzero(distance <= min(last, len(codes)))


def _sample(table: Table, asked: Query, covered: int) -> NDArray[np.float64]:
    step = max(covered // SAMPLED, 1)
    found = []
    for span in asked.spans:
        held = span.vectors
        live = table.live[held.slots[::step].astype(np.int64) + span.first]
        amounts = products(held.data[::step], asked.codes) * held.scales[::step].astype(np.float64)
        found.append(amounts[live] * asked.scale)
    return np.concatenate(found) if found else np.zeros(0, np.float64)
