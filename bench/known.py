"""Known: headings asked of their own trees -> ranks, warm and cold times, memory, disk."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, embed, embedders, open_memory
from baselines.fts5 import fts5_of
from metrics import figure
from processes import cold, command, memory_of, stages, timed
from report import load, percentiles, shown
from scales import USER
from scrubjay import Memory
from scrubjay.embeddings.base import Embedder
from trees import KnownItem, Tree, known_items

TOP = 5


def measure_known(trees: Sequence[Tree], place: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Known-item search over all trees in one store: ranks, warm times, cold times, memory, disk.

    Raises:
        HollowError: The trees have no headings, or no item was found.
    """
    items = known_items(trees, args.items, args.seed)
    if not items:
        raise HollowError("The trees hold no heading to ask for.")
    home = place / "home"
    home.mkdir()
    store, models = place / "known.db", embedders()
    result: dict[str, Any] = {"items": len(items)}
    queries = [item.query for item in items]
    with open_memory(store, models, USER) as memory:
        for _, folder in trees:
            memory.sync(folder)
    with open_memory(store, models, USER) as memory:
        result["after_sync"] = _ranks(memory, items, trees)
        status = memory.status()
        text = sum(file.stat().st_size for _, folder in trees for file in folder.rglob("*.md"))
        vectors = status.memories * (models[0].model.dimensions + 4)
        result["bytes"] = {
            "store": status.bytes,
            "text": text,
            "vectors": vectors,
            "memories": status.memories,
        }
        result["overhead_per_memory"] = round((status.bytes - text - vectors) / status.memories)
    search = [*command(), "search", queries[0], "--json", "--store", str(store), "--user", USER]
    timed(search, home)
    result["cold_search_seconds"] = cold(search, home, args.runs)
    result["cold_stages_seconds"] = stages(store, USER, queries[0], home, args.runs)
    for processes in (1, 5):
        own = memory_of(store, USER, queries[:20], home, processes=processes, options="cold=True")
        result[f"memory_mb_{processes}"] = own
    if args.embed:
        seconds = {"embed": 0.0}
        with open_memory(store, models, USER) as memory:
            embed(memory, seconds)
            result["after_embed"] = _ranks(memory, items, trees) | {
                "backfill_seconds": round(seconds["embed"], 1)
            }
        result["query_embedding_ms"] = _query_times(models[1], queries)
    base = fts5_of(place / "known.fts5", trees)
    result["fts5"] = _scored(items, lambda query: list(base.search(query, TOP)))
    base.close()
    return result | {"load": load()}


def _ranks(memory: Memory, items: Sequence[KnownItem], trees: Sequence[Tree]) -> dict[str, Any]:
    def search(query: str) -> list[str]:
        return [_named(result.path, trees) for result in memory.search(query, limit=TOP).results]

    search(items[0].query)
    return _scored(items, search)


def _scored(items: Sequence[KnownItem], search: Callable[[str], list[str]]) -> dict[str, Any]:
    first, top, took = [], [], []
    for item in items:
        begun = time.perf_counter()
        found = search(item.query)
        took.append((time.perf_counter() - begun) * 1000)
        first.append(float(found[:1] == [item.path]))
        top.append(float(item.path in found))
    if not any(top):
        raise HollowError(f"None of {len(items)} known items was found.")
    return {"hit@1": shown(figure(first)), "hit@5": shown(figure(top)), "search_ms": percentiles(took)}


def _named(path: str | None, trees: Sequence[Tree]) -> str:
    for name, folder in trees:
        if path and Path(path).is_relative_to(folder.resolve()):
            return f"{name}/{Path(path).relative_to(folder.resolve()).as_posix()}"
    return ""


def _query_times(model: Embedder, queries: Sequence[str]) -> dict[str, float]:
    """Milliseconds that a larger model takes for a question alone."""
    model.embed([queries[0]], kind="query")
    took = []
    for query in queries[:100]:
        begun = time.perf_counter()
        model.embed([query], kind="query")
        took.append((time.perf_counter() - begun) * 1000)
    return percentiles(took)
