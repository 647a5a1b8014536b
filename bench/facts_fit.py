"""Fit the weights of statements (facts/data/statement_weights.txt) and of the change check (weights.txt).

Both print what differs from the shipped weights, and nothing else changes unless ``--write`` is given. ``--cross``
judges each labelled half by weights that were fitted to the others. Test halves are never read.

`weigh`: logistic regression with a ridge over the clauses of the labelled turns, without those that hit an optional
quote alone; over labels/turns_fit.txt, turns with the statements in double brackets; and over
labels/sentences_dev.jsonl, single sentences. Predicates also have weights by subject.

`weigh-changes`: multinomial logistic regression with a ridge. labels/changes_fit.jsonl are pairs that the check's
author wrote for it.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import Command
from bench.facts import LABELS, Row, hits, hits_any, labelled, wanted_verdict
from scrubjay.facts import features
from scrubjay.facts.conflicts import (
    BIAS,
    VERDICTS,
    ComparedPair,
    compare_texts,
    decide_verdict,
    pair_features,
)
from scrubjay.facts.extractor import find_candidates, trimmed_statement
from scrubjay.facts.features import EXCLUDED_BITS, FEATURE_BITS, FEATURE_GROUPS, FEATURE_NAMES

HALVES = ("dev", "dev2", "dev3")
RIDGE, STEPS = 3.0, 2500
SMALLEST = 0.03
"""Weights below this are left out."""
PREDICATES = (
    *("past", "fleeting", "lived", "number", "named", "time", "denies", "passes", "doubt", "now", "talks"),
    *("ing", "is", "here", "the", "a", "me", "ed", "asked turn", "informs", "short turn"),
    *("trait", "settles", "likes", "chose", "stays", "kin", "own", "world", "in"),
)
"""Features that also have a weight for each subject."""
SUBJECTS = ("I", "mine", "the", "they", "other", "order")
TURN_FEATURES = ("short turn", "long turn", "asked turn", "opens turn", "ends turn")
"""Features that a sentence by itself does not have."""
THRESHOLDS = (0.0, 0.5, 0.9, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2)
CHANGE_HALVES = (*HALVES, "fit")
CHANGE_RIDGE, CHANGE_STEPS = 1.0, 1500
TESTED_PAIRS = Path("tests/facts/conflicts/pairs.txt")
"""Pairs that the tests hold the change check to; they are fitted, too."""
STATEMENT_WEIGHTS = Path(features.__file__).parent / "data" / "statement_weights.txt"
STATEMENT_HEAD = """# What each feature of a clause adds to its log odds; behind a subject, in clauses about it.
# Written by python -m bench weigh --write; not to be amended by hand.
"""
CHANGE_WEIGHTS = STATEMENT_WEIGHTS.with_name("weights.txt")
CHANGE_HEAD = """# What each sign of a pair adds for supersedes, contradicts and new.
# Written by python -m bench weigh-changes --write; not to be amended by hand.
"""


def write_weights(file: Path, text: str, *, write: bool) -> Row:
    """Print how a file would change, and change it when asked."""
    before = file.read_text("utf-8").splitlines()
    changed = list(difflib.unified_diff(before, text.splitlines(), "shipped", "fitted", lineterm="", n=0))
    print("\n".join(changed) or f"{file.name}: the fitted weights are the shipped ones")
    if write:
        file.write_text(text, "utf-8")
    return {"changed": bool(changed)}


@dataclass(frozen=True, slots=True)
class Clause:
    """Feature bits of a clause, the labelled facts that it hits, and whether it hits an optional quote alone."""

    bits: int
    facts: tuple[tuple[str, int], ...]
    optional: bool = False


def weigh(args: argparse.Namespace) -> Row:
    halves = {half: list(half_clauses(half)) for half in HALVES}
    shared = [*turn_clauses(), *sentence_clauses()]
    if args.cross:
        return {half: cross(half, halves, shared) for half in HALVES}
    weights = fit([*(clause for half in HALVES for clause in halves[half]), *shared])
    return write_weights(STATEMENT_WEIGHTS, STATEMENT_HEAD + "".join(weight_lines(weights)), write=args.write)


def half_clauses(half: str) -> Iterator[Clause]:
    """The clauses of a half's turns by people."""
    for turn in labelled(f"facts_{half}.jsonl"):
        if turn["role"] == "user":
            yield from clauses(turn)


