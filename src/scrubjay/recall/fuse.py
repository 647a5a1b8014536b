"""Fuse: list[Ranking] -> list[Candidate], best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.recall.channels.ranking import Ranking

RRF_K: Final = 60
"""The usual constant of reciprocal rank fusion (Cormack et al., 2009)."""


def fuse(
    rankings: Sequence[Ranking], fusion: str, weights: Mapping[str, float], extra: Sequence[str] = ()
) -> list[Candidate]:
    """Merge the channels' finds into one list.

    Candidates are the union of all hits: no channel gates another. ``rrf`` gives ``weight / (60 + rank)``
    for each channel's own hit and reads no score. The others give ``weight * z``, where z is a raw score's
    distance from the channel's mean over all visible memories in its deviations, for every candidate that
    the channel can score, its own hit or not.

    Args:
        rankings: The channels' answers.
        fusion: ``auto``, ``rrf`` or ``weighted``.
        weights: Channel to weight.
        extra: Memories to score beside the hits.
    """
    ids = sorted({hit.id for ranking in rankings for hit in ranking.hits} | set(extra))
    parts: dict[str, list[Contribution]] = {memory: [] for memory in ids}
    for ranking in rankings:
        weight = weights.get(ranking.channel, 0.0)
        for memory, raw, value in _ranks(ranking) if fusion == "rrf" else _distances(ranking, ids):
            parts[memory].append(Contribution(ranking.channel, raw, value, weight))
    return ordered([Candidate(memory, tuple(found)) for memory, found in parts.items()])


def ordered(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates best first, ties to the smaller id."""
    return [c for _, _, c in sorted(((-c.score, c.id, c) for c in candidates), key=lambda t: t[:2])]


def shared(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> Mapping[str, float]:
    """Return fixed weights by channel: what a kind weighs is split evenly among its channels."""
    kinds = [ranking.kind for ranking in rankings]
    return {r.channel: weights.get(r.kind, 0.0) / kinds.count(r.kind) for r in rankings}


def _ranks(ranking: Ranking) -> list[tuple[str, float, float]]:
    return [(hit.id, hit.score, 1.0 / (RRF_K + rank)) for rank, hit in enumerate(ranking.hits, start=1)]


def _distances(ranking: Ranking, ids: Sequence[str]) -> list[tuple[str, float, float]]:
    mean, deviation = ranking.scored.mean, ranking.scored.deviation
    return [
        (memory, raw, (raw - mean) / deviation if deviation else 0.0)
        for memory, raw in zip(ids, ranking.scored.of(ids), strict=True)
        if raw is not None
    ]
