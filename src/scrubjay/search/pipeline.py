"""Search pipeline: retrieve, score, expand, order, select, abstain, build results.

plan > lost > channels > weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
> descend > follow > fold > match > rerank > valid > verify > diversify > vary > caps > admit > recency
> assemble
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from scrubjay.models.records import GENERIC_ROLES, Record
from scrubjay.models.results import Candidate, Contribution, Result
from scrubjay.rerankers.base import RerankQuery
from scrubjay.search.candidates import (
    ChannelResults,
    Ranking,
    ScoreCache,
    allows_archived,
    archived_fallback,
    retrieve_candidates,
)
from scrubjay.search.dedup import collapse_facts, derived_ids, evidence_by_memory
from scrubjay.search.diversity import apply_caps, maximal_marginal_relevance
from scrubjay.search.features import (
    MAX_PER_TIER,
    add_date_feature,
    add_decay,
    add_neighbour_feature,
    add_phrase_feature,
    add_session_feature,
    add_text_features,
    add_tier_features,
    count_displaced_by_age,
    find_speaker,
    pool_tiers,
    unsure_notes,
)
from scrubjay.search.fusion import (
    ScoreTable,
    best_first,
    build_table,
    candidate_ids,
    channel_weights,
    fuse_by_rank,
    fuse_raw,
    fuse_scores,
    split_weights,
    to_candidates,
    weighted_parts,
)
from scrubjay.search.graph import expand_by_graph, graph_ranking
from scrubjay.search.hierarchy import CategoryScores, descend_categories, score_categories
from scrubjay.search.links import follow_links
from scrubjay.search.plan import QueryPlan, build_plan
from scrubjay.search.relevance import (
    FIRST_RESULTS,
    RelevanceFeatures,
    decide_abstention,
    graph_evidence,
    propagate_relevance,
    relevance_features,
)
from scrubjay.search.request import SearchRequest
from scrubjay.search.rerank import RerankOptions, add_rerank_parts, order_turns, rerank_scores
from scrubjay.search.results import (
    ResultDetails,
    ResultGroup,
    build_results,
    group_neighbours,
    rank_sessions,
    surrounding_turns,
)
from scrubjay.search.validity import find_newer, newer_equivalents, newest_first, verify_candidates
from scrubjay.storage.interface import RankingMetadata, Reader

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder

DEPTH_FACTOR: Final = 8
"""Times as many hits are read of each channel, where those at hand leave an answer short."""
MAX_DEPTH: Final = 3_200
"""Most hits read of a channel, however many duplicates there are: this bounds the work."""
NEIGHBOUR_FACTOR: Final = 3
"""Candidates read for each result where neighbouring turns join a better one: so many of them mostly do."""
SESSION_DEPTH: Final = 400
"""Hits of a channel from which conversations are ranked: of each, more than its best turn is wanted."""
MIN_SHARE: Final = 0.5
"""Least score of a memory that a link or a category brings in, as a share of the best score; a threshold
replaces it."""


@dataclass(frozen=True, slots=True)
class RetrievalState:
    """A query's plan and its channels' rankings: any memory can be scored by them.

    ``archived`` are archived memories that may answer, where only some may; ``categories`` is None where they are not
    descended.
    """

    plan: QueryPlan
    channels: ChannelResults
    archived: frozenset[str]
    categories: CategoryScores | None = None


@dataclass(slots=True)
class Selection:
    """The candidates of one search, best first; each step fills its part.

    Attributes:
        unsure: How many were left out for low confidence.
        paths: Memory to the hit and the name that the graph reached it by.
        collapsed: Turn to the facts that it represents.
        rerank_parts: Memory to its reranker part; None before the reranker has run.
        partial: Failures of reranking, one sentence each.
        copies: Memory to its duplicates, which are not shown.
        features: The relevance features of the first candidates.
        groups: The results, best first; in the end only those that answer.
        abstained: Why nothing answers; else empty.
    """

    candidates: list[Candidate] = field(default_factory=list)
    unsure: int = 0
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    collapsed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rerank_parts: Mapping[str, Contribution] | None = None
    partial: tuple[str, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    features: Mapping[str, RelevanceFeatures] = field(default_factory=dict)
    groups: list[ResultGroup] = field(default_factory=list)
    silence: str = ""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Results, and what a caller should know of them.

    Attributes:
        partial: What the search had to do without, one sentence each.
        notes: Decisions, for explain.
        hidden: How many results their age alone kept out.
        silence: Why nothing answers; else empty.
        as_of: The time as of which it was answered, ISO 8601; None for now.
    """

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    notes: tuple[str, ...]
    hidden: int = 0
    silence: str = ""
    as_of: str | None = None


