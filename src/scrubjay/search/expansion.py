"""Expansion: memories that the best categories and the links of the best candidates lead to.

Each channel scores a category's phrase (L0) on the scale of the memories. From the best categories, level by level,
each memory gets

    leaf = alpha · own + (1 − alpha) · category

where that is more than its own score, until three categories in a row change nothing among the first results. A
category is never a result. A linked memory scores ``.8`` times its referrer and ``.2`` times itself, where that is more
(both: vLLM semantic-router, pull request 1374). Memories that the caller may not see are no bridge.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from scrubjay.embeddings.base import TokenEmbedder
from scrubjay.frozen import frozen
from scrubjay.models.graph import Category, category_path
from scrubjay.models.records import RecordFilter
from scrubjay.models.results import LINK_PREFIX, Candidate, Contribution, Hit
from scrubjay.search.candidates import Ranking, TermRanking, filter_records
from scrubjay.search.fusion import best_first, channel_weights, fuse_raw, fuse_scores, split_weights
from scrubjay.search.plan import QueryPlan
from scrubjay.search.request import ExpansionOptions
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import idf, saturation
from scrubjay.text.language import detect_language
from scrubjay.text.tokenizer import index_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import AnyEmbedder, Embedder


class ScoreCache:
    """The scores of one search, each memory's computed once; None for memories that the filters exclude."""

    def __init__(
        self,
        reader: Reader,
        where: RecordFilter,
        score: Callable[[Sequence[str]], Iterable[Candidate]],
        known: Iterable[Candidate] = (),
    ) -> None:
        self.reader = reader
        self._where = where
        self._score = score
        self._known: dict[str, Candidate | None] = {candidate.id: candidate for candidate in known}

    def get(self, ids: Iterable[str]) -> dict[str, Candidate]:
        """Return the candidates of these memories, in the order of their ids."""
        wanted = sorted(set(ids))
        new = [memory for memory in wanted if memory not in self._known]
        if new:
            allowed = filter_records(self.reader, self._where, self.reader.get(new))
            self._known |= dict.fromkeys(new) | {memory: Candidate(memory, ()) for memory in allowed}
            self._known |= {
                candidate.id: candidate for candidate in self._score(allowed) if candidate.id in allowed
            }
        return {memory: candidate for memory in wanted if (candidate := self._known[memory]) is not None}


GATE_SHARE: Final = 0.7
"""Minimum score of a category as a share of a memory's minimum: it stands for many memories."""
MIN_SEEDS: Final = 20
SEEDS_PER_RESULT: Final = 4
"""Categories that the descent begins with, the best: so many for each result wanted, at least `MIN_SEEDS`."""
PATIENCE: Final = 3
"""Consecutive categories without a change among the first results that end the descent."""
MAX_MEMBERS: Final = 200
"""Maximum number of memories of one category that are scored, the heaviest, besides the query's own candidates."""
MAX_CACHED_PHRASES: Final = 10_000
"""Phrases whose vectors are cached, 10 MB at 256 dimensions."""
_PHRASE_VECTORS: Final[dict[tuple[str, str], NDArray[np.float32]]] = {}
CategoryScores: TypeAlias = tuple[Sequence[Category], Mapping[str, float]]
"""The visible categories, and the score of each by its phrase."""


def score_categories(
    plan: QueryPlan, rankings: Sequence[Ranking], reader: Reader, embedders: Sequence[AnyEmbedder]
) -> CategoryScores:
    """Score the categories by their phrases, on the scale of the memories."""
    categories = reader.categories()
    ids = [category.id for category in categories]
    phrases = {category.id: category.abstract or category.name for category in categories}
    scored = _rank_categories(phrases, rankings, embedders, plan.query.text)
    if plan.fusion == "raw":
        weights, texts = split_weights(rankings, plan.weights), phrases if plan.trigram_weight else None
        candidates = fuse_raw(scored, ids, weights, plan.query.text, texts, plan.trigram_weight)
    elif plan.fusion == "weighted":
        candidates = fuse_scores(scored, ids, split_weights(rankings, plan.weights))
    else:
        candidates = fuse_scores(scored, ids, channel_weights(rankings, plan.query.text))
    return categories, {candidate.id: candidate.score for candidate in candidates}


@frozen
class _PhraseScores:
    """Scores of categories on a channel, with the memories' mean and deviation; no category is ever a hit."""

    scores: Mapping[str, float]
    mean: float
    deviation: float
    covered: int

    def top(self, limit: int) -> list[Hit]:
        return []

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        return [self.scores.get(category) for category in ids]


