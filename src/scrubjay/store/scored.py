"""Scored: one channel's scores as an array over the visible rows, in the stores that score with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from scrubjay.memory.ranking import MICRO, Hit
from scrubjay.store.score import EXACT, idf, saturation
from scrubjay.store.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

Found: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"
"""Rows that hold a term, ascending, each once, and how often."""
Weighed: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"
"""Rows that hold any form of a term group, ascending, and what it adds to the score of each."""
NOTHING: Final[Found] = (np.zeros(0, np.int64), np.zeros(0, np.float64))


@dataclass(frozen=True, slots=True)
class ArrayScored:
    """Scores of the rows of a table.

    Attributes:
        table: The rows.
        scores: float64, shape (rows,); rows that are not covered hold anything.
        known: Rows that the channel can score.
        passing: Rows that pass the filter and have evidence.
        groups: What each term group added: (rows ascending, amounts).
        frequencies: df of each group.
        mean: Mean score over the covered.
        deviation: Standard deviation over the covered.
        covered: How many rows are covered.
    """

    table: Table
    scores: NDArray[np.float64]
    known: NDArray[np.bool_]
    passing: NDArray[np.int64]
    mean: float
    deviation: float
    covered: int
    groups: tuple[Weighed, ...] = ()
    frequencies: tuple[int, ...] = field(default=())

    @property
    def memories(self) -> int:
        """How many memories are visible."""
        return self.table.memories

    def top(self, limit: int) -> list[Hit]:
        """Return the best rows that pass, ties to the smaller id."""
        rows = self.passing
        micro = np.rint(self.scores[rows] * MICRO)
        if len(rows) > limit > 0:
            least = np.partition(micro, len(rows) - limit)[len(rows) - limit]
            chosen = micro >= least
            rows, micro = rows[chosen], micro[chosen]
        order = np.lexsort((self.table.columns["key"][rows], self.table.columns["tier"][rows], -micro))[
            :limit
        ]
        ids = self.table.ids(rows[order])
        return [
            Hit(memory, score) for memory, score in zip(ids, (micro[order] / MICRO).tolist(), strict=True)
        ]

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id."""
        rows = self.table.find(ids)
        if not rows or not len(self.scores):
            return [None] * len(rows)
        places = np.array([0 if row is None else row for row in rows], np.int64)
        scores = (np.rint(self.scores[places] * MICRO) / MICRO).tolist()
        return [
            score if row is not None and known else None
            for row, score, known in zip(rows, scores, self.known[places].tolist(), strict=True)
        ]

    def parts(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what each term group added to a memory."""
        rows = np.array([-1 if row is None else row for row in self.table.find(ids)], np.int64)
        if not self.groups:
            return [()] * len(rows)
        return list(zip(*(_at(group, rows) for group in self.groups), strict=True))


def _at(group: Weighed, rows: NDArray[np.int64]) -> list[float]:
    """Return what a term group added to rows, 0 to those that hold none of it; -1 is no row."""
    held, amounts = group
    if not len(held):
        return [0.0] * len(rows)
    spots = np.minimum(np.searchsorted(held, rows), len(held) - 1)
    gave: list[float] = np.where(held[spots] == rows, amounts[spots], 0.0).tolist()
    return gave


def spread(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation, zeros when there is nothing."""
    if not len(scores):
        return 0.0, 0.0
    mean = float(scores.mean())
    return mean, float(np.sqrt(np.mean((scores - mean) ** 2)))


def united(found: Sequence[Found]) -> Found:
    """Return the rows that hold any of several terms, with the largest of their frequencies."""
    found = [pair for pair in found if len(pair[0])]
    if not found:
        return NOTHING
    if len(found) == 1:
        return found[0]
    rows = np.concatenate([pair[0] for pair in found])
    counts = np.concatenate([pair[1] for pair in found])
    order = np.argsort(rows, kind="stable")
    rows, counts = rows[order], counts[order]
    first = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    return rows[first], np.maximum.reduceat(counts, first)


def weighed(table: Table, forms: Sequence[Found]) -> Weighed:
    """Return what a term group adds to the score of each row that holds it.

    Args:
        table: The rows.
        forms: The rows that hold each of its forms, the word itself first; nothing where there is no form.
    """
    whole, exact = united(forms), forms[0] if forms else NOTHING
    rows, amounts = whole[0], _bm25(table, whole) * (1.0 - EXACT)
    spots = slice(None) if len(exact[0]) == len(rows) else np.searchsorted(rows, exact[0])
    amounts[spots] += _bm25(table, exact) * EXACT
    return rows, amounts


def by_words(table: Table, found: Sequence[Weighed], passing: NDArray[np.bool_]) -> ArrayScored:
    """Score every row by BM25; groups are added in their order, as the reference adds them.

    Args:
        table: The rows.
        found: What each term group adds.
        passing: Which rows pass the filter.
    """
    scores = np.zeros(table.rows, np.float64)
    for rows, amounts in found:
        scores[rows] += amounts
    mean, deviation = spread(scores[table.live])
    return ArrayScored(
        table=table,
        scores=scores,
        known=table.live,
        passing=np.flatnonzero(passing & (scores > 0)),
        mean=mean,
        deviation=deviation,
        covered=table.memories,
        groups=tuple(found),
        frequencies=tuple(len(rows) for rows, _ in found),
    )


def _bm25(table: Table, found: Found) -> NDArray[np.float64]:
    rows, counts = found
    return idf(table.memories, len(rows)) * saturation(counts, table.lengths[rows], table.average)


def by_vectors(table: Table, best: NDArray[np.float64], passing: NDArray[np.bool_]) -> ArrayScored:
    """Return the scores of a model.

    Args:
        table: The rows.
        best: The best window's cosine of each row, ``-inf`` where it has none.
        passing: Which rows pass the filter.
    """
    known = table.live & (best > -np.inf)
    mean, deviation = spread(best[known])
    return ArrayScored(
        table=table,
        scores=best,
        known=known,
        passing=np.flatnonzero(known & passing),
        mean=mean,
        deviation=deviation,
        covered=int(known.sum()),
    )
