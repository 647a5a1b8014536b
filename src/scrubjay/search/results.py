"""Results: group turns of one conversation, rank sessions, and build readable results with snippets and citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from pathlib import Path
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.models.dates import iso_seconds, record_date, to_local
from scrubjay.models.records import Record, Source
from scrubjay.models.results import (
    Candidate,
    Contribution,
    Explanation,
    NearbyTurn,
    Result,
    line_range,
    record_citation,
)
from scrubjay.models.sources import repository_of
from scrubjay.search.candidates import TermRanking
from scrubjay.search.dedup import evidence_by_memory
from scrubjay.search.plan import QueryPlan
from scrubjay.search.relevance import RelevanceFeatures
from scrubjay.search.request import SearchRequest
from scrubjay.storage.interface import Reader
from scrubjay.text.snippets import best_sentences, best_snippet
from scrubjay.text.tokenizer import TermGroup


@frozen
class ResultGroup:
    """A memory, and candidates of its conversation that are shown with it, best first."""

    lead: Candidate
    others: tuple[Candidate, ...] = ()


@dataclass(slots=True)
class Selection:
    """The candidates of one search, best first; each step fills its part.

    Attributes:
        low_confidence_count: How many were left out for low confidence.
        paths: Memory to the hit and the name that the graph reached it by.
        collapsed: Turn to the facts that it represents.
        rerank_parts: Memory to its reranker part; None before the reranker has run.
        partial: Failures of reranking, one sentence each.
        copies: Memory to its duplicates, which are not shown.
        features: The relevance features of the first candidates.
        groups: The results, best first; in the end only those that answer.
        newer: Memory to the later memories that may have changed it, or supersede a statement of it; the newest first.
        joined: Memory to the later memories that are placed before it: it answers by a statement that they supersede,
            or they may have changed it.
        nearest: The first results where none is likely to answer.
        abstained: Why nothing answers; else empty.
    """

    candidates: list[Candidate] = field(default_factory=list)
    low_confidence_count: int = 0
    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    collapsed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rerank_parts: Mapping[str, Contribution] | None = None
    partial: tuple[str, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)
    copies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    features: Mapping[str, RelevanceFeatures] = field(default_factory=dict)
    groups: list[ResultGroup] = field(default_factory=list)
    newer: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nearest: list[ResultGroup] = field(default_factory=list)
    abstained: str = ""


SECOND_TURN_SHARE: Final = 0.5
"""Share of its second best turn's score that a conversation gains. LoCoMo hit@1 .632 with none, .645 with half, .632
with all of it, nDCG .745, .749, .739; LongMemEval .945, .946, .933; more turns, or other sums, are no better
(bench/LOG.md)."""
MAX_SESSION_TURNS: Final = 3
"""Turns of a conversation that are shown: its best, and two more."""


def rank_sessions(candidates: Sequence[Candidate], records: Mapping[str, Record]) -> list[ResultGroup]:
    """Rank conversations by their best turn and half of the second, where that is positive."""
    turns: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        session = records[candidate.id].session
        if session is not None:
            turns.setdefault(session, []).append(candidate)
    groups = []
    for own in turns.values():
        lead = own[0]
        second = own[1].score if len(own) > 1 else 0.0
        if second > 0:
            lead = lead.plus(Contribution("second turn", second, second, SECOND_TURN_SHARE))
        groups.append(ResultGroup(lead, tuple(own[1:MAX_SESSION_TURNS])))
    return sorted(groups, key=lambda group: (-group.lead.score, group.lead.id))


MAX_TURNS: Final = 21
"""A result with this many turns around it joins no further ones: the most that ``neighbours`` shows around one."""
TURN_SNIPPET: Final = 300
"""Characters of a turn shown with a result; `get` returns all of it."""

TurnPlace = tuple[str, int]
"""A conversation, and a turn of it."""


def group_neighbours(
    candidates: Sequence[Candidate], records: Mapping[str, Record], neighbours: int
) -> list[ResultGroup]:
    """Let each candidate that would be shown around a better one join it."""
    if not neighbours:
        return [ResultGroup(candidate) for candidate in candidates]
    leads: list[Candidate] = []
    others: dict[str, list[Candidate]] = {}
    lead_by_place: dict[TurnPlace, str] = {}
    sizes: dict[str, int] = {}
    for candidate in candidates:
        place = _turn_place(records[candidate.id])
        lead = lead_by_place.get(place, candidate.id) if place is not None else candidate.id
        if lead == candidate.id:
            leads.append(candidate)
        else:
            others.setdefault(lead, []).append(candidate)
        if place is not None and sizes.get(lead, 0) < MAX_TURNS:
            session, turn = place
            for near in [(session, turn + offset) for offset in range(-neighbours, neighbours + 1)]:
                if lead_by_place.setdefault(near, lead) == lead:
                    sizes[lead] = sizes.get(lead, 0) + 1
    return [ResultGroup(lead, tuple(others.get(lead.id, ()))) for lead in leads]


def surrounding_turns(
    reader: Reader,
    groups: Sequence[ResultGroup],
    records: Mapping[str, Record],
    neighbours: int,
    words: Sequence[TermGroup],
) -> dict[str, tuple[NearbyTurn, ...]]:
    """Return the visible turns to show with each group's lead, in their order, each of them once."""
    shown = {candidate.id for group in groups for candidate in (group.lead, *group.others)}
    turns_by_lead: dict[str, tuple[NearbyTurn, ...]] = {}
    for group in groups:
        own = _turn_place(records[group.lead.id])
        if own is None:
            continue
        scores = {candidate.id: candidate.score for candidate in group.others}
        nearby_turns = {candidate.id: records[candidate.id] for candidate in group.others}
        for candidate in (group.lead, *group.others) if neighbours else ():
            place = _turn_place(records[candidate.id])
            if place is not None:
                turns = reader.turns(place[0], place[1] - neighbours, place[1] + neighbours)
                turns = [turn for turn in turns if turn.id not in shown and _turn_place(turn)]
                nearby_turns |= {turn.id: turn for turn in turns}
        shown |= nearby_turns.keys()
        nearby = []
        for turn in nearby_turns.values():
            offset = 0 if turn.turn is None else turn.turn - own[1]
            text = best_snippet(turn.content, words, TURN_SNIPPET).text
            nearby.append(
                NearbyTurn(turn.id, offset, turn.role, record_date(turn), text, scores.get(turn.id))
            )
        turns_by_lead[group.lead.id] = tuple(sorted(nearby, key=lambda turn: (turn.offset, turn.id)))
    return turns_by_lead