def run_search(
    reader: Reader,
    embedders: Sequence[Embedder],
    request: SearchRequest,
    reranker: RerankOptions | None = None,
) -> SearchOutcome:
    """Answer one query from one consistent view; where nothing active answers, search the archive."""
    state = retrieve(reader, embedders, request)
    outcome = answer(reader, state, request, reranker)
    if outcome.results or not allows_archived(state.plan):
        return outcome
    request = replace(request, where=replace(request.where, statuses=("archived",)))
    archive = retrieve(reader, embedders, request)
    archive = replace(archive, plan=replace(archive.plan, true_at=state.plan.true_at))
    archived = answer(reader, archive, request, reranker)
    if not archived.results:
        return outcome
    return replace(archived, notes=(*archived.notes, "nothing active answers; the archive does"))


def retrieve(reader: Reader, embedders: Sequence[Embedder], request: SearchRequest) -> RetrievalState:
    """Plan a query and run its channels."""
    plan = build_plan(request, reader)
    archived = archived_fallback(plan, reader)
    if archived:
        plan = replace(plan, where=replace(plan.where, statuses=("active", "archived")))
    channels = retrieve_candidates(plan, reader, embedders)
    categories = score_categories(plan, channels.rankings, reader, embedders)
    return RetrievalState(plan, channels, archived, categories)


def answer(
    reader: Reader, state: RetrievalState, request: SearchRequest, reranker: RerankOptions | None = None
) -> SearchOutcome:
    """Answer a query whose channels have run."""
    selection = select_answers(reader, state, request, reranker)
    return build_outcome(reader, state, request, selection)


def select_answers(
    reader: Reader, state: RetrievalState, request: SearchRequest, reranker: RerankOptions | None = None
) -> Selection:
    """Score, expand, order and select candidates, and abstain where none of them answers; contexts use it, too.

    Where duplicates, or the turns of few conversations, leave the answer short, the channels are read deeper.
    """
    by_session = request.by == "session"
    depth = max(state.plan.depth, SESSION_DEPTH) if by_session else state.plan.depth
    if by_session:
        state = replace(state, channels=state.channels.with_depth(depth))
    selection = Selection()
    while True:
        _score(selection, reader, state, request)
        _expand(selection, reader, state, request)
        _order(selection, reader, state, request, reranker)
        _select(selection, reader, state, request)
        short = len(selection.groups) < state.plan.limit
        repetitive = by_session or selection.copies or request.neighbours
        exhausted = all(len(ranking.hits) < depth for ranking in state.channels.rankings)
        if not (short and repetitive) or exhausted or depth >= MAX_DEPTH:
            break
        depth = min(depth * DEPTH_FACTOR, MAX_DEPTH)
        state = replace(state, channels=state.channels.with_depth(depth))
    _abstain(selection, reader, state, request)
    return selection


def _score(selection: Selection, reader: Reader, state: RetrievalState, request: SearchRequest) -> None:
    """Fuse the rankings of all hits; only fusion ``auto`` has features."""
    plan, rankings = state.plan, state.channels.rankings
    ids = candidate_ids(rankings)
    most = max([MAX_PER_TIER, *(len(ranking.hits) for ranking in rankings)])
    selection.paths = {}
    if plan.fusion == "auto":
        rows, heads = score_rows(reader, state, request.now, ids)
        if "graph" in plan.channels:
            score = partial(score_rows, reader, state, request.now)
            rows, heads, selection.paths = expand_by_graph(reader, plan, state.channels, rows, heads, score)
        rows, selection.unsure = pool_tiers(best_first(rows), heads, plan.pool, most)
        selection.candidates = to_candidates(rows)
        return
    if "graph" in plan.channels and (graph := graph_ranking(plan, state.channels, reader, ids)) is not None:
        rankings, selection.paths = (*rankings, graph), graph.paths
        ids, most = candidate_ids(rankings), max(most, len(graph.hits))
    fused, heads = _fuse_by_weights(reader, plan, rankings, ids)
    selection.candidates, selection.unsure = pool_tiers(fused, heads, plan.pool, most)


