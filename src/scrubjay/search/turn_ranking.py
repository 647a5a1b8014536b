"""Turns: place turns of conversations among passages by relevance, and questions behind their answers.

Scores of turns and passages do not compare, since they differ in length, titles and neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from scrubjay.models.records import Record
from scrubjay.models.results import Candidate, Contribution
from scrubjay.search.candidates import ChannelResults
from scrubjay.search.fusion import best_first
from scrubjay.search.plan import QueryPlan
from scrubjay.search.relevance import RelevanceFeatures, relevance_features, term_weights, terms_held
from scrubjay.storage.interface import Reader
from scrubjay.text.language import detect_language, is_uninformative
from scrubjay.text.tokenizer import index_terms, iter_terms_by_word

COMPARED_PASSAGES: Final = 5
"""Best passages that a turn is compared with: deeper ones are more relevant only by chance."""
MAX_READ_TURNS: Final = 50
"""Best turns that are checked for being questions."""
ASKING_SHARE: Final = 0.5
"""Share of the query's words outside its questions below which a turn only asks."""
MAX_OWN_WORDS: Final = 3
"""Maximum number of own words of a question that asks the same: a longer one gives details, and half of BEAM's evidence
is such questions (R@5 .548, .286 where every question counts; bench/LOG.md)."""
TURN_GAP: Final = 1e-5
"""Minimum distance of a turn to a memory that is placed before it."""


def order_turns(
    candidates: Sequence[Candidate], plan: QueryPlan, channels: ChannelResults, reader: Reader
) -> tuple[list[Candidate], Mapping[str, RelevanceFeatures]]:
    """Put each turn behind those of the first passages that are likelier to answer, and questions behind answers.

    Passages keep their order among themselves, and so do turns. Also returns the features computed.
    """
    heads = reader.ranking_metadata([candidate.id for candidate in candidates])
    is_turn = {candidate.id: candidate.id in heads and heads[candidate.id].turn for candidate in candidates}
    if not any(is_turn.values()):
        return list(candidates), {}
    passages = [candidate for candidate in candidates if not is_turn[candidate.id]]
    turns = [candidate for candidate in candidates if is_turn[candidate.id]]
    records = reader.get([turn.id for turn in turns[:MAX_READ_TURNS]])
    shares = answering_shares(records, plan, channels)
    asking = {memory for memory, share in shares.items() if share < ASKING_SHARE}
    stating = [turn for turn in turns if turn.id not in asking]
    wanted = is_turn
    if not passages:  # then only questions are placed, behind the first of the others
        first = [turn.id for turn in best_first(stating)[:COMPARED_PASSAGES]]
        wanted = dict.fromkeys([*first, *shares, *replies_by_question(shares, records).values()], True)
    features = relevance_features(plan, channels.terms, channels.rankings, wanted)
    features |= question_features(features, shares, records)
    stating = place_turns(stating, passages, features)
    answers = [*passages[:COMPARED_PASSAGES], *stating[:COMPARED_PASSAGES]]
    answers = [candidate for candidate in answers if features[candidate.id].plausible]
    questions = place_turns(
        [candidate for candidate in candidates if candidate.id in asking], answers, features, len(answers)
    )
    return best_first([*passages, *stating, *questions]), features


def place_turns(
    turns: Sequence[Candidate],
    others: Sequence[Candidate],
    features: Mapping[str, RelevanceFeatures],
    first: int = COMPARED_PASSAGES,
) -> list[Candidate]:
    """Merge turns into the others; none comes before one of the ``first`` others that is likelier to answer."""
    placed = []
    compared = [(candidate.score, features[candidate.id].comparable) for candidate in others[:first]]
    if not compared:
        return best_first(turns)
    for place, turn in enumerate(turns, start=1):
        relevance = features[turn.id].comparable
        least = min((score for score, other in compared if other > relevance), default=math.inf)
        if turn.score >= least:
            turn = turn.plus(Contribution("behind", least, least - TURN_GAP * place - turn.score, 1.0))
        placed.append(turn)
    return best_first(placed)


def question_features(
    features: Mapping[str, RelevanceFeatures], shares: Mapping[str, float], records: Mapping[str, Record]
) -> dict[str, RelevanceFeatures]:
    """Return the features of turns that only ask, by their `answering_shares`, and of the replies to them.

    An earlier question of the same does not answer it; the reply does, unless it says that it does not know.
    """
    question_own = {memory: replace(features[memory], answering=share) for memory, share in shares.items()}
    for memory, reply in replies_by_question(shares, records).items():
        answering = question_own.get(reply, features[reply])
        relevance = max(answering.propagated, features[memory].relevance)
        question_own[reply] = replace(answering, propagated=relevance)
    return question_own


def replies_by_question(shares: Mapping[str, float], records: Mapping[str, Record]) -> dict[str, str]:
    """Return the turns that only ask, each with the reply among ``records`` that does not say it does not know."""
    from scrubjay.text.dialogue import admits_not_knowing

    numbered = [record for record in records.values() if record.turn is not None]
    by_place = {(record.session, record.turn): record for record in numbered}
    replies = {}
    for memory in [memory for memory, share in shares.items() if share < ASKING_SHARE]:
        question = records[memory]
        reply = by_place.get((question.session, (question.turn or 0) + 1))
        if reply is not None and reply.role != question.role and not admits_not_knowing(reply.content):
            replies[memory] = reply.id
    return replies


def answering_shares(
    records: Mapping[str, Record], plan: QueryPlan, channels: ChannelResults
) -> dict[str, float]:
    """Return, of turns that ask the same, the share of the query's words that they hold beside the question.

    A question with details of its own ("can I fly to Lisbon on Tuesday, from gate 4?") is left out: it says something.
    """
    from scrubjay.text.dialogue import drop_questions

    weights = term_weights(plan, channels.terms)
    forms = {group.word: group.forms for group in plan.groups}
    wanted = {form for every in forms.values() for form in every}

    def repeats(question: str) -> bool:
        others = (word for word in iter_terms_by_word(question) if wanted.isdisjoint(word))
        own = (word for word in others if not any(map(is_uninformative, word)))
        return next(islice(own, MAX_OWN_WORDS, None), None) is None

    ids = [memory for memory, record in records.items() if record.is_turn]
    shares = {}
    for memory, words in zip(ids, terms_held(channels.terms, ids), strict=True):
        text = records[memory].content
        remainder = drop_questions(text, repeats)
        if remainder is text:
            continue
        stated = index_terms(remainder, detect_language(remainder)).counts
        query_words = [word for word in weights if word in words]
        total = math.fsum(weights[word] for word in query_words)
        own = math.fsum(weights[word] for word in query_words if any(form in stated for form in forms[word]))
        shares[memory] = own / total if total else float(bool(remainder))
    return shares
