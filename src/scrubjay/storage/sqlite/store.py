"""SQLite stores: one file, many processes; or a temporary file that is removed at the end (``memory://``)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, StoreBusyError, StoreError
from scrubjay.models.records import Scope
from scrubjay.storage.interface import NoTenantIndex
from scrubjay.storage.quota import NO_QUOTA, Quota, QuotaChecker
from scrubjay.storage.sqlite.blobs import VectorFiles
from scrubjay.storage.sqlite.connection import (
    BUSY_MS,
    EncryptionKey,
    check_disk,
    connect,
    sqlite_url,
    translate_corruption,
    translate_errors,
    translate_wipe_errors,
    write_transaction,
)
from scrubjay.storage.sqlite.lock import PATIENCE, try_exclusive, writer_turn
from scrubjay.storage.sqlite.postings import Vocabulary
from scrubjay.storage.sqlite.reader import SnapshotCache, SQLiteReader, TableCache
from scrubjay.storage.sqlite.rows import count_by_key, find_tenant, get_or_create_tenant
from scrubjay.storage.sqlite.vectors import VectorCache

if TYPE_CHECKING:
    from scrubjay.storage.changes import Change
    from scrubjay.storage.sqlite.connection import Database
    from scrubjay.storage.sqlite.tenant_reader import SQLiteTenantReader
    from scrubjay.storage.sqlite.writer import SQLiteRebuild


WIPE_MS: Final = 250
"""Milliseconds that a forget waits for readers to end, to empty the write-ahead log."""


class SQLiteStore(NoTenantIndex):
    """Memories in one SQLite file, in WAL mode.

    Each reading thread has a connection; all threads write with one, in turn. A reader holds a snapshot and never
    blocks a writer; writers queue (`lock`).

    Args:
        path: The file; created with its folders, mode 0600, when missing.
        secret: Key of ids and tombstones for a new tenant; random by default.
        patience: Seconds a writer waits for its turn.
        quota: Limits on the number of memories.
        key: Encrypts the file; then no copies of vectors lie beside it.
    """

    def __init__(
        self, path: Path, secret: bytes | None = None, *, patience: float = PATIENCE, quota: Quota = NO_QUOTA,
        key: EncryptionKey | None = None,
    ) -> None:  # fmt: skip
        self.quota, self._key = quota, key
        self._quota_checker = QuotaChecker()
        self._path = path
        self._secret = secret
        self._patience = patience
        self._busy_ms = min(round(patience * 1000), BUSY_MS)
        self._writer: Database | None = None
        self._wipe_pending = False
        self._local = threading.local()
        self._connections: list[Database] = []
        self._tables = TableCache()
        self._vector_files = VectorFiles(path.with_name(path.name + "-vectors"))
        self._vectors = VectorCache(None if key else self._vector_files)
        self._vocabulary = Vocabulary()
        self._write_lock = threading.RLock()
        self._db()
        self._opened_identity = self._file_identity()

    @property
    def url(self) -> str:
        return sqlite_url(self._path, self._key)

    def _db(self) -> Database:
        db: Database | None = getattr(self._local, "db", None)
        if db is None:
            self._local.db = db = self._connect()
            self._local.snapshots = SnapshotCache()
        return db

    def _connect(self) -> Database:
        db = connect(self._path, self._busy_ms / 1000, self._key, self._synchronous(False))
        self._connections.append(db)
        return db

    def _synchronous(self, durable: bool) -> str:
        return "FULL" if durable else "NORMAL"

    def _file_identity(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def _check_file(self) -> None:
        """Refuse to use a file that was moved or removed: what is written there is lost."""
        if self._file_identity() != self._opened_identity:
            raise StoreError(
                f"{self._path} was moved or removed since it was opened. Nothing was written.",
                hint="run it again: it opens what is there now, or makes it new",
            )

    @contextmanager
    def _write_turn(self, patience: float | None = None) -> Iterator[Database]:
        self._check_file()
        seconds = self._patience if patience is None else patience
        with translate_errors(self._path), self._thread_turn(patience), writer_turn(self._path, seconds):
            if self._writer is None:
                self._writer = self._connect()
            yield self._writer

    @contextmanager
    def _thread_turn(self, patience: float | None) -> Iterator[None]:
        if not self._write_lock.acquire(timeout=-1 if patience is None else patience):
            raise StoreBusyError(
                f"Another thread has written to {self._path} for {patience:g} seconds. Nothing was written.",
                hint="try again",
            )
        try:
            yield
        finally:
            self._write_lock.release()

    def memory_counts(self, tenant: str) -> Mapping[str, int]:
        with self.reader(Scope(tenant, "")):
            tenant_row = find_tenant(self._db(), tenant)
            return count_by_key(self._db(), tenant_row) if tenant_row else {}

    def secret(self, scope: Scope) -> bytes:
        with translate_errors(self._path):
            tenant = find_tenant(self._db(), scope.tenant)
        if tenant is None:
            self.write(scope, ())
            tenant = find_tenant(self._db(), scope.tenant)
        assert tenant is not None
        return tenant.secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[SQLiteReader]:
        self._check_file()
        with translate_errors(self._path), translate_corruption(self._path):
            db = self._db()
            nested = db.in_transaction
            if not nested:
                db.execute("BEGIN")
            try:
                snapshot = self._local.snapshots.get(db, (scope.tenant, *scope.keys))
                yield SQLiteReader(db, scope, self._tables, self._vectors, snapshot)
            finally:
                if not nested:
                    db.execute("COMMIT")

    def write(
        self,
        scope: Scope,
        changes: Sequence[Change],
        *,
        durable: bool = False,
        patience: float | None = None,
    ) -> None:
        from scrubjay.storage.changes import Forget
        from scrubjay.storage.sqlite.writer import SQLiteWriter, drop_stale_generations

        with self._write_turn(patience) as db:
            db.pragma("synchronous", self._synchronous(durable))
            if any(isinstance(change, Forget) for change in changes):
                tenant = find_tenant(db, scope.tenant)
                if tenant is not None:  # a killed rebuild may have left copies of forgotten memories
                    drop_stale_generations(db, tenant.number)
            try:
                with write_transaction(db):
                    tenant = get_or_create_tenant(db, scope.tenant, self._secret)
                    writer = SQLiteWriter(db, tenant, scope, self._vocabulary)
                    writer.apply_all(changes)
                    writer.finish()
                    mark = db.pragma("data_version")  # changes when another connection writes
                    count = partial(count_by_key, db, tenant)
                    after = self._quota_checker.check(
                        self.quota, scope.tenant, tenant, mark, writer.gained, changes, count
                    )
            except BaseException:
                self._vocabulary.discard()
                raise
            self._quota_checker.remember(tenant, mark, after)
            self._wipe_pending |= writer.forgot
            if self._wipe_pending:
                self._wipe(db, required=writer.forgot, log=patience is None)

    def _wipe(self, db: Database, *, required: bool, log: bool) -> None:
        """Remove forgotten memories from the files beside the store; the next write repeats what fails now.

        ``required`` raises a failure. ``log`` empties the write-ahead log too, which an open reader may prevent.
        """
        try:
            with translate_wipe_errors(self._path):
                self._vector_files.keep(set(db.execute("SELECT id, version FROM segment").fetchall()))
                if log:
                    from scrubjay.storage.sqlite import maintenance

                    if (
                        maintenance.is_vacuum_due(db)
                        and maintenance.file_bytes(db) <= maintenance.VACUUM_AT_ONCE_BYTES
                    ):
                        maintenance.vacuum_file(db, on_disk=False)
                    db.set_busy_timeout(WIPE_MS)
                    try:
                        (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    finally:
                        db.set_busy_timeout(self._busy_ms)
                    self._wipe_pending = bool(busy)
        except StoreError:
            if required:
                raise

    def busy(self, scope: Scope, patience: float = 0.1) -> bool:
        try:
            with writer_turn(self._path, patience):
                return False
        except StoreBusyError:
            return True

    def try_exclusive(self, scope: Scope, name: str) -> AbstractContextManager[bool]:
        return try_exclusive(self._path, scope.tenant, name)

    def tenants(self) -> list[str]:
        with translate_errors(self._path):
            return [
                name for (name,) in self._db().execute("SELECT name FROM tenant ORDER BY name").fetchall()
            ]

    @contextmanager
    def tenant_reader(self, tenant: str) -> Iterator[SQLiteTenantReader]:
        from scrubjay.models.records import UnrestrictedScope
        from scrubjay.storage.snapshot import Snapshot
        from scrubjay.storage.sqlite.tenant_reader import SQLiteTenantReader, all_keys

        with self.reader(Scope(tenant, "")):
            db = self._db()
            everyone = UnrestrictedScope(tenant, "", (), all_keys(db, tenant))
            yield SQLiteTenantReader(db, everyone, self._tables, self._vectors, Snapshot())

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[SQLiteRebuild]:
        """Killed midway, the current generation still answers, and the next rebuild drops what was left."""
        from scrubjay.storage.sqlite.writer import SQLiteRebuild, drop_stale_generations

        with self._write_turn() as db:
            from scrubjay.storage.sqlite import maintenance

            with write_transaction(db):
                old = get_or_create_tenant(db, scope.tenant, self._secret)
            drop_stale_generations(db, old.number)
            rebuild = SQLiteRebuild(db, old, self._vocabulary)
            try:
                yield rebuild
                rebuild.flip()
                maintenance.note_leftovers(db)
            finally:
                drop_stale_generations(db, old.number)

    def backup(self, file: Path) -> None:
        from scrubjay.storage.sqlite.maintenance import backup_file

        self._check_file()
        with (
            translate_errors(self._path),
            closing(connect(self._path, self._busy_ms / 1000, self._key)) as db,
        ):
            backup_file(db, file, self._key)

    def vacuum(self) -> None:
        with translate_errors(self._path):
            from scrubjay.storage.sqlite import maintenance

            if not maintenance.is_vacuum_due(self._db()):
                return
        with self._write_turn() as db:
            # The copy of an encrypted file is kept in memory: SQLite does not encrypt temporary files.
            maintenance.vacuum_file(db, on_disk=self._key is None)
            self._wipe_pending = True
            self._wipe(db, required=True, log=True)

    def size(self) -> int:
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def check_writable(self) -> None:
        self._check_file()
        check_disk(self._path)

    def row_security_warning(self) -> str:
        return ""

    def close(self) -> None:
        with translate_errors(self._path):
            for db in self._connections:
                db.close()
            self._connections.clear()
            self._writer = None
            self._local = threading.local()


class TemporaryStore(SQLiteStore):
    """An SQLite store whose folder is removed when it is closed, or when its process ends."""

    def __init__(self, secret: bytes | None = None, quota: Quota = NO_QUOTA) -> None:
        import shutil
        import tempfile
        import weakref

        folder = tempfile.mkdtemp(prefix="scrubjay-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(Path(folder) / "memory.db", secret, quota=quota)

    def _synchronous(self, durable: bool) -> str:
        return "OFF"  # nothing of it outlives the process

    @property
    def url(self) -> str:
        """``memory://``; opening it again makes another, empty store."""
        return "memory://"

    def backup(self, file: Path) -> None:
        raise InputError(
            "memory:// has no file that could be copied. Nothing was written.",
            hint="`scrubjay export` writes its memories",
        )

    def close(self) -> None:
        super().close()
        self._remove()
