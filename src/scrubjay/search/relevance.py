"""Relevance: estimate how likely each memory is to answer, 0 to 1, and abstain when none is likely enough.

A logistic regression (bench/silence.py) over features that mean the same in every store; coefficients and their
origin are in relevance.json. A memory reached over the graph takes relevance from its referrer. By default an answer
stays complete if one of its first memories is likely enough; a number given by the caller applies to each memory.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from itertools import compress
from pathlib import Path
from typing import Any, Final

from scrubjay.models.results import LINK_PREFIX, WEAK_RELEVANCE, Candidate
from scrubjay.search.candidates import Ranking, TermRanking
from scrubjay.search.plan import QueryPlan
from scrubjay.search.query import MIN_STORE_SIZE, RARE_SHARE, without_times
from scrubjay.storage.scoring import idf
from scrubjay.text.language import detect_language, identifier_words, is_uninformative, named_words
from scrubjay.text.normalize import latin_share
from scrubjay.text.tokenizer import split_words

NAME_FACTOR: Final = 2.0
"""Weight of a name or a number over another word of the same rarity."""


def term_weights(plan: QueryPlan, terms: TermRanking | None) -> dict[str, float]:
    """Return the weight of each informative word: its share of the greatest idf, doubled for names.

    Words that only name a time have none where others do: a memory need not hold "last week" to be of it. A coming date
    keeps its words, since what happens then was said before.
    """
    if terms is None:
        return {}
    names = named_words(plan.query.text)
    memories = max(terms.scored.memories, MIN_STORE_SIZE)
    greatest = idf(memories, 0)
    weights = {
        group.word: idf(memories, frequency) / greatest * (NAME_FACTOR if group.word in names else 1.0)
        for group, frequency in zip(terms.groups, terms.scored.frequencies, strict=True)
        if not is_uninformative(group.word)
    }
    times = [] if plan.question.ahead else [time for time in plan.question.times if not time.anchor]
    if not times:
        return weights
    of_times = {word.text for time in times for word in split_words(time.words)}
    of_times -= {word.text for word in split_words(without_times(plan.query.text, times))}
    return {word: weight for word, weight in weights.items() if word not in of_times} or weights


def terms_held(terms: TermRanking | None, ids: Sequence[str]) -> list[frozenset[str]]:
    """Return which of the query's words each memory holds."""
    if terms is None:
        return [frozenset()] * len(ids)
    words = [group.word for group in terms.groups]
    return [frozenset(compress(words, scores)) for scores in terms.scored.group_scores(ids)]


def known_terms(terms: TermRanking | None) -> set[str]:
    """Return which of the query's words any memory holds."""
    pairs = zip(terms.groups, terms.scored.frequencies, strict=True) if terms is not None else ()
    return {group.word for group, frequency in pairs if frequency}


RESPELLED_SHARE: Final = 0.5
"""Weight of a word in another spelling, as in the ranking (`RESPELLED_WEIGHT`)."""
PROPAGATED_SHARE: Final = 0.8
"""Weight of a referrer's relevance, as of its score (`REFERRER_SHARE`): a second step shares few words with the
question."""
TURN_SHARE: Final = 0.5
"""Share of the threshold that applies to turns: an answer about somebody's life often shares no word with the question.
Without it two of 60 questions of LongMemEval get no answer (bench/LOG.md)."""
PLAUSIBLE: Final[Mapping[str, float]] = {"base": 0.0225, "both": 0.02}
"""By family, the least relevance at which a search of a small store answers an English question. To a question in other
words than the notes they are hardly more relevant than to an off-topic one: in five vaults of 65 notes .74 of 200
questions and .08 of 75 off-topic ones are answered with it, .45 and .01 without (bench/LOG.md)."""
SMALL_STORE: Final = 150
"""Memories up to which a search answers from `PLAUSIBLE` on. Then that bound grows with the root of their number, since
the best of more unrelated ones is more relevant: of the same questions to one store of all 361 notes .69 and .15 are
answered, .83 and .35 at the bound of a small one."""
BASE_CHANNEL: Final = "vector:wordllama-l2-supercat"
"""The model whose cosines were calibrated."""
LATE_CHANNEL: Final = "late:answerai-colbert-small-v1"
PASSAGE_CHANNEL: Final = "vector:bge-small-en-v1.5"
"""A model that may take part in the ranking without making the estimate unreliable."""


