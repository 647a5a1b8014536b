"""Hierarchical retrieval: score categories, then descend from the best to their memories.

Each channel scores a category's phrase (L0) as it scores a memory, with the mean and the deviation of the
memories, so that one scale holds for both. From the best categories, one level after another, each memory gets

    leaf = alpha · own + (1 − alpha) · category

where that is more than it has by itself, the best category first, until three in a row change nothing among the
first results (vLLM semantic-router, pull request 1374). A category is an index and never a result.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from scrubjay.models.graph import Category, category_path
from scrubjay.models.results import Candidate, Contribution, Hit
from scrubjay.search.candidates import Ranking, ScoreCache, TermRanking
from scrubjay.search.fusion import channel_weights, fuse_raw, fuse_scores, split_weights
from scrubjay.search.plan import QueryPlan
from scrubjay.storage.interface import ChannelScores, Reader
from scrubjay.storage.scoring import idf, saturation
from scrubjay.text.language import detect_language
from scrubjay.text.tokenizer import index_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import Embedder


MAX_CACHED_PHRASES: Final = 10_000
"""Phrases whose vectors are kept in memory, 10 MB at 256 dimensions; one more, and all are made anew."""
_PHRASE_VECTORS: Final[dict[tuple[str, str], NDArray[np.float32]]] = {}


@dataclass(frozen=True, slots=True)
class CategoryScored:
    """Scores of categories within the memories' mean and deviation; no category is ever a hit."""

    scores: Mapping[str, float]
    mean: float
    deviation: float
    covered: int

    def top(self, limit: int) -> list[Hit]:
        """Return nothing."""
        return []

    def of(self, ids: Sequence[str]) -> list[float | None]:
        """Return the scores of categories by id, None where the channel cannot score one."""
        return [self.scores.get(one) for one in ids]


def rank_categories(
    categories: Sequence[Category],
    rankings: Sequence[Ranking],
    embedders: Sequence[Embedder],
    made: QueryPlan,
) -> list[Ranking]:
    """Return what each channel says of each category's phrase.

    The words and the first model that takes part read it; others are foretold by it, since MiniLM embeds some ten
    phrases a second while somebody waits.

    Args:
        categories: The categories that are seen.
        rankings: What the channels said of the memories.
        embedders: The models, the base model first.
        made: The query made ready.
    """
    phrases = {category.id: category_phrase(category) for category in categories}
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    found = []
    for ranking in rankings:
        scores: Mapping[str, float] = {}
        if isinstance(ranking, TermRanking):
            scores = {one: _phrase_bm25(phrase, ranking) for one, phrase in phrases.items()}
        elif ranking is base:
            model = next(one for one in embedders if ranking.channel == f"vector:{one.model.name}")
            scores = _phrase_cosines(phrases, model, made.query.text)
        if scores or ranking.kind == "vector":
            found.append(Ranking(ranking.channel, ranking.kind, (), _category_scored(scores, ranking.scored)))
    return found


def category_phrase(category: Category) -> str:
    """Return what a category is scored by: its phrase, or its name where it has none."""
    return category.abstract or category.name


def _category_scored(scores: Mapping[str, float], scored: ChannelScores) -> CategoryScored:
    return CategoryScored(scores, scored.mean, scored.deviation, scored.covered)


def _phrase_bm25(phrase: str, ranking: TermRanking) -> float:
    """Return a phrase's BM25 by the memories' idf, as of one of average length."""
    counts = index_terms(phrase, detect_language(phrase)).counts
    held = zip(ranking.groups, ranking.words.frequencies, strict=True)  # of respelled words their own
    return math.fsum(
        idf(ranking.words.memories, frequency) * saturation(float(times), 1.0, 1.0)
        for group, frequency in held
        if (times := max(counts.get(form, 0) for form in group.forms))
    )


def _phrase_cosines(phrases: Mapping[str, str], base: Embedder, query: str) -> dict[str, float]:
    """Return each phrase's cosine to the query by the base model."""
    fingerprint = base.model.fingerprint
    held = {phrase: _PHRASE_VECTORS.get((fingerprint, phrase)) for phrase in sorted(set(phrases.values()))}
    new = [phrase for phrase, windows in held.items() if windows is None]
    made = dict(zip(new, base.embed(new), strict=True)) if new else {}
    if len(_PHRASE_VECTORS) + len(new) > MAX_CACHED_PHRASES:
        _PHRASE_VECTORS.clear()
    _PHRASE_VECTORS.update({(fingerprint, phrase): windows for phrase, windows in made.items()})
    wanted = base.embed([query], kind="query")[0][0]
    near = {
        phrase: float((windows @ wanted).max())
        for phrase in held
        if (windows := made.get(phrase, held[phrase])) is not None
    }
    return {category: near[phrase] for category, phrase in phrases.items()}


GATE_SHARE: Final = 0.7
"""Share of the least score of a memory that a category must come to: it speaks for many, so it says less of each."""
SEED_CATEGORIES: Final = (20, 4)
"""Categories that the descent begins with: so many, or so many times the results wanted."""
PATIENCE: Final = 3
"""Categories in a row that may change nothing among the first results."""
MAX_MEMBERS: Final = 200
"""Memories of one category that are looked at because they belong to it most; of a larger one, those that the query
found by itself are looked at too."""


@dataclass(frozen=True, slots=True)
class DescentOptions:
    """How categories are descended.

    Attributes:
        depth: Levels, that of the first category being one.
        alpha: What a memory's own score weighs beside its category's, 0..1.
        limit: Results wanted.
        least: Score that a memory must come to.
    """

    depth: int
    alpha: float
    limit: int
    least: float


