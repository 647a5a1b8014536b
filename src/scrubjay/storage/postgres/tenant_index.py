"""Index of a large tenant: word blocks, a pgvector index and change marks, so that a search reads only what it needs.

Every write of an indexed tenant lists, under its mark, the memories that it inserted, removed or gave another status.
A block holds the postings of some thousand memories, a row a word; newer words are read off the memories. Blocks hold
memories of any visibility key: the reader keeps those of its own table. There is one pgvector index a tenant and model;
it stores the codes as half floats, which hold them exactly, and only nominates: every store scores the canonical codes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from scrubjay.storage.postgres.connection import SCHEMA
from scrubjay.storage.postgres.schema import OWN_TENANT, ROW_POLICY
from scrubjay.storage.scoring import TermMatches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.table import MemoryTable


class LargeTenantLimits(NamedTuple):
    """Limits, in memories.

    Attributes:
        rows: A scope that sees more is large. All postings of so many take about 25 MB. Reading only some takes the
            server as long as reading all, as it looks through every memory: among 22,000 it took six times as long
            (bench/LOG.md).
        nominated: How many the index names for a search: .983 of the nearest ten are among 1,000, .957 among 400.
        alike: The same for each of the texts of a write, of which only the very nearest are wanted.
        gathered: A filter that passes fewer than the root of this times all rows skips the index: reading a vector
            takes 2 to 5 µs, visiting one in the index 30.
    """

    rows: int = 50_000
    nominated: int = 1_000
    alike: int = 200
    gathered: int = 6_000

    def few(self, passing: int, rows: int, minimum: int) -> bool:
        """Return whether so few rows pass that all of them are scored."""
        return passing <= max(minimum, sqrt(self.gathered * rows))


DEFAULT_LIMITS: Final = LargeTenantLimits()


MAX_MARKS: Final = 256
"""Writes of a tenant that are listed; a reader of an older state reads everything."""
MAX_TOUCHED: Final = 8_192
"""Memories that are listed of a write; after a larger one every reader reads everything."""


def note_changes(db: Database, tenant: int, mark: int, touched: Collection[int]) -> None:
    if len(touched) > MAX_TOUCHED:
        forget_changes(db, tenant)
        touched = ()
    db.execute(
        "INSERT INTO change (tenant, mark, nums) VALUES (%s, %s, %s::bigint[])",
        (tenant, mark, sorted(touched)),
    )
    db.execute(
        "DELETE FROM change WHERE tenant = %s AND seq <= "
        "(SELECT c.seq FROM change c WHERE c.tenant = %s ORDER BY c.seq DESC OFFSET %s LIMIT 1)",
        (tenant, tenant, MAX_MARKS),
    )


def forget_changes(db: Database, tenant: int) -> None:
    db.execute("DELETE FROM change WHERE tenant = %s", (tenant,))


def changes_since(db: Database, tenant: int, before: int, now: int) -> list[int] | None:
    """Return the numbers of the memories touched between two marks, None where that is not known."""
    rows = db.execute(
        "SELECT c.mark, c.nums FROM change c WHERE c.tenant = %s AND c.seq > "
        "(SELECT b.seq FROM change b WHERE b.tenant = %s AND b.mark = %s) ORDER BY c.seq",
        (tenant, tenant, before),
    ).fetchall()
    if not rows or rows[-1][0] != now:
        return None
    return sorted({num for _, nums in rows for num in nums})


BLOCK_POSTINGS: Final = 8_192
"""Memories of a block, and most memories whose words are read off themselves."""
PACKED_NUMBER: Final = np.dtype([("bytes", ">i4"), ("value", ">i8")])
PACKED_COUNT: Final = np.dtype([("bytes", ">i4"), ("value", ">i2")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""
INSERT_BLOCK: Final = (
    "INSERT INTO posting (tenant, term, first, last, nums, tfs) SELECT m.tenant, t.term, min(m.num), max(m.num), "
    "array_agg(m.num ORDER BY m.num), array_agg(t.tf ORDER BY m.num) FROM memory m "
    "CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
    "WHERE m.tenant = %s AND m.num > %s AND m.num <= %s GROUP BY m.tenant, t.term"
)
REMOVE_FROM_BLOCK: Final = (
    "UPDATE posting p SET nums = array(SELECT u.num FROM unnest(p.nums, p.tfs) AS u (num, tf) "
    "WHERE u.num <> ALL(%(gone)s::bigint[]) ORDER BY u.num), "
    "tfs = array(SELECT u.tf FROM unnest(p.nums, p.tfs) AS u (num, tf) "
    "WHERE u.num <> ALL(%(gone)s::bigint[]) ORDER BY u.num) "
    "WHERE p.tenant = %(tenant)s AND p.term = ANY(%(terms)s::integer[]) AND p.first <= %(last)s "
    "AND p.last >= %(first)s AND p.nums && %(gone)s::bigint[]"
)


@dataclass(slots=True)
class RemovedMemories:
    """Removed memories, those of them that blocks still hold, and these' words."""

    nums: set[int] = field(default_factory=set)
    in_blocks: set[int] = field(default_factory=set)
    terms: set[int] = field(default_factory=set)

    def add(self, num: int, terms: Sequence[int]) -> None:
        self.nums.add(num)
        self.in_blocks.add(num)
        self.terms.update(terms)


