"""Tenant: the number, secret and current generation of a tenant."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from scrubjay.store.kept import Tenant

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database


def find(db: Database, name: str) -> Tenant | None:
    """Return a tenant, None before its first write."""
    row = db.execute("SELECT id, secret, generation FROM tenant WHERE name = %s", (name,)).fetchone()
    return None if row is None else Tenant(row[0], bytes(row[1]), row[2])


def obtain(db: Database, name: str, secret: bytes | None, patience: float) -> Tenant:
    """Return a tenant that nobody else writes to until the transaction ends; made now if it is new.

    Args:
        db: Inside a transaction.
        name: The tenant's name.
        secret: Its secret if it is new; random when left out.
        patience: Seconds to wait for another writer.
    """
    # Nought would mean for ever.
    db.execute("SELECT set_config('lock_timeout', %s, true)", (f"{max(1, round(patience * 1000))}ms",))
    # The tenant's name, not its number: a tenant that is not there yet must be locked, too.
    db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))
    found = find(db, name)
    if found is None:
        row = (name, secret or secrets.token_bytes(32))
        db.execute("INSERT INTO tenant (name, secret) VALUES (%s, %s)", row)
        found = find(db, name)
    assert found is not None
    return found
