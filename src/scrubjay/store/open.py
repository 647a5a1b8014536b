"""Open: store URL -> Store."""

from __future__ import annotations

from pathlib import Path

from scrubjay.errors import InputError
from scrubjay.store.base import Store
from scrubjay.store.quota import ANY, Quota


def open_store(url: str, secret: bytes | None = None, quota: Quota = ANY) -> Store:
    """Open the store that a URL names.

    Args:
        url: A path, ``sqlite:///path``, ``sqlite:///path?key_file=file`` for an encrypted one, ``memory://`` or
            ``postgresql://…``.
        secret: Key of ids and tombstones for a tenant that is new; random when left out.
        quota: How many memories may be held.

    Raises:
        InputError: The URL names no kind of store.
        StoreError: It cannot be opened.
    """
    path = file_of(url)
    if path is not None:
        return _sqlite(path, secret, quota, key_file_of(url))
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
    return Path(unquote(rest.partition("?")[0].removeprefix("/"))).expanduser()


def key_file_of(url: str) -> Path | None:
    """Return the file of the key that a store's URL names; None where it names none.

    >>> key_file_of("sqlite:///notes.db?key_file=/srv/key"), key_file_of("sqlite:///notes.db"), key_file_of("what?.db")
    (PosixPath('/srv/key'), None, None)

    Raises:
        InputError: It asks for something else, or for nothing.
    """
    asked = url.partition("?")[2] if url.startswith("sqlite://") else ""
    if not asked:
        return None
    from urllib.parse import parse_qsl

    given = parse_qsl(asked, keep_blank_values=True)
    if [name for name, _ in given] != ["key_file"] or not given[0][1]:
        raise InputError(
            f"{url} asks for something else than a key.",
            hint="write sqlite:///PATH?key_file=FILE; a ? of the path as %3F",
        )
    return Path(given[0][1]).expanduser()


def _sqlite(path: Path, secret: bytes | None, quota: Quota, key_file: Path | None) -> Store:
    from scrubjay.store.sqlite.store import SQLiteStore

    if key_file is None:
        return SQLiteStore(path, secret, quota=quota)
    from scrubjay.store.sqlite.cipher import read_key

    return SQLiteStore(path, secret, quota=quota, key=read_key(key_file))
