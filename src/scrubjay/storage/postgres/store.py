"""PostgreSQL store: many tenants, many processes, one server; and the work that builds a large tenant's index."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, StoreBusyError, StoreError
from scrubjay.models.records import Scope
from scrubjay.models.reports import IndexReport, Progress
from scrubjay.storage.changes import Change
from scrubjay.storage.postgres import tenant_index
from scrubjay.storage.postgres.connection import (
    MAX_CONNECTIONS,
    POOL_PATIENCE_S,
    READ_ONLY,
    SCHEMA,
    ConnectionPool,
    connect,
    hide_password,
    read_only_error,
    require_driver,
    translate_errors,
)
from scrubjay.storage.postgres.reader import PostgresReader, SnapshotCache
from scrubjay.storage.postgres.rows import count_by_key, find_tenant, lock_tenant, touch_tenant
from scrubjay.storage.postgres.schema import migrate, newest_schema, schema_version
from scrubjay.storage.postgres.tenant_index import DEFAULT_LIMITS, LargeTenantLimits
from scrubjay.storage.postgres.tenant_reader import PostgresTenantReader
from scrubjay.storage.postgres.vectors import registered_models
from scrubjay.storage.postgres.writer import PostgresRebuild, PostgresWriter
from scrubjay.storage.quota import NO_QUOTA, Quota, QuotaChecker
from scrubjay.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from scrubjay.storage.postgres.connection import Database
    from scrubjay.storage.rows import RegisteredModel, Tenant


BATCH_MEMORIES: Final = 2_000
"""Vectors indexed in one transaction, which blocks the tenant's writers for a fifth of a second."""
NO_PGVECTOR: Final = "pgvector 0.8 or newer is not in this database"
OWNS_SCHEMA: Final = (
    "SELECT has_schema_privilege(%s, 'CREATE') AND pg_has_role(c.relowner, 'USAGE') FROM pg_class c "
    "WHERE c.oid = to_regclass(%s)"
)


def describe_missing_index(db: Database, tenant: Tenant, keys: Collection[str], large: int) -> str:
    """Describe what slows down the searches of a large tenant; empty where nothing does."""
    visible = sum(count for key, count in count_by_key(db, tenant).items() if key in keys)
    if visible <= large:
        return ""
    unindexed = [
        registered.model.name
        for registered in registered_models(db, tenant.number).values()
        if not registered.model.late_interaction
        and (
            registered.neighbours != tenant_index.READY
            or tenant_index.find_index(db, tenant.number, registered.number) is None
        )
    ]
    slow = [] if tenant.posted else ["the words of each are looked through for every search"]
    if unindexed:
        why = "" if tenant_index.pgvector_schema(db) else f", as {NO_PGVECTOR}"
        slow.append(f"the vectors of {', '.join(sorted(unindexed))} are read whole after each write{why}")
    return f"of {visible:,} memories, {' and '.join(slow)}" if slow else ""


