"""Words: Plan -> Ranking by BM25."""

from __future__ import annotations

from dataclasses import dataclass

from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader, WordsScored


@dataclass(frozen=True, slots=True)
class WordsRanking(Ranking):
    """BM25's answer, with what each word gave."""

    words: WordsScored


def words(plan: Plan, reader: Reader) -> WordsRanking:
    """Rank by the query's words."""
    scored = reader.words(plan.groups, plan.where)
    return WordsRanking("bm25", "bm25", tuple(scored.top(plan.depth)), scored, scored)
