"""Score of a memory: fused retrieval channels and the features beside them, kept part by part.

Fusion ``auto`` adds up weight times z-score per channel, with weights that depend on the query. ``rrf`` is
reciprocal rank fusion, ``weighted`` uses fixed weights on z-scores. ``raw`` keeps each channel's own scale from
0 to 1, as vLLM's semantic-router does, so that a threshold can be named:

    score = w_vector · cosine + w_bm25 · x / (x + 1) + w_ngram · Jaccard

with x the BM25 score and Jaccard that of the texts' character trigrams.

Every feature is one more bounded part of a score, on the scale of z-scores. Decay is a pure function of now. Dates
are a preference, never a filter: people misremember days, and events are often told of later.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias, TypeVar

from scrubjay.models.dates import DAY
from scrubjay.models.records import PERSON_ROLES, TIER_PREFIXES, Record, is_commit_title
from scrubjay.models.results import MICRO, Candidate, Contribution
from scrubjay.search.candidates import ChannelWeight, Ranking, TermRanking
from scrubjay.search.query import QueryTime
from scrubjay.search.request import TierOptions
from scrubjay.storage.interface import RankingMetadata
from scrubjay.text.language import function_words, question_language
from scrubjay.text.normalize import latin_share
from scrubjay.text.snippets import contains_phrase
from scrubjay.text.tokenizer import TermGroup, terms_by_word, trigram_similarity

ScorePart: TypeAlias = "tuple[str, float, float, float]"
"""The fields of a `Contribution`: channel, raw, value, weight."""


class ScoredRow(NamedTuple):
    """One memory, its metadata, and the parts of its score so far."""

    id: str
    head: RankingMetadata | None
    parts: list[ScorePart]

    @property
    def score(self) -> float:
        """The sum of the parts, as `Candidate.score` has it."""
        total = math.fsum([weight * value for _, _, value, weight in self.parts])
        return round(total * MICRO) / MICRO  # `round_score`, without the call: this runs for every row


ScoreTable: TypeAlias = "list[ScoredRow]"
RowOrCandidate = TypeVar("RowOrCandidate", ScoredRow, Candidate)
_SORT_KEY: Final = itemgetter(0, 1)


def best_first(found: Iterable[RowOrCandidate]) -> list[RowOrCandidate]:
    """Return rows or candidates best first, ties to the smaller id."""
    keyed = [(-candidate.score, candidate.id, candidate) for candidate in found]
    return [candidate for _, _, candidate in sorted(keyed, key=_SORT_KEY)]


def to_candidates(rows: ScoreTable) -> list[Candidate]:
    return [Candidate(row.id, tuple([Contribution(*part) for part in row.parts])) for row in rows]


BM25_WEIGHT: Final = 0.3
"""Weight of BM25's z-score. The mean over the dev sets is flat (±.002) from .2 to .35."""
BASE_ALONE_WEIGHT: Final = 0.4
"""Weight of the base model where no backfilled model takes part."""
BASE_WEIGHT: Final = 0.2
"""Weight of the base model beside backfilled ones."""
MODEL_WEIGHTS: Final = (1.2, 0.4, 0.8)
"""Weights of a backfilled model of whole passages: for a passage, for a turn of no words and for a very long one. Late
interaction reads short turns better: LoCoMo's R@5 is .70 without this model and .675 with .8, BEAM's long turns .54 and
.57; CoSQA's .66 with .8, .70 with 1.2 (bench/LOG.md)."""
LATE_WEIGHTS: Final = (1.0, 2.0)
"""Weights of late interaction for a passage and a turn of no words; half at `LENGTH_SCALE`. LoCoMo turns R@5 .60 to
.69; documents of hundreds of words lose from 1 on (bench/LOG.md)."""
LENGTH_SCALE: Final = 100.0
"""Words at which a weight lies half-way between that for none and that for very many, and a turn borrows half as much
of its session and its neighbours: long turns need no context."""
RESPELLED_WEIGHT: Final = 0.15
"""Weight of respelled words: half that of exact words."""
AGREEMENT_PASSAGES: Final = 3
"""BM25's best passages by which a model's agreement is measured; 1 to 10 give the same."""
ENGLISH_ONLY: Final = frozenset({"all-MiniLM-L6-v2", "answerai-colbert-small-v1", "bge-small-en-v1.5"})
"""Models trained on English: their weight is scaled by the share of Latin letters in the query."""
OTHER_LANGUAGE_SHARE: Final = 0.25
"""Share of their weight for a query in another language: of 40 German questions of German notes 18 find their note
first, 15 with the whole weight (bench/LOG.md)."""
MULTILINGUAL: Final = frozenset({"multilingual-e5-small"})
"""Models that find a text in another language than the query's."""


