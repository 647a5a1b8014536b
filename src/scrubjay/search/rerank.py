"""Reranking: a model's second look at the first candidates, and turns placed among passages by relevance.

Turns and passages differ in length, titles and neighbours, so their scores do not compare across the two
groups; their relevance does, since it was fitted over both. A model reranker reads question and passage
together; its score joins the fused score as one more part and replaces nothing. Where it fails or is late, the
fused order stands and the answer says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError
from scrubjay.models.records import Record
from scrubjay.models.results import Candidate, Contribution
from scrubjay.search.candidates import ChannelResults
from scrubjay.search.fusion import best_first
from scrubjay.search.plan import QueryPlan
from scrubjay.search.relevance import RelevanceFeatures, relevance_features, term_weights, terms_held
from scrubjay.storage.interface import Reader
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.tokenizer import index_terms, terms_by_word

if TYPE_CHECKING:
    from scrubjay.rerankers.base import Reranker, RerankQuery

COMPARED_PASSAGES: Final = 5
"""Passages, the best by score, that a turn is compared with: what a deeper one is likelier by is chance."""
MAX_READ_TURNS: Final = 50
"""Turns, the best, that are read to see whether they only ask: as many as a reranker looks at."""
ASKING_SHARE: Final = 0.5
"""Share of its words that a turn holds outside of its questions, below which it asks."""
MAX_OWN_WORDS: Final = 3
"""Words of its own up to which a question asks the same: what holds more tells details, and of BEAM's evidence half is
such questions (R@5 .548, .286 where every question counts; bench/LOG.md)."""
TURN_GAP: Final = 1e-5
"""What a turn stays behind a memory that goes before it, at least."""


def order_turns(
    candidates: Sequence[Candidate], plan: QueryPlan, channels: ChannelResults, reader: Reader
) -> tuple[list[Candidate], Mapping[str, RelevanceFeatures]]:
    """Put each turn behind those of the first passages that are likelier to answer, and questions behind answers.

    Passages keep their order among themselves, and so do turns.

    Args:
        candidates: Best first, of fusion ``auto``.
        plan: The query plan.
        channels: The channels' rankings.
        reader: The caller's view of the store.

    Returns:
        The candidates, best first, and their features; none where there is no turn.
    """
    heads = reader.heads([one.id for one in candidates])
    is_turn = {one.id: one.id in heads and heads[one.id].turn for one in candidates}
    if not any(is_turn.values()):
        return list(candidates), {}
    features = relevance_features(plan, channels.terms, channels.rankings, is_turn)
    read = [one.id for one in candidates if is_turn[one.id]][:MAX_READ_TURNS]
    features |= question_features(features, reader.get(read) if read else {}, plan, channels)
    asking = {memory for memory, own in features.items() if own.answering < ASKING_SHARE}
    passages = [one for one in candidates if not is_turn[one.id]]
    stating = [one for one in candidates if is_turn[one.id] and one.id not in asking]
    stating = place_turns(stating, passages, features)
    answers = [
        one
        for one in (*passages[:COMPARED_PASSAGES], *stating[:COMPARED_PASSAGES])
        if features[one.id].enough
    ]
    asked = place_turns([one for one in candidates if one.id in asking], answers, features, len(answers))
    return best_first([*passages, *stating, *asked]), features


def place_turns(
    turns: Sequence[Candidate],
    others: Sequence[Candidate],
    features: Mapping[str, RelevanceFeatures],
    first: int = COMPARED_PASSAGES,
) -> list[Candidate]:
    """Return turns, none before one of the first others that is likelier to answer, in their own order.

    Args:
        turns: Best first.
        others: Best first.
        features: The relevance features of both.
        first: Others that are looked at.
    """
    found = []
    able = [(one.score, features[one.id].relevance) for one in others[:first]]
    for place, one in enumerate(turns, start=1):
        likely = features[one.id].relevance
        least = min((score for score, relevance in able if relevance > likely), default=math.inf)
        if one.score >= least:
            one = one.plus(Contribution("behind", least, least - TURN_GAP * place - one.score, 1.0))
        found.append(one)
    return best_first(found)


def question_features(
    features: Mapping[str, RelevanceFeatures],
    records: Mapping[str, Record],
    plan: QueryPlan,
    channels: ChannelResults,
) -> dict[str, RelevanceFeatures]:
    """Return what speaks for turns that only ask, and for the replies to them.

    Who asked the same before does not answer it; who was asked does, unless they say that they do not know.

    Args:
        features: The relevance features of each turn by itself.
        records: Turns.
        plan: The query plan.
        channels: The channels' rankings.
    """
    from scrubjay.text.dialogue import admits_not_knowing

    found = {
        memory: replace(features[memory], answering=share)
        for memory, share in answering_shares(records, plan, channels).items()
    }
    beside = {(record.session, record.turn): record for record in records.values() if record.turn is not None}
    for memory, sign in list(found.items()):
        asking = records[memory]
        reply = beside.get((asking.session, (asking.turn or 0) + 1))
        if sign.answering >= ASKING_SHARE or reply is None or reply.role == asking.role:
            continue
        if not admits_not_knowing(reply.content):
            own = found.get(reply.id, features[reply.id])
            found[reply.id] = replace(own, lent=max(own.lent, features[memory].relevance))
    return found


def answering_shares(
    records: Mapping[str, Record], plan: QueryPlan, channels: ChannelResults
) -> dict[str, float]:
    """Return of turns that ask the same how much of the query's words they hold beside that, 0 to 1.

    A question with details of its own ("can I fly to Lisbon on Tuesday, from gate 4?") says something, and is none.

    Args:
        records: Memories; those that are no turns are left out.
        plan: The query plan.
        channels: The channels' rankings.
    """
    from scrubjay.text.dialogue import drop_questions

    weights = term_weights(plan, channels.terms)
    forms = {group.word: group.forms for group in plan.groups}
    wanted = {form for every in forms.values() for form in every}

    def repeats(question: str) -> bool:
        said = [
            every for every in terms_by_word(question) if not any(is_uninformative(form) for form in every)
        ]
        return sum(wanted.isdisjoint(every) for every in said) <= MAX_OWN_WORDS

    ids = [memory for memory, record in records.items() if record.turn is not None]
    found = {}
    for memory, words in zip(ids, terms_held(channels.terms, ids), strict=True):
        text = records[memory].content
        rest = drop_questions(text, repeats)
        if rest is text:
            continue
        there = index_terms(rest, detect_language(rest)).counts
        held = [word for word in weights if word in words]
        whole = math.fsum(weights[word] for word in held)
        own = math.fsum(weights[word] for word in held if any(form in there for form in forms[word]))
        found[memory] = own / whole if whole else float(bool(rest))
    return found


RERANK_CHANNEL = "rerank"
"""The name of its part in a score."""


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """How a search is reranked.

    Attributes:
        reranker: The reranker.
        depth: How many candidates it scores, the best.
        deadline: Seconds that it may take.
        weight: Weight of one deviation of its scores.
    """

    reranker: Reranker
    depth: int
    deadline: float
    weight: float


def rerank_scores(
    candidates: Sequence[Candidate], question: RerankQuery, reader: Reader, options: RerankOptions
) -> tuple[dict[str, Contribution], tuple[str, ...]]:
    """Have the reranker score the first candidates.

    A part is the weight times the z-score among the scores given: the scores of rerankers have no unit in common.

    Args:
        candidates: Best first.
        question: The query.
        reader: The caller's view of the store.
        options: Reranker, depth, deadline and weight.

    Returns:
        Memory to the part of its score, and what had to be done without, one sentence each.
    """
    records = reader.get([one.id for one in candidates[: options.depth]]) if question.text else {}
    ids = [one.id for one in candidates[: options.depth] if one.id in records]
    if len(ids) < 2:
        return {}, ()
    passages = [rerank_passage(records[memory]) for memory in ids]
    try:
        raws = options.reranker.scores(question, passages, deadline=options.deadline)
        scores = _check_scores(raws, len(passages))
    except ProviderError as error:
        return {}, (f"{options.reranker.name} did not rerank: {error}",)
    scored = {memory: score for memory, score in zip(ids, scores, strict=True) if score is not None}
    values = standardize(list(scored.values()))
    parts = {
        memory: Contribution(RERANK_CHANNEL, raw, value, options.weight)
        for (memory, raw), value in zip(scored.items(), values, strict=True)
        if value
    }
    return parts, ()


def add_rerank_parts(candidates: Sequence[Candidate], parts: Mapping[str, Contribution]) -> list[Candidate]:
    """Return the candidates with the reranker's parts, best first; one without a part counts as average."""
    return best_first(one.plus(parts[one.id]) if one.id in parts else one for one in candidates)


def rerank_passage(record: Record) -> str:
    """Return what a reranker reads of a memory: its title, where it has one that the text does not begin with."""
    title = record.title.strip()
    if not title or record.content.lstrip("# \n").startswith(title):
        return record.content
    return f"{title}\n{record.content}"


def standardize(scores: Sequence[float]) -> list[float]:
    """Return each score's distance from their mean, in deviations; zeros where all are equal.

    >>> standardize([1.0, 2.0, 3.0])
    [-1.224745, 0.0, 1.224745]
    """
    if not scores:
        return []
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if not deviation or not math.isfinite(deviation):
        return [0.0] * len(scores)
    return [round((score - mean) / deviation, 6) for score in scores]


def _check_scores(scores: Sequence[float | None], expected: int) -> list[float | None]:
    """The scores, if they are what the port promises, whoever wrote the reranker.

    Raises:
        ProviderError: They are not one finite number or None for each passage.
    """
    found = list(scores)
    if len(found) != expected:
        raise ProviderError(
            f"It scored {expected} passages with {len(found)} numbers. The fused order stands."
        )
    if any(score is not None and not math.isfinite(score) for score in found):
        raise ProviderError("It gave a score that is not finite. The fused order stands.")
    return found
