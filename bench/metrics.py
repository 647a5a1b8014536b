"""Metrics of rankings, with seeded bootstrap intervals.

Gains are binary and every average is over queries. ``hit@k`` (any relevant one in the top k), ``all@k``
(all of them) and ``recall@k`` (the share of them) are three figures; never compare one with another.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
"""Bootstrap samples: the ends of a 95 % interval then move by about .001 between seeds."""
SEED = 20
DEPTH = 10
"""How many ranked items the deepest metric reads."""

NAMES = (
    "recall@1", "recall@2", "recall@5", "recall@10", "hit@1", "hit@5", "all@5", "all@10", "ndcg@10", "mrr@10",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over queries with its 95 % bootstrap interval (percentiles of resampled means)."""

    mean: float
    low: float
    high: float
    queries: int


def measure(ranked: Sequence[str], relevant: Collection[str]) -> dict[str, float]:
    """Every metric of one query, whose ranked ids are distinct.

    >>> measure(["x", "a"], {"a", "b"})["recall@5"], round(measure(["x", "a"], {"a"})["ndcg@10"], 4)
    (0.5, 0.6309)
    """
    if not relevant:
        raise ValueError("A query without relevant ids cannot be scored.")
    if len(set(ranked)) != len(ranked):
        raise ValueError("A ranking names an id twice.")
    ranks = [rank for rank, item in enumerate(ranked[:DEPTH]) if item in relevant]
    found = {k: sum(rank < k for rank in ranks) for k in (1, 2, 5, 10)}
    ideal = math.fsum(1 / math.log2(rank + 2) for rank in range(min(DEPTH, len(relevant))))
    return {
        **{f"recall@{k}": count / len(relevant) for k, count in found.items()},
        **{f"hit@{k}": float(found[k] > 0) for k in (1, 5)},
        **{f"all@{k}": float(found[k] == len(relevant)) for k in (5, 10)},
        "ndcg@10": math.fsum(1 / math.log2(rank + 2) for rank in ranks) / ideal,
        "mrr@10": 1 / (ranks[0] + 1) if ranks else 0.0,
    }


def first_seen(items: Iterable[str]) -> list[str]:
    """The distinct items in the order they first occur: turns ranked -> their sessions ranked."""
    return list(dict.fromkeys(items))


def figure(values: Sequence[float], seed: int = SEED) -> Figure:
    """The mean of per-query values and its interval; the same values and seed give the same interval."""
    if not values:
        raise ValueError("No values, so no mean.")
    array = np.asarray(values, np.float64)
    low, high = np.percentile(_resampled(array, seed), [2.5, 97.5])
    return Figure(math.fsum(values) / len(values), float(low), float(high), len(values))


def figures(rows: Sequence[Mapping[str, float]], seed: int = SEED) -> dict[str, Figure]:
    """A figure for each metric of per-query rows."""
    return {name: figure([row[name] for row in rows], seed) for name in (rows[0] if rows else ())}


def difference(ours: Sequence[float], theirs: Sequence[float], seed: int = SEED) -> Figure:
    """Paired: the mean of ours minus theirs, query by query. An interval without 0 is a difference."""
    return figure([a - b for a, b in zip(ours, theirs, strict=True)], seed)


def shown(figure: Figure) -> str:
    """A figure and its interval as tables show them.

    >>> shown(Figure(0.5, 0.4, 0.6, 100))
    '.500 [.400 .600]'
    """
    return f"{short(figure.mean)} [{short(figure.low)} {short(figure.high)}]"


def short(value: float) -> str:
    text = f"{value:.3f}"
    return text[1:] if text.startswith("0") else text.replace("-0", "-", 1)


def _resampled(values: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drawn = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(RESAMPLES)]
    return np.asarray(drawn)
