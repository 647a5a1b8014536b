"""How often a context is injected for a question, and whether it should be.

Each set is asked its own questions (``kept``: a judged memory is in the context, search/relevance.py;
``said``: any is),
its questions without an answer, and questions of the other sets (``foreign``: nothing should be injected, though sets
of one field do answer one another). ``taken out``: own questions after the documents that answer were removed: the
hardest silence. Stores are searched by words and the base model, as a cold hook searches them.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line, listed
from bench.data import DataSet, Query, find_sets, load, spaces
from bench.harness import embedders, scratch, written
from bench.metrics import SEED, figure, shown
from scrubjay import Memory
from scrubjay.models.dates import now_micros
from scrubjay.search.context import MAX_FOUND
from scrubjay.search.pipeline import retrieve, select_answers
from scrubjay.search.relevance import confident_only
from scrubjay.services.search import search_request

SETS = "til_simonw,cookbook_docs,cosqa,musique_hippo100,scifact,locomo,source117,xquad_de,xquad_zh,xquad_ar,jsquad_ja"
MOST_SPACES = 4
"""Stores of a set with one for each reader."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    found = {name: load(name, place) for name, place in find_sets(args.data, listed(args.sets)).items()}
    chance = random.Random(SEED)
    sample = {
        name: chance.sample([q.text for q in data.asked()], min(args.foreign, len(data.asked())))
        for name, data in found.items()
    }
    result: dict[str, Any] = {"sets": {}}
    for name, data in found.items():
        foreign = [text for other, texts in sample.items() if other != name for text in texts]
        with scratch() as folder:
            result["sets"][name] = measured = measure_set(data, foreign, folder, args.queries, chance)
        print(f"{name}: {measured}", flush=True)
    return result


def measure_set(
    data: DataSet, foreign: Sequence[str], folder: Path, most: int, chance: random.Random
) -> dict[str, str]:
    """Ask one set its own questions, those without an answer, and foreign ones."""
    gold = next(task for task in data.tasks if not task.sessions).relevant
    own = [query for query in data.queries if query.id in gold]
    chance.shuffle(own)
    empty = [query for query in data.queries if query.id not in gold][:most]
    rows: dict[str, list[float]] = {"kept": [], "said": [], "without an answer": [], "foreign": []}
    rows["taken out"] = _taken_out(data, own[:most], gold, folder)
    for number, space in enumerate(spaces(data, [*own[:most], *empty])):
        if number == MOST_SPACES:
            break
        with written(space, folder / "memory.db", embedders()[:1]) as (memory, known):
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
    with written(left, folder / "without.db", embedders()[:1]) as (memory, _):
        return [float(bool(_passed(memory, query))) for query in some]


def _passed(memory: Memory, query: Query) -> list[str]:
    """Return what has to do with a question, as `Memory.context` asks it."""
    desk = memory._workspace
    with desk.store.reader(desk.scope) as reader:
        request = replace(search_request(desk, query.text), now=now_micros(), limit=MAX_FOUND)
        found = select_answers(retrieve(reader, desk.models.rankers()[0], request))
    leads = [group.lead for group in found.groups]
    return [one.id for one in confident_only(leads, found.features)]


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [(f"context {name}", in_line(found), "sync") for name, found in result["sets"].items()]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--sets", default=SETS, help="names, separated by commas")
    parser.add_argument("--queries", type=int, default=100, help="questions of each set")
    parser.add_argument("--foreign", type=int, default=12, help="questions of each other set")


CONTEXT = Command(__doc__, run, _options, _rows)
