"""Search pipeline: retrieve, score, expand, order, select, abstain, build results.

`retrieve` plans the query and runs the channels. `select_answers` scores the candidates (`_score`), expands them by
graph, categories and links (`_expand`), orders them (`_order`: turns among passages, reranking), selects (`_select`:
validity, duplicates, diversity), decides whether to abstain (`_abstain`) and places newer memories first
(`_place_results`: stage ``recency``). `answer` calls both and builds the results. Limit, stages and tier options are
read from the plan, which may replace those of the request. The stages in their order, as in docs/ranking.md:

plan > prune > fallback > channels > weigh > fuse > evidence > session > neighbours > decay > dated > tiers > graph
> hierarchy > links > fold > match > rerank > valid > verify > deduplicate > mmr > caps > abstain > recency
> assemble

Those of `request.STAGES` can be left out by name; ``graph`` is a channel (`request.CHANNELS`); the others always run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.models.dates import iso_seconds
from scrubjay.models.records import GENERIC_ROLES, Record
from scrubjay.models.results import NOTHING_FROM_TIME, WEAK_RELEVANCE, Answer, Candidate, Notice, count_strong
from scrubjay.search import fusion, relevance, results, validity
from scrubjay.search.candidates import (
    ChannelResults,
    Ranking,
    allows_archived,
    archived_fallback,
    filter_records,
    retrieve_candidates,
)
from scrubjay.search.dedup import (
    DERIVED_PREFIXES,
    apply_caps,
    collapse_facts,
    evidence_by_memory,
    is_digest,
    maximal_marginal_relevance,
)
from scrubjay.search.graph import expand_by_graph, graph_ranking
from scrubjay.search.plan import QueryPlan, build_plan
from scrubjay.search.query import without_quotes
from scrubjay.search.request import SearchRequest
from scrubjay.search.results import Selection
from scrubjay.search.turn_ranking import order_turns
from scrubjay.storage.interface import RankingMetadata, Reader
from scrubjay.tracing import annotate, traced

if TYPE_CHECKING:
    from scrubjay.embeddings.base import AnyEmbedder
    from scrubjay.search.expansion import CategoryScores
    from scrubjay.search.rerank import RerankOptions

DEPTH_FACTOR: Final = 8
"""Factor by which channels are read deeper where an answer is short."""
MAX_DEPTH: Final = 3_200
"""Maximum number of hits read of a channel: this bounds the work."""
NEIGHBOUR_FACTOR: Final = 3
"""Candidates read for each result where neighbouring turns join a better one."""
SESSION_DEPTH: Final = 400
"""Hits of a channel from which conversations are ranked: more than the best turn of each is needed."""
REPLACED_RESULTS: Final = 3
"""First results that are checked for a later memory that says that one of their values was replaced or is gone."""
MIN_SHARE: Final = 0.5
"""Minimum score of a memory added by a link or a category, as a share of the best; a threshold replaces it."""


@frozen
class RetrievalState:
    """A query and its channels' rankings: any memory can be scored by them.

    ``archived`` are archived memories that may answer, where only some may; ``categories`` is None where they are not
    descended.
    """

    reader: Reader
    request: SearchRequest
    plan: QueryPlan
    channels: ChannelResults
    archived: frozenset[str]
    categories: CategoryScores | None = None

    @property
    def at(self) -> int:
        """UTC microseconds of the time that is asked about."""
        return self.request.now if self.plan.true_at is None else self.plan.true_at


def run_search(
    reader: Reader,
    embedders: Sequence[AnyEmbedder],
    request: SearchRequest,
    reranker: RerankOptions | None = None,
) -> Answer:
    """Answer one query from one consistent view, retrying without quotes if no memory contains them."""
    first = _search_archive_too(reader, embedders, request, reranker)
    unquoted = "" if first.results or first.nearest else without_quotes(request.query)
    if not unquoted:
        return first
    second = _search_archive_too(reader, embedders, replace(request, query=unquoted), reranker)
    return replace(second, partial=(*second.partial, UNQUOTED)) if second.results or second.nearest else first


UNQUOTED: Final = Notice("The quoted text was not found; searched without the quotes.")


def _search_archive_too(
    reader: Reader,
    embedders: Sequence[AnyEmbedder],
    request: SearchRequest,
    reranker: RerankOptions | None,
) -> Answer:
    """Answer one query; where nothing active is likely to answer, search the archive too."""
    state = retrieve(reader, embedders, request)
    active_answer = answer(state, reranker)
    if not allows_archived(state.plan) or count_strong(result.relevance for result in active_answer.results):
        return active_answer
    request = replace(request, where=replace(request.where, statuses=("archived",)))
    if not reader.latest(request.where, 1):
        return active_answer
    archive = retrieve(reader, embedders, request)
    archive_reranker = None if active_answer.results else reranker  # reranking twice doubles the time
    archive = replace(archive, plan=replace(archive.plan, true_at=state.plan.true_at))
    archive_answer = answer(archive, archive_reranker)
    best = max((result.relevance or 0.0 for result in active_answer.results), default=0.0)
    likelier = [
        result for result in archive_answer.results if result.relevance is None or result.relevance > best
    ]
    if not likelier:
        return active_answer
    return replace(
        archive_answer,
        results=(*likelier, *active_answer.results)[: state.plan.limit],
        partial=tuple(dict.fromkeys((*active_answer.partial, *archive_answer.partial))),
        notes=(*archive_answer.notes, "Archived memories are likelier to answer."),
        displaced=active_answer.displaced,
    )


@traced("scrubjay.search.retrieve")
def retrieve(reader: Reader, embedders: Sequence[AnyEmbedder], request: SearchRequest) -> RetrievalState:
    """Plan a query and run its channels."""
    plan = build_plan(request, reader)
    archived = archived_fallback(plan, reader)
    if archived:
        plan = replace(plan, where=replace(plan.where, statuses=("active", "archived")))
    channels = retrieve_candidates(plan, reader, embedders)
    categories = None
    if plan.expansion.hierarchy and "hierarchy" in plan.stages and channels.rankings:
        from scrubjay.search.expansion import score_categories

        categories = score_categories(plan, channels.rankings, reader, embedders)
    return RetrievalState(reader, request, plan, channels, archived, categories)


def answer(state: RetrievalState, reranker: RerankOptions | None = None) -> Answer:
    """Select the memories that answer and build readable results."""
    request, plan = state.request, state.plan
    selection = select_answers(state, reranker)
    counts_age = request.by == "memory" and not selection.abstained
    notes = plan.notes + state.channels.notes
    if selection.low_confidence_count and plan.tier_options is not None:
        floor = f"{plan.tier_options.floor:g}"
        notes += (f"{selection.low_confidence_count:,} found with a confidence below {floor} were left out.",)
    shown = (selection.groups or selection.nearest)[: plan.limit]
    built = results.build_results(state.reader, selection, shown, plan, state.channels.terms, request)
    return Answer(
        results=built if selection.groups else (),
        nearest=() if selection.groups else built,
        partial=state.channels.partial + selection.partial,
        took_ms=0.0,
        notes=notes,
        displaced=fusion.displaced_by_age(selection.candidates, plan.limit) if counts_age else (),
        silence=selection.abstained,
        as_of=iso_seconds(plan.as_of) if plan.as_of is not None else None,
    )


def select_answers(state: RetrievalState, reranker: RerankOptions | None = None) -> Selection:
    """Score, expand, order and select candidates, abstain where none answers, and place newer memories first.

    Where duplicates, or the turns of few conversations, leave the answer short, the channels are read deeper.
    """
    request, depth = state.request, state.plan.depth
    by_session = request.by == "session"
    if by_session:
        depth = max(depth, SESSION_DEPTH)
        state = replace(state, channels=state.channels.with_depth(depth))
    selection = Selection()
    while True:
        _score(selection, state)
        _expand(selection, state)
        _order(selection, state, reranker)
        _select(selection, state)
        short = len(selection.groups) < state.plan.limit
        repetitive = by_session or selection.copies or request.neighbours
        exhausted = all(len(ranking.hits) < depth for ranking in state.channels.rankings)
        if not (short and repetitive) or exhausted or depth >= MAX_DEPTH:
            break
        depth = min(depth * DEPTH_FACTOR, MAX_DEPTH)
        state = replace(state, channels=state.channels.with_depth(depth))
    _abstain(selection, state)
    _place_results(selection, state)
    return selection


@traced("scrubjay.search.fuse")
def _score(selection: Selection, state: RetrievalState) -> None:
    """Fuse the rankings of all hits; only fusion ``auto`` has features."""
    plan, reader, rankings = state.plan, state.reader, state.channels.rankings
    ids = list(dict.fromkeys((*fusion.candidate_ids(rankings), *plan.question.naming_days)))
    most = max([fusion.MAX_PER_TIER, *(len(ranking.hits) for ranking in rankings)])
    selection.paths = {}
    if plan.fusion == "auto":
        rows, heads = score_rows(state, ids)
        if "graph" in plan.channels:
            score = partial(score_rows, state)
            rows, heads, selection.paths = expand_by_graph(reader, plan, state.channels, rows, heads, score)
        else:
            rows = fusion.best_first(rows)
        rows, selection.low_confidence_count = fusion.pool_tiers(rows, heads, plan.tier_options, most)
        selection.candidates = fusion.to_candidates(rows)
        annotate({"scrubjay.candidates": len(selection.candidates)})
        return
    if "graph" in plan.channels and (graph := graph_ranking(plan, state.channels, reader, ids)) is not None:
        rankings, selection.paths = (*rankings, graph), graph.paths
        ids, most = fusion.candidate_ids(rankings), max(most, len(graph.hits))
    fused, heads = _fuse_by_weights(reader, plan, rankings, ids)
    selection.candidates, selection.low_confidence_count = fusion.pool_tiers(
        fused, heads, plan.tier_options, most
    )


@traced("scrubjay.search.expand")
def _expand(selection: Selection, state: RetrievalState) -> None:
    """Add memories reached by categories and links, apply the threshold, and collapse facts into their turns."""
    plan, expansion, candidates = state.plan, state.plan.expansion, selection.candidates
    best = candidates[0].score if candidates else 0.0
    least = MIN_SHARE * best if expansion.threshold is None else expansion.threshold
    hops = expansion.links if "links" in plan.stages else 0
    if best > 0 and (state.categories is not None or hops):
        from scrubjay.search.expansion import ScoreCache, descend_categories, follow_links

        cache = ScoreCache(state.reader, plan.where, partial(score_memories, state), candidates)
        if state.categories is not None:
            candidates = descend_categories(candidates, cache, state.categories, expansion, plan.limit, least)
        if hops:
            candidates = follow_links(candidates, cache, hops, plan.limit, least)
    if expansion.threshold is not None:
        candidates = [candidate for candidate in candidates if candidate.score >= expansion.threshold]
    if plan.fusion == "auto" and "fold" in plan.stages:
        facts = [candidate.id for candidate in candidates if candidate.id.startswith(DERIVED_PREFIXES)]
        candidates, selection.collapsed = collapse_facts(candidates, evidence_by_memory(state.reader, facts))
    selection.candidates = candidates


@traced("scrubjay.search.order")
def _order(selection: Selection, state: RetrievalState, reranker: RerankOptions | None) -> None:
    """Place turns among passages by relevance, and add the reranker's scores; it runs once, however deep."""
    plan, channels, reader = state.plan, state.channels, state.reader
    if plan.fusion != "auto":
        return
    if "match" in plan.stages and state.request.by != "session" and not plan.question.time_only:
        selection.candidates, selection.features = order_turns(selection.candidates, plan, channels, reader)
    if reranker is not None and "rerank" in plan.stages:
        from scrubjay.search.rerank import add_rerank_parts, rerank_scores

        if selection.rerank_parts is None:
            scored = rerank_scores(selection.candidates, plan, channels.rarity, reader, reranker)
            selection.rerank_parts, selection.partial = scored
        selection.candidates = add_rerank_parts(selection.candidates, selection.rerank_parts)


