"""Fuse: list[Ranking] -> list[Candidate], best first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.recall.channels.ranking import Ranking, Weight
from scrubjay.recall.slate import Part, as_candidates, slate

RRF_K: Final = 60
"""The usual constant of reciprocal rank fusion (Cormack et al., 2009)."""
FORETOLD: Final = 0.55
"""Correlation of the two bundled models' z-scores (.52 to .72 on five sets): what the base model foretells of
one that has not embedded a memory yet. Without it, waiting memories sink: with half of them waiting, R@5 is
.708, and .766 without the model at all."""


def candidates(rankings: Sequence[Ranking]) -> list[str]:
    """Return the union of all channels' hits: no channel gates another."""
    return sorted({hit.id for ranking in rankings for hit in ranking.hits})


def fuse(
    rankings: Sequence[Ranking],
    ids: Sequence[str],
    weights: Mapping[str, Weight],
    turns: Collection[str] = (),
) -> list[Candidate]:
    """Add up, for each memory, every channel's weight times z.

    z is a raw score's distance from the channel's mean over all visible memories, in its deviations; every
    channel scores every memory it can, its own hit or not. Where a backfilled model has not embedded a memory
    yet, the base model's z stands in, as far as the two agree on the rest.

    Args:
        rankings: The channels' answers.
        ids: Memories to score.
        weights: Channel to weight.
        turns: Those of the memories that are turns of a conversation.
    """
    return as_candidates(slate(ids, weighted(rankings, ids, weights, turns), {}))


def weighted(
    rankings: Sequence[Ranking],
    ids: Sequence[str],
    weights: Mapping[str, Weight],
    turns: Collection[str] = (),
) -> list[list[Part]]:
    """Return what `fuse` adds up, for each memory: nothing is made of it yet."""
    scores = {ranking.channel: ranking.scored.of(ids) for ranking in rankings}
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    found: list[list[Part]] = [[] for _ in ids]
    said = [memory in turns for memory in ids]
    for ranking in rankings:
        weight = weights.get(ranking.channel, Weight(0.0, 0.0))
        channel, mean, deviation = ranking.channel, ranking.scored.mean, ranking.scored.deviation
        amounts = (weight.passage, weight.turn)
        for place, raw in enumerate(scores[channel]):
            if raw is not None:
                value = (raw - mean) / deviation if deviation else 0.0
                found[place].append((channel, raw, value, amounts[said[place]]))
            elif ranking.kind == "vector" and base is not None:
                known = scores[base.channel][place]
                if known is not None:
                    value = FORETOLD * distance(base, known)
                    found[place].append((f"{channel} (foretold)", known, value, amounts[said[place]]))
    return found


def distance(ranking: Ranking, raw: float) -> float:
    """Return a raw score's distance from the channel's mean, in its deviations."""
    return (raw - ranking.scored.mean) / ranking.scored.deviation if ranking.scored.deviation else 0.0


def by_rank(rankings: Sequence[Ranking], weights: Mapping[str, Weight]) -> list[Candidate]:
    """Merge the channels' ranked lists by weighted reciprocal rank (Cormack et al., 2009).

    A memory earns ``weight / (60 + rank)`` from each channel that found it, rank counting from 1, and nothing
    from the rest. Raw scores are not read.
    """
    parts: dict[str, list[Contribution]] = {memory: [] for memory in candidates(rankings)}
    for ranking in rankings:
        weight = weights.get(ranking.channel, Weight(0.0, 0.0)).passage
        for memory, raw, value in _ranks(ranking):
            parts[memory].append(Contribution(ranking.channel, raw, value, weight))
    return [Candidate(memory, tuple(found)) for memory, found in parts.items()]


def _ranks(ranking: Ranking) -> Iterator[tuple[str, float, float]]:
    for rank, hit in enumerate(ranking.hits, start=1):
        yield hit.id, hit.score, 1.0 / (RRF_K + rank)


def shared(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> Mapping[str, Weight]:
    """Return fixed weights by channel: what a kind weighs is split evenly among its channels."""
    kinds = [ranking.kind for ranking in rankings]
    amounts = {r.channel: weights.get(r.kind, 0.0) / kinds.count(r.kind) for r in rankings}
    return {channel: Weight(amount, amount) for channel, amount in amounts.items()}
