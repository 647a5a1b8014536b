"""Shelves: categories -> rankings of them, as if their phrases (L0) were memories.

Each channel scores a phrase as it scores a memory, and has the mean and the deviation of the memories for it, so that
whatever fuses memories fuses categories too and one scale holds for both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.memory.categories import Category
from scrubjay.memory.ranking import Hit
from scrubjay.recall.channels.ranking import Ranking, WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Scored
from scrubjay.store.score import idf, saturation
from scrubjay.text.languages import language
from scrubjay.text.tokens import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.providers.embedders.port import Embedder

MOST_KEPT: Final = 10_000
"""Phrases whose vectors are kept in memory, 10 MB at 256 dimensions; one more, and all are made anew."""
_VECTORS: Final[dict[tuple[str, str], NDArray[np.float32]]] = {}


@dataclass(frozen=True, slots=True)
class Shelved:
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


def shelves(
    categories: Sequence[Category], rankings: Sequence[Ranking], embedders: Sequence[Embedder], made: Plan
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
    phrases = {category.id: phrase(category) for category in categories}
    base = next((ranking for ranking in rankings if ranking.kind == "vector"), None)
    found = []
    for ranking in rankings:
        scores: Mapping[str, float] = {}
        if isinstance(ranking, WordsRanking):
            scores = {one: _words(phrase, ranking) for one, phrase in phrases.items()}
        elif ranking is base:
            model = next(one for one in embedders if ranking.channel == f"vector:{one.model.name}")
            scores = _nearness(phrases, model, made.query.text)
        if scores or ranking.kind == "vector":
            found.append(Ranking(ranking.channel, ranking.kind, (), _shelved(scores, ranking.scored)))
    return found


def phrase(category: Category) -> str:
    """Return what a category is scored by: its phrase, or its name where it has none."""
    return category.abstract or category.name


def _shelved(scores: Mapping[str, float], scored: Scored) -> Shelved:
    return Shelved(scores, scored.mean, scored.deviation, scored.covered)


def _words(phrase: str, ranking: WordsRanking) -> float:
    """Return a phrase's BM25 by the memories' idf, as of one of average length."""
    counts = terms(phrase, language(phrase)).counts
    held = zip(ranking.groups, ranking.words.frequencies, strict=True)  # of respelled words their own
    return math.fsum(
        idf(ranking.words.memories, frequency) * saturation(float(times), 1.0, 1.0)
        for group, frequency in held
        if (times := max(counts.get(form, 0) for form in group.forms))
    )


def _nearness(phrases: Mapping[str, str], base: Embedder, query: str) -> dict[str, float]:
    """Return each phrase's cosine to the query by the base model."""
    fingerprint = base.model.fingerprint
    held = {phrase: _VECTORS.get((fingerprint, phrase)) for phrase in sorted(set(phrases.values()))}
    new = [phrase for phrase, windows in held.items() if windows is None]
    made = dict(zip(new, base.embed(new), strict=True)) if new else {}
    if len(_VECTORS) + len(new) > MOST_KEPT:
        _VECTORS.clear()
    _VECTORS.update({(fingerprint, phrase): windows for phrase, windows in made.items()})
    wanted = base.embed([query], kind="query")[0][0]
    near = {
        phrase: float((windows @ wanted).max())
        for phrase in held
        if (windows := made.get(phrase, held[phrase])) is not None
    }
    return {category: near[phrase] for category, phrase in phrases.items()}
