"""PostgreSQL: many small tenants on a real server -> time to write and search, and SQLite's answers to the same.

    python bench/postgres.py [--tenants 1000] [--memories 100] [--clients 8] [--seconds 10] [--json FILE]

The server is the wheel's, with its usual settings: it waits for the disk where a write asks for that. All is done as
the user of docs/postgres.md who has no rights over the database, so that row-level security is in force. Rows are made
ready before the clock starts: texts are drawn, tokenised and embedded once, and each tenant is given a stretch of them.
Clients are processes, each with one store as a server of ours would have, asking as the tenants' users do:

``cold``: every search is of a tenant that its process has not read before. ``warm``: each client stays with one tenant,
asked once before the clock starts. In both each asks again as soon as it is answered, so eight clients wait for two
processors; ``paced`` are the warm ones at a fixed rate, as clients that read their answers. No question is asked twice.

``equal``: random questions to some of the tenants, whose answers must be SQLite's on the same rows: ids, order, scores.

Exit code 1 when an answer differs, or a run was hollow: nothing found.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ask import HollowError, open_memory
from metrics import SEED
from report import circumstances, load, log_rows, percentiles, write_json
from scrubjay import Memory
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.gc_tuning import raise_gc_threshold
from scrubjay.ingest.additions import validate_memory
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.records import Scope
from scrubjay.storage.changes import Change, PreparedMemory, PutMemory, PutModel
from scrubjay.storage.urls import open_store
from store_contract.postgres_server import SERVER_PACKAGE, serve_database, server_programs
from worlds import arrivals, vocabulary
from worlds import asked as questions

USER = "reader"
SECRET = b"bench"
POOL = 5_000
"""Memories made ready; a tenant that has more has all of its own."""
LIMIT = 6
RATE = 5.0
"""Questions a second that a client asks in the paced run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "postgres", **circumstances()}
    result |= {"tenants": args.tenants, "memories": args.memories, "clients": args.clients}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder, served(args.url) as url:
            measure(url, Path(folder), args, result)
    except HollowError as error:
        print(f"postgres: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        log_rows([(f"PostgreSQL, {args.tenants} tenants of {args.memories}, ms", told(result), "sync")])
    return 0


def measure(url: str, folder: Path, args: argparse.Namespace, result: dict[str, Any]) -> None:
    """Fill, ask, compare; each figure is printed and put into the result as soon as it is there."""

    def tell(name: str, found: Any) -> None:
        result[name] = found
        print(f"{name}: {found}", flush=True)

    words = vocabulary()
    rows = ready(words, pool(args))
    tell("write", filled(url, rows, args.tenants, args.memories))
    tell("statements", statements(url, questions(words, 20, SEED, pool(args))))
    asked = Asked(url, words, args)
    for name in ("cold", "warm", "paced"):
        tell(name, {**asked.run(name), "load": load()})
    tell("equal", compared(url, folder, rows, words, args))


def pool(args: argparse.Namespace) -> int:
    """Return how many memories are made, of which each tenant has a stretch."""
    return max(args.memories, min(POOL, args.tenants * args.memories))


def ready(words: Sequence[str], count: int) -> list[PreparedMemory]:
    """Return so many memories with their terms and vectors."""
    base, scope = StaticEmbedder(), Scope("any", USER)
    new = [memory for _, batch in arrivals(words, count, SEED) for memory in batch]
    made = {
        one.record.id: prepare_memory(one.record)
        for one in (validate_memory(each, scope, SECRET) for each in new)
    }
    found = list(made.values())
    return embed_memories(found, [""] * len(found), base)


def of_tenant(rows: Sequence[PreparedMemory], tenant: int, memories: int) -> list[Change]:
    """Return what is written for a tenant: the models, and its own stretch of the rows."""
    first = tenant * 37 % len(rows)
    own = [rows[(first + at) % len(rows)] for at in range(min(memories, len(rows)))]
    return [PutModel(StaticEmbedder().model), *map(PutMemory, own)]


def scope_of(tenant: int) -> Scope:
    """Return who asks and writes in a tenant."""
    return Scope(f"t{tenant}", USER)


def filled(url: str, rows: Sequence[PreparedMemory], tenants: int, memories: int) -> dict[str, Any]:
    """Fill all tenants, one transaction each."""
    took = []
    with closing(open_store(url, SECRET)) as store:
        for tenant in range(tenants):
            changes = of_tenant(rows, tenant, memories)
            begun = time.perf_counter()
            store.write(scope_of(tenant), changes)
            took.append(time.perf_counter() - begun)
        size = store.size()
    written = tenants * min(memories, len(rows))
    return {
        "memories_per_second": round(written / sum(took), 1),
        "transaction_ms": percentiles([1000 * seconds for seconds in took]),
        "disk_mb": round(size / 2**20, 1),
    }


def statements(url: str, asked: Sequence[str]) -> dict[str, Any]:
    """Return how many statements a search sends: the first of a tenant, and one more of it."""
    import psycopg

    sent = []
    execute = psycopg.Cursor.execute

    def counted(self: Any, query: Any, *rest: Any, **options: Any) -> Any:
        sent.append(query)
        return execute(self, query, *rest, **options)

    found: dict[str, list[int]] = {"cold": [], "warm": []}
    with opened(url) as memory:
        psycopg.Cursor.execute = counted  # type: ignore[method-assign,assignment]
        try:
            own = seat(memory, 0)
            for number, query in enumerate(asked):
                sent.clear()
                own.search(query, limit=LIMIT)
                found["warm" if number else "cold"].append(len(sent))
        finally:
            psycopg.Cursor.execute = execute  # type: ignore[method-assign]
    return {name: sum(counts) / len(counts) for name, counts in found.items()}


class Asked:
    """Clients that ask at once."""

    def __init__(self, url: str, words: Sequence[str], args: argparse.Namespace) -> None:
        self._url = url
        self._words = words
        self._args = args

    def run(self, name: str) -> dict[str, Any]:
        """Return what searches took.

        Raises:
            HollowError: Most found nothing.
        """
        args = self._args
        spawned = multiprocessing.get_context("spawn")
        gate, answers = spawned.Barrier(args.clients), spawned.Queue()
        own = [
            spawned.Process(
                target=client,
                args=(self._url, name, number, (args.clients, args.tenants, args.seconds),
                      questions(self._words, 4_000, SEED + number, pool(args)), gate, answers),
            )
            for number in range(args.clients)
        ]  # fmt: skip
        for process in own:
            process.start()
        told = [answers.get(timeout=600 + args.seconds) for _ in own]
        for process in own:
            process.join()
        took = [each for one in told for each in one["took"]]
        if 2 * sum(one["empty"] for one in told) > len(took):
            raise HollowError(f"{name}: most searches found nothing.")
        return {
            **percentiles(took),
            "searches": len(took),
            "per_second": round(len(took) / max(one["seconds"] for one in told), 1),
            "client_cpu_ms": round(sum(one["cpu"] for one in told) * 1000 / len(took), 2),
            "private_mb": round(max(one["rss"] for one in told), 1),
        }


def client(
    url: str,
    name: str,
    number: int,
    shape: tuple[int, int, float],
    asked: Sequence[str],
    gate: Any,
    answers: Any,
) -> None:
    """Ask until the time is up; one process."""
    clients, tenants, seconds = shape
    took: list[float] = []
    empty = 0
    raise_gc_threshold()  # as a server of ours does
    with opened(url) as memory:
        own = [at for at in range(tenants) if at % clients == number] or [number % tenants]
        seat(memory, own[-1]).search(asked[-1], limit=LIMIT)  # the model is loaded, the connection is there
        warm = seat(memory, own[0])
        if name != "cold":
            warm.search(asked[-2], limit=LIMIT)
        gate.wait(600)
        begun, cpu = time.perf_counter(), time.process_time()
        rng = random.Random(number)
        for at, query in enumerate(asked[:-2]):
            if name == "cold" and at >= len(own) - 1:
                break
            if name == "paced":
                due = begun + (at + rng.random()) / RATE
                time.sleep(max(0.0, due - time.perf_counter()))
            start = time.perf_counter()
            if start - begun > seconds:
                break
            here = seat(memory, own[at]) if name == "cold" else warm
            empty += not here.search(query, limit=LIMIT).results
            took.append((time.perf_counter() - start) * 1000)
        spent = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}
    answers.put({"took": took, "empty": empty, "rss": _private(), **spent})