@dataclass(frozen=True)
class RelevanceFeatures:
    """The features by which the relevance of a memory is estimated.

    Attributes:
        covered: Share of the query's informative words, by weight, that it holds.
        respelled: The share that it holds in another spelling only.
        strange: The share that no memory holds in any spelling: the question is probably for another store.
        familiar: The share of the query's names and numbers that any memory holds; 0 where it has none.
        turn: Whether it is a turn of a conversation.
        near: Cosine by the base model; None where it took no part.
        late: MaxSim by the late-interaction model, or None.
        latin: Share of Latin letters in the query: how far the models can be trusted.
        english: Whether the query is English: off-topic texts in other languages seem as relevant as answers.
        memories: How many memories are visible.
        exact: Whether it holds a rare identifier of the query or its quotations, or is of the time that is all that is
            asked about.
        reliable: Whether the estimate means anything: the query names something, and only known models took part.
        propagated: Relevance of its referrer; 0 for none.
        answering: Of a turn the share of the query's words that it holds outside of its own questions.
    """

    covered: float
    respelled: float = 0.0
    strange: float = 0.0
    familiar: float = 0.0
    turn: bool = False
    near: float | None = None
    late: float | None = None
    latin: float = 1.0
    english: bool = True
    memories: int = 1
    exact: bool = False
    reliable: bool = True
    propagated: float = 0.0
    answering: float = 1.0

    @property
    def coverage(self) -> float:
        """Share of the query's informative words that it holds in any spelling."""
        return self.covered + RESPELLED_SHARE * self.respelled

    @property
    def family(self) -> str:
        """Which coefficients apply: those of ``words``, ``base`` or ``both`` models."""
        return "words" if self.near is None else "base" if self.late is None else "both"

    @cached_property
    def relevance(self) -> float:
        """Probability that it answers, 0 to 1, to four digits: the figure shown is the figure compared."""
        weights = calibration()[self.family]["weights"]
        total = math.fsum(weight * FEATURES[name](self) for name, weight in weights.items())
        own = self.answering / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
        return round(max(own, PROPAGATED_SHARE * self.propagated + (1.0 - PROPAGATED_SHARE) * own), 4)

    @property
    def comparable(self) -> float:
        """Its relevance beside that of passages: MaxSim grows with a text's length, and turns are short."""
        return self.relevance / TURN_SHARE if self.turn and self.late is not None else self.relevance

    @property
    def least(self) -> float:
        """The relevance from which it is likely enough to answer, for a query of its letters."""
        least, least_other = calibration()[self.family]["least"]
        share: float = TURN_SHARE if self.turn else 1.0
        return share * float(self.latin * least + (1.0 - self.latin) * least_other)

    @property
    def sufficient(self) -> bool:
        """Whether it is likely enough to be shown unprompted, or an exact hit."""
        return self.exact or self.relevance >= self.least

    @property
    def plausible(self) -> bool:
        """Whether it is likely enough to be shown to somebody who asked, or an exact hit."""
        if self.sufficient or not self.english or self.family not in PLAUSIBLE:
            return self.sufficient
        return self.relevance >= PLAUSIBLE[self.family] * math.sqrt(
            max(self.memories, SMALL_STORE) / SMALL_STORE
        )

    @property
    def weak(self) -> bool:
        """Whether it is a weak match: less likely to answer than `WEAK_RELEVANCE`, as far as that can be known."""
        return self.reliable and not self.exact and self.relevance < WEAK_RELEVANCE


MIDDLE_MAX_SIM: Final = 0.8
MAX_SIM_SCALE: Final = 10.0
"""MaxSim lies close together: the best of a question has .81 to .93 where it answers, .70 to .85 where the question is
of another field (5 and 95 of 100, ten sets). The regression needs it on the scale of the other features."""
FEATURES: Final[Mapping[str, Callable[[RelevanceFeatures], float]]] = {
    "one": lambda own: 1.0,
    "covered": lambda own: own.coverage,
    "strange": lambda own: own.strange,
    "familiar": lambda own: own.familiar,
    "turn": lambda own: float(own.turn),
    "other": lambda own: 1.0 - own.latin,
    "other covered": lambda own: (1.0 - own.latin) * own.coverage,
    "near": lambda own: own.latin * (own.near or 0.0),
    "late": lambda own: 0.0 if own.late is None else own.latin * (own.late - MIDDLE_MAX_SIM) * MAX_SIM_SCALE,
}
"""The inputs of the regression. For other than Latin letters only words count: the models find all such texts alike."""


