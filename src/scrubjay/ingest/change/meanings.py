"""Meanings: two stems -> whether they mean the same, or the opposite, as WordNet has it.

The table is made by ``scripts/wordnet.py`` from WordNet 3.1, whose licence stands beside it. It
is asked only of words that are left over on both sides, where one may stand for the other; what it does not know is
another word.
"""

from __future__ import annotations

from functools import cache

from scrubjay.ingest.change.tables import lines


def alike(one: str, other: str) -> bool:
    """Return whether two stems share a meaning.

    >>> alike("renew", "renew"), alike("assist", "help"), alike("assist", "green")
    (True, True, False)
    """
    first, second = sorted((one, other))
    return one == other or second in _table()[0].get(first, ())


def opposed(one: str, other: str) -> bool:
    """Return whether two stems are opposites.

    >>> opposed("wet", "dri"), opposed("wet", "help")
    (True, False)
    """
    first, second = sorted((one, other))
    return second in _table()[1].get(first, ())


@cache
def _table() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Return the words of one meaning and of the opposite one, each pair under its smaller stem."""
    same: dict[str, frozenset[str]] = {}
    opposite: dict[str, frozenset[str]] = {}
    for line in lines("wordnet.txt"):
        known, _, against = line.partition("|")
        word, *others = known.split()
        same[word] = frozenset(others)
        if against:
            opposite[word] = frozenset(against.split())
    return same, opposite
