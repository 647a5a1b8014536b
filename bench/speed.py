"""Speed: seconds, megabytes and bytes of the product, beside bare FTS5 in the same run.

    python bench/speed.py [--tree DIR]... [--scales 1000,10000,100000,1000000] [--seed N] --json FILE

Exit code 1 when nothing was found, or a tree is not there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, embedders, open_memory
from baselines.fts5 import fts5_of
from known import measure_known
from processes import command, timed
from report import circumstances, load, log_rows, spread, write_json
from scales import USER, measure_scale
from trees import Tree, generate, unpack, words_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {
        "what": "speed",
        "seed": args.seed,
        **circumstances(),
        "trees": {},
        "scales": [],
    }
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            place = Path(folder)
            trees = _trees(args, place / "trees")
            for tree in trees:
                result["trees"][tree[0]] = measured = measure_tree(tree, place, args.runs)
                _print(f"tree {tree[0]}", measured)
            result["known_items"] = measure_known(trees, place, args)
            _print("known items", result["known_items"])
            words = words_of(trees)
            for count in (int(scale) for scale in args.scales.split(",") if scale):
                measured = measure_scale(words, count, place, seed=args.seed, asked=args.questions)
                result["scales"].append(measured | {"load": load()})
                _print(f"scale {count}", measured)
    except (HollowError, FileNotFoundError) as error:
        print(f"speed: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def measure_tree(tree: Tree, place: Path, runs: int) -> dict[str, Any]:
    """Sync a tree again and again: first, unchanged, one file changed; in this process and cold.

    Raises:
        HollowError: It gave no passage.
    """
    name, folder = tree
    models = embedders()
    models[0].embed(["loaded before the clock starts"])
    took: dict[str, list[float]] = {"first": [], "unchanged": [], "one_changed": []}
    cpu: dict[str, list[float]] = {stage: [] for stage in took}
    passages = files = 0
    for run in range(runs):
        with open_memory(place / f"{name}-{run}.db", models, USER) as memory:
            for stage in took:
                if stage == "one_changed":
                    _change(folder)
                begun, used = time.perf_counter(), time.process_time()
                summary = memory.sync(folder)
                took[stage].append(time.perf_counter() - begun)
                cpu[stage].append(time.process_time() - used)
                passages, files = summary.passages, summary.files
    if not passages:
        raise HollowError(f"Tree {name} gave no passage of {files} files.")
    result: dict[str, Any] = {"files": files, "passages": passages}
    for stage, values in took.items():
        result[f"{stage}_seconds"] = spread(values) | {"cpu": spread(cpu[stage])["median"]}
    result["passages_per_second"] = round(passages / result["first_seconds"]["median"])
    result["cold_seconds"] = _cold_tree(folder, place / f"{name}-home", runs)
    base = []
    for run in range(runs):
        begun = time.perf_counter()
        fts5_of(place / f"{name}-{run}.fts5", [tree]).close()
        base.append(time.perf_counter() - begun)
    result["fts5_first_seconds"] = spread(base)
    result["first_over_fts5"] = round(result["first_seconds"]["median"] / spread(base)["median"], 2)
    return result | {"load": load()}


def _cold_tree(folder: Path, home: Path, runs: int) -> dict[str, Any]:
    """Seconds of ``scrubjay sync`` as a command: into a new store, then without a change, then after one."""
    home.mkdir()
    took: dict[str, list[float]] = {"first": [], "unchanged": [], "one_changed": []}
    for run in range(runs + 1):  # the first run only warms the caches
        sync = [*command(), "sync", str(folder), "--json", "--store", str(home / f"{run}.db"), "--user", USER]
        for stage, values in took.items():
            if stage == "one_changed":
                _change(folder)
            seconds = timed(sync, home)[0]
            values += [seconds] if run else []
    return {stage: spread(values) for stage, values in took.items()}


def _change(folder: Path) -> None:
    """Add a paragraph that was not there before in the middle of the largest file."""
    file = max(sorted(folder.rglob("*.md")), key=lambda path: path.stat().st_size)
    parts = file.read_text(encoding="utf-8").split("\n\n")
    parts.insert(len(parts) // 2, f"A paragraph written at {time.time_ns()} for this measurement.")
    file.write_text("\n\n".join(parts), encoding="utf-8")


def _trees(args: argparse.Namespace, into: Path) -> list[Tree]:
    into.mkdir()
    found = [tree for source in args.tree for tree in unpack(source, into)]
    return found or [generate(into, args.seed)]


def _print(title: str, measured: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in measured.items():
        print(f"  {name:24} {value}", flush=True)


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = []
    for name, own in result["trees"].items():
        parts = [
            f"{stage} {_range(own[f'{stage}_seconds'])}" for stage in ("first", "unchanged", "one_changed")
        ]
        parts += [f"cold {stage} {_range(values)}" for stage, values in own["cold_seconds"].items()]
        parts.append(f"{own['passages_per_second']} passages/s, {own['first_over_fts5']} × FTS5")
        rows.append((f"tree {name}, {own['files']} files, s", "; ".join(parts), "sync"))
    own = result["known_items"]
    for state in ("after_sync", "after_embed", "fts5"):
        if state in own:
            value = f"hit@1 {own[state]['hit@1']}, hit@5 {own[state]['hit@5']}, "
            value += f"p50 {own[state]['search_ms']['p50']} ms"
            rows.append((f"known items (n={own['items']})", value, state.removeprefix("after_")))
    rows.append(
        ("cold search, s", f"{_range(own['cold_search_seconds'])}; {own['cold_stages_seconds']}", "sync")
    )
    for own in result["scales"]:
        value = f"p50 {own['search_ms']['p50']} ms, p95 {own['search_ms']['p95']} ms, "
        value += f"first {own['first_search_ms']} ms; {own['written_per_second']} written/s; "
        value += f"{own['overhead_per_memory']} bytes a memory beyond text and vectors"
        rows.append((f"{own['memories']} memories, {own['model']}", value, "sync"))
    return rows


def _range(own: dict[str, float]) -> str:
    return f"{own['median']:.3f} ({own['min']:.3f}–{own['max']:.3f})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the product's times, memory and disk.")
    parser.add_argument(
        "--tree", type=Path, action="append", default=[], help="folder or .tar.gz; may be repeated"
    )
    parser.add_argument("--scales", default="1000,10000", help="numbers of memories, separated by commas")
    parser.add_argument("--seed", type=int, default=7, help="of questions and texts")
    parser.add_argument("--runs", type=int, default=5, help="repeats of each sync and cold command")
    parser.add_argument("--items", type=int, default=300, help="known items over all trees")
    parser.add_argument("--questions", type=int, default=100, help="questions at each scale")
    parser.add_argument(
        "--embed", action="store_true", help="also measure after the backfill, which takes minutes"
    )
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--log", action="store_true", help="put the figures on top of LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
