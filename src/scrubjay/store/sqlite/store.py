"""The SQLite store: one file, many processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Change
from scrubjay.store.sqlite.connect import connect, spoken
from scrubjay.store.sqlite.lock import turn
from scrubjay.store.sqlite.reader import SQLiteReader
from scrubjay.store.sqlite.rebuild import SQLiteRebuild, drop_stale
from scrubjay.store.sqlite.table import Tables
from scrubjay.store.sqlite.tenant import Tenant, find, obtain
from scrubjay.store.sqlite.terms import Vocabulary
from scrubjay.store.sqlite.vectors import Blocks
from scrubjay.store.sqlite.writer import Writer


class SQLiteStore:
    """Memories in one SQLite file, in WAL mode.

    One connection a thread. A reader holds a snapshot and never blocks a writer; writers queue (`lock`).

    Args:
        path: The file; made with its folders, mode 0600, when it is not there.
        secret: Key of ids and tombstones for a new tenant; random when left out.

    Raises:
        StoreError: It cannot be opened.
    """

    def __init__(self, path: Path, secret: bytes | None = None) -> None:
        self._path = path
        self._secret = secret
        self._local = threading.local()
        self._open: list[apsw.Connection] = []
        self._tables = Tables()
        self._blocks = Blocks()
        self._vocabulary = Vocabulary()
        self._writing = threading.RLock()
        self._db()

    @property
    def url(self) -> str:
        """What `open_store` opens it by."""
        return f"sqlite:///{self._path}"

    def _db(self) -> apsw.Connection:
        db: apsw.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = connect(self._path)
            self._local.db = db
            self._open.append(db)
        return db

    def secret(self, scope: Scope) -> bytes:
        """Return the tenant's key for ids and tombstones."""
        with spoken(self._path):
            found = find(self._db(), scope.tenant)
        if found is None:
            self.write(scope, ())
            found = find(self._db(), scope.tenant)
        assert found is not None
        return found.secret

    @contextmanager
    def reader(self, scope: Scope) -> Iterator[SQLiteReader]:
        """Open a consistent view: everything in the block is read from one snapshot."""
        with spoken(self._path):
            db = self._db()
            nested = db.in_transaction
            if not nested:
                db.execute("BEGIN")
            try:
                yield SQLiteReader(db, scope, self._tables, self._blocks)
            finally:
                if not nested:
                    db.execute("COMMIT")

    def write(self, scope: Scope, changes: Sequence[Change], *, durable: bool = False) -> None:
        """Apply all of these changes, or none."""
        with spoken(self._path), self._writing, turn(self._path):
            db = self._db()
            db.pragma("synchronous", "FULL" if durable else "NORMAL")
            # What is removed for good is overwritten, not only unlinked.
            db.execute("BEGIN IMMEDIATE")
            try:
                tenant = obtain(db, scope.tenant, self._secret)
                writer = Writer(db, tenant, scope, self._vocabulary)
                for change in changes:
                    writer.apply(change)
                writer.finish()
                db.execute("COMMIT")
            except BaseException:
                self._vocabulary.discard()
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if writer.forgot:
                db.pragma("wal_checkpoint(TRUNCATE)")

    @contextmanager
    def rebuild(self, scope: Scope) -> Iterator[SQLiteRebuild]:
        """Fill the next generation beside the current one, then flip to it.

        Other writers wait until the block ends; readers do not. Killed midway, the current generation
        still answers, and the next rebuild drops what was left.
        """
        with spoken(self._path), self._writing, turn(self._path):
            db = self._db()
            old = self._begin(db, scope)
            rebuild = SQLiteRebuild(db, old, self._vocabulary)
            yield rebuild
            rebuild.flip()
            drop_stale(db, old.number)

    def _begin(self, db: apsw.Connection, scope: Scope) -> Tenant:
        db.execute("BEGIN IMMEDIATE")
        tenant = obtain(db, scope.tenant, self._secret)
        db.execute("COMMIT")
        drop_stale(db, tenant.number)
        return tenant

    def size(self) -> int:
        """Return the bytes of the file and its write-ahead log."""
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close every connection."""
        with spoken(self._path):
            for db in self._open:
                db.close()
            self._open.clear()
            self._local = threading.local()