@traced("scrubjay.search.select")
def _select(selection: Selection, state: RetrievalState) -> None:
    """Verify candidates in the order of their rank, diversify them, and group them to results."""
    plan, request = state.plan, state.request
    by_session, wanted = request.by == "session", plan.limit
    if by_session:
        wanted = MAX_DEPTH
    elif request.neighbours:
        wanted = min(wanted * NEIGHBOUR_FACTOR, MAX_DEPTH)
    unique = "deduplicate" in plan.stages and not by_session  # two conversations may say the same
    valid, selection.records, selection.copies = validity.verify_candidates(
        selection.candidates, plan, state.reader, state.archived, wanted, unique=unique
    )
    if by_session:
        selection.groups = results.rank_sessions(valid, selection.records)
        return
    if plan.fusion == "auto" and "mmr" in plan.stages:
        valid = maximal_marginal_relevance(valid, selection.records)
    if "caps" in plan.stages and (request.caps.session or request.caps.document):
        valid = apply_caps(valid, selection.records, request.caps)
    selection.groups = results.group_neighbours(valid, selection.records, request.neighbours)


@traced("scrubjay.search.abstain")
def _abstain(selection: Selection, state: RetrievalState) -> None:
    """Estimate the relevance of the first groups and keep those that answer; where none does, say why."""
    plan, channels = state.plan, state.channels
    groups = selection.groups[: max(plan.limit, relevance.FIRST_RESULTS)]
    first = [group.lead for group in groups]
    by_session = state.request.by == "session"
    compared = (
        [candidate for group in groups for candidate in (group.lead, *group.others)] if by_session else first
    )
    turns = {candidate.id: selection.records[candidate.id].is_turn for candidate in compared}
    evidence = relevance.graph_evidence(turns, selection.candidates, selection.paths)
    others = sorted({memory for referrers in evidence.values() for memory in referrers} - turns.keys())
    turns |= {
        memory: head.turn
        for memory, head in (state.reader.ranking_metadata(others) if others else {}).items()
    }
    missing = {memory: turn for memory, turn in turns.items() if memory not in selection.features}
    computed = relevance.relevance_features(plan, channels.terms, channels.rankings, missing)
    own_features = {memory: selection.features.get(memory) or computed[memory] for memory in turns}
    selection.features = relevance.propagate_relevance(own_features, evidence)
    if by_session:  # a conversation is as likely to answer as the likeliest of its turns
        for group in groups:
            features = [selection.features[candidate.id] for candidate in (group.lead, *group.others)]
            selection.features[group.lead.id] = max(features, key=lambda own: (own.plausible, own.relevance))
    least = state.request.min_relevance if "abstain" in plan.stages else 0.0
    answers, selection.abstained = relevance.decide_abstention(first, selection.features, least)
    if not first and plan.question.time_only:
        times = ", ".join(f"{time.words.strip()}, {time.shown}" for time in plan.question.times)
        selection.abstained = f"Read as {times}: {NOTHING_FROM_TIME}"
    if least is None and not answers:
        selection.nearest = selection.groups[: relevance.NEAREST_RESULTS]
    answering = {candidate.id for candidate in answers}
    selection.groups = [group for group in selection.groups if group.lead.id in answering]
    annotate({"scrubjay.abstained": bool(selection.abstained)})


