"""Tenants on a real PostgreSQL server: many small ones, and one large one.

The server is the wheel's, with its usual settings: it waits for the disk where a write asks for that. The client is the
user of docs/deployment.md who has no rights over the database, so that row-level security is in force.

`postgres`: texts are drawn, tokenised and embedded once, before the clock starts, and each tenant gets a stretch of
them. Clients are processes, each with one store, as a server has it. ``cold``: every search is of a tenant that its
process has not read before. ``warm``: each client stays with one tenant, asked once before the clock starts. In both
each asks again as soon as it is answered; ``paced`` are the warm ones at a fixed rate. No question is asked twice.
``equal``: random questions to some of the tenants, whose answers must be SQLite's on the same rows: ids, order, scores.

`postgres-large`: one memory in a hundred has the tag `rare`. Without and with what `rebuild --large` makes: ``first``:
the first search of a tenant in a process. ``search``: searches of other questions, nothing written in between.
``after``: a search just after another client wrote one memory. ``rare``: searches for the tag. ``written``: memories a
second, in transactions of a thousand, nothing connected. ``disk``: MB of all tables and indexes. ``kept``: MB of the
scope that a process keeps. ``recall``: of the ten nearest by exact scores, how many are among the ten that the store
answers (`nearest`): of all, of the tag, of a project that a twentieth have, and of the later half; in strict order of
the index's search, too.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from bench.command import Command, HollowError, Row
from bench.harness import open_memory, scratch
from bench.metrics import SEED
from bench.processes import megabytes
from bench.report import ROOT, load, percentiles
from bench.texts import USER, arrivals, vocabulary
from bench.texts import asked as questions
from scrubjay import Memory
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.gc_tuning import raise_gc_threshold
from scrubjay.ingest.additions import validate_memory
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.records import NO_FILTER, RecordFilter, Scope
from scrubjay.storage.changes import Change, PreparedMemory, PutMemory, PutModel
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits
from scrubjay.storage.urls import open_store
from store_contract.postgres_server import SERVER_PACKAGE, serve_database, server_programs

SECRET = b"bench"
POOL = 5_000
"""Memories made ready; a tenant that has more gets its own."""
LIMIT = 6
RATE = 5.0
"""Questions a second that a client asks in the paced run."""
BATCH = 1_000
RARE = 100
NEAREST = 10
ROUNDS = 12
"""Writes with a search after each."""
HALF = round(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1e6)
"""Half of the made-up memories are later."""
WHOLE = LargeTenantLimits(rows=1 << 40)
"""Searches a scope exactly, as one that is not large."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    result = Figures({"tenants": args.tenants, "memories": args.memories, "clients": args.clients})
    with scratch() as folder, served(args.url) as url:
        words = vocabulary()
        rows = ready(words, pool(args))
        result.put("write", filled(url, rows, args.tenants, args.memories))
        result.put("statements", statements(url, questions(words, 20, SEED, pool(args))))
        for name in ("cold", "warm", "paced"):
            result.put(name, {**searched_at_once(url, words, args, name), "load": load()})
        result.put("equal", compared(url, folder, rows, words, args))
    return result


def run_large(args: argparse.Namespace) -> dict[str, Any]:
    import psycopg

    result = Figures({"memories": args.memories})
    with served(None) as url:
        with psycopg.connect(url.replace("scrubjay_app@", "scrubjay@")) as db:
            db.execute("CREATE EXTENSION vector SCHEMA public")
        words, scope = vocabulary(), scope_of(0)
        rows = Rows(words, args.memories + 4 * BATCH)
        with closing(PostgresStore(url, SECRET)) as store:
            store.write(scope, [PutModel(StaticEmbedder().model)])
            result.put("fill", written(store, scope, rows, args.memories))
        asked = questions(words, args.questions, SEED + 7, args.memories)
        result.put("without", {**searched(url, asked), **stored(url, scope, rows)})
        with closing(PostgresStore(url.replace("scrubjay_app@", "scrubjay_owner@"), SECRET)) as store:
            made = store.build_index(scope, lambda _: None)
            result.put("made", {"seconds": round(made.seconds, 1), "load": load()})
        result.put("with", {**searched(url, asked), **stored(url, scope, rows)})
        result.put("recall", recalled(url, scope, questions(words, 100, SEED + 5, args.memories)))
    return result


class Figures(dict[str, Any]):
    """Figures that are printed when they are put in."""

    def put(self, name: str, found: Any) -> None:
        self[name] = found
        print(f"{name}: {found}", flush=True)


def pool(args: argparse.Namespace) -> int:
    return max(args.memories, min(POOL, args.tenants * args.memories))


