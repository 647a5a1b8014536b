"""Vocabulary: the words that a scope's memories hold, with their numbers, and those that are spelled like a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.store.postgres.connect import unescaped
from scrubjay.store.postgres.scores import SCOPE
from scrubjay.text.grams import EDGE, NEAREST_FLOOR, nearest, trigrams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

WORD_BYTES = 120
"""What a word takes with its number, about."""


def some(db: Database, own: Own, words: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those of these words that the tenant knows."""
    found = db.execute(
        "SELECT text, id FROM term WHERE tenant = %s AND text = ANY(%s)", (own[0], list(words))
    ).fetchall()
    return dict(found)


def used(db: Database, own: Own) -> list[int]:
    """Return the numbers of the words that visible memories hold."""
    ((found,),) = db.execute(
        "SELECT array_agg(DISTINCT t.term) FROM memory m CROSS JOIN LATERAL unnest(m.terms) AS t (term) "
        f"WHERE {SCOPE}",
        own,
    ).fetchall()
    return found or []


def whole(db: Database, own: Own, numbers: Sequence[int]) -> dict[str, int]:
    """Return the words of these numbers; laid end to end, as a row a word takes the client ten times as long."""
    row = db.execute(
        "SELECT string_agg(convert_to(text, 'UTF8'), %s ORDER BY id), array_agg(id ORDER BY id) FROM term "
        "WHERE tenant = %s AND id = ANY(%s::integer[])",
        (b"\0", own[0], list(numbers)),
    ).fetchone()
    if row is None or row[0] is None:
        return {}
    return dict(zip(map(unescaped, bytes(row[0]).decode().split("\0")), row[1], strict=True))


def alike(vocabulary: Mapping[str, int], word: str, limit: int) -> list[tuple[str, float]]:
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
        return list(nearest(word, vocabulary.keys() - {word}, limit))
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
