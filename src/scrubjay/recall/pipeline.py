"""Pipeline: the read path in one screen.

plan > lost > channels > weigh > fuse > evidence > neighbours > session > life > fold > rerank > verify > diversify
> admit > assemble
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scrubjay.memory.answers import Result
from scrubjay.memory.ranking import Candidate
from scrubjay.memory.turns import GENERIC
from scrubjay.providers.rerankers.port import Question
from scrubjay.recall.admit import FIRST, admit
from scrubjay.recall.assemble import Joined, assemble
from scrubjay.recall.channels.ngrams import ngrams
from scrubjay.recall.channels.ranking import Ranking, WordsRanking
from scrubjay.recall.channels.vectors import vectors
from scrubjay.recall.channels.words import words
from scrubjay.recall.chosen import Chosen, chosen
from scrubjay.recall.evidence import evidence, wished
from scrubjay.recall.fold import fold, statements
from scrubjay.recall.fuse import by_rank, candidates, fuse, ordered, shared
from scrubjay.recall.life import life, outlived
from scrubjay.recall.lost import lost
from scrubjay.recall.neighbours import neighbours
from scrubjay.recall.plan import Plan, plan
from scrubjay.recall.relevance import signs
from scrubjay.recall.request import Request
from scrubjay.recall.rerank import NOT_LOOKED, Looked, Reranking, look, rerank
from scrubjay.recall.session import session
from scrubjay.recall.weigh import weigh
from scrubjay.store.base import Reader
from scrubjay.store.score import idf
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


@dataclass(frozen=True, slots=True)
class Heard:
    """What the channels said."""

    rankings: tuple[Ranking, ...]
    words: WordsRanking | None
    partial: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query that was put to the channels: what an answer is made of, and what any memory can be measured by.

    Attributes:
        plan: The query made ready.
        heard: What the channels said.
        back: Archived memories that are wanted back.
    """

    plan: Plan
    heard: Heard
    back: frozenset[str]


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
    return Asked(made, _channels(made, reader, embedders), back)


def measured(reader: Reader, asked: Asked, ids: Sequence[str], now: int) -> list[Candidate]:
    """Return what memories would score that the channels may not have found, best first (fusion ``auto``)."""
    return _ranked(asked.plan, asked.heard, reader, now, ids) if asked.heard.rankings else []


def answered(reader: Reader, asked: Asked, request: Request, again: Reranking | None = None) -> Found:
    """Return the answer to a query that was put to the channels."""
    made, heard = asked.plan, asked.heard
    ranked, into, picked, looked = _picked(asked, reader, request.now, again)
    told = signs(made, heard.words, heard.rankings, picked.turns(max(made.limit, FIRST)))
    least = request.min_relevance if "admit" in made.stages else 0.0
    admitted = admit(picked.candidates[: len(told)], told, least)
    shown, records = admitted.candidates[: made.limit], picked.records
    sources = {source.id: source for source in reader.sources()}
    rests = _evidence(reader, [one.id for one in shown if records[one.id].origin == "derived"])
    joined = Joined(rests, into, picked.copies)
    results = assemble(shown, records, sources, (made, heard.words, told), request, joined)
    aged = 0 if admitted.silence else outlived(ranked, made.limit)
    return Found(results, heard.partial + looked.partial, made.notes + heard.notes, aged, admitted.silence)