def extend_blocks(db: Database, tenant: int, least: int | None = None) -> int:
    """Add a block of what was written since the last one, if it has ``least`` memories (default: a full one)."""
    ((posted,),) = db.execute("SELECT posted FROM tenant WHERE id = %s", (tenant,)).fetchall()
    ((last, count),) = db.execute(
        "SELECT max(num), count(*) FROM (SELECT m.num FROM memory m WHERE m.tenant = %s AND m.num > %s "
        "ORDER BY m.num LIMIT %s) late",
        (tenant, posted, BLOCK_POSTINGS),
    ).fetchall()
    if not count or count < (BLOCK_POSTINGS if least is None else least):
        return 0
    db.execute(INSERT_BLOCK, (tenant, posted, last))
    db.execute("UPDATE tenant SET posted = %s WHERE id = %s", (last, tenant))
    return int(count)


def drop_blocks(db: Database, tenant: int) -> None:
    db.execute("DELETE FROM posting WHERE tenant = %s", (tenant,))
    db.execute("UPDATE tenant SET posted = 0 WHERE id = %s", (tenant,))


def remove_from_blocks(db: Database, tenant: int, removed: RemovedMemories) -> None:
    if not removed.in_blocks:
        return
    words, nums = sorted(removed.terms), sorted(removed.in_blocks)
    values = {"tenant": tenant, "gone": nums, "terms": words, "first": nums[0], "last": nums[-1]}
    db.execute(REMOVE_FROM_BLOCK, values)
    empty = "DELETE FROM posting WHERE tenant = %s AND term = ANY(%s::integer[]) AND nums = '{}'"
    db.execute(empty, (tenant, words))
    removed.in_blocks.clear()
    removed.terms.clear()


def find_in_blocks(
    db: Database, tenant: int, table: MemoryTable, wanted: Sequence[int]
) -> dict[int, TermMatches]:
    rows = db.execute(
        "SELECT p.term, string_agg(substr(array_send(p.nums), 21), '' ORDER BY p.first), "
        "string_agg(substr(array_send(p.tfs), 21), '' ORDER BY p.first) FROM posting p "
        "WHERE p.tenant = %s AND p.term = ANY(%s::integer[]) GROUP BY p.term",
        (tenant, list(wanted)),
        binary=True,
    ).fetchall()
    return {term: _visible_matches(table, nums, tfs) for term, nums, tfs in rows}


def _visible_matches(table: MemoryTable, nums: bytes, tfs: bytes) -> TermMatches:
    memories = np.frombuffer(nums, PACKED_NUMBER)["value"].astype(np.int64)
    counts = np.frombuffer(tfs, PACKED_COUNT)["value"].astype(np.float64)
    visible = table.columns["num"]
    rows = np.searchsorted(visible, memories)
    is_visible = rows < len(visible)
    is_visible[is_visible] = visible[rows[is_visible]] == memories[is_visible]
    return rows[is_visible], counts[is_visible]


