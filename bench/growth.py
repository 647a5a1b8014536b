"""Growth: what a store costs as it grows -> time to write and search, cold and warm, memory, disk, and the slopes.

    python bench/growth.py [--sizes 10000,30000,100000,300000,1000000] [--whole 100000] [--questions 300]
        [--store FILE] [--json FILE]
    python bench/growth.py --again SIZE --store FILE

One store is filled to each size in turn with made-up conversations, notes and facts (`worlds`), with the bundled model,
and measured there: writing a thousand memories, with all that connects and learns; searches, warm, half of them with a
filter; the first search of a new process; the memory of one and of five processes that searched; the disk. A slope is
the power of the size that a figure grows by, fitted over all sizes: 0 is constant, 1 linear.

Above `--whole` memories, what fills the store is joined with what it names, and not compared with all that is there:
each memory would be multiplied with every other, which is the square of the size. What is measured is.

Exit code 1 when a run was hollow: its file held something before, or nothing was found.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ask import FACT_STAGES, LINKING_STAGES, HollowError, embedders, open_memory
from metrics import SEED
from processes import memory_of
from report import circumstances, load, log_rows, percentiles, write_json
from scrubjay import Memory
from worlds import arrivals, asked, batches, vocabulary

USER = "reader"
NAMED = ("concepts", "links", "categories")
"""What joins memories without comparing each with all."""
BATCH = 5_000
SPARE = 2 * BATCH
"""Memories that a world has beyond the largest size, so that none is short of some to measure writing with."""
MEASURED = 1_000
"""Memories written with everything, to be measured, at each size."""
LIMIT = 6
FILTERS: tuple[dict[str, Any], ...] = ({}, {"tags": ["ops"]}, {}, {"since": "2024-06-01"})
FIGURES = (
    "search_p50",
    "search_p99",
    "first_search_ms",
    "private_mb",
    "five_private_mb",
    "disk_mb",
    "write_ms",
)
"""Figures that a slope is told of."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    sizes = [int(size) for size in args.sizes.split(",")]
    result: dict[str, Any] = {"what": "growth", **circumstances(), "sizes": []}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            if args.again:
                queries = asked(vocabulary(), args.questions, SEED + args.again, args.again + SPARE)
                result["sizes"] = [{"memories": args.again, **measured(args.store, queries, Path(folder))}]
                print(result["sizes"][0] | {"load": load()})
            else:
                grown(Path(folder), args.store or Path(folder) / "memory.db", sizes, args, result)
    except HollowError as error:
        print(f"growth: {error}", file=sys.stderr)
        return 1
    result["slopes"] = slopes(result["sizes"])
    print(f"slopes: {result['slopes']}")
    write_json(args.json, result)
    if args.log:
        told = "; ".join(map(str, result["sizes"]))
        log_rows([("growth of one store", f"{told}; slopes {result['slopes']}", "sync")])
    return 0


def grown(
    folder: Path, store: Path, sizes: Sequence[int], args: argparse.Namespace, result: dict[str, Any]
) -> None:
    """Fill a store to each size and measure it there."""
    words = vocabulary()
    arriving = batches(arrivals(words, max(sizes) + SPARE, SEED), BATCH)
    held = 0
    for size in sizes:
        begun, before = time.perf_counter(), held
        stages = (LINKING_STAGES, FACT_STAGES) if size <= args.whole else (NAMED, ())
        with open_memory(store, embedders()[:1], USER, (), *stages) as memory:
            if not held and memory.status().memories:
                raise HollowError(f"{store} holds something already.")
            while held < size - MEASURED:
                (batch,) = next(arriving).values()
                memory.add_many(batch)
                held += len(batch)
        filled = (time.perf_counter() - begun) / (held - before) * 1000 if held > before else 0.0
        (batch,) = next(arriving).values()
        with open_memory(store, embedders()[:1], USER) as memory:
            begun = time.perf_counter()
            memory.add_many(batch[:MEASURED])
            write = (time.perf_counter() - begun) / MEASURED * 1000
            memory.add_many(batch[MEASURED:])
        held += len(batch)
        found = measured(store, asked(words, args.questions, SEED + size, max(sizes) + SPARE), folder)
        found |= {
            "memories": held,
            "write_ms": round(write, 2),
            "filled_ms": round(filled, 2),
            "load": load(),
        }
        result["sizes"].append(found)
        print(found, flush=True)


def measured(store: Path, queries: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return what a store of one size costs."""
    with open_memory(store, embedders()[:1], USER) as memory:
        took, found = _searched(memory, queries)
        status = memory.status()
    if not found:
        raise HollowError(f"{store}: nothing was found.")
    quick = sorted(took)
    one = memory_of(store, USER, queries[:20], folder, processes=1, options="cold=True")
    five = memory_of(store, USER, queries[:20], folder, processes=5, options="cold=True")
    with open_memory(store, embedders()[:1], USER) as memory:
        begun = time.perf_counter()
        memory.search(queries[0], limit=LIMIT)
        first = (time.perf_counter() - begun) * 1000
    return {
        "search_p50": percentiles(took)["p50"],
        "search_p99": round(quick[int(0.99 * (len(quick) - 1))], 2),
        "first_search_ms": round(first, 1),
        "private_mb": one[0]["private"] if one else None,
        "five_private_mb": round(sum(each["private"] for each in five), 1) if five else None,
        "five_pss_mb": round(sum(each["pss"] for each in five), 1) if five else None,
        "disk_mb": round(disk(store) / 2**20, 1),
        "stored": status.memories,
    }


def slopes(sizes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the power of the size by which each figure grows, by least squares on the logarithms."""
    found = {}
    for name in FIGURES:
        points = [(math.log(one["memories"]), math.log(one[name])) for one in sizes if one.get(name)]
        if len(points) < 2:
            continue
        mean_x, mean_y = (math.fsum(values) / len(points) for values in zip(*points, strict=True))
        spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
        found[name] = round(math.fsum((x - mean_x) * (y - mean_y) for x, y in points) / spread, 2)
    return found


def _searched(memory: Memory, queries: Sequence[str]) -> tuple[list[float], int]:
    took, found = [], 0
    for number, query in enumerate(queries):
        begun = time.perf_counter()
        answer = memory.search(query, limit=LIMIT, **FILTERS[number % len(FILTERS)])
        took.append((time.perf_counter() - begun) * 1000)
        found += len(answer.results)
    return took, found


def disk(store: Path) -> int:
    """Return the bytes of a store's file and of all beside it."""
    return sum(
        file.stat().st_size
        for beside in store.parent.glob(f"{store.name}*")
        for file in (beside.rglob("*") if beside.is_dir() else [beside])
        if file.is_file()
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="10000,30000,100000,300000,1000000", help="memories, ascending")
    parser.add_argument("--whole", type=int, default=100_000, help="fill with everything up to this size")
    parser.add_argument("--again", type=int, help="measure a store that was filled to this size before")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--store", type=Path, help="a file that is kept; none, and it is removed")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="put the figures at the top of bench/LOG.md")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
