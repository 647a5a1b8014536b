"""Judged: a Plan and what the channels said -> candidates, with all that speaks for each.

weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scrubjay.memory.ranking import Candidate
from scrubjay.memory.turns import GENERIC
from scrubjay.recall.bridged import bridged, ranked_by_ways
from scrubjay.recall.channelled import Heard
from scrubjay.recall.dated import dated
from scrubjay.recall.evidence import evidence, wished
from scrubjay.recall.fuse import by_rank, candidates, fuse, shared, weighted
from scrubjay.recall.life import life
from scrubjay.recall.neighbours import neighbours
from scrubjay.recall.plan import Plan
from scrubjay.recall.raw import letters, raw
from scrubjay.recall.session import session
from scrubjay.recall.slate import Slate, as_candidates, ordered, slate
from scrubjay.recall.tiers import MOST, Pooled, T, pooled, tiers
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
    most = max([MOST, *(len(ranking.hits) for ranking in rankings)]) if wanted is None else sys.maxsize
    if made.fusion == "auto":
        rows, heads = judged(made, heard, reader, now, ids)
        if leads:
            found = bridged(
                made, heard, reader, (rows, heads), lambda new: judged(made, heard, reader, now, new)
            )
            rows, heads, ways = found.rows, found.heads, found.ways
        else:
            rows = ordered(rows)
        left = _left(rows, heads, made, most)
        return Ranked(as_candidates(left.left), left.unsure, ways)
    if leads and (led := ranked_by_ways(made, heard, reader, ids)) is not None:
        rankings, ways = (*rankings, led), led.ways
        ids = candidates(rankings)
        most = max(most, len(led.hits))
    weights = shared(rankings, made.weights)
    fused = by_rank(rankings, weights) if made.fusion == "rrf" else fuse(rankings, ids, weights)
    if made.fusion == "raw":
        fused = raw(rankings, ids, weights, letters(made, reader))
    heads = reader.heads(ids) if "tiers" in made.stages else {}
    held = _left(ordered(fused), heads, made, most)
    return Ranked(held.left, held.unsure, ways)


def _left(ranked: Sequence[T], heads: Mapping[str, Head], made: Plan, most: int) -> Pooled[T]:
    """Leave out what is not sure enough or beyond its tier's share, where tiers count."""
    return pooled(ranked, heads, made.pool, most) if "tiers" in made.stages else Pooled(list(ranked), 0)


def scored(made: Plan, heard: Heard, reader: Reader, now: int, ids: Sequence[str]) -> list[Candidate]:
    """Return what memories score that the channels may not have found, best first."""
    return rank(made, heard, reader, now, ids).candidates


def judged(
    made: Plan, heard: Heard, reader: Reader, now: int, ids: Sequence[str]
) -> tuple[Slate, Mapping[str, Head]]:
    """Fuse the rankings and let all else speak that is known of the memories: fusion ``auto``."""
    rankings = heard.rankings
    adjacent = reader.adjacent(ids) if "neighbours" in made.stages else {}
    near = {memory for found in adjacent.values() for memory in found}
    every = sorted({*ids, *near})
    heads = reader.heads(every)
    turns = {memory for memory, head in heads.items() if head.turn}
    parts = weighted(rankings, every, weigh(rankings, made.query.text), turns)
    lenders = slate(every, parts, heads)
    if "evidence" in made.stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC
        speaker = named(made.query.text, speakers) if speakers else None
        evidence(lenders, made.groups, heard.rarity, speaker)
        if made.query.wished:
            wished(lenders, reader.get(every), made.query.wished)
    hits = set(ids)
    rows = [row for row in lenders if row.id in hits]
    if adjacent or turns:
        scores = [row.score for row in lenders]  # before anything is borrowed
        if "session" in made.stages:
            session(rows, lenders, scores)
        neighbours(rows, dict(zip(every, scores, strict=True)), adjacent)
    if "life" in made.stages:
        life(rows, now)
    if "dated" in made.stages and made.question.times:
        dated(rows, made.question.times)
    if "tiers" in made.stages:
        tiers(rows, made.pool)
    return rows, heads
