"""PostgreSQL connections: connect, pool, escape text that the server rejects, and translate its errors.

A connection returns to the pool clean or is closed. One that the server has ended is replaced at the next ``BEGIN``,
before anything was done on it.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from scrubjay.errors import (
    InputError,
    StoreBusyError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreUnreachableError,
)
from scrubjay.storage.rows import Statements

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import Buffer

    Database = psycopg.Connection[tuple[Any, ...]]


@cache
def postgres_sql(statement: str) -> str:
    """Return a statement of both stores, which is written as SQLite reads it, as psycopg and PostgreSQL do."""
    return statement.replace("IN ?", "= ANY(%s)").replace("?", "%s").replace("COLLATE BINARY", 'COLLATE "C"')


class PostgresStatements(Statements):
    _db: Database

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        cursor = self._db.execute(postgres_sql(statement), values)
        return cursor.fetchall() if cursor.description else []

    def _many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._db.cursor() as cursor:  # sent one after another without waiting for an answer
            cursor.executemany(postgres_sql(statement), rows)


SCHEMA: Final = "scrubjay"
READ_ONLY: Final = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
CONNECT_TIMEOUT_S: Final = 10
SESSION_SETTINGS: Final = f"""
SET search_path TO {SCHEMA};
SET lock_timeout TO '30s';
SET statement_timeout TO '10min';
SET idle_in_transaction_session_timeout TO '5min';
"""
"""First statements of every session: nothing waits, works or idles for ever.

A statement is a part of a search or of a write; the longest by far removes the old generation of a large tenant.
A writer has computed everything before it begins, so one that idles in a transaction has died or been stopped while
others wait for its locks. A rebuild, which computes in between, gives itself more time.
"""
KEEPALIVES: Final = {
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"
}  # fmt: skip
"""A server that left the network is noticed within a minute. Options in the URL take precedence."""
LOST_CONNECTION_STATES: Final = ("08", "57P", "25P03")
"""Prefixes of the error codes of an ended session: lost, shut down, idle for too long."""
ESCAPE: Final = "\x1b"
"""PostgreSQL's text holds every character but NUL: NUL is stored as this and ``0``, this as this and ``1``."""

_ESCAPED = re.compile(f"{ESCAPE}[01]")


def hide_password(url: str) -> str:
    """Return a URL without its password, for messages.

    >>> hide_password("postgresql://ann:s3cret@db.local:5433/notes?sslmode=require&password=x")
    'postgresql://ann@db.local:5433/notes?sslmode=require'
    """
    parts = urlsplit(url)
    user, mark, host = parts.netloc.rpartition("@")
    query = "&".join(p for p in parts.query.split("&") if not p.startswith(("password=", "sslpassword=")))
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + mark + host, query=query))


def escape_text(text: str) -> str:
    r"""Return a text that PostgreSQL can hold.

    >>> escape_text("a\x00b\x1b")
    'a\x1b0b\x1b1'
    """
    if "\x00" not in text and ESCAPE not in text:
        return text
    return text.replace(ESCAPE, f"{ESCAPE}1").replace("\x00", f"{ESCAPE}0")


def unescape_text(text: str) -> str:
    r"""Return the text that `escape_text` was given.

    >>> unescape_text(escape_text("a\x00b\x1b0")) == "a\x00b\x1b0"
    True
    """
    if ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda match: "\x00" if match[0][1] == "0" else ESCAPE, text)