def turn_clauses() -> Iterator[Clause]:
    """The clauses of the turns that were written for fitting."""
    for number, line in enumerate((LABELS / "turns_fit.txt").read_text("utf-8").splitlines()):
        quotes = [{"quote": quote} for quote in re.findall(r"\[\[(.*?)\]\]", line)]
        text = re.sub(r"\[\[|\]\]", "", line)
        yield from clauses({"id": str(number), "text": text, "facts": quotes, "optional": []})


def sentence_clauses() -> Iterator[Clause]:
    """The clauses of the single sentences, alone and among others; of a sentence that is a fact only the first."""
    of_turn = sum(FEATURE_BITS[name] for name in TURN_FEATURES)
    for row in labelled("sentences_dev.jsonl"):
        candidates = list(find_candidates(row["text"]))
        for one in candidates[:1] if row["kept"] else candidates:
            for bits in (one.features, one.features & ~of_turn):
                yield Clause(bits, (("", 0),) if row["kept"] else ())


def clauses(turn: Row) -> Iterator[Clause]:
    """The clauses of a labelled turn that may be statements."""
    text = turn["text"]
    for candidate in find_candidates(text):
        if candidate.features & EXCLUDED_BITS:
            continue
        for statement in trimmed_statement(text, candidate):
            facts = tuple(
                (turn["id"], number)
                for number, fact in enumerate(turn["facts"])
                if hits(text, statement, fact["quote"])
            )
            optional = not facts and hits_any(text, statement, turn["optional"])
            yield Clause(candidate.features, facts, optional)


def design(own: Sequence[Clause]) -> np.ndarray:
    """One row of zeros and ones a clause: features, subjects times predicates, and a one for the bias."""
    rows = []
    for clause in own:
        has = {name: bool(clause.bits & bit) for name, bit in FEATURE_BITS.items()}
        subject = next((group for name, group in FEATURE_GROUPS.items() if has[name]), "other")
        pairs = [subject == other and has[name] for other in SUBJECTS for name in PREDICATES]
        rows.append([*(has[name] for name in FEATURE_NAMES), *pairs, True])
    return np.array(rows, float)


def fit(own: Sequence[Clause]) -> np.ndarray:
    """Weights by column of `design`; the bias has no ridge."""
    own = [clause for clause in own if not clause.optional]
    rows, labels = design(own), np.array([bool(clause.facts) for clause in own], float)
    ridges = np.full(rows.shape[1], RIDGE)
    ridges[-1] = 0
    step = 1 / (np.linalg.norm(rows, 2) ** 2 / 4 + RIDGE)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        odds = 1 / (1 + np.exp(-rows @ weights))
        weights -= step * (rows.T @ (odds - labels) + ridges * weights)
    return weights


def cross(half: str, halves: Mapping[str, Sequence[Clause]], shared: Sequence[Clause]) -> dict[str, str]:
    """Precision and recall of a half by threshold, by weights that were fitted without it."""
    rest = [clause for other, own in halves.items() if other != half for clause in own]
    log_odds = design(halves[half]) @ fit([*rest, *shared])
    total = sum(len(turn["facts"]) for turn in labelled(f"facts_{half}.jsonl"))
    result = {}
    for threshold in THRESHOLDS:
        own = [clause for clause, value in zip(halves[half], log_odds, strict=True) if value >= threshold]
        right = sum(bool(clause.facts) for clause in own)
        wrong = sum(not clause.facts and not clause.optional for clause in own)
        found = len({fact for clause in own for fact in clause.facts})
        result[f"{threshold:.1f}"] = f"{right / max(right + wrong, 1):.3f}/{found / total:.3f}"
    print(f"{half:5} {'  '.join(f' {threshold} {value}' for threshold, value in result.items())}")
    return result


