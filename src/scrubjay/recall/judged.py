"""Judged: a Plan and what the channels said -> candidates, with all that speaks for each.

weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.turns import GENERIC
from scrubjay.recall.bridged import bridged, ranked_by_ways
from scrubjay.recall.channelled import Heard
from scrubjay.recall.dated import dated
from scrubjay.recall.evidence import evidence, wished
from scrubjay.recall.fuse import by_rank, candidates, fuse, ordered, shared
from scrubjay.recall.life import life
from scrubjay.recall.neighbours import neighbours
from scrubjay.recall.plan import Plan
from scrubjay.recall.raw import letters, raw
from scrubjay.recall.session import session
from scrubjay.recall.tiers import MOST, pooled, tiers
from scrubjay.recall.weigh import weigh
from scrubjay.store.base import Head, Reader
from scrubjay.text.speakers import named


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates best first, how many were too unsure to be any, and the ways that led to some."""

    candidates: list[Candidate]
    unsure: int
    ways: Mapping[str, tuple[str, ...]]


def rank(made: Plan, heard: Heard, reader: Reader, now: int, wanted: Sequence[str] | None = None) -> Ranked:
    """Fuse the rankings, of their hits or of what is wanted, best first.

    Only ``auto`` looks beyond them; the others are what their weights say, of what is sure enough to answer.
    """
    rankings = heard.rankings
    ids = candidates(rankings) if wanted is None else list(wanted)
    ways: Mapping[str, tuple[str, ...]] = {}
    leads = "graph" in made.channels and wanted is None
    if made.fusion == "auto":
        fused, heads = judged(made, heard, reader, now, ids)
        if leads:
            found = bridged(
                made, heard, reader, (fused, heads), lambda new: judged(made, heard, reader, now, new)
            )
            fused, heads, ways = found.candidates, found.heads, found.ways
    else:
        if leads and (led := ranked_by_ways(made, heard, reader, ids)) is not None:
            rankings, ways = (*rankings, led), led.ways
            ids = candidates(rankings)
        weights = shared(rankings, made.weights)
        fused = by_rank(rankings, weights) if made.fusion == "rrf" else fuse(rankings, ids, weights)
        if made.fusion == "raw":
            fused = raw(rankings, ids, weights, letters(made, reader))
        heads = reader.heads(ids) if "tiers" in made.stages else {}
    ranked = ordered(fused)
    if "tiers" not in made.stages:
        return Ranked(ranked, 0, ways)
    most = max([MOST, *(len(ranking.hits) for ranking in rankings)]) if wanted is None else len(ranked)
    left = pooled(ranked, heads, made.pool, most)
    return Ranked(left.candidates, left.unsure, ways)


def scored(made: Plan, heard: Heard, reader: Reader, now: int, ids: Sequence[str]) -> list[Candidate]:
    """Return what memories score that the channels may not have found, best first."""
    return rank(made, heard, reader, now, ids).candidates


def judged(
    made: Plan, heard: Heard, reader: Reader, now: int, ids: Sequence[str]
) -> tuple[list[Candidate], Mapping[str, Head]]:
    """Fuse the rankings and let all else speak that is known of the memories: fusion ``auto``."""
    rankings = heard.rankings
    adjacent = reader.adjacent(ids) if "neighbours" in made.stages else {}
    near = {memory for found in adjacent.values() for memory in found}
    every = sorted({*ids, *near})
    heads = reader.heads(every)
    turns = {memory for memory, head in heads.items() if head.turn}
    fused = fuse(rankings, every, weigh(rankings, made.query.text), turns)
    if "evidence" in made.stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC
        speaker = named(made.query.text, speakers) if speakers else None
        fused = evidence(fused, heads, made.groups, heard.rarity, speaker)
        if made.query.wished:
            fused = wished(fused, reader.get(every), made.query.wished)
    scores = {candidate.id: candidate.score for candidate in fused} if adjacent else {}
    if "session" in made.stages and turns:
        fused = session(fused, heads)
    if adjacent:
        fused = neighbours(fused, scores, adjacent, heads)
    if "life" in made.stages:
        fused = life(fused, heads, now)
    if "dated" in made.stages and made.question.times:
        fused = dated(fused, heads, made.question.times)
    if "tiers" in made.stages:
        fused = tiers(fused, heads, made.pool)
    hits = set(ids)
    return [candidate for candidate in fused if candidate.id in hits], heads
