"""Router: the three-way, four-way and multi-hop tests of vLLM semantic-router's hierarchical memory, with this engine.

    python bench/router.py --data DIR/semantic_router [--state sync|embed] [--cache FILE] [--json FILE] [--log]

Three ways (flat, tree, tree and hybrid) over its two sets, with a sweep of alpha, threshold and weights. Hits are
counted among five results out of all that are relevant, however many were returned; its own precision divides by
what was returned, so that returning less looks better. Links are counted with all-MiniLM-L6-v2 alone, as there.

Exit code 1 when a run was hollow.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, Options, embed, embedders, open_memory, run_set
from data import DataError, load
from metrics import SEED, difference, figure
from report import circumstances, log_rows, shown, write_json
from scrubjay import Memory
from scrubjay.config.settings import LINKING_STAGES
from scrubjay.embeddings.base import Embedder

SETS = ("eval30", "source117")
MINILM = "all-MiniLM-L6-v2"
FLAT = "flat"
WEIGHTS = (
    (1.0, 0.0, 0.0), (0.8, 0.1, 0.1), (0.7, 0.2, 0.1), (0.6, 0.3, 0.1), (0.5, 0.3, 0.2), (0.5, 0.5, 0.0),
    (0.4, 0.4, 0.2),
)  # fmt: skip
"""Of cosine, BM25 and trigrams: those that its own sweep tries."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "router", "state": args.state, **circumstances()}
    rows: list[tuple[str, str, str]] = []
    try:
        models = embedders(args.cache)
        for name in SETS:
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place:
                result[name] = three_way(args.data / name, Path(place) / "memory.db", args.state, models)
            for way, got in result[name].items():
                print(f"{name}  {way}: {got}", flush=True)
            rows += [(f"router {name}", "; ".join(f"{w}: {g}" for w, g in result[name].items()), args.state)]
        if args.state == "embed":
            result["links"] = links(args.data / "facts", models)
            for way, told in result["links"].items():
                print(f"links  {way}: {told}")
            rows += [("router links", "; ".join(f"{w}: {t}" for w, t in result["links"].items()), "embed")]
    except (DataError, HollowError) as error:
        print(f"router: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(rows)
    return 0


def ways(state: str) -> dict[str, Options]:
    """Search options by name; the first is what the others are held against.

    >>> list(ways("sync"))[:3]
    ['flat', 'tree', 'tree, alpha 0.8']
    """
    names = (MINILM,) if state == "embed" else None
    cosine: Options = {"fusion": "raw", "weights": {"vector": 1.0}, "models": names}
    hybrid: Options = {"preset": "router", "models": names}
    found: dict[str, Options] = {FLAT: {}, "tree": {"hierarchy": True}}
    found |= {f"tree, alpha {alpha}": {"hierarchy": True, "alpha": alpha} for alpha in (0.8, 0.3)}
    found |= {"links 1": {"links": 1}, "cosine": cosine, "hybrid": hybrid}
    for threshold in (0.0, 0.2, 0.3, 0.4):
        at: Options = {"threshold": threshold, "hierarchy": True}
        found[f"cosine tree at {threshold}"] = {**cosine, **at}
        found[f"hybrid tree at {threshold}"] = {**hybrid, **at}
    for alpha in (1.0, 0.7, 0.6, 0.3):
        found[f"cosine tree at 0.3, alpha {alpha}"] = {
            **cosine, "hierarchy": True, "threshold": 0.3, "alpha": alpha,
        }  # fmt: skip
    found["cosine at 0.3"] = {**cosine, "threshold": 0.3}
    for by_vector, by_words, by_letters in WEIGHTS:
        weights = {"vector": by_vector, "bm25": by_words, "ngram": by_letters}
        found[f"raw {by_vector}/{by_words}/{by_letters}"] = {
            "fusion": "raw",
            "weights": weights,
            "models": names,
        }
    return found


def three_way(folder: Path, store: Path, state: str, models: Sequence[Embedder]) -> dict[str, str]:
    """Return each way's hits among five, its recall, and how it differs from flat."""
    data = load(folder.name, folder)
    wanted = ways(state)
    run = run_set(
        data, data.asked(), store, state=state, configurations=wanted, models=models, connect=LINKING_STAGES
    )
    relevant = data.tasks[0].relevant
    shares: dict[str, list[float]] = {}
    told = {}
    for name in wanted:
        hits = {query: len(set(run.documents[name][query][:5]) & set(relevant[query])) for query in relevant}
        shares[name] = [hits[query] / len(relevant[query]) for query in relevant]
        change = difference(shares[name], shares[FLAT], SEED)
        total = sum(len(one) for one in relevant.values())
        told[name] = f"{sum(hits.values())} of {total}, R@5 {shown(figure(shares[name], SEED))}"
        told[name] += f", against flat {shown(change)}" if name != FLAT else ""
    return told


def links(folder: Path, models: Sequence[Embedder]) -> dict[str, str]:
    """Return what is found over links, by test, threshold and hops."""
    found = {}
    for file in ("four_way_links", "cross_category_recall", "multi_hop"):
        facts = json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))
        texts = {one["id"]: one["content"] for one in facts["memories"] if not one["is_category"]}
        queries = facts.get("queries") or [{"query": facts["query"]}]
        with (
            tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as place,
            open_memory(Path(place) / "memory.db", models, connect=()) as memory,
        ):
            ids = {memory.add(text).id: name for name, text in texts.items()}
            names = {name: memory_id for memory_id, name in ids.items()}
            for link in facts["links"]:
                memory.link(names[link["from_id"]], names[link["to_id"]], weight=link["strength"])
            embed(memory, {"embed": 0.0})
            for threshold in (0.5, 0.55, 0.65):
                for hops in (0, 1, 2):
                    told = [_told(memory, ids, one["query"], threshold, hops) for one in queries]
                    found[f"{file} at {threshold}, {hops} hops"] = " | ".join(told)
    return found


def _told(memory: Memory, ids: Mapping[str, str], query: str, threshold: float, hops: int) -> str:
    options: dict[str, Any] = {"fusion": "raw", "weights": {"vector": 1.0}, "models": [MINILM]}
    answer = memory.search(query, limit=10, links=hops, threshold=threshold, **options)
    return ", ".join(f"{ids[one.id]} {one.score:.3f}" for one in answer.results) or "nothing"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="The router's own tests of hierarchy and links.")
    parser.add_argument("--data", type=Path, required=True, help="its folder of sets and facts")
    parser.add_argument("--state", choices=("sync", "embed"), default="embed")
    parser.add_argument("--cache", type=Path, help="file that remembers MiniLM's windows")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
