"""Weigh changes: labelled pairs -> the weights by which signs decide what one statement is to another.

    python bench/weigh_changes.py [--halves dev,dev2,dev3,fit] [--check] [--write]

``--check`` says how well pairs are decided that the weights were not fitted to: each half by the others, and every
tenth by the rest. ``--write`` writes ``src/scrubjay/ingest/change/data/weights.txt``. Multinomial logistic regression
with a ridge. ``labels/changes_fit.jsonl`` holds pairs written for this, by who wrote the check; never the test half.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from changes import Pair, pairs
from scrubjay.facts import conflicts as checked
from scrubjay.facts.conflicts import BIAS, ComparedPair, VerdictProbabilities, decide_verdict, pair_features

RIDGE = 1.0
STEPS = 1500
TARGET = Path(checked.__file__).parent / "data" / "weights.txt"
HEAD = """# What each sign of a pair adds for duplicate, supersedes, contradicts and new.
# Made by python bench/weigh_changes.py --write; not to be amended by hand.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print; return the exit code."""
    parser = argparse.ArgumentParser(description="Fit the weights of signs of change.")
    parser.add_argument("--halves", default="dev,dev2,dev3,fit", help="never test")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ridge", type=float, default=RIDGE)
    args = parser.parse_args(arguments)
    halves = {half: pairs(half) for half in args.halves.split(",")}
    rows = [
        (half, pair, checked.compare_texts(pair["old"], pair["new"]))
        for half in halves
        for pair in halves[half]
    ]
    told = [pair_features(seen) for _, _, seen in rows]
    names = sorted({name for one in told for name in one})
    table = np.array([[one.get(name, 0.0) for name in names] + [1.0] for one in told])
    labels = np.array([VerdictProbabilities._fields.index(pair["label"]) for _, pair, _ in rows])
    if args.check:
        _check(rows, table, labels, args.ridge)
    if args.write:
        weights = fit(table, labels, args.ridge)
        lines = [
            f"{name} = {' '.join(f'{one:.2f}' for one in row)}"
            for name, row in zip([*names, BIAS], weights, strict=True)
        ]
        TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def _check(
    rows: list[tuple[str, Pair, ComparedPair]], table: np.ndarray, labels: np.ndarray, ridge: float
) -> None:
    halves = np.array([half for half, _, _ in rows])
    seen = [one for _, _, one in rows]
    for half in dict.fromkeys(halves):
        out = halves == half
        found = decided(
            table[out],
            fit(table[~out], labels[~out], ridge),
            [one for one, is_out in zip(seen, out, strict=True) if is_out],
        )
        print(f"{half}, by the others: {(found == labels[out]).mean():.3f}")
    order = np.random.default_rng(0).permutation(len(labels))
    found = np.zeros(len(labels), int)
    for at in range(10):
        out = np.zeros(len(labels), bool)
        out[order[at::10]] = True
        found[out] = decided(
            table[out],
            fit(table[~out], labels[~out], ridge),
            [one for one, is_out in zip(seen, out, strict=True) if is_out],
        )
    by_half = ", ".join(
        f"{half} {(found == labels)[halves == half].mean():.3f}" for half in dict.fromkeys(halves)
    )
    print(f"every tenth by the rest: {(found == labels).mean():.3f} ({by_half})")
    for at, label in enumerate(VerdictProbabilities._fields):
        print(f"{label:14}" + "".join(f"{((labels == at) & (found == other)).sum():8}" for other in range(4)))
    for (half, pair, one), said, label in zip(rows, found, labels, strict=True):
        if said != label:
            print(
                f"{pair['id']} {half}: {pair['label']}, called {VerdictProbabilities._fields[said]}; {one.rule}; {one.reason}"
            )
            print(f"    {pair['old']}\n    {pair['new']}")


def decided(table: np.ndarray, weights: np.ndarray, seen: Sequence[ComparedPair]) -> np.ndarray:
    """Return the verdicts of pairs by weights."""
    powers = np.exp(table @ weights)
    powers /= powers.sum(axis=1, keepdims=True)
    return np.array(
        [
            VerdictProbabilities._fields.index(
                decide_verdict(one, pair_features(one), VerdictProbabilities(*map(float, row)))
            )
            for one, row in zip(seen, powers, strict=True)
        ]
    )


def fit(table: np.ndarray, labels: np.ndarray, ridge: float) -> np.ndarray:
    """Return the weights of all signs and the bias, which has no ridge, for each verdict (Nesterov's descent)."""
    right = np.eye(4)[labels]
    weights = ahead = np.zeros((table.shape[1], 4))
    step = 1 / (np.linalg.norm(table, 2) ** 2 / 2 + ridge)
    held = np.full((table.shape[1], 1), ridge)
    held[-1] = 0
    for at in range(STEPS):
        sums = table @ ahead
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        powers /= powers.sum(axis=1, keepdims=True)
        before, weights = weights, ahead - step * (table.T @ (powers - right) + held * ahead)
        ahead = weights + at / (at + 3) * (weights - before)
    return weights


if __name__ == "__main__":
    sys.exit(main())
