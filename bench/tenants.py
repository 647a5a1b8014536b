"""Tenants: one file with very many unequal tenants -> what it costs to write, and to search those of each size.

    python bench/tenants.py [--tenants 10000] [--memories 300000] [--questions 200] [--store FILE] [--json FILE] [--log]

By Zipf's law the first tenant has most, the tail a handful; what they say arrives interleaved, a conversation at a
time, each in a transaction of its own (`worlds`); whoever has said nothing in the end says one conversation. It is
joined with what it names. Then each of three sorts of tenants is asked: the largest, some of the middle, some of the
tail, each question in turn of another one: the first of a tenant in this process (``cold``, but for the model) and one
more (``warm``). No answer may hold another tenant's memory: each text names its tenant.

Exit code 1 when something of another tenant was found, or the run was hollow: most questions found nothing.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ask import HollowError, embedders, open_memory
from growth import LIMIT, NAMED, USER, disk
from metrics import SEED
from report import circumstances, load, log_rows, percentiles, write_json
from scrubjay import Memory
from worlds import arrivals, asked, vocabulary

SORTS = {"largest": (0, 5), "middle": (100, 1_000), "tail": (1_000, 1_000_000)}
"""Ranks of tenants, from the largest."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "tenants", **circumstances()}
    result |= {"tenants": args.tenants, "memories": args.memories}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            measure(args.store or Path(folder) / "tenants.db", args, result)
    except HollowError as error:
        print(f"tenants: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        figures = {name: result[name] for name in ("held", "write", "disk_kb_each", *SORTS)}
        log_rows([(f"one file, {args.tenants} tenants, {args.memories} memories, ms", str(figures), "sync")])
    return 0


def measure(store: Path, args: argparse.Namespace, result: dict[str, Any]) -> None:
    """Fill and ask; each figure is printed and put into the result as soon as it is there."""

    def tell(name: str, found: Any) -> None:
        result[name] = found
        print(f"{name}: {found}", flush=True)

    words = vocabulary()
    with open_memory(store, embedders()[:1], USER, (), NAMED, ()) as memory:
        held = fill(memory, words, args, tell)
    tell("disk_kb_each", round(disk(store) / sum(held.values()) / 1024, 2))
    by_size = [tenant for tenant, _ in sorted(held.items(), key=lambda pair: (-pair[1], pair[0]))]
    queries = asked(words, args.questions, SEED + 7, args.memories)
    with open_memory(store, embedders()[:1], USER) as memory:
        memory.search(queries[0], limit=LIMIT)  # the model is loaded
        for name, (first, last) in SORTS.items():
            if by_size[first:last]:
                tell(name, {**searched(memory, by_size[first:last], held, queries), "load": load()})


def fill(memory: Memory, words: Sequence[str], args: argparse.Namespace, tell: Any) -> Counter[int]:
    """Write what arrives; return how many memories each tenant has."""
    held: Counter[int] = Counter()
    took: list[float] = []
    seats: dict[int, Memory] = {}
    arrived = arrivals(words, args.memories, SEED, tenants=args.tenants)
    late = arrivals(
        words, 100 * args.tenants, SEED + 1
    )  # one conversation for each who has said nothing so far
    silent = ((tenant, next(late)[1]) for tenant in range(args.tenants) if tenant not in held)
    for tenant, batch in itertools.chain(arrived, silent):
        if tenant not in seats:
            seats[tenant] = memory.seen_by(USER, tenant=f"t{tenant}")
        new = [replace(each, content=f"{each.content} (of t{tenant}.)") for each in batch]
        begun = time.perf_counter()
        seats[tenant].add_many(new)
        took.append((time.perf_counter() - begun) * 1000)
        held[tenant] += len(new)
    sizes = sorted(held.values(), reverse=True)
    tell(
        "held",
        {"tenants": len(held), "largest": sizes[0], "median": sizes[len(sizes) // 2], "least": sizes[-1]},
    )
    # What a write costs early and late tells whether the number of tenants counts.
    tenth = max(1, len(took) // 10)
    tell("write", {"first_tenth": percentiles(took[:tenth]), "last_tenth": percentiles(took[-tenth:])})
    return held


def searched(
    memory: Memory, tenants: Sequence[int], held: Counter[int], queries: Sequence[str]
) -> dict[str, Any]:
    """Ask tenants in turn, each twice.

    Raises:
        HollowError: Something of another tenant was found, or next to nothing.
    """
    rng = random.Random(SEED)
    took: dict[str, list[float]] = {"cold": [], "warm": []}
    fresh = rng.sample(list(tenants), min(len(tenants), len(queries)))
    sizes, found = [], 0
    for number, query in enumerate(queries):
        tenant = fresh[number % len(fresh)]
        seat = memory.seen_by(USER, tenant=f"t{tenant}")
        sizes.append(held[tenant])
        for name, said in (("cold", query), ("warm", queries[number - 1])):
            begun = time.perf_counter()
            answer = seat.search(said, limit=LIMIT, min_relevance=0)
            if name == "warm" or number < len(fresh):
                took[name].append((time.perf_counter() - begun) * 1000)
            found += bool(answer.results)
            whole = seat.get([one.id for one in answer.results]).records
            if any(f"(of t{tenant}.)" not in one.content for one in whole):
                raise HollowError(f"tenant t{tenant} was answered with another's memory to {query!r}")
    if found < len(queries):
        raise HollowError("most questions found nothing.")
    return {
        "memories": sorted(sizes)[len(sizes) // 2],
        **{name: percentiles(each) for name, each in took.items()},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tenants", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=300_000, help="of all tenants together")
    parser.add_argument("--questions", type=int, default=200, help="to each sort of tenants")
    parser.add_argument("--store", type=Path, help="a file that is kept; none, and it is removed")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="put the figures at the top of bench/LOG.md")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
