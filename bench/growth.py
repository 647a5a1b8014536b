"""What a store costs as it grows: writes, searches cold and warm, memory, disk, and the slope of each.

One store is filled to each size in turn with made-up conversations, notes and facts (`texts.arrivals`) and measured
there: writing a thousand memories, with all that connects and learns; searches, warm, half of them with a filter; the
first search of a new process; the memory of one and of five processes that searched; the disk. A slope is the power of
the size by which a figure grows, fitted over all sizes: 0 is constant, 1 linear.

Above `--whole` memories, filling connects a memory with the concepts it names and does not compare it with all others,
which takes the square of the size. The thousand memories that are measured are compared.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row
from bench.harness import embedders, open_memory, scratch
from bench.metrics import SEED
from bench.processes import memory_of
from bench.report import load, percentiles
from bench.texts import BATCH, USER, arrivals, asked, batches, vocabulary
from scrubjay import Memory
from scrubjay.config.settings import FACT_STAGES, LINKING_STAGES

NAMED = ("concepts", "links", "categories")
"""Stages that connect memories without comparing each with all."""
SPARE = 2 * BATCH
"""Memories made beyond the largest size, so that enough are left to measure writing."""
MEASURED = 1_000
"""Memories whose writing is measured at each size."""
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


def run(args: argparse.Namespace) -> dict[str, Any]:
    sizes = [int(size) for size in args.sizes.split(",")]
    result: dict[str, Any] = {"sizes": []}
    with scratch() as folder:
        for found in grown(folder, sizes, args):
            result["sizes"].append(found)
            print(found, flush=True)
    result["slopes"] = slopes(result["sizes"])
    print(f"slopes: {result['slopes']}")
    return result


def grown(folder: Path, sizes: Sequence[int], args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    store, words = folder / "memory.db", vocabulary()
    arriving = batches(arrivals(words, max(sizes) + SPARE, SEED), BATCH)
    stored = 0
    for size in sizes:
        begun, before = time.perf_counter(), stored
        stages = (LINKING_STAGES, FACT_STAGES) if size <= args.whole else (NAMED, ())
        with open_memory(store, embedders()[:1], USER, (), *stages) as memory:
            while stored < size - MEASURED:
                (batch,) = next(arriving).values()
                memory.add_many(batch)
                stored += len(batch)
        filled = (time.perf_counter() - begun) / (stored - before) * 1000 if stored > before else 0.0
        (batch,) = next(arriving).values()
        with open_memory(store, embedders()[:1], USER) as memory:
            begun = time.perf_counter()
            memory.add_many(batch[:MEASURED])
            write = (time.perf_counter() - begun) / MEASURED * 1000
            memory.add_many(batch[MEASURED:])
        stored += len(batch)
        found = measured(store, asked(words, args.questions, SEED + size, max(sizes) + SPARE), folder)
        costs = {"write_ms": round(write, 2), "filled_ms": round(filled, 2), "load": load()}
        yield found | {"memories": stored} | costs


def measured(store: Path, queries: Sequence[str], folder: Path) -> dict[str, Any]:
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
    return sum(
        file.stat().st_size
        for beside in store.parent.glob(f"{store.name}*")
        for file in (beside.rglob("*") if beside.is_dir() else [beside])
        if file.is_file()
    )


def _rows(result: Mapping[str, Any]) -> list[Row]:
    sizes = "; ".join(map(str, result["sizes"]))
    return [("growth of one store", f"{sizes}; slopes {result['slopes']}", "sync")]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", default="10000,30000,100000,300000,1000000", help="memories, ascending")
    parser.add_argument("--whole", type=int, default=100_000, help="fill with everything up to this size")
    parser.add_argument("--questions", type=int, default=300)


GROWTH = Command(__doc__, run, _options, _rows)