def _turn_place(record: Record) -> TurnPlace | None:
    if record.session is None or record.turn is None or record.origin == "derived":
        return None
    return record.session, record.turn


MAX_EVIDENCE = 5
"""Maximum number of ids of evidence in a result; `get` and `history` return all."""
SESSION_LABEL_LENGTH = 12
"""Characters of a session's name that are shown."""
MAX_COPIES = 5
"""Maximum number of ids of duplicates in a result; all are counted."""


def build_results(
    reader: Reader,
    selection: Selection,
    groups: Sequence[ResultGroup],
    plan: QueryPlan,
    terms: TermRanking | None,
    request: SearchRequest,
) -> tuple[Result, ...]:
    """Build readable results: snippet, place, date, citation, and the memories that belong to each."""
    records = selection.records
    ids = [group.lead.id for group in groups]
    sources = {source.id: source for source in reader.sources()}
    evidence = evidence_by_memory(reader, [memory for memory in ids if records[memory].origin == "derived"])
    turns: Mapping[str, tuple[NearbyTurn, ...]] = {}
    if request.neighbours or request.by == "session":
        turns = surrounding_turns(reader, groups, records, request.neighbours, plan.groups)
    word_scores = terms.scored.group_scores(ids) if terms is not None else [()] * len(ids)
    results = []
    for group, scores in zip(groups, word_scores, strict=True):
        record, score = records[group.lead.id], group.lead.score
        explanation = None
        if request.explain:
            words = {g.word: round(score, 6) for g, score in zip(plan.groups, scores, strict=False) if score}
            path = selection.paths.get(record.id, ())
            explanation = Explanation(group.lead.contributions, words=words, way=path)
        text = result_snippet(record.content, plan.groups, request.snippet)
        features = selection.features.get(record.id)
        copies = selection.copies.get(record.id, ())
        results.append(
            replace(
                build_result(record, sources, score, text, explanation, request.user),
                relevance=features.relevance if features is not None and features.reliable else None,
                evidence=evidence.get(record.id, ())[:MAX_EVIDENCE],
                statements=selection.collapsed.get(record.id, ()),
                copies=len(copies),
                copied=copies[:MAX_COPIES],
                turns=turns.get(record.id, ()),
                newer=selection.newer.get(record.id, ()),
            )
        )
    return tuple(results)


