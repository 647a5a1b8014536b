"""Marks: which memories each write of a large tenant touched, so that who has read the state before reads these alone.

Each transaction that writes puts another mark on its tenant's row, and here, under that mark, the numbers of the
memories that it inserted, removed or gave another status: what else may change of one is in no row that is kept.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

MOST_MARKS: Final = 256
"""Writes of a tenant that are told; who has read nothing for longer reads all again."""
MOST_TOUCHED: Final = 8_192
"""Memories that a write tells of; after one of more everybody reads all again."""


def note(db: Database, tenant: int, mark: int, touched: Collection[int]) -> None:
    """Note what the transaction that ends with a mark has touched."""
    if len(touched) > MOST_TOUCHED:
        forget(db, tenant)
        touched = ()
    db.execute(
        "INSERT INTO change (tenant, mark, nums) VALUES (%s, %s, %s::bigint[])",
        (tenant, mark, sorted(touched)),
    )
    db.execute(
        "DELETE FROM change WHERE tenant = %s AND seq <= "
        "(SELECT c.seq FROM change c WHERE c.tenant = %s ORDER BY c.seq DESC OFFSET %s LIMIT 1)",
        (tenant, tenant, MOST_MARKS),
    )


def forget(db: Database, tenant: int) -> None:
    """Let everybody read all again."""
    db.execute("DELETE FROM change WHERE tenant = %s", (tenant,))


def since(db: Database, tenant: int, before: int, now: int) -> list[int] | None:
    """Return the numbers of the memories touched after one mark, up to another one; None where that is not known."""
    found = db.execute(
        "SELECT c.mark, c.nums FROM change c WHERE c.tenant = %s AND c.seq > "
        "(SELECT b.seq FROM change b WHERE b.tenant = %s AND b.mark = %s) ORDER BY c.seq",
        (tenant, tenant, before),
    ).fetchall()
    if not found or found[-1][0] != now:
        return None
    return sorted({num for _, nums in found for num in nums})
