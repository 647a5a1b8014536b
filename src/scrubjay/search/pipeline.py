"""Search pipeline: plan, retrieve, score, expand, rerank, select, abstain, build results.

plan > lost > channels > weigh > fuse > evidence > session > neighbours > life > dated > tiers > graph
> descend > follow > fold > match > rerank > valid > verify > diversify > vary > caps > admit > recency
> assemble
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from scrubjay.models.records import GENERIC_ROLES, Record
from scrubjay.models.results import Candidate, Result
from scrubjay.rerankers.base import RerankQuery
from scrubjay.search.candidates import (
    ChannelResults,
    ScoreCache,
    allows_archived,
    archived_fallback,
    retrieve_candidates,
    with_depth,
)
from scrubjay.search.dedup import collapse_derived, deduplicate, evidence_by_memory
from scrubjay.search.diversity import apply_caps, maximal_marginal_relevance
from scrubjay.search.features import (
    MAX_PER_TIER,
    HasIdT,
    PooledTiers,
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
    trigram_channel,
    weighted_parts,
)
from scrubjay.search.graph import expand_by_graph, graph_ranking
from scrubjay.search.hierarchy import CategoryScores, DescentOptions, descend_categories, score_categories
from scrubjay.search.links import LinkOptions, follow_links
from scrubjay.search.plan import QueryPlan, build_plan
from scrubjay.search.relevance import (
    FIRST_RESULTS,
    AbstentionDecision,
    RelevanceFeatures,
    decide_abstention,
    graph_evidence,
    propagate_relevance,
    relevance_features,
)
from scrubjay.search.request import ResultCaps, SearchRequest
from scrubjay.search.rerank import (
    NOT_RERANKED,
    RerankOptions,
    RerankScores,
    add_rerank_parts,
    order_turns,
    rerank_scores,
)
from scrubjay.search.results import (
    ResultDetails,
    ResultGroup,
    build_results,
    group_neighbours,
    rank_sessions,
    surrounding_turns,
)
from scrubjay.search.validity import (
    find_newer,
    match_phrases,
    newer_equivalents,
    newest_first,
    replace_future,
    valid_at,
    validity_starts,
)
from scrubjay.storage.interface import RankingMetadata, Reader
from scrubjay.text.dialogue import is_small_talk

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


@dataclass(frozen=True, slots=True)
class RankedPool:
    """Candidates best first, how many were too unsure to be any, and the ways that led to some."""

    candidates: list[Candidate]
    unsure: int
    ways: Mapping[str, tuple[str, ...]]


def rank_candidates(
    made: QueryPlan, heard: ChannelResults, reader: Reader, now: int, wanted: Sequence[str] | None = None
) -> RankedPool:
    """Fuse the rankings, of their hits or of what is wanted, best first.

    Only ``auto`` looks beyond them; the others are what their weights say, of what is sure enough to answer.
    """
    rankings = heard.rankings
    ids = candidate_ids(rankings) if wanted is None else list(wanted)
    ways: Mapping[str, tuple[str, ...]] = {}
    leads = "graph" in made.channels and wanted is None
    most = (
        max([MAX_PER_TIER, *(len(ranking.hits) for ranking in rankings)]) if wanted is None else sys.maxsize
    )
    if made.fusion == "auto":
        rows, heads = score_candidates(made, heard, reader, now, ids)
        if leads:
            found = expand_by_graph(
                made,
                heard,
                reader,
                (rows, heads),
                lambda new: score_candidates(made, heard, reader, now, new),
            )
            rows, heads, ways = found.rows, found.heads, found.ways
        else:
            rows = best_first(rows)
        left = _pool_candidates(rows, heads, made, most)
        return RankedPool(to_candidates(left.left), left.unsure, ways)
    if leads and (led := graph_ranking(made, heard, reader, ids)) is not None:
        rankings, ways = (*rankings, led), led.ways
        ids = candidate_ids(rankings)
        most = max(most, len(led.hits))
    weights = split_weights(rankings, made.weights)
    fused = fuse_by_rank(rankings, weights) if made.fusion == "rrf" else fuse_scores(rankings, ids, weights)
    if made.fusion == "raw":
        fused = fuse_raw(rankings, ids, weights, trigram_channel(made, reader))
    heads = reader.heads(ids) if "tiers" in made.stages else {}
    held = _pool_candidates(best_first(fused), heads, made, most)
    return RankedPool(held.left, held.unsure, ways)


def _pool_candidates(
    ranked: Sequence[HasIdT], heads: Mapping[str, RankingMetadata], made: QueryPlan, most: int
) -> PooledTiers[HasIdT]:
    """Leave out what is not sure enough or beyond its tier's share, where tiers count."""
    return (
        pool_tiers(ranked, heads, made.pool, most) if "tiers" in made.stages else PooledTiers(list(ranked), 0)
    )


