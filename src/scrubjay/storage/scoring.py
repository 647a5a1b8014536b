"""Scoring: BM25, exact integer cosine and spelling similarity, with the same bits in every store.

Only ``+ - * /``, so that Python floats and numpy arrays give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import numpy as np

from scrubjay.frozen import frozen
from scrubjay.models.results import MICRO, Hit, round_score
from scrubjay.storage.table import MemoryTable
from scrubjay.text.tokenizer import NEAREST_FLOOR, WORD_EDGE, nearest_terms, trigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.changes import QuantizedVectors

    Number = TypeVar("Number", float, NDArray[np.float64])

K1: Final = 1.2
"""Saturation of a term's repetition, at the usual value (Robertson and Zaragoza, 2009)."""
B: Final = 0.75
"""Length normalisation, at the usual value."""
MAX_TERM_COUNT: Final = 255
"""Maximum number of times that a term counts: one byte, and at 255 a word earns .995 of its limit."""
EXACT_SHARE: Final = 0.25
"""Share of a query word's weight that only its exact form earns, and no other form such as its stem: of two
memories the one that says the very word is first (bench/LOG.md)."""
BLOCK_ROWS: Final = 1024
"""Rows widened to float32 at a time: 1 MB at 256 dimensions, which stays in the processor's cache."""
BLAS_PRODUCTS: Final = 8192
"""Products that are left to BLAS at once: from 9,216 on OpenBLAS makes threads. Two thirds of the time of numpy's own
sum (bench/LOG.md)."""
MAX_FLOAT32_DIMENSIONS: Final = 1040
"""Maximum number of dimensions whose products of ±127 sum below 2²⁴; above, float64 keeps them exact."""


def idf(memories: int, frequency: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))``: never negative, .69 for a term in half of the memories.

    >>> round(idf(10, 1), 6), round(idf(10, 10), 6)
    (1.99243, 0.04652)
    """
    return math.log(1.0 + (memories - frequency + 0.5) / (frequency + 0.5))


def saturation(tf: Number, length: Number, average: float) -> Number:
    """Return the share of its idf that a term earns that occurs ``tf`` times among ``length`` words."""
    return tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * (length / average)))


def quantize(row: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
    """Return a vector as whole numbers within ±127 (in float32) and its scale.

    Products of such rows are exact in float32 up to 1,040 dimensions (127² · d < 2²⁴), so a matrix product gives the
    same number on every machine and in every order of summation.
    """
    peak = float(np.abs(row).max(initial=0.0))
    if peak == 0.0:
        return np.zeros(row.shape, dtype=np.float32), 0.0
    scale = float(np.float32(peak / 127.0))
    return np.rint(row / np.float32(scale)).clip(-127, 127).astype(np.float32), scale


def dot_products(data: NDArray[np.int8], codes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the exact whole-number product of each row with the query's codes."""
    dtype = np.dtype(np.float32 if len(codes) <= MAX_FLOAT32_DIMENSIONS else np.float64)
    query = codes.astype(dtype)
    products = np.empty(len(data), np.float64)
    rows_at_once = max(1, BLAS_PRODUCTS // max(1, len(codes)))
    # One buffer for all blocks: allocating a fresh megabyte each time costs as much as the sums.
    widened = np.empty((min(BLOCK_ROWS, len(data)), len(codes)), dtype)
    for first in range(0, len(data), BLOCK_ROWS):
        rows = data[first : first + BLOCK_ROWS]
        block = widened[: len(rows)]
        np.copyto(block, rows)
        # A few rows at once: BLAS would share more among threads, which on a busy machine cost ten times the sum.
        batches = len(block) // rows_at_once
        batched, sums = batches * rows_at_once, products[first : first + BLOCK_ROWS]
        sums[:batched] = np.matmul(block[:batched].reshape(batches, rows_at_once, len(codes)), query).ravel()
        if batched < len(block):
            sums[batched:] = np.einsum("ij,j->i", block[batched:], query)
    return products


TermMatches: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"
"""Rows that hold a term, ascending, and how often each does."""
GroupScores: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.float64]]"
"""Rows that hold any form of a term group, ascending, and what it adds to the score of each."""
NO_MATCHES: Final[TermMatches] = (np.zeros(0, np.int64), np.zeros(0, np.float64))