class TenantIndexer:
    """Builds and drops a tenant's index, as the tables' owner; after an interruption it continues."""

    def __init__(self, pool: ConnectionPool, url: str, name: str, patience: float) -> None:
        self._pool = pool
        self._url = url
        self._name = name
        self._patience = patience

    def build(self, progress: Callable[[Progress], None]) -> IndexReport:
        started = time.monotonic()
        memories = self._check_owner()

        def report(stage: str, done: int) -> None:
            progress(Progress(stage, done, max(done, memories), time.monotonic() - started))

        words = 0
        while True:
            with self._locked() as (db, tenant):
                added = tenant_index.extend_blocks(db, tenant.number, least=1)
            if not added:
                break
            words += added
            report("words", words)
        with self._pool.transaction() as db:
            schema = tenant_index.pgvector_schema(db)
            if schema is not None and tenant_index.codes_type_schema(db) is None:
                tenant_index.create_neighbour_table(db, schema)
        if schema is None:
            return IndexReport(words, (), NO_PGVECTOR, time.monotonic() - started)
        indexed = []
        for model in self._models():
            if model.model.dimensions <= tenant_index.MOST_DIMENSIONS and not model.model.late_interaction:
                self._index_vectors(model, report)
                indexed.append(model.model.name)
        return IndexReport(words, tuple(indexed), "", time.monotonic() - started)

    def drop(self) -> None:
        self._check_owner()
        for model in self._models():
            self._set_state(model, "")
            with self._unlimited() as db:
                tenant_index.drop_neighbour_index(db, self._tenant_number(), model.number)
            with self._locked() as (db, tenant):
                tenant_index.clear_neighbours(db, tenant.number, model.number)
        with self._locked() as (db, tenant):
            tenant_index.forget_changes(db, tenant.number)
            tenant_index.drop_blocks(db, tenant.number)

    def _index_vectors(self, model: RegisteredModel, report: Callable[[str, int], None]) -> None:
        with self._locked() as (db, tenant):
            if model.neighbours == tenant_index.READY and tenant_index.find_index(
                db, tenant.number, model.number
            ):
                return
        self._set_state(model, tenant_index.FILLING)  # from now on writers fill the table, too
        last, done = -1, 0
        while True:
            with self._locked() as (db, tenant):
                missing = tenant_index.missing_neighbours(
                    db, tenant.number, model.number, last, BATCH_MEMORIES
                )
                tenant_index.put_neighbours(db, tenant.number, model.number, missing)
            if not missing:
                break
            last, done = missing[-1][0] - 1, done + len(missing)  # its other windows may be the next ones
            report("vectors", done)
        with self._pool.transaction() as db:
            schema = tenant_index.codes_type_schema(db)
        if schema is None:
            raise StoreError(f"pgvector was removed from {hide_password(self._url)} meanwhile. Run it again.")
        with self._unlimited() as db:
            tenant_index.create_neighbour_index(
                db, schema, self._tenant_number(), model.number, model.model.dimensions
            )
        self._set_state(model, tenant_index.READY)

    def _check_owner(self) -> int:
        """Return how many memories the tenant has, or raise where this user may not build an index."""
        with self._pool.transaction() as db:
            row = db.execute(OWNS_SCHEMA, (SCHEMA, f"{SCHEMA}.vector")).fetchone()
            if row is None or not row[0]:
                raise StoreError(
                    f"{hide_password(self._url)}: only the owner of the tables can build an index, and this user is "
                    "not the owner. Nothing was written.",
                    hint="run it once as the owner: --store postgresql://scrubjay_owner@host/database",
                )
            tenant = find_tenant(db, self._name)
            if tenant is None:
                raise StoreError(
                    f"{hide_password(self._url)} holds nothing of tenant {self._name!r} yet. Nothing was written."
                )
            return sum(count_by_key(db, tenant).values())

    @contextmanager
    def _locked(self) -> Iterator[tuple[Database, Tenant]]:
        """Open a transaction in which nobody else writes to the tenant."""
        with self._pool.transaction() as db:
            yield db, lock_tenant(db, self._name, None, self._patience)

    @contextmanager
    def _unlimited(self) -> Iterator[Database]:
        """Open a connection without transaction and time limits."""
        with translate_errors(self._url), closing(connect(self._url)) as db:
            db.execute("SET statement_timeout TO 0")
            db.execute("SET lock_timeout TO 0")
            yield db

    def _tenant_number(self) -> int:
        with self._locked() as (_, tenant):
            return tenant.number

    def _models(self) -> list[RegisteredModel]:
        with self._locked() as (db, tenant):
            return list(registered_models(db, tenant.number).values())

    def _set_state(self, model: RegisteredModel, state: str) -> None:
        with self._locked() as (db, tenant):
            db.execute(
                "UPDATE model SET neighbours = %s WHERE tenant = %s AND id = %s",
                (state, tenant.number, model.number),
            )
            touch_tenant(db, tenant)


