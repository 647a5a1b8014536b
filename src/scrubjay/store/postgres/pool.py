"""Pool: the connections of one store, each lent to one caller at a time, never more of them than a few.

A connection comes back with nothing left on it, or is closed. One that the server has ended meanwhile is noticed by the
``BEGIN`` of whoever borrows it next, and replaced before anything was done on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from scrubjay.errors import StoreBusyError
from scrubjay.store.postgres.connect import connect, ended, shown, spoken

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database

MOST: Final = 11
"""Callers that are lent a connection at once, as many as `scrubjay serve` has threads; each is a process of the
database's server, which has a hundred by default."""
PATIENCE_S: Final = 30.0
"""Seconds to wait for what another caller holds."""
IDLE_S: Final = 600.0
"""Seconds after which an idle connection is closed: one that only a busy hour needed, or a firewall forgot."""
GATE: Final = "; LOCK TABLE migration IN ACCESS SHARE MODE"
"""Who changes the schema waits for the transactions that are under way, and new ones wait for it, at this table.

Locked before anything is read, so that the transaction's snapshot is of after the change.
"""


class Pool:
    """Connections to one database.

    Args:
        url: Of the database.
        most: Threads that may borrow at once.
        patience: Seconds that another one waits.
    """

    def __init__(self, url: str, most: int = MOST, patience: float = PATIENCE_S) -> None:
        self._url = url
        self._most = most
        self._patience = patience
        self._room = threading.BoundedSemaphore(most)
        self._own = threading.local()
        self._idle: list[tuple[float, Database]] = []
        self._lock = threading.Lock()

    @contextmanager
    def transaction(self, kind: str = "", *, gated: bool = True) -> Iterator[Database]:
        """Lend a connection for one transaction: committed at the end of the block, rolled back on any error.

        Args:
            kind: What follows ``BEGIN``.
            gated: Whether whoever changes the schema is waited for.

        Raises:
            StoreBusyError: As many others as there may be kept theirs for too long.
            StoreError: The server cannot be reached, or whatever it answers.
        """
        with self._turn(), spoken(self._url):
            db = self._begun(f"BEGIN {kind}{GATE if gated else ''}")
            try:
                with ended(db, kind):
                    yield db
            finally:
                self._take_back(db)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for room, but not a thread that holds a connection: two of these would wait for each other."""
        held = getattr(self._own, "held", 0)
        if not held and not self._room.acquire(timeout=self._patience):
            raise StoreBusyError(
                f"All {self._most} connections of this process to {shown(self._url)} were in use "
                f"for {self._patience:g} s. Nothing was written.",
                hint="try again in a moment, or start another process",
            )
        self._own.held = held + 1
        try:
            yield
        finally:
            self._own.held = held
            if not held:
                self._room.release()

    def _begun(self, begin: str) -> Database:
        import psycopg

        while True:
            idle = self._idler()
            db = idle or connect(self._url)
            try:
                db.execute(begin, prepare=False)  # these are two statements
                return db
            except BaseException as error:
                ended_before = isinstance(error, psycopg.OperationalError) and db.closed
                db.close()
                if idle is None or not ended_before:
                    raise

    def _idler(self) -> Database | None:
        with self._lock:
            return self._idle.pop()[1] if self._idle else None

    def _take_back(self, db: Database) -> None:
        from psycopg.pq import TransactionStatus

        now = time.monotonic()
        clean = not db.closed and db.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            # The last one to come back is lent first, so those that nobody needs any more are in front.
            old = [other for since, other in self._idle if now - since > IDLE_S]
            self._idle = [pair for pair in self._idle if now - pair[0] <= IDLE_S]
            if clean and len(self._idle) < self._most:
                self._idle.append((now, db))
            else:
                old.append(db)
        for other in old:
            other.close()

    def close(self) -> None:
        """Close every connection that is not lent just now."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, db in idle:
            db.close()
