"""Briefing: what an agent should know before a piece of work, put together for a session's first prompt.

A prompt describes a symptom; the decision behind it mostly has other words, so that a search's first result alone is
not enough. The best memories are chosen by what they are: decisions weigh more than talk, what people wrote more than
what programs replied. The most relevant comes first, but a later decision before the one it may have replaced, and the
last line says which holds. A decision comes with its reason. Later prompts get a shorter briefing.
No cross-encoder is used: with late interaction, searches gain nothing from one (bench/LOG.md; not measured here).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from scrubjay.models.records import PERSON_ROLES, Record
from scrubjay.models.results import Context
from scrubjay.search.amendments import decides, find_successors, gives_reason, rare_terms
from scrubjay.search.context import (
    LATER_HOLDS,
    NOTHING_FOUND,
    OUTDATED,
    ContextRequest,
    citations_of,
    fast_embedder,
    fit_tokens,
    injectable_items,
    prompt_record,
    render_block,
    says_something,
    token_counter,
)
from scrubjay.search.dedup import is_digest
from scrubjay.search.pipeline import RetrievalState, retrieve, select_answers
from scrubjay.search.relevance import term_weights, terms_held
from scrubjay.search.results import Selection
from scrubjay.storage.interface import Reader

if TYPE_CHECKING:
    from scrubjay.embeddings.base import AnyEmbedder


CANDIDATES: Final = 40
"""Best memories of the prompt that are considered."""
PROJECT_SHARE: Final[dict[str, float]] = {"words": 0.7, "base": 0.7, "both": 0.35}
"""Share of the usual relevance that suffices in a project that has memories, by the models used: 21 of 22 first prompts
reach it, and 9 of 132 prompts that no stored memory answers (bench/LOG.md)."""
DECISION_WEIGHT: Final = 0.35
PERSON_WEIGHT: Final = 0.1
REPLY_WEIGHT: Final = -0.25
SHORT_WEIGHT: Final = -0.3
"""What is added to a score, of which the best is 1, for a decision, for what a person wrote, for a
program's reply, and for a memory of fewer than `SHORT_TERMS` rare words."""
SHORT_TERMS: Final = 5
FIRST_SHARE: Final = 0.6
LATER_SHARE: Final = 0.8
"""Share of the best score that a memory must have, at the first prompt of a session and at later ones."""
MAX_MEMORIES: Final = 6
MAX_LATER: Final = 2
"""Maximum number of memories injected, at the first prompt and at later ones, with reasons and later decisions."""
SAME_SHARE: Final = 0.4
"""Share of the prompt's words in a memory, by weight, that a later one about the same holds, too."""
KNOWN_SHARE: Final = 0.5
"""Minimum relevance of a memory, as a share of that of the most relevant one that the session has already."""
MAX_READ: Final = 20
"""Best memories that are checked for whether they may be injected."""
MIN_SPREAD: Final = 1.0
"""Minimum difference of the best and the worst score: memories that answer about alike get scores about alike."""
MAX_REASONS: Final = 2
"""Decisions beside which a reason is looked for."""
NEAR_TURNS: Final = 2
"""Turns before and behind a decision among which its reason is looked for."""


def build_briefing(
    reader: Reader, embedders: Sequence[AnyEmbedder], request: ContextRequest, *, first: bool
) -> Context:
    """Return the memories about the prompt, the most relevant first; an empty context if there are none.

    ``first`` tells whether the prompt begins the session. At later ones less is added, and each memory must
    concern the prompt itself.
    """
    assert request.asking is not None
    search = replace(request.asking, where=request.scope.where(), limit=CANDIDATES, min_relevance=0.0)
    state = retrieve(reader, embedders, search)
    selection = select_answers(state)
    records, partial = selection.records, state.channels.partial
    scores = _briefing_scores(selection, prompt_record(request))
    relevant = _relevant_ids(selection, list(scores), request.scope.project)
    if not relevant:
        return Context("", (), (), 0, request.budget, partial, silence=NOTHING_FOUND)
    order = sorted(scores, key=lambda memory: (-scores[memory], memory))
    base = fast_embedder(embedders)
    best = order if first else [memory for memory in order if memory in relevant]
    claims = [("relevant", records[memory]) for memory in best[:MAX_READ]]
    unique, omitted, _ = injectable_items(reader, claims, state, request)
    if relevant <= {item.id for item in omitted if item.why == OUTDATED}:
        unique = []
    relevance = {memory: own.relevance for memory, own in selection.features.items()}
    known_relevance = max((relevance[memory] for memory in order if memory in request.known), default=0.0)
    # Later prompts also compare with what the session has: if that answers, far less relevant memories add nothing.
    compared = [item.record.id for item in unique] if first else order
    best_score = max((scores[memory] for memory in compared), default=0.0)
    least = (FIRST_SHARE if first else LATER_SHARE) * best_score
    sufficient = {memory for memory, own in selection.features.items() if own.sufficient}
    chosen = [
        item.record
        for item in unique
        if (scores[item.record.id] >= least or item.record.id in sufficient)
        and relevance[item.record.id] >= KNOWN_SHARE * known_relevance
    ][: MAX_MEMORIES if first else MAX_LATER]
    chosen.sort(key=lambda record: -relevance[record.id])
    answers_alike = _answer_comparison(state, order, relevant)
    later = find_successors(chosen, [records[memory] for memory in order], answers_alike)
    reasons = _reason_turns(reader, chosen) if first else {}
    shown: dict[str, Record] = {}
    for record in chosen:
        newer = [records[memory] for memory in selection.joined.get(record.id, ())]
        newer += [later[record.id]] if record.id in later else []
        reason = [reasons[record.id]] if record.id in reasons else []
        for neighbour in (*newer, record, *reason):
            shown.setdefault(neighbour.id, neighbour)
    claims = [("relevant", record) for record in shown.values()]
    items, repeats, _ = injectable_items(reader, claims, state, request)
    omitted = [*omitted, *(item for item in repeats if item not in omitted)]
    items = items[: MAX_MEMORIES if first else MAX_LATER]
    notice = LATER_HOLDS if len(items) > 1 else ""
    placed, unplaced = fit_tokens(items, request.budget, base, notice)
    text = render_block(placed, notice)
    return Context(
        text, citations_of(placed, selection.features), (*omitted, *unplaced), token_counter(base)(text),
        request.budget, partial, silence="" if text else NOTHING_FOUND,
    )  # fmt: skip