@cache
def calibration() -> Mapping[str, Any]:
    """Return each family's coefficients and thresholds (for Latin and for other letters), and their origin."""
    families: dict[str, Any] = json.loads(Path(__file__).with_name("relevance.json").read_bytes())
    return families


def relevance_features(
    plan: QueryPlan, terms: TermRanking | None, rankings: Sequence[Ranking], turns: Mapping[str, bool]
) -> dict[str, RelevanceFeatures]:
    """Return the relevance features of memories; ``turns`` tells which are turns of a conversation."""
    ids = list(turns)
    by_channel = {ranking.channel: ranking for ranking in rankings}
    models = {ranking.channel for ranking in rankings if ranking.kind == "vector"}
    ngram = by_channel.get("ngram")
    respelled = ngram if isinstance(ngram, TermRanking) else None
    known = known_terms(terms) | known_terms(respelled)
    weights = term_weights(plan, terms)
    total = math.fsum(weights.values())

    @cache  # most memories hold one of a few combinations of the words
    def share(words: frozenset[str]) -> float:
        return (
            min(1.0, math.fsum(weights[word] for word in weights if word in words) / total) if total else 0.0
        )

    names = named_words(plan.query.text) & weights.keys()
    familiar = len(names & known) / len(names) if names else 0.0
    strange, latin = share(frozenset(weights.keys() - known)), latin_share(plan.query.text)
    english = detect_language(plan.query.text) == "en"  # as when the weights were fitted
    memories = terms.scored.memories if terms is not None else sys.maxsize
    asks_for_time = plan.question.time_only and ("?" in plan.query.text or bool(plan.question.naming_days))
    exact = bool(plan.query.phrases) or asks_for_time
    reliable = total > 0 and not plan.question.time_only and BASE_CHANNEL in models
    reliable = reliable and models <= {BASE_CHANNEL, PASSAGE_CHANNEL}
    identifiers = identifier_words(plan.query.text)
    if terms is not None and identifiers:
        least = RARE_SHARE * idf(memories, 0)
        pairs = zip(terms.groups, terms.scored.frequencies, strict=True)
        identifiers = frozenset(
            group.word
            for group, count in pairs
            if group.word in identifiers and idf(memories, count) >= least
        )
    near, late = (
        by_channel[name].scored.by_id(ids) if name in by_channel else [None] * len(ids)
        for name in (BASE_CHANNEL, LATE_CHANNEL)
    )
    rows = zip(ids, terms_held(terms, ids), terms_held(respelled, ids), near, late, strict=True)
    return {
        memory: RelevanceFeatures(
            covered=share(exact_terms),
            respelled=share(respelled_terms - exact_terms),
            strange=strange,
            familiar=familiar,
            turn=turns[memory],
            near=base_cosine,
            late=max_sim,
            latin=latin,
            english=english,
            memories=memories,
            exact=exact or not exact_terms.isdisjoint(identifiers),
            reliable=reliable,
        )
        for memory, exact_terms, respelled_terms, base_cosine, max_sim in rows
    }