def compared(
    url: str, folder: Path, rows: Sequence[PreparedMemory], words: Sequence[str], args: argparse.Namespace
) -> dict[str, Any]:
    """Ask both stores the same.

    Raises:
        HollowError: An answer differs, or most are empty.
    """
    tenants = min(args.tenants, 20)
    file = folder / "same.db"
    asked = questions(words, args.questions, SEED + 99, pool(args))
    with closing(open_store(str(file), SECRET)) as store:
        for tenant in range(tenants):
            store.write(scope_of(tenant), of_tenant(rows, tenant, args.memories))
    found = 0
    with opened(url) as here, opened(str(file)) as there:
        for tenant in range(tenants):
            mine, theirs = seat(here, tenant), seat(there, tenant)
            for query in asked[tenant::tenants]:
                answers = [
                    [(one.id, one.score) for one in memory.search(query, limit=50).results]
                    for memory in (mine, theirs)
                ]
                if answers[0] != answers[1]:
                    raise HollowError(f"tenant {tenant} is answered otherwise to {query!r}: {answers}")
                found += bool(answers[0])
    if 2 * found < len(asked):
        raise HollowError("most questions found nothing.")
    return {"questions": len(asked), "tenants": tenants, "answered": found, "different": 0}


@contextmanager
def opened(url: str) -> Iterator[Memory]:
    """Open a store with the static model and the product's own settings."""
    with open_memory(url, [StaticEmbedder()], USER) as memory:  # type: ignore[arg-type]
        yield memory


