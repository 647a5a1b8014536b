"""Open: store URL -> Store."""

from __future__ import annotations

from pathlib import Path

from scrubjay.errors import InputError
from scrubjay.store.base import Store
from scrubjay.store.quota import ANY, Quota


def open_store(url: str, secret: bytes | None = None, quota: Quota = ANY) -> Store:
    """Open the store that a URL names.

    Args:
        url: A path, ``sqlite:///path``, ``memory://`` or ``postgresql://…``.
        secret: Key of ids and tombstones for a tenant that is new; random when left out.
        quota: How many memories may be held.

    Raises:
        InputError: The URL names no kind of store.
        StoreError: It cannot be opened.
    """
    path = file_of(url)
    if path is not None:
        return _sqlite(path, secret, quota)
    scheme = url.partition("://")[0]
    if scheme == "memory":
        from scrubjay.store.inmemory.store import InMemoryStore

        return InMemoryStore(secret, quota)
    if scheme in ("postgres", "postgresql"):
        from scrubjay.store.postgres.store import PostgresStore

        return PostgresStore(url, secret, quota=quota)
    raise InputError(
        f"{url} names no kind of store.",
        hint="use a path, sqlite:///path, postgresql://host/database or memory://",
    )


def file_of(url: str) -> Path | None:
    """Return the file that a store's URL names; None for one that is kept in no file.

    >>> file_of("sqlite:////srv/memory.db"), file_of("notes.db"), file_of("memory://")
    (PosixPath('/srv/memory.db'), PosixPath('notes.db'), None)
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        return Path(url).expanduser()
    if scheme != "sqlite":
        return None
    from urllib.parse import unquote

    # sqlite:///relative.db and sqlite:////absolute.db, as SQLAlchemy reads them
    return Path(unquote(rest.removeprefix("/"))).expanduser()


def _sqlite(path: Path, secret: bytes | None, quota: Quota) -> Store:
    from scrubjay.store.sqlite.store import SQLiteStore

    return SQLiteStore(path, secret, quota=quota)