def graph_evidence(
    memories: Iterable[str], candidates: Sequence[Candidate], paths: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Return the direct and indirect referrers of memories, by a path or a link that contributed to their score.

    ``paths`` is memory to the hit and the name that the graph reached it by.
    """
    scored = {candidate.id: candidate for candidate in candidates}
    evidence: dict[str, tuple[str, ...]] = {}
    queue = list(memories)
    while queue:
        memory = queue.pop()
        if memory in evidence or memory not in scored:
            continue
        parts = [part.channel for part in scored[memory].contributions if part.amount > 0]
        links = (channel for channel in parts if channel.startswith(LINK_PREFIX))
        referrers = [link.removeprefix(LINK_PREFIX) for link in links]
        referrers += paths.get(memory, ())[:1] if "graph" in parts else ()
        evidence[memory] = tuple(dict.fromkeys(referrers))
        queue += referrers
    return {memory: referrers for memory, referrers in evidence.items() if referrers}


def propagate_relevance(
    features: Mapping[str, RelevanceFeatures], evidence: Mapping[str, Sequence[str]]
) -> dict[str, RelevanceFeatures]:
    """Propagate relevance along graph evidence (memory to its referrers); never above the source's.

    The most relevant propagate first, so that two that lead to each other gain nothing.
    """
    propagated = dict(features)
    referred: defaultdict[str, list[str]] = defaultdict(list)
    for memory, referrers in evidence.items():
        for referrer in referrers:
            referred[referrer].append(memory)
    heap = [(-own.relevance, memory) for memory, own in propagated.items()] if referred else []
    heapify(heap)
    visited: set[str] = set()
    while heap:
        negative_relevance, referrer = heappop(heap)
        visited.add(referrer)
        for memory in referred.pop(referrer, ()):
            if memory not in propagated or memory in visited:
                continue
            raised = replace(propagated[memory], propagated=-negative_relevance)
            if raised.relevance > propagated[memory].relevance:
                propagated[memory] = raised
                heappush(heap, (-raised.relevance, memory))
    return propagated


NEAREST_RESULTS: Final = 5
"""Memories shown where none is likely to answer, and in a context where all are weak matches: for 59 such questions to
six vaults the right note is among the first five 40 times, among three 34 times (bench/LOG.md)."""
FIRST_RESULTS: Final = 5
"""First memories of which one must be likely enough, whatever the limit."""
CLOSE_SHARE: Final = 0.1
"""Share of the best relevance from which on a memory is injected beside it: contexts of a mixed store have 629 tokens
instead of 769 and lose none of 55 answers of 60; at .15 528 tokens and 51 answers (bench/LOG.md)."""


def decide_abstention(
    candidates: Sequence[Candidate], features: Mapping[str, RelevanceFeatures], least: float | None
) -> tuple[list[Candidate], str]:
    """Return the candidates that answer, and one sentence where none does.

    ``least`` is the relevance that each must have; None for all or nothing: all if one of the first is plausible.
    Memories whose relevance cannot be known stay.
    """
    first = [features[candidate.id] for candidate in candidates[:FIRST_RESULTS]]
    if least is not None:
        answers = [
            candidate
            for candidate in candidates
            if (own := features[candidate.id]).exact or not own.reliable or own.relevance >= least
        ]
    elif any(own.plausible or not own.reliable for own in first):
        answers = list(candidates)
    else:
        answers = []
    if answers or not candidates:
        return answers, ""
    nearest = max(features[candidate.id].relevance for candidate in candidates)
    if least is None:
        return [], f"Nothing stored is likely to answer this: the nearest memory has relevance {nearest:.3f}."
    return [], f"No memory has a relevance of {least:g} or more: the nearest has {nearest:.3f}."


def confident_only(
    candidates: Sequence[Candidate], features: Mapping[str, RelevanceFeatures]
) -> list[Candidate]:
    """Return the candidates confident enough to inject unprompted.

    Each is likely enough by itself, and not far less likely than the best. Where relevance cannot be known none is
    injected: a guess costs somebody who did not ask more than silence.
    """
    best = max((features[candidate.id].relevance for candidate in candidates), default=0.0)
    return [
        candidate
        for candidate in candidates
        if (own := features[candidate.id]).sufficient and (own.exact or own.relevance >= CLOSE_SHARE * best)
    ]


POSSIBLE_SHARE: Final = 0.02
"""The same for a context that was asked for: of LoCoMo's evidence among the first 94 memories all is that likely, at .1
.92 of it (bench/LOG.md)."""


def all_weak(features: Sequence[RelevanceFeatures]) -> bool:
    """Return whether there are memories, and all are weak matches."""
    return bool(features) and all(own.weak for own in features)


def possible_only(
    candidates: Sequence[Candidate], features: Mapping[str, RelevanceFeatures]
) -> list[Candidate]:
    """Return the candidates that may answer a question, of those that are plausible where none is confident enough.

    Where all are weak matches (`all_weak`) only the first are returned, as a search shows them. Where a turn has half
    of that bound, those are returned that are not far behind the best: with the first alone contexts of LoCoMo would
    hold .831 of the evidence (bench/LOG.md).
    """
    share = POSSIBLE_SHARE
    own_features = [features[candidate.id] for candidate in candidates]
    if all_weak(own_features):
        if any(own.turn and own.relevance >= TURN_SHARE * WEAK_RELEVANCE for own in own_features):
            share = CLOSE_SHARE
        else:
            candidates = candidates[:NEAREST_RESULTS]
    if not any(features[candidate.id].sufficient for candidate in candidates):
        candidates = [candidate for candidate in candidates if features[candidate.id].plausible]
    has_exact_hit = any(features[candidate.id].exact for candidate in candidates)
    best = max((features[candidate.id].relevance for candidate in candidates), default=0.0)
    if has_exact_hit:
        best = 1.0
    return [
        candidate
        for candidate in candidates
        if (own := features[candidate.id]).exact or own.relevance >= share * best
    ]
