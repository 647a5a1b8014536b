"""Beyond: ranked candidates -> ranked candidates, with what stands in connection with them.

descend > follow > threshold
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from scrubjay.memory.categories import Category
from scrubjay.memory.ranking import Candidate
from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.descend import Levels, descend
from scrubjay.recall.follow import Hops, follow
from scrubjay.recall.fuse import fuse, shared
from scrubjay.recall.measure import Measure
from scrubjay.recall.plan import Plan
from scrubjay.recall.raw import raw
from scrubjay.recall.shelves import phrase, shelves
from scrubjay.recall.slate import ordered
from scrubjay.recall.weigh import weigh
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

Shelved: TypeAlias = tuple[Sequence[Category], Mapping[str, float]]
"""The categories that are seen, and what each scores by its phrase."""
LEAST: Final = 0.5
"""Share of the best score that a memory must come to which a link or a category brings in; with a threshold, that."""


def beyond(
    ranked: list[Candidate],
    made: Plan,
    reader: Reader,
    score: Callable[[Sequence[str]], Iterable[Candidate]],
    shelves: Shelved | None = None,
) -> list[Candidate]:
    """Add what stands in connection with what was found, and leave out what is below a threshold.

    Args:
        ranked: Candidates, best first.
        made: What was asked.
        reader: What is visible.
        score: What any memory scores by itself.
        shelves: The categories and what each scores; None where they are not descended.

    Returns:
        Candidates, best first; the very same where nothing was asked beyond them.
    """
    reach, best = made.reach, ranked[0].score if ranked else 0.0
    least = LEAST * best if reach.threshold is None else reach.threshold
    if shelves is not None and best > 0:
        levels = Levels(reach.depth, reach.alpha, made.limit, least)
        measure = Measure(reader, made.where, score, {one.id: one for one in ranked})
        ranked = ordered(descend(ranked, measure, shelves, levels))
    if reach.links and "follow" in made.stages and best > 0:
        measure = Measure(reader, made.where, score, {one.id: one for one in ranked})
        ranked = ordered(follow(ranked, measure, Hops(reach.links, made.limit, least)))
    if reach.threshold is not None:
        ranked = [one for one in ranked if one.score >= reach.threshold]
    return ranked


def shelved(
    made: Plan, rankings: Sequence[Ranking], reader: Reader, embedders: Sequence[Embedder]
) -> Shelved | None:
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
    said = shelves(known, rankings, embedders, made)
    if made.fusion == "raw":
        texts = {category.id: phrase(category) for category in known}
        letters = (made.weights.get("ngram", 0.0) if "ngram" in made.channels else 0.0, made.query.text)
        found = raw(said, ids, shared(rankings, made.weights), (*letters, lambda _: texts))
    elif made.fusion == "weighted":
        found = fuse(said, ids, shared(rankings, made.weights))
    else:
        found = fuse(said, ids, weigh(rankings, made.query.text))
    return known, {one.id: one.score for one in found}