FILLING: Final = "filling"
READY: Final = "ready"
LEAST_VERSION: Final = (0, 8)
"""Minimum version of pgvector: the first whose index search continues until it has enough (``hnsw.iterative_scan``)."""
MOST_DIMENSIONS: Final = 4_000
"""Maximum number of dimensions of pgvector's index, at two bytes each."""
HNSW_M: Final = 16
HNSW_EF_CONSTRUCTION: Final = 200
"""Links of a vector, and how many are visited at its insertion. Of 100,000 synthetic memories 1,000 nominations held
.983 of the nearest ten, .973 with pgvector's default 64; with 32 links .997, in twice the time (bench/LOG.md)."""
HNSW_EF_SEARCH: Final = 400
"""Candidates of an index search (``hnsw.ef_search``)."""
BUILD_MEMORY: Final = "1GB"
"""Memory to build an index: a graph that does not fit takes many times longer; 100,000 vectors take 100 MB."""
CREATE_TABLE: Final = """
CREATE TABLE neighbour (
    tenant bigint NOT NULL, memory bigint NOT NULL, model bigint NOT NULL, place integer NOT NULL,
    codes {at}.halfvec NOT NULL, PRIMARY KEY (tenant, memory, model, place),
    FOREIGN KEY (tenant, memory, model, place) REFERENCES vector ON DELETE CASCADE
);
"""
CREATE_INDEX: Final = (
    "CREATE INDEX CONCURRENTLY {name} ON neighbour USING hnsw "
    "((codes::{at}.halfvec({dimensions})) {at}.halfvec_cosine_ops) WITH (m = {links}, ef_construction = {effort}) "
    "WHERE tenant = {tenant} AND model = {model}"
)
FIND_CODES_TYPE: Final = """
SELECT quote_ident(n.nspname) FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE a.attrelid = to_regclass(%s) AND a.attname = 'codes' AND NOT a.attisdropped
"""
"""Schema of the type of the table's codes; no row where there is no such table or pgvector was dropped."""
FIND_INDEX: Final = """
SELECT greatest(c.reltuples, 0) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indexrelid = to_regclass(%s) AND i.indisvalid
"""
FIND_EXTENSION: Final = """
SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
WHERE e.extname = 'vector'
"""
SEARCH_SETTINGS: Final = (
    "SELECT set_config('hnsw.iterative_scan', %s, true), set_config('hnsw.ef_search', %s, true), "
    "set_config('hnsw.max_scan_tuples', %s, true), set_config('hnsw.scan_mem_multiplier', '8', true)"
)
ITERATIVE_SCAN: Final = "relaxed_order"
"""Strict order drops late finds that are nearer than what was returned already. Nominations are scored anyway, so order
does not matter: 1,000 of them held .983 of the nearest ten, and .957 in strict order (bench/LOG.md)."""


class NeighbourIndex(NamedTuple):
    """A usable index: the quoted schema of pgvector's type, and about how many vectors it holds."""

    schema: str
    vectors: int


def pgvector_schema(db: Database) -> str | None:
    row = db.execute(FIND_EXTENSION).fetchone()
    if row is None or tuple(map(int, re.findall(r"\d+", row[1])[:2])) < LEAST_VERSION:
        return None
    return str(row[0])


def codes_type_schema(db: Database) -> str | None:
    row = db.execute(FIND_CODES_TYPE, (f"{SCHEMA}.neighbour",)).fetchone()
    return None if row is None else str(row[0])


def find_index(db: Database, tenant: int, model: int) -> NeighbourIndex | None:
    """Return the index of a tenant's model, None where there is none or it was not finished."""
    row = db.execute(FIND_INDEX, (f"{SCHEMA}.neighbour_{tenant}_{model}",)).fetchone()
    schema = None if row is None else codes_type_schema(db)
    return None if row is None or schema is None else NeighbourIndex(schema, int(row[0]))


