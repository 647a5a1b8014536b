"""Relevant: a query's rankings -> which memories have to do with it at all.

A plain rule of evidence until relevance is calibrated, since a ranking always has a first: how much of what the query
asks for a memory holds, by words that tell (rare ones tell more, one that no memory holds tells most and is never
found), and how near it is to the query by the base model. It asks words and the base model alone, so that it says
the same whichever models take part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.channels.words import WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.store.score import idf
from scrubjay.text.languages import function_words
from scrubjay.text.scripts import latin_share
from scrubjay.text.tokens import TermGroup

ENOUGH: Final = 0.48
"""Cosine and ``WORDS`` times the covered share that are enough. On eight sets a judged memory of a question passes for
.82 of the questions, any memory at all for .10 of the questions of the other sets (bench/LOG.md)."""
WORDS: Final = 0.35
SOME: Final = 0.2
"""Covered share without which nothing is enough: a model that does not know a language finds all of it alike."""
OTHER: Final = 0.1
"""The same for a query of other letters: to the base model all Arabic is near to all Arabic."""
COVERED: Final = 0.9
"""Covered share that is enough alone: an error's code says nothing to a model."""
_ASKING: Final = (
    "any about also am could did do does done go got had has he him how i if it just know like make may me might my "
    "need our please say should show so some tell than then these those us use want was where why work you your"
)
ASKING: Final = frozenset(_ASKING.split())
"""English words that questions are made of; those of the language guesser are added."""


@dataclass(frozen=True, slots=True)
class Sign:
    """What speaks for a memory.

    Attributes:
        covered: Share of the query's telling words that it holds.
        near: Its cosine by the base model.
        latin: Share of Latin letters in the query: how far the model is to be believed.
    """

    covered: float
    near: float
    latin: float = 1.0

    @property
    def relevant(self) -> bool:
        """Whether it is enough."""
        least = self.latin * ENOUGH + (1 - self.latin) * OTHER
        near = self.latin * self.near + WORDS * self.covered >= least
        return self.covered >= COVERED or (near and self.covered >= SOME)


def relevant(
    words: WordsRanking | None, plan: Plan, base: Ranking | None, ids: Sequence[str]
) -> dict[str, Sign]:
    """Return what speaks for each memory.

    Args:
        words: What the query's words said, or None where it has none.
        plan: The query made ready.
        base: What the base model said, or None.
        ids: Memories.
    """
    weights, latin = _telling(words, plan.groups), latin_share(plan.query.text)
    whole = math.fsum(weights)
    parts = words.words.parts(ids) if words is not None else [()] * len(ids)
    raws = base.scored.of(ids) if base is not None else [None] * len(ids)
    found = {}
    for memory, gave, raw in zip(ids, parts, raws, strict=True):
        held = math.fsum(weight for weight, part in zip(weights, gave, strict=False) if part)
        found[memory] = Sign(held / whole if whole else 0.0, raw or 0.0, latin)
    return found


def _telling(words: WordsRanking | None, groups: Sequence[TermGroup]) -> list[float]:
    if words is None:
        return []
    scored = words.words
    return [
        0.0 if _says_nothing(group.word) else idf(scored.memories, held)
        for group, held in zip(groups, scored.frequencies, strict=True)
    ]


@cache
def _says_nothing(word: str) -> bool:
    return len(word) < 2 or word in ASKING or word in function_words()
