"""Pipeline: the read path in one screen.

plan > lost > channels > weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
> descend > follow > fold > rerank > valid > verify > diversify > admit > assemble
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from scrubjay.memory.answers import Result
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.turns import GENERIC
from scrubjay.providers.rerankers.port import Question
from scrubjay.recall.admit import FIRST, admit
from scrubjay.recall.assemble import Joined, assemble
from scrubjay.recall.beyond import Shelved, beyond, shelved
from scrubjay.recall.bridged import bridged, ranked_by_ways
from scrubjay.recall.channelled import Heard, channelled
from scrubjay.recall.chosen import Chosen, chosen
from scrubjay.recall.dated import dated
from scrubjay.recall.evidence import evidence, wished
from scrubjay.recall.folded import evidence_of, folded
from scrubjay.recall.fuse import by_rank, candidates, fuse, ordered, shared
from scrubjay.recall.life import life, outlived
from scrubjay.recall.lost import lost
from scrubjay.recall.neighbours import neighbours
from scrubjay.recall.plan import Plan, plan
from scrubjay.recall.raw import letters, raw
from scrubjay.recall.relevance import signs
from scrubjay.recall.request import Request
from scrubjay.recall.rerank import NOT_LOOKED, Looked, Reranking, look, rerank
from scrubjay.recall.session import session
from scrubjay.recall.tiers import MOST, kept_out, pooled, tiers
from scrubjay.recall.weigh import weigh
from scrubjay.store.base import Head, Reader
from scrubjay.text.speakers import named

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

DEEPER = 8
"""Times as many hits are asked for again, where copies left an answer short."""
DEEPEST = 3_200
"""Hits beyond which nobody looks for something different: they cost .1 s (bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, what it went without, what the plan decided, what age alone kept out, why nothing was."""

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    notes: tuple[str, ...]
    hidden: int = 0
    silence: str = ""
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates best first, how many were too unsure to be any, and the ways that led to some."""

    candidates: list[Candidate]
    unsure: int
    ways: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was put to the channels: what an answer is made of, and what any memory can be measured by.

    Attributes:
        plan: The query made ready.
        heard: What the channels said.
        back: Archived memories that are wanted back.
        shelves: The categories and what each scores, or None where they are not descended.
    """

    plan: Plan
    heard: Heard
    back: frozenset[str]
    shelves: Shelved | None = None


def search(
    reader: Reader, embedders: Sequence[Embedder], request: Request, again: Reranking | None = None
) -> Found:
    """Answer one query from one consistent view, whose best are looked at ``again`` where that is wanted."""
    return answered(reader, ask(reader, embedders, request), request, again)


def ask(reader: Reader, embedders: Sequence[Embedder], request: Request) -> Asked:
    """Put a query to the channels."""
    made = plan(request, reader)
    back = lost(made, reader) if "lost" in made.stages else frozenset()
    if back:
        made = replace(made, where=replace(made.where, statuses=("active", "archived")))
    heard = channelled(made, reader, embedders)
    return Asked(made, heard, back, shelved(made, heard.rankings, reader, embedders))


def measured(reader: Reader, asked: Asked, ids: Sequence[str], now: int) -> list[Candidate]:
    """Return what memories would score that the channels may not have found, best first (fusion ``auto``)."""
    return _ranked(asked.plan, asked.heard, reader, now, ids).candidates if asked.heard.rankings else []


def answered(reader: Reader, asked: Asked, request: Request, again: Reranking | None = None) -> Found:
    """Return the answer to a query that was put to the channels."""
    made, heard = asked.plan, asked.heard
    pool, ranked, into, picked, looked = _picked(asked, reader, request.now, again)
    told = signs(made, heard.words, heard.rankings, picked.turns(max(made.limit, FIRST)))
    least = request.min_relevance if "admit" in made.stages else 0.0
    admitted = admit(picked.candidates[: len(told)], told, least)
    shown, records = admitted.candidates[: made.limit], picked.records
    sources = {source.id: source for source in reader.sources()}
    rests = evidence_of(reader, [one.id for one in shown if records[one.id].origin == "derived"])
    joined = Joined(rests, into, picked.copies, pool.ways)
    results = assemble(shown, records, sources, (made, heard.words, told), request, joined)
    aged = 0 if admitted.silence else outlived(ranked, made.limit)
    notes = made.notes + heard.notes + kept_out(pool.unsure, made.pool.floor)
    partial = heard.partial + looked.partial
    return Found(results, partial, notes, aged, admitted.silence, made.shown_as_of)


def _picked(
    asked: Asked, reader: Reader, now: int, again: Reranking | None
) -> tuple[Ranked, list[Candidate], Mapping[str, tuple[str, ...]], Chosen, Looked]:
    """Rank and choose; where copies leave the answer short, again among more of what the channels found.

    Returns:
        What was ranked, the same folded and looked at again, what turns stand for, what was chosen, the second look.
    """
    made, heard, depth = asked.plan, asked.heard, asked.plan.depth
    looked = None if again is not None and made.fusion == "auto" and "rerank" in made.stages else NOT_LOOKED
    while True:
        pool = _ranked(made, heard, reader, now)
        of = partial(_scored, made, heard, reader, now)
        ranked = beyond(pool.candidates, made, reader, of, asked.shelves)
        ranked, into = folded(ranked, made, reader)
        if looked is None and again is not None:
            question = Question(made.query.text, made.groups, tuple(heard.rarity))
            looked = look(ranked, question, reader, again)  # once, however deep one has to go
        looked = looked or NOT_LOOKED
        ranked = ordered(rerank(ranked, looked.parts)) if looked.parts else ranked
        picked = chosen(ranked, made, reader, asked.back)
        more = any(len(ranking.hits) >= depth for ranking in heard.rankings)
        if len(picked.candidates) >= made.limit or not picked.copies or not more or depth >= DEEPEST:
            return pool, ranked, into, picked, looked
        depth = min(depth * DEEPER, DEEPEST)
        deeper = tuple(replace(one, hits=tuple(one.scored.top(depth))) for one in heard.rankings)
        heard = replace(heard, rankings=deeper)


def _scored(made: Plan, heard: Heard, reader: Reader, now: int, ids: Sequence[str]) -> list[Candidate]:
    """Return what memories score that the channels may not have found, best first."""
    return _ranked(made, heard, reader, now, ids).candidates


def _ranked(
    made: Plan, heard: Heard, reader: Reader, now: int, wanted: Sequence[str] | None = None
) -> Ranked:
    """Fuse the rankings, of their hits or of what is wanted, best first.

    Only ``auto`` looks beyond them; the others are what their weights say, of what is sure enough to answer.
    """
    rankings = heard.rankings
    ids = candidates(rankings) if wanted is None else list(wanted)
    ways: Mapping[str, tuple[str, ...]] = {}
    leads = "graph" in made.channels and wanted is None
    if made.fusion == "auto":
        fused, heads = _judged(made, heard, reader, now, ids)
        if leads:
            found = bridged(
                made, heard, reader, (fused, heads), lambda new: _judged(made, heard, reader, now, new)
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


def _judged(
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