def channel_weights(rankings: Sequence[Ranking], query: str) -> Mapping[str, ChannelWeight]:
    """Return the weight of each channel for one query, by name.

    A model's weight depends on its agreement with the words. A model that finds the passages with the query's rare
    words no better than average does not understand the query (another language, an error code, noise vectors) and
    gets none; where no word is found, the models get it all. Of seventeen features tried, agreement is the only one
    that predicts, across sets, which channel to trust (bench/LOG.md). For passages it counts as far as those found hold
    the query's words: where they share only common words with an English question, the words may be wrong, not the
    model.

    Beside a multilingual model, words that no memory holds suggest a query in another language than the texts: their
    share goes from words and other models to that model, however little the words found agree with it.
    """
    words = next((ranking for ranking in rankings if ranking.kind == "bm25"), None)
    models = [ranking for ranking in rankings if ranking.kind == "vector"]
    alone = len(models) == 1 and all(ranking.kind != "late" for ranking in rankings)
    multilingual = any(_model_name(ranking) in MULTILINGUAL for ranking in models)
    foreign = unknown_share(words) if multilingual else 0.0
    english, latin = question_language(query) == "en", latin_share(query)
    covered = held_share(words) if english else 1.0
    english_model_trust = OTHER_LANGUAGE_SHARE if latin == 1.0 and not english else latin
    if words and words.hits and not any(map(str.isalpha, query)):
        # Somebody looks a number up, and to these models all telephone numbers are alike.
        english_model_trust = 0.0

    def model_trust(name: str, agreement_share: float) -> float:
        agreement_share *= english_model_trust if name in ENGLISH_ONLY else 1.0
        return agreement_share + foreign * (
            1.0 - agreement_share if name in MULTILINGUAL else -agreement_share
        )

    weights: dict[str, ChannelWeight] = {}
    for ranking in rankings:
        if ranking.kind in ("bm25", "ngram"):
            weight = BM25_WEIGHT * (1.0 - foreign) if ranking.kind == "bm25" else RESPELLED_WEIGHT
            weights[ranking.channel] = ChannelWeight.fixed(weight)
            continue
        name = _model_name(ranking)
        if ranking.kind == "late":  # compared with what the words found already
            passage, turn = (weight * model_trust(name, 1.0) for weight in LATE_WEIGHTS)
            weights[ranking.channel] = ChannelWeight((passage, 0.0), (turn, 0.0))
            continue
        agreed = agreement(ranking, words)
        if ranking is models[0]:
            weights[ranking.channel] = ChannelWeight.fixed(
                (BASE_ALONE_WEIGHT if alone else BASE_WEIGHT) * model_trust(name, agreed)
            )
            continue
        passage, short, long = (weight / (len(models) - 1) for weight in MODEL_WEIGHTS)
        passage *= model_trust(name, 1.0 - covered * (1.0 - agreed))
        trust = model_trust(name, agreed)
        weights[ranking.channel] = ChannelWeight((passage, passage), (short * trust, long * trust))
    return weights


def _model_name(ranking: Ranking) -> str:
    return ranking.channel.partition(":")[2]


def unknown_share(words: Ranking | None) -> float:
    """Return the share of the query's idf in words that no visible memory holds; 0 for a query without words."""
    if not isinstance(words, TermRanking):
        return 0.0
    weights = words.rarity
    unknown = [weight for weight, count in zip(weights, words.scored.frequencies, strict=True) if not count]
    return math.fsum(unknown) / math.fsum(weights) if unknown else 0.0


