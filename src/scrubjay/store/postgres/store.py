"""The PostgreSQL store: many tenants, many processes, one server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, StoreBusyError, StoreError
from scrubjay.memory.reports import Enlarged, Progress
from scrubjay.memory.scope import Scope
from scrubjay.store.amounts import Amounts
from scrubjay.store.changes import Change
from scrubjay.store.postgres.connect import READ, SCHEMA, connect, need_driver, shown, spoken
from scrubjay.store.postgres.enlarging import Enlarging, lacking
from scrubjay.store.postgres.large import USUAL, Large
from scrubjay.store.postgres.migrations import migrate, newest, schema
from scrubjay.store.postgres.pool import MOST, PATIENCE_S, Pool
from scrubjay.store.postgres.reader import PostgresReader
from scrubjay.store.postgres.rebuild import PostgresRebuild
from scrubjay.store.postgres.snapshots import Snapshots
from scrubjay.store.postgres.tenant import find, held, obtain
from scrubjay.store.postgres.whole import PostgresWhole, tenants, whole
from scrubjay.store.postgres.writer import Writer
from scrubjay.store.quota import ANY, Quota
from scrubjay.store.snapshot import Snapshot

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

UNFENCED: Final = """
SELECT current_user::text, CASE
    WHEN bool_or(NOT row_security_active(c.oid)) IS NOT TRUE THEN ''
    WHEN bool_or(r.rolsuper) THEN 'a superuser'
    WHEN bool_or(r.rolbypassrls) THEN 'who has BYPASSRLS'
    ELSE 'as the tables are: they were changed' END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.rolname = current_user
WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND c.relname <> 'migration'
"""


class PostgresStore:
    """Memories in the schema ``scrubjay`` of one database.

    A reader has one repeatable-read transaction; a writer one transaction, alone in its tenant.

    Args:
        url: ``postgresql://user@host/database``, as libpq reads it.
        secret: Key of ids and tombstones for a new tenant; random when left out.
        patience: Seconds a writer waits for its turn, and anybody for a connection.
        most: Threads that read or write at once.
        quota: How many memories may be held.
        large: When a scope is searched by what was made for large tenants; None for the usual bounds.

    Raises:
        StoreVersionError: A newer scrubjay made the schema, or an older one did and this user may not change it.
        StoreError: The driver is not installed, or the server cannot be reached or used.
    """

    def __init__(
        self,
        url: str,
        secret: bytes | None = None,
        *,
        patience: float = PATIENCE_S,
        most: int = MOST,
        quota: Quota = ANY,
        large: Large | None = None,
    ) -> None:
        self.quota = quota
        self._amounts = Amounts()
        self._url = url
        self._secret = secret
        self._patience = patience
        self._large = USUAL if large is None else large
        need_driver(url)
        self._pool = Pool(url, most, patience)
        self._own = threading.local()
        self._snapshots = Snapshots()
        try:
            with self._pool.transaction(READ, gated=False) as db:
                done = schema(db, url)
            if done < newest():
                with spoken(url), closing(connect(url)) as db:
                    migrate(db, url, patience)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """What `open_store` opens it by, but for the password: libpq finds that in its own places."""
        return shown(self._url)

    def held(self, tenant: str) -> Mapping[str, int]:
        """Return visibility key to number of memories."""
        with self._pool.transaction(READ) as db:
            found = find(db, tenant)
            return held(db, found) if found else {}

    def secret(self, scope: Scope) -> bytes:
        """Return the tenant's key for ids and tombstones."""
        with self._pool.transaction(READ) as db:
            found = find(db, scope.tenant)
        if found is None:
            self.write(scope, ())
            return self.secret(scope)
        return found.secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[PostgresReader]:
        """Open a consistent view: everything in the block is read from one snapshot."""
        with self._pool.transaction(READ) as db:
            tenant = find(db, scope.tenant)
            kept = self._snapshots.of(tenant, scope.tenant, scope.keys) if tenant else Snapshot()
            yield PostgresReader(db, scope, tenant, kept, self._large)

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        """Apply all of these changes, or none."""
        self._still_alone()
        with self._pool.transaction() as db:
            # Without a wait for the disk a crash of the server may lose the last writes, never half of one.
            db.execute("SELECT set_config('synchronous_commit', %s, true)", ("on" if durable else "off",))
            seconds = self._patience if patience is None else patience
            tenant = obtain(db, scope.tenant, self._secret, seconds)
            writer = Writer(db, tenant, scope)
            writer.apply_all(changes)
            named, count = (scope.tenant, tenant), partial(held, db, tenant)
            after = self._amounts.admit(self.quota, named, tenant.mark, writer.gained, changes, count)
        self._amounts.keep(tenant, writer.mark, after)
        self._snapshots.drop(scope.tenant)

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        """Return whether another writer of the tenant is at work."""
        try:
            with self._pool.transaction() as db:
                obtain(db, scope.tenant, self._secret, patience)
        except StoreBusyError:
            return True
        return False

    @contextmanager
    def alone(self, scope: Scope, name: str) -> Iterator[bool]:
        """Tell whether no other session holds a name; one of its own, which the server ends with its process."""
        import psycopg

        with spoken(self._url):
            db = connect(self._url)
        with closing(db):
            with spoken(self._url):
                row = db.execute(
                    "SELECT pg_try_advisory_lock(hashtextextended(%s, 2))", (f"{scope.tenant}\x1f{name}",)
                ).fetchone()
            mine = row is not None and bool(row[0])
            outer = self._holding()
            self._own.holding = (*outer, db) if mine else outer
            try:
                yield mine
            finally:
                self._own.holding = outer
                with suppress(psycopg.OperationalError):  # a session that is lost holds nothing any more
                    db.execute("SELECT pg_advisory_unlock_all()")

    def _holding(self) -> tuple[Database, ...]:
        """Return the sessions that hold names for this thread."""
        held: tuple[Database, ...] = getattr(self._own, "holding", ())
        return held

    def _still_alone(self) -> None:
        """Write nothing for whoever has lost what keeps others from the same: one of them may have begun by now.

        Raises:
            StoreError: The session that held a name for this thread is lost.
        """
        for db in self._holding():
            with spoken(self._url):
                db.execute("SELECT 1")

    def tenants(self) -> list[str]:
        """Return the names of all tenants."""
        with self.reader(Scope("", "")) as reader:
            return tenants(reader, self.url)

    @contextmanager
    def whole(self, tenant: str) -> Iterator[PostgresWhole]:
        """Open a consistent view of all that a tenant has."""
        with self.reader(Scope(tenant, "")) as reader:
            # Whoever copies or compares looks at the other store for a while.
            reader._db.execute("SET LOCAL idle_in_transaction_session_timeout TO '1h'")
            yield whole(reader, tenant)

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[PostgresRebuild]:
        """Fill the next generation beside the current one, then flip to it. The tenant's writers wait."""
        with self._pool.transaction() as db:
            db.execute("SET LOCAL idle_in_transaction_session_timeout TO '1h'")
            rebuild = PostgresRebuild(db, obtain(db, scope.tenant, self._secret, self._patience))
            yield rebuild
            rebuild.flip()
        self._snapshots.drop(scope.tenant)

    def backup(self, file: Path) -> None:
        """Refuse: a server is backed up by its own tools, for all of its users at once."""
        raise InputError(
            "The store is a PostgreSQL database, and a server has its own backups. Nothing was written.",
            hint="use pg_dump --format=custom --schema=scrubjay (docs/postgres.md), or `scrubjay export`",
        )

    def vacuum(self) -> None:
        """Do nothing: autovacuum does, and only the owner of a table may ask for it."""

    def size(self) -> int:
        """Return the bytes of all tables and indexes, for all tenants."""
        with self._pool.transaction(READ) as db:
            row = db.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
                (SCHEMA,),
            ).fetchone()
        if row is None:
            raise StoreError(f"{self.url} does not tell its size.")
        return int(row[0])

    def unguarded(self) -> str:
        """Return why row-level security does not hold for this user, an empty text where it does."""
        with self._pool.transaction(READ) as db:
            row = db.execute(UNFENCED, (SCHEMA,)).fetchone()
        if row is None or not row[1]:
            return ""
        return f"row-level security is not in force for the database user {row[0]}, {row[1]}"

    def slow(self, scope: Scope) -> str:
        """Return what a large tenant lacks, an empty text where it lacks nothing and where the scope sees less."""
        with self._pool.transaction(READ) as db:
            tenant = find(db, scope.tenant)
            return "" if tenant is None else lacking(db, tenant, scope.keys, self._large.rows)

    def enlarge(self, scope: Scope, progress: Callable[[Progress], None]) -> Enlarged:
        """Make blocks of words and, with pgvector, an index for each model; for the owner of the tables."""
        with self._enlarging(scope) as work:
            return work.make(progress)

    def reduce(self, scope: Scope) -> None:
        """Take these away."""
        with self._enlarging(scope) as work:
            work.drop()

    @contextmanager
    def _enlarging(self, scope: Scope) -> Iterator[Enlarging]:
        with self.alone(scope, "large") as alone:
            if not alone:
                raise StoreBusyError(
                    f"Somebody else makes or takes away what this tenant of {self.url} is searched by.",
                    hint="wait until they are done: `scrubjay status` tells",
                )
            yield Enlarging(self._pool, self._url, scope.tenant, self._patience)

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._pool.close()
