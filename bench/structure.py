"""Structure: what connecting memories costs as they are written, stage by stage, and how well it is done.

    python bench/structure.py [--data DIR] [--tree DIR]... [--terms 100000] [--runs 5] [--json FILE] [--log]

Cost is measured on trees: a first sync into a new store with every stage of [linking], with each of them left out,
with none, and with every stage beside a dictionary of ``--terms`` names. The runs of all of these take turns, so
that a busy moment of the machine falls on all alike; ratios are to the sync with no stage. Scrubbing and the
phrase and paragraph of each memory (L0, L1) are always on. With ``--data`` (the development data) the quality of
concept linking (`structure_concepts`) and of categories (`structure_categories`) follows; without it that is said.

Exit code 1 when a tree is not there, or a sync gave no passage, no concept or no link.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ask import HollowError, embedders
from report import circumstances, load, log_rows, spread, write_json
from scales import USER
from scrubjay import Memory
from scrubjay.config.settings import LINKING_STAGES, Settings
from scrubjay.entities.normalization import normalize_name
from scrubjay.models.graph import Entity
from scrubjay.models.ids import entity_id
from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutConcept
from scrubjay.storage.urls import open_store
from trees import Tree, generate, unpack, words_of

TENANT = "default"
AT_ONCE = 5_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "structure", **circumstances(), "trees": {}}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            place = Path(folder)
            (place / "trees").mkdir()
            trees = [tree for source in args.tree for tree in unpack(source, place / "trees")]
            for tree in trees or [generate(place / "trees", args.seed)]:
                result["trees"][tree[0]] = measured = measure(tree, place, args)
                _print(tree[0], measured)
    except (HollowError, FileNotFoundError) as error:
        print(f"structure: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    if args.data is None:
        print("structure: no --data; the quality of concepts and categories was not measured.")
        return 0
    here = Path(__file__).parent
    parts = ([here / "structure_concepts.py", args.data], [here / "structure_categories.py", args.data])
    return max(subprocess.run([sys.executable, *map(str, part)], check=False).returncode for part in parts)


def measure(tree: Tree, place: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Sync a tree into new stores, with all ways of connecting taking turns.

    Raises:
        HollowError: It gave no passage, no concept or no link.
    """
    name, folder = tree
    models = embedders()
    models[0].embed(["loaded before the clock starts"])
    terms = list(_names(words_of([tree]), args.terms))
    took: dict[str, list[float]] = {}
    counts: dict[str, int] = {}
    for run in range(args.runs + 1):  # the first run only warms the caches
        for way, stages in _ways():
            file = place / f"{name}-{run}-{way}.db"
            if way == "all, dictionary":
                _dictionary(file, terms)
            settings = replace(Settings(), linking=replace(Settings().linking, stages=stages))
            with Memory.open(file, user=USER, settings=settings, embedders=models) as memory:
                begun = time.perf_counter()
                summary = memory.sync(folder)
                seconds = time.perf_counter() - begun
                if run:
                    took.setdefault(way, []).append(seconds)
                if way == "all":
                    counts = _counts(memory, summary.passages)
            file.unlink()
    if not all(counts.values()):
        raise HollowError(f"Tree {name} gave {counts}: a figure about nothing is none.")
    base = statistics.median(took["none"])
    return {
        **counts,
        "terms": len(terms),
        "seconds": {way: spread(values) for way, values in took.items()},
        "passages_per_second": {
            way: round(counts["passages"] / statistics.median(values)) for way, values in took.items()
        },
        "over_none": {way: round(statistics.median(values) / base, 3) for way, values in took.items()},
        "load": load(),
    }


def _ways() -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "none", ()
    yield "all", LINKING_STAGES
    for left_out in LINKING_STAGES:
        yield f"without {left_out}", tuple(stage for stage in LINKING_STAGES if stage != left_out)
    yield "all, dictionary", LINKING_STAGES


def _names(words: Sequence[str], count: int) -> Iterator[str]:
    """Yield names as dictionaries hold them: of two words that are in use, and a number where they run out."""
    known = sorted({word for word in words if word.isalpha() and len(word) > 3})
    for number in range(count):
        first, second = known[number % len(known)], known[(number // len(known) * 7 + number) % len(known)]
        yield f"{first.title()} {second}{number // (len(known) ** 2) or ''}"


def _dictionary(file: Path, terms: Sequence[str]) -> None:
    scope = Scope(TENANT, USER)
    store = open_store(str(file))
    secret = store.secret(scope)
    rows = {}
    for term in terms:
        identity = entity_id(secret, normalize_name(term))
        rows[identity] = PutConcept(Entity(identity, scope.key(), term))
    changes = list(rows.values())
    for first in range(0, len(changes), AT_ONCE):
        store.write(scope, changes[first : first + AT_ONCE])
    store.close()


def _counts(memory: Memory, passages: int) -> dict[str, int]:
    scope = Scope(TENANT, USER)
    store = open_store(memory.status().store)
    try:
        with store.reader(scope) as reader:
            kinds = ("references", "similar", "belongs")
            edges = {kind: sum(reader.degrees(kind).values()) for kind in kinds}
            concepts, categories = len(reader.concepts()), len(reader.categories())
    finally:
        store.close()
    return {"passages": passages, "concepts": concepts, "categories": categories, **edges}


def _print(title: str, measured: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in measured.items():
        print(f"  {name:20} {value}", flush=True)


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = []
    for name, own in result["trees"].items():
        rates = "; ".join(
            f"{way} {own['passages_per_second'][way]}/s ({own['over_none'][way]} x)" for way in own["seconds"]
        )
        value = (
            f"{rates}; {own['concepts']} concepts, {own['references']} references, {own['similar']} similar"
        )
        rows.append((f"connecting {name}, {own['passages']} passages, {own['terms']} terms", value, "sync"))
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="the development data")
    parser.add_argument(
        "--tree", type=Path, action="append", default=[], help="a folder or .tar.gz of Markdown"
    )
    parser.add_argument("--terms", type=int, default=100_000, help="names in the dictionary")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
