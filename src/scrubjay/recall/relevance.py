"""Relevance: a query's rankings -> how likely each memory is to answer it, 0 to 1.

What is looked at means the same in every store, as no score does: how much of what the query asks for a memory holds,
and how near the models find it. A logistic regression, fitted over many sets (`python -m bench silence`), makes one
probability of it; its coefficients and where they come from are in relevance.json.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from scrubjay.recall.channels.ranking import Ranking, WordsRanking
from scrubjay.recall.plan import Plan
from scrubjay.recall.telling import held_by, known_of, rare, share_of, weighed
from scrubjay.text.scripts import latin_share
from scrubjay.text.telling import named

RESPELLED: Final = 0.5
"""What a word counts that is held in another spelling alone, as in the ranking (recall/weigh.py)."""
LENT: Final = 0.8
"""What the relevance of what led to a memory weighs in its own, where that is more: as in its score (recall/follow.py).
The second step to an answer shares few words with the question."""
SPOKEN: Final = 0.5
"""Share of the threshold that a turn of a conversation must come to: what answers a question about somebody's life
often shares no word with it, and a wrong silence there is worse than a weak answer. Of 60 questions of LongMemEval two
were met with silence without it (bench/LOG.md)."""
BASE: Final = "vector:wordllama-l2-supercat"
"""The model whose cosines are known: what another model's mean, nobody has measured."""
SECOND: Final = "vector:all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class Sign:
    """What speaks for a memory.

    Attributes:
        covered: Share of the query's telling words, by idf, that it holds; 0..1.
        respelled: The share that it holds in another spelling, of what no memory holds as it was asked for.
        strange: The share that no memory holds in any spelling: who asks for it asks for another store.
        familiar: The share of the query's names and numbers that any memory holds; 0 where it has none.
        turn: Whether it is a turn of a conversation: it holds less of what it answers than a passage does.
        near: Cosine by the base model, or None where it did not take part.
        second: Cosine by MiniLM, or None.
        latin: Share of Latin letters in the query: how far the models are to be believed.
        exact: Whether it holds a rare identifier of the query, or all that the query quotes; or is of the time that is
            all that is asked about.
        told: Whether that says anything: the query names something, and all models that took part are known.
        lent: Relevance of what led to it, by a name or a link; 0 where nothing did.
        answering: Of a turn the share of the query's words that it holds outside of its own questions: who asked the
            same before does not answer it.
    """

    covered: float
    respelled: float = 0.0
    strange: float = 0.0
    familiar: float = 0.0
    turn: bool = False
    near: float | None = None
    second: float | None = None
    latin: float = 1.0
    exact: bool = False
    told: bool = True
    lent: float = 0.0
    answering: float = 1.0

    @property
    def held(self) -> float:
        """Share of the query's telling words that it holds in whatever spelling, 0..1."""
        return self.covered + RESPELLED * self.respelled

    @property
    def family(self) -> str:
        """Which coefficients it is read by: those of ``words``, ``base`` or ``both`` models."""
        return "words" if self.near is None else "base" if self.second is None else "both"

    @property
    def relevance(self) -> float:
        """How likely it is to answer, 0 to 1, to four digits: what is shown is what is compared."""
        weights = calibration()[self.family]["weights"]
        total = math.fsum(weight * FEATURES[name](self) for name, weight in weights.items())
        own = self.answering / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
        return round(max(own, LENT * self.lent + (1.0 - LENT) * own), 4)

    @property
    def enough(self) -> bool:
        """Whether it may stand for an answer: likely enough for a query of its letters, or an exact hit."""
        least, other = calibration()[self.family]["least"]
        share = SPOKEN if self.turn else 1.0
        return self.exact or self.relevance >= share * (self.latin * least + (1.0 - self.latin) * other)


FEATURES: Final[Mapping[str, Callable[[Sign], float]]] = {
    "one": lambda sign: 1.0,
    "covered": lambda sign: sign.held,
    "strange": lambda sign: sign.strange,
    "familiar": lambda sign: sign.familiar,
    "turn": lambda sign: float(sign.turn),
    "other": lambda sign: 1.0 - sign.latin,
    "other covered": lambda sign: (1.0 - sign.latin) * sign.held,
    "near": lambda sign: sign.latin * (sign.near or 0.0),
    "second": lambda sign: sign.latin * (sign.second or 0.0),
}
"""What the regression reads. Of other letters the models find all alike, so that words alone are believed there."""


@cache
def calibration() -> Mapping[str, Any]:
    """Return each family's coefficients and thresholds (for Latin and for other letters), and their origin."""
    found: dict[str, Any] = json.loads(
        resources.files("scrubjay.recall").joinpath("relevance.json").read_bytes()
    )
    return found


def signs(
    plan: Plan, words: WordsRanking | None, rankings: Sequence[Ranking], turns: Mapping[str, bool]
) -> dict[str, Sign]:
    """Return what speaks for each memory.

    Args:
        plan: The query made ready.
        words: What the query's words said, or None where it has none.
        rankings: What the channels said.
        turns: Memories, and whether each is a turn of a conversation.
    """
    ids = list(turns)
    by_channel = {ranking.channel: ranking for ranking in rankings}
    models = {ranking.channel for ranking in rankings if ranking.kind == "vector"}
    weights = weighed(plan, words)
    whole = math.fsum(weights.values())
    names = named(plan.query.text) & weights.keys()
    ngram = by_channel.get("ngram")
    respelled = ngram if isinstance(ngram, WordsRanking) else None
    again, known = held_by(respelled, ids), known_of(words) | known_of(respelled)
    strange = share_of(weights, weights.keys() - known, whole)
    familiar = len(names & known) / len(names) if names else 0.0
    latin = latin_share(plan.query.text)
    exact = bool(plan.query.phrases) or (plan.question.alone and "?" in plan.query.text)
    told = whole > 0 and not plan.question.alone and BASE in models and models <= {BASE, SECOND}
    scarce = rare(plan, words)
    near, second = (
        by_channel[name].scored.of(ids) if name in by_channel else [None] * len(ids)
        for name in (BASE, SECOND)
    )
    found = {}
    for place, (memory, held) in enumerate(zip(ids, held_by(words, ids), strict=True)):
        found[memory] = Sign(
            covered=share_of(weights, held, whole),
            respelled=share_of(weights, again[place] - held, whole),
            strange=strange,
            familiar=familiar,
            turn=turns[memory],
            near=near[place],
            second=second[place],
            latin=latin,
            exact=exact or not scarce.isdisjoint(held),
            told=told,
        )
    return found