def score_ids(
    made: QueryPlan, heard: ChannelResults, reader: Reader, now: int, ids: Sequence[str]
) -> list[Candidate]:
    """Return what memories score that the channels may not have found, best first."""
    return rank_candidates(made, heard, reader, now, ids).candidates


def score_candidates(
    made: QueryPlan, heard: ChannelResults, reader: Reader, now: int, ids: Sequence[str]
) -> tuple[ScoreTable, Mapping[str, RankingMetadata]]:
    """Fuse the rankings and let all else speak that is known of the memories: fusion ``auto``."""
    rankings = heard.rankings
    adjacent = reader.adjacent(ids) if "neighbours" in made.stages else {}
    near = {memory for found in adjacent.values() for memory in found}
    every = sorted({*ids, *near})
    heads = reader.heads(every)
    turns = {memory for memory, head in heads.items() if head.turn}
    parts = weighted_parts(rankings, every, channel_weights(rankings, made.query.text), turns)
    lenders = build_table(every, parts, heads)
    if "evidence" in made.stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC_ROLES
        speaker = find_speaker(made.query.text, speakers) if speakers else None
        add_text_features(lenders, made.groups, heard.rarity, speaker)
        if made.query.wished:
            add_phrase_feature(lenders, reader.get(every), made.query.wished)
    hits = set(ids)
    rows = [row for row in lenders if row.id in hits]
    if adjacent or turns:
        scores = [row.score for row in lenders]  # before anything is borrowed
        if "session" in made.stages:
            add_session_feature(rows, lenders, scores)
        add_neighbour_feature(rows, dict(zip(every, scores, strict=True)), adjacent)
    if "life" in made.stages:
        add_decay(rows, now)
    if "dated" in made.stages and made.question.times:
        add_date_feature(rows, made.question.times)
    if "tiers" in made.stages:
        add_tier_features(rows, made.pool)
    return rows, heads


SPARE_RECORDS: Final = 10
"""Records read beyond those wanted: enough that a few equal texts leave the answer full. With 20 all sets give the same
figures, and a search costs a tenth more (bench/LOG.md)."""


@dataclass(frozen=True, slots=True)
class VerifiedResults:
    """What an answer is made of.

    Attributes:
        candidates: Best first; more than are wanted, where there are.
        records: The record of each, and of what was read beside them.
        copies: Candidate to those that say the same and stand behind it.
    """

    candidates: tuple[Candidate, ...]
    records: Mapping[str, Record]
    copies: Mapping[str, tuple[str, ...]]

    def turns(self, first: int) -> dict[str, bool]:
        """Return the first candidates, and whether each is a turn of a conversation."""
        return {one.id: self.records[one.id].turn is not None for one in self.candidates[:first]}


