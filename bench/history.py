"""Whether a git history buries notes: questions about scrubjay's own documentation, without and with its commits.

The questions and the pages that answer them are the table of ``docs/index.md``, which is left out, and the headings of
the pages. The commits are those of this repository. Also how long the commits take to ingest.
"""

from __future__ import annotations

import argparse
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line
from bench.harness import embed, embedders, open_memory, scratch
from bench.metrics import difference, figure, shown
from scrubjay import Memory

ROOT = Path(__file__).parents[1]
DEPTH = 5
_HEADING = re.compile(r"^## (\S+ .+)$", re.MULTILINE)
_QUESTION = re.compile(r"^\| \[[^\]]+\]\(([\w-]+\.md)\) \| (.+?) \|$", re.MULTILINE)


def run(args: argparse.Namespace) -> dict[str, Any]:
    pages = {file.name: file.read_text("utf-8") for file in sorted((ROOT / "docs").glob("*.md"))}
    questions = [(text, page) for page, text in _QUESTION.findall(pages.pop("index.md"))]
    questions += [(text, page) for page, content in pages.items() for text in _HEADING.findall(content)]
    found = {}
    with scratch() as folder:
        shutil.copytree(ROOT / "docs", folder / "docs")
        (folder / "docs" / "index.md").unlink()
        for kind in ("notes", "both"):
            with open_memory(folder / f"{kind}.db", embedders()) as memory:
                memory.sync(folder / "docs", trust="trusted")
                if kind == "both":
                    begun = time.perf_counter()
                    done = memory.sync(args.repository, include=["/nothing"], trust="trusted")
                    seconds = time.perf_counter() - begun
                    if not done.commits:
                        raise HollowError(f"{args.repository} has no commits.")
                if args.state == "embed":
                    embed(memory, {"embed": 0.0})
                found[kind] = [_place(memory, text, page) for text, page in questions]
    result = {"state": args.state, "commits": done.commits, "seconds": round(seconds, 1)}
    for name, most in (("hit@1", 1), (f"hit@{DEPTH}", DEPTH)):
        hits = {kind: [float(0 < place <= most) for place in places] for kind, places in found.items()}
        alone, both = (shown(figure(hits[kind])) for kind in ("notes", "both"))
        result[name] = f"{alone} to {both}, difference {shown(difference(hits['both'], hits['notes']))}"
        print(f"{name}: {result[name]} (n={len(questions)})", flush=True)
    return result


def _place(memory: Memory, question: str, page: str) -> int:
    paths = [result.path or "" for result in memory.search(question, limit=DEPTH).results]
    return next((place for place, path in enumerate(paths, 1) if path.endswith(f"/docs/{page}")), 0)


def _rows(result: Mapping[str, Any]) -> Sequence[Row]:
    figures = {name: value for name, value in result.items() if name.startswith("hit")}
    what = f"questions about notes without / with {result['commits']:,} commits, ingested in {result['seconds']} s"
    return [(what, in_line(figures), result["state"])]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repository", type=Path, default=ROOT)
    parser.add_argument("--state", choices=("sync", "embed"), default="sync")


HISTORY = Command(__doc__, run, _options, _rows)
