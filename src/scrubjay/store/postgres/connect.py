"""Connect: reach the server, send and read any text, and say in our words what it says in its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from scrubjay.errors import InputError, StoreBusyError, StoreError

if TYPE_CHECKING:
    import psycopg
    from psycopg.abc import Buffer

    Database = psycopg.Connection[tuple[Any, ...]]

SCHEMA: Final = "scrubjay"
"""Schema that all of our tables are in."""
REACH_S: Final = 10
"""Seconds to wait for the server to answer a connection."""
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


def connect(url: str) -> Database:
    """Open a connection on which each statement is its own transaction until ``BEGIN`` is sent.

    Raises:
        StoreError: psycopg is not installed, or the server cannot be reached.
    """
    try:
        import psycopg
    except ImportError as error:
        raise StoreError(
            f"{shown(url)} needs psycopg, which is not installed. Nothing was written.",
            hint="pip install 'scrubjay[postgres]'",
        ) from error
    try:
        db = psycopg.connect(
            url, autocommit=True, connect_timeout=REACH_S, application_name="scrubjay", client_encoding="utf8"
        )
    except psycopg.Error as error:
        # Neither the text nor the cause is passed on: a driver may repeat the URL, password and all.
        raise StoreError(
            f"{shown(url)} cannot be reached ({_without(url, str(error))}). Nothing was written.",
            hint="check that the server runs, and the URL's host, port, user and database",
        ) from None
    _take_any_text(db)
    db.execute(f"SET search_path TO {SCHEMA}")
    return db


def answers(db: Database) -> bool:
    """Return whether the server still answers on a connection, which is closed if not.

    The server may have been restarted, or have ended what was idle.
    """
    import psycopg

    try:
        db.execute("SELECT 1")
    except psycopg.OperationalError:
        db.close()
        return False
    return True


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
            f"Another writer holds {shown(url)}. Nothing was written.", hint="try again in a moment"
        ) from error
    except errors.DiskFull as error:
        raise StoreError(
            f"The disk of {shown(url)} is full. Nothing of this write was stored.",
            hint="free some space there",
        ) from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise StoreError(
            f"{shown(url)} does not allow it ({_line(error)}). Nothing was written.",
            hint=f"let this user create and write the schema {SCHEMA}",
        ) from error
    except psycopg.Error as error:
        raise StoreError(
            f"{shown(url)} failed ({_line(error)}). Nothing was written.", hint="see the server's log"
        ) from error


def _line(error: psycopg.Error) -> str:
    return error.diag.message_primary or type(error).__name__


@contextmanager
def transaction(db: Database, kind: str = "") -> Iterator[None]:
    """Hold one transaction: committed at the end of the block, rolled back on any error.

    Args:
        db: The connection.
        kind: What follows ``BEGIN``, such as ``ISOLATION LEVEL REPEATABLE READ READ ONLY``.
    """
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except UnicodeEncodeError as error:
        _roll_back(db)
        raise InputError(f"A text holds half a character ({error}). Nothing was written.") from error
    except BaseException:
        _roll_back(db)
        raise


def _roll_back(db: Database) -> None:
    if not (db.closed or db.broken):
        db.execute("ROLLBACK")
