"""Reranking: a model's second look at the first candidates.

The reranker's score joins the fused score as one more part; where it fails or is late, the fused order stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.errors import ProviderError
from scrubjay.frozen import frozen
from scrubjay.models.records import Record
from scrubjay.models.results import Candidate, Contribution
from scrubjay.rerankers.base import Reranker, RerankQuery
from scrubjay.search.fusion import best_first
from scrubjay.search.plan import QueryPlan
from scrubjay.storage.interface import Reader
from scrubjay.text.snippets import best_snippet
from scrubjay.tracing import traced

RERANK_CHANNEL: Final = "rerank"


@frozen
class RerankOptions:
    """A reranker, how many candidates it scores, its seconds, and the weight of one deviation of its scores.

    ``characters`` is the length of the best snippet that it reads of a longer passage; None for whole passages.
    """

    reranker: Reranker
    depth: int
    deadline: float
    weight: float
    characters: int | None = None


@traced("scrubjay.search.rerank")
def rerank_scores(
    candidates: Sequence[Candidate],
    plan: QueryPlan,
    rarity: Sequence[float],
    reader: Reader,
    options: RerankOptions,
) -> tuple[dict[str, Contribution], tuple[str, ...]]:
    """Have the reranker score the first candidates; return each one's part, and failures, one sentence each.

    A part is the weight times the z-score among the given scores, since rerankers have no unit in common.
    """
    query = RerankQuery(plan.query.text, plan.groups, tuple(rarity))
    records = reader.get([candidate.id for candidate in candidates[: options.depth]]) if query.text else {}
    ids = [candidate.id for candidate in candidates[: options.depth] if candidate.id in records]
    if len(ids) < 2:
        return {}, ()
    passages = [rerank_passage(records[memory]) for memory in ids]
    if options.characters is not None:
        weights = dict(zip((group.word for group in plan.groups), rarity, strict=True))
        passages = [
            best_snippet(text, plan.groups, options.characters, weights=weights).text for text in passages
        ]
    try:
        scores = list(options.reranker.scores(query, passages, deadline=options.deadline))
        if len(scores) != len(passages):
            raise ProviderError(
                f"It returned {len(scores)} scores for {len(passages)} passages. The fused order stands."
            )
        if any(score is not None and not math.isfinite(score) for score in scores):
            raise ProviderError("It returned a score that is not finite. The fused order stands.")
    except ProviderError as error:
        return {}, (f"{options.reranker.name} did not rerank: {error}",)
    scored = {memory: score for memory, score in zip(ids, scores, strict=True) if score is not None}
    problems: tuple[str, ...] = ()
    if 0 < len(scored) < len(ids):
        coverage = f"scored {len(scored)} of {len(ids)} passages; the fused order stands for the rest."
        problems = (f"{options.reranker.name} {coverage}",)
    values = standardize(list(scored.values()))
    parts = {
        memory: Contribution(RERANK_CHANNEL, raw, value, options.weight)
        for (memory, raw), value in zip(scored.items(), values, strict=True)
        if value
    }
    return parts, problems


def add_rerank_parts(candidates: Sequence[Candidate], parts: Mapping[str, Contribution]) -> list[Candidate]:
    """Return the candidates with the reranker's parts, best first; one without a part counts as average."""
    return best_first(
        candidate.plus(parts[candidate.id]) if candidate.id in parts else candidate
        for candidate in candidates
    )


def rerank_passage(record: Record) -> str:
    """Return a memory as a reranker reads it: with its title, unless the text begins with that."""
    title = record.title.strip()
    if not title or record.content.lstrip("# \n").startswith(title):
        return record.content
    return f"{title}\n{record.content}"


def standardize(scores: Sequence[float]) -> list[float]:
    """Return z-scores; zeros where all are equal.

    >>> standardize([1.0, 2.0, 3.0])
    [-1.224745, 0.0, 1.224745]
    """
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if not deviation or not math.isfinite(deviation):
        return [0.0] * len(scores)
    return [round((score - mean) / deviation, 6) for score in scores]
