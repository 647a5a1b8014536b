"""Check: the labels and the data folder -> what does not agree, and counts by set and split.

``python bench/labels/check.py DATA``. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import sample

LABELS = tuple(Path(__file__).parent.glob("concepts*.jsonl"))
"""The first draw, and the halves of the second."""

Row = dict[str, Any]


def rows() -> list[Row]:
    """Every labelled passage, as stored."""
    return [
        json.loads(line) for path in sorted(LABELS) for line in path.read_text(encoding="utf-8").splitlines()
    ]


def labelled(data: Path) -> Iterator[tuple[Row, str]]:
    """Every labelled passage with its text, read from the data folder `data`."""
    wanted: dict[str, list[Row]] = {}
    for row in rows():
        wanted.setdefault(row["set"], []).append(row)
    for name, found in wanted.items():
        docs = {row["doc"] for row in found}
        texts = {doc: text for doc, _, text in sample.documents(data, name) if doc in docs}
        for row in found:
            first, last = row["lines"]
            yield row, "\n".join(texts[row["doc"]].split("\n")[first - 1 : last])


def faults(row: Row, text: str) -> Iterator[str]:
    """What is wrong with one passage."""
    if hashlib.sha256(text.encode()).hexdigest() != row["sha256"]:
        yield "the text has another sha256"
    plain = " ".join(text.split())
    surfaces = [surface for surface, _ in row["required"] + row["optional"]]
    yield from (f"{surface!r} does not stand in the text" for surface in surfaces if surface not in plain)
    yield from (f"{surface!r} is labelled twice" for surface, n in Counter(surfaces).items() if n > 1)


def main() -> int:
    """Print faults and counts; 1 if there is a fault."""
    bad, halves = [], {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for row, text in labelled(Path(sys.argv[1])):
        bad += [f"{row['id']}: {fault}" for fault in faults(row, text)]
        if halves.setdefault((row["set"], row["document"]), row["split"]) != row["split"]:
            bad.append(f"{row['id']}: its document {row['document']} is in both halves")
        for what, number in (
            ("passages", 1),
            ("required", len(row["required"])),
            ("optional", len(row["optional"])),
        ):
            counts[row["set"], row["split"], what] += number
            counts["all", row["split"], what] += number
    for (name, split, what), number in counts.items():
        sys.stdout.write(f"{name}\t{split}\t{what}\t{number}\n")
    sys.stdout.write("".join(f"{line}\n" for line in bad) or "no faults\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
