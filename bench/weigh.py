"""Weigh: labelled turns -> the weights of the signs from which a clause that no rule knows is kept.

    python bench/weigh.py [--halves dev,dev2] [--part all|even|odd]

Prints the table of ``scrubjay/ingest/statements/weighed.py``: logistic regression with a ridge over the clauses of the
halves (those that hit an optional quote left out) and over ``labels/sentences_dev.jsonl``, sentences written for it,
kept and not. ``--part`` fits to even or odd rows of dev2, so that the others can be a check.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from extraction import LABELS, hits
from scrubjay.ingest.statements.clauses import asks, clauses
from scrubjay.ingest.statements.judged import signs_of
from scrubjay.ingest.statements.prose import prose
from scrubjay.ingest.statements.reading import read, sentences
from scrubjay.ingest.statements.signs import BITS, NAMES, of_turn
from scrubjay.ingest.statements.statements import Statement
from scrubjay.ingest.statements.veto import earnest, told, unreal
from scrubjay.ingest.statements.weighed import NEVER

RIDGE = 1.5
STEPS = 2500


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print; return the exit code."""
    parser = argparse.ArgumentParser(description="Fit the weights of signs.")
    parser.add_argument("--halves", default="dev,dev2", help="never test")
    parser.add_argument("--part", choices=("all", "even", "odd"), default="all")
    args = parser.parse_args(arguments)
    told_apart: list[tuple[int, bool]] = []
    for half in args.halves.split(","):
        lines = (LABELS / f"facts_{half}.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        if half == "dev2" and args.part != "all":
            rows = rows[args.part == "odd" :: 2]
        told_apart += [one for row in rows if row["role"] == "user" for one in labelled(row)]
    for line in (LABELS / "sentences_dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        found = [(known & ~BITS["short turn"], row["kept"]) for _, _, known in candidates(row["text"])]
        told_apart += found[:1] if row["kept"] else found
    *weights, bias = fit(told_apart)
    print(f"_BIAS: Final = {bias:.2f}")
    for value, name in sorted(zip(weights, NAMES, strict=True)):
        if round(value, 2):
            print(f'    "{name}": {value:.2f},')
    return 0


def labelled(row: dict[str, object]) -> Iterator[tuple[int, bool]]:
    """Yield the signs of each clause of a turn and whether it is to be kept."""
    text = str(row["text"])

    def hit(name: str) -> bool:
        return any(hits(text, found, text.index(one["quote"]), one["quote"]) for one in row[name])  # type: ignore[attr-defined]

    for start, end, known in candidates(text):
        found = Statement(start, end, "fact", text[start:end], "")
        if hit("facts") or not hit("optional"):
            yield known, hit("facts")


def candidates(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the clauses of a turn that may be weighed, as offsets and signs."""
    plain = prose(text)
    said = read(plain, len(plain))
    limit, turn = earnest(plain, frozenset(said.words)), of_turn(text, plain, said.words)
    for first, last, asked in sentences(said):
        if said.starts[first] >= limit or asks(said.words, first, last):
            continue
        for clause in clauses(said, first, last, asked):
            words = said.words[clause.first : clause.last]
            start, end = said.starts[clause.first], said.ends[clause.last - 1]
            if clause.asked or end > limit or "if" in words or told(plain, start, end, words):
                break
            known = signs_of(text, said, clause, words, turn | (clause.first == first) * BITS["first"])
            if not unreal(plain, start, end, words) and not known & NEVER and plain[start:end].strip(" .-"):
                yield start, end, known


def fit(told_apart: list[tuple[int, bool]]) -> list[float]:
    """Return the weights of all signs and the bias, which has no ridge."""
    table = np.array(
        [[bool(known & BITS[name]) for name in NAMES] + [True] for known, _ in told_apart], float
    )
    right = np.array([kept for _, kept in told_apart], float)
    ridge = np.full(table.shape[1], RIDGE)
    ridge[-1] = 0
    step = 1 / (np.linalg.norm(table, 2) ** 2 / 4 + RIDGE)
    weights = np.zeros(table.shape[1])
    for _ in range(STEPS):
        sure = 1 / (1 + np.exp(-table @ weights))
        weights -= step * (table.T @ (sure - right) + ridge * weights)
    return [float(value) for value in weights]


if __name__ == "__main__":
    sys.exit(main())