def _expand(selection: Selection, reader: Reader, state: RetrievalState, request: SearchRequest) -> None:
    """Add memories reached by categories and links, apply the threshold, and collapse facts into their turns."""
    plan, reach, candidates = state.plan, state.plan.reach, selection.candidates
    best = candidates[0].score if candidates else 0.0
    least = MIN_SHARE * best if reach.threshold is None else reach.threshold
    score = partial(score_memories, reader, state, now=request.now)
    if state.categories is not None and best > 0:
        cache = ScoreCache(reader, plan.where, score, {one.id: one for one in candidates})
        candidates = descend_categories(candidates, cache, state.categories, reach, plan.limit, least)
    if reach.links and "follow" in plan.stages and best > 0:
        cache = ScoreCache(reader, plan.where, score, {one.id: one for one in candidates})
        candidates = follow_links(candidates, cache, reach.links, plan.limit, least)
    if reach.threshold is not None:
        candidates = [one for one in candidates if one.score >= reach.threshold]
    if plan.fusion == "auto" and "fold" in plan.stages:
        evidence = evidence_by_memory(reader, derived_ids(candidates))
        candidates, selection.collapsed = collapse_facts(candidates, evidence)
    selection.candidates = candidates


def _order(
    selection: Selection,
    reader: Reader,
    state: RetrievalState,
    request: SearchRequest,
    reranker: RerankOptions | None,
) -> None:
    """Place turns among passages by relevance, and add the reranker's scores; it runs once, however deep."""
    plan, channels = state.plan, state.channels
    if plan.fusion != "auto":
        return
    if "match" in plan.stages and request.by != "session" and not plan.question.alone:
        selection.candidates, selection.features = order_turns(selection.candidates, plan, channels, reader)
    if reranker is not None and "rerank" in plan.stages:
        if selection.rerank_parts is None:
            query = RerankQuery(plan.query.text, plan.groups, tuple(channels.rarity))
            selection.rerank_parts, selection.partial = rerank_scores(
                selection.candidates, query, reader, reranker
            )
        selection.candidates = add_rerank_parts(selection.candidates, selection.rerank_parts)


def _select(selection: Selection, reader: Reader, state: RetrievalState, request: SearchRequest) -> None:
    """Verify candidates in the order of their rank, diversify them, and group them to results."""
    plan = state.plan
    by_session, wanted = request.by == "session", plan.limit
    if by_session:
        wanted = MAX_DEPTH
    elif request.neighbours:
        wanted = min(wanted * NEIGHBOUR_FACTOR, MAX_DEPTH)
    unique = "diversify" in plan.stages and not by_session  # two conversations may say the same
    found, selection.records, selection.copies = verify_candidates(
        selection.candidates, plan, reader, state.archived, wanted, unique=unique
    )
    if by_session:
        selection.groups = rank_sessions(found, selection.records)
        return
    if plan.fusion == "auto" and "mmr" in plan.stages:
        found = maximal_marginal_relevance(found, selection.records)
    if "caps" in plan.stages and (request.caps.session or request.caps.document):
        found = apply_caps(found, selection.records, request.caps)
    selection.groups = group_neighbours(found, selection.records, request.neighbours)


def _abstain(selection: Selection, reader: Reader, state: RetrievalState, request: SearchRequest) -> None:
    """Estimate the relevance of the first groups and keep those that answer; where none does, say why."""
    plan = state.plan
    first = [group.lead for group in selection.groups[: max(plan.limit, FIRST_RESULTS)]]
    turns = {one.id: selection.records[one.id].turn is not None for one in first}
    evidence = graph_evidence(turns, selection.candidates, selection.paths)
    others = sorted({memory for referrers in evidence.values() for memory in referrers} - turns.keys())
    turns |= {memory: head.turn for memory, head in (reader.heads(others) if others else {}).items()}
    missing = {memory: turn for memory, turn in turns.items() if memory not in selection.features}
    computed = relevance_features(plan, state.channels.terms, state.channels.rankings, missing)
    own = {memory: selection.features.get(memory) or computed[memory] for memory in turns}
    selection.features = propagate_relevance(own, evidence)
    least = request.min_relevance if "admit" in plan.stages else 0.0
    answers, selection.silence = decide_abstention(first, selection.features, least)
    if not first and plan.question.alone:
        selection.silence = "Nothing stored is of the time that is asked about."
    kept = {one.id for one in answers}
    selection.groups = [group for group in selection.groups if group.lead.id in kept]