FIND_UNFENCED: Final = """
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

    A reader has one repeatable-read transaction; a writer has one transaction, exclusive for its tenant.

    Args:
        url: ``postgresql://user@host/database``, as libpq reads it.
        secret: Key of ids and tombstones for a new tenant; random by default.
        patience: Seconds that a writer waits for its turn, and anybody for a connection.
        max_connections: Threads that read or write at once.
        quota: Limits on the number of memories.
        large: From which size on a scope is searched by its index.
    """

    def __init__(
        self,
        url: str,
        secret: bytes | None = None,
        *,
        patience: float = POOL_PATIENCE_S,
        max_connections: int = MAX_CONNECTIONS,
        quota: Quota = NO_QUOTA,
        large: LargeTenantLimits | None = None,
    ) -> None:
        self.quota = quota
        self._quota_checker = QuotaChecker()
        self._url = url
        self._secret = secret
        self._patience = patience
        self._large = DEFAULT_LIMITS if large is None else large
        require_driver(url)
        self._pool = ConnectionPool(url, max_connections, patience)
        self._thread = threading.local()
        self._snapshots = SnapshotCache()
        try:
            with self._pool.transaction(READ_ONLY, gated=False) as db:
                version = schema_version(db, url)
            if version < newest_schema():
                with translate_errors(url), closing(connect(url)) as db:
                    migrate(db, url, patience)
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The URL without its password: libpq finds that in its own places."""
        return hide_password(self._url)

    def memory_counts(self, tenant: str) -> Mapping[str, int]:
        with self._pool.transaction(READ_ONLY) as db:
            tenant_row = find_tenant(db, tenant)
            return count_by_key(db, tenant_row) if tenant_row else {}

    def secret(self, scope: Scope) -> bytes:
        with self._pool.transaction(READ_ONLY) as db:
            tenant = find_tenant(db, scope.tenant)
        if tenant is None:
            self.write(scope, ())
            return self.secret(scope)
        return tenant.secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[PostgresReader]:
        with self._pool.transaction(READ_ONLY) as db:
            tenant = find_tenant(db, scope.tenant)
            snapshot = self._snapshots.get(tenant, scope.tenant, scope.keys) if tenant else Snapshot()
            yield PostgresReader(db, scope, tenant, snapshot, self._large)

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        self._check_exclusive()
        with self._pool.transaction() as db:
            # Without a wait for the disk a crash of the server may lose the last writes, never part of one.
            db.execute("SELECT set_config('synchronous_commit', %s, true)", ("on" if durable else "off",))
            seconds = self._patience if patience is None else patience
            tenant = lock_tenant(db, scope.tenant, self._secret, seconds)
            writer = PostgresWriter(db, tenant, scope)
            writer.apply_all(changes)
            count = partial(count_by_key, db, tenant)
            after = self._quota_checker.check(
                self.quota, scope.tenant, tenant, tenant.mark, writer.gained, changes, count
            )
        self._quota_checker.remember(tenant, writer.mark, after)
        self._snapshots.drop(scope.tenant)

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        try:
            with self._pool.transaction() as db:
                lock_tenant(db, scope.tenant, self._secret, patience)
        except StoreBusyError:
            return True
        return False

    @contextmanager
    def try_exclusive(self, scope: Scope, name: str) -> Iterator[bool]:
        import psycopg

        with translate_errors(self._url):
            db = connect(self._url)
        with closing(db):
            with translate_errors(self._url):
                row = db.execute(
                    "SELECT pg_try_advisory_lock(hashtextextended(%s, 2))", (f"{scope.tenant}\x1f{name}",)
                ).fetchone()
            mine = row is not None and bool(row[0])
            outer = self._exclusive_sessions()
            self._thread.sessions = (*outer, db) if mine else outer
            try:
                yield mine
            finally:
                self._thread.sessions = outer
                with suppress(psycopg.OperationalError):  # a session that is lost holds nothing any more
                    db.execute("SELECT pg_advisory_unlock_all()")

    def _exclusive_sessions(self) -> tuple[Database, ...]:
        sessions: tuple[Database, ...] = getattr(self._thread, "sessions", ())
        return sessions

    def _check_exclusive(self) -> None:
        """Refuse to write for a thread that lost the session that held its name: another may have started."""
        for db in self._exclusive_sessions():
            with translate_errors(self._url):
                db.execute("SELECT 1")

    def tenants(self) -> list[str]:
        with self._pool.transaction(READ_ONLY) as db:
            find_tenant(db, "")  # checks the schema
            row = db.execute(f"SELECT row_security_active('{SCHEMA}.tenant')").fetchone()
            if row is None or row[0]:
                raise StoreError(
                    f"This database user may not see which tenants {self.url} holds. Nothing was read.",
                    hint="name one tenant, or connect as a user with BYPASSRLS",
                )
            return sorted(name for (name,) in db.execute("SELECT name FROM tenant").fetchall())

    @contextmanager
    def tenant_reader(self, tenant: str) -> Iterator[PostgresTenantReader]:
        with self._pool.transaction(READ_ONLY) as db:
            # A copy or comparison works on the other store for a while.
            db.execute("SET LOCAL idle_in_transaction_session_timeout TO '1h'")
            yield PostgresTenantReader(db, tenant)

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[PostgresRebuild]:
        with self._pool.transaction() as db:
            db.execute("SET LOCAL idle_in_transaction_session_timeout TO '1h'")
            rebuild = PostgresRebuild(db, lock_tenant(db, scope.tenant, self._secret, self._patience))
            yield rebuild
            rebuild.flip()
        self._snapshots.drop(scope.tenant)

    def backup(self, file: Path) -> None:
        raise InputError(
            "The store is a PostgreSQL database, and a server has its own backups. Nothing was written.",
            hint="use pg_dump --format=custom --schema=scrubjay (docs/deployment.md), or `scrubjay export`",
        )

    def vacuum(self) -> None:
        """Do nothing: autovacuum does it."""

    def size(self) -> int:
        with self._pool.transaction(READ_ONLY) as db:
            row = db.execute(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind = 'r'",
                (SCHEMA,),
            ).fetchone()
        if row is None:
            raise StoreError(f"{self.url} did not report its size.")
        return int(row[0])

    def check_writable(self) -> None:
        with self._pool.transaction(READ_ONLY) as db:
            row = db.execute(
                "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
            ).fetchone()
        if row is not None and row[0]:
            raise read_only_error(self.url)

    def row_security_warning(self) -> str:
        with self._pool.transaction(READ_ONLY) as db:
            row = db.execute(FIND_UNFENCED, (SCHEMA,)).fetchone()
        if row is None or not row[1]:
            return ""
        return f"row-level security is not in force for the database user {row[0]}, {row[1]}"

    def index_hint(self, scope: Scope) -> str:
        with self._pool.transaction(READ_ONLY) as db:
            tenant = find_tenant(db, scope.tenant)
            return "" if tenant is None else describe_missing_index(db, tenant, scope.keys, self._large.rows)

    def build_index(self, scope: Scope, progress: Callable[[Progress], None]) -> IndexReport:
        with self._indexer(scope) as indexer:
            return indexer.build(progress)

    def drop_index(self, scope: Scope) -> None:
        with self._indexer(scope) as indexer:
            indexer.drop()

    @contextmanager
    def _indexer(self, scope: Scope) -> Iterator[TenantIndexer]:
        with self.try_exclusive(scope, "large") as exclusive:
            if not exclusive:
                raise StoreBusyError(
                    f"Another process is building or dropping the index of this tenant of {self.url}.",
                    hint="wait until it is done: `scrubjay status` shows it",
                )
            yield TenantIndexer(self._pool, self._url, scope.tenant, self._patience)

    def close(self) -> None:
        self._pool.close()
