"""Neighbours: the vectors of large tenants once more, in pgvector's type, under an index that nominates the nearest.

The index only nominates: who asks reads the canonical codes of what it names, and scores them as every store does. So
the codes stand here as whole numbers without their scale, which half a float holds exactly, and are compared by their
angle. There is an index a tenant and model, as one over all tenants would find strangers first and drop them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.store.postgres.connect import SCHEMA
from scrubjay.store.postgres.migrations import FENCE, OWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.store.postgres.connect import Database

FILLING: Final = "filling"
READY: Final = "ready"
LEAST_VERSION: Final = (0, 8)
"""Of pgvector: from it on a search of the index goes on until enough is found (``hnsw.iterative_scan``)."""
MOST_DIMENSIONS: Final = 4_000
"""Of a vector that pgvector's index takes, two bytes a dimension."""
LINKS: Final = 16
EFFORT: Final = 200
"""Links of a vector, and how many are looked at when it is put in. Of 100,000 made-up memories 1,000 nominations held
.983 of the nearest ten, .973 with pgvector's usual 64; with 32 links .997, in twice the time (bench/LOG.md)."""
LOOKED_AT: Final = 400
"""Vectors that the search of the index keeps in hand (``hnsw.ef_search``)."""
MEMORY: Final = "1GB"
"""For the making of an index: a graph that does not fit is finished many times slower; 100,000 vectors take 100 MB."""
MADE: Final = """
CREATE TABLE neighbour (
    tenant bigint NOT NULL, memory bigint NOT NULL, model bigint NOT NULL, place integer NOT NULL,
    codes {at}.halfvec NOT NULL, PRIMARY KEY (tenant, memory, model, place),
    FOREIGN KEY (tenant, memory, model, place) REFERENCES vector ON DELETE CASCADE
);
"""
INDEX: Final = (
    "CREATE INDEX CONCURRENTLY {name} ON neighbour USING hnsw "
    "((codes::{at}.halfvec({dimensions})) {at}.halfvec_cosine_ops) WITH (m = {links}, ef_construction = {effort}) "
    "WHERE tenant = {tenant} AND model = {model}"
)
AT: Final = """
SELECT quote_ident(n.nspname) FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE a.attrelid = to_regclass(%s) AND a.attname = 'codes' AND NOT a.attisdropped
"""
"""Where the type of pgvector is that the table has; nothing where there is no such table or pgvector was dropped."""
FOUND: Final = """
SELECT greatest(c.reltuples, 0) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indexrelid = to_regclass(%s) AND i.indisvalid
"""
EXTENSION: Final = """
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'
"""
SEARCHED: Final = (
    "SELECT set_config('hnsw.iterative_scan', %s, true), set_config('hnsw.ef_search', %s, true), "
    "set_config('hnsw.max_scan_tuples', %s, true), set_config('hnsw.scan_mem_multiplier', '8', true)"
)
ORDER: Final = "relaxed_order"
"""How the search of the index goes on. In strict order it drops what it finds late though it is nearer than what it
gave already. As what is nominated is scored anyway, its order is worth nothing: 1,000 nominations held .983 of the
nearest ten, and .957 in strict order (bench/LOG.md)."""


class Index(NamedTuple):
    """An index that can be asked.

    Attributes:
        here: Where pgvector's type is, quoted.
        vectors: How many it holds, as the server last counted them.
    """

    here: str
    vectors: int


def extension(db: Database) -> str | None:
    """Return where pgvector is, quoted; None where it is not installed or too old."""
    found = db.execute(EXTENSION).fetchone()
    if found is None or tuple(map(int, re.findall(r"\d+", found[1])[:2])) < LEAST_VERSION:
        return None
    return str(found[0])


def at(db: Database) -> str | None:
    """Return where the type of the table's codes is, quoted; None where there is no such table."""
    found = db.execute(AT, (f"{SCHEMA}.neighbour",)).fetchone()
    return None if found is None else str(found[0])


def named(tenant: int, model: int) -> str:
    """Return the name of an index."""
    return f"neighbour_{tenant}_{model}"


def index(db: Database, tenant: int, model: int) -> Index | None:
    """Return the index of a tenant's model, None where there is none, or one that was not made to its end."""
    found = db.execute(FOUND, (f"{SCHEMA}.{named(tenant, model)}",)).fetchone()
    here = None if found is None else at(db)
    return None if found is None or here is None else Index(here, int(found[0]))


