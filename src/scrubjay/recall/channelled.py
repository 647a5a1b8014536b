"""Channelled: Plan -> what every channel says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.recall.channels.ngrams import ngrams
from scrubjay.recall.channels.ranking import Ranking, WordsRanking
from scrubjay.recall.channels.vectors import vectors
from scrubjay.recall.channels.words import words
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader
from scrubjay.store.score import idf

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


@dataclass(frozen=True, slots=True)
class Heard:
    """What the channels said."""

    rankings: tuple[Ranking, ...]
    words: WordsRanking | None
    partial: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def rarity(self) -> list[float]:
        """The idf of each of the query's words."""
        if self.words is None:
            return []
        counted = self.words.words
        return [idf(counted.memories, frequency) for frequency in counted.frequencies]


def channelled(made: Plan, reader: Reader, embedders: Sequence[Embedder]) -> Heard:
    """Put a query to the channels that take part."""
    rankings: list[Ranking] = []
    partial = made.query.partial
    notes: tuple[str, ...] = ()
    by_words = words(made, reader) if made.groups else None
    if by_words is not None and "bm25" in made.channels:
        rankings.append(by_words)
    if "vector" in made.channels:
        by_vectors, without, notes = vectors(made, reader, embedders)
        partial += without
        rankings += by_vectors
    if by_words is not None and "ngram" in made.channels:
        respelled, respellings = ngrams(made, reader, by_words.words.frequencies)
        notes += respellings
        rankings += [respelled] if respelled is not None else []
    return Heard(tuple(rankings), by_words, partial, notes)


def deeper(said: Heard, depth: int) -> Heard:
    """Return what the channels said with more of their hits."""
    rankings = tuple(replace(one, hits=tuple(one.scored.top(depth))) for one in said.rankings)
    return replace(said, rankings=rankings)
