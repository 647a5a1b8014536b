"""Words: Plan -> Ranking by BM25."""

from __future__ import annotations

from scrubjay.recall.channels.ranking import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader


def words(plan: Plan, reader: Reader) -> WordsRanking:
    """Rank by the query's words."""
    scored = reader.words(plan.groups, plan.where)
    return WordsRanking("bm25", "bm25", tuple(scored.top(plan.depth)), scored, scored, plan.groups)
