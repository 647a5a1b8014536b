"""Thread: evidence that a thread finds beside what a search finds, and the time it takes.

    python bench/thread.py --data DIR [--sets a,b] [--limit 10] [--state sync] [--memories 10000] [--json FILE] [--log]

Both are asked the same questions at one limit, in stores that are connected as the product connects them (concepts
from the texts, automatic links). recall is the share of the judged evidence that is among what is shown; a thread
is told in the order of time, so ranks mean nothing in it. Then a store of ``--memories`` memories, a tenth of which
refer to one concept, is asked for threads.

Exit code 1 when a run was hollow: nothing written, nothing found, nothing reached over an edge.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ask import HollowError, Run, _write, embed, embedders, open_memory
from data import DataError, find_sets, load, spaces
from metrics import SEED, difference, everything, figure, recall
from report import circumstances, log_rows, percentiles, shown, write_json
from scales import questions, texts
from scrubjay.models.lifecycle import NewMemory
from trees import generate, words_of

SETS = "musique_hippo100,hotpot_hippo100"
HUB = "Harbour Master"
USER = "reader"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "thread", "state": args.state, **circumstances(), "sets": {}}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            for name, place in find_sets(args.data, args.sets.split(",")).items() if args.data else ():
                result["sets"][name] = measure_set(name, place, Path(folder), args)
                print(f"{name}: {result['sets'][name]}", flush=True)
            if args.memories:
                result["speed"] = measure_speed(Path(folder), args)
                print(f"speed: {result['speed']}")
    except (DataError, HollowError) as error:
        print(f"thread: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def measure_set(name: str, place: Path, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Ask one set both ways.

    Raises:
        HollowError: Nothing was reached over an edge.
    """
    data, models, run = load(name, place), embedders(args.cache), Run()
    relevant = next(task for task in data.tasks if not task.sessions).relevant
    queries = [query for query in data.asked() if query.id in relevant]
    found: dict[str, list[tuple[float, float]]] = {"search": [], "thread": []}
    over = 0
    for number, space in enumerate(spaces(data, queries)):
        with open_memory(folder / f"{place.name}-{number}.db", models, space.user) as memory:
            known = _write(memory, space, run)
            if args.state == "embed":
                embed(memory, run.seconds)
            for query in space.queries:
                answer = memory.search(query.text, limit=args.limit, now=query.ts)
                thread = memory.thread(query.text, limit=args.limit, hops=args.hops, now=query.ts)
                over += sum(1 for knot in thread.knots if knot.reached.hops)
                shown_by = {
                    "search": [one.id for one in answer.results],
                    "thread": [knot.result.id for knot in thread.knots],
                }
                for way, ids in shown_by.items():
                    docs = [doc.id for one in ids for doc in known.get(one, ())]
                    wanted = relevant[query.id]
                    found[way].append((recall(docs, wanted, len(docs)), everything(docs, wanted, len(docs))))
    if not over:
        raise HollowError(f"Set {name}: no thread left what the search had found.")
    rows = {f"{way} recall": [r for r, _ in got] for way, got in found.items()}
    rows |= {f"{way} all": [a for _, a in got] for way, got in found.items()}
    gain = difference(rows["thread recall"], rows["search recall"], SEED)
    return {
        "queries": len(found["search"]),
        "limit": args.limit,
        **{way: shown(figure(values, SEED)) for way, values in rows.items()},
        "gain in recall": shown(gain),
        "over edges per thread": round(over / len(queries), 2),
    }


def measure_speed(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Time threads and searches in one large store with a concept that a tenth of it refers to.

    Raises:
        HollowError: A thread was empty.
    """
    (folder / "tree").mkdir()
    words = words_of([generate(folder / "tree", SEED)])
    took: dict[str, list[float]] = {"search": [], "thread": []}
    with open_memory(folder / "speed.db", embedders()[:1], USER) as memory:
        batch = [
            NewMemory(
                f"{text} {HUB}." if number % 10 == 0 else text, session=f"s{number // 40}", turn=number % 40
            )
            for number, text in enumerate(texts(words, args.memories, SEED))
        ]
        for first in range(0, len(batch), 5_000):
            memory.add_many(batch[first : first + 5_000])
        memory.concepts.add(HUB)
        for query in questions(words, args.questions, SEED):
            for way, ask in (("search", memory.search), ("thread", memory.thread)):
                begun = time.perf_counter()
                answer: Any = ask(f"{query} {HUB}")  # type: ignore[operator]
                took[way].append((time.perf_counter() - begun) * 1000)
            if not answer.knots:
                raise HollowError("A thread over the large store was empty.")
        hub = memory.concepts.show(HUB).concept.memories
    return {"memories": args.memories, "hub": hub} | {
        f"{way}_ms": percentiles(values) for way, values in took.items()
    }


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = [
        (f"thread {name}", ", ".join(f"{what} {value}" for what, value in found.items()), result["state"])
        for name, found in result["sets"].items()
    ]
    if "speed" in result:
        rows.append(
            ("thread speed", ", ".join(f"{what} {value}" for what, value in result["speed"].items()), "sync")
        )
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Evidence and time of threads.")
    parser.add_argument("--data", type=Path, help="a folder of sets; without it only time is measured")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--hops", type=int, default=2)
    parser.add_argument("--state", choices=("sync", "embed"), default="sync")
    parser.add_argument("--cache", type=Path, help="file that remembers MiniLM's windows")
    parser.add_argument("--memories", type=int, default=10_000, help="of the large store; 0 for none")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
