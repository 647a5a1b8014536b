"""Score fusion: combine the channels' rankings into one score per memory, kept part by part in a score table.

Fusion ``auto`` adds up weight times z-score per channel, with weights that depend on the query. ``rrf`` is
reciprocal rank fusion, ``weighted`` uses fixed weights on z-scores. ``raw`` keeps each channel's own scale from
0 to 1, as vLLM's semantic-router does, so that a threshold can be named:

    score = w_vector · cosine + w_bm25 · x / (x + 1) + w_ngram · Jaccard

with x the BM25 score and Jaccard that of the texts' character trigrams.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from scrubjay.models.results import Candidate, Contribution, round_score
from scrubjay.search.candidates import ChannelWeight, Ranking
from scrubjay.text.normalize import latin_share
from scrubjay.text.tokenizer import trigram_similarity

if TYPE_CHECKING:
    from scrubjay.storage.interface import RankingMetadata


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
        return round_score(math.fsum([weight * value for _, _, value, weight in self.parts]))


ScoreTable: TypeAlias = "list[ScoredRow]"
RowOrCandidate = TypeVar("RowOrCandidate", ScoredRow, Candidate)
_SORT_KEY: Final = itemgetter(0, 1)


def best_first(found: Iterable[RowOrCandidate]) -> list[RowOrCandidate]:
    """Return rows or candidates best first, ties to the smaller id."""
    return [one for _, _, one in sorted([(-one.score, one.id, one) for one in found], key=_SORT_KEY)]


def to_candidates(rows: ScoreTable) -> list[Candidate]:
    return [Candidate(row.id, tuple([Contribution(*part) for part in row.parts])) for row in rows]


BM25_WEIGHT: Final = 0.3
"""Weight of BM25's z-score. The mean over the dev sets is flat (±.002) from .2 to .35."""
BASE_ALONE_WEIGHT: Final = 0.4
"""Weight of the base model where no backfilled model takes part."""
PASSAGE_WEIGHTS: Final = (0.2, 0.6)
"""Weights of the base model and of the backfilled ones for a passage."""
TURN_WEIGHTS: Final = (0.4, 0.4)
"""The same for a turn of a conversation: MiniLM alone prefers the long answer to the short fact."""
RESPELLED_WEIGHT: Final = 0.15
"""Weight of respelled words: half that of exact words."""
AGREEMENT_PASSAGES: Final = 3
"""BM25's best passages by which a model's agreement is measured; 1 to 10 give the same."""
LATIN_ONLY: Final = frozenset({"all-MiniLM-L6-v2"})
"""Models trained on English: their weight is scaled by the share of Latin letters in the query."""


def channel_weights(rankings: Sequence[Ranking], query: str) -> Mapping[str, ChannelWeight]:
    """Return the weight of each channel for one query, by name.

    A model's weight depends on its agreement with the words. A model that finds the passages with the query's rare
    words no better than average does not understand the query (another language, an error code, noise vectors) and
    gets none; where no word is found, the models get it all. Of seventeen features tried, agreement is the only one
    that predicts, across sets, which channel to trust (bench/LOG.md).
    """
    words = next((ranking for ranking in rankings if ranking.kind == "bm25"), None)
    models = [ranking for ranking in rankings if ranking.kind == "vector"]
    weights: dict[str, ChannelWeight] = {}
    for ranking in rankings:
        passage = turn = BM25_WEIGHT if ranking.kind == "bm25" else RESPELLED_WEIGHT
        if ranking.kind == "vector":
            others = len(models) - 1
            if not others:
                passage = turn = BASE_ALONE_WEIGHT
            elif ranking is models[0]:
                passage, turn = PASSAGE_WEIGHTS[0], TURN_WEIGHTS[0]
            else:
                passage, turn = PASSAGE_WEIGHTS[1] / others, TURN_WEIGHTS[1] / others
            trust = agreement(ranking, words)
            if ranking.channel.partition(":")[2] in LATIN_ONLY:
                trust *= latin_share(query)
            passage, turn = passage * trust, turn * trust
        weights[ranking.channel] = ChannelWeight(passage, turn)
    return weights


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
"""Correlation of the two bundled models' z-scores (.52 to .72 on five sets), for memories that a backfilled model has
not embedded yet. Without it such memories sink: with half of them pending R@5 is .708, and .766 without the model at
all."""


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
    is_turn = [row.head is not None and row.head.turn for row in table]
    scores = {ranking.channel: ranking.scored.by_id(ids) for ranking in rankings}
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    for ranking in rankings:
        weight = weights.get(ranking.channel, ChannelWeight(0.0, 0.0))
        channel, mean, deviation = ranking.channel, ranking.scored.mean, ranking.scored.deviation
        amounts = (weight.passage, weight.turn)
        for place, raw in enumerate(scores[channel]):
            if raw is not None:
                value = (raw - mean) / deviation if deviation else 0.0
                table[place].parts.append((channel, raw, value, amounts[is_turn[place]]))
            elif ranking.kind == "vector" and base is not None:
                known = scores[base.channel][place]
                if known is not None:
                    spread = base.scored.deviation
                    value = PREDICTED_CORRELATION * ((known - base.scored.mean) / spread if spread else 0.0)
                    table[place].parts.append(
                        (f"{channel} (foretold)", known, value, amounts[is_turn[place]])
                    )
    return table


def fuse_by_rank(rankings: Sequence[Ranking], weights: Mapping[str, ChannelWeight]) -> list[Candidate]:
    """Merge the channels' ranked lists by weighted reciprocal rank (Cormack et al., 2009).

    A memory earns ``weight / (60 + rank)`` from each channel that found it, rank counting from 1.
    """
    parts: dict[str, list[Contribution]] = {memory: [] for memory in candidate_ids(rankings)}
    for ranking in rankings:
        weight = weights.get(ranking.channel, ChannelWeight(0.0, 0.0)).passage
        for rank, hit in enumerate(ranking.hits, start=1):
            parts[hit.id].append(Contribution(ranking.channel, hit.score, 1.0 / (RRF_K + rank), weight))
    return [Candidate(memory, tuple(found)) for memory, found in parts.items()]


def split_weights(rankings: Sequence[Ranking], weights: Mapping[str, float]) -> Mapping[str, ChannelWeight]:
    """Return fixed weights by channel: the weight of a kind is split evenly among its channels."""
    kinds = [ranking.kind for ranking in rankings]
    amounts = {r.channel: weights.get(r.kind, 0.0) / kinds.count(r.kind) for r in rankings}
    return {channel: ChannelWeight(amount, amount) for channel, amount in amounts.items()}


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
    found: dict[str, list[Contribution]] = {memory: [] for memory in ids}
    base: dict[str, float] = {}
    for ranking in rankings:
        if ranking.kind == "ngram":
            continue
        weight = weights.get(ranking.channel, ChannelWeight(0.0, 0.0)).passage
        for memory, score in zip(ids, ranking.scored.by_id(ids), strict=True):
            if score is not None:
                value = score / (score + 1.0) if ranking.kind == "bm25" else score
                found[memory].append(Contribution(ranking.channel, score, value, weight))
                if ranking.kind == "vector":
                    base.setdefault(memory, score)
            elif memory in base:
                known = base[memory]
                found[memory].append(Contribution(f"{ranking.channel} (foretold)", known, known, weight))
    for memory, text in (texts or {}).items():
        similarity = trigram_similarity(query, text)
        found[memory].append(Contribution("ngram", similarity, similarity, trigram_weight))
    return [Candidate(memory, tuple(parts)) for memory, parts in found.items()]
