"""Sample: the data folder -> the passages that were labelled for concept linking.

``python bench/labels/sample.py DATA [--again]`` prints one JSON line a passage, without its text, always the same ones;
``--again`` those of the second draw, from documents which the first did not touch.
Standard library only, and nothing of scrubjay: the labels must not depend on how the product cuts or links text.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
import sys
import tarfile
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

SEED = 20240917
"""Fixed, so that anyone draws the same passages."""
SHORTEST, LONGEST = 200, 1500
"""Characters of a passage: less says nothing, more is no longer one passage to a reader."""
LEAST_PROSE = 120
"""Characters outside code fences; a passage that is all listing has no mentions to judge."""
TREES = {
    "rust_book": "markdown_small/rust_book.tar.gz",
    "logseq_docs": "markdown_small/logseq_docs.tar.gz",
    "sourcegraph_handbook": "markdown_handbook/sourcegraph_handbook.tar.gz",
}
CORPORA = {
    name: f"{name}/corpus.jsonl.gz" for name in ("til_simonw", "locomo", "longmemeval_s", "cookbook_docs")
}
SIZES = {
    "rust_book": 47,
    "til_simonw": 47,
    "logseq_docs": 42,
    "sourcegraph_handbook": 54,
    "locomo": 15,
    "longmemeval_s": 15,
}
"""Passages by set. Technical reference (rust_book, til_simonw) is 94 of 220; notes and talk are 126 of 220."""
AGAIN = {
    "rust_book": 40,
    "til_simonw": 40,
    "logseq_docs": 30,
    "sourcegraph_handbook": 40,
    "locomo": 10,
    "longmemeval_s": 10,
    "cookbook_docs": 40,
}
"""Passages of the second draw, drawn after the rules had been shaped on the first; `cookbook_docs` was not in that."""

_HEADING = re.compile(r"^(?:- )?#{1,6}[ \t]+\S")
_FENCE = re.compile(r"^\s*(?:- )?(```|~~~)")


class Passage(NamedTuple):
    """Lines of one document: 1-based, both ends included."""

    set: str
    doc: str
    document: str
    """What must not be in both halves: the file, or the session of a turn."""
    first: int
    last: int
    text: str

    def row(self) -> dict[str, object]:
        """The passage without its text."""
        return {
            "set": self.set,
            "doc": self.doc,
            "document": self.document,
            "lines": [self.first, self.last],
            "sha256": hashlib.sha256(self.text.encode()).hexdigest(),
        }


def documents(data: Path, name: str) -> Iterator[tuple[str, str, str]]:
    """Path or `_id`, what is split as one, and text, of every document of the set `name` in their stored order."""
    if name in TREES:
        with tarfile.open(data / TREES[name]) as archive:
            for member in sorted(archive.getmembers(), key=lambda m: m.name):
                handle = archive.extractfile(member) if member.name.endswith(".md") else None
                if handle is not None:
                    path = member.name.split("/", 1)[1]
                    yield path, path, handle.read().decode("utf-8")
        return
    with gzip.open(data / CORPORA[name], "rt", encoding="utf-8") as lines:
        for line in lines:
            doc = json.loads(line)
            yield doc["_id"], doc.get("session", doc["_id"]), doc["text"]


def _sections(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Half-open ranges of lines: a heading and what stands under it."""
    start, fenced = 0, False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and number > start and _HEADING.match(line):
            yield start, number
            start = number
    yield start, len(lines)


def _groups(lines: list[str], start: int, stop: int) -> Iterator[tuple[int, int]]:
    """A section, or when it is too long, its paragraphs in groups that are not."""
    begin, size, cut, fenced = start, 0, start, False
    for number in range(start, stop):
        size += len(lines[number]) + 1
        if _FENCE.match(lines[number]):
            fenced = not fenced
        if size > LONGEST and cut > begin:
            yield begin, cut
            begin, size = cut, sum(len(line) + 1 for line in lines[cut : number + 1])
        # An outline has no empty lines: its top bullets are its paragraphs.
        if not fenced and (not lines[number].strip() or lines[number].startswith("- ")):
            cut = number + (0 if lines[number].strip() else 1)
    yield begin, stop


def _prose(lines: list[str]) -> int:
    """Characters outside code fences."""
    total, fenced = 0, False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            total += len(line.strip())
    return total


def passages(name: str, doc: str, document: str, text: str) -> list[Passage]:
    """Every passage of one document that is neither too short nor too long."""
    lines = text.split("\n")
    whole = [(0, len(lines))] if name in ("locomo", "longmemeval_s") else None
    found = []
    for start, stop in whole or [g for s in _sections(lines) for g in _groups(lines, *s)]:
        while stop > start and not lines[stop - 1].strip():
            stop -= 1
        while start < stop and not lines[start].strip():
            start += 1
        body = "\n".join(lines[start:stop])
        if SHORTEST <= len(body) <= LONGEST and _prose(lines[start:stop]) >= LEAST_PROSE:
            found.append(Passage(name, doc, document, start + 1, stop, body))
    return found


def sample(
    data: Path, sizes: Mapping[str, int] = SIZES, seed: int = SEED, but: Container[tuple[str, str]] = ()
) -> list[Passage]:
    """The passages of every set: one a document at most (for turns: one a session), of no (set, document) in `but`."""
    chosen = []
    for name, size in sizes.items():
        draw = random.Random(f"{seed} {name}")
        by_document: dict[str, list[Passage]] = {}
        for doc, document, text in documents(data, name):
            if (name, document) in but:
                continue
            if found := passages(name, doc, document, text):
                by_document.setdefault(document, []).extend(found)
        picked = draw.sample(sorted(by_document), min(size, len(by_document)))
        chosen += [draw.choice(by_document[document]) for document in picked]
    return chosen


def again(data: Path) -> list[Passage]:
    """The passages of the second draw."""
    drawn = {(one.set, one.document) for one in sample(data)}
    return sample(data, AGAIN, SEED + 1, drawn)


def main() -> None:
    """Print the passages of the data folder named on the command line."""
    data = Path(sys.argv[1])
    for passage in again(data) if "--again" in sys.argv[2:] else sample(data):
        sys.stdout.write(json.dumps(passage.row(), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
