"""Connect: reach the server, send and read any text, and say in our words what it says in its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from scrubjay.errors import InputError, StoreBusyError, StoreError

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import Buffer

    Database = psycopg.Connection[tuple[Any, ...]]

SCHEMA: Final = "scrubjay"
"""Schema that all of our tables are in."""
READ: Final = "ISOLATION LEVEL REPEATABLE READ READ ONLY"
"""What follows ``BEGIN`` where one state is read and nothing is written."""
REACH_S: Final = 10
"""Seconds to wait for the server to answer a connection."""
SESSION: Final = f"""
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
REACHABLE: Final = {
    "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3", "tcp_user_timeout": "60000"
}  # fmt: skip
"""A server that fell off the network is noticed within a minute. What the URL says of these goes before."""
ENDED: Final = ("08", "57P", "25P03")
"""What the codes of errors begin with after which a session is gone: lost, shut down, ended as it stood still."""
ESCAPE: Final = "\x1b"
"""PostgreSQL's text holds every character but NUL: NUL is sent as this and ``0``, this as this and ``1``."""

_ESCAPED = re.compile(f"{ESCAPE}[01]")


def shown(url: str) -> str:
    """Return a URL without its password, for messages.

    >>> shown("postgresql://ann:s3cret@db.local:5433/notes?sslmode=require&password=x")
    'postgresql://ann@db.local:5433/notes?sslmode=require'
    """
    parts = urlsplit(url)
    user, mark, host = parts.netloc.rpartition("@")
    query = "&".join(p for p in parts.query.split("&") if not p.startswith(("password=", "sslpassword=")))
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + mark + host, query=query))


def escaped(text: str) -> str:
    r"""Return a text that PostgreSQL can hold.

    >>> escaped("a\x00b\x1b")
    'a\x1b0b\x1b1'
    """
    if "\x00" not in text and ESCAPE not in text:
        return text
    return text.replace(ESCAPE, f"{ESCAPE}1").replace("\x00", f"{ESCAPE}0")


def unescaped(text: str) -> str:
    r"""Return the text that `escaped` was given.

    >>> unescaped(escaped("a\x00b\x1b0")) == "a\x00b\x1b0"
    True
    """
    if ESCAPE not in text:
        return text
    return _ESCAPED.sub(lambda found: "\x00" if found[0][1] == "0" else ESCAPE, text)


def need_driver(url: str) -> None:
    """Make sure that psycopg, an extra, is installed.

    Raises:
        StoreError: It is not.
    """
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"{shown(url)} needs psycopg, which is not installed. Nothing was written.",
            hint="pip install 'scrubjay[postgres]'",
        ) from error


def connect(url: str) -> Database:
    """Open a connection on which each statement is its own transaction until ``BEGIN`` is sent.

    Raises:
        StoreError: The server cannot be reached.
    """
    import psycopg

    try:
        db = psycopg.connect(url, autocommit=True, client_encoding="utf8", **_own(url))
    except psycopg.Error as error:
        # Neither the text nor the cause is passed on: a driver may repeat the URL, password and all.
        raise StoreError(
            f"{shown(url)} cannot be reached ({_without(url, str(error))}). Nothing more was written.",
            hint="check that the server runs, and the URL's host, port, user and database",
        ) from None
    _take_any_text(db)
    with spoken(url):
        db.execute(SESSION, prepare=False)
    return db


def _own(url: str) -> dict[str, Any]:
    """Return what is asked of a connection beyond what its URL asks."""
    from psycopg.conninfo import conninfo_to_dict

    own = {"connect_timeout": str(REACH_S), "application_name": "scrubjay", **REACHABLE}
    return {name: value for name, value in own.items() if name not in conninfo_to_dict(url)}


def _without(url: str, message: str) -> str:
    """Return a driver's message on one line, without the URL's password."""
    line = " ".join(message.split())
    secrets = [urlsplit(url).password, *re.findall(r"password=([^&\s]+)", url)]
    for secret in secrets:
        if secret:
            line = line.replace(secret, "***")
    return line


def _take_any_text(db: Database) -> None:
    from psycopg.types.string import StrDumper, TextLoader

    class Escaping(StrDumper):
        def dump(self, obj: str) -> Buffer | None:
            return super().dump(escaped(obj))

    class Unescaping(TextLoader):
        def load(self, data: Buffer) -> bytes | str:
            text = super().load(data)
            return unescaped(text) if isinstance(text, str) else text

    db.adapters.register_dumper(str, Escaping)
    db.adapters.register_loader("text", Unescaping)


@contextmanager
def spoken(url: str) -> Iterator[None]:
    """Turn the driver's errors into ours, with the state of the store and the way out.

    Only the server's first line is passed on: its details repeat what was written.
    """
    import psycopg
    from psycopg import errors

    try:
        yield
    except (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure) as error:
        raise StoreBusyError(
            f"Somebody else holds {shown(url)}, to write or to change its tables. Nothing was written.",
            hint="try again in a moment",
        ) from error
    except errors.DiskFull as error:
        raise StoreError(
            f"The disk of {shown(url)} is full. Nothing of this write was stored.",
            hint="free some space there",
        ) from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise StoreError(
            f"{shown(url)} does not allow it ({_line(error)}). Nothing was written.",
            hint=f"give this user its rights in the schema {SCHEMA}: docs/postgres.md",
        ) from error
    except errors.QueryCanceled as error:
        raise StoreError(
            f"{shown(url)} ended what took too long ({_line(error)}). Nothing was written.",
            hint="ask for less at once; if it is always so, see what the server is busy with",
        ) from error
    except psycopg.Error as error:
        if _gone(error):
            raise StoreError(
                f"The connection to {shown(url)} was lost ({_line(error)}). What was under way was undone.",
                hint="do it again: the next call connects anew, and what is there already is not done twice",
            ) from error
        raise StoreError(
            f"{shown(url)} failed ({_line(error)}). Nothing was written.", hint="see the server's log"
        ) from error


def _gone(error: psycopg.Error) -> bool:
    import psycopg

    if error.sqlstate is None:  # not the server's own words
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate.startswith(ENDED)


def _line(error: psycopg.Error) -> str:
    if error.diag.message_primary:
        return error.diag.message_primary
    return "it was closed" if error.sqlstate is None else type(error).__name__


@contextmanager
def transaction(db: Database, kind: str = "") -> Iterator[None]:
    """Hold one transaction: committed at the end of the block, rolled back on any error.

    Args:
        db: The connection.
        kind: What follows ``BEGIN``, such as `READ`.
    """
    db.execute(f"BEGIN {kind}")
    with ended(db, kind):
        yield


@contextmanager
def ended(db: Database, kind: str = "") -> Iterator[None]:
    """End the transaction that has begun: committed at the end of the block, rolled back on any error.

    Args:
        db: The connection.
        kind: What followed ``BEGIN``.

    Raises:
        StoreError: The connection was lost while it committed, so that nobody knows whether it did.
    """
    try:
        yield
        _commit(db, reading=kind == READ)
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
