"""Write bench/examples/concepts.md from this project's pages and history and the data's Markdown trees.

The strongest concepts and the tree of topics that the product found, nothing given or corrected by hand.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError
from bench.harness import embedders, scratch
from bench.report import ROOT, commit
from bench.texts import unpack
from scrubjay import Memory

CONCEPTS = 50
NEAR = 5
TOPICS = 60
HEAD = f"""# What scrubjay finds by itself

Made by `python -m bench example DATA`, not by hand: this project's own pages and history, the Rust
book, the documentation of Logseq and a company's handbook, in one store, without a language model and
without a dictionary. {{files}} files, {{passages}} passages, {{concepts}} concepts (commit {{commit}}).

## The {CONCEPTS} strongest concepts

| | concept | memories | found as | most closely related |
| --- | --- | --- | --- | --- |"""


def run(args: argparse.Namespace) -> dict[str, Any]:
    with scratch() as folder:
        text = "\n".join(page(folder, args.data)) + "\n"
    args.out.write_text(text, encoding="utf-8")
    print(f"example: wrote {args.out}")
    return {}


def page(place: Path, data: Path) -> Iterator[str]:
    notes = place / "notes"
    notes.mkdir()
    _own(notes / "scrubjay")
    for archive in sorted([*data.glob("markdown_small/*.tar.gz"), *data.glob("markdown_handbook/*.tar.gz")]):
        unpack(archive, notes)
    with Memory.open(place / "memory.db", user="stranger", embedders=embedders()) as memory:
        summary = memory.sync(notes)
        concepts = memory.concepts.list()
        shelves = memory.categories.list()
        if not concepts or not shelves:
            raise HollowError(
                f"{summary.files} files gave {len(concepts)} concepts, {len(shelves)} categories."
            )
        yield HEAD.format(
            files=f"{summary.files:,}",
            passages=f"{summary.passages:,}",
            concepts=f"{len(concepts):,}",
            commit=commit(),
        )
        for number, concept in enumerate(concepts[:CONCEPTS], 1):
            near = ", ".join(one.name for one in memory.concepts.show(concept.id).related[:NEAR])
            also = f" ({', '.join(concept.aliases[:4])})" if concept.aliases else ""
            yield f"| {number} | {_cell(concept.name + also)} | {concept.memories} | {concept.kind} | {_cell(near)} |"
        yield from ("", "## The tree of topics", "")
        topics = [shelf for shelf in shelves if shelf.kind == "topic"]
        for shelf in topics[:TOPICS]:
            abstract = _cell(_without_name(shelf.name, shelf.abstract))
            yield f"{'  ' * shelf.depth}- **{_cell(shelf.name)}** ({shelf.memories}): {abstract}"
        if len(topics) > TOPICS:
            yield f"- … and {len(topics) - TOPICS} more"


def _own(folder: Path) -> None:
    """Copy the project's pages, and its history as a note a day."""
    folder.mkdir()
    for file in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        target = folder / file.relative_to(ROOT)
        if file.name != "example.md":
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    form = "%x1e%ad%x1f%s%x1f%b"
    log = subprocess.run(
        ["git", "log", "--date=short", f"--format={form}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    days: dict[str, list[str]] = {}
    for entry in log.split("\x1e")[1:]:
        day, subject, body = entry.split("\x1f")
        days.setdefault(day, []).append(f"## {subject}\n\n{body.strip()}\n")
    (folder / "history").mkdir()
    for day, entries in days.items():
        (folder / "history" / f"{day}.md").write_text(f"# Changes of {day}\n\n" + "\n".join(entries), "utf-8")


def _without_name(name: str, abstract: str) -> str:
    return abstract.removeprefix(name).lstrip(": ")


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", type=Path, help="the development data")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "examples" / "concepts.md")


EXAMPLE = Command(__doc__, run, _options)
