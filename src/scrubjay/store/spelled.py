"""Spelled: a vocabulary at hand, a word -> the words of it that are spelled like it, all compared at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.text.grams import EDGE, NEAREST_FLOOR, nearest, trigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spelled(vocabulary: Iterable[str], word: str, limit: int) -> list[tuple[str, float]]:
    """Return the words of a vocabulary, but for the word itself, that `nearest` finds in it.

    Only those are compared that may reach its floor, by how many places of theirs hold a trigram of the word: of two
    words with s trigrams in common, one of which has a of them, the likeness is s / a at most.
    """
    words, grams = list(vocabulary), trigrams(word)
    if not words or not grams:
        return []
    joined = f"{EDGE}{EDGE.join(words)}{EDGE}"
    begins = np.flatnonzero(_points(joined) == ord(EDGE))
    if len(begins) != len(words) + 1:  # a word holds the mark itself, which none of the tokenizer's does
        return list(nearest(word, set(words) - {word}, limit))
    places = np.isin(_threes(joined), np.concatenate([_threes(gram) for gram in grams]))
    shared = np.bincount(np.searchsorted(begins, np.flatnonzero(places), "right") - 1, minlength=len(words))
    near = np.flatnonzero(shared >= NEAREST_FLOOR * len(grams)).tolist()
    return list(nearest(word, (words[at] for at in near if words[at] != word), limit))


def _points(text: str) -> NDArray[np.int64]:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)


def _threes(text: str) -> NDArray[np.int64]:
    """Return each three characters in a row as one number."""
    points = _points(text)
    return (points[:-2] << 42) | (points[1:-1] << 21) | points[2:]
