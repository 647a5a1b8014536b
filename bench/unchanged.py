"""Unchanged: what a sync of a folder costs in which nothing, or little, has changed.

    python bench/unchanged.py [--files 10000] [--runs 5] [--json FILE] [--log]

A folder of short notes is synced once, then again: without a change, with one file changed, and after all files were
touched without another byte. In one process, and by the command, which is a new process each time.

Exit code 1 when the run was hollow: files that are not there, or a change that was not seen.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from ask import HollowError, embedders, open_memory
from metrics import SEED
from processes import command, timed
from report import circumstances, load, log_rows, spread, write_json
from scrubjay import Memory
from worlds import Tongue, vocabulary

USER: Final = "reader"
FOLDERS: Final = 97
WORDS: Final = 60


def written(folder: Path, files: int) -> list[Path]:
    """Write so many short notes in some folders; return them."""
    rng, tongue = random.Random(SEED), Tongue(vocabulary(), files)
    paths = []
    for number in range(files):
        path = folder / f"part{number % FOLDERS}" / f"note{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"# Note {number}\n\n{' '.join(tongue.text(rng, WORDS, tongue.topic(rng)))}.\n", "utf-8"
        )
        paths.append(path)
    return paths


def measure(place: Path, files: int, runs: int) -> dict[str, Any]:
    """Return the seconds of each kind of sync."""
    folder = place / "notes"
    paths = written(folder, files)

    def touch() -> None:
        for path in paths:
            os.utime(path)

    def change() -> None:
        paths[files // 2].write_text(f"# Note\n\nWritten at {time.time_ns()}.\n", "utf-8")

    with open_memory(place / "memory.db", embedders()[:1], USER) as memory:
        begun = time.perf_counter()
        first = memory.sync(folder)
        result: dict[str, Any] = {"files": first.files, "first": round(time.perf_counter() - begun, 1)}
        if first.files != files:
            raise HollowError(f"{first.files} of {files} files were synced.")
        result["unchanged"] = spread(_again(memory, folder, runs, lambda: None, 0))
        home = place / "home"
        home.mkdir()
        sync = [
            *command(),
            "sync",
            str(folder),
            "--json",
            "--store",
            str(place / "memory.db"),
            "--user",
            USER,
        ]
        cold = [timed(sync, home)[0] for _ in range(runs + 1)][1:]  # the first only warms the caches
        result["by command, unchanged"] = spread(cold)
        result["one changed"] = spread(_again(memory, folder, runs, change, 1))
        # Last, for a file that was written in the last seconds is read again by the next sync, whatever its time says.
        result["touched"] = spread(_again(memory, folder, runs, touch, 0))
    return result | {"load": load()}


def _again(memory: Memory, folder: Path, runs: int, prepare: Callable[[], None], written: int) -> list[float]:
    took = []
    for _ in range(runs):
        prepare()
        begun = time.perf_counter()
        done = memory.sync(folder)
        took.append(time.perf_counter() - begun)
        if done.added + done.updated != written:
            raise HollowError(f"A sync wrote {done.added + done.updated} passages instead of {written}.")
    return took


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="put the figures at the top of bench/LOG.md")
    args = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            found = measure(Path(folder), args.files, args.runs)
    except HollowError as error:
        print(f"unchanged: {error}", file=sys.stderr)
        return 1
    print(found)
    write_json(args.json, {"what": "unchanged", **circumstances(), **found})
    if args.log:
        log_rows([(f"sync of {args.files:,} files, s", str(found), "sync")])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