def _briefing_scores(selection: Selection, prompt: Record) -> dict[str, float]:
    """Return the scores of the memories that say something, on a scale of their own."""
    groups = [group.lead for group in selection.groups]
    ranked = [
        candidate
        for candidate in groups
        if says_something(record := selection.records[candidate.id], prompt) and not is_digest(record)
    ]
    if not ranked:
        return {}
    best = max(candidate.score for candidate in ranked)
    spread = max(best - min(candidate.score for candidate in ranked), MIN_SPREAD)
    scores = {}
    for candidate in ranked:
        record = selection.records[candidate.id]
        score = 1.0 - (best - candidate.score) / spread
        score += DECISION_WEIGHT if decides(record) else 0.0
        score += PERSON_WEIGHT if record.turn is None or record.role in PERSON_ROLES else REPLY_WEIGHT
        score += SHORT_WEIGHT if len(rare_terms(record)) < SHORT_TERMS else 0.0
        scores[candidate.id] = score
    return scores


def _answer_comparison(
    state: RetrievalState, ids: Sequence[str], relevant: Set[str]
) -> Callable[[str, str], bool]:
    """Return a function that says whether a relevant memory holds `SAME_SHARE` of the prompt's words in another."""
    weights = term_weights(state.plan, state.channels.terms)
    terms = dict(zip(ids, terms_held(state.channels.terms, ids), strict=True))

    def weight(words: frozenset[str]) -> float:
        return math.fsum(weights.get(word, 0.0) for word in words)

    def answers_alike(old: str, new: str) -> bool:
        shared = weight(terms[old] & terms[new])
        return new in relevant and 0 < SAME_SHARE * weight(terms[old]) <= shared

    return answers_alike


def _relevant_ids(selection: Selection, ids: Sequence[str], project: str | None) -> set[str]:
    """Return the memories likely enough to concern the prompt.

    If any is of the project, less relevance suffices for all.
    """
    features = {memory: selection.features[memory] for memory in ids if memory in selection.features}
    has_own = bool(project) and any(selection.records[memory].project == project for memory in ids)
    return {
        memory
        for memory, own in features.items()
        if own.sufficient or (has_own and own.relevance >= PROJECT_SHARE[own.family] * own.least)
    }


def _reason_turns(reader: Reader, chosen: Sequence[Record]) -> dict[str, Record]:
    """Return a turn with a reason beside each of the first decisions that were made in a conversation."""
    known = {record.id for record in chosen}
    reasons = {}
    decisions = [
        record for record in chosen if record.session and record.turn is not None and decides(record)
    ]
    for record in decisions[:MAX_REASONS]:
        if gives_reason(record):
            continue
        assert record.session is not None
        assert record.turn is not None
        near = reader.turns(record.session, max(record.turn - NEAR_TURNS, 0), record.turn + NEAR_TURNS)
        near.sort(key=lambda turn: (abs((turn.turn or 0) - (record.turn or 0)), turn.turn))
        new = (turn for turn in near if turn.id not in known and turn.status == "active")
        reason = next(filter(gives_reason, new), None)
        if reason is not None:
            known.add(reason.id)
            reasons[record.id] = reason
    return reasons
