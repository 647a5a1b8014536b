"""Fuse: list[Ranking] -> list[Candidate], best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.recall.channels.ranking import Ranking

RRF_K: Final = 60
"""The usual constant of reciprocal rank fusion (Cormack et al., 2009)."""
BASE_SHARE: Final = 0.25
"""What the base model weighs beside a backfilled one: measured in bench/LOG.md."""


def fuse(rankings: Sequence[Ranking], fusion: str, weights: Mapping[str, float]) -> list[Candidate]:
    """Merge the channels' finds into one list.

    Candidates are the union of all hits: no channel gates another. ``rrf`` gives ``weight / (60 + rank)``
    for each channel's own hit and reads no score. The others give ``weight * z``, where z is a raw score's
    distance from the channel's mean over all visible memories in its deviations, for every candidate the
    channel can score, its own hit or not.

    Args:
        rankings: The channels' answers.
        fusion: ``auto``, ``rrf`` or ``weighted``.
        weights: Kind of channel to weight.
    """
    ids = sorted({hit.id for ranking in rankings for hit in ranking.hits})
    shares = _shares(rankings, weights)
    parts: dict[str, list[Contribution]] = {memory: [] for memory in ids}
    for ranking in rankings:
        weight = shares[ranking.channel]
        for memory, raw, value in _ranks(ranking) if fusion == "rrf" else _distances(ranking, ids):
            parts[memory].append(Contribution(ranking.channel, raw, value, weight))
    candidates = [Candidate(memory, tuple(parts[memory])) for memory in ids]
    return ordered(candidates)


def ordered(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates best first, ties to the smaller id."""
    return [c for _, _, c in sorted(((-c.score, c.id, c) for c in candidates), key=lambda t: t[:2])]


def _shares(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> dict[str, float]:
    """Split what a kind weighs among its channels: the base model gives most of it to a better one."""
    models = [ranking.channel for ranking in rankings if ranking.kind == "vector"]
    shares = {}
    for ranking in rankings:
        share = 1.0
        if ranking.kind == "vector" and len(models) > 1:
            share = BASE_SHARE if ranking.channel == models[0] else (1.0 - BASE_SHARE) / (len(models) - 1)
        shares[ranking.channel] = weights.get(ranking.kind, 0.0) * share
    return shares


def _ranks(ranking: Ranking) -> list[tuple[str, float, float]]:
    return [(hit.id, hit.score, 1.0 / (RRF_K + rank)) for rank, hit in enumerate(ranking.hits, start=1)]


def _distances(ranking: Ranking, ids: Sequence[str]) -> list[tuple[str, float, float]]:
    mean, deviation = ranking.scored.mean, ranking.scored.deviation
    if deviation == 0.0:
        return [(memory, raw, 0.0) for memory, raw in zip(ids, ranking.scored.of(ids), strict=True) if raw is not None]
    return [
        (memory, raw, (raw - mean) / deviation)
        for memory, raw in zip(ids, ranking.scored.of(ids), strict=True)
        if raw is not None
    ]
