"""Rerank: what a second look at the best gives, set by set and over all, and what it costs.

    python bench/rerank.py --data DIR [--sets a,b] [--state sync|embed] [--cache FILE] [--kind features]
        [--limit-queries N] [--json FILE] [--log]

Each set is written once and asked with and without, through ``Memory.search`` alone; differences are paired, query by
query. The mean over sets resamples the queries within each set, so that a large set does not outvote a small one.
What it costs is the processor time of the reranker alone on the first fifty of a query, and the ratio of the two
searches' medians as a caller waits.

Exit code 1 when a run was hollow, or when the reranker failed once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ask import HollowError, Run, _write, embedders, open_memory, run_set, score
from data import DataError, DataSet, find_sets, load, spaces
from metrics import RESAMPLES, SEED, Figure, difference, figure
from report import circumstances, log_rows, percentiles, shown, write_json
from scrubjay.config.settings import RERANKER_KINDS
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.rerankers.base import RerankQuery
from scrubjay.rerankers.lexical import LexicalReranker
from scrubjay.search.plan import build_plan
from scrubjay.search.request import SearchRequest
from scrubjay.search.rerank import rerank_passage
from scrubjay.storage.scoring import idf

SETS = "musique_hippo100,hotpot_hippo100,locomo,beam_100k,cookbook_docs,cosqa,scifact"
METRICS = ("recall@5", "recall@10", "ndcg@10")
TIMED = 30
"""Queries of a set whose second look is timed by itself."""
DEPTH = 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "rerank", "kind": args.kind, "state": args.state, **circumstances()}
    result["sets"] = {}
    gains: dict[str, dict[str, list[float]]] = {}
    try:
        models = embedders(args.cache)
        for name, folder in find_sets(args.data, args.sets.split(",")).items():
            data = load(name, folder)
            data = replace(data, tasks=tuple(task for task in data.tasks if task.name == "documents"))
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place:
                found, gains[name] = measure_set(data, Path(place), models, args)
            result["sets"][name] = found
            print(f"{name}: {found}", flush=True)
    except (DataError, HollowError) as error:
        print(f"rerank: {error}", file=sys.stderr)
        return 1
    result["mean"] = {metric: shown(mean_gain([own[metric] for own in gains.values()])) for metric in METRICS}
    print(f"mean over {len(gains)} sets: {result['mean']}")
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def measure_set(
    data: DataSet, folder: Path, models: Sequence[Any], args: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """Ask one set with and without; return its figures, and each query's gain by metric.

    Raises:
        HollowError: The reranker failed, or the run measured nothing.
    """
    queries = data.asked(args.limit_queries)
    ways = {"off": {"rerank": "off"}, args.kind: {"rerank": args.kind}}
    store = folder / "memory.db"
    run = run_set(data, queries, store, state=args.state, configurations=ways, models=models)
    failed = [sentence for sentence in run.partial if "rerank" in sentence]
    if failed:
        raise HollowError(f"Set {data.name}: {failed[0]}")
    without, with_it = (score(data, run, way)["documents"] for way in ways)
    gains = {
        metric: [with_it[query][metric] - without[query][metric] for query in without] for metric in METRICS
    }
    found: dict[str, Any] = {"queries": len(without)}
    for metric in METRICS:
        found[metric] = f"{figure([row[metric] for row in without.values()], SEED).mean:.3f} " + _signed(
            difference(gains[metric], [0.0] * len(without), SEED)
        )
    waits = [percentiles(run.took[way])["p50"] for way in ways]
    found["search ms"] = f"{waits[0]:.1f} to {waits[1]:.1f}, {waits[1] / waits[0]:.2f} times"
    if args.kind == "features":
        found["features cpu ms"] = percentiles(_alone(data, folder, models))
    return found, gains


def mean_gain(gains: Sequence[Sequence[float]]) -> Figure:
    """The mean of the sets' mean gains; queries are drawn again within each set."""
    rng = np.random.default_rng(SEED)
    arrays = [np.asarray(own) for own in gains]
    drawn = [
        np.mean([own[rng.integers(0, len(own), len(own))].mean() for own in arrays]) for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    mean = float(np.mean([own.mean() for own in arrays]))
    return Figure(mean, float(low), float(high), sum(map(len, gains)))


def _alone(data: DataSet, folder: Path, models: Sequence[Any]) -> list[float]:
    """Milliseconds of processor time for the second look alone at the first fifty of some queries."""
    static = models[0]
    assert isinstance(static, StaticEmbedder)
    reranker, took = LexicalReranker(static.tokens), []
    space = next(iter(spaces(data, data.asked(TIMED))))
    groups = tuple(sorted({doc.scope for doc in space.docs if doc.scope})) if space.shared else ()
    with open_memory(folder / "timed.db", models[:1], space.user, groups, connect=(), learn=()) as memory:
        _write(memory, space, Run())
        desk = memory._workspace
        for query in space.queries:
            ids = [one.id for one in memory.search(query.text, limit=DEPTH).results]
            with desk.store.reader(desk.scope) as reader:
                made = build_plan(SearchRequest(query.text), reader)
                counted = reader.words(made.groups, made.where)
                rarity = tuple(idf(counted.memories, frequency) for frequency in counted.frequencies)
                records = reader.get(ids)
            texts = [rerank_passage(records[one]) for one in ids]
            begun = time.process_time()
            reranker.scores(RerankQuery(query.text, made.groups, rarity), texts, deadline=60)
            took.append((time.process_time() - begun) * 1000)
    return took


def _signed(gain: Figure) -> str:
    return f"{gain.mean:+.3f} [{gain.low:+.3f} {gain.high:+.3f}]"


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    kind, state = result["kind"], result["state"]
    rows = [
        (f"rerank {kind} {name}", ", ".join(f"{what} {value}" for what, value in found.items()), state)
        for name, found in result["sets"].items()
    ]
    mean = ", ".join(f"{metric} {value}" for metric, value in result["mean"].items())
    return [*rows, (f"rerank {kind}, mean gain over {len(result['sets'])} sets", mean, state)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="What a second look at the best gives and costs.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--state", choices=("sync", "embed"), default="sync")
    parser.add_argument("--cache", type=Path, help="file of MiniLM's windows")
    parser.add_argument("--kind", choices=RERANKER_KINDS[1:], default="features")
    parser.add_argument("--limit-queries", type=int, help="queries of each set")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
