"""Word frequency: the rank of an English word in MiniLM's vocabulary (bert-base-uncased, Apache-2.0)."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

UNKNOWN_RANK: Final = 28_000
"""Rank of a word that is not in the table."""

_FIRST: Final = 1_990
"""Lines before the first whole word: marks and single characters."""
_ZIPF: Final = 0.1
"""A word of rank r is about a tenth of 1/r of all words (Zipf)."""
_SMALLEST: Final = 50
"""Ranks below are taken for this one: the first words are function words."""


def word_rank(word: str) -> int:
    """Return the rank of a folded word, or of its plural or singular where that is commoner."""
    if not word.isalpha():
        return UNKNOWN_RANK
    ranks = word_ranks()
    other = word[:-1] if word.endswith("s") else word + "s"
    return max(_SMALLEST, min(ranks.get(word, UNKNOWN_RANK), ranks.get(other, UNKNOWN_RANK)))


def keyness(word: str, times: int, words: int) -> float:
    """Return how many times as often as in English a word occurs in a text of so many words."""
    return times / max(1, words) * word_rank(word) / _ZIPF


@cache
def word_ranks() -> dict[str, int]:
    vocabulary = resources.files("scrubjay.embeddings").joinpath("data", "bert-base-uncased-vocab.txt")
    lines = vocabulary.read_text(encoding="utf-8").splitlines()[_FIRST:]
    return {word: place for place, word in enumerate(lines)}