def _place_results(selection: Selection, state: RetrievalState) -> None:
    """Place newer memories before those they change, others before memories marked wrong, and digests last."""
    if _prefers_newer(state):
        _answer_by_successor(selection, state)
    first = [group.lead.id for group in selection.groups[: max(state.plan.limit, relevance.FIRST_RESULTS)]]
    superseded = validity.superseded_statements(
        state.reader, {memory: selection.records[memory] for memory in first}, state.at, uncertain=True
    )
    newer = _join_newer(selection, state, superseded)
    if selection.groups:
        selection.groups = _reorder(selection.groups, newer, selection, state)
    else:
        selection.nearest = _reorder(selection.nearest, newer, selection, state)
    for memory, supersessions in superseded.items():
        successors = [supersession.later.id for supersession in supersessions]
        newer[memory] = tuple(dict.fromkeys((*successors, *newer.get(memory, ()))))
    selection.newer = newer


def _prefers_newer(state: RetrievalState) -> bool:
    return state.request.by == "memory" and "recency" in state.plan.stages and state.plan.timeless


def _join_newer(
    selection: Selection,
    state: RetrievalState,
    superseded: Mapping[str, Sequence[validity.Supersession]],
) -> dict[str, tuple[str, ...]]:
    """Return, by result, the memories that may have changed it.

    Where newer ones are preferred, those that belong before a result are added to the results.
    """
    leads = [group.lead.id for group in selection.groups or selection.nearest]
    newer, corrected = _find_newer(state, {memory: selection.records[memory] for memory in leads})
    if not _prefers_newer(state):
        return newer
    newer = _find_replacements(selection, state) | newer
    later = _choose_later(selection, state, superseded, newer, corrected)
    newer_than_added, _ = _find_newer(state, _join_later(selection, state, later))
    return newer | newer_than_added


