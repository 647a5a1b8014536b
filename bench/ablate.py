"""Ablate: what each channel gives alone and with another, and what each stage and fusion gives.

    python bench/ablate.py --data DIR [--sets a,b] [--only NAMES] [--state sync|embed] [--limit-queries N] --json FILE

Each set is written once and asked under every configuration, through options of ``Memory.search`` alone.
Differences are paired, query by query, against the default; ``*`` marks one whose 95 % interval excludes 0.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ask import HollowError, Options, Run, embedders, run_set, score
from data import DataError, DataSet, find_sets, load
from metrics import NAMES, SEED, Figure, difference, figure
from report import circumstances, percentiles, short, table, write_json
from scrubjay.config.settings import LINKING_STAGES
from scrubjay.search.plan import PRESETS
from scrubjay.search.request import STAGES

DEFAULT = "default"

Scores = dict[str, dict[str, dict[str, dict[str, float]]]]
"""Configuration to task to query to metric to value."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        models = embedders(args.cache)
        wanted = configurations([model.model.name for model in models], args.state)
        if args.only:
            wanted = {name: wanted[name] for name in (DEFAULT, *args.only.split(","))}
        found = find_sets(args.data, [name for name in args.sets.split(",") if name])
        result: dict[str, Any] = {"what": "ablate", "state": args.state, **circumstances(), "sets": {}}
        for name, folder in found.items():
            data = load(name, folder)
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place:
                run = run_set(
                    data,
                    data.asked(args.limit_queries),
                    Path(place) / "memory.db",
                    state=args.state,
                    configurations=wanted,
                    models=models,
                    connect=LINKING_STAGES if args.connect else (),
                )
            result["sets"][name] = summarise(data, run, list(wanted), args.seed)
            print(f"{name} done", file=sys.stderr, flush=True)
        print(matrix(result["sets"], list(wanted), args.metric))
        write_json(args.json, result)
    except (DataError, HollowError) as error:
        print(f"ablate: {error}", file=sys.stderr)
        return 1
    return 0


def configurations(models: Sequence[str], state: str) -> dict[str, Options]:
    """Search options by the configuration's name; the larger model takes part only after the backfill.

    >>> list(configurations(["s", "m"], "sync"))[:4]
    ['default', 'bm25', 's', 'ngram']
    """
    channels = ["bm25", *(models if state == "embed" else models[:1]), "ngram", "graph"]
    found: dict[str, Options] = {DEFAULT: {}}
    for count in (1, 2):
        for chosen in itertools.combinations(channels[:-1], count):  # the graph has nothing to say alone
            found[" + ".join(chosen)] = _only(chosen)
    found |= {"without " + channel: _only([c for c in channels if c != channel]) for channel in channels}
    found |= {"without " + stage: {"stages": tuple(s for s in STAGES if s != stage)} for stage in STAGES}
    found |= {f"fusion {fusion}": {"fusion": fusion} for fusion in ("rrf", "weighted")}
    found |= {f"links {hops}": {"links": hops} for hops in (1, 2)}
    found |= {"hierarchy": {"hierarchy": True}, "hierarchy alpha .8": {"hierarchy": True, "alpha": 0.8}}
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


def matrix(sets: Mapping[str, Any], names: Sequence[str], metric: str) -> str:
    """One table of a metric: configurations down, sets and their tasks across, the mean of all at the end."""
    columns = [(name, task) for name, own in sets.items() for task in own if task != "search_ms"]
    head = [metric, *(_column(name, task) for name, task in columns), "mean"]
    lines = []
    for configuration in names:
        cells = [sets[name][task][configuration][metric] for name, task in columns]
        mean = sum(cell["mean"] for cell in cells) / len(cells)
        lines.append([configuration, *(_cell(cell) for cell in cells), short(mean)])
    return table(head, lines)


def _column(name: str, task: str) -> str:
    last = name.rsplit("/", 1)[-1]
    return last if task == "documents" else f"{last}:{task}"


def _cell(cell: Mapping[str, Any]) -> str:
    change = Figure(**cell["against_default"])
    return short(cell["mean"]) + ("*" if change.low > 0 or change.high < 0 else " ")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure channels, pairs, stages and fusions apart.")
    parser.add_argument("--data", type=Path, required=True, help="folder of sets, or one set")
    parser.add_argument("--only", default="", help="configurations, separated by commas; all when left out")
    parser.add_argument("--sets", default="", help="names, separated by commas; all when left out")
    parser.add_argument("--state", choices=("sync", "embed"), default="embed", help="of the store")
    parser.add_argument(
        "--connect", action="store_true", help="make links and categories, as the product does"
    )
    parser.add_argument("--limit-queries", type=int, help="ask only the first N judged queries of each set")
    parser.add_argument("--metric", choices=NAMES, default="recall@5", help="of the printed table")
    parser.add_argument("--cache", type=Path, help="SQLite file that remembers MiniLM's windows")
    parser.add_argument("--seed", type=int, default=SEED, help="of the bootstrap")
    parser.add_argument("--json", type=Path, help="file for the figures")
    return parser


if __name__ == "__main__":
    sys.exit(main())
