"""Descend: candidates -> candidates, with what belongs to the categories that the query fits.

From the categories that fit it best, one level after another: of each its memories and the categories below it

    leaf = alpha · own + (1 − alpha) · category

where that is more than a memory has by itself, the best category first, until three in a row have changed nothing
among the first results (vLLM semantic-router, pull request 1374). A category is an index: what it is like decides
where to look, and it is never a result.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scrubjay.memory.categories import Category
from scrubjay.memory.ranking import Candidate, Contribution
from scrubjay.memory.tree import path
from scrubjay.recall.measure import Measure

GATE: Final = 0.7
"""Share of the least score of a memory that a category must come to: it speaks for many, so it says less of each."""
SEEDS: Final = (20, 4)
"""Categories that the descent begins with: so many, or so many times the results wanted."""
PATIENCE: Final = 3
"""Categories in a row that may change nothing among the first results."""
MEMBERS: Final = 200
"""Memories of one category that are looked at because they belong to it most; of a larger one, those that the query
found by itself are looked at too."""


@dataclass(frozen=True, slots=True)
class Levels:
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

    levels: Levels
    own: dict[str, Candidate]
    found: dict[str, Candidate]
    waiting: list[tuple[float, str, int]] = field(default_factory=list)

    def push(self, category: str, score: float, depth: int) -> None:
        if depth <= self.levels.depth and score > 0 and score >= GATE * self.levels.least:
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


def descend(
    ranked: Sequence[Candidate],
    measure: Measure,
    shelves: tuple[Sequence[Category], Mapping[str, float]],
    levels: Levels,
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
    for seed, score in seeds[: max(SEEDS[0], SEEDS[1] * levels.limit)]:
        descent.push(seed, score, 1)
    held = _held(measure, [one.id for one in ranked]) if descent.waiting else {}
    still, first = 0, descent.first()
    for category, score, depth in descent.pop():
        for child in below.get(category, ()):
            descent.push(child, levels.alpha * scores[child] + (1 - levels.alpha) * score, depth + 1)
        names = " > ".join(one.name for one in path(by_id[category], by_id))
        _look(descent, measure, _members(measure, category, held), (names, score))
        before, first = first, descent.first()
        still = still + 1 if first == before else 0
        if still >= PATIENCE:
            break
    return list(descent.found.values())


def _held(measure: Measure, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the candidates that belong to each category."""
    found: dict[str, list[str]] = {}
    for edge in measure.reader.edges(ids, ["belongs"]):
        found.setdefault(edge.dst, []).append(edge.src)
    return found


def _members(measure: Measure, category: str, held: Mapping[str, Sequence[str]]) -> list[str]:
    edges = measure.reader.edges([category], ["belongs"], inward=True, limit=MEMBERS)
    return sorted({*held.get(category, ()), *(edge.src for edge in edges)})


def _look(descent: _Descent, measure: Measure, members: Sequence[str], shelf: tuple[str, float]) -> None:
    """Keep what belongs to a category where that lifts it."""
    descent.own |= measure.of(memory for memory in members if memory not in descent.own)
    for memory in members:
        own = descent.own.get(memory)
        one = _lifted(own, shelf, descent.levels.alpha) if own is not None else None
        if one is None or one.score < descent.levels.least:
            continue
        if memory not in descent.found or one.score > descent.found[memory].score:
            descent.found[memory] = one


def _lifted(own: Candidate, shelf: tuple[str, float], alpha: float) -> Candidate | None:
    """Return a memory with what its category lends it, None where that is nothing."""
    names, score = shelf
    scale = math.prod(factor.value for factor in own.factors)
    if score <= own.score or alpha >= 1 or scale <= 0:
        return None
    part = Contribution(f"category {names}", score, (score - own.score) / scale, 1 - alpha)
    return replace(own, contributions=(*own.contributions, part))
