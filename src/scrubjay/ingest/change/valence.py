"""Valence: Iterable[Word] -> int. Whether words speak well or ill of a thing, as far as a list of words tells."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from scrubjay.ingest.change.claim import Word
from scrubjay.ingest.change.tables import lines
from scrubjay.text.stems import stem


def valence(words: Iterable[Word]) -> int:
    """Return 1 for words that speak well, -1 for words that speak ill, 0 where they do neither or both.

    A denied word counts as its opposite.
    """
    found = sum(_of(word) for word in words)
    return (found > 0) - (found < 0)


def _of(word: Word) -> int:
    sign = _table().get(word.stem, 0)
    return -sign if word.denied != word.opposite else sign


@cache
def _table() -> dict[str, int]:
    table: dict[str, int] = {}
    for line in lines("valence.txt"):
        sign = 1 if line[0] == "+" else -1
        for word in line[1:].split():
            table.setdefault(stem(word, "en"), sign)
    return table