def make_table(db: Database, here: str) -> None:
    """Make the table, fenced, where pgvector is ``here``."""
    db.execute(MADE.format(at=here))
    db.execute(FENCE.format(table="neighbour", own=OWN))


def make_index(db: Database, here: str, tenant: int, model: int, dimensions: int) -> None:
    """Make the index of a tenant's model, outside of a transaction; one that was stopped halfway makes way for it."""
    drop_index(db, tenant, model)
    db.execute(f"SET maintenance_work_mem TO '{MEMORY}'")
    db.execute(
        INDEX.format(
            name=named(tenant, model), at=here, dimensions=int(dimensions), links=LINKS, effort=EFFORT,
            tenant=int(tenant), model=int(model),
        )
    )  # fmt: skip


def drop_index(db: Database, tenant: int, model: int) -> None:
    """Remove the index of a tenant's model, outside of a transaction."""
    db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {named(tenant, model)}")


def put(db: Database, tenant: int, model: int, rows: Iterable[tuple[int, int, bytes]]) -> None:
    """Write vectors into the table, if it is there.

    Args:
        db: Inside the transaction that writes them into ``vector``.
        tenant: Its number.
        model: The model's number.
        rows: Memory, place and codes of each.
    """
    here = at(db)
    held = [(num, place, str(np.frombuffer(data, np.int8).tolist())) for num, place, data in rows]
    if here is None or not held:
        return
    nums, places, codes = [list(column) for column in zip(*held, strict=True)]
    db.execute(
        "INSERT INTO neighbour (tenant, memory, model, place, codes) "
        f"SELECT %s, memory, %s, place, codes::{here}.halfvec "
        "FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS new (memory, place, codes)",
        (tenant, model, nums, places, codes),
    )


def nominated(
    db: Database, here: str, model: tuple[int, int], queries: NDArray[np.float32], most: int
) -> list[NDArray[np.int64]]:
    """Return, for each query, the numbers of memories with a window near to it: nearly always the nearest there are.

    Args:
        db: Inside a transaction.
        here: Where pgvector's type is, quoted.
        model: Numbers of the tenant and of its model.
        queries: Whole numbers within ±127, shape (queries, dimensions).
        most: Windows for each query.
    """
    db.execute(SEARCHED, (ORDER, str(LOOKED_AT), str(max(20_000, 4 * most))))
    width = int(queries.shape[1])
    found = db.execute(
        "SELECT q.place, n.memory FROM unnest(%s::text[]) WITH ORDINALITY AS q (codes, place) CROSS JOIN LATERAL ("
        "SELECT v.memory FROM neighbour v WHERE v.tenant = %s AND v.model = %s "
        f"ORDER BY v.codes::{here}.halfvec({width}) OPERATOR({here}.<=>) q.codes::{here}.halfvec({width}) "
        "LIMIT %s) n",
        ([str(query.astype(np.int64).tolist()) for query in queries], *model, most),
        prepare=False,  # planned with its numbers, else the index of this tenant's model could not be taken
    ).fetchall()
    of_query: list[list[int]] = [[] for _ in queries]
    for place, memory in found:
        of_query[place - 1].append(memory)
    return [np.unique(np.array(nums, np.int64)) for nums in of_query]


def missing(
    db: Database, tenant: int, model: int, after: int, limit: int
) -> Sequence[tuple[int, int, bytes]]:
    """Return some vectors that the table lacks, of memories after one: memory, place and codes."""
    found = db.execute(
        "SELECT v.memory, v.place, v.data FROM vector v WHERE v.tenant = %s AND v.model = %s AND v.memory > %s "
        "AND NOT EXISTS (SELECT FROM neighbour n WHERE n.tenant = v.tenant AND n.memory = v.memory "
        "AND n.model = v.model AND n.place = v.place) ORDER BY v.memory, v.place LIMIT %s",
        (tenant, model, after, limit),
    ).fetchall()
    return [(memory, place, bytes(data)) for memory, place, data in found]


def set_state(db: Database, tenant: int, model: int, state: str) -> None:
    """Note how far the index of a tenant's model is."""
    db.execute("UPDATE model SET neighbours = %s WHERE tenant = %s AND id = %s", (state, tenant, model))


def clear(db: Database, tenant: int, model: int) -> None:
    """Remove the vectors of a tenant's model from the table, if it is there."""
    if at(db) is not None:
        db.execute("DELETE FROM neighbour WHERE tenant = %s AND model = %s", (tenant, model))