def verify_results(
    ranked: Sequence[Candidate], made: QueryPlan, reader: Reader, back: Set[str], wanted: int
) -> VerifiedResults:
    """Read records in the order of their rank until enough are verified and none repeats another.

    Each time more are read: of ten thousand copies the different ones are found in few steps.

    Args:
        ranked: Candidates, best first.
        made: The query made ready.
        reader: Where the records are.
        back: Of archived ones, when only some are wanted back, those; the others are passed over.
        wanted: How many are enough.
    """
    kept: tuple[Candidate, ...] = ()
    records: dict[str, Record] = {}
    copies: dict[str, tuple[str, ...]] = {}
    first, size = 0, wanted + SPARE_RECORDS
    while first < len(ranked) and len(kept) < wanted:
        batch = ranked[first : first + size]
        records |= reader.get([candidate.id for candidate in batch])
        there = [
            c
            for c in batch
            if c.id in records and (not back or records[c.id].status == "active" or c.id in back)
        ]
        if not made.query.phrases:
            there = [c for c in there if not is_small_talk_turn(records[c.id])]
        if made.true_at is not None:
            there, older = replace_future(there, records, reader, made.true_at)
            records |= older
            began = None
            if made.as_of is not None:
                began = validity_starts([records[c.id] for c in there], reader, told=made.as_asked)
            there = valid_at(there, records, made.true_at, began)
        kept = (*kept, *match_phrases(there, records, made.query))
        if "diversify" in made.stages:
            done = deduplicate(kept, records)
            kept = done.candidates
            copies |= {one: (*copies.get(one, ()), *others) for one, others in done.copies.items()}
        first, size = first + size, size * 2
    return VerifiedResults(kept, records, copies)


def is_small_talk_turn(record: Record) -> bool:
    """Tell whether a memory is a turn that says nothing by itself: it is stored for its conversation."""
    return record.turn is not None and is_small_talk(record.content)


def diversify(picked: VerifiedResults, made: QueryPlan, most: ResultCaps) -> VerifiedResults:
    """Let different things stand beside each other; nobody is lost."""
    found = list(picked.candidates)
    if made.fusion == "auto" and "mmr" in made.stages:
        found = maximal_marginal_relevance(found, picked.records)
    if "caps" in made.stages and (most.session or most.document):
        found = apply_caps(found, picked.records, most)
    return replace(picked, candidates=tuple(found))


DEPTH_FACTOR: Final = 8
"""Times as many hits are asked for again, where those that there are leave an answer short."""
MAX_DEPTH: Final = 3_200
"""Hits of a channel beyond which nothing else is looked for, however many copies there are: so the work is bounded."""
NEIGHBOUR_FACTOR: Final = 3
"""Candidates read for each result where those beside a better one join it: so many of them mostly do."""
SESSION_DEPTH: Final = 400
"""Hits of a channel from which conversations are ranked: of each, more than its best turn is wanted."""


@dataclass(frozen=True, slots=True)
class RetrievalState:
    """A query that was put to the channels: what an answer is made of, and what any memory can be measured by.

    Attributes:
        plan: The query made ready.
        heard: What the channels said.
        back: Archived memories that are wanted back.
        shelves: The categories and what each scores, or None where they are not descended.
    """

    plan: QueryPlan
    heard: ChannelResults
    back: frozenset[str]
    shelves: CategoryScores | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """What an answer is made of.

    Attributes:
        pool: What was ranked, how many were too unsure to be, and by which ways some were come to.
        ranked: The same, folded and looked at again, best first.
        into: Turn to the statements that it stands for.
        chosen: Those that were read, verified, and said once.
        groups: What is a result, best first.
        looked: What a second look said.
        told: What speaks for each that was ranked, as far as that was looked at.
    """

    pool: RankedPool
    ranked: list[Candidate]
    into: Mapping[str, tuple[str, ...]]
    chosen: VerifiedResults
    groups: list[ResultGroup]
    looked: RerankScores
    told: Mapping[str, RelevanceFeatures] = field(default_factory=dict)


