"""PostgreSQL connections: connect, pool, escape text that the server rejects, and translate its errors.

A connection comes back with nothing left on it, or is closed. One that the server has ended meanwhile is noticed by the
``BEGIN`` of whoever borrows it next, and replaced before anything was done on it.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from scrubjay.errors import InputError, StoreBusyError, StoreError

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import Buffer


if TYPE_CHECKING:
    Database = psycopg.Connection[tuple[Any, ...]]

SCHEMA: Final = "scrubjay"
"""Schema that all of our tables are in."""
READ_ONLY: Final = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""What follows ``BEGIN`` where one state is read and nothing is written."""
CONNECT_TIMEOUT_S: Final = 10
"""Seconds to wait for the server to answer a connection."""
SESSION_SETTINGS: Final = f"""
SET search_path TO {SCHEMA};
SET lock_timeout TO '30s';
SET statement_timeout TO '10min';
SET idle_in_transaction_session_timeout TO '5min';
"""
"""What every session begins with: nobody waits, works or stands still for ever.

A statement is a part of a search or of a write; the longest by far removes the old generation of a large tenant.
A writer has computed everything before it begins, so who stands still in a transaction has died or been stopped,
and what it holds others wait for. A rebuild, which computes in between, gives itself more time.
"""
KEEPALIVES: Final = {
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"
}  # fmt: skip
"""A server that fell off the network is noticed within a minute. What the URL says of these goes before."""
LOST_CONNECTION_STATES: Final = ("08", "57P", "25P03")
"""What the codes of errors begin with after which a session is gone: lost, shut down, ended as it stood still."""
ESCAPE: Final = "\x1b"
"""PostgreSQL's text holds every character but NUL: NUL is sent as this and ``0``, this as this and ``1``."""

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
    return _ESCAPED.sub(lambda found: "\x00" if found[0][1] == "0" else ESCAPE, text)


