"""Viewer: how long each of its pages takes at a size, as a browser waits for it, without the network.

    python bench/viewer.py [--memories 10000,100000] [--rounds 20] [--stores FOLDER] [--json FILE] [--log]

Memories are the texts of `scales.py` with two of 80 names each, dates over twelve years, seven projects and forty tags;
a store takes minutes to write, so one in FOLDER is used again. Each page is asked for once and then ``--rounds`` times
through the application that `scrubjay serve` runs; ``first`` is the first time, with cold caches, the others are
percentiles.

Exit code 1 when a run was hollow: a page that failed, or shows no memory where it should.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from ask import HollowError, embedders, open_memory
from metrics import SEED
from report import circumstances, log_rows, percentiles, write_json
from scales import texts
from scrubjay.api.auth import TokenStore
from scrubjay.config.loader import load_settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.server.app import create_app
from scrubjay.server.auth import TokenlessAccess
from scrubjay.server.session import Session
from trees import generate, words_of

USER = "reader"
FIRST = ("Blue", "Iron", "North", "Quiet", "Old", "Green", "Silver", "Long")
LAST = ("Harbor", "Ledger", "Falcon", "Orchard", "Signal", "Beacon", "Canyon", "Meadow", "Anchor", "Lantern")
NAMES = [f"{first} {last}" for first in FIRST for last in LAST]
BATCH = 5_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", default="10000,100000")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--stores", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true")
    args = parser.parse_args(arguments)
    result: dict[str, Any] = {"what": "viewer", **circumstances(), "ms": {}}
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as scratch:
        folder = args.stores or Path(scratch)
        try:
            for count in map(int, args.memories.split(",")):
                store = folder / f"viewer-{count}.db"
                if not store.exists():
                    write(store, count, Path(scratch))
                result["ms"][str(count)] = asyncio.run(measure(store, args.rounds, Path(scratch)))
        except HollowError as error:
            print(f"viewer: {error}", file=sys.stderr)
            return 1
    for count, pages in result["ms"].items():
        for page, took in pages.items():
            print(f"{count:>8}  {page:<10}  {took}")
    write_json(args.json, result)
    if args.log:
        log_rows(
            [
                (f"viewer at {count} memories, ms: first, p50, p95", _row(pages), "sync")
                for count, pages in result["ms"].items()
            ]
        )
    return 0


def _row(pages: dict[str, dict[str, float]]) -> str:
    return ", ".join(
        f"{page} {took['first']:.0f} {took['p50']:.0f} {took['p95']:.0f}" for page, took in pages.items()
    )


def write(store: Path, count: int, scratch: Path) -> None:
    """Write a store of so many memories."""
    tree = scratch / "tree"
    tree.mkdir(exist_ok=True)
    words = words_of([generate(tree, SEED)])
    draw = random.Random(SEED)
    with open_memory(store, embedders()[:1], USER) as memory:
        batch: list[NewMemory] = []
        for number, text in enumerate(texts(words, count, SEED), 1):
            one, other = draw.sample(NAMES, 2)
            date = f"20{draw.randint(15, 26)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            told = f"{one} met {other}. {text}"
            batch.append(NewMemory(told, date=date, project=f"p{number % 7}", tags=[f"t{number % 40}"]))
            if len(batch) == BATCH or number == count:
                memory.add_many(batch)
                batch = []
        memory.concepts.add_many(NAMES)


LOCAL = TokenlessAccess(own=lambda _scope: True)
"""Asked without a socket, so nobody could tell whose it was."""


async def measure(store: Path, rounds: int, scratch: Path) -> dict[str, dict[str, float]]:
    """Return what each page takes.

    Raises:
        HollowError: A page failed, or shows no memory.
    """
    settings = replace(
        load_settings(environ={"SCRUBJAY_CONFIG": "", "HOME": str(scratch)}), store=str(store), user=USER
    )
    with Session(settings) as session:
        app = create_app(session, TokenStore(scratch / "tokens.json"), tokenless=LOCAL)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8765", timeout=600
        ) as client:
            home = await client.get("/")
            memory = re.search(r"/memories/(\w+)", home.text)
            concepts = await client.get("/concepts")
            concept = re.search(r"/concepts/(con_\w+)", concepts.text)
            if memory is None or concept is None:
                raise HollowError("No memory or no concept is shown.")
    pages = {
        "first": "/",
        "search": f"/?query={NAMES[0].replace(' ', '+')}",
        "timeline": "/timeline",
        "page 50": "/timeline?page=50",
        "memory": f"/memories/{memory[1]}",
        "concepts": "/concepts",
        "concept": f"/concepts/{concept[1]}",
        "picture": "/concepts/web.json?size=2000",
        "categories": "/categories",
        "status": "/status",
    }
    return {name: await _timed(settings, path, rounds, scratch) for name, path in pages.items()}


async def _timed(settings: Any, path: str, rounds: int, scratch: Path) -> dict[str, float]:
    """Return the time of a first asking, with the store just opened, and of those after it."""
    took = []
    with Session(settings) as session:
        app = create_app(session, TokenStore(scratch / "tokens.json"), tokenless=LOCAL)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8765", timeout=600
        ) as client:
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                said = await client.get(path)
                took.append((time.perf_counter() - begun) * 1000)
                if said.status_code != 200:
                    raise HollowError(f"{path}: {said.status_code} {said.text[:200]}")
    return {"first": round(took[0], 1), **percentiles(took[1:])}


if __name__ == "__main__":
    sys.exit(main())
