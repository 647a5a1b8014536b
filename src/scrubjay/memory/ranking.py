"""Ranking values: hit → candidate → result, and the parts that made a score."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

MICRO = 1_000_000
"""Scores are compared after rounding to 1e-6, so that the last bits of two machines cannot flip an order."""

LINK: Final = "link from "
"""What the name of a part begins with that a link gave; the id of the memory that led to it follows."""


def rounded(score: float) -> float:
    """Round to 1e-6, halves to even, as numpy's ``rint`` does on the same product.

    >>> rounded(0.12345649)
    0.123456
    """
    return round(score * MICRO) / MICRO


@dataclass(frozen=True, slots=True)
class Hit:
    """One channel's find.

    Attributes:
        id: The memory.
        score: The channel's own score, rounded to 1e-6; units differ by channel.
    """

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one channel added to a candidate's score.

    Attributes:
        channel: ``bm25``, ``graph``, ``ngram``, or ``vector:<model name>``; or what else speaks, such as ``title``.
        raw: The channel's own score.
        value: The raw score on the common scale of the fusion.
        weight: What the channel weighs for this query.
    """

    channel: str
    raw: float
    value: float
    weight: float

    @property
    def amount(self) -> float:
        """What is added: weight times value."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Factor:
    """What a later stage multiplied a candidate's score by, and why."""

    name: str
    value: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory found by at least one channel, with every part of its score.

    Attributes:
        id: The memory.
        contributions: What each channel added.
        factors: What later stages multiplied by.
    """

    id: str
    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...] = field(default=())

    @property
    def score(self) -> float:
        """The sum of the contributions times the product of the factors, rounded to 1e-6.

        Sums use ``fsum``: the order in which channels answered must not decide a tie.
        """
        total = math.fsum([part.weight * part.value for part in self.contributions])
        if self.factors:
            total *= math.prod(factor.value for factor in self.factors)
        return rounded(total)

    def plus(self, *parts: Contribution) -> Candidate:
        """Return it with more parts of its score; not by ``replace``, for it is asked of every candidate and stage."""
        return Candidate(self.id, (*self.contributions, *parts), self.factors)
