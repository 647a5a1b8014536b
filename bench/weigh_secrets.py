"""Weigh secrets: labelled texts, and texts without secrets -> what the signs of a secret weigh.

    python bench/weigh_secrets.py --data DIR [--write]

Logistic regression with a ridge over the tokens near words that name a secret (scrubjay/ingest/scrub_near.py): those of
labels/secrets_*.jsonl, labelled, and those of the texts below DIR and of Python's own library, where hardly one is one.
What the rules take out by themselves is left out of the latter. The sums are one of the things that the tagger
(train_tagger.py) goes by, which is to be trained again when they change.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import sysconfig
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scrubbing import stretches
from scrubjay.ingest import scrub as scrubber
from scrubjay.ingest.scrub_hopeless import hopeless
from scrubjay.ingest.scrub_judge import Weights
from scrubjay.ingest.scrub_near import candidates
from scrubjay.ingest.scrub_signs import signs
from scrubjay.ingest.scrub_values import Places

sys.path.insert(0, str(Path(__file__).parent / "labels"))
from secret_items import Item, items

SETS = ("dev", "test", "dev2", "test2", "test3", "test4", "dev5", "test5", "dev6")
PLACE = Path(scrubber.__file__).parent / "scrub_judge.json"
RIDGE = 1.0
PLAIN = 0.1
"""What a token of the texts without secrets counts: there are ten times as many of them as of labelled ones."""
STEPS = 30
LEAST = 0.5
"""A sum above it speaks for a secret."""
Known = tuple[tuple[str, ...], bool, float]


class Plain(NamedTuple):
    """The tokens of texts without secrets, by their signs, and how many characters these have."""

    tokens: Counter[tuple[str, ...]]
    size: int

    def wrong(self, weights: Weights) -> float:
        """Tokens that the sum speaks for, of a million characters."""
        taken = sum(count for known, count in self.tokens.items() if total(known, weights) > LEAST)
        return taken / self.size * 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, print or write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of texts that hold hardly a secret")
    parser.add_argument("--write", action="store_true", help=f"write {PLACE.name}")
    args = parser.parse_args(arguments)
    plain, code = gathered(texts(args.data)), gathered(library())
    if not plain.size or not code.size:
        print("No text was read.", file=sys.stderr)
        return 1
    known = {half: [row for item in items(half) for row in labelled(item)] for half in SETS}
    others = [(one, False, PLAIN * count) for part in (plain, code) for one, count in part.tokens.items()]
    weights = fit([*(row for rows in known.values() for row in rows), *others])
    print(
        f"all: wrong in 1 M characters: text {plain.wrong(weights):.2f} of {plain.size:,},"
        f" code {code.wrong(weights):.2f} of {code.size:,}; {len(weights.of)} weights"
    )
    if args.write:
        PLACE.write_text(written(weights, known, plain, code), "utf-8")
    return 0


def tokens(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The tokens of a text that may be secrets: where they stand, and their signs."""
    low = text.encode("latin-1", "replace").lower()
    for one in candidates(text, low, Places(low)):
        if not hopeless(one):
            yield one.start, one.end, tuple(signs(one))


def labelled(item: Item) -> Iterator[Known]:
    """The tokens of a labelled text; those that may go or stay are left out, and what is more than a secret."""
    for start, end, known in tokens(item.text):
        touched = [span for span in item.secrets if start < span[1] and span[0] < end]
        if touched:
            if end - start <= touched[0][1] - touched[0][0] + 12:
                yield known, True, 1.0
        elif not any(start < last and first < end for first, last in item.optional):
            yield known, False, 1.0


def gathered(those: Iterator[str]) -> Plain:
    """The tokens of texts that hold no secret but what the rules find."""
    counted: Counter[tuple[str, ...]] = Counter()
    size = 0
    for text in those:
        size += len(text)
        if here := list(tokens(text)):
            gone = stretches(text, scrubber.scrub(text).text)
            counted.update(
                known for start, end, known in here if not any(start < b and a < end for a, b in gone)
            )
    return Plain(counted, size)


def texts(folder: Path) -> Iterator[str]:
    """The texts of retrieval sets and of archives of Markdown, each once."""
    seen = set()
    for path in sorted(folder.rglob("*.gz")):
        for text in _archived(path) if path.name.endswith(".tar.gz") else _rows(path):
            if text not in seen:
                seen.add(text)
                yield text


def _archived(path: Path) -> Iterator[str]:
    with tarfile.open(path) as archive:
        for member in archive:
            held = (
                archive.extractfile(member) if member.name.endswith((".md", ".mdx", ".txt", ".rs")) else None
            )
            if held:
                yield held.read().decode("utf-8", "replace")


def _rows(path: Path) -> Iterator[str]:
    if path.name == "corpus.jsonl.gz":
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]


def library() -> Iterator[str]:
    """The sources of Python's own library, without its tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not {"site-packages", "test", "tests", "idlelib"} & set(path.relative_to(root).parts):
            yield path.read_text("utf-8", "replace")


def total(known: Sequence[str], weights: Weights) -> float:
    """The sum of the signs."""
    return weights.bias + sum(weights.of.get(sign, 0.0) for sign in known)


def fit(rows: Sequence[Known]) -> Weights:
    """Logistic regression with a ridge, by Newton's steps; the bias is not held down."""
    merged: dict[tuple[str, ...], list[float]] = {}
    for known, secret, count in rows:
        merged.setdefault(tuple(sorted(set(known))), [0.0, 0.0])[secret] += count
    # A sign that no labelled text has cannot be learnt; what it would weigh, the others have to.
    names = sorted({sign for known in merged for sign in known})
    at = {name: column for column, name in enumerate(names)}
    signs_of = np.zeros((len(merged), len(names) + 1))
    no, yes = np.array(list(merged.values())).T
    for row, known in enumerate(merged):
        signs_of[row, [at[sign] for sign in known]] = 1
        signs_of[row, -1] = 1
    ridge = np.diag([RIDGE] * len(names) + [1e-3])
    weights = np.zeros(len(names) + 1)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(signs_of @ weights, -30, 30)))
        slope = signs_of.T @ (yes * (1 - chance) - no * chance) - ridge @ weights
        bend = (signs_of * ((yes + no) * chance * (1 - chance))[:, None]).T @ signs_of + ridge
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    of = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=False)}
    return Weights(round(float(weights[-1]), 3), {name: weight for name, weight in of.items() if weight})


def written(weights: Weights, known: Mapping[str, list[Known]], plain: Plain, code: Plain) -> str:
    """The weights as they are kept, with what they come from."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
    )
    origin = {
        "what": "logistic regression of whether a token near a word for a secret is one; see scrub_judge.py",
        "command": "python bench/weigh_secrets.py --data DIR --write",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip() + "+",
        "sets": {half: len(rows) for half, rows in known.items()},
        "characters without secrets": plain.size + code.size,
    }
    return (
        json.dumps(
            {
                "from": origin,
                "bias": weights.bias,
                "weights": dict(sorted(weights.of.items())),
            },
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
