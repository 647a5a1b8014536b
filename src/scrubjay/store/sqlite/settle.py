"""Settle: what becomes of a memory's edges and events when it goes, or is seen by others than before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from scrubjay.store.kept import Tenant
from scrubjay.store.sqlite import sights
from scrubjay.store.sqlite.sights import BETWEEN_MEMORIES, INWARD

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

SIDES: Final = (
    ("edge", "tenant = ?1 AND src = ?2", 1),
    (f"edge {INWARD}", f"tenant = ?1 AND kind IN ({BETWEEN_MEMORIES}) AND dst = ?2", 3),
)
"""The edges that leave a memory and those that lead to it, as SQL, and the place of its key in their sights' names."""

EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ? AND memory = ?",
    "UPDATE event SET other = NULL WHERE tenant = ? AND other = ?",
)
"""What becomes of the events of a memory that goes, and of those that name it."""


def settle(db: Database, tenant: Tenant, before: Mapping[int, tuple[str, str]]) -> None:
    """Put the edges and events of memories right that were removed or replaced.

    Args:
        db: Inside a transaction.
        tenant: The tenant, with the generation that counts.
        before: Hash of a memory to the tier and key that it had. One that is not there any more loses its
            edges on both sides, and its events; edges of one that has another key now are seen by who sees that.
    """
    # Removing a memory costs nothing more where there is nothing to put right.
    connected, told = (
        db.execute(f"SELECT 1 FROM {table} WHERE tenant = ? LIMIT 1", (tenant.number,)).fetchone()
        for table in ("edge", "event")
    )
    if connected is None and told is None:
        return
    for number, (tier, key) in before.items():
        row = db.execute(
            "SELECT tier, key FROM memory WHERE tenant = ? AND hash = ? AND generation = ?",
            (tenant.number, number, tenant.generation),
        ).fetchone()
        if row is None or row[0] != tier:
            for edges, condition, _ in SIDES:
                db.execute(f"DELETE FROM {edges} WHERE {condition}", (tenant.number, number))
            for statement in EVENTS:
                db.execute(statement, (tenant.number, number))
        elif row[1] != key:
            _show(db, tenant.number, number, row[1])


def _show(db: Database, tenant: int, memory: int, key: str) -> None:
    """Renumber the sights of all edges of a memory whose key is another now."""
    for edges, condition, place in SIDES:
        found = db.execute(
            "SELECT id, key, src_key, src_tier, dst_key, dst_tier FROM sight "
            f"WHERE id IN (SELECT sight FROM {edges} WHERE {condition})",
            (tenant, memory),
        ).fetchall()
        for code, *name in found:
            name[place] = key
            seen = sights.obtain(db, tenant, tuple(name))
            db.execute(
                f"UPDATE {edges} SET sight = ?3 WHERE {condition} AND sight = ?4",
                (tenant, memory, seen, code),
            )