def ready(words: Sequence[str], count: int) -> list[PreparedMemory]:
    found = list(prepared(words, count))
    return embed_memories(found, [""] * len(found), StaticEmbedder())


def prepared(words: Sequence[str], count: int) -> Iterator[PreparedMemory]:
    """Distinct made-up memories with their terms."""
    ids: set[str] = set()
    for new in (memory for _, batch in arrivals(words, count, SEED) for memory in batch):
        record = validate_memory(new, Scope("any", USER), SECRET).record
        if record.id not in ids:
            ids.add(record.id)
            yield prepare_memory(record)


def of_tenant(rows: Sequence[PreparedMemory], tenant: int, memories: int) -> list[Change]:
    """Return what is written for a tenant: the models, and its own stretch of the rows."""
    first = tenant * 37 % len(rows)
    own = [rows[(first + at) % len(rows)] for at in range(min(memories, len(rows)))]
    return [PutModel(StaticEmbedder().model), *map(PutMemory, own)]


def scope_of(tenant: int) -> Scope:
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


def searched_at_once(url: str, words: Sequence[str], args: argparse.Namespace, name: str) -> dict[str, Any]:
    spawned = multiprocessing.get_context("spawn")
    gate, answers = spawned.Barrier(args.clients), spawned.Queue()
    own = [
        spawned.Process(
            target=client,
            args=(url, name, number, (args.clients, args.tenants, args.seconds),
                  questions(words, 4_000, SEED + number, pool(args)), gate, answers),
        )
        for number in range(args.clients)
    ]  # fmt: skip
    for process in own:
        process.start()
    answered = [answers.get(timeout=600 + args.seconds) for _ in own]
    for process in own:
        process.join()
    took = [each for one in answered for each in one["took"]]
    if 2 * sum(one["empty"] for one in answered) > len(took):
        raise HollowError(f"{name}: most searches found nothing.")
    return {
        **percentiles(took),
        "searches": len(took),
        "per_second": round(len(took) / max(one["seconds"] for one in answered), 1),
        "client_cpu_ms": round(sum(one["cpu"] for one in answered) * 1000 / len(took), 2),
        "private_mb": round(max(one["rss"] for one in answered), 1),
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
    with open_memory(url, [StaticEmbedder()], USER) as memory:  # type: ignore[arg-type]
        yield memory


def seat(memory: Memory, tenant: int) -> Memory:
    scope = scope_of(tenant)
    return memory.seen_by(scope.user, tenant=scope.tenant)


@contextmanager
def served(url: str | None) -> Iterator[str]:
    """Yield a URL that was given, or that of a server of our own."""
    places = server_programs()
    if url is None and places is None:
        raise HollowError(f"{SERVER_PACKAGE} is not installed: `pip install --group dev`")
    with nullcontext(url) if url is not None or places is None else serve_database(places) as own:
        assert own is not None
        yield own if url is not None else fenced(own)


def fenced(url: str) -> str:
    """Make a database and its users as docs/deployment.md says; return its URL for the user without rights over it."""
    import psycopg

    page = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    first, second = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    owner = url.replace("scrubjay@/postgres", "scrubjay_owner@/memories")
    with psycopg.connect(url, autocommit=True) as db:
        for statement in filter(None, map(str.strip, first.split(";"))):
            db.execute(statement)
    with psycopg.connect(owner) as db:
        db.execute(second)
    open_store(owner, SECRET).close()
    return owner.replace("scrubjay_owner@", "scrubjay_app@")


def _private() -> float:
    """Return the megabytes of this process that no other one shares; 0 where no system tells."""
    place = Path("/proc/self/smaps_rollup")
    return megabytes(place.read_text())["private"] if place.exists() else 0.0


class Rows:
    """Memories with their terms and vectors, made ready as they are asked for."""

    def __init__(self, words: Sequence[str], count: int) -> None:
        self._prepared = enumerate(prepared(words, count), 1)

    def take(self, count: int) -> list[PreparedMemory]:
        """Return so many more."""
        found = [
            replace(one, record=replace(one.record, tags=(*one.record.tags, "rare")))
            if number % RARE == 0
            else one
            for number, one in itertools.islice(self._prepared, count)
        ]
        return embed_memories(found, [""] * len(found), StaticEmbedder())


def written(store: PostgresStore, scope: Scope, rows: Rows, count: int) -> dict[str, Any]:
    took, made = 0.0, 0
    while made < count and (batch := rows.take(min(BATCH, count - made))):
        begun = time.perf_counter()
        store.write(scope, [PutMemory(one) for one in batch])
        took += time.perf_counter() - begun
        made += len(batch)
    return {
        "memories": made,
        "written": round(made / took),
        "disk": round(store.size() / 2**20),
        "load": load(),
    }


def searched(url: str, asked: Sequence[str]) -> dict[str, Any]:
    empty = 0

    def timed(search: Callable[[], Any]) -> float:
        nonlocal empty
        begun = time.perf_counter()
        empty += not search().results
        return (time.perf_counter() - begun) * 1000

    with opened(url) as memory, opened(url) as another:
        mine, theirs = seat(memory, 0), seat(another, 0)
        seat(memory, 1).search(asked[0], limit=LIMIT)  # the model is loaded, the connection is there
        first = timed(lambda: mine.search(asked[0], limit=LIMIT))
        warm = [timed(lambda query=query: mine.search(query, limit=LIMIT)) for query in asked[1:]]
        rare = [
            timed(lambda query=query: mine.search(query, limit=LIMIT, tags=["rare"])) for query in asked[1:]
        ]
        after = []
        for number, query in zip(range(ROUNDS), itertools.cycle(asked), strict=False):
            theirs.add(f"Word of round {number}, told at {time.time_ns()}.")
            after.append(timed(lambda query=query: mine.search(query, limit=LIMIT)))
    if 2 * empty > 2 * len(asked) + ROUNDS:
        raise HollowError("most searches found nothing.")
    found = {"search": percentiles(warm), "rare": percentiles(rare), "after": percentiles(after)}
    return {"first": round(first), **found, "load": load()}


def stored(url: str, scope: Scope, rows: Rows) -> dict[str, Any]:
    """Write some more, and weigh what is there."""
    with closing(PostgresStore(url, SECRET)) as store:
        found = written(store, scope, rows, BATCH)
        with store.reader(scope) as reader:
            query = StaticEmbedder().embed(["where is it"], kind="query")[0][0]
            reader.nearest(StaticEmbedder().model.fingerprint, query, NO_FILTER)
            kept = reader._snapshot.weight
    return {"written": found["written"], "disk": found["disk"], "kept": round(kept / 2**20, 1)}


def recalled(url: str, scope: Scope, asked: Sequence[str]) -> dict[str, Any]:
    """Compare the nearest ten with the exact ones."""
    filters = {
        "all": NO_FILTER,
        "tag of 1 %": RecordFilter(tags=("rare",)),
        "project of 5 %": RecordFilter(projects=("project3",)),
        "later half": RecordFilter(since=HALF),
    }
    base = StaticEmbedder()
    queries = [base.embed([query], kind="query")[0][0] for query in asked]
    usual = tenant_index.ITERATIVE_SCAN
    found: dict[str, Any] = {}
    with closing(PostgresStore(url, large=WHOLE)) as exact, closing(PostgresStore(url)) as large:
        for name, where in filters.items():
            wanted = _nearest(exact, scope, queries, where)
            if min(map(len, wanted)) < NEAREST:
                raise HollowError(f"{name}: fewer than {NEAREST} pass.")
            for order in (usual, "strict_order"):
                tenant_index.ITERATIVE_SCAN = order  # type: ignore[misc]
                near = _nearest(large, scope, queries, where)
                shares = [len(set(a) & set(b)) / NEAREST for a, b in zip(wanted, near, strict=True)]
                found[name if order == usual else f"{name}, strict"] = round(float(np.mean(shares)), 4)
    tenant_index.ITERATIVE_SCAN = usual  # type: ignore[misc]
    return found


def _nearest(
    store: PostgresStore, scope: Scope, queries: Sequence[Any], where: RecordFilter
) -> list[list[str]]:
    fingerprint = StaticEmbedder().model.fingerprint
    with store.reader(scope) as reader:
        return [
            [hit.id for hit in reader.nearest(fingerprint, query, where).top(NEAREST)] for query in queries
        ]


def _rows(result: Mapping[str, Any]) -> list[Row]:
    names = ("write", "statements", "cold", "warm", "paced", "equal")
    figures = "; ".join(f"{name} {result[name]}" for name in names)
    return [(f"PostgreSQL, {result['tenants']} tenants of {result['memories']}, ms", figures, "sync")]


def _large_rows(result: Mapping[str, Any]) -> list[Row]:
    figures = "; ".join(f"{name} {result[name]}" for name in ("fill", "without", "made", "with", "recall"))
    what = f"PostgreSQL, one tenant of {result['memories']:,}, without and with `rebuild --large`"
    return [(what, figures, "sync")]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--memories", type=int, default=100, help="of each tenant")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument(
        "--questions", type=int, default=1_000, help="that are compared with SQLite's answers"
    )
    parser.add_argument("--url", help="a server that is there already; its tenants t0, t1, … are written")


def _large_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=40)


POSTGRES = Command(__doc__, run, _options, _rows)
LARGE = Command(__doc__, run_large, _large_options, _large_rows)