def _reorder(
    groups: Sequence[results.ResultGroup],
    newer: Mapping[str, Sequence[str]],
    selection: Selection,
    state: RetrievalState,
) -> list[results.ResultGroup]:
    """Apply the rules of order, of which each names the memories that belong before another.

    Where two rules contradict, the later one holds; some depend on the order that the earlier ones made.
    """
    plan, records, features = state.plan, selection.records, selection.features
    by_memory, place_ahead = state.request.by == "memory", validity.place_ahead
    groups = place_ahead(groups, selection.joined)
    if _prefers_newer(state) and plan.fusion == "auto":
        best = [group.lead for group in groups[: relevance.FIRST_RESULTS]]
        equivalents = validity.newer_equivalents(best, records, features, plan, state.channels.terms)
        groups = place_ahead(groups, equivalents)
    groups = place_ahead(groups, newer)
    groups = place_ahead(groups, selection.joined)
    if by_memory and plan.fusion == "auto" and "decay" in plan.stages:
        groups = place_ahead(groups, validity.better_than_wrong(groups, records, features))
    if by_memory:
        groups = place_ahead(groups, validity.better_than_digests(groups, records, features, state.reader))
    return groups


def _find_newer(
    state: RetrievalState, records: Mapping[str, Record]
) -> tuple[dict[str, tuple[str, ...]], Set[str]]:
    """Return, by result, the memories that may have changed it, and which a later turn of its conversation corrects."""
    first = dict(islice(records.items(), relevance.FIRST_RESULTS))
    corrections = validity.find_corrections(state.reader, first, state.at)
    linked = validity.find_newer(state.reader, records, state.at)
    newer = {
        memory: tuple(dict.fromkeys((*corrections.get(memory, ()), *linked.get(memory, ()))))
        for memory in records
        if memory in corrections or memory in linked
    }
    return newer, corrections.keys()


