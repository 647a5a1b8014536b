"""What each channel adds alone and with another, and each stage, fusion, link, tree and reranker.

Each set is written (and embedded) once and asked under every configuration, through options of `Memory.search` alone
(`thread`: through `Memory.thread`, whose memories are in the order of time, so only its recall says something).
Differences are paired, query by query, against the default; ``*`` marks one whose 95 % interval excludes 0.

The first table has a column a task; its last columns are the mean over all tasks, and the mean over sets of the median
search in milliseconds. The second pools the questions of all sets (of several tasks of one kind the first): the change
of the metric and of NDCG@10, of the milliseconds of a search (median), and the sets where a change excludes 0.
`--only without` leaves out each stage and channel.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench.command import Command, HollowError, listed, set_options
from bench.data import DataSet, Query, find_sets, load
from bench.harness import Options, Run, embedders, run_set, score, scratch
from bench.metrics import NAMES, SEED, Figure, difference, figure, short, shown
from bench.report import percentiles, table
from scrubjay.config.settings import LINKING_STAGES
from scrubjay.search.plan import PRESETS
from scrubjay.search.request import STAGES

DEFAULT = "default"
HAYSTACKS = 20
"""Most questions of a set with a store for each."""

Scores = dict[str, dict[str, dict[str, dict[str, float]]]]
"""Configuration to task to query to metric to value."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    models = embedders(args.cache)
    wanted = configurations([model.model.name for model in models], args.state)
    only = tuple(listed(args.only))
    if only:
        wanted = {name: own for name, own in wanted.items() if name == DEFAULT or name.startswith(only)}
    result: dict[str, Any] = {"state": args.state, "sets": {}}
    pooled: Pooled = {name: {} for name in wanted}
    for name, folder in find_sets(args.data, listed(args.sets)).items():
        data = load(name, folder)
        with scratch() as place:
            done = run_set(
                data, spread_out(data, args.limit_queries), place / "memory.db", state=args.state,
                configurations=wanted, models=models, connect=LINKING_STAGES if args.connect else (),
            )  # fmt: skip
        failed = [why for why in done.partial if "rerank" in why]
        if failed:
            raise HollowError(f"Set {name}: {failed[0]}")
        result["sets"][name] = summarise(data, done, list(wanted), args.seed)
        for configuration in wanted:
            pooled[configuration][name] = differences(data, done, configuration, args.metric)
        print(f"{name} done", file=sys.stderr, flush=True)
    print(matrix(result["sets"], list(wanted), args.metric))
    print("\n" + pool_table(pooled, args.metric, args.seed))
    return result


