"""Weigh: rankings -> what each channel weighs for this query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.recall.channels.ranking import Ranking, Weight
from scrubjay.text.scripts import latin_share

WORDS: Final = 0.3
"""BM25's weight on z-scores. The mean over the dev sets is flat (±.002) from .2 to .35."""
BASE_ALONE: Final = 0.4
"""The base model's weight while no backfilled model takes part."""
PASSAGE: Final = (0.2, 0.6)
"""Weights of the base model and of the backfilled ones for a passage."""
TURN: Final = (0.4, 0.4)
"""The same for a turn of a conversation: MiniLM alone prefers the long answer to the short fact."""
RESPELLED: Final = 0.15
"""Respelled words weigh half of words found as they were asked for."""
WITNESSES: Final = 3
"""Passages of BM25 that a model is held against; 1 to 10 give the same."""
LATIN_ONLY: Final = frozenset({"all-MiniLM-L6-v2"})
"""Models trained on English: their weight is scaled by the share of Latin letters in the query."""


def weigh(rankings: Sequence[Ranking], query: str) -> Mapping[str, Weight]:
    """Return the weight of each channel for one query, by name.

    A model weighs what its agreement with the words allows: the mean of its z-scores over BM25's three best
    passages, between 0 and 1. A model that finds the passages with the query's rare words no better than
    average does not understand the query (another language, an error code, noise vectors) and loses its
    vote; where no word is found at all, the models have it all. Of seventeen features that were tried,
    agreement is the only one that tells, across sets, which channel to trust (bench/LOG.md).
    """
    words = next((ranking for ranking in rankings if ranking.kind == "bm25"), None)
    models = [ranking for ranking in rankings if ranking.kind == "vector"]
    weights: dict[str, Weight] = {}
    for ranking in rankings:
        passage = turn = WORDS if ranking.kind == "bm25" else RESPELLED
        if ranking.kind == "vector":
            passage, turn = _shares(models, ranking)
            trust = agreement(ranking, words)
            if ranking.channel.partition(":")[2] in LATIN_ONLY:
                trust *= latin_share(query)
            passage, turn = passage * trust, turn * trust
        weights[ranking.channel] = Weight(passage, turn)
    return weights


def _shares(models: Sequence[Ranking], ranking: Ranking) -> tuple[float, float]:
    if len(models) == 1:
        return BASE_ALONE, BASE_ALONE
    if ranking is models[0]:
        return PASSAGE[0], TURN[0]
    return PASSAGE[1] / (len(models) - 1), TURN[1] / (len(models) - 1)


def agreement(ranking: Ranking, words: Ranking | None) -> float:
    """Return how far a model shares the words' opinion, 0 to 1; 1 where the words have none."""
    if words is None or not words.hits:
        return 1.0
    scored = ranking.scored
    raws = [raw for raw in scored.of([hit.id for hit in words.hits[:WITNESSES]]) if raw is not None]
    if not raws or scored.deviation == 0.0:
        return 1.0
    mean = math.fsum((raw - scored.mean) / scored.deviation for raw in raws) / len(raws)
    return min(max(mean, 0.0), 1.0)
