"""Features: (vectors, bags) -> rows whose dot product says how much two memories have in common.

Two halves beside each other. Vectors are centred first: all texts of one person point the same way, and it
is the rest that tells them apart. Words are weighed by tf-idf and hashed with signs into a fixed number of
columns (Weinberger et al., 2009), so that 2,000 memories with 50,000 terms take eight megabytes. Over nine
pairs of set and model the adjusted Rand index at the best cut is .46 with both halves, .44 with the vectors
alone, .43 with the words alone; hashing moves it by .01.
"""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np

from scrubjay.ingest.directions import unit
from scrubjay.ingest.topics.bags import Bags
from scrubjay.ingest.topics.leaf import Matrix

WORDS: Final = 0.7
"""Length of the words' half, the vectors' being 1: a third of the similarity. .5 to 1 do about as well."""
COLUMNS: Final = 1024
COMMON: Final = 0.25
"""A term in more than this share of the memories tells none of them apart."""


def features(vectors: Matrix, bags: Bags) -> Matrix:
    """Return unit rows, (n, d + ``COLUMNS``); zeros where a memory has neither a vector nor a shared term.

    Args:
        vectors: Unit rows or zeros, (n, d).
        bags: The terms of each memory, in the same order.
    """
    present = np.any(vectors != 0, axis=1, keepdims=True)
    middle = vectors.sum(axis=0) / max(1, int(present.sum()))
    centred = unit(np.where(present, vectors - middle, 0).astype(np.float32))
    return unit(np.hstack([centred, WORDS * _words(bags)]))


def _words(bags: Bags) -> Matrix:
    """Unit rows of tf-idf, each term in the column and with the sign that its hash gives."""
    held = bags.held()
    kept = np.flatnonzero((held >= 2) & (held <= max(2, COMMON * bags.size)))
    codes = np.zeros(len(bags.words), dtype=np.int64)
    codes[kept] = [zlib.crc32(bags.words[term].encode("utf-8", "surrogatepass")) for term in kept.tolist()]
    weights = np.zeros(len(bags.words))
    weights[kept] = np.log(bags.size / held[kept]) * np.where(codes[kept] >> 31, 1, -1)
    places = bags.rows * COLUMNS + codes[bags.terms] % COLUMNS
    values = (1 + np.log(bags.counts)) * weights[bags.terms]
    sums = np.bincount(places, values, minlength=bags.size * COLUMNS)
    return unit(sums.reshape(bags.size, COLUMNS).astype(np.float32))
