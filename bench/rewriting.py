"""Rewriting: what becomes of questions that lean on the one before, when a rewriting joins or replaces them.

    python bench/rewriting.py --data DIR [--set locomo] [--every 6] [--log]

Of each question that names a speaker the name is taken out ("When did they go there?"); the question before about the
same speaker is the history. A stand-in rewrites without a model: right (the question with its name), or wrong (with
another speaker's). Recall of the judged turns among the first ten, through `Memory.search`, after `sync`.

Exit code 1 when no question named a speaker.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ask import HollowError, Run, _write, embedders, open_memory
from data import Space, find_sets, load, spaces
from metrics import DEPTH, SEED, difference, figure, recall
from report import log_rows, shown
from scrubjay import Memory
from scrubjay.services.models import QueryRewriter, RewriteOutcome


class Told(QueryRewriter):
    """Rewrites as it was told."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """Args: question to rewriting."""
        self._known = known

    def rewritten(self, question: str, history: Sequence[str]) -> RewriteOutcome:
        """Return the rewriting that belongs to a question."""
        return RewriteOutcome(self._known[question] if history else "")


@dataclass(frozen=True, slots=True)
class Leaning:
    """A question without its name: as it was, with another's name, and the question before about the same person."""

    id: str
    text: str
    whole: str
    wrong: str
    before: str


def leaning(space: Space) -> list[Leaning]:
    """Return the questions that name exactly one of a conversation's speakers, but for the first about each."""
    speakers = sorted({doc.role for doc in space.docs if doc.role})
    last: dict[str, str] = {}
    found = []
    for query in space.queries:
        named = [name for name in speakers if re.search(rf"\b{re.escape(name)}\b", query.text)]
        if len(named) != 1:
            continue
        (name,) = named
        if name in last:
            bare = re.sub(rf"\b{re.escape(name)}\b", "they", query.text)
            other = next(one for one in speakers if one != name)
            wrong = re.sub(rf"\b{re.escape(name)}\b", other, query.text)
            found.append(Leaning(query.id, bare, query.text, wrong, last[name]))
        last[name] = query.text
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(description="Questions that lean on the one before.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="locomo")
    parser.add_argument("--every", type=int, default=1, help="ask only every so many-th of the questions")
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    args = parser.parse_args(arguments)
    ((name, place),) = find_sets(args.data, [args.set]).items()
    data = load(name, place)
    relevant = next(task for task in data.tasks if not task.sessions).relevant
    queries = [query for query in data.asked() if query.id in relevant]
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
        for number, space in enumerate(spaces(data, queries)):
            with open_memory(
                Path(folder) / f"{number}.db", embedders()[:1], space.user, connect=()
            ) as memory:
                known = _write(memory, space, Run())
                for one in leaning(space)[:: args.every]:
                    for way, got in asked(memory, one).items():
                        docs = [doc.id for memory_id in got for doc in known.get(memory_id, ())]
                        rows.setdefault(way, []).append(recall(docs, relevant[one.id], DEPTH))
    if not rows:
        raise HollowError("No question names a speaker.")
    told = {way: shown(figure(values, SEED)) for way, values in rows.items()}
    for better, worse in (("united", "alone"), ("united", "replaced"), ("wrong united", "wrong replaced")):
        told[f"{better} - {worse}"] = shown(difference(rows[better], rows[worse], SEED))
    for way, value in told.items():
        print(f"{way}: {value}")
    if args.log:
        figures = "; ".join(f"{way} {value}" for way, value in told.items())
        log_rows([(f"questions that lean on the one before, {name}, turns R@10", figures, "sync")])
    return 0


def asked(memory: Memory, one: Leaning) -> dict[str, list[str]]:
    """Ask in every way; return the memories that were found."""

    def ids(text: str, rewriting: str = "") -> list[str]:
        asking = Memory(replace(memory._workspace, rewriter=Told({text: rewriting})))
        return [each.id for each in asking.search(text, limit=DEPTH, history=[one.before]).results]

    names = re.findall(r"\b[A-Z]\w+", one.before.partition(" ")[2])
    return {
        "alone": ids(one.text),
        "replaced": ids(one.whole),
        "united": ids(one.text, one.whole),
        "wrong replaced": ids(one.wrong),
        "wrong united": ids(one.text, one.wrong),
        "with the history's capitals, no model": ids(f"{one.text} {' '.join(names)}"),
        "with all of the history, no model": ids(f"{one.text} {one.before}"),
    }


if __name__ == "__main__":
    sys.exit(main())