def select(
    asked: RetrievalState, reader: Reader, request: SearchRequest, again: RerankOptions | None
) -> Selection:
    """Rank and choose; where copies or the turns of few conversations leave the answer short, among more hits."""
    made, heard, depth = asked.plan, asked.heard, asked.plan.depth
    looked = None if again is not None and made.fusion == "auto" and "rerank" in made.stages else NOT_RERANKED
    by_session, wanted = request.by == "session", made.limit
    if by_session:  # what was said in two conversations was said in both
        made = replace(made, stages=tuple(s for s in made.stages if s != "diversify"))
        depth, wanted = max(depth, SESSION_DEPTH), MAX_DEPTH
        heard = with_depth(heard, depth)
    elif request.neighbours:
        wanted = min(wanted * NEIGHBOUR_FACTOR, MAX_DEPTH)
    told: Mapping[str, RelevanceFeatures] = {}
    while True:
        pool = rank_candidates(made, heard, reader, request.now)
        of = partial(score_ids, made, heard, reader, request.now)
        ranked, into = collapse_derived(
            expand(pool.candidates, made, reader, of, asked.shelves), made, reader
        )
        if made.fusion == "auto" and "match" in made.stages and not (by_session or made.question.alone):
            done = order_turns(ranked, made, heard, reader)
            ranked, told = done.candidates, done.told
        if looked is None and again is not None:
            question = RerankQuery(made.query.text, made.groups, tuple(heard.rarity))
            looked = rerank_scores(ranked, question, reader, again)  # once, however deep one has to go
        looked = looked or NOT_RERANKED
        ranked = best_first(add_rerank_parts(ranked, looked.parts)) if looked.parts else ranked
        read = verify_results(ranked, made, reader, asked.back, wanted)
        if by_session:
            groups = rank_sessions(read.candidates, read.records)
        else:
            read = diversify(read, made, request.caps)
            groups = group_neighbours(read.candidates, read.records, request.neighbours)
        short = len(groups) < asked.plan.limit and (by_session or read.copies or request.neighbours)
        more = any(len(ranking.hits) >= depth for ranking in heard.rankings)
        if not short or not more or depth >= MAX_DEPTH:
            return Selection(pool, ranked, into, read, groups, looked, told)
        depth = min(depth * DEPTH_FACTOR, MAX_DEPTH)
        heard = with_depth(heard, depth)


MIN_SHARE: Final = 0.5
"""Share of the best score that a memory must come to which a link or a category brings in; with a threshold, that."""


