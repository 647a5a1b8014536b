"""Fit the coefficients of relevance and measure how well their probabilities are calibrated.

Logistic regression by Newton's method with a little L2. Each set is judged by coefficients that were fitted on the
other sets alone (leave one set out), and all that is said of silence comes from those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.search.relevance import FEATURES, FIRST_RESULTS, RelevanceFeatures

Array = NDArray[np.float64]
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "words": tuple(name for name in FEATURES if name not in ("near", "late")),
    "base": tuple(name for name in FEATURES if name != "late"),
    "both": tuple(FEATURES),
}
"""Which signs each family reads."""
WEIGHT: Final = {"own": 1.0, "typo": 0.15, "keywords": 0.15, "foreign": 0.5, "cross": 0.5, "out": 0.5}
"""What a kind of question weighs within its set: about as many that have an answer as have none."""
L2: Final = 1.0
BINS: Final = 15
FIRST_BINS: Final = 10
"""Bins for the relevance of first results: a question has only one."""
UNANSWERABLE: Final = ("foreign", "cross", "out", "abstention")
FIELDS: Final = (
    "covered", "respelled", "strange", "familiar", "turn", "near", "late", "latin", "exact", "reliable",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One question's first results, with the features of each and whether each answers (gold)."""

    set: str
    kind: str
    features: Array
    gold: Array
    exact: bool  # any is an exact hit, or relevance cannot be known
    recall: tuple[float, float] | None  # at five and ten, where there is an answer
    latin: float = 1.0  # share of Latin letters in the question
    shown: float | None = None  # relevance of the first result, as the product gave it


def read_row(row: Mapping[str, Any], family: str) -> Row:
    signs = []
    for one in row["top"][:FIRST_RESULTS]:
        given = {name: one[name] for name in FIELDS}
        if family == "words":
            given["near"] = None
        if family != "both":
            given["late"] = None
        signs.append(RelevanceFeatures(**given))
    found = [sum(one["gold"] for one in row["top"][:k]) / max(1, row["judged"]) for k in (5, 10)]
    return Row(
        row["set"],
        row["kind"],
        np.array([[FEATURES[name](sign) for name in FAMILIES[family]] for sign in signs]),
        np.array([float(one["gold"] > 0) for one in row["top"][:FIRST_RESULTS]]),
        any(sign.exact or not sign.reliable for sign in signs),
        (found[0], found[1]) if row["judged"] else None,
        signs[0].latin,
        None if family == "words" else row["top"][0]["shown"],  # no store is asked without the base model
    )


def fitted(rows: Sequence[Row]) -> Array:
    """Return the coefficients that rows give, of sets with questions of their own and of what is surely judged."""
    full = {row.set for row in rows if row.kind == "own"}
    rows = [row for row in rows if row.set in full and row.kind != "abstention"]
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        counts[row.set, row.kind] = counts.get((row.set, row.kind), 0) + 1
    weights = np.concatenate(
        [
            np.full(len(row.gold), 100.0 * WEIGHT[row.kind] / counts[row.set, row.kind] / len(row.gold))
            for row in rows
        ]
    )
    return newton(
        np.vstack([row.features for row in rows]), np.concatenate([row.gold for row in rows]), weights
    )


def newton(features: Array, wanted: Array, weights: Array) -> Array:
    """Return the coefficients of a weighted logistic regression; the first feature is the constant, not shrunk."""
    found = np.zeros(features.shape[1])
    shrink = np.eye(len(found)) * L2
    shrink[0, 0] = 1e-6
    for _ in range(100):
        p = likely(features, found)
        slope = features.T @ (weights * (p - wanted)) + shrink @ found
        curve = (features * (weights * p * (1 - p))[:, None]).T @ features + shrink
        step = np.linalg.solve(curve, slope)
        found = found - step
        if float(np.abs(step).max()) < 1e-9:
            break
    return np.asarray(found, np.float64)


def likely(features: Array, weights: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30, 30))), np.float64)


def best(row: Row, weights: Array) -> float:
    """Return the relevance of an answer: of its best result; 1 for an exact hit."""
    return 1.0 if row.exact else float(likely(row.features, weights).max())


Least = tuple[float, float]
"""What is likely enough: for a question of Latin letters, and for one of others."""


def threshold(rows: Sequence[Row], bests: Sequence[float], share: float) -> Least:
    """Return what leaves a share of the own questions answered, every set weighing alike."""
    own = [(row, value) for row, value in zip(rows, bests, strict=True) if row.kind == "own"]
    return (
        _quantile([(value, row.set) for row, value in own if row.latin >= 0.5], share),
        _quantile([(value, row.set) for row, value in own if row.latin < 0.5], share),
    )


def _quantile(own: Sequence[tuple[float, str]], share: float) -> float:
    counts = Counter(name for _, name in own)
    whole, lost = float(len(counts)), 0.0
    for value, name in sorted(own):
        lost += 1.0 / counts[name]
        if lost > (1.0 - share) * whole:
            return value
    return 0.0


def passes(row: Row, value: float, least: Least) -> bool:
    return value >= row.latin * least[0] + (1.0 - row.latin) * least[1]


