"""Contexts: how much of the evidence they hold (`context`), and whether one is injected at all (`injected`).

`context`: of each judged question's evidence (documents or turns by the set's qrels) the share that a context holds,
for several budgets of tokens. A context holds a document if it holds at least .6 of its runs of five words, so that
whole documents and long snippets count alike.

`injected`: each set is asked its own questions (``kept``: a judged memory is in the context, search/relevance.py;
``said``: any is), its questions without an answer, and questions of the other sets (``foreign``: nothing should be
injected, though sets of one field do answer one another). ``taken out``: own questions after the documents that answer
were removed: the hardest silence. Stores are searched by words and the base model, as a cold hook searches them.
"""

from __future__ import annotations

import argparse
import html
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line, listed, set_options
from bench.data import DataSet, Query, find_sets, load, spaces
from bench.harness import embedders, scratch, written
from bench.metrics import SEED, figure, shown
from scrubjay import Memory
from scrubjay.embeddings.base import AnyEmbedder
from scrubjay.models.dates import now_micros
from scrubjay.search.context import MAX_FOUND
from scrubjay.search.pipeline import retrieve, select_answers
from scrubjay.search.relevance import confident_only
from scrubjay.services.search import search_request

EVIDENCE_SETS = "locomo,longmemeval_s,beam_100k"
HAYSTACKS = 24
"""Questions of a set with a store for each."""
RUN_LENGTH = 5
HELD_SHARE = 0.6


def run_evidence(args: argparse.Namespace) -> dict[str, Any]:
    budgets = [int(one) for one in listed(args.budgets)]
    models = embedders(args.cache)[: 1 if args.state == "sync" else 2]
    result: dict[str, Any] = {"state": args.state, "sets": {}}
    for name, place in find_sets(args.data, listed(args.sets)).items():
        data = load(name, place)
        with scratch() as folder:
            result["sets"][name] = measured = measure_evidence(data, folder, models, budgets)
        for budget, found in measured.items():
            print(f"{name} {budget}: {in_line(found)}", flush=True)
    return result


def measure_evidence(
    data: DataSet, folder: Path, models: Sequence[AnyEmbedder], budgets: Sequence[int]
) -> dict[int, dict[str, Any]]:
    """Return by budget the share of evidence with its interval, and means over the questions."""
    gold = next(task for task in data.tasks if not task.sessions).relevant
    queries = [query for query in data.asked() if query.id in gold]
    if data.haystacks:
        queries = queries[:HAYSTACKS]
    texts = {doc.id: doc.text for doc in data.docs if doc.text.strip()}
    rows: dict[int, list[dict[str, float]]] = {budget: [] for budget in budgets}
    for space in spaces(data, queries):
        with written(space, folder / "memory.db", models) as (memory, _):
            for query in space.queries:
                evidence = [texts[one] for one in sorted(gold[query.id]) if one in texts]
                for budget in budgets if evidence else ():
                    context = memory.context(query.text, budget=budget, now=query.ts)
                    rows[budget].append(
                        {
                            "evidence": share_held(evidence, context.text),
                            "silent": float(not context.text),
                            "memories": float(len(context.memories)),
                            "tokens": float(context.tokens),
                            "ms": context.took_ms,
                        }
                    )
    if not any(row["evidence"] for own in rows.values() for row in own):
        raise HollowError(f"Set {data.name}: no context holds any evidence.")
    return {budget: _summary(own) for budget, own in rows.items()}


def _summary(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    mean = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    return {
        "evidence": shown(figure([row["evidence"] for row in rows], SEED)),
        "n": len(rows),
        "silent": f"{mean['silent']:.3f}",
        **{name: f"{mean[name]:.1f}" for name in ("memories", "tokens", "ms")},
    }


def share_held(texts: Sequence[str], context: str) -> float:
    """Return the share of texts that a context holds.

    >>> share_held(["Mel moved to Oslo in May.", "No."], "- [id] Mel moved to Oslo in May. Then")
    0.5
    """
    shown_words = _words(html.unescape(context))
    held = 0
    for words in map(_words, texts):
        length = min(RUN_LENGTH, len(words))
        own = _runs(words, length)
        held += len(own & _runs(shown_words, length)) >= HELD_SHARE * len(own)
    return held / len(texts)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _runs(words: Sequence[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}


def _evidence_rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        (
            f"evidence in a context of {', '.join(f'{budget:,}' for budget in found)} tokens, {name}",
            "; ".join(in_line(own) for own in found.values()),
            result["state"],
        )
        for name, found in result["sets"].items()
    ]


def _evidence_options(parser: argparse.ArgumentParser) -> None:
    set_options(parser, sets=EVIDENCE_SETS)
    parser.add_argument("--budgets", default="1500,4000,7000", help="tokens, separated by commas")


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
    desk = memory.workspace
    with desk.store.reader(desk.scope) as reader:
        request = replace(search_request(desk, query.text), now=now_micros(), limit=MAX_FOUND)
        found = select_answers(retrieve(reader, desk.models.rankers()[0], request))
    leads = [group.lead for group in found.groups]
    return [one.id for one in confident_only(leads, found.features)]


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [(f"injected {name}", in_line(found), "sync") for name, found in result["sets"].items()]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--sets", default=SETS, help="names, separated by commas")
    parser.add_argument("--queries", type=int, default=100, help="questions of each set")
    parser.add_argument("--foreign", type=int, default=12, help="questions of each other set")


CONTEXT = Command(__doc__, run_evidence, _evidence_options, _evidence_rows)
INJECTED = Command(__doc__, run, _options, _rows)