def expand(
    ranked: list[Candidate],
    made: QueryPlan,
    reader: Reader,
    score: Callable[[Sequence[str]], Iterable[Candidate]],
    shelves: CategoryScores | None = None,
) -> list[Candidate]:
    """Add what stands in connection with what was found, and leave out what is below a threshold.

    Args:
        ranked: Candidates, best first.
        made: What was asked.
        reader: What is visible.
        score: What any memory scores by itself.
        shelves: The categories and what each scores; None where they are not descended.

    Returns:
        Candidates, best first; the very same where nothing was asked beyond them.
    """
    reach, best = made.reach, ranked[0].score if ranked else 0.0
    least = MIN_SHARE * best if reach.threshold is None else reach.threshold
    if shelves is not None and best > 0:
        levels = DescentOptions(reach.depth, reach.alpha, made.limit, least)
        measure = ScoreCache(reader, made.where, score, {one.id: one for one in ranked})
        ranked = best_first(descend_categories(ranked, measure, shelves, levels))
    if reach.links and "follow" in made.stages and best > 0:
        measure = ScoreCache(reader, made.where, score, {one.id: one for one in ranked})
        ranked = best_first(follow_links(ranked, measure, LinkOptions(reach.links, made.limit, least)))
    if reach.threshold is not None:
        ranked = [one for one in ranked if one.score >= reach.threshold]
    return ranked


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search found, what it went without, what the plan decided, what age alone kept out, why nothing was."""

    results: tuple[Result, ...]
    partial: tuple[str, ...]
    notes: tuple[str, ...]
    hidden: int = 0
    silence: str = ""
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerSelection:
    """What may answer a query: what was picked, what speaks for the first of it, which of these are admitted."""

    picked: Selection
    told: Mapping[str, RelevanceFeatures]
    admitted: AbstentionDecision


def run_search(
    reader: Reader, embedders: Sequence[Embedder], request: SearchRequest, again: RerankOptions | None = None
) -> SearchOutcome:
    """Answer one query from one consistent view, whose best are looked at ``again`` where that is wanted.

    Where nothing active answers, the archive is asked by the same gate: what is stored is not said to be missing.
    """
    asked = retrieve(reader, embedders, request)
    found = answer(reader, asked, request, again)
    if found.results or not allows_archived(asked.plan):
        return found
    away = replace(request, where=replace(request.where, statuses=("archived",)))
    asked_again = retrieve(reader, embedders, away)
    still_true = replace(asked_again.plan, true_at=asked.plan.true_at)
    archived = answer(reader, replace(asked_again, plan=still_true), away, again)
    if not archived.results:
        return found
    return replace(archived, notes=(*archived.notes, "nothing active answers; the archive does"))


def retrieve(reader: Reader, embedders: Sequence[Embedder], request: SearchRequest) -> RetrievalState:
    """Put a query to the channels."""
    made = build_plan(request, reader)
    back = archived_fallback(made, reader)
    if back:
        made = replace(made, where=replace(made.where, statuses=("active", "archived")))
    heard = retrieve_candidates(made, reader, embedders)
    return RetrievalState(made, heard, back, score_categories(made, heard.rankings, reader, embedders))


def score_memories(reader: Reader, asked: RetrievalState, ids: Sequence[str], now: int) -> list[Candidate]:
    """Return what memories would score that the channels may not have found, best first (fusion ``auto``)."""
    return score_ids(asked.plan, asked.heard, reader, now, ids) if asked.heard.rankings else []


def select_answers(
    reader: Reader, asked: RetrievalState, request: SearchRequest, again: RerankOptions | None = None
) -> AnswerSelection:
    """Choose what may answer a query that was put to the channels: a search and a context go by this alike."""
    made, heard = asked.plan, asked.heard
    picked = select(asked, reader, request, again)
    records = picked.chosen.records
    first = [group.lead for group in picked.groups[: max(made.limit, FIRST_RESULTS)]]
    turns_of = {one.id: records[one.id].turn is not None for one in first}
    led = graph_evidence(turns_of, picked.ranked, picked.pool.ways)
    beside = sorted({memory for by in led.values() for memory in by} - turns_of.keys())
    turns_of |= {memory: head.turn for memory, head in (reader.heads(beside) if beside else {}).items()}
    missing = {memory: turn for memory, turn in turns_of.items() if memory not in picked.told}
    found = relevance_features(made, heard.words, heard.rankings, missing)
    told = propagate_relevance({memory: picked.told.get(memory) or found[memory] for memory in turns_of}, led)
    admitted = decide_abstention(first, told, request.min_relevance if "admit" in made.stages else 0.0)
    if not first and made.question.alone:
        admitted = AbstentionDecision((), "Nothing stored is of the time that is asked about.")
    return AnswerSelection(picked, told, admitted)


def answer(
    reader: Reader, asked: RetrievalState, request: SearchRequest, again: RerankOptions | None = None
) -> SearchOutcome:
    """Return the answer to a query that was put to the channels."""
    made, heard = asked.plan, asked.heard
    found = select_answers(reader, asked, request, again)
    picked, admitted, records = found.picked, found.admitted, found.picked.chosen.records
    kept = {one.id for one in admitted.candidates}
    groups = [group for group in picked.groups if group.lead.id in kept]
    at = request.now if made.true_at is None else made.true_at
    first = [group.lead.id for group in groups]
    later = find_newer(reader, {memory: records[memory] for memory in first}, at)
    of_now = made.as_of is None and not made.question.times and not picked.looked.parts
    bounded = "recency" in made.stages and made.fusion == "auto" and request.by == "memory" and of_now
    best = [group.lead for group in groups[:FIRST_RESULTS]] if bounded else []
    equal = newer_equivalents(best, records, found.told, made, heard.words)
    groups = newest_first(newest_first(groups, equal), later)[: made.limit]
    shown = [group.lead for group in groups]
    sources = {source.id: source for source in reader.sources()}
    rests = evidence_by_memory(reader, [one.id for one in shown if records[one.id].origin == "derived"])
    turns = surrounding_turns(reader, groups, records, request.neighbours, made.groups)
    joined = ResultDetails(rests, picked.into, picked.chosen.copies, picked.pool.ways, turns, later)
    results = build_results(shown, records, sources, (made, heard.words, found.told), request, joined)
    aged = (
        count_displaced_by_age(picked.ranked, made.limit)
        if request.by == "memory" and not admitted.silence
        else 0
    )
    notes = made.notes + heard.notes + unsure_notes(picked.pool.unsure, made.pool.floor)
    partial = heard.partial + picked.looked.partial
    return SearchOutcome(results, partial, notes, aged, admitted.silence, made.shown_as_of)
