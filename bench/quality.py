"""Quality: how well the product ranks, on any folder laid out like the development data.

    python bench/quality.py --data DIR [--sets a,b] [--state sync|embed] [--limit-queries N] --json FILE

Exit code 1 when the run was hollow: no documents, no judged query, no hit, or a state not reached.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from ask import HollowError, Options, Run, embedders, run_set, score
from data import DataError, DataSet, find_sets, load
from metrics import SEED, Figure, figures
from report import circumstances, log_rows, shown, table, write_json
from spans import has_spans, run_spans

COLUMNS = ("recall@5", "recall@10", "hit@1", "hit@5", "all@5", "ndcg@10", "mrr@10")
SPAN_COLUMNS = ("span_recall", "span_precision", "span_iou")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    try:
        found = find_sets(args.data, [name for name in args.sets.split(",") if name])
        models = embedders(args.cache)
        result: dict[str, Any] = {"what": "quality", "state": args.state, "sets": {}, **circumstances()}
        result["options"] = options(args)
        for name, folder in found.items():
            data = load(name, folder)
            if args.pooled:
                if not data.haystacks:
                    raise DataError(f"Set {name} has no haystacks to be pooled.")
                data = replace(data, haystacks={})
            measured = measure_set(data, args, models)
            result["sets"][name] = measured
            print(f"\n{name} ({args.state}): {facts(measured)}")
            print(tables(measured, categories=args.categories), flush=True)
        write_json(args.json, result)
        if args.log:
            log_rows(_log(result))
    except (DataError, HollowError) as error:
        print(f"quality: {error}", file=sys.stderr)
        return 1
    return 0


def options(args: argparse.Namespace) -> Options:
    """Options of ``Memory.search`` that the command line asked for."""
    given: dict[str, Any] = {"fusion": args.fusion, "preset": args.preset}
    if args.weights:
        given["weights"] = {k: float(v) for k, v in (pair.split("=") for pair in args.weights.split(","))}
    for name in ("channels", "models", "stages"):
        chosen = getattr(args, name)
        if chosen is not None:
            given[name] = tuple(part for part in chosen.split(",") if part)
    return {name: value for name, value in given.items() if value is not None}


def measure_set(data: DataSet, args: argparse.Namespace, models: Sequence[Any]) -> dict[str, Any]:
    """Measure one set in a store of its own; the result is ready for JSON.

    Raises:
        HollowError: It measured nothing.
    """
    queries = data.asked(args.limit_queries)
    chosen = options(args)
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
        place = Path(folder)
        run = run_set(
            data, queries, place / "memory.db",
            state=args.state, configurations={"asked": chosen}, models=models,
        )  # fmt: skip
        tasks = summarise(data, run, "asked", args.seed)
        extra = None
        if has_spans(data):
            rows, extra = run_spans(
                data, place, state=args.state, options=chosen, models=models, limit=args.limit_queries
            )
            own = _plain(figures(rows, args.seed))
            tasks["spans"] = {"queries": len(rows), "metrics": own, "categories": {}}
    return {
        "documents": len(data.docs),
        "written": run.added,
        "empty": run.empty,
        "repeated": run.repeated,
        "queries": len(queries),
        "unanswered": sum(not ranked for ranked in run.documents["asked"].values()),
        "partial": dict(run.partial),
        "not_scored": list(data.skipped),
        "search_ms": {"p50": round(median(run.took["asked"]), 2), "p95": _p95(run.took["asked"])},
        "seconds": {name: round(value, 2) for name, value in run.seconds.items()}
        | {"all": round(time.perf_counter() - begun, 2)},
        "passages": extra,
        "tasks": tasks,
    }


def summarise(data: DataSet, run: Run, name: str, seed: int = SEED) -> dict[str, dict[str, Any]]:
    """Figures by task, overall and by category of query.

    Raises:
        HollowError: Not one judged query was asked.
    """
    category = {query.id: query.category for query in data.queries}
    found = {}
    for task, rows in score(data, run, name).items():
        if not rows:
            continue
        groups: dict[str, list[Mapping[str, float]]] = defaultdict(list)
        for query, row in rows.items():
            groups[category[query]].append(row)
        found[task] = {
            "queries": len(rows),
            "metrics": _plain(figures(list(rows.values()), seed)),
            "categories": {c: _plain(figures(own, seed)) for c, own in sorted(groups.items()) if c},
        }
    if not found:
        raise HollowError(f"Set {data.name}: no judged query was asked.")
    return found


def facts(measured: Mapping[str, Any]) -> str:
    """One line about a set's run."""
    parts = [f"{measured['written']} memories of {measured['documents']} documents"]
    parts += [f"{measured[name]} {name}" for name in ("empty", "repeated", "unanswered") if measured[name]]
    seconds, search = measured["seconds"], measured["search_ms"]
    parts.append(f"add {seconds['add']:.1f} s, embed {seconds['embed']:.1f} s")
    parts.append(f"search p50 {search['p50']:.1f} ms, p95 {search['p95']:.1f} ms")
    parts += [f"{count} answers partial: {why}" for why, count in measured["partial"].items()]
    if measured["passages"]:
        own = measured["passages"]
        parts.append(f"{own['passages']} passages, {own['bytes_per_passage']} bytes each")
    return "; ".join(parts)


