"""PostgreSQL, one large tenant: what searches, writes and disk cost without and with what `rebuild --large` makes.

    python bench/postgres_large.py [--memories 100000] [--questions 40] [--json FILE] [--log]

The server is the wheel's, with its usual settings, and pgvector; the client is the user of docs/postgres.md who has no
rights over the database, so that row-level security is in force. Texts are those of `worlds.py`. One memory in a
hundred has the tag `rare`. Without and with:

``first``: the first search of a tenant in a process, which reads what it keeps. ``search``: searches of other
questions, nothing written in between. ``after``: a search just after somebody else's write of one memory. ``rare``:
searches for what has the tag. ``written``: memories a second, in transactions of a thousand, nothing connected.
``disk``: in MB, all tables and indexes. ``kept``: what a process keeps of the scope, in MB, as the store weighs it.

``recall``: of the ten nearest by exact scores, how many are among the ten that the store answers (`nearest`): of all,
of the tag, of a project that a twentieth have, and of the later half; in strict order, too, as the search of the index
might go on.

Exit code 1 when a run was hollow: nothing found.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ask import HollowError
from metrics import SEED
from postgres import LIMIT, SECRET, USER, opened, scope_of, seat, served
from report import circumstances, load, log_rows, percentiles, write_json
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.ingest.additions import validate_memory
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.records import NO_FILTER, RecordFilter, Scope
from scrubjay.storage.changes import PreparedMemory, PutMemory, PutModel
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.store import PostgresStore
from scrubjay.storage.postgres.tenant_index import LargeTenantLimits
from worlds import arrivals, vocabulary
from worlds import asked as questions

BATCH = 1_000
RARE = 100
NEAREST = 10
ROUNDS = 12
"""Writes with a search after each."""
HALF = round(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1e6)
"""Half of the made-up memories are of later."""
WHOLE = LargeTenantLimits(rows=1 << 40)
"""As a scope is searched that is not large: exactly."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "postgres_large", **circumstances(), "memories": args.memories}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-"), served(None) as url:
            measure(url, args, result)
    except HollowError as error:
        print(f"postgres_large: {error}", file=sys.stderr)
        return 1
    write_json(args.json, result)
    if args.log:
        told = "; ".join(f"{name} {result[name]}" for name in ("fill", "without", "made", "with", "recall"))
        log_rows(
            [
                (
                    f"PostgreSQL, one tenant of {args.memories:,}, without and with `rebuild --large`",
                    told,
                    "sync",
                )
            ]
        )
    return 0


def measure(url: str, args: argparse.Namespace, result: dict[str, Any]) -> None:
    """Fill, ask, make, ask; each figure is printed and put into the result as soon as it is there."""
    import psycopg

    def tell(name: str, found: Any) -> None:
        result[name] = found
        print(f"{name}: {found}", flush=True)

    with psycopg.connect(url.replace("scrubjay_app@", "scrubjay@")) as db:
        db.execute("CREATE EXTENSION vector SCHEMA public")
    words, scope = vocabulary(), scope_of(0)
    rows = Rows(words, args.memories + 4 * BATCH)
    with closing(PostgresStore(url, SECRET)) as store:
        store.write(scope, [PutModel(StaticEmbedder().model)])
        tell("fill", written(store, scope, rows, args.memories))
    asked = questions(words, args.questions, SEED + 7, args.memories)
    tell("without", {**searched(url, asked), **stored(url, scope, rows)})
    owner = url.replace("scrubjay_app@", "scrubjay_owner@")
    with closing(PostgresStore(owner, SECRET)) as store:
        made = store.enlarge(scope, lambda _: None)
        tell("made", {"seconds": round(made.seconds, 1), "load": load()})
    tell("with", {**searched(url, asked), **stored(url, scope, rows)})
    tell("recall", recalled(url, scope, questions(words, 100, SEED + 5, args.memories)))


class Rows:
    """Memories with their terms and vectors, made ready as they are asked for."""

    def __init__(self, words: Sequence[str], count: int) -> None:
        self._new = (memory for _, batch in arrivals(words, count, SEED) for memory in batch)
        self._base = StaticEmbedder()
        self._seen: set[str] = set()
        self._made = 0

    def take(self, count: int) -> list[PreparedMemory]:
        """Return so many more."""
        found: list[PreparedMemory] = []
        for new in self._new:
            one = prepare_memory(validate_memory(new, Scope("any", USER), SECRET).record)
            if one.record.id in self._seen:
                continue
            self._seen.add(one.record.id)
            self._made += 1
            if self._made % RARE == 0:
                one = replace(one, record=replace(one.record, tags=(*one.record.tags, "rare")))
            found.append(one)
            if len(found) == count:
                break
        return embed_memories(found, [""] * len(found), self._base)


def written(store: PostgresStore, scope: Scope, rows: Rows, count: int) -> dict[str, Any]:
    """Write so many memories."""
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
    """Search as the product does.

    Raises:
        HollowError: Most found nothing.
    """
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
    told = {"search": percentiles(warm), "rare": percentiles(rare), "after": percentiles(after)}
    return {"first": round(first), **told, "load": load()}


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
    """Compare the nearest ten with the exact ones.

    Raises:
        HollowError: A filter passes fewer than ten.
    """
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="put the figures at the top of bench/LOG.md")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
