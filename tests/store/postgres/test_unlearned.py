"""A table that was just filled, of which the server has learned nothing: memories are looked up by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from scrubjay.memory.scope import Scope
from scrubjay.store.changes import PutMemory
from scrubjay.store.postgres import reader, whole
from scrubjay.store.postgres.rows import FIELDS
from scrubjay.store.postgres.store import PostgresStore
from scrubjay.testing.postgres_server import database
from scrubjay.testing.store_samples import memory, write

ANN = Scope("filled", "ann")
MANY = 40_000
"""Of a few thousand the server may read all instead, in a millisecond."""
COPIES = (
    f"INSERT INTO memory ({FIELDS}) SELECT {FIELDS.replace(' hash,', ' n,')} "
    "FROM memory, generate_series(1, %s) n"
)
LEARNED = "SELECT count(*) FROM pg_stats WHERE schemaname = 'scrubjay' AND tablename = 'memory'"


@pytest.fixture(scope="module")
def filled(postgres_url: str) -> Iterator[str]:
    """The URL of a database of its own with one tenant, which autovacuum leaves alone."""
    with database(postgres_url, "filled") as url:
        with closing(PostgresStore(url)) as store:
            with psycopg.connect(url, autocommit=True) as owner:
                owner.execute("ALTER TABLE scrubjay.memory SET (autovacuum_enabled = false)")
            write(store, ANN, PutMemory(memory("jay", "user:ann")))
        with psycopg.connect(url, autocommit=True, options="-c search_path=scrubjay") as owner:
            owner.execute(COPIES, (MANY,))
        yield url


@pytest.mark.parametrize("many", [1, 10])
@pytest.mark.parametrize(
    "statement",
    [
        whole.TIERS,
        f"SELECT m.num FROM memory m WHERE {reader.SCOPE} AND m.hash = ANY(%s::bigint[])",
    ],
    ids=["whole", "scope"],
)
def test_memories_are_looked_up_by_their_numbers_in_a_table_that_was_just_filled(
    filled: str, statement: str, many: int
) -> None:
    """By another index each look reads all that the tenant has: a copy of 20,000 took minutes of it."""
    with psycopg.connect(filled, autocommit=True, options="-c search_path=scrubjay") as db:
        assert db.execute(LEARNED).fetchone() == (0,)
        asked = [number for (number,) in db.execute("SELECT hash FROM memory LIMIT %s", (many,)).fetchall()]
        keys = () if "m.key" not in statement else (["user:ann", "public"],)
        ((plan,),) = db.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", (1, 1, *keys, asked)
        ).fetchall()
    top = plan[0]["Plan"]
    scan = top.get("Plans", [top])[0]  # below a bitmap's heap there is its index
    assert "hash" in scan.get("Index Cond", ""), top
    assert top.get("Rows Removed by Filter", 0) == 0
    assert top["Actual Rows"] == many
