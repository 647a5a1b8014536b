"""Features: (vectors, bags of terms) -> rows whose dot product says how much two memories have in common.

Two halves beside each other. Vectors are centred first: all texts of one person point the same way, and it
is the rest that tells them apart. Words are weighed by tf-idf and hashed with signs into a fixed number of
columns (Weinberger et al., 2009), so that 2,000 memories with 50,000 terms take eight megabytes. Over nine
pairs of set and model the adjusted Rand index at the best cut is .46 with both halves, .44 with the vectors
alone, .43 with the words alone; hashing moves it by .01.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from scrubjay.ingest.topics.leaf import Matrix, unit

WORDS: Final = 0.7
"""Length of the words' half, the vectors' being 1: a third of the similarity. .5 to 1 do about as well."""
COLUMNS: Final = 1024
COMMON: Final = 0.25
"""A term in more than this share of the memories tells none of them apart."""


def features(vectors: Matrix, bags: Sequence[Mapping[str, int]]) -> Matrix:
    """Return unit rows, (n, d + ``COLUMNS``); zeros where a memory has neither a vector nor a shared term.

    Args:
        vectors: Unit rows or zeros, (n, d).
        bags: Terms and counts of each memory, in the same order.
    """
    present = np.any(vectors != 0, axis=1, keepdims=True)
    middle = vectors.sum(axis=0) / max(1, int(present.sum()))
    centred = unit(np.where(present, vectors - middle, 0).astype(np.float32))
    return unit(np.hstack([centred, WORDS * _words(bags)]))


def _words(bags: Sequence[Mapping[str, int]]) -> Matrix:
    """Unit rows of tf-idf, each term in the column and with the sign that its hash gives."""
    held: Counter[str] = Counter()
    for bag in bags:
        held.update(bag.keys())
    most = max(2, COMMON * len(bags))
    places = {
        term: (zlib.crc32(term.encode("utf-8", "surrogatepass")), math.log(len(bags) / times))
        for term, times in held.items()
        if 2 <= times <= most
    }
    rows = np.zeros((len(bags), COLUMNS), dtype=np.float32)
    for row, bag in zip(rows, bags, strict=True):
        for term, times in bag.items():
            if term in places:
                code, idf = places[term]
                row[code % COLUMNS] += (1 + math.log(times)) * idf * (1 if code >> 31 else -1)
    return unit(rows)
