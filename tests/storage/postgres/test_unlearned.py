"""A table that was just filled, of which the server has learned nothing: memories are looked up by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from scrubjay.models.records import Scope
from scrubjay.storage.changes import PutMemory
from scrubjay.storage.postgres import rows, tenant_reader
from scrubjay.storage.postgres.rows import MEMORY_COLUMNS
from scrubjay.storage.postgres.store import PostgresStore
from store_contract.postgres_server import temporary_database
from store_contract.samples import sample_memory, write_changes

ANN = Scope("filled", "ann")
MANY = 40_000
"""Of a few thousand the server may read all instead, in a millisecond."""
COPIES = (
    f"INSERT INTO memory ({MEMORY_COLUMNS}) SELECT {MEMORY_COLUMNS.replace(' hash,', ' n,')} "
    "FROM memory, generate_series(1, %s) n"
)
LEARNED = "SELECT count(*) FROM pg_stats WHERE schemaname = 'scrubjay' AND tablename = 'memory'"


@pytest.fixture(scope="module")
def filled(postgres_url: str) -> Iterator[str]:
    """The URL of a database of its own with one tenant, which autovacuum leaves alone."""
    with temporary_database(postgres_url, "filled") as url:
        with closing(PostgresStore(url)) as store:
            with psycopg.connect(url, autocommit=True) as owner:
                owner.execute("ALTER TABLE scrubjay.memory SET (autovacuum_enabled = false)")
            write_changes(store, ANN, PutMemory(sample_memory("jay", "user:ann")))
        with psycopg.connect(url, autocommit=True, options="-c search_path=scrubjay") as owner:
            owner.execute(COPIES, (MANY,))
        yield url


@pytest.mark.parametrize("many", [1, 10])
@pytest.mark.parametrize(
    "statement",
    [
        tenant_reader.SELECT_TIERS,
        f"SELECT m.num FROM memory m WHERE {rows.IN_SCOPE} AND m.hash = ANY(%s::bigint[])",
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