def require_driver(url: str) -> None:
    """Make sure that psycopg, an extra, is installed.

    Raises:
        StoreError: It is not.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"{hide_password(url)} needs psycopg, which is not installed. Nothing was written.",
            hint="pip install 'scrubjay[postgres]'",
        ) from error


def connect(url: str) -> Database:
    """Open a connection on which each statement is its own transaction until ``BEGIN`` is sent.

    Raises:
        StoreError: The server cannot be reached.
    """
    import psycopg

    try:
        db = psycopg.connect(url, autocommit=True, client_encoding="utf8", **_connection_options(url))
    except psycopg.Error as error:
        # Neither the text nor the cause is passed on: a driver may repeat the URL, password and all.
        raise StoreError(
            f"{hide_password(url)} cannot be reached ({_message_without_password(url, str(error))}). Nothing more was written.",
            hint="check that the server runs, and the URL's host, port, user and database",
        ) from None
    _register_text_adapters(db)
    with translate_errors(url):
        db.execute(SESSION_SETTINGS, prepare=False)
    return db


def _connection_options(url: str) -> dict[str, Any]:
    """Return what is asked of a connection beyond what its URL asks."""
    from psycopg.conninfo import conninfo_to_dict

    own = {"connect_timeout": str(CONNECT_TIMEOUT_S), "application_name": "scrubjay", **KEEPALIVES}
    return {name: value for name, value in own.items() if name not in conninfo_to_dict(url)}


def _message_without_password(url: str, message: str) -> str:
    """Return a driver's message on one line, without the URL's password."""
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
    """Turn the driver's errors into ours, with the state of the store and the way out.

    Only the server's first line is passed on: its details repeat what was written.
    """
    import psycopg
    from psycopg import errors

    try:
        yield
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
        raise StoreBusyError(
            f"Somebody else holds {hide_password(url)}, to write or to change its tables. Nothing was written.",
            hint="try again in a moment",
        ) from error
    except errors.DiskFull as error:
        raise StoreError(
            f"The disk of {hide_password(url)} is full. Nothing of this write was stored.",
            hint="free some space there",
        ) from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise StoreError(
            f"{hide_password(url)} does not allow it ({_one_line(error)}). Nothing was written.",
            hint=f"give this user its rights in the schema {SCHEMA}: docs/postgres.md",
        ) from error
    except errors.QueryCanceled as error:
        raise StoreError(
            f"{hide_password(url)} ended what took too long ({_one_line(error)}). Nothing was written.",
            hint="ask for less at once; if it is always so, see what the server is busy with",
        ) from error
    except psycopg.Error as error:
        if _is_disconnected(error):
            raise StoreError(
                f"The connection to {hide_password(url)} was lost ({_one_line(error)}). What was under way was undone.",
                hint="do it again: the next call connects anew, and what is there already is not done twice",
            ) from error
        raise StoreError(
            f"{hide_password(url)} failed ({_one_line(error)}). Nothing was written.",
            hint="see the server's log",
        ) from error


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
    """Hold one transaction: committed at the end of the block, rolled back on any error.

    Args:
        db: The connection.
        kind: What follows ``BEGIN``, such as `READ_ONLY`.
    """
    db.execute(f"BEGIN {kind}")
    with finish_transaction(db, kind):
        yield


@contextmanager
def finish_transaction(db: Database, kind: str = "") -> Iterator[None]:
    """End the transaction that has begun: committed at the end of the block, rolled back on any error.

    Args:
        db: The connection.
        kind: What followed ``BEGIN``.

    Raises:
        StoreError: The connection was lost while it committed, so that nobody knows whether it did.
    """
    try:
        yield
        _commit(db, reading=kind == READ_ONLY)
    except UnicodeEncodeError as error:
        _roll_back(db)
        raise InputError(f"A text holds half a character ({error}). Nothing was written.") from error
    except BaseException:
        _roll_back(db)
        raise


def _commit(db: Database, *, reading: bool) -> None:
    import psycopg

    try:
        said = db.execute("COMMIT").statusmessage
    except psycopg.OperationalError as error:
        if reading or not db.closed:
            raise
        raise StoreError(
            "The connection to the server was lost at the very end. All of it was written, or nothing.",
            hint="do it again: what is there already is replaced by itself",
        ) from error
    if said != "COMMIT":
        raise StoreError("An error before the end undid the transaction. Nothing was written.")


def _roll_back(db: Database) -> None:
    import psycopg

    if not db.closed:
        # A connection that cannot even do this has no transaction any more; who lent it closes it.
        with suppress(psycopg.Error):
            db.execute("ROLLBACK")


MAX_CONNECTIONS: Final = 11
"""Callers that are lent a connection at once, as many as `scrubjay serve` has threads; each is a process of the
database's server, which has a hundred by default."""
POOL_PATIENCE_S: Final = 30.0
"""Seconds to wait for what another caller holds."""
IDLE_S: Final = 600.0
"""Seconds after which an idle connection is closed: one that only a busy hour needed, or a firewall forgot."""
MIGRATION_GATE: Final = "; LOCK TABLE migration IN ACCESS SHARE MODE"
"""Who changes the schema waits for the transactions that are under way, and new ones wait for it, at this table.

Locked before anything is read, so that the transaction's snapshot is of after the change.
"""


class ConnectionPool:
    """Connections to one database.

    Args:
        url: Of the database.
        most: Threads that may borrow at once.
        patience: Seconds that another one waits.
    """

    def __init__(self, url: str, most: int = MAX_CONNECTIONS, patience: float = POOL_PATIENCE_S) -> None:
        self._url = url
        self._most = most
        self._patience = patience
        self._room = threading.BoundedSemaphore(most)
        self._thread = threading.local()
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
        with self._turn(), translate_errors(self._url):
            db = self._begun(f"BEGIN {kind}{MIGRATION_GATE if gated else ''}")
            try:
                with finish_transaction(db, kind):
                    yield db
            finally:
                self._take_back(db)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for room, but not a thread that holds a connection: two of these would wait for each other."""
        held = getattr(self._thread, "depth", 0)
        if not held and not self._room.acquire(timeout=self._patience):
            raise StoreBusyError(
                f"All {self._most} connections of this process to {hide_password(self._url)} were in use "
                f"for {self._patience:g} s. Nothing was written.",
                hint="try again in a moment, or start another process",
            )
        self._thread.depth = held + 1
        try:
            yield
        finally:
            self._thread.depth = held
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