def _find_replacements(selection: Selection, state: RetrievalState) -> dict[str, tuple[str, ...]]:
    """Return, by likely result, the latest memory that says that a value of it is replaced or gone."""
    likely = [
        selection.records[group.lead.id]
        for group in selection.groups[:REPLACED_RESULTS]
        if selection.features[group.lead.id].relevance >= WEAK_RELEVANCE
    ]
    if not likely:
        return {}
    from scrubjay.search.replacements import find_replacements

    asked = {form for group in state.plan.groups for form in group.forms}
    found = find_replacements(state.reader, likely, asked, state.plan.where)
    return {memory: (later,) for memory, later in found.items()}


def _answer_by_successor(selection: Selection, state: RetrievalState) -> None:
    """Put first the statement that holds now, where one that it superseded is likelier to answer than anything active.

    "I moved to Lisbon" shares no word with "where do I live?", but it superseded "I live in Porto".
    """
    first = selection.groups[: relevance.FIRST_RESULTS]
    best = max((selection.features[group.lead.id].relevance for group in first), default=0.0)
    likelier = _likelier_superseded(state, best)
    if not likelier:
        return
    current = validity.successors(state.reader, sorted(likelier), state.at)
    records = {record.id: record for later in current.values() for record in later}
    scored = score_memories(state, filter_records(state.reader, state.plan.where, records))
    evidence = {
        candidate.id: [old for old, later in current.items() if records[candidate.id] in later]
        for candidate in scored
    }
    features = relevance.propagate_relevance({**likelier, **_features(state, scored, records)}, evidence)
    better = [candidate for candidate in scored if features[candidate.id].relevance > best]
    if not better:
        return
    better.sort(key=lambda candidate: (-features[candidate.id].relevance, candidate.id))
    placed = {candidate.id for candidate in better}
    others = [group for group in selection.groups if group.lead.id not in placed]
    selection.groups = [*map(results.ResultGroup, better), *others]
    selection.features = {**selection.features, **features}
    selection.records = {**selection.records, **records}
    selection.abstained, selection.nearest = "", []


