"""Tenant: the number, secret and current generation of a tenant."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.store.kept import Tenant

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database


def find(db: Database, name: str) -> Tenant | None:
    """Return a tenant, None before its first write."""
    row = db.execute("SELECT id, secret, generation FROM tenant WHERE name = ?", (name,)).fetchone()
    return None if row is None else Tenant(*row)


def held(db: Database, tenant: Tenant) -> dict[str, int]:
    """Return visibility key to how many memories a tenant holds: a row a segment, of thousands of memories each."""
    found = db.execute(
        "SELECT key, sum(live) FROM segment WHERE tenant = ? AND generation = ? GROUP BY key",
        (tenant.number, tenant.generation),
    ).fetchall()
    return dict(found)


def obtain(db: Database, name: str, secret: bytes | None = None) -> Tenant:
    """Return a tenant, made now with this or a random secret if it is new. Call it inside a transaction."""
    found = find(db, name)
    if found is None:
        db.execute("INSERT INTO tenant (name, secret) VALUES (?, ?)", (name, secret or os.urandom(32)))
        found = find(db, name)
    assert found is not None
    return found