@frozen
class ArrayScores:
    """Scores of the rows of a table.

    Attributes:
        scores: float64, shape (rows,); undefined for rows that are not covered.
        known: Rows that the channel can score.
        passing: Rows that pass the filter and have evidence.
        groups: What each term group added: (rows ascending, amounts).
        frequencies: df of each group.
        mean: Mean score over the covered.
        deviation: Standard deviation over the covered.
        covered: How many rows are covered.
    """

    table: MemoryTable
    scores: NDArray[np.float64]
    known: NDArray[np.bool_]
    passing: NDArray[np.int64]
    mean: float
    deviation: float
    covered: int
    groups: tuple[GroupScores, ...] = ()
    frequencies: tuple[int, ...] = field(default=())

    @property
    def memories(self) -> int:
        return self.table.memories

    def top(self, limit: int) -> list[Hit]:
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

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        rows = self.table.find(ids)
        if not rows or not len(self.scores):
            return [None] * len(rows)
        places = np.array([0 if row is None else row for row in rows], np.int64)
        scores = (np.rint(self.scores[places] * MICRO) / MICRO).tolist()
        return [
            score if row is not None and known else None
            for row, score, known in zip(rows, scores, self.known[places].tolist(), strict=True)
        ]

    def group_scores(self, ids: Sequence[str]) -> list[tuple[float, ...]]:
        rows = np.array([-1 if row is None else row for row in self.table.find(ids)], np.int64)
        if not self.groups:
            return [()] * len(rows)
        return list(zip(*(_scores_at(group, rows) for group in self.groups), strict=True))


@frozen
class NominatedScores:
    """Exact scores of the nominated rows; any other row is scored when it is asked for.

    Attributes:
        nominated: Their scores, with mean and deviation of a sample.
        exact: Scores rows (ascending) exactly, ``-inf`` where there is no vector.
        score_all: Scores all rows, for a limit above the number of nominated rows; None where that is not needed.
    """

    nominated: ArrayScores
    exact: Callable[[NDArray[np.int64]], NDArray[np.float64]]
    score_all: Callable[[], ArrayScores] | None = None

    @property
    def mean(self) -> float:
        return self.nominated.mean

    @property
    def deviation(self) -> float:
        return self.nominated.deviation

    @property
    def covered(self) -> int:
        return self.nominated.covered

    def top(self, limit: int) -> list[Hit]:
        if self.score_all is not None and limit > len(self.nominated.passing):
            return self.score_all().top(limit)
        return self.nominated.top(limit)

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        rows = self.nominated.table.find(ids)
        known = np.array(sorted({row for row in rows if row is not None}), np.int64)
        exact = self.nominated.scores[known]
        new = ~self.nominated.known[known]
        exact[new] = self.exact(known[new])
        scores = dict(zip(known.tolist(), exact.tolist(), strict=True))
        return [
            round_score(scores[row]) if row is not None and scores[row] > -np.inf else None for row in rows
        ]


def _scores_at(group: GroupScores, rows: NDArray[np.int64]) -> list[float]:
    """Return what a term group added to rows; -1 is no row."""
    group_rows, amounts = group
    if not len(group_rows):
        return [0.0] * len(rows)
    positions = np.minimum(np.searchsorted(group_rows, rows), len(group_rows) - 1)
    scores: list[float] = np.where(group_rows[positions] == rows, amounts[positions], 0.0).tolist()
    return scores


def mean_and_deviation(scores: NDArray[np.float64]) -> tuple[float, float]:
    if not len(scores):
        return 0.0, 0.0
    mean = float(scores.mean())
    return mean, float(np.sqrt(np.mean((scores - mean) ** 2)))


def union_matches(matches: Sequence[TermMatches]) -> TermMatches:
    """Return the rows that hold any of several terms, with the largest of their frequencies."""
    matches = [pair for pair in matches if len(pair[0])]
    if not matches:
        return NO_MATCHES
    if len(matches) == 1:
        return matches[0]
    rows = np.concatenate([pair[0] for pair in matches])
    counts = np.concatenate([pair[1] for pair in matches])
    order = np.argsort(rows, kind="stable")
    rows, counts = rows[order], counts[order]
    first = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
    return rows[first], np.maximum.reduceat(counts, first)


