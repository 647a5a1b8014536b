"""Changes: labelled pairs of statements -> how often the change check says what a person said.

``python bench/changes.py [--half dev|dev2|dev3|fit|test] [--part all|even|odd] [--wrong]``. The labels are in
``labels/`` and mean what ``bench/labels/CHANGES.md`` says. Rules are made with the dev
halves in sight; the test half is run once. Beside accuracy stands what must be 0: pairs of another
negation, number or date that are called duplicate.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from metrics import figure
from scrubjay.facts.claims import parse_claim
from scrubjay.facts.conflicts import VERDICTS, Verdict, classify_change, count_denials
from scrubjay.facts.lexicon import language_evidence
from scrubjay.facts.quantities import statement_tokens

LABELS: Final = Path(__file__).parent / "labels"
NEVER: Final = ("negation", "number", "date")
"""What a pair may be about that must not be called duplicate where it is none."""

Pair = dict[str, str]


def pairs(half: str) -> list[Pair]:
    """Return the labelled pairs of a half."""
    lines = (LABELS / f"changes_{half}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line.strip()]
    if not found:
        raise SystemExit(f"changes_{half}.jsonl has no pairs")
    return found


def main() -> None:
    """Print the figures of one half, and its wrong verdicts if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("dev", "dev2", "dev3", "fit", "test"), default="dev")
    parser.add_argument(
        "--part", choices=("all", "even", "odd"), default="all", help="lines of the half, counted from 0"
    )
    parser.add_argument("--wrong", action="store_true", help="print what was decided otherwise than labelled")
    args = parser.parse_args()
    labelled = pairs(args.half)[args.part == "odd" :: 1 if args.part == "all" else 2]
    verdicts = [classify_change(pair["old"], pair["new"]) for pair in labelled]  # makes the tables, too
    for remembered in (parse_claim, statement_tokens, language_evidence, count_denials):
        remembered.cache_clear()
    began = time.process_time()
    for pair in labelled:
        classify_change(pair["old"], pair["new"])
    spent = (time.process_time() - began) / len(labelled)
    began = time.process_time()
    for pair in labelled:
        classify_change(pair["old"], pair["new"])
    again = (time.process_time() - began) / len(labelled)
    right = [
        float(verdict.verdict == pair["label"]) for pair, verdict in zip(labelled, verdicts, strict=True)
    ]
    accuracy = figure(right)
    print(
        f"{args.half}: {len(labelled)} pairs, accuracy {accuracy.mean:.3f} [{accuracy.low:.3f}, {accuracy.high:.3f}]"
    )
    print(
        f"{spent * 1e6:.0f} microseconds of CPU a pair, both statements unseen; {again * 1e6:.0f} both read before"
    )
    _confusion(labelled, verdicts)
    _abouts(labelled, right)
    _forbidden(labelled, verdicts)
    for pair, verdict in zip(labelled, verdicts, strict=True) if args.wrong else ():
        if verdict.verdict != pair["label"]:
            print(f"{pair['id']} {pair['about']}: {pair['label']}, called {verdict.verdict} ({verdict.rule})")
            print(f"    {pair['old']}\n    {pair['new']}")


def _confusion(labelled: list[Pair], verdicts: list[Verdict]) -> None:
    counts = Counter(
        (pair["label"], verdict.verdict) for pair, verdict in zip(labelled, verdicts, strict=True)
    )
    print(f"\n{'label / called':14}" + "".join(f"{name:>12}" for name in VERDICTS))
    for label in VERDICTS:
        print(f"{label:14}" + "".join(f"{counts[label, name]:12}" for name in VERDICTS))
    for name in VERDICTS:
        called = sum(counts[label, name] for label in VERDICTS)
        if called:
            print(f"precision of {name}: {counts[name, name] / called:.3f} of {called}")


def _abouts(labelled: list[Pair], right: list[float]) -> None:
    by_about: dict[str, list[float]] = defaultdict(list)
    for pair, value in zip(labelled, right, strict=True):
        by_about[pair["about"]].append(value)
    print()
    for about, values in sorted(by_about.items()):
        print(f"{about:12} {sum(values):4.0f} of {len(values)}")


def _forbidden(labelled: list[Pair], verdicts: list[Verdict]) -> None:
    wrong = [
        pair["id"]
        for pair, verdict in zip(labelled, verdicts, strict=True)
        if pair["about"] in NEVER and pair["label"] != "duplicate" and verdict.verdict == "duplicate"
    ]
    print(f"\nnegation, number or date called duplicate: {len(wrong)} {' '.join(wrong)}".rstrip())


if __name__ == "__main__":
    main()
