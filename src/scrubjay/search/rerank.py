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
from typing import Final

from scrubjay.errors import ProviderError
from scrubjay.models.records import Record
from scrubjay.models.results import Candidate, Contribution
from scrubjay.rerankers.base import Reranker, RerankQuery
from scrubjay.search.candidates import ChannelResults
from scrubjay.search.fusion import best_first
from scrubjay.search.plan import QueryPlan
from scrubjay.search.relevance import RelevanceFeatures, relevance_features, term_weights, terms_held
from scrubjay.storage.interface import Reader
from scrubjay.text.dialogue import admits_not_knowing, drop_questions
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.tokenizer import index_terms, terms_by_word

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


@dataclass(frozen=True, slots=True)
class TurnOrder:
    """Candidates, best first, and what speaks for each."""

    candidates: list[Candidate]
    told: Mapping[str, RelevanceFeatures]


def order_turns(
    candidates: Sequence[Candidate], made: QueryPlan, heard: ChannelResults, reader: Reader
) -> TurnOrder:
    """Put each turn behind those of the first passages that are likelier to answer, and questions behind answers.

    Passages stand among themselves by score, and so do turns.

    Args:
        candidates: Best first, of fusion ``auto``.
        made: The query made ready.
        heard: What the channels said.
        reader: Where turns are read.
    """
    heads = reader.heads([one.id for one in candidates])
    turns = {one.id: one.id in heads and heads[one.id].turn for one in candidates}
    if not any(turns.values()):
        return TurnOrder(list(candidates), {})
    told = relevance_features(made, heard.words, heard.rankings, turns)
    read = [one.id for one in candidates if turns[one.id]][:MAX_READ_TURNS]
    told |= question_features(told, reader.get(read) if read else {}, made, heard)
    asking = {memory for memory, sign in told.items() if sign.answering < ASKING_SHARE}
    passages = [one for one in candidates if not turns[one.id]]
    stating = place_turns(
        [one for one in candidates if turns[one.id] and one.id not in asking], passages, told
    )
    answers = [
        one for one in (*passages[:COMPARED_PASSAGES], *stating[:COMPARED_PASSAGES]) if told[one.id].enough
    ]
    asked = place_turns([one for one in candidates if one.id in asking], answers, told, len(answers))
    return TurnOrder(best_first([*passages, *stating, *asked]), told)


def place_turns(
    turns: Sequence[Candidate],
    others: Sequence[Candidate],
    told: Mapping[str, RelevanceFeatures],
    first: int = COMPARED_PASSAGES,
) -> list[Candidate]:
    """Return turns, none before one of the first others that is likelier to answer, in their own order.

    Args:
        turns: Best first.
        others: Best first.
        told: What speaks for each of both.
        first: Others that are looked at.
    """
    found = []
    able = [(one.score, told[one.id].relevance) for one in others[:first]]
    for place, one in enumerate(turns, start=1):
        likely = told[one.id].relevance
        least = min((score for score, relevance in able if relevance > likely), default=math.inf)
        if one.score >= least:
            one = one.plus(Contribution("behind", least, least - TURN_GAP * place - one.score, 1.0))
        found.append(one)
    return best_first(found)


def question_features(
    told: Mapping[str, RelevanceFeatures],
    records: Mapping[str, Record],
    made: QueryPlan,
    heard: ChannelResults,
) -> dict[str, RelevanceFeatures]:
    """Return what speaks for turns that only ask, and for the replies to them.

    Who asked the same before does not answer it; who was asked does, unless they say that they do not know.

    Args:
        told: What speaks for each turn by itself.
        records: Turns.
        made: The query made ready.
        heard: What the channels said.
    """
    found = {
        memory: replace(told[memory], answering=share)
        for memory, share in answering_shares(records, made, heard).items()
    }
    beside = {(record.session, record.turn): record for record in records.values() if record.turn is not None}
    for memory, sign in list(found.items()):
        asking = records[memory]
        reply = beside.get((asking.session, (asking.turn or 0) + 1))
        if sign.answering >= ASKING_SHARE or reply is None or reply.role == asking.role:
            continue
        if not admits_not_knowing(reply.content):
            own = found.get(reply.id, told[reply.id])
            found[reply.id] = replace(own, lent=max(own.lent, told[memory].relevance))
    return found


def answering_shares(
    records: Mapping[str, Record], made: QueryPlan, heard: ChannelResults
) -> dict[str, float]:
    """Return of turns that ask the same how much of the query's words they hold beside that, 0 to 1.

    A question with details of its own ("can I fly to Lisbon on Tuesday, from gate 4?") says something, and is none.

    Args:
        records: Memories; those that are no turns are left out.
        made: The query made ready.
        heard: What the channels said.
    """
    weights = term_weights(made, heard.words)
    forms = {group.word: group.forms for group in made.groups}
    wanted = {form for every in forms.values() for form in every}

    def repeats(question: str) -> bool:
        said = [
            every for every in terms_by_word(question) if not any(is_uninformative(form) for form in every)
        ]
        return sum(wanted.isdisjoint(every) for every in said) <= MAX_OWN_WORDS

    ids = [memory for memory, record in records.items() if record.turn is not None]
    found = {}
    for memory, words in zip(ids, terms_held(heard.words, ids), strict=True):
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
        reranker: Who looks again.
        depth: At how many, from the best.
        deadline: Seconds that it may take.
        weight: What a deviation of its scores weighs.
    """

    reranker: Reranker
    depth: int
    deadline: float
    weight: float


@dataclass(frozen=True, slots=True)
class RerankScores:
    """What a reranker said.

    Attributes:
        parts: Memory to what is added to its score.
        partial: What had to be done without, one sentence each.
    """

    parts: Mapping[str, Contribution]
    partial: tuple[str, ...] = ()


NOT_RERANKED = RerankScores({})
"""Nobody looked again."""


def rerank_scores(
    candidates: Sequence[Candidate], question: RerankQuery, reader: Reader, wanted: RerankOptions
) -> RerankScores:
    """Ask the reranker about the first candidates.

    What is added is the weight times z, the distance of a score from the mean of those given, in their deviations: the
    scores of rerankers have no unit in common.

    Args:
        candidates: Best first.
        question: What is asked.
        reader: Where their texts are read.
        wanted: Who looks again, at how many, for how long, and what it weighs.
    """
    records = reader.get([one.id for one in candidates[: wanted.depth]]) if question.text else {}
    looked = [one.id for one in candidates[: wanted.depth] if one.id in records]
    if len(looked) < 2:
        return NOT_RERANKED
    passages = [rerank_passage(records[memory]) for memory in looked]
    try:
        scores = _check_scores(
            wanted.reranker.scores(question, passages, deadline=wanted.deadline), len(passages)
        )
    except ProviderError as error:
        return RerankScores({}, (f"{wanted.reranker.name} did not rerank: {error}",))
    said = {memory: score for memory, score in zip(looked, scores, strict=True) if score is not None}
    values = standardize(list(said.values()))
    return RerankScores(
        {
            memory: Contribution(RERANK_CHANNEL, raw, value, wanted.weight)
            for (memory, raw), value in zip(said.items(), values, strict=True)
            if value
        }
    )


def add_rerank_parts(candidates: Sequence[Candidate], parts: Mapping[str, Contribution]) -> list[Candidate]:
    """Add to candidates what the reranker says of them; their order is for the caller to make.

    A candidate that was not looked at, or has no score, stays as it is, which is being as good as the average.
    """
    return [
        replace(one, contributions=(*one.contributions, parts[one.id])) if one.id in parts else one
        for one in candidates
    ]


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