def score_group(table: MemoryTable, forms: Sequence[TermMatches]) -> GroupScores:
    """Return what a term group adds to the score of each of its rows; the first form is the word itself."""
    matches, exact = union_matches(forms), forms[0] if forms else NO_MATCHES
    rows, amounts = matches[0], _bm25(table, matches) * (1.0 - EXACT_SHARE)
    positions = slice(None) if len(exact[0]) == len(rows) else np.searchsorted(rows, exact[0])
    amounts[positions] += _bm25(table, exact) * EXACT_SHARE
    return rows, amounts


def score_words(table: MemoryTable, groups: Sequence[GroupScores], passing: NDArray[np.bool_]) -> ArrayScores:
    """Score every row by BM25; groups are added in their order, as the reference adds them."""
    scores = np.zeros(table.rows, np.float64)
    for rows, amounts in groups:
        scores[rows] += amounts
    # Where every row is live, they need not be copied.
    mean, deviation = mean_and_deviation(scores if table.memories == table.rows else scores[table.live])
    return ArrayScores(
        table=table,
        scores=scores,
        known=table.live,
        passing=np.flatnonzero(passing & (scores > 0)),
        mean=mean,
        deviation=deviation,
        covered=table.memories,
        groups=tuple(groups),
        frequencies=tuple(len(rows) for rows, _ in groups),
    )


def _bm25(table: MemoryTable, matches: TermMatches) -> NDArray[np.float64]:
    rows, counts = matches
    return idf(table.memories, len(rows)) * saturation(counts, table.lengths[rows], table.average)


def score_vectors(table: MemoryTable, best: NDArray[np.float64], passing: NDArray[np.bool_]) -> ArrayScores:
    """Return a model's scores; ``best`` is the best window's cosine of each row, ``-inf`` where it has none."""
    known = table.live & (best > -np.inf)
    mean, deviation = mean_and_deviation(best[known])
    return ArrayScores(
        table=table,
        scores=best,
        known=known,
        passing=np.flatnonzero(known & passing),
        mean=mean,
        deviation=deviation,
        covered=int(known.sum()),
    )


def similar_words(vocabulary: Iterable[str], word: str, limit: int) -> list[tuple[str, float]]:
    """Return the words of a vocabulary, except the word itself, that `nearest_terms` finds in it.

    Compares only words that may reach its floor: two words that share s trigrams, of which one has a, are s / a similar
    at most.
    """
    words, grams = list(vocabulary), trigrams(word)
    if not words or not grams:
        return []
    joined = f"{WORD_EDGE}{WORD_EDGE.join(words)}{WORD_EDGE}"
    begins = np.flatnonzero(_code_points(joined) == ord(WORD_EDGE))
    if len(begins) != len(words) + 1:  # a word contains the separator, which no word of the tokenizer does
        return list(nearest_terms(word, set(words) - {word}, limit))
    places = np.isin(_trigram_codes(joined), np.concatenate([_trigram_codes(gram) for gram in grams]))
    shared = np.bincount(np.searchsorted(begins, np.flatnonzero(places), "right") - 1, minlength=len(words))
    near = np.flatnonzero(shared >= NEAREST_FLOOR * len(grams)).tolist()
    return list(nearest_terms(word, (words[position] for position in near if words[position] != word), limit))


def _code_points(text: str) -> NDArray[np.int64]:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)


def _trigram_codes(text: str) -> NDArray[np.int64]:
    points = _code_points(text)
    return (points[:-2] << 42) | (points[1:-1] << 21) | points[2:]


def mean_directions(codes: Sequence[QuantizedVectors | None], dimensions: int) -> NDArray[np.float32]:
    """Return the direction of each memory's windows together, as unit rows; zeros for one without vectors."""
    rows = np.zeros((len(codes), dimensions), np.float32)
    for place, windows in enumerate(codes):
        if windows is not None:
            rows[place] = (windows.data.astype(np.float32) * windows.scales[:, None]).sum(0)
    return unit_rows(rows)


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows at unit length; rows of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1), dtype=np.float32)
