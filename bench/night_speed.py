"""Night, speed: how long a consolidation takes, and a second one that finds nothing to do.

    python bench/night_speed.py [--sizes 50,10000] [--seed N] [--json FILE] [--log]

Made-up conversations of ten turns, each of about 125 tokens over a vocabulary of 20,000 words by Zipf's law, all of
them old. Times are wall and processor seconds; memory is the process's peak so far, so sizes run from small to large.

Exit code 1 when nothing was consolidated.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import ask
from report import circumstances, log_rows, write_json
from scrubjay.models.lifecycle import NewMemory

BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TURNS, WORDS, VOCABULARY = 10, 90, 20_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="50,10000")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--log", action="store_true")
    args = parser.parse_args(arguments)
    found = [measured(int(size), args.seed) for size in args.sizes.split(",")]
    if not all(row["digests"] for row in found):
        print("night_speed: nothing was consolidated", file=sys.stderr)
        return 1
    for row in found:
        print(shown(row))
    write_json(args.json, {"what": "night_speed", **circumstances(), "rows": found})
    if args.log:
        log_rows([("consolidating made-up conversations", "; ".join(map(shown, found)), "sync")])
    return 0


def measured(size: int, seed: int) -> dict[str, Any]:
    """Write, consolidate and consolidate again."""
    with (
        tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place,
        ask.open_memory(Path(place) / "memory.db", [ask.embedders()[0]], connect=("concepts",)) as memory,
    ):
        memory.add_many(turns(size, random.Random(seed)))
        wall, processor = time.perf_counter(), time.process_time()
        done = memory.consolidate(now=NOW)
        took = time.perf_counter() - wall, time.process_time() - processor
        wall, processor = time.perf_counter(), time.process_time()
        again = memory.consolidate(now=NOW)
        return {
            "observations": size,
            "digests": len(done.made),
            "archived": done.archived,
            "seconds": took[0],
            "cpu": took[1],
            "again": time.perf_counter() - wall,
            "again_cpu": time.process_time() - processor,
            "changed_again": len(again.made) + again.archived,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def turns(size: int, draw: random.Random) -> Iterator[NewMemory]:
    """Yield turns of a person and a model, ten to a conversation."""
    words = [
        f"{a}{b}{c}"
        for a in "bdfgklmnprst"
        for b in ("a", "e", "io", "u")
        for c in ("lo", "ner", "sk", "tra", "v")
    ]
    table = [f"{one}{other}" for one in words for other in words][:VOCABULARY]
    weights = [1 / (rank + 10) for rank in range(len(table))]
    for number in range(size):
        session, turn = divmod(number, TURNS)
        text = " ".join(draw.choices(table, weights, k=WORDS))
        sentences = ". ".join(text[at : at + 90].strip().capitalize() for at in range(0, len(text), 90))
        yield NewMemory(
            f"{sentences}.",
            session=f"s{session}",
            role="assistant" if turn % 2 else "user",
            origin="agent" if turn % 2 else "owner",
            turn=turn,
            date=BEGAN + timedelta(minutes=60 * session + turn),
        )


def shown(row: dict[str, Any]) -> str:
    """One line of a size."""
    return (
        f"{row['observations']:,} observations: {row['digests']:,} digests in {row['seconds']:.1f} s "
        f"({row['cpu']:.1f} CPU), "
        f"a second night {row['again']:.1f} s ({row['again_cpu']:.1f}) changed {row['changed_again']}, "
        f"peak {row['peak_mb']:.0f} MB"
    )


if __name__ == "__main__":
    sys.exit(main())