@dataclass(slots=True)
class _Descent:
    """One descent: the best of each memory so far, and the categories still to be looked at."""

    levels: DescentOptions
    own: dict[str, Candidate]
    found: dict[str, Candidate]
    waiting: list[tuple[float, str, int]] = field(default_factory=list)

    def push(self, category: str, score: float, depth: int) -> None:
        if depth <= self.levels.depth and score > 0 and score >= GATE_SHARE * self.levels.least:
            heapq.heappush(self.waiting, (-score, category, depth))

    def pop(self) -> Iterator[tuple[str, float, int]]:
        """Yield each category once, the best first, with the score and depth by which it was come to."""
        seen: set[str] = set()
        while self.waiting:
            score, category, depth = heapq.heappop(self.waiting)
            if category not in seen:
                seen.add(category)
                yield category, -score, depth

    def first(self) -> list[tuple[float, str]]:
        """Return the first results as they stand."""
        return heapq.nsmallest(self.levels.limit, ((-one.score, one.id) for one in self.found.values()))


def descend_categories(
    ranked: Sequence[Candidate],
    measure: ScoreCache,
    shelves: tuple[Sequence[Category], Mapping[str, float]],
    levels: DescentOptions,
) -> list[Candidate]:
    """Return the candidates and what their categories lead to; their order is for the caller to make.

    Nothing is demoted: a memory keeps its own score where that is the better.

    Args:
        ranked: Candidates, best first.
        measure: What any memory scores by itself.
        shelves: The categories that are seen, and what each scores by its phrase.
        levels: How far, and what counts how much.
    """
    by_id = {category.id: category for category in shelves[0]}
    scores = {category: score for category, score in shelves[1].items() if category in by_id}
    below: dict[str, list[str]] = {}
    for one in by_id.values():
        if one.parent in by_id and one.id in scores:
            below.setdefault(one.parent, []).append(one.id)
    known = {one.id: one for one in ranked}
    descent = _Descent(levels, dict(known), dict(known))
    seeds = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    for seed, score in seeds[: max(SEED_CATEGORIES[0], SEED_CATEGORIES[1] * levels.limit)]:
        descent.push(seed, score, 1)
    held = _candidates_by_category(measure, [one.id for one in ranked]) if descent.waiting else {}
    still, first = 0, descent.first()
    for category, score, depth in descent.pop():
        for child in below.get(category, ()):
            descent.push(child, levels.alpha * scores[child] + (1 - levels.alpha) * score, depth + 1)
        names = " > ".join(one.name for one in category_path(by_id[category], by_id))
        _lift_members(descent, measure, _members(measure, category, held), (names, score))
        before, first = first, descent.first()
        still = still + 1 if first == before else 0
        if still >= PATIENCE:
            break
    return list(descent.found.values())


def _candidates_by_category(measure: ScoreCache, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the candidates that belong to each category."""
    found: dict[str, list[str]] = {}
    for edge in measure.reader.edges(ids, ["belongs"]):
        found.setdefault(edge.dst, []).append(edge.src)
    return found


def _members(measure: ScoreCache, category: str, held: Mapping[str, Sequence[str]]) -> list[str]:
    edges = measure.reader.edges([category], ["belongs"], inward=True, limit=MAX_MEMBERS)
    return sorted({*held.get(category, ()), *(edge.src for edge in edges)})


def _lift_members(
    descent: _Descent, measure: ScoreCache, members: Sequence[str], shelf: tuple[str, float]
) -> None:
    """Keep what belongs to a category where that lifts it."""
    descent.own |= measure.of(memory for memory in members if memory not in descent.own)
    for memory in members:
        own = descent.own.get(memory)
        one = _lift(own, shelf, descent.levels.alpha) if own is not None else None
        if one is None or one.score < descent.levels.least:
            continue
        if memory not in descent.found or one.score > descent.found[memory].score:
            descent.found[memory] = one


def _lift(own: Candidate, shelf: tuple[str, float], alpha: float) -> Candidate | None:
    """Return a memory with what its category lends it, None where that is nothing."""
    names, score = shelf
    scale = math.prod(factor.value for factor in own.factors)
    if score <= own.score or alpha >= 1 or scale <= 0:
        return None
    part = Contribution(f"category {names}", score, (score - own.score) / scale, 1 - alpha)
    return replace(own, contributions=(*own.contributions, part))


CategoryScores: TypeAlias = tuple[Sequence[Category], Mapping[str, float]]
"""The categories that are seen, and what each scores by its phrase."""


def score_categories(
    made: QueryPlan, rankings: Sequence[Ranking], reader: Reader, embedders: Sequence[Embedder]
) -> CategoryScores | None:
    """Return what the categories score, on the scale of the memories; None where nobody wants it.

    Args:
        made: What was asked.
        rankings: What the channels said of the memories.
        reader: What is visible.
        embedders: The models, the base model first.
    """
    if not (made.reach.hierarchy and "descend" in made.stages and rankings):
        return None
    known = reader.categories()
    ids = [category.id for category in known]
    said = rank_categories(known, rankings, embedders, made)
    if made.fusion == "raw":
        texts = {category.id: category_phrase(category) for category in known}
        letters = (made.weights.get("ngram", 0.0) if "ngram" in made.channels else 0.0, made.query.text)
        found = fuse_raw(said, ids, split_weights(rankings, made.weights), (*letters, lambda _: texts))
    elif made.fusion == "weighted":
        found = fuse_scores(said, ids, split_weights(rankings, made.weights))
    else:
        found = fuse_scores(said, ids, channel_weights(rankings, made.query.text))
    return known, {one.id: one.score for one in found}