def held_share(words: Ranking | None) -> float:
    """Return the largest share of the query's idf that one of BM25's three best passages holds, 1 if unknown."""
    if not isinstance(words, TermRanking) or not words.hits:
        return 1.0
    weights = words.rarity
    best = words.scored.group_scores([hit.id for hit in words.hits[:AGREEMENT_PASSAGES]])
    covered = [
        math.fsum(weight for weight, score in zip(weights, scores, strict=True) if score) for scores in best
    ]
    total = math.fsum(weights)
    return max(covered) / total if total else 1.0


def agreement(ranking: Ranking, words: Ranking | None) -> float:
    """Return the mean of a model's z-scores over BM25's three best passages, within 0 to 1; 1 where BM25 has none."""
    if words is None or not words.hits:
        return 1.0
    scored = ranking.scored
    raws = [
        raw for raw in scored.by_id([hit.id for hit in words.hits[:AGREEMENT_PASSAGES]]) if raw is not None
    ]
    if not raws or scored.deviation == 0.0:
        return 1.0
    mean = math.fsum((raw - scored.mean) / scored.deviation for raw in raws) / len(raws)
    return min(max(mean, 0.0), 1.0)


RRF_K: Final = 60
"""The usual constant of reciprocal rank fusion (Cormack et al., 2009)."""
PREDICTED_CORRELATION: Final = 0.55
"""Correlation of the base model's z-scores with a larger model's (.52 to .72 with MiniLM on five sets), for the tenth
of the memories at most that a ranking model has not embedded yet. Without it a memory added a moment ago sinks."""


def candidate_ids(rankings: Sequence[Ranking]) -> list[str]:
    """Return the union of all channels' hits: no channel gates another."""
    return sorted({hit.id for ranking in rankings for hit in ranking.hits})


def fuse_scores(
    rankings: Sequence[Ranking], ids: Sequence[str], weights: Mapping[str, ChannelWeight]
) -> list[Candidate]:
    """Add up, for each memory, every channel's weight times z; see `build_table`."""
    return to_candidates(build_table(rankings, ids, weights, {}))


def build_table(
    rankings: Sequence[Ranking],
    ids: Sequence[str],
    weights: Mapping[str, ChannelWeight],
    heads: Mapping[str, RankingMetadata],
) -> ScoreTable:
    """Return a row a memory, with every channel's weight times z as the parts of its score.

    z is a raw score's distance from the channel's mean over all visible memories, in its deviations; every channel
    scores every memory it can, its own hit or not. Where a backfilled model has not embedded a memory yet, the base
    model's z stands in, as far as the two agree on the rest.
    """
    table = [ScoredRow(memory, heads.get(memory), []) for memory in ids]
    scores = {ranking.channel: ranking.scored.by_id(ids) for ranking in rankings}
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    for ranking in rankings:
        weight = weights.get(ranking.channel, ChannelWeight.fixed(0.0))
        channel, mean, deviation = ranking.channel, ranking.scored.mean, ranking.scored.deviation
        amounts = _interpolate_weights(weight, table)
        for index, (row, raw, amount) in enumerate(zip(table, scores[channel], amounts, strict=True)):
            if raw is not None:
                row.parts.append((channel, raw, (raw - mean) / deviation if deviation else 0.0, amount))
            elif ranking.kind in ("vector", "late") and base is not None:
                base_raw = scores[base.channel][index]
                if base_raw is not None:
                    spread = base.scored.deviation
                    z = (base_raw - base.scored.mean) / spread if spread else 0.0
                    value = PREDICTED_CORRELATION * z
                    row.parts.append((f"{channel} (foretold)", base_raw, value, amount))
    return table


def _interpolate_weights(weight: ChannelWeight, table: ScoreTable) -> list[float]:
    if len({*weight.passage, *weight.turn}) == 1:
        return [weight.passage[0]] * len(table)
    weights = []
    for row in table:
        turn, words = (row.head.turn, row.head.words) if row.head is not None else (False, 0)
        short, long = weight.turn if turn else weight.passage
        weights.append(short + words / (words + LENGTH_SCALE) * (long - short))
    return weights