def tables(measured: Mapping[str, Any], *, categories: bool) -> str:
    """A set's figures as tables."""
    plain, spans = [], []
    for task, found in measured["tasks"].items():
        lines = [(task, found["queries"], found["metrics"])]
        if categories:
            lines += [(f"  {c}", own["ndcg@10"]["queries"], own) for c, own in found["categories"].items()]
        for label, count, own in lines:
            columns = SPAN_COLUMNS if task == "spans" else COLUMNS
            cells = [label, str(count), *(shown(Figure(**own[name])) for name in columns)]
            (spans if task == "spans" else plain).append(cells)
    text = table(["task", "n", *COLUMNS], plain)
    return text + ("\n" + table(["passages", "n", *SPAN_COLUMNS], spans) if spans else "")


def _log(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    found = []
    for name, measured in result["sets"].items():
        for task, own in measured["tasks"].items():
            columns = SPAN_COLUMNS if task == "spans" else COLUMNS
            value = ", ".join(f"{metric} {shown(Figure(**own['metrics'][metric]))}" for metric in columns)
            found.append((f"{name} {task} (n={own['queries']})", value, result["state"]))
    return found


def _plain(found: Mapping[str, Figure]) -> dict[str, dict[str, Any]]:
    return {
        name: {"mean": own.mean, "low": own.low, "high": own.high, "queries": own.queries}
        for name, own in found.items()
    }


def _p95(values: Sequence[float]) -> float:
    return round(sorted(values)[int(0.95 * (len(values) - 1))], 2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the product's ranking on sets of judged queries.")
    parser.add_argument("--data", type=Path, required=True, help="folder of sets, or one set")
    parser.add_argument("--sets", default="", help="names, separated by commas; all when left out")
    parser.add_argument("--state", choices=("sync", "embed"), default="embed", help="of the store")
    parser.add_argument("--limit-queries", type=int, help="ask only the first N judged queries of each set")
    parser.add_argument(
        "--pooled", action="store_true", help="every query searches all of a set's haystacks, in one store"
    )
    parser.add_argument("--categories", action="store_true", help="also by category of query")
    parser.add_argument("--cache", type=Path, help="SQLite file that remembers MiniLM's windows")
    parser.add_argument("--seed", type=int, default=SEED, help="of the bootstrap")
    parser.add_argument("--fusion", help="as in Memory.search")
    parser.add_argument("--weights", help="channel=weight, separated by commas")
    parser.add_argument("--preset", help="as in Memory.search")
    parser.add_argument("--channels", help="only these channels, separated by commas")
    parser.add_argument("--models", help="only these embedding models")
    parser.add_argument("--stages", help="only these optional stages; empty for none")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--log", action="store_true", help="put the figures on top of LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