def require_driver(url: str) -> None:
    """Raise `StoreError` unless psycopg, an optional dependency, is installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"{hide_password(url)} needs psycopg, which is not installed. Nothing was written.",
            hint="pip install 'scrubjay[postgres]'",
        ) from error


def connect(url: str) -> Database:
    """Open an autocommit connection: each statement is its own transaction until ``BEGIN`` is sent."""
    import psycopg

    try:
        db = psycopg.connect(url, autocommit=True, client_encoding="utf8", **_connection_options(url))
    except psycopg.Error as error:
        # Neither the text nor the cause is passed on: a driver may repeat the URL, password and all.
        raise StoreUnreachableError(
            f"{hide_password(url)} cannot be reached ({_message_without_password(url, str(error))}). "
            f"Nothing more was written.",
            hint="check the password: PGPASSWORD, or the file that PGPASSFILE names"
            if "password authentication failed" in str(error)
            else "check that the server runs, and the URL's host, port, user and database",
        ) from None
    _register_text_adapters(db)
    with translate_errors(url):
        db.execute(SESSION_SETTINGS, prepare=False)
    return db


def _connection_options(url: str) -> dict[str, Any]:
    from psycopg.conninfo import conninfo_to_dict

    defaults = {"connect_timeout": str(CONNECT_TIMEOUT_S), "application_name": "scrubjay", **KEEPALIVES}
    return {name: value for name, value in defaults.items() if name not in conninfo_to_dict(url)}


def _message_without_password(url: str, message: str) -> str:
    line = " ".join(message.split())
    secrets = [urlsplit(url).password, *re.findall(r"password=([^&\s]+)", url)]
    for secret in secrets:
        if secret:
            line = line.replace(secret, "***")
    return line


def _register_text_adapters(db: Database) -> None:
    from psycopg.types.string import StrDumper, TextLoader

    class Escaping(StrDumper):
        def dump(self, obj: str) -> Buffer | None:
            return super().dump(escape_text(obj))

    class Unescaping(TextLoader):
        def load(self, data: Buffer) -> bytes | str:
            text = super().load(data)
            return unescape_text(text) if isinstance(text, str) else text

    db.adapters.register_dumper(str, Escaping)
    db.adapters.register_loader("text", Unescaping)


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Translate the driver's errors. Only the server's first line is passed on: its details repeat what was written."""
    import psycopg
    from psycopg import errors

    try:
        yield
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
        raise StoreBusyError(
            f"{hide_password(url)} is locked by another session that writes or changes its tables. "
            f"Nothing was written.",
            hint="try again in a moment",
        ) from error
    except errors.DiskFull as error:
        raise StoreFullError(
            f"The disk of {hide_password(url)} is full. Nothing of this write was stored.",
            hint="free some space there",
        ) from error
    except errors.ReadOnlySqlTransaction as error:
        raise read_only_error(url) from error
    except errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{hide_password(url)} does not allow it ({_one_line(error)}). Nothing was written.",
            hint=f"give this user its rights in the schema {SCHEMA}: docs/deployment.md",
        ) from error
    except errors.QueryCanceled as error:
        raise StoreError(
            f"{hide_password(url)} cancelled a statement that took too long ({_one_line(error)}). Nothing was written.",
            hint="ask for less at once; if it persists, check the server's load",
        ) from error
    except psycopg.Error as error:
        if _is_disconnected(error):
            raise StoreUnreachableError(
                f"The connection to {hide_password(url)} was lost ({_one_line(error)}). The open "
                f"transaction was rolled back.",
                hint="run it again: the next call reconnects, and what was written already is not written twice",
            ) from error
        raise StoreError(
            f"{hide_password(url)} failed ({_one_line(error)}). Nothing was written.",
            hint="see the server's log",
        ) from error


def read_only_error(url: str) -> StoreReadOnlyError:
    """Return the error of a database that takes no writes."""
    return StoreReadOnlyError(
        f"{hide_password(url)} is read-only. Nothing was written.",
        hint="is it a standby, or is default_transaction_read_only on? Name the primary server in the URL",
    )


def _is_disconnected(error: psycopg.Error) -> bool:
    import psycopg

    if error.sqlstate is None:  # not the server's own words
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(LOST_CONNECTION_STATES)


def _one_line(error: psycopg.Error) -> str:
    if error.diag.message_primary:
        return error.diag.message_primary
    return "it was closed" if error.sqlstate is None else type(error).__name__


@contextmanager
def transaction(db: Database, kind: str = "") -> Iterator[None]:
    """Run one transaction: committed at the end of the block, rolled back on any error. ``kind`` follows ``BEGIN``."""
    db.execute(f"BEGIN {kind}")
    with finish_transaction(db, kind):
        yield


@contextmanager
def finish_transaction(db: Database, kind: str = "") -> Iterator[None]:
    """Commit the open transaction at the end of the block, or roll it back on any error."""
    try:
        yield
        _commit(db, reading=kind == READ_ONLY)
    except UnicodeEncodeError as error:
        _roll_back(db)
        raise InputError(f"Text contains an unpaired surrogate ({error}). Nothing was written.") from error
    except BaseException:
        _roll_back(db)
        raise