def weight_lines(weights: np.ndarray) -> Iterator[str]:
    """The lines of facts/data/statement_weights.txt."""
    names = [*FEATURE_NAMES, *(f"{subject}: {name}" for subject in SUBJECTS for name in PREDICATES)]
    yield f"always = {weights[-1]:.2f}\n"
    for name, value in zip(names, weights[:-1], strict=True):
        if abs(value) >= SMALLEST:
            yield f"{name} = {value:.2f}\n"


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled pairs as the change check compares them; `rows` has a column for each feature, and the bias."""

    halves: np.ndarray
    pairs: Sequence[Row]
    compared: Sequence[ComparedPair]
    names: Sequence[str]
    rows: np.ndarray
    labels: np.ndarray


def read_pairs() -> Pairs:
    pairs = [(half, pair) for half in CHANGE_HALVES for pair in labelled(f"changes_{half}.jsonl")]
    for line in TESTED_PAIRS.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            label, old, new = line.split(" | ")
            pairs.append(
                ("tests", {"id": "", "label": label.strip(), "old": old.strip(), "new": new.strip()})
            )
    compared = [compare_texts(pair["old"], pair["new"]) for _, pair in pairs]
    values = [pair_features(one) for one in compared]
    names = sorted({name for own in values for name in own})
    return Pairs(
        np.array([half for half, _ in pairs]),
        [pair for _, pair in pairs],
        compared,
        names,
        np.array([[own.get(name, 0.0) for name in names] + [1.0] for own in values]),
        np.array([VERDICTS.index(wanted_verdict(pair["label"])) for _, pair in pairs]),
    )


def weigh_changes(args: argparse.Namespace) -> Row:
    data = read_pairs()
    if args.cross:
        return cross_changes(data)
    lines = [
        f"{name} = {' '.join(f'{value:.2f}' for value in own)}\n"
        for name, own in zip([*data.names, BIAS], fit_changes(data.rows, data.labels), strict=True)
    ]
    return write_weights(CHANGE_WEIGHTS, CHANGE_HEAD + "".join(lines), write=args.write)


def fit_changes(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights by column and verdict; the bias has no ridge (Nesterov's accelerated descent)."""
    wanted = np.eye(len(VERDICTS))[labels]
    weights = ahead = np.zeros((rows.shape[1], len(VERDICTS)))
    step = 1 / (np.linalg.norm(rows, 2) ** 2 / 2 + CHANGE_RIDGE)
    ridges = np.full((rows.shape[1], 1), CHANGE_RIDGE)
    ridges[-1] = 0
    for at in range(CHANGE_STEPS):
        gradient = rows.T @ (_softmax(rows @ ahead) - wanted) + ridges * ahead
        before, weights = weights, ahead - step * gradient
        ahead = weights + at / (at + 3) * (weights - before)
    return weights


def _softmax(sums: np.ndarray) -> np.ndarray:
    powers = np.exp(sums - sums.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def cross_changes(data: Pairs) -> dict[str, Any]:
    """Accuracy of each half by the others, and of every tenth pair by the rest."""
    halves = {half: data.halves == half for half in CHANGE_HALVES}
    result: dict[str, Any] = {}
    for half, out in halves.items():
        result[half] = float((held_out(data, out) == data.labels[out]).mean())
        print(f"{half}, by the others: {result[half]:.3f}")
    order = np.random.default_rng(0).permutation(len(data.labels))
    verdicts = np.zeros(len(data.labels), int)
    for at in range(10):
        out = np.zeros(len(data.labels), bool)
        out[order[at::10]] = True
        verdicts[out] = held_out(data, out)
    right = verdicts == data.labels
    result["tenths"] = float(right.mean())
    each = ", ".join(f"{half} {right[own].mean():.3f}" for half, own in halves.items())
    print(f"every tenth by the rest: {right.mean():.3f} ({each})")
    for at, label in enumerate(VERDICTS):
        counts = [int(((data.labels == at) & (verdicts == other)).sum()) for other in range(len(VERDICTS))]
        print(f"{label:14}" + "".join(f"{count:8}" for count in counts))
    for at in map(int, np.flatnonzero(~right)):
        pair, one = data.pairs[at], data.compared[at]
        called = f"{pair['label']}, called {VERDICTS[verdicts[at]]}; {one.rule}; {one.reason}"
        print(f"{pair['id']} {data.halves[at]}: {called}\n    {pair['old']}\n    {pair['new']}")
    return result


def held_out(data: Pairs, out: np.ndarray) -> np.ndarray:
    """The verdicts on some pairs by weights that were fitted to the others."""
    weights = fit_changes(data.rows[~out], data.labels[~out])
    verdicts = []
    for at, own in zip(map(int, np.flatnonzero(out)), _softmax(data.rows[out] @ weights), strict=True):
        chances = dict(zip(VERDICTS, map(float, own), strict=True))
        verdicts.append(VERDICTS.index(decide_verdict(data.compared[at], chances)))
    return np.array(verdicts)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cross", action="store_true", help="judge each half by the others instead")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")


WEIGH = Command(__doc__, weigh, _options)
WEIGH_CHANGES = Command(__doc__, weigh_changes, _options)
