"""Blocks: the words of a large tenant's memories by word, so that a search reads those of its own words alone.

Some thousand memories at a time, and each word of theirs a row: a row a posting would be twice the store. What was
written since the last block is read off the memories themselves. A block names memories by number, of any visibility:
who reads it keeps those of its own table, so that nothing of a stranger's is felt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from scrubjay.store.scored import Found

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.table import Table

BLOCK: Final = 8_192
"""Memories of a block; as many at most are looked through for what was written since the last one."""
NUMBER: Final = np.dtype([("bytes", ">i4"), ("value", ">i8")])
COUNT: Final = np.dtype([("bytes", ">i4"), ("value", ">i2")])
"""An element of an array as PostgreSQL sends it; the array's own head has 20 bytes."""
GONE: Final = "tier, hash, key, num, terms"
"""What is asked of a memory that is removed."""
POST: Final = (
    "INSERT INTO posting (tenant, term, first, last, nums, tfs) SELECT m.tenant, t.term, min(m.num), max(m.num), "
    "array_agg(m.num ORDER BY m.num), array_agg(t.tf ORDER BY m.num) FROM memory m "
    "CROSS JOIN LATERAL unnest(m.terms, m.tfs) AS t (term, tf) "
    "WHERE m.tenant = %s AND m.num > %s AND m.num <= %s GROUP BY m.tenant, t.term"
)
SCRUB: Final = (
    "UPDATE posting p SET nums = array(SELECT u.num FROM unnest(p.nums, p.tfs) AS u (num, tf) "
    "WHERE u.num <> ALL(%(gone)s::bigint[]) ORDER BY u.num), "
    "tfs = array(SELECT u.tf FROM unnest(p.nums, p.tfs) AS u (num, tf) "
    "WHERE u.num <> ALL(%(gone)s::bigint[]) ORDER BY u.num) "
    "WHERE p.tenant = %(tenant)s AND p.term = ANY(%(terms)s::integer[]) AND p.first <= %(last)s "
    "AND p.last >= %(first)s AND p.nums && %(gone)s::bigint[]"
)


@dataclass(slots=True)
class Gone:
    """Memories that were removed, by number; those that blocks still name, and the words that these held."""

    nums: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    terms: set[int] = field(default_factory=set)

    def add(self, num: int, terms: Sequence[int]) -> None:
        """Take one more in."""
        self.nums.add(num)
        self.left.add(num)
        self.terms.update(terms)


def extend(db: Database, tenant: int, least: int | None = None) -> int:
    """Put one block together of what was written since the last one, if that is enough.

    Args:
        db: Inside a transaction of the tenant's only writer.
        tenant: Its number.
        least: Memories that make a block; None for a full one.

    Returns:
        Memories of the block; 0 where there is none to make.
    """
    ((posted,),) = db.execute("SELECT posted FROM tenant WHERE id = %s", (tenant,)).fetchall()
    ((last, count),) = db.execute(
        "SELECT max(num), count(*) FROM (SELECT m.num FROM memory m WHERE m.tenant = %s AND m.num > %s "
        "ORDER BY m.num LIMIT %s) late",
        (tenant, posted, BLOCK),
    ).fetchall()
    if not count or count < (BLOCK if least is None else least):
        return 0
    db.execute(POST, (tenant, posted, last))
    db.execute("UPDATE tenant SET posted = %s WHERE id = %s", (last, tenant))
    return int(count)


def drop(db: Database, tenant: int) -> None:
    """Take all blocks of a tenant away."""
    db.execute("DELETE FROM posting WHERE tenant = %s", (tenant,))
    db.execute("UPDATE tenant SET posted = 0 WHERE id = %s", (tenant,))


def scrub(db: Database, tenant: int, gone: Gone) -> None:
    """Take memories out of the blocks, each once, inside the transaction that removes them."""
    if not gone.left:
        return
    words, nums = sorted(gone.terms), sorted(gone.left)
    values = {"tenant": tenant, "gone": nums, "terms": words, "first": nums[0], "last": nums[-1]}
    db.execute(SCRUB, values)
    empty = "DELETE FROM posting WHERE tenant = %s AND term = ANY(%s::integer[]) AND nums = '{}'"
    db.execute(empty, (tenant, words))
    gone.left.clear()
    gone.terms.clear()


def find(db: Database, tenant: int, seen: Table, wanted: Sequence[int]) -> dict[int, Found]:
    """Return the rows of a table that hold words, of those that the blocks know.

    Args:
        db: Inside a transaction.
        tenant: Its number.
        seen: The rows.
        wanted: Numbers of words.
    """
    found = db.execute(
        "SELECT p.term, string_agg(substr(array_send(p.nums), 21), '' ORDER BY p.first), "
        "string_agg(substr(array_send(p.tfs), 21), '' ORDER BY p.first) FROM posting p "
        "WHERE p.tenant = %s AND p.term = ANY(%s::integer[]) GROUP BY p.term",
        (tenant, list(wanted)),
        binary=True,
    ).fetchall()
    return {term: _seen(seen, nums, tfs) for term, nums, tfs in found}


def _seen(seen: Table, nums: bytes, tfs: bytes) -> Found:
    """Return those of some memories that a table has, as its rows."""
    held = np.frombuffer(nums, NUMBER)["value"].astype(np.int64)
    counts = np.frombuffer(tfs, COUNT)["value"].astype(np.float64)
    mine = seen.columns["num"]
    rows = np.searchsorted(mine, held)
    there = rows < len(mine)
    there[there] = mine[rows[there]] == held[there]
    return rows[there], counts[there]