def fuse_by_rank(rankings: Sequence[Ranking], weights: Mapping[str, ChannelWeight]) -> list[Candidate]:
    """Merge the channels' ranked lists by weighted reciprocal rank (Cormack et al., 2009).

    A memory earns ``weight / (60 + rank)`` from each channel that found it, rank counting from 1.
    """
    parts: dict[str, list[Contribution]] = {memory: [] for memory in candidate_ids(rankings)}
    for ranking in rankings:
        weight = weights.get(ranking.channel, ChannelWeight.fixed(0.0)).passage[0]
        for rank, hit in enumerate(ranking.hits, start=1):
            parts[hit.id].append(Contribution(ranking.channel, hit.score, 1.0 / (RRF_K + rank), weight))
    return [Candidate(memory, tuple(contributions)) for memory, contributions in parts.items()]


def split_weights(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> Mapping[str, ChannelWeight]:
    """Return fixed weights by channel: the weight of a kind is split evenly among its channels."""
    kinds = [ranking.kind for ranking in rankings]
    amounts = {r.channel: weights.get(r.kind, 0.0) / kinds.count(r.kind) for r in rankings}
    return {channel: ChannelWeight.fixed(amount) for channel, amount in amounts.items()}


def fuse_raw(
    rankings: Sequence[Ranking],
    ids: Sequence[str],
    weights: Mapping[str, ChannelWeight],
    query: str = "",
    texts: Mapping[str, str] | None = None,
    trigram_weight: float = 0.0,
) -> list[Candidate]:
    """Add up each channel's own scale from 0 to 1, weighted; see the module.

    Trigrams of the whole ``texts`` replace respelled words; None leaves that channel out.
    """
    contributions: dict[str, list[Contribution]] = {memory: [] for memory in ids}
    base_scores: dict[str, float] = {}
    for ranking in rankings:
        if ranking.kind == "ngram":
            continue
        weight = weights.get(ranking.channel, ChannelWeight.fixed(0.0)).passage[0]
        for memory, score in zip(ids, ranking.scored.by_id(ids), strict=True):
            if score is not None:
                value = score / (score + 1.0) if ranking.kind == "bm25" else score
                contributions[memory].append(Contribution(ranking.channel, score, value, weight))
                if ranking.kind == "vector":
                    base_scores.setdefault(memory, score)
            elif memory in base_scores:
                known = base_scores[memory]
                predicted = Contribution(f"{ranking.channel} (foretold)", known, known, weight)
                contributions[memory].append(predicted)
    for memory, text in (texts or {}).items():
        similarity = trigram_similarity(query, text)
        contributions[memory].append(Contribution("ngram", similarity, similarity, trigram_weight))
    return [Candidate(memory, tuple(parts)) for memory, parts in contributions.items()]


TITLE_WEIGHT: Final = 3.0
"""Weight of the title match. On two trees the words of a heading find its file first .97 of the time (.87 by words
alone), and no set falls (bench/LOG.md)."""
LENGTH_WEIGHT: Final = 0.2
"""Weight of the penalty ``ln(1 + words / 100)``: of a long memory the best of many windows counts. +.003 mean nDCG;
without the 100, short turns gain too much."""
PHRASE_WEIGHT: Final = 1.0
"""Weight of containing all quotations of a sentence: one deviation."""
PERSON_WEIGHT: Final = 0.3
"""Weight of a person's turn: an assistant's mostly restates. LongMemEval turns R@10 .860 to .875, BEAM R@5 .509 to .535
(bench/LOG.md)."""
SPEAKER_WEIGHT: Final = 2.0
"""Weight of a turn by the speaker that the question names: of LoCoMo's questions with one speaker's name, 585 of 612
turns of evidence are that speaker's. Turns R@5 .532 to .576 at 1, .584 at 2, .586 at 3 (bench/LOG.md)."""
COMMIT_SHARE: Final = 0.4
"""Penalty of a commit, as a share of its channels' weights: notes say how things are, commits what was changed once.
With all models 1,200 commits take the first place from the note wanted in 12 of 158 questions, with the share in 6,
which costs the commit wanted 1 of 120 (bench/LOG.md)."""


def add_text_features(
    rows: ScoreTable,
    groups: Sequence[TermGroup],
    weights: Sequence[float],
    speaker: str | None = None,
) -> None:
    """Add title match, length, speaker and commit; ``weights`` is the idf of each group."""
    total = math.fsum(weights)
    group_of = {form: place for place, group in enumerate(groups) for form in group.forms}
    for _, head, parts in rows:
        if head is None:
            continue
        if not head.turn and head.role and is_commit_title(head.title):
            total_weight = math.fsum([weight for _, _, _, weight in parts])
            parts.append(("commit", 1.0, -1.0, COMMIT_SHARE * total_weight))
        match = title_match(head.title, group_of, weights, total) if head.title else 0.0
        if match:
            parts.append(("title", match, match, TITLE_WEIGHT))
        if head.words:
            parts.append(("length", float(head.words), -math.log1p(head.words / LENGTH_SCALE), LENGTH_WEIGHT))
        if head.turn and head.role in PERSON_ROLES:
            parts.append(("person", 1.0, 1.0, PERSON_WEIGHT))
        if head.turn and speaker is not None and head.role == speaker:
            parts.append(("speaker", 1.0, 1.0, SPEAKER_WEIGHT))


def title_match(title: str, group_of: Mapping[str, int], weights: Sequence[float], total: float) -> float:
    """Return the share of the query's idf in a title, times the share of the title's words in the query."""
    words, title_forms = _title_terms(title)
    if not total or title_forms.isdisjoint(group_of):  # as most are
        return 0.0
    groups_by_word = [{group_of[form] for form in forms if form in group_of} for forms in words]
    matched = set().union(*groups_by_word)
    share = sum(1 for groups in groups_by_word if groups) / len(words)
    return math.fsum(weights[place] for place in sorted(matched)) / total * share


@lru_cache(maxsize=8192)
def _title_terms(title: str) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    words = tuple(terms_by_word(title))
    return words, frozenset().union(*words)


def add_phrase_feature(rows: ScoreTable, records: Mapping[str, Record], phrases: Sequence[str]) -> None:
    """Add the share of the quoted phrases that a memory contains."""
    for row in rows:
        record = records.get(row.id)
        count = sum(1 for phrase in phrases if record is not None and contains_phrase(record.content, phrase))
        if count:
            row.parts.append(("phrase", float(count), count / len(phrases), PHRASE_WEIGHT))


MIN_SPEAKER_NAME: Final = 2
"""Shortest name that is recognised: an initial is in too many questions by chance."""


def find_speaker(question: str, speakers: Collection[str]) -> str | None:
    """Return the only speaker that a question names, else None.

    Case is ignored in a question without capitals, unless the name is then a function word.

    >>> find_speaker("What did Caroline's sister buy?", {"Caroline", "Mel"})
    'Caroline'
    >>> find_speaker("what did caroline buy", {"Caroline", "Mel"})
    'Caroline'
    >>> find_speaker("When will Mel call?", {"Will", "Mel"})
    'Mel'
    """
    ignores_case = question == question.lower()
    named = []
    for speaker in speakers:
        name = speaker.lower() if ignores_case else speaker
        if len(name) < MIN_SPEAKER_NAME or (ignores_case and name in function_words()):
            continue
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", question):
            named.append(speaker)
    return named[0] if len(named) == 1 else None


SESSION_SHARE: Final = 0.3
"""Share of its session's best score that a turn of no words borrows. From .2 to .5 alike: BEAM R@5 .520 to .549,
LongMemEval turns R@10 .879 to .892, LoCoMo R@10 .671 to .678 (bench/LOG.md); with the same share for long turns
LongMemEval R@5 falls from .763 to .729."""


def add_session_feature(rows: ScoreTable, lenders: ScoreTable, scores: Sequence[float]) -> None:
    """Let each turn borrow from the best turn of its conversation, which may be itself.

    ``scores`` are those of ``lenders``.
    """
    best: dict[str, float] = {}
    for (_, head, _), score in zip(lenders, scores, strict=True):
        if score > 0.0 and head is not None and head.turn and head.session is not None:
            best[head.session] = max(score, best.get(head.session, 0.0))
    for _, head, parts in rows if best else ():
        if head is not None and head.turn and head.session in best:
            borrowed = best[head.session]
            weight = SESSION_SHARE / (1.0 + head.words / LENGTH_SCALE)
            parts.append(("session", borrowed, borrowed, weight))


NEIGHBOUR_SHARE: Final = 0.5
"""Share of its better neighbour's positive score that a turn of no words borrows. LoCoMo turns R@10 .587 to .647, BEAM
R@5 .435 to .497, LongMemEval turns .853 to .878; with the same share for long turns, or both neighbours' sum,
LongMemEval loses (bench/LOG.md)."""


def add_neighbour_feature(
    rows: ScoreTable, scores: Mapping[str, float], adjacent: Mapping[str, tuple[str, ...]]
) -> None:
    """Let each turn borrow from the better of the turns next to it: an answer is often beside the words asked for.

    ``scores`` are those of the rows and their neighbours before any of them borrows.
    """
    for memory, head, parts in rows:
        borrowed = max([scores.get(near, 0.0) for near in adjacent.get(memory, ())], default=0.0)
        if borrowed > 0.0 and head is not None:
            weight = NEIGHBOUR_SHARE / (1.0 + head.words / LENGTH_SCALE)
            parts.append(("neighbours", borrowed, borrowed, weight))


AGE_WEIGHT: Final = 0.15
"""Maximum that age takes away: a tenth of the distance between a match and a chance hit. LongMemEval turns R@5 .785 to
.798, LoCoMo, BEAM and sessions as before (bench/LOG.md)."""
STRENGTH_WEIGHT: Final = 0.5
"""Maximum that negative feedback takes away: it decides among equals, an exact hit stays one."""
CONFIDENCE_WEIGHT: Final = 0.3
"""Maximum that low confidence takes away."""
HALF_LIFE: Final = {
    "crystal": 365.0,
    "facet": 730.0,
    "insight": 365.0,
    "lesson": 730.0,
    "observation": 180.0,
    "procedural": 730.0,
    "semantic": 730.0,
}
"""Days after which half of the age penalty applies: observations fade first, lessons last."""


def add_decay(rows: ScoreTable, now: int) -> None:
    """Apply penalties for age, low confidence and negative feedback."""
    for memory, head, parts in rows:
        if head is None:
            continue
        age_penalty = decay(memory, head, now)
        if age_penalty > 0:
            parts.append(("age", float(age_in_days(head, now)), -age_penalty, AGE_WEIGHT))
        if head.strength < 1:
            parts.append(("strength", head.strength, head.strength - 1, STRENGTH_WEIGHT))
        if head.confidence < 1:
            parts.append(("confidence", head.confidence, head.confidence - 1, CONFIDENCE_WEIGHT))


def age_in_days(head: RankingMetadata, now: int) -> int:
    """Return the whole days since a memory was last used, else happened: all questions of one day see one age."""
    return (now - (head.at if head.used is None else max(head.at, head.used))) // DAY


def decay(memory: str, head: RankingMetadata, now: int) -> float:
    """Return the share of the age penalty, 0 to 1; 0 for pinned and future memories."""
    age = age_in_days(head, now)
    if head.pinned or age <= 0:
        return 0.0
    return 1.0 - float(2.0 ** (-age / HALF_LIFE[tier_of(memory)]))


def displaced_by_age(ranked: Sequence[Candidate], limit: int) -> tuple[str, ...]:
    """Return the candidates that the age penalty displaced from the first ``limit``, the best first."""
    ageless_scores: list[tuple[float, str]] = []
    for candidate in ranked:
        score = candidate.score
        if len(ageless_scores) >= limit and score + AGE_WEIGHT < ranked[limit - 1].score:
            break  # even ageless it would be behind these
        age_penalty = math.fsum([part.amount for part in candidate.contributions if part.channel == "age"])
        ageless_scores.append((age_penalty - score, candidate.id))
    shown = {candidate.id for candidate in ranked[:limit]}
    return tuple(memory for _, memory in sorted(ageless_scores)[:limit] if memory not in shown)


DATE_WEIGHT: Final = 1.0
"""Weight of lying in the time asked about: one deviation. LoCoMo's 68 questions with a time R@5 .347 to .533,
LongMemEval's 19 .626 to .679; 1.5 gives LoCoMo at most .01 more and takes from LongMemEval (bench/LOG.md)."""


def add_date_feature(rows: ScoreTable, times: Sequence[QueryTime]) -> None:
    """Add the proximity of each memory to the nearest time that the question names."""
    for _, head, parts in rows:
        if head is not None:
            near = max(date_proximity(head.at, time) for time in times)
            parts.append(("dated", near, near, DATE_WEIGHT))


NAMED_DAY_WEIGHT: Final = 10.0
"""Gain of a memory whose text names the coming day that a question is about: more than all else together."""


def add_named_day_feature(rows: ScoreTable, naming_days: Collection[str]) -> None:
    """Add whether a memory's text names the day that is asked about."""
    for row in rows:
        if row.id in naming_days:
            row.parts.append(("named day", 1.0, 1.0, NAMED_DAY_WEIGHT))


def ids_within(rows: ScoreTable, times: Sequence[QueryTime]) -> list[str]:
    """Return the memories that lie in a time that the question names."""
    return [
        memory
        for memory, head, _ in rows
        if head is not None and any(date_proximity(head.at, time) == 1 for time in times)
    ]


def date_proximity(at: int, time: QueryTime) -> float:
    """Return 1 within a time, else ``2^(-gap / length)``, a length of at least a day."""
    gap = 0
    if at == time.end_day:
        gap = 1
    elif time.start is not None and at < time.start and at != time.start_day:
        gap = time.start - at
    elif time.end is not None and at >= time.end:
        gap = at - time.end + 1
    return float(2.0 ** (-gap / max(time.length, DAY)))


MAX_PER_TIER: Final = 50
"""Maximum number of candidates of one tier, or the results wanted if more: no tier takes all places in later stages."""
TIER_WEIGHT: Final = 0.5
"""Gain of a tier if its weight is doubled, and loss if halved: logarithmic, so it means the same at any score."""
CERTAINTY_WEIGHT: Final = 0.15
"""Gain of a certain fact over the pieces it was distilled from: as much as age takes at most."""
CERTAIN_ABOVE: Final = 0.85
"""Confidence above which it is certain: three independent sources (two give .85), or a person's word."""
PROJECT_WEIGHT: Final = 0.3
"""Gain of a memory of the caller's project: as much as a person's turn over an assistant's."""
_TIER_OF_PREFIX: Final = {prefix: tier for tier, prefix in TIER_PREFIXES.items()}


def add_tier_features(rows: ScoreTable, options: TierOptions) -> None:
    """Add tier weight, certainty and project."""
    for memory, head, parts in rows:
        tier = tier_of(memory)
        weight = options.weights.get(tier, 1.0)
        if weight not in (0.0, 1.0):
            parts.append(("tier", weight, math.log2(weight), TIER_WEIGHT))
        if head is not None and tier == "semantic" and head.confidence > CERTAIN_ABOVE:
            parts.append(("sure", head.confidence, 1.0, CERTAINTY_WEIGHT))
        if head is not None and options.here is not None and head.project == options.here:
            parts.append(("project", 1.0, 1.0, PROJECT_WEIGHT))


def pool_tiers(
    ranked: Sequence[RowOrCandidate],
    heads: Mapping[str, RankingMetadata],
    options: TierOptions | None,
    most: int = MAX_PER_TIER,
) -> tuple[list[RowOrCandidate], int]:
    """Leave out unpinned memories below the confidence floor, of tiers with weight 0, and over ``most`` a tier.

    Returns the others, and how many were below the floor.
    """
    if options is None:
        return list(ranked), 0
    pooled: list[RowOrCandidate] = []
    counts: Counter[str] = Counter()
    low_confidence_count = 0
    for candidate in ranked:
        head, tier = heads.get(candidate.id), tier_of(candidate.id)
        if options.weights.get(tier, 1.0) == 0.0:
            continue
        if head is not None and head.confidence < options.floor and not head.pinned:
            low_confidence_count += 1
            continue
        counts[tier] += 1
        if counts[tier] <= most:
            pooled.append(candidate)
    return pooled, low_confidence_count


def tier_of(memory: str) -> str:
    """Return the tier of an id.

    >>> tier_of("crys_8f3a6c2d9b40")
    'crystal'
    """
    return _TIER_OF_PREFIX[memory[: memory.index("_") + 1]]
