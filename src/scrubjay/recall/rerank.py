"""Rerank: candidates -> candidates, with what a reranker says of the first of them.

A reranker looks at question and passage together, which costs too much for all that is stored. What it says joins the
score as one more part and replaces nothing. Where it fails or is late, nothing is added: the fused order stands, and
the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scrubjay.errors import ProviderError
from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.records import Record
from scrubjay.providers.rerankers.port import Question, Reranker
from scrubjay.store.base import Reader

CHANNEL = "rerank"
"""The name of its part in a score."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """How a search is reranked.

    Attributes:
        reranker: Who looks again.
        depth: At how many, from the best.
        deadline: Seconds that it may take.
        weight: What a deviation of its scores weighs.
    """

    reranker: Reranker
    depth: int
    deadline: float
    weight: float


@dataclass(frozen=True, slots=True)
class Looked:
    """What a reranker said.

    Attributes:
        parts: Memory to what is added to its score.
        partial: What had to be done without, one sentence each.
    """

    parts: Mapping[str, Contribution]
    partial: tuple[str, ...] = ()


NOT_LOOKED = Looked({})
"""Nobody looked again."""


def look(candidates: Sequence[Candidate], question: Question, reader: Reader, wanted: Reranking) -> Looked:
    """Ask the reranker about the first candidates.

    What is added is the weight times z, the distance of a score from the mean of those given, in their deviations: the
    scores of rerankers have no unit in common.

    Args:
        candidates: Best first.
        question: What is asked.
        reader: Where their texts are read.
        wanted: Who looks again, at how many, for how long, and what it weighs.
    """
    records = reader.get([one.id for one in candidates[: wanted.depth]]) if question.text else {}
    looked = [one.id for one in candidates[: wanted.depth] if one.id in records]
    if len(looked) < 2:
        return NOT_LOOKED
    passages = [passage(records[memory]) for memory in looked]
    try:
        scores = _sound(wanted.reranker.scores(question, passages, deadline=wanted.deadline), len(passages))
    except ProviderError as error:
        return Looked({}, (f"{wanted.reranker.name} did not rerank: {error}",))
    said = {memory: score for memory, score in zip(looked, scores, strict=True) if score is not None}
    values = standard(list(said.values()))
    return Looked(
        {
            memory: Contribution(CHANNEL, raw, value, wanted.weight)
            for (memory, raw), value in zip(said.items(), values, strict=True)
            if value
        }
    )


def rerank(candidates: Sequence[Candidate], parts: Mapping[str, Contribution]) -> list[Candidate]:
    """Add to candidates what the reranker says of them; their order is for the caller to make.

    A candidate that was not looked at, or has no score, stays as it is, which is being as good as the average.
    """
    return [
        replace(one, contributions=(*one.contributions, parts[one.id])) if one.id in parts else one
        for one in candidates
    ]


def passage(record: Record) -> str:
    """Return what a reranker reads of a memory: its title, where it has one that the text does not begin with."""
    title = record.title.strip()
    if not title or record.content.lstrip("# \n").startswith(title):
        return record.content
    return f"{title}\n{record.content}"


def standard(scores: Sequence[float]) -> list[float]:
    """Return each score's distance from their mean, in deviations; zeros where all are equal.

    >>> standard([1.0, 2.0, 3.0])
    [-1.224745, 0.0, 1.224745]
    """
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if not deviation or not math.isfinite(deviation):
        return [0.0] * len(scores)
    return [round((score - mean) / deviation, 6) for score in scores]


def _sound(scores: Sequence[float | None], expected: int) -> list[float | None]:
    """The scores, if they are what the port promises, whoever wrote the reranker.

    Raises:
        ProviderError: They are not one finite number or None for each passage.
    """
    found = list(scores)
    if len(found) != expected:
        raise ProviderError(
            f"It scored {expected} passages with {len(found)} numbers. The fused order stands."
        )
    if any(score is not None and not math.isfinite(score) for score in found):
        raise ProviderError("It gave a score that is not finite. The fused order stands.")
    return found