def _likelier_superseded(state: RetrievalState, best: float) -> dict[str, relevance.RelevanceFeatures]:
    """Return the superseded memories that are likely to answer, and more so than ``best``."""
    plan, reader, channels = state.plan, state.reader, state.channels
    if channels.terms is None or state.request.min_relevance is not None or not allows_archived(plan):
        return {}
    where = replace(plan.where, statuses=("superseded",))
    if not reader.latest(where, 1):
        return {}
    old = [hit.id for hit in reader.words(plan.groups, where).top(relevance.FIRST_RESULTS)]
    turns = dict.fromkeys(old, False)
    features = relevance.relevance_features(plan, channels.terms, channels.rankings, turns)
    return {memory: own for memory, own in features.items() if own.sufficient and own.relevance > best}


def _choose_later(
    selection: Selection,
    state: RetrievalState,
    superseded: Mapping[str, Sequence[validity.Supersession]],
    newer: Mapping[str, tuple[str, ...]],
    corrected: Set[str],
) -> dict[str, list[Record]]:
    """Return, by result, the later memories to place before it.

    Those are the memories that supersede a statement by which it answers: one that holds all its words of the query. Of
    a result that is likely to answer it is also the last memory that may have changed it, by a link or by its words: "I
    moved to Oldenburg" shares no word with "where do I live?". A turn that is corrected later in its conversation need
    not be likely.
    """
    later: dict[str, list[Record]] = {}
    for memory, own in superseded.items():
        held, *statement_terms = relevance.terms_held(
            state.channels.terms, [memory, *(supersession.statement.id for supersession in own)]
        )
        later[memory] = [
            supersession.later
            for supersession, words in zip(own, statement_terms, strict=True)
            if words >= held
        ]
    leads = [group.lead.id for group in selection.groups[: relevance.FIRST_RESULTS]]
    likely = [
        memory
        for memory in leads
        if memory in corrected or selection.features[memory].relevance >= WEAK_RELEVANCE
    ]
    changed = {memory: newer[memory] for memory in likely if memory in newer}
    for memory, last in validity.last_changes(state.reader, changed, state.at).items():
        later.setdefault(memory, []).append(last)
    others = [memory for memory in leads if memory not in later]
    for memory, last in validity.find_value_updates(others, selection.records, state.at).items():
        later[memory] = [last]
    return later


def _join_later(
    selection: Selection, state: RetrievalState, later: Mapping[str, Sequence[Record]]
) -> dict[str, Record]:
    """Note which later memories belong before each result, and add those that pass the caller's filters.

    Returns the memories that were added.
    """
    if not later:
        return {}
    leads = {
        candidate.id: group.lead.id for group in selection.groups for candidate in (group.lead, *group.others)
    }
    leads |= {
        copy: memory
        for memory, own in selection.copies.items()
        if memory in leads and not is_digest(selection.records[memory])  # it comes behind what it quotes
        for copy in own
    }
    missing = {record.id: record for own in later.values() for record in own if record.id not in leads}
    passing = [Candidate(memory, ()) for memory in filter_records(state.reader, state.plan.where, missing)]
    passing = validity.match_phrases(passing, missing, replace(state.plan.query, phrases=()))
    added = score_memories(state, [candidate.id for candidate in passing])
    selection.groups = [*selection.groups, *map(results.ResultGroup, added)]
    placed = {group.lead.id for group in selection.groups}
    selection.joined = {
        memory: tuple(
            lead for lead in (leads.get(record.id, record.id) for record in own) if lead in placed - {memory}
        )
        for memory, own in later.items()
    }
    selection.features = {**selection.features, **_features(state, added, missing)}
    selection.records = {**selection.records, **missing}
    return {candidate.id: missing[candidate.id] for candidate in added}


