"""Tiers: what one pool of all tiers costs a search, and what a hub costs the graph.

    python bench/tiers.py [--memories 1000] [--questions 200] [--hub 0] [--json FILE] [--log]

One store of made-up memories, a seventh of each tier, is asked every question in turn by the whole read path and by one
without the stage ``tiers``: the ratio of two times that were taken side by side means the same on a busy machine. A
second store holds as many memories, all observations: what tiers cost where there is one. With ``--hub N`` a store of N
memories that all refer to one concept is asked with and without the channel ``graph``, and for threads.

Exit code 1 when the run was hollow: a search that found nothing, a tier that never answered.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ask import HollowError, embedders, open_memory
from metrics import SEED
from report import circumstances, log_rows, percentiles, write_json
from scales import questions, texts
from scrubjay import Memory
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.records import TIERS
from scrubjay.search.request import CHANNELS, STAGES
from trees import generate, words_of

WITHOUT = {"stages": tuple(stage for stage in STAGES if stage != "tiers")}
NO_GRAPH = {"channels": tuple(channel for channel in CHANNELS if channel != "graph")}
HUB = "Harbour Master"
BATCH = 5_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "tiers", **circumstances()}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as name:
            folder = Path(name)
            (folder / "tree").mkdir()
            words = words_of([generate(folder / "tree", SEED)])
            asked = questions(words, args.questions, SEED)
            if args.memories:
                result["pool"] = pool(folder, list(texts(words, args.memories, SEED)), asked)
                print(f"pool of {args.memories}: {result['pool']}", flush=True)
            if args.hub:
                result["hub"] = hub(folder, list(texts(words, args.hub, SEED)), asked)
                print(f"hub of {args.hub}: {result['hub']}")
    except HollowError as error:
        print(f"tiers: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        what = {
            "pool": f"all tiers in one pool, {args.memories} memories",
            "hub": f"a hub of {args.hub} references",
        }
        log_rows(
            (what[part], ", ".join(f"{key} {value}" for key, value in result[part].items()), "sync")
            for part in ("pool", "hub")
            if part in result
        )
    return 0


def pool(folder: Path, made: Sequence[str], asked: Sequence[str]) -> dict[str, Any]:
    """Return milliseconds and ratios of a search with and without what tiers add.

    Raises:
        HollowError: A tier never answered.
    """
    found: dict[str, Any] = {}
    for kind in ("mixed", "observations"):
        with open_memory(folder / f"{kind}.db", embedders()[:1], connect=(), learn=()) as memory:
            tiers = TIERS if kind == "mixed" else ("observation",)
            memory.add_many(
                NewMemory(text, tier=tiers[place % len(tiers)], confidence=0.2 + 0.8 * (place % 9) / 8)
                for place, text in enumerate(made)
            )
            ways: dict[str, Mapping[str, Any]] = {"with": {}, "without": WITHOUT}
            took, answered = turns(memory, asked, ways)
            if not answered >= set(tiers):
                raise HollowError(f"Never answered: {', '.join(sorted(set(tiers) - answered))}.")
            found[f"{kind} ms"] = {way: round(median(took[way]), 3) for way in ways}
            found[f"{kind} ratio"] = ratio(took["with"], took["without"])
    return found


def hub(folder: Path, made: Sequence[str], asked: Sequence[str]) -> dict[str, Any]:
    """Return milliseconds of searches and threads where every memory refers to one concept.

    Raises:
        HollowError: The concept is no hub.
    """
    with open_memory(folder / "hub.db", embedders()[:1], learn=()) as memory:
        for first in range(0, len(made), BATCH):
            memory.add_many(NewMemory(f"{text} {HUB}.") for text in made[first : first + BATCH])
        memory.concepts.add(HUB)
        held = memory.concepts.show(HUB).concept.memories
        if held < len(made):
            raise HollowError(f"Of {len(made)} memories {held} refer to the concept.")
        took, _ = turns(memory, asked, {"with": {}, "without": NO_GRAPH})
        threads = []
        for query in asked[:20]:
            begun = time.perf_counter()
            memory.thread(query)
            threads.append((time.perf_counter() - begun) * 1000)
    return {
        "references": held,
        **{f"search ms {way} graph": percentiles(times) for way, times in took.items()},
        "ratio": ratio(took["with"], took["without"]),
        "thread ms": percentiles(threads),
    }


def turns(
    memory: Memory, asked: Sequence[str], ways: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, list[float]], set[str]]:
    """Ask every question every way, in turn; return milliseconds by way and the tiers that answered.

    Raises:
        HollowError: A search found nothing.
    """
    took: dict[str, list[float]] = {way: [] for way in ways}
    tiers: set[str] = set()
    for options in ways.values():  # what is read for the first time is nobody's cost
        memory.search(asked[0], **options)
    for place, query in enumerate(asked):
        order = list(ways) if place % 2 else list(reversed(ways))
        for way in order:
            begun = time.perf_counter()
            results = memory.search(query, limit=10, **ways[way]).results
            took[way].append((time.perf_counter() - begun) * 1000)
            if not results:
                raise HollowError(f"Nothing was found for {query!r} ({way}).")
            tiers |= {result.tier for result in results}
    return took, tiers


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """Return the median of the ratios of times that were taken one after the other."""
    return round(median(a / b for a, b in zip(these, those, strict=True)), 4)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Cost of one pool of all tiers, and of a hub.")
    parser.add_argument("--memories", type=int, default=1_000, help="of the pool; 0 for none")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--hub", type=int, default=0, help="references of the hub; 0 for none")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
