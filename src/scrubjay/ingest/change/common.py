"""Ranks: () -> dict[str, int]. The common words of English and how common each is, 0 for the commonest."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

_FIRST: Final = 1_990
"""Lines of the vocabulary before its first whole word."""


@cache
def ranks() -> dict[str, int]:
    """Return the words of the vocabulary that comes with MiniLM, by their frequency in books and Wikipedia."""
    listed = resources.files("scrubjay.providers").joinpath("data", "bert-base-uncased-vocab.txt")
    lines = listed.read_text(encoding="utf-8").splitlines()[_FIRST:]
    return {word: place for place, word in enumerate(lines)}
