"""Weigh: dict[str, float] -> Chances. Signs of a pair -> how likely each verdict is.

A logistic regression over the signs. Its weights stand in ``data/weights.txt``, fitted by ``bench/weigh_changes.py`` to
labelled pairs; a line holds a sign, and what it adds for each verdict in the order of ``VERDICTS``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from scrubjay.ingest.change.tables import lines

BIAS: Final = "always"
"""The sign that every pair has."""


class Chances(NamedTuple):
    """How likely each verdict is; they sum to 1."""

    duplicate: float
    supersedes: float
    contradicts: float
    new: float


def weigh(signs: Mapping[str, float]) -> Chances:
    """Return how likely each verdict is. Signs that have no weight say nothing."""
    table = _weights()
    duplicate, supersedes, contradicts, new = table[BIAS]
    for name, value in signs.items():
        if value and name in table:
            one, two, three, four = table[name]
            duplicate += one * value
            supersedes += two * value
            contradicts += three * value
            new += four * value
    sums = duplicate, supersedes, contradicts, new
    most = max(sums)
    powers = [math.exp(one - most) for one in sums]
    total = math.fsum(powers)
    return Chances(*(one / total for one in powers))


@cache
def _weights() -> dict[str, tuple[float, float, float, float]]:
    table: dict[str, tuple[float, float, float, float]] = {}
    for line in lines("weights.txt"):
        name, _, weights = line.rpartition(" = ")
        duplicate, supersedes, contradicts, new = map(float, weights.split())
        table[name] = duplicate, supersedes, contradicts, new
    return table
