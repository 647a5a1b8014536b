"""Tenant: the number, secret and current generation of a tenant, named to both fences.

Each statement about rows names its tenant: the first fence. The second are the policies of `migrations.M005`, which let
a transaction see and write only the rows of the tenant that it has named in its settings, and none before it has.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreVersionError
from scrubjay.store.kept import Tenant
from scrubjay.store.postgres.migrations import newest

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

MARK: Final = "="
"""Stands before the name in the setting: a setting that is not there reads as an empty text, and so might a name."""
NAME: Final = (
    "SELECT set_config('scrubjay.tenant_name', %s, true), set_config('scrubjay.tenant', '', true), "
    "(SELECT max(id) FROM migration)"
)
FIND: Final = (
    "SELECT id, secret, generation, mark, posted, set_config('scrubjay.tenant', id::text, true) FROM tenant "
    "WHERE name = %s"
)


def find(db: Database, name: str) -> Tenant | None:
    """Return a tenant, None before its first write, and let the transaction see its rows and no others.

    Args:
        db: Inside a transaction.
        name: The tenant's name.

    Raises:
        StoreVersionError: Another scrubjay has changed the schema since this one opened the store.
    """
    row = db.execute(NAME, (MARK + name,)).fetchone()
    if row is not None and row[2] != newest():
        raise StoreVersionError(
            f"The database {db.info.dbname} has schema {row[2]} by now; this scrubjay knows {newest()}. "
            "Nothing was written.",
            hint="start it again, of the version that the others have: `pip install --upgrade scrubjay`",
        )
    return _found(db, name)


def _found(db: Database, name: str) -> Tenant | None:
    row = db.execute(FIND, (name,)).fetchone()
    return None if row is None else Tenant(row[0], bytes(row[1]), row[2], row[3], row[4])


def obtain(db: Database, name: str, secret: bytes | None, patience: float) -> Tenant:
    """Return a tenant that nobody else writes to until the transaction ends; made now if it is new.

    Args:
        db: Inside a transaction.
        name: The tenant's name.
        secret: Its secret if it is new; random when left out.
        patience: Seconds to wait for another writer.

    Raises:
        StoreVersionError: As `find`.
    """
    # Nought would mean for ever.
    db.execute("SELECT set_config('lock_timeout', %s, true)", (f"{max(1, round(patience * 1000))}ms",))
    # The tenant's name, not its number: a tenant that is not there yet must be locked, too.
    db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 1))", (name,))
    found = find(db, name)
    if found is None:
        durable(db)  # whoever is told the secret makes ids of it: it must not be another one after a crash
        row = (name, secret or secrets.token_bytes(32))
        db.execute("INSERT INTO tenant (name, secret) VALUES (%s, %s)", row)
        found = _found(db, name)
    assert found is not None
    return found


def durable(db: Database) -> None:
    """Let the transaction's commit wait for the disk, whatever else it holds."""
    db.execute("SELECT set_config('synchronous_commit', 'on', true)")


def held(db: Database, tenant: Tenant) -> dict[str, int]:
    """Return visibility key to how many memories a tenant holds; it reads an index of all of them."""
    asked = "SELECT key, count(*) FROM memory WHERE tenant = %s AND generation = %s GROUP BY key"
    return dict(db.execute(asked, (tenant.number, tenant.generation)).fetchall())


def touch(db: Database, tenant: Tenant) -> int:
    """Give a tenant another mark, and return it: what was read of it before is no longer how it is."""
    mark = secrets.randbits(63)
    db.execute("UPDATE tenant SET mark = %s WHERE id = %s", (mark, tenant.number))
    return mark
