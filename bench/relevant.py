"""Relevant: how often something is injected for a question, and whether it should be.

    python bench/relevant.py --data DIR [--sets a,b] [--queries 100] [--foreign 12] [--json FILE] [--log]

Each set is asked its own questions (``kept``: a judged memory is told unasked, recall/admit.py; ``said``: any is),
its questions without an answer, which are about what is in it, and questions of the other sets (``foreign``: any is
told; silence is wanted, though sets of one field do
answer one another). ``taken out``: questions asked of the same set without the documents that answer them, of one
language and often of one field with the rest: the hardest silence.
Stores are asked by words and the base model, as a cold hook asks them.

Exit code 1 when a run was hollow: nothing written, or no question passed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ask import HollowError, Run, _write, embedders, open_memory
from data import DataError, DataSet, Query, find_sets, load, spaces
from metrics import SEED, figure
from report import circumstances, log_rows, shown, write_json
from scrubjay import Memory
from scrubjay.models.dates import now_micros
from scrubjay.search.context import MAX_FOUND
from scrubjay.search.pipeline import retrieve, select_answers
from scrubjay.search.relevance import confident_only
from scrubjay.services.search import search_request

SETS = "til_simonw,cookbook_docs,cosqa,musique_hippo100,scifact,locomo,source117,xquad_de,xquad_zh,xquad_ar,jsquad_ja"
MOST_SPACES = 4
"""Stores of a set with one for each reader."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "relevant", **circumstances(), "sets": {}}
    try:
        found = {
            name: load(name, place) for name, place in find_sets(args.data, args.sets.split(",")).items()
        }
        chance = random.Random(SEED)
        sample = {
            name: chance.sample([q.text for q in data.asked()], min(args.foreign, len(data.asked())))
            for name, data in found.items()
        }
        for name, data in found.items():
            foreign = [text for other, texts in sample.items() if other != name for text in texts]
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
                result["sets"][name] = measured = measure_set(data, foreign, Path(folder), args, chance)
            print(f"{name}: {measured}", flush=True)
    except (DataError, HollowError) as error:
        print(f"relevant: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def measure_set(
    data: DataSet, foreign: Sequence[str], folder: Path, args: argparse.Namespace, chance: random.Random
) -> dict[str, str]:
    """Ask one set its own questions, those without an answer, and foreign ones.

    Raises:
        HollowError: No question of its own passed.
    """
    gold = next(task for task in data.tasks if not task.sessions).relevant
    own = [query for query in data.queries if query.id in gold]
    chance.shuffle(own)
    empty = [query for query in data.queries if query.id not in gold][: args.queries]
    rows: dict[str, list[float]] = {"kept": [], "said": [], "without an answer": [], "foreign": []}
    rows["taken out"] = _taken_out(data, own[: args.queries], gold, folder)
    for number, space in enumerate(spaces(data, [*own[: args.queries], *empty])):
        if number == MOST_SPACES:
            break
        groups = tuple(sorted({doc.scope for doc in space.docs if doc.scope})) if space.shared else ()
        models = embedders()[:1]
        with open_memory(folder / "memory.db", models, space.user, groups, connect=(), learn=()) as memory:
            known = _write(memory, space, Run())
            for query in space.queries:
                passed = _passed(memory, query)
                if query.id in gold:
                    rows["kept"].append(
                        float(any(doc.id in gold[query.id] for one in passed for doc in known.get(one, ())))
                    )
                rows["said" if query.id in gold else "without an answer"].append(float(bool(passed)))
            for text in foreign if number == 0 else ():
                rows["foreign"].append(float(bool(_passed(memory, Query("", text)))))
    if not any(rows["said"]):
        raise HollowError(f"Set {data.name}: nothing had to do with any of its own questions.")
    return {
        what: f"{shown(figure(values, SEED))} (n={len(values)})" for what, values in rows.items() if values
    }


def _taken_out(
    data: DataSet, queries: Sequence[Query], gold: dict[str, frozenset[str]], folder: Path
) -> list[float]:
    """Ask a set of one store half of its questions without the documents that are judged for these."""
    some = queries[: len(queries) // 2]
    gone = set().union(*(gold[query.id] for query in some))
    if data.haystacks or any(query.scopes for query in some):
        return []
    (space,) = spaces(data, some)
    left = replace(space, docs=[doc for doc in space.docs if doc.id not in gone])
    with open_memory(folder / "without.db", embedders()[:1], space.user, connect=(), learn=()) as memory:
        _write(memory, left, Run())
        return [float(bool(_passed(memory, query))) for query in some]


def _passed(memory: Memory, query: Query) -> list[str]:
    """Return what has to do with a question, as `Memory.context` asks it."""
    desk = memory._workspace
    with desk.store.reader(desk.scope) as reader:
        request = replace(search_request(desk, query.text), now=now_micros(), limit=MAX_FOUND)
        found = select_answers(reader, retrieve(reader, desk.models.rankers()[0], request), request)
    leads = [group.lead for group in found.groups]
    return [one.id for one in confident_only(leads, found.features)]


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (f"relevant {name}", ", ".join(f"{what} {value}" for what, value in found.items()), "sync")
        for name, found in result["sets"].items()
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Whether something is injected for a question.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--queries", type=int, default=100, help="questions of each set")
    parser.add_argument("--foreign", type=int, default=12, help="questions of each other set")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
