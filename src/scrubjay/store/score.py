"""Score: the one arithmetic of words and vectors, for every store and for the reference.

Written with ``+ - * /`` alone, so that a Python float and a numpy array give the same bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Number = TypeVar("Number", float, NDArray[np.float64])

K1: Final = 1.2
"""Where a term's repetition stops counting (Robertson and Zaragoza, 2009): their usual value."""
B: Final = 0.75
"""How much a long memory is held against it: the usual value."""
MOST_COUNTED: Final = 255
"""Times that a term counts at most: one byte, and at 255 a word earns .995 of all it ever can."""
EXACT: Final = 0.25
"""Share of a query word's weight that only its exact form earns, and no other form such as its stem: of two
memories the one that says the very word is first (bench/LOG.md)."""
BLOCK: Final = 1024
"""Rows widened to float32 at a time: 1 MB at 256 dimensions, which stays in the processor's cache."""
TOGETHER: Final = 8192
"""Products that are left to BLAS at once: from 9,216 on OpenBLAS makes threads. Two thirds of the time of numpy's own
sum (bench/LOG.md)."""
EXACT_IN_FLOAT32: Final = 1040
"""Most dimensions whose products of ±127 sum below 2²⁴: above, float64 keeps them whole."""


def idf(memories: int, frequency: int) -> float:
    """Return the weight of a term that ``frequency`` of ``memories`` visible memories hold.

    ``ln(1 + (N - df + .5) / (df + .5))``: never negative, .69 for a term in half of them.

    >>> round(idf(10, 1), 6), round(idf(10, 10), 6)
    (1.99243, 0.04652)
    """
    return math.log(1.0 + (memories - frequency + 0.5) / (frequency + 0.5))


def saturation(tf: Number, length: Number, average: float) -> Number:
    """Return how much of its idf a term earns that stands ``tf`` times among ``length`` words."""
    return tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * (length / average)))


def quantised(row: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
    """Return a vector as whole numbers within ±127 (kept in float32) and its scale.

    Products of such rows are exact in float32 up to 1,040 dimensions (127² · d < 2²⁴), so a matrix
    product gives the same whole number on every machine and in every order of summation.
    """
    import numpy as np

    peak = float(np.abs(row).max(initial=0.0))
    if peak == 0.0:
        return np.zeros(row.shape, dtype=np.float32), 0.0
    scale = float(np.float32(peak / 127.0))
    return np.rint(row / np.float32(scale)).clip(-127, 127).astype(np.float32), scale


def products(data: NDArray[np.int8], codes: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the exact whole-number product of each row with the query's codes."""
    import numpy as np

    kind = np.dtype(np.float32 if len(codes) <= EXACT_IN_FLOAT32 else np.float64)
    wide = codes.astype(kind)
    found = np.empty(len(data), np.float64)
    together = max(1, TOGETHER // max(1, len(codes)))
    # One place for all blocks: a fresh megabyte each time is handed out by the system page by page, which costs as much
    # as the sums.
    widened = np.empty((min(BLOCK, len(data)), len(codes)), kind)
    for first in range(0, len(data), BLOCK):
        rows = data[first : first + BLOCK]
        part = widened[: len(rows)]
        np.copyto(part, rows)
        # A few rows at once: more would be shared among BLAS's threads, which spin against each other on a busy
        # machine at ten times the cost of the sum.
        times = len(part) // together
        whole, sums = times * together, found[first : first + BLOCK]
        sums[:whole] = np.matmul(part[:whole].reshape(times, together, len(codes)), wide).ravel()
        if whole < len(part):
            sums[whole:] = np.einsum("ij,j->i", part[whole:], wide)
    return found