def _rank_categories(
    phrases: Mapping[str, str], rankings: Sequence[Ranking], embedders: Sequence[AnyEmbedder], query: str
) -> list[Ranking]:
    """Of the models only the first reads the phrases and predicts the others, which embed ten phrases a second."""
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    category_rankings = []
    for ranking in rankings:
        scores: Mapping[str, float] = {}
        if isinstance(ranking, TermRanking):
            scores = {category: _phrase_bm25(phrase, ranking) for category, phrase in phrases.items()}
        elif ranking is base:
            model = next(
                embedder
                for embedder in embedders
                if not isinstance(embedder, TokenEmbedder)
                and ranking.channel == f"vector:{embedder.model.name}"
            )
            scores = _phrase_cosines(phrases, model, query)
        if scores or ranking.kind == "vector":
            memories = ranking.scored
            scored = _PhraseScores(scores, memories.mean, memories.deviation, memories.covered)
            category_rankings.append(Ranking(ranking.channel, ranking.kind, (), scored))
    return category_rankings


def _phrase_bm25(phrase: str, ranking: TermRanking) -> float:
    """Return a phrase's BM25 by the memories' idf, as of a text of average length."""
    counts = index_terms(phrase, detect_language(phrase)).counts
    groups = zip(ranking.groups, ranking.scored.frequencies, strict=True)
    return math.fsum(
        idf(ranking.scored.memories, frequency) * saturation(float(times), 1.0, 1.0)
        for group, frequency in groups
        if (times := max(counts.get(form, 0) for form in group.forms))
    )


def _phrase_cosines(phrases: Mapping[str, str], base: Embedder, query: str) -> dict[str, float]:
    keys = {phrase: (base.model.fingerprint, phrase) for phrase in sorted(set(phrases.values()))}
    vectors = {phrase: _PHRASE_VECTORS[key] for phrase, key in keys.items() if key in _PHRASE_VECTORS}
    missing = [phrase for phrase in keys if phrase not in vectors]
    new = dict(zip(missing, base.embed(missing), strict=True)) if missing else {}
    if len(_PHRASE_VECTORS) + len(new) > MAX_CACHED_PHRASES:
        _PHRASE_VECTORS.clear()
    _PHRASE_VECTORS.update({keys[phrase]: windows for phrase, windows in new.items()})
    query_vector = base.embed([query], kind="query")[0][0]
    cosines = {phrase: float((windows @ query_vector).max()) for phrase, windows in (vectors | new).items()}
    return {category: cosines[phrase] for category, phrase in phrases.items()}


def descend_categories(
    ranked: Sequence[Candidate],
    cache: ScoreCache,
    categories: CategoryScores,
    expansion: ExpansionOptions,
    limit: int,
    least: float,
) -> list[Candidate]:
    """Return the candidates and the memories their categories lead to, best first; no memory is demoted.

    ``least`` is the least score of a memory that a category brings in.
    """
    by_id = {category.id: category for category in categories[0]}
    scores = {category: score for category, score in categories[1].items() if category in by_id}
    children: dict[str, list[str]] = {}
    for node in by_id.values():
        if node.parent in by_id and node.id in scores:
            children.setdefault(node.parent, []).append(node.id)
    own = {candidate.id: candidate for candidate in ranked}
    best = dict(own)
    queue: list[tuple[float, str, int]] = []

    def push(category: str, score: float, depth: int) -> None:
        if depth <= expansion.depth and score > 0 and score >= GATE_SHARE * least:
            heapq.heappush(queue, (-score, category, depth))

    def first_results() -> list[tuple[float, str]]:
        return heapq.nsmallest(limit, ((-candidate.score, candidate.id) for candidate in best.values()))

    seeds = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    for category, score in seeds[: max(MIN_SEEDS, SEEDS_PER_RESULT * limit)]:
        push(category, score, 1)
    ranked_members: dict[str, list[str]] = {}
    for edge in cache.reader.edges(list(own), ["belongs"]) if queue else ():
        ranked_members.setdefault(edge.dst, []).append(edge.src)
    unchanged, first, visited = 0, first_results(), set[str]()
    while queue and unchanged < PATIENCE:
        negative_score, category, depth = heapq.heappop(queue)
        score = -negative_score
        if category in visited:
            continue
        visited.add(category)
        for child in children.get(category, ()):
            push(child, expansion.alpha * scores[child] + (1 - expansion.alpha) * score, depth + 1)
        edges = cache.reader.edges([category], ["belongs"], inward=True, limit=MAX_MEMBERS)
        members = sorted({*ranked_members.get(category, ()), *(edge.src for edge in edges)})
        own |= cache.get(memory for memory in members if memory not in own)
        path = " > ".join(ancestor.name for ancestor in category_path(by_id[category], by_id))
        for memory in members:
            if memory not in own or score <= own[memory].score or expansion.alpha >= 1:
                continue
            gain = score - own[memory].score
            lifted = own[memory].plus(Contribution(f"category {path}", score, gain, 1 - expansion.alpha))
            if lifted.score >= least and (memory not in best or lifted.score > best[memory].score):
                best[memory] = lifted
        before, first = first, first_results()
        unchanged = unchanged + 1 if first == before else 0
    return best_first(best.values())