def _features(
    state: RetrievalState, candidates: Sequence[Candidate], records: Mapping[str, Record]
) -> dict[str, relevance.RelevanceFeatures]:
    turns = {candidate.id: records[candidate.id].is_turn for candidate in candidates}
    return relevance.relevance_features(state.plan, state.channels.terms, state.channels.rankings, turns)


def score_memories(state: RetrievalState, ids: Sequence[str]) -> list[Candidate]:
    """Score any memories, found by the channels or not, best first; those that may not answer are left out."""
    plan, rankings = state.plan, state.channels.rankings
    if not rankings or not ids:
        return []
    if plan.fusion == "auto":
        rows, heads = score_rows(state, ids)
        return fusion.to_candidates(
            fusion.pool_tiers(fusion.best_first(rows), heads, plan.tier_options, sys.maxsize)[0]
        )
    fused, heads = _fuse_by_weights(state.reader, plan, rankings, ids)
    return fusion.pool_tiers(fused, heads, plan.tier_options, sys.maxsize)[0]


def _fuse_by_weights(
    reader: Reader, plan: QueryPlan, rankings: Sequence[Ranking], ids: Sequence[str]
) -> tuple[list[Candidate], Mapping[str, RankingMetadata]]:
    weights = fusion.split_weights(rankings, plan.weights)
    if plan.fusion == "rrf":
        wanted = set(ids)
        fused = [candidate for candidate in fusion.fuse_by_rank(rankings, weights) if candidate.id in wanted]
    elif plan.fusion == "raw":
        records = reader.get(ids) if plan.trigram_weight else {}
        texts = {memory: record.content for memory, record in records.items()}
        fused = fusion.fuse_raw(rankings, ids, weights, plan.query.text, texts, plan.trigram_weight)
    else:
        fused = fusion.fuse_scores(rankings, ids, weights)
    return fusion.best_first(fused), reader.ranking_metadata(ids) if plan.tier_options is not None else {}


def score_rows(
    state: RetrievalState, ids: Sequence[str]
) -> tuple[fusion.ScoreTable, Mapping[str, RankingMetadata]]:
    """Score memories by fusion ``auto``: weighted channels, then every feature; in no order."""
    reader, plan, channels, stages = state.reader, state.plan, state.channels, state.plan.stages
    heads, with_neighbours = reader.ranking_metadata(ids), sorted(set(ids))
    turns = [memory for memory, head in heads.items() if head.turn] if "neighbours" in stages else []
    adjacent = reader.adjacent(turns) if turns else {}
    if adjacent:
        with_neighbours = sorted({*ids, *(memory for near in adjacent.values() for memory in near)})
        heads = reader.ranking_metadata(with_neighbours)
    weights = fusion.channel_weights(channels.rankings, plan.query.text)
    table = fusion.build_table(channels.rankings, with_neighbours, weights, heads)
    if "evidence" in stages:
        speakers = {head.role for head in heads.values() if head.turn and head.role} - GENERIC_ROLES
        speaker = fusion.find_speaker(plan.query.text, speakers) if speakers else None
        fusion.add_text_features(table, plan.groups, channels.rarity, speaker)
        if plan.query.preferred:
            fusion.add_phrase_feature(table, reader.get(with_neighbours), plan.query.preferred)
    wanted = set(ids)
    rows = [row for row in table if row.id in wanted]
    if adjacent or any(head.turn for head in heads.values()):
        scores = [row.score for row in table]  # without what they borrow from each other
        if "session" in stages:
            fusion.add_session_feature(rows, table, scores)
        fusion.add_neighbour_feature(rows, dict(zip(with_neighbours, scores, strict=True)), adjacent)
    if "decay" in stages:
        fusion.add_decay(rows, state.request.now)
    if "dated" in stages and plan.question.times:
        # The day of an import is not the day of an undated text.
        inside = reader.get(fusion.ids_within(rows, plan.question.times))
        undated = {memory for memory, record in inside.items() if record.is_undated_import}
        fusion.add_date_feature([row for row in rows if row.id not in undated], plan.question.times)
    if plan.question.naming_days:
        fusion.add_named_day_feature(rows, plan.question.naming_days)
    if plan.tier_options is not None:
        fusion.add_tier_features(rows, plan.tier_options)
    return rows, heads
