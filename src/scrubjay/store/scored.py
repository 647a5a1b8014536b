"""Scored: one channel's scores as an array over the visible rows, in the stores that score with numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scrubjay.memory.ranking import MICRO, Hit, rounded


class Rows(Protocol):
    """Visible memories laid end to end, so that a memory is one number everywhere."""

    @property
    def memories(self) -> int:
        """How many rows are memories (N)."""
        ...

    @property
    def columns(self) -> NDArray[np.void]:
        """Structured, shape (rows,): at least ``key`` (the id's number) and ``tier`` (its place in TIERS)."""
        ...

    def ids(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the ids of rows."""
        ...

    def find(self, ids: Sequence[str]) -> list[int | None]:
        """Return the row of each id, None where there is none."""
        ...


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

    table: Rows
    scores: NDArray[np.float64]
    known: NDArray[np.bool_]
    passing: NDArray[np.int64]
    mean: float
    deviation: float
    covered: int
    groups: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] = ()
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
        order = np.lexsort((self.table.columns["key"][rows], self.table.columns["tier"][rows], -micro))[:limit]
        ids = self.table.ids(rows[order])
        return [Hit(memory, score) for memory, score in zip(ids, (micro[order] / MICRO).tolist(), strict=True)]

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of memories by id."""
        return [
            rounded(float(self.scores[row])) if row is not None and self.known[row] else None
            for row in self.table.find(ids)
        ]

    def parts(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what each term group added to a memory."""
        return [tuple(_at(group, row) for group in self.groups) for row in self.table.find(ids)]


def _at(group: tuple[NDArray[np.int64], NDArray[np.float64]], row: int | None) -> float:
    rows, amounts = group
    if row is None:
        return 0.0
    spot = int(np.searchsorted(rows, row))
    return float(amounts[spot]) if spot < len(rows) and rows[spot] == row else 0.0


def spread(scores: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation, zeros when there is nothing."""
    if not len(scores):
        return 0.0, 0.0
    mean = float(scores.mean())
    return mean, float(np.sqrt(np.mean((scores - mean) ** 2)))
