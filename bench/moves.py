"""Moves: how long export, import and backup of a store of made-up memories take, and how much memory.

python bench/moves.py --memories 100000

Each step runs in a process of its own, so that its peak is its own. Nothing is downloaded; the base model is the
bundled static one.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from scrubjay import Memory, NewMemory
from scrubjay.config.loader import load_settings

WORDS = [f"word{number}" for number in range(4_000)]


def made(count: int) -> Iterator[NewMemory]:
    """Memories of 60 words, every tenth with a tag and a session."""
    chance = random.Random(5)
    for number in range(count):
        text = " ".join(chance.choices(WORDS, k=60))
        session = f"s{number // 20}" if number % 10 == 0 else None
        yield NewMemory(text, title=f"Note {number}", tags=["a"] if session else (), session=session)


def opened(store: str) -> Memory:
    environ = {"SCRUBJAY_CONFIG": "", "XDG_CONFIG_HOME": "/nonexistent", "SCRUBJAY_USER": "bench"}
    return Memory.open(store, settings=load_settings(environ=environ), cold=True)


def step(name: str, store: str, file: str, count: int) -> None:
    """Run one step and print what it took."""
    with opened(store) as memory:
        started = time.perf_counter()
        if name == "fill":
            batch = []
            for one in made(count):
                batch.append(one)
                if len(batch) == 5_000:
                    memory.add_many(batch)
                    batch = []
            memory.add_many(batch)
        elif name == "export":
            memory.export(file, overwrite=True)
        elif name == "backup":
            memory.backup(file + ".db", overwrite=True)
        else:
            assert memory.import_(file, dry_run=name == "dry run").format in ("scrubjay", "jsonl")
        seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    print(json.dumps({"seconds": round(seconds, 1), "peak_mb": round(peak)}))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=20_000)
    arguments.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.step:
        step(*given.step, given.memories)
        return
    with tempfile.TemporaryDirectory() as folder:
        first, second, third = (str(Path(folder) / f"{name}.db") for name in ("first", "second", "third"))
        file, lines = str(Path(folder) / "x.jsonl"), str(Path(folder) / "lines.jsonl")
        with Path(lines).open("w", encoding="utf-8") as stream:
            for one in made(given.memories):
                stream.write(json.dumps({"content": one.content, "title": one.title}) + "\n")
        for name, store, path in (
            ("fill", first, file),
            ("export", first, file),
            ("backup", first, file),
            ("dry run", second, file),
            ("import", second, file),
            ("import again", second, file),
            ("lines", third, lines),
        ):
            command = [
                sys.executable,
                __file__,
                "--memories",
                str(given.memories),
                "--step",
                name,
                store,
                path,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            size = Path(path).stat().st_size if Path(path).exists() else 0
            print(f"{name:14} {done.stdout.strip()}  file {size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
