"""Weigh: labelled turns -> the weights of the signs from which a clause is kept.

    python bench/weigh.py [--halves dev,dev2,dev3] [--cross] [--write FILE]

Prints ``scrubjay/ingest/statements/weights.py``: logistic regression with a ridge over the clauses of the halves (those
that hit an optional quote left out), over ``labels/turns_fit.txt``, turns written for it with what is to be kept in
double brackets, and over ``labels/sentences_dev.jsonl``, single sentences. Predicates are weighed by subject too.

``--cross`` fits without one half at a time and tells of that half, for several thresholds, precision and recall.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extraction import LABELS, hits
from scrubjay.ingest.statements.signs import BITS, NAMES
from scrubjay.ingest.statements.statements import made, offered
from scrubjay.ingest.statements.weighed import GROUPS, NEVER

RIDGE = 3.0
STEPS = 2500
LEAST = 0.03
"""Weights below this are left out."""
PREDICATES = (
    *("past", "fleeting", "lived", "number", "named", "time", "denies", "passes", "doubt", "now", "talks"),
    *("ing", "is", "here", "the", "a", "me", "ed", "asked turn", "informs", "short turn"),
    *("trait", "settles", "likes", "chose", "stays", "kin", "own", "world", "in"),
)
"""Signs that are weighed by subject too."""
SUBJECTS = ("I", "mine", "the", "they", "other", "order")
OF_TURN = ("short turn", "long turn", "asked turn", "opens turn", "ends turn")
"""Signs that a sentence by itself does not have."""
THRESHOLDS = (0.0, 0.5, 0.9, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2)


class Known(NamedTuple):
    """A clause: its signs, the labelled facts that it hits, and whether it hits an optional quote alone."""

    signs: int
    facts: tuple[tuple[str, int], ...]
    optional: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print; return the exit code."""
    parser = argparse.ArgumentParser(description="Fit the weights of signs.")
    parser.add_argument("--halves", default="dev,dev2,dev3", help="never test")
    parser.add_argument("--cross", action="store_true", help="fit without one half at a time and measure it")
    parser.add_argument("--ridge", type=float, default=RIDGE)
    parser.add_argument("--write", type=Path, help="the module to write")
    args = parser.parse_args(arguments)
    halves = {half: list(of_half(half)) for half in args.halves.split(",")}
    written = [*of_turns(), *of_sentences()]
    if args.cross:
        for half in halves:
            rest = [one for other, known in halves.items() if other != half for one in known]
            weights = fit([*rest, *written], args.ridge)
            report(half, halves[half], weights)
        return 0
    module = as_module(fit([*(one for known in halves.values() for one in known), *written], args.ridge))
    if args.write:
        args.write.write_text(module, "utf-8")
    else:
        print(module, end="")
    return 0


def of_half(half: str) -> Iterator[Known]:
    """Yield the clauses of a set of labelled turns."""
    for line in (LABELS / f"facts_{half}.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["role"] == "user":
            yield from labelled(row)


def of_turns() -> Iterator[Known]:
    """Yield the clauses of the turns written for fitting."""
    for number, line in enumerate((LABELS / "turns_fit.txt").read_text("utf-8").splitlines()):
        facts = [{"quote": quote} for quote in re.findall(r"\[\[(.*?)\]\]", line)]
        yield from labelled(
            {"id": str(number), "text": re.sub(r"\[\[|\]\]", "", line), "facts": facts, "optional": []}
        )


def of_sentences() -> Iterator[Known]:
    """Yield the clauses of the single sentences, said alone and among others; of one to be kept the first."""
    drop = sum(BITS[name] for name in OF_TURN)
    for line in (LABELS / "sentences_dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found = [one for one in offered(row["text"]) if one]
        for one in found[:1] if row["kept"] else found:
            for signs in (one.signs, one.signs & ~drop):
                yield Known(signs, (("", 0),) if row["kept"] else (), False)


def labelled(row: dict[str, Any]) -> Iterator[Known]:
    """Yield the clauses of a turn and what they hit."""
    text = row["text"]
    for offer in offered(text):
        if offer is None or offer.signs & NEVER:
            continue
        for found in made(text, offer):
            facts = tuple(
                (row["id"], number)
                for number, one in enumerate(row["facts"])
                if hits(text, found, text.index(one["quote"]), one["quote"])
            )
            optional = not facts and any(
                hits(text, found, text.index(one["quote"]), one["quote"]) for one in row["optional"]
            )
            yield Known(offer.signs, facts, optional)


def table(known: Sequence[Known]) -> np.ndarray:
    """Return a row of zeros and ones for each clause, the last a one."""
    rows = []
    for one in known:
        group = next((group for name, group in GROUPS.items() if one.signs & BITS[name]), "other")
        single = [bool(one.signs & BITS[name]) for name in NAMES]
        pairs = [
            group == subject and bool(one.signs & BITS[name]) for subject in SUBJECTS for name in PREDICATES
        ]
        rows.append([*single, *pairs, True])
    return np.array(rows, float)


def fit(known: Sequence[Known], ridge: float) -> np.ndarray:
    """Return the weights of all signs, of the pairs, and the bias, which has no ridge."""
    known = [one for one in known if not one.optional]
    rows, right = table(known), np.array([bool(one.facts) for one in known], float)
    ridges = np.full(rows.shape[1], ridge)
    ridges[-1] = 0
    step = 1 / (np.linalg.norm(rows, 2) ** 2 / 4 + ridge)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        sure = 1 / (1 + np.exp(-rows @ weights))
        weights -= step * (rows.T @ (sure - right) + ridges * weights)
    return weights


def report(half: str, known: Sequence[Known], weights: np.ndarray) -> None:
    """Print precision and recall of a half by threshold."""
    facts = sum(
        len(row["facts"])
        for row in map(json.loads, (LABELS / f"facts_{half}.jsonl").read_text("utf-8").splitlines())
    )
    odds = table(known) @ weights
    said = []
    for least in THRESHOLDS:
        held = [one for one, value in zip(known, odds, strict=True) if value >= least]
        right = sum(bool(one.facts) for one in held)
        wrong = sum(not one.facts and not one.optional for one in held)
        found = len({fact for one in held for fact in one.facts})
        said.append(f"{least:4.1f} {right / max(right + wrong, 1):.3f}/{found / facts:.3f}")
    print(f"{half:5} {'  '.join(said)}")


def as_module(weights: np.ndarray) -> str:
    """Return the source of the table of weights."""
    names = [*NAMES, *((subject, name) for subject in SUBJECTS for name in PREDICATES)]
    single: list[str] = []
    pairs: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for name, value in zip(names, weights[:-1], strict=True):
        if abs(value) < LEAST:
            continue
        if isinstance(name, str):
            single.append(f'    "{name}": {value:.2f},\n')
        else:
            pairs[name[0]].append(f'        "{name[1]}": {value:.2f},\n')
    by = "".join(f'    "{subject}": {{\n{"".join(own)}    }},\n' for subject, own in pairs.items())
    return (
        '"""Weights: sign -> log odds that it adds to its clause. Written by ``bench/weigh.py``."""\n\n'
        "from __future__ import annotations\n\nfrom typing import Final\n\n"
        f"BIAS: Final = {weights[-1]:.2f}\n"
        f'WEIGHTS: Final = {{\n{"".join(single)}}}\n"""Of a sign in any clause."""\n'
        f'BY_SUBJECT: Final = {{\n{by}}}\n"""What is added to it by whom the clause speaks of."""\n'
    )


if __name__ == "__main__":
    sys.exit(main())