def create_neighbour_table(db: Database, schema: str) -> None:
    db.execute(CREATE_TABLE.format(at=schema))
    db.execute(ROW_POLICY.format(table="neighbour", own=OWN_TENANT))


def create_neighbour_index(db: Database, schema: str, tenant: int, model: int, dimensions: int) -> None:
    """Build the index of a tenant's model, outside a transaction; an unfinished one is replaced."""
    drop_neighbour_index(db, tenant, model)
    db.execute(f"SET maintenance_work_mem TO '{BUILD_MEMORY}'")
    db.execute(
        CREATE_INDEX.format(
            name=f"neighbour_{tenant}_{model}", at=schema, dimensions=int(dimensions), links=HNSW_M,
            effort=HNSW_EF_CONSTRUCTION,
            tenant=int(tenant), model=int(model),
        )
    )  # fmt: skip


def drop_neighbour_index(db: Database, tenant: int, model: int) -> None:
    db.execute(f"DROP INDEX CONCURRENTLY IF EXISTS neighbour_{tenant}_{model}")


def put_neighbours(db: Database, tenant: int, model: int, rows: Iterable[tuple[int, int, bytes]]) -> None:
    """Write vectors (memory, place, codes) into the table, if it exists."""
    schema = codes_type_schema(db)
    values = [(num, place, str(np.frombuffer(data, np.int8).tolist())) for num, place, data in rows]
    if schema is None or not values:
        return
    nums, places, codes = [list(column) for column in zip(*values, strict=True)]
    db.execute(
        "INSERT INTO neighbour (tenant, memory, model, place, codes) "
        f"SELECT %s, memory, %s, place, codes::{schema}.halfvec "
        "FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS new (memory, place, codes)",
        (tenant, model, nums, places, codes),
    )


def nominate_neighbours(
    db: Database, schema: str, tenant: int, model: int, queries: NDArray[np.float32], limit: int
) -> list[NDArray[np.int64]]:
    """Return, for each query (codes), the memories of the ``limit`` windows nearest to it."""
    db.execute(SEARCH_SETTINGS, (ITERATIVE_SCAN, str(HNSW_EF_SEARCH), str(max(20_000, 4 * limit))))
    width = int(queries.shape[1])
    rows = db.execute(
        "SELECT q.place, n.memory FROM unnest(%s::text[]) WITH ORDINALITY AS q (codes, place) CROSS JOIN LATERAL ("
        "SELECT v.memory FROM neighbour v WHERE v.tenant = %s AND v.model = %s "
        f"ORDER BY v.codes::{schema}.halfvec({width}) OPERATOR({schema}.<=>) q.codes::{schema}.halfvec({width}) "
        "LIMIT %s) n",
        ([str(query.astype(np.int64).tolist()) for query in queries], tenant, model, limit),
        prepare=False,  # a generic plan could not use the partial index of this tenant's model
    ).fetchall()
    by_query: list[list[int]] = [[] for _ in queries]
    for place, memory in rows:
        by_query[place - 1].append(memory)
    return [np.unique(np.array(nums, np.int64)) for nums in by_query]


def missing_neighbours(
    db: Database, tenant: int, model: int, after: int, limit: int
) -> Sequence[tuple[int, int, bytes]]:
    rows = db.execute(
        "SELECT v.memory, v.place, v.data FROM vector v WHERE v.tenant = %s AND v.model = %s AND v.memory > %s "
        "AND NOT EXISTS (SELECT FROM neighbour n WHERE n.tenant = v.tenant AND n.memory = v.memory "
        "AND n.model = v.model AND n.place = v.place) ORDER BY v.memory, v.place LIMIT %s",
        (tenant, model, after, limit),
    ).fetchall()
    return [(memory, place, bytes(data)) for memory, place, data in rows]


def clear_neighbours(db: Database, tenant: int, model: int) -> None:
    if codes_type_schema(db) is not None:
        db.execute("DELETE FROM neighbour WHERE tenant = %s AND model = %s", (tenant, model))