REFERRER_SHARE: Final = 0.8
"""Weight of the referrer's score; the rest is the linked memory's own."""
LINK_KINDS: Final = ("links", "similar")
LINK_FAN_OUT: Final = 10
"""Maximum number of links of each kind and direction followed from one memory, the heaviest: as many as are made
automatically."""
MAX_REFERRERS: Final = 50
"""Memories of each hop that the next one starts from, the best."""
INWARD_SHARE: Final = 0.8
"""Weight of a link followed against its direction."""
LINK_HUB_SIZE: Final = 2_000
"""Memories with more links are not followed backwards."""


@frozen
class LinkLead:
    """A referrer, its score, and how much of that the link carries."""

    referrer: str
    score: float
    carried: float


def follow_links(
    ranked: Sequence[Candidate], cache: ScoreCache, hops: int, limit: int, least: float
) -> list[Candidate]:
    """Return the candidates and the memories their links lead to, best first.

    ``score = max(own, .8 · carried + .2 · own)`` with the best referrer, an own score below 0 counting as 0. Links are
    followed from the first ``limit`` candidates, over ``hops``; ``least`` is the least score of a memory brought in.
    """
    own = {candidate.id: candidate for candidate in ranked}
    best = dict(own)
    referrers = [candidate for candidate in ranked[: min(limit, MAX_REFERRERS)] if candidate.score >= least]
    for _ in range(hops):
        leads = _best_leads(
            cache, {candidate.id: candidate.score for candidate in referrers if candidate.score > 0}
        )
        own |= cache.get(memory for memory in leads if memory not in own)
        better = []
        for memory, lead in leads.items():
            if memory not in own:
                continue
            score = own[memory].score
            blend = REFERRER_SHARE * lead.carried + (1 - REFERRER_SHARE) * max(score, 0.0)
            if blend <= score:
                continue
            value = (blend - score) / REFERRER_SHARE
            part = Contribution(f"{LINK_PREFIX}{lead.referrer}", lead.score, value, REFERRER_SHARE)
            lifted = own[memory].plus(part)
            if lifted.score >= least and (memory not in best or lifted.score > best[memory].score):
                better.append(lifted)
        best |= {candidate.id: candidate for candidate in better}
        referrers = best_first(better)[:MAX_REFERRERS]
        if not referrers:
            break
    return best_first(best.values())


def _best_leads(cache: ScoreCache, starts: Mapping[str, float]) -> dict[str, LinkLead]:
    """Return the best link to each memory, then that of the smaller id."""
    leads: list[tuple[str, LinkLead]] = []
    for inward in (False, True):
        ids = list(starts)
        for kind in LINK_KINDS if inward and ids else ():
            degrees = cache.reader.degrees(kind, list(starts))
            ids = [memory for memory in ids if degrees.get(memory, 0) <= LINK_HUB_SIZE]
        for edge in cache.reader.edges(ids, LINK_KINDS, inward=inward, limit=LINK_FAN_OUT) if ids else ():
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            # An automatic link has no direction, and its weight is a cosine; a given one counts by its root.
            share = edge.weight
            if edge.kind != "similar":
                share = math.sqrt(edge.weight) * (INWARD_SHARE if inward else 1)
            leads.append((there, LinkLead(here, starts[here], starts[here] * share)))
    best: dict[str, LinkLead] = {}
    for memory, lead in sorted(leads, key=lambda pair: (-pair[1].carried, pair[1].referrer)):
        best.setdefault(memory, lead)
    return best