def _picked(
    asked: Asked, reader: Reader, now: int, again: Reranking | None
) -> tuple[list[Candidate], Mapping[str, tuple[str, ...]], Chosen, Looked]:
    """Rank and choose; where copies leave the answer short, again among more of what the channels found."""
    made, heard, depth = asked.plan, asked.heard, asked.plan.depth
    looked = None if again is not None and made.fusion == "auto" and "rerank" in made.stages else NOT_LOOKED
    while True:
        ranked = _ranked(made, heard, reader, now)
        ranked, into = _folded(ranked, made, reader)
        if looked is None and again is not None:
            question = Question(made.query.text, made.groups, tuple(_rarity(heard.words)))
            looked = look(ranked, question, reader, again)  # once, however deep one has to go
        looked = looked or NOT_LOOKED
        ranked = ordered(rerank(ranked, looked.parts)) if looked.parts else ranked
        picked = chosen(ranked, made, reader, asked.back)
        more = any(len(ranking.hits) >= depth for ranking in heard.rankings)
        if len(picked.candidates) >= made.limit or not picked.copies or not more or depth >= DEEPEST:
            return ranked, into, picked, looked
        depth = min(depth * DEEPER, DEEPEST)
        deeper = tuple(replace(one, hits=tuple(one.scored.top(depth))) for one in heard.rankings)
        heard = replace(heard, rankings=deeper)


def _channels(made: Plan, reader: Reader, embedders: Sequence[Embedder]) -> Heard:
    rankings: list[Ranking] = []
    partial: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    by_words = words(made, reader) if made.groups else None
    if by_words is not None and "bm25" in made.channels:
        rankings.append(by_words)
    if "vector" in made.channels:
        by_vectors, partial = vectors(made, reader, embedders)
        rankings += by_vectors
    if by_words is not None and "ngram" in made.channels:
        respelled, notes = ngrams(made, reader, by_words.words.frequencies)
        rankings += [respelled] if respelled is not None else []
    return Heard(tuple(rankings), by_words, partial, notes)


def _ranked(
    made: Plan, heard: Heard, reader: Reader, now: int, wanted: Sequence[str] | None = None
) -> list[Candidate]:
    """Fuse the rankings, of their hits or of what is wanted.

    Only ``auto`` looks beyond them; the others are what their weights say.
    """
    rankings = heard.rankings
    if made.fusion == "rrf":
        return ordered(by_rank(rankings, shared(rankings, made.weights)))
    ids = candidates(rankings) if wanted is None else list(wanted)
    if made.fusion == "weighted":
        return ordered(fuse(rankings, ids, shared(rankings, made.weights)))
    adjacent = reader.adjacent(ids) if "neighbours" in made.stages else {}
    near = {memory for found in adjacent.values() for memory in found}
    every = sorted({*ids, *near})
    heads = reader.heads(every)
    turns = {memory for memory, head in heads.items() if head.turn}
    fused = fuse(rankings, every, weigh(rankings, made.query.text), turns)
    if "evidence" in made.stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC
        speaker = named(made.query.text, speakers) if speakers else None
        fused = evidence(fused, heads, made.groups, _rarity(heard.words), speaker)
        if made.query.wished:
            fused = wished(fused, reader.get(every), made.query.wished)
    scores = {candidate.id: candidate.score for candidate in fused} if adjacent else {}
    if "session" in made.stages and turns:
        fused = session(fused, heads)
    if adjacent:
        fused = neighbours(fused, scores, adjacent, heads)
    if "life" in made.stages:
        fused = life(fused, heads, now)
    hits = set(ids)
    return ordered([candidate for candidate in fused if candidate.id in hits])


def _folded(
    ranked: list[Candidate], made: Plan, reader: Reader
) -> tuple[list[Candidate], Mapping[str, tuple[str, ...]]]:
    """Let turns stand for the statements taken from them, best first again."""
    stated = statements(ranked) if made.fusion == "auto" and "fold" in made.stages else []
    if not stated:
        return ranked, {}
    done = fold(ranked, _evidence(reader, stated))
    return ordered(done.candidates), done.into


def _evidence(reader: Reader, derived: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what memories were taken from, the heaviest first."""
    found: dict[str, tuple[str, ...]] = {}
    for edge in reader.edges(derived, ["derived_from"]) if derived else ():
        found[edge.src] = (*found.get(edge.src, ()), edge.dst)
    return found


def _rarity(by_words: WordsRanking | None) -> list[float]:
    """Return the idf of each of the query's words."""
    counted = by_words.words if by_words is not None else None
    return [idf(counted.memories, held) for held in counted.frequencies] if counted is not None else []