def build_outcome(
    reader: Reader, state: RetrievalState, request: SearchRequest, selection: Selection
) -> SearchOutcome:
    """Put newer memories before those they change, and build readable results."""
    plan, terms, records, groups = state.plan, state.channels.terms, selection.records, selection.groups
    at = request.now if plan.true_at is None else plan.true_at
    newer = find_newer(reader, {group.lead.id: records[group.lead.id] for group in groups}, at)
    if _prefers_recent(selection, plan, request):
        best = [group.lead for group in groups[:FIRST_RESULTS]]
        groups = newest_first(groups, newer_equivalents(best, records, selection.features, plan, terms))
    groups = newest_first(groups, newer)[: plan.limit]
    leads = [group.lead for group in groups]
    details = ResultDetails(
        evidence_by_memory(reader, [one.id for one in leads if records[one.id].origin == "derived"]),
        selection.collapsed,
        selection.copies,
        selection.paths,
        surrounding_turns(reader, groups, records, request.neighbours, plan.groups),
        newer,
    )
    sources = {source.id: source for source in reader.sources()}
    results = build_results(leads, records, sources, plan, terms, selection.features, request, details)
    counts_age = request.by == "memory" and not selection.silence
    hidden = count_displaced_by_age(selection.candidates, plan.limit) if counts_age else 0
    notes = (
        plan.notes
        + state.channels.notes
        + unsure_notes(selection.unsure, plan.pool.floor if plan.pool else 0.0)
    )
    missing = state.channels.partial + selection.partial
    return SearchOutcome(results, missing, notes, hidden, selection.silence, plan.shown_as_of)


def _prefers_recent(selection: Selection, plan: QueryPlan, request: SearchRequest) -> bool:
    return (
        "recency" in plan.stages
        and plan.fusion == "auto"
        and request.by == "memory"
        and plan.as_of is None
        and not plan.question.times
        and not selection.rerank_parts
    )


def score_memories(reader: Reader, state: RetrievalState, ids: Sequence[str], now: int) -> list[Candidate]:
    """Score any memories, found by the channels or not, best first; those that may not answer are left out."""
    plan, rankings = state.plan, state.channels.rankings
    if not rankings:
        return []
    if plan.fusion == "auto":
        rows, heads = score_rows(reader, state, now, ids)
        return to_candidates(pool_tiers(best_first(rows), heads, plan.pool, sys.maxsize)[0])
    fused, heads = _fuse_by_weights(reader, plan, rankings, ids)
    return pool_tiers(fused, heads, plan.pool, sys.maxsize)[0]


def _fuse_by_weights(
    reader: Reader, plan: QueryPlan, rankings: Sequence[Ranking], ids: Sequence[str]
) -> tuple[list[Candidate], Mapping[str, RankingMetadata]]:
    weights = split_weights(rankings, plan.weights)
    if plan.fusion == "rrf":
        wanted = set(ids)
        fused = [one for one in fuse_by_rank(rankings, weights) if one.id in wanted]
    elif plan.fusion == "raw":
        records = reader.get(ids) if plan.trigram_weight else {}
        texts = {memory: record.content for memory, record in records.items()}
        fused = fuse_raw(rankings, ids, weights, plan.query.text, texts, plan.trigram_weight)
    else:
        fused = fuse_scores(rankings, ids, weights)
    return best_first(fused), reader.heads(ids) if plan.pool is not None else {}


def score_rows(
    reader: Reader, state: RetrievalState, now: int, ids: Sequence[str]
) -> tuple[ScoreTable, Mapping[str, RankingMetadata]]:
    """Score memories by fusion ``auto``: weighted channels, then every feature; in no order."""
    plan, channels = state.plan, state.channels
    stages = plan.stages
    adjacent = reader.adjacent(ids) if "neighbours" in stages else {}
    every = sorted({*ids, *(memory for near in adjacent.values() for memory in near)})
    heads = reader.heads(every)
    turns = {memory for memory, head in heads.items() if head.turn}
    weights = channel_weights(channels.rankings, plan.query.text)
    table = build_table(every, weighted_parts(channels.rankings, every, weights, turns), heads)
    if "evidence" in stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC_ROLES
        speaker = find_speaker(plan.query.text, speakers) if speakers else None
        add_text_features(table, plan.groups, channels.rarity, speaker)
        if plan.query.wished:
            add_phrase_feature(table, reader.get(every), plan.query.wished)
    wanted = set(ids)
    rows = [row for row in table if row.id in wanted]
    if adjacent or turns:
        scores = [row.score for row in table]  # before any of them borrows
        if "session" in stages:
            add_session_feature(rows, table, scores)
        add_neighbour_feature(rows, dict(zip(every, scores, strict=True)), adjacent)
    if "life" in stages:
        add_decay(rows, now)
    if "dated" in stages and plan.question.times:
        add_date_feature(rows, plan.question.times)
    if plan.pool is not None:
        add_tier_features(rows, plan.pool)
    return rows, heads