def seat(memory: Memory, tenant: int) -> Memory:
    """Return the store as a tenant's user sees it."""
    scope = scope_of(tenant)
    return memory.seen_by(scope.user, tenant=scope.tenant)


@contextmanager
def served(url: str | None) -> Iterator[str]:
    """Yield a URL that was given, or that of a server of our own.

    Raises:
        HollowError: There is no server.
    """
    places = server_programs()
    if url is None and places is None:
        raise HollowError(f"{SERVER_PACKAGE} is not installed: `pip install --group dev`")
    with nullcontext(url) if url is not None or places is None else serve_database(places) as own:
        assert own is not None
        yield own if url is not None else fenced(own)


def fenced(url: str) -> str:
    """Make a database and its users as docs/postgres.md says; return its URL for the one who has no rights over it."""
    import psycopg

    page = (Path(__file__).parent.parent / "docs" / "postgres.md").read_text("utf-8")
    first, second = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    owner = url.replace("scrubjay@/postgres", "scrubjay_owner@/memories")
    with psycopg.connect(url, autocommit=True) as db:
        for statement in filter(None, map(str.strip, first.split(";"))):
            db.execute(statement)
    with psycopg.connect(owner) as db:
        db.execute(second)
    open_store(owner, SECRET).close()
    return owner.replace("scrubjay_owner@", "scrubjay_app@")


def told(result: dict[str, Any]) -> str:
    """Return all figures in one line."""
    return "; ".join(
        f"{name} {result[name]}" for name in ("write", "statements", "cold", "warm", "paced", "equal")
    )


def _private() -> float:
    """Return the megabytes of this process that no other one shares; 0 where no system tells."""
    from processes import megabytes

    place = Path("/proc/self/smaps_rollup")
    return megabytes(place.read_text())["private"] if place.exists() else 0.0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=100, help="of each tenant")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument(
        "--questions", type=int, default=1_000, help="that are compared with SQLite's answers"
    )
    parser.add_argument("--url", help="a server that is there already; its tenants t0, t1, … are written")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="put the figures at the top of bench/LOG.md")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