def judge(rows: Sequence[Row], share: float) -> dict[str, Any]:
    """Judge every set by the others' coefficients: calibration, silence, and what silence costs."""
    names = sorted({row.set for row in rows})
    by_set = {name: fitted([row for row in rows if row.set != name]) for name in names}
    bests = [best(row, by_set[row.set]) for row in rows]
    scored = [row for row in rows if row.kind in ("own", "foreign", "cross", "out")]
    p = np.concatenate([likely(row.features, by_set[row.set]) for row in scored])
    y = np.concatenate([row.gold for row in scored])
    sets = np.concatenate([[row.set] * len(row.gold) for row in scored])
    levels = {str(at): threshold(rows, bests, at) for at in (0.9, 0.95, 0.97, 0.98, 0.99)}
    least = threshold(rows, bests, share)
    return {
        "held_out": {
            "results": len(p),
            "ece": round(calibration_error(p, y), 4),
            "ece_by_set": {
                name: round(calibration_error(p[sets == name], y[sets == name]), 4) for name in names
            },
            "bins": bins(p, y),
            "least": [round(value, 4) for value in least],
            "answered": {at: answered(rows, bests, level) for at, level in levels.items()},
            "sets": {name: of_set(name, rows, bests, least) for name in names},
        },
        "first": {
            "all": first_error(scored),
            "own": first_error([row for row in scored if row.kind == "own"]),
        },
    }


def first_error(rows: Sequence[Row]) -> dict[str, float]:
    """Return the expected calibration error of the first results' relevance, overall and by set."""
    found = {}
    for name in ("overall", *sorted({row.set for row in rows})):
        own = [row for row in rows if row.shown is not None and name in ("overall", row.set)]
        if own:
            p, y = np.array([row.shown for row in own]), np.array([row.gold[0] for row in own])
            found[name] = round(calibration_error(p, y, FIRST_BINS), 4)
    return found


def calibration_error(p: Array, y: Array, count: int = BINS) -> float:
    """Return the expected calibration error over equal bins."""
    return sum(one["share"] * abs(one["said"] - one["was"]) for one in bins(p, y, count))


def bins(p: Array, y: Array, count: int = BINS) -> list[dict[str, float]]:
    """Return, for each bin that is not empty, what was said, what was, and its share of all."""
    place = np.minimum((p * count).astype(int), count - 1)
    return [
        {
            "said": round(float(p[place == at].mean()), 4),
            "was": round(float(y[place == at].mean()), 4),
            "share": round(float((place == at).mean()), 6),
            "results": int((place == at).sum()),
        }
        for at in range(count)
        if (place == at).any()
    ]


def answered(rows: Sequence[Row], bests: Sequence[float], least: Least) -> dict[str, float]:
    """Return the share of each kind of question that is answered, every set weighing alike."""
    found: dict[str, float] = {"least": round(least[0], 4), "least other": round(least[1], 4)}
    for kind in ("own", "typo", "keywords", *UNANSWERABLE):
        by_set: dict[str, list[bool]] = {}
        for row, value in zip(rows, bests, strict=True):
            if row.kind == kind:
                by_set.setdefault(row.set, []).append(passes(row, value, least))
        if by_set:
            found[kind] = round(float(np.mean([np.mean(passed) for passed in by_set.values()])), 4)
    return found


def of_set(name: str, rows: Sequence[Row], bests: Sequence[float], least: Least) -> dict[str, Any]:
    own = [
        (row, passes(row, value, least)) for row, value in zip(rows, bests, strict=True) if row.set == name
    ]
    found: dict[str, Any] = {}
    for kind in ("own", "typo", "keywords", *UNANSWERABLE):
        passed = [said for row, said in own if row.kind == kind]
        if passed:
            found[kind] = {"questions": len(passed), "answered": round(float(np.mean(passed)), 4)}
    asked = [(row.recall, said) for row, said in own if row.kind == "own" and row.recall]
    for place, k in enumerate((5, 10)):
        if asked:
            found[f"recall@{k}"] = round(float(np.mean([recall[place] for recall, _ in asked])), 4)
            found[f"recall@{k} with silence"] = round(
                float(np.mean([recall[place] * said for recall, said in asked])), 4
            )
    return found


def shown_table(judged: Mapping[str, Any]) -> str:
    held = judged["held_out"]
    lines = [
        f"  ece {held['ece']} over {held['results']} results, each set judged by the others' coefficients"
    ]
    lines += [
        f"  ece of the first result's relevance as shipped, 10 bins, {kind} questions: {found}"
        for kind, found in judged["first"].items()
        if found
    ]
    lines += [f"  {at} answered: {found}" for at, found in held["answered"].items()]
    for name, found in held["sets"].items():
        kinds = ", ".join(f"{kind} {v['answered']:.2f}" for kind, v in found.items() if isinstance(v, dict))
        rest = ", ".join(f"{what} {v:.3f}" for what, v in found.items() if not isinstance(v, dict))
        lines.append(f"  {name}: {kinds}; {rest}; ece {held['ece_by_set'][name]:.3f}")
    return "\n".join(lines)


def log_line(found: Mapping[str, Any]) -> str:
    held = found["held_out"]
    kinds = "; ".join(
        f"at {at} of the answerable answered: "
        + ", ".join(f"{k} {v:.3f}" for k, v in one.items() if k != "own")
        for at, one in held["answered"].items()
        if at in ("0.95", "0.97")
    )
    first = found["first"]
    shipped = (
        f"; first results, as shipped, 10 bins: all questions {first['all']['overall']:.3f}, "
        f"own {first['own']['overall']:.3f}"
        if first["all"]
        else ""
    )
    held_out = f"ece {held['ece']:.3f} ({held['results']} results, 15 bins, each set judged by the others)"
    return f"{held_out}{shipped}; {kinds}"