SENTENCES: Final = range(100, 501)
"""Characters of a snippet that is whole sentences: fewer hold none, and of more half a sentence is a small part."""


def result_snippet(content: str, groups: Sequence[TermGroup], length: int) -> str:
    cut = best_sentences if length in SENTENCES else best_snippet
    return cut(content, groups, length).text


def build_result(
    record: Record,
    sources: Mapping[str, Source],
    score: float,
    text: str,
    explanation: Explanation | None,
    user: str = "",
) -> Result:
    place = record.place
    source = sources.get(place.source) if place is not None else None
    path = full_path(record, sources)
    first, last = line_range(place) or (None, None)
    return Result(
        id=record.id,
        tier=record.tier,
        title=record.title or turn_title(record),
        snippet=text,
        path=path,
        line_start=first,
        line_end=last,
        date=record_date(record),
        score=score,
        relevance=None,
        citation=_citation(record, source, path),
        status=record.status,
        tags=record.tags,
        source=source.description if source is not None else "",
        origin=record.origin,
        session=record.session,
        role=record.role,
        project=record.project,
        agent=record.agent,
        explanation=explanation,
        marked_wrong=record.marked_wrong,
        valid_from=_iso_time(record.valid_from),
        valid_until=_iso_time(record.valid_until),
        owner=record.owner if user and record.owner != user else "",
    )


def _citation(record: Record, source: Source | None, path: str | None) -> str:
    """A commit is cited as git names it, without lines."""
    if path is not None and source is not None and repository_of(source):
        return path
    return record_citation(record, path)


def _iso_time(at: int | None) -> str | None:
    """Return a moment, or the day alone where one begins with it here."""
    if at is None:
        return None
    local = to_local(at)
    return local.date().isoformat() if local.time() == time() else iso_seconds(at)


def turn_title(record: Record) -> str:
    """Return the heading of a turn of a conversation: speaker, agent, session.

    Turns have no title of their own to rank by: a session's would be the same for all of them.
    """
    if record.session is None or record.turn is None:
        return ""
    to = f", {record.agent}" if record.agent and record.agent != record.role else ""
    return f"{record.role or 'turn'} {record.turn}{to}, session {record.session[:SESSION_LABEL_LENGTH]}"


def full_path(record: Record, sources: Mapping[str, Source]) -> str | None:
    """Return the absolute path of a memory's file, None for an addition."""
    place = record.place
    if place is None or place.source not in sources:
        return None
    return str(Path(sources[place.source].root) / place.path)


def full_paths(records: Sequence[Record], sources: Sequence[Source]) -> dict[str, str]:
    by_id = {source.id: source for source in sources}
    return {record.id: path for record in records if (path := full_path(record, by_id)) is not None}