def spread_out(data: DataSet, most: int) -> list[Query]:
    """Return at most so many judged queries, evenly spread over the file."""
    asked = data.asked()
    count = min(len(asked), most, HAYSTACKS if data.haystacks else most)
    return [asked[place * len(asked) // count] for place in range(count)]


def configurations(models: Sequence[str], state: str) -> dict[str, Options]:
    """Search options by the configuration's name; the larger model takes part only after the backfill.

    >>> list(configurations(["s", "m"], "sync"))[:4]
    ['default', 'bm25', 's', 'ngram']
    """
    channels = ["bm25", *(models if state == "embed" else models[:1]), "ngram", "graph"]
    found: dict[str, Options] = {DEFAULT: {}}
    for count in (1, 2):
        for chosen in itertools.combinations(channels[:-1], count):  # the graph finds nothing alone
            found[" + ".join(chosen)] = _only(chosen)
    found |= {"without " + channel: _only([c for c in channels if c != channel]) for channel in channels}
    found |= {"without " + stage: {"stages": tuple(s for s in STAGES if s != stage)} for stage in STAGES}
    found |= {f"fusion {fusion}": {"fusion": fusion} for fusion in ("rrf", "weighted")}
    found |= {f"links {hops}": {"links": hops} for hops in (1, 2)}
    found |= {"hierarchy": {"hierarchy": True}, "hierarchy alpha .8": {"hierarchy": True, "alpha": 0.8}}
    found |= {"rerank features": {"rerank": "features"}, "deep": {"deep": True}}
    found |= {"thread": {"thread": True, "deep": False}, "thread deep": {"thread": True, "deep": True}}
    return found | {f"preset {preset}": {"preset": preset} for preset in PRESETS}


def _only(chosen: Sequence[str]) -> Options:
    words = [channel for channel in chosen if channel in ("bm25", "ngram", "graph")]
    models = [channel for channel in chosen if channel not in words]
    options: dict[str, Any] = {"channels": (*words, *(["vector"] if models else []))}
    return options | ({"models": tuple(models)} if models else {})


def summarise(data: DataSet, run: Run, names: Sequence[str], seed: int) -> dict[str, Any]:
    """Figures and differences from the default by task and configuration, ready for JSON."""
    scores: Scores = {name: score(data, run, name) for name in names}
    found: dict[str, Any] = {"search_ms": {name: percentiles(run.took[name])["p50"] for name in names}}
    for task, base in scores[DEFAULT].items():
        if not base:
            continue
        found[task] = {}
        for name in names:
            rows = scores[name][task]
            values = {metric: [rows[query][metric] for query in base] for metric in NAMES}
            found[task][name] = {
                metric: asdict(figure(own, seed))
                | {"against_default": asdict(difference(own, [row[metric] for row in base.values()], seed))}
                for metric, own in values.items()
            }
    return found


Pooled = dict[str, dict[str, dict[str, list[float]]]]
"""Configuration to set to column (a metric, or ``ms``) to differences from the default, query by query."""


def differences(data: DataSet, run: Run, name: str, metric: str) -> dict[str, list[float]]:
    """Return what a configuration changes for each query of the first tasks, of documents and of sessions."""
    found: dict[str, list[float]] = {metric: [], "ndcg@10": []}
    own, base = score(data, run, name), score(data, run, DEFAULT)
    firsts = {task.sessions: task.name for task in reversed(data.tasks) if base[task.name]}
    for column, changes in found.items():
        for task in firsts.values():
            changes += [own[task][query][column] - row[column] for query, row in base[task].items()]
    ms = [ours - theirs for ours, theirs in zip(run.took[name], run.took[DEFAULT], strict=True)]
    return {**found, "ms": ms}


def pool_table(pooled: Pooled, metric: str, seed: int) -> str:
    """One line a configuration: pooled changes, and the sets where it is better or worse beyond chance."""
    lines = []
    for name, sets in pooled.items():
        if name == DEFAULT:
            continue
        cells = [
            shown(figure([change for own in sets.values() for change in own[column]], seed))
            for column in dict.fromkeys((metric, "ndcg@10"))
        ]
        beyond = {
            f"{of.rsplit('/', 1)[-1]} {short(change.mean)}"
            for of, own in sets.items()
            for column in (metric, "ndcg@10")
            if (change := figure(own[column], seed)).low > 0 or change.high < 0
        }
        ms = statistics.median(change for own in sets.values() for change in own["ms"])
        lines.append([name, *cells, f"{ms:+.2f}", "; ".join(sorted(beyond))])
    return table(["change", *dict.fromkeys((metric, "ndcg@10")), "ms", "beyond chance"], lines)


def matrix(sets: Mapping[str, Any], names: Sequence[str], metric: str) -> str:
    """One table of a metric: configurations down, sets and their tasks across, the mean of all at the end."""
    columns = [(name, task) for name, own in sets.items() for task in own if task != "search_ms"]
    head = [metric, *(_column(name, task) for name, task in columns), "mean", "ms"]
    lines = []
    for configuration in names:
        cells = [sets[name][task][configuration][metric] for name, task in columns]
        mean = sum(cell["mean"] for cell in cells) / len(cells)
        took = sum(own["search_ms"][configuration] for own in sets.values()) / len(sets)
        lines.append([configuration, *(_cell(cell) for cell in cells), short(mean), f"{took:.1f}"])
    return table(head, lines)


def _column(name: str, task: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return last if task == "documents" else f"{last}:{task}"


def _cell(cell: Mapping[str, Any]) -> str:
    change = Figure(**cell["against_default"])
    return short(cell["mean"]) + ("*" if change.low > 0 or change.high < 0 else " ")


def _options(parser: argparse.ArgumentParser) -> None:
    set_options(parser)
    parser.add_argument("--only", default="", help="configurations or their beginnings, separated by commas")
    parser.add_argument(
        "--connect", action="store_true", help="make links and categories, as the product does"
    )
    parser.add_argument(
        "--limit-queries", type=int, default=100, help="most queries of each set, evenly spread"
    )
    parser.add_argument("--metric", choices=NAMES, default="recall@5", help="of the printed table")
    parser.add_argument("--seed", type=int, default=SEED, help="of the bootstrap")


ABLATE = Command(__doc__, run, _options)
