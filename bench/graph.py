"""Graph: what the channel ``graph`` gives and costs, in stores that are connected as the product connects them.

    python bench/graph.py --data DIR [--sets a,b] [--state sync|embed] [--cache FILE] [--limit-queries N] [--log]

The same stores are asked with every channel and with every channel but the graph; differences are paired, query by
query. `bench/quality.py` measures stores in which nothing is connected: there, only titles lead on.

Exit code 1 when the run was hollow: nothing written, nothing found, no answer that the graph changed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, embedders, run_set, score
from data import DataError, find_sets, load
from metrics import SEED, difference, figure
from report import circumstances, log_rows, percentiles, shown, write_json
from scrubjay.config.settings import LINKING_STAGES
from scrubjay.search.request import CHANNELS

SETS = "musique_hippo100,hotpot_hippo100,beam_100k,cookbook_docs,locomo,til_simonw"
WITHOUT = {"channels": tuple(channel for channel in CHANNELS if channel != "graph")}
METRICS = ("recall@5", "recall@10", "ndcg@10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "graph", "state": args.state, "sets": {}, **circumstances()}
    try:
        models = embedders(args.cache)[: 1 if args.state == "sync" else None]
        changed = 0
        for name, place in find_sets(args.data, args.sets.split(",")).items():
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
                data = load(name, place)
                run = run_set(
                    data, data.asked(args.limit_queries), Path(folder) / "memory.db", state=args.state,
                    configurations={"with": {}, "without": WITHOUT}, models=models, connect=LINKING_STAGES,
                )  # fmt: skip
            changed += run.documents["with"] != run.documents["without"]
            task, both = next((t, rows) for t, rows in score(data, run, "with").items() if rows)
            bare = score(data, run, "without")[task]
            found: dict[str, str] = {"queries": str(len(both))}
            for metric in METRICS:
                own = [both[query][metric] for query in sorted(both)]
                other = [bare[query][metric] for query in sorted(both)]
                gain = difference(own, other, SEED)
                found[metric] = (
                    f"{figure(other, SEED).mean:.3f} > {shown(figure(own, SEED))}, gain {shown(gain)}"
                )
            for way in ("without", "with"):
                found[f"search ms {way}"] = str(percentiles(run.took[way]))
            result["sets"][name] = found
            print(f"{name}: {found}", flush=True)
        if not changed:
            raise HollowError("No answer was changed by the graph.")
    except (DataError, HollowError) as error:
        print(f"graph: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(
            (f"graph channel {name}", ", ".join(f"{what} {value}" for what, value in own.items()), args.state)
            for name, own in result["sets"].items()
        )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Gain and cost of the channel graph.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--state", choices=("sync", "embed"), default="sync")
    parser.add_argument("--cache", type=Path, help="file that remembers MiniLM's windows")
    parser.add_argument("--limit-queries", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