def _commit(db: Database, *, reading: bool) -> None:
    import psycopg

    try:
        status = db.execute("COMMIT").statusmessage
    except psycopg.OperationalError as error:
        if reading or not db.closed:
            raise
        raise StoreError(
            "The connection to the server was lost during the commit. Either everything was written, or nothing.",
            hint="run it again: what was written already is replaced by itself",
        ) from error
    if status != "COMMIT":
        raise StoreError("An earlier error rolled back the transaction. Nothing was written.")


def _roll_back(db: Database) -> None:
    import psycopg

    if not db.closed:
        # A connection that fails here has no transaction any more; the pool closes it.
        with suppress(psycopg.Error):
            db.execute("ROLLBACK")


MAX_CONNECTIONS: Final = 11
"""Connections of one pool, as many as `scrubjay serve` has threads; a server has a hundred by default."""
POOL_PATIENCE_S: Final = 30.0
"""Seconds to wait for a connection, or for another writer."""
IDLE_S: Final = 600.0
"""Seconds after which an idle connection is closed: it is no longer needed, or a firewall dropped it."""
MIGRATION_GATE: Final = "; LOCK TABLE migration IN ACCESS SHARE MODE"
"""A migration waits at this table for open transactions, and new ones wait there for the migration.

It is locked before anything is read, so that the transaction's snapshot is newer than the migration.
"""


class ConnectionPool:
    """Connections to one database.

    Not psycopg-pool: a thread that holds a connection may take another one without waiting, the first error of a
    connection attempt is raised at once with its reason, and a process that runs one search starts no threads.

    At most ``max_connections`` threads hold a connection at once; another one waits for ``patience`` seconds.
    """

    def __init__(
        self, url: str, max_connections: int = MAX_CONNECTIONS, patience: float = POOL_PATIENCE_S
    ) -> None:
        self._url = url
        self._max_connections = max_connections
        self._patience = patience
        self._slots = threading.BoundedSemaphore(max_connections)
        self._thread = threading.local()
        self._idle: list[tuple[float, Database]] = []
        self._lock = threading.Lock()

    @contextmanager
    def transaction(self, kind: str = "", *, gated: bool = True) -> Iterator[Database]:
        """Run one transaction; ``gated`` waits for a running migration first."""
        with self._slot(), translate_errors(self._url):
            db = self._begin(f"BEGIN {kind}{MIGRATION_GATE if gated else ''}")
            try:
                with finish_transaction(db, kind):
                    yield db
            finally:
                self._release(db)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Wait for a slot, unless this thread holds one already: two such threads would wait for each other."""
        depth = getattr(self._thread, "depth", 0)
        if not depth and not self._slots.acquire(timeout=self._patience):
            raise StoreBusyError(
                f"All {self._max_connections} connections of this process to {hide_password(self._url)} were in use "
                f"for {self._patience:g} s. Nothing was written.",
                hint="try again in a moment, or start another process",
            )
        self._thread.depth = depth + 1
        try:
            yield
        finally:
            self._thread.depth = depth
            if not depth:
                self._slots.release()

    def _begin(self, begin: str) -> Database:
        import psycopg

        while True:
            idle = self._pop_idle()
            db = idle or connect(self._url)
            try:
                db.execute(begin, prepare=False)  # these are two statements
                return db
            except BaseException as error:
                ended_before = isinstance(error, psycopg.OperationalError) and db.closed
                db.close()
                if idle is None or not ended_before:
                    raise

    def _pop_idle(self) -> Database | None:
        with self._lock:
            return self._idle.pop()[1] if self._idle else None

    def _release(self, db: Database) -> None:
        from psycopg.pq import TransactionStatus

        now = time.monotonic()
        clean = not db.closed and db.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            # The last one returned is taken first, so the longest idle are in front.
            stale = [other for since, other in self._idle if now - since > IDLE_S]
            self._idle = [pair for pair in self._idle if now - pair[0] <= IDLE_S]
            if clean and len(self._idle) < self._max_connections:
                self._idle.append((now, db))
            else:
                stale.append(db)
        for other in stale:
            other.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, db in idle:
            db.close()
