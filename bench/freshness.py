"""What it costs a search to find out whether files changed, by the number of files.

One folder of made-up notes of a line each is synced with a stand-in for the model. Figures are processor time of the
check alone, as a search makes it: of a command, which asks each file for its time, and of a process that stays. The
system's own part, listing the folders and asking each file, is measured beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row
from bench.harness import scratch
from scrubjay import Memory
from scrubjay.config.settings import Settings
from scrubjay.embeddings.hash_embedder import HashEmbedder
from scrubjay.gc_tuning import raise_gc_threshold
from scrubjay.services.search import find_changed_files

FOLDER_FILES = 20
"""Notes of one folder, about those of a documentation."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    raise_gc_threshold()  # as the command does
    with scratch() as scratched:
        root, store = scratched / "notes", scratched / "memory.db"
        for number in range(args.files):
            folder = root / f"part{number // FOLDER_FILES}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.md").write_text(f"Note {number} is about the number {number * 7}.\n")
        with _opened(store) as memory:
            memory.sync(root)
        result = {
            "files": args.files,
            "command_ms": _typical(lambda: _first_check(store), args.runs),
            "system_ms": _typical(lambda: _timed(lambda: _ask_each(root)), args.runs),
        }
        with _opened(store) as memory:
            for _ in range(2):  # listed, then listed and watched
                _check(memory)
            result["kept_ms"] = _typical(lambda: _check(memory), args.runs)
    print(result)
    return result


def _opened(store: Path) -> Memory:
    # A busy machine must not cut the check off.
    settings = replace(Settings(), sync=replace(Settings().sync, look_seconds=60.0))
    return Memory.open(store, user="reader", settings=settings, embedders=[HashEmbedder(64)])


def _first_check(store: Path) -> float:
    with _opened(store) as memory:
        return _check(memory)


def _check(memory: Memory) -> float:
    workspace = memory.workspace
    with workspace.store.reader(workspace.scope) as reader:
        begun = time.process_time()
        found = find_changed_files(workspace, reader)
        took = (time.process_time() - begun) * 1000
    if found.partial or found.changed:
        raise HollowError(f"the check found {found}, and nothing had changed")
    return took


def _ask_each(root: Path) -> None:
    for folder, _, names in os.walk(root):
        for name in names:
            os.stat(f"{folder}/{name}")


def _timed(call: Callable[[], None]) -> float:
    begun = time.process_time()
    call()
    return (time.process_time() - begun) * 1000


def _typical(measure: Callable[[], float], runs: int) -> dict[str, float]:
    took = [measure() for _ in range(runs)]
    return {"min": round(min(took), 3), "median": round(statistics.median(took), 3)}


def _rows(result: Mapping[str, Any]) -> list[Row]:
    figures = "; ".join(
        f"{name} {result[f'{key}_ms']['min']} (median {result[f'{key}_ms']['median']})"
        for name, key in (
            ("a new process", "command"),
            ("one that stays", "kept"),
            ("the system's part", "system"),
        )
    )
    return [
        (f"check of {result['files']:,} files for changes, processor ms, least of the runs", figures, "sync")
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=15)


FRESHNESS = Command(__doc__, run, _options, _rows)
