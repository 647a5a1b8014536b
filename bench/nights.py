"""Nights: what consolidating does to recall, through nothing but ``Memory``.

    python bench/nights.py DATA [--set longmemeval_s] [--questions N] [--json FILE] [--log]

Each question's haystack is added to a store of its own (state sync), its sessions are asked for, all of it is
consolidated as of 30 days after the question, so that every session is old, and asked for again. A digest counts for
the session it tells of. Differences are paired, question by question.

Exit code 1 when nothing was written, found or consolidated.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import ask
from data import find_sets, load, spaces
from metrics import DEPTH, SEED, difference, figure, first_seen, measure
from report import circumstances, log_rows, write_json
from scrubjay import Memory

TURNS = 100
"""Results from which sessions are ranked."""
LATER = timedelta(days=30)
METRICS = ("recall@5", "hit@5", "all@5", "ndcg@10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    data = load(args.set, dict(find_sets(args.data, [args.set]))[args.set])
    task = next(task for task in data.tasks if task.name == "session")
    queries = [query for query in data.asked(None) if query.id in task.relevant][: args.questions]
    models = [ask.embedders()[0]]
    before: list[dict[str, float]] = []
    after: list[dict[str, float]] = []
    nights: list[dict[str, float]] = []
    for number, space in enumerate(spaces(data, queries), 1):
        with (
            tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place,
            ask.open_memory(Path(place) / "memory.db", models, connect=("concepts",)) as memory,
        ):
            ask._write(memory, space, ask.Run())
            before += [measure(_sessions(memory, query), task.relevant[query.id]) for query in space.queries]
            nights.append(_night(memory, space.queries[-1].ts))
            after += [measure(_sessions(memory, query), task.relevant[query.id]) for query in space.queries]
        print(f"{number} of {len(queries)}: {nights[-1]}", file=sys.stderr, flush=True)
    if not before or not any(row["recall@5"] for row in before) or not any(n["digests"] for n in nights):
        print("nights: nothing was found or consolidated", file=sys.stderr)
        return 1
    result = _result(before, after, nights)
    write_json(args.json, {"what": "nights", "set": args.set, **circumstances(), **result})
    line = _line(args.set, result)
    print(line)
    if args.log:
        log_rows(
            [(f"{args.set} consolidated, sessions by digests and evidence (n={len(before)})", line, "sync")]
        )
    return 0


def _sessions(memory: Memory, query: Any) -> list[str]:
    found = memory.search(query.text, limit=TURNS, now=query.ts).results
    return first_seen(result.session or "" for result in found)[:DEPTH]


def _night(memory: Memory, ts: str | None) -> dict[str, float]:
    active = _active(memory)
    begun = time.perf_counter()
    done = memory.consolidate(now=ask._moment(ts or "") + LATER)
    seconds = time.perf_counter() - begun
    again = memory.consolidate(now=ask._moment(ts or "") + LATER)
    return {
        "observations": active,
        "left": _active(memory),
        "digests": len(done.made),
        "tokens": done.kept / max(1, done.tokens),
        "seconds": seconds,
        "again": len(again.made) + again.archived,
    }


def _active(memory: Memory) -> int:
    desk = memory._workspace
    with desk.store.reader(desk.scope) as reader:
        return reader.counts().by_tier.get("observation", {}).get("active", 0)


def _result(before: list[Any], after: list[Any], nights: list[dict[str, float]]) -> dict[str, Any]:
    found: dict[str, Any] = {"questions": len(before), "metrics": {}}
    for metric in METRICS:
        was, now = ([row[metric] for row in rows] for rows in (before, after))
        found["metrics"][metric] = {
            "before": asdict(figure(was, SEED)),
            "after": asdict(figure(now, SEED)),
            "change": asdict(difference(now, was, SEED)),
        }
    total = sum(night["observations"] for night in nights)
    return found | {
        "left": sum(night["left"] for night in nights) / max(1, total),
        "tokens": statistics.mean(night["tokens"] for night in nights),
        "ms_per_observation": 1000 * sum(night["seconds"] for night in nights) / max(1, total),
        "again": sum(night["again"] for night in nights),
    }


def _line(name: str, result: dict[str, Any]) -> str:
    cells = []
    for metric, own in result["metrics"].items():
        change = own["change"]
        cells.append(
            f"{metric} {own['before']['mean']:.3f} to {own['after']['mean']:.3f}, {change['mean']:+.3f} "
            f"[{change['low']:+.3f} {change['high']:+.3f}]"
        )
    parts = (
        "; ".join(cells),
        f"active observations left {result['left']:.3f}",
        f"digests {result['tokens']:.3f} of the tokens",
        f"{result['ms_per_observation']:.2f} ms an observation",
        f"a second run changed {result['again']:.0f}",
    )
    return ", ".join(parts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--set", default="longmemeval_s")
    parser.add_argument("--questions", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--log", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
