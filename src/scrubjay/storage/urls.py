"""Store URLs: open the store that a URL names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.errors import InputError
from scrubjay.storage.interface import Store
from scrubjay.storage.quota import NO_QUOTA, Quota

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import EncryptionKey


def open_store(url: str, secret: bytes | None = None, quota: Quota = NO_QUOTA) -> Store:
    """Open the store that a URL names.

    Args:
        url: A path, ``sqlite:///path``, ``sqlite:///path?key_file=file`` for an encrypted one, ``memory://`` or
            ``postgresql://…``.
        secret: Key of ids and tombstones for a new tenant; random by default.
        quota: Limits on the number of memories.

    Raises:
        InputError: The URL is not the URL of a store.
        StoreError: It cannot be opened.
    """
    path = store_file(url)
    if path is not None:
        from scrubjay.storage.sqlite.store import SQLiteStore

        return SQLiteStore(path, secret, quota=quota, key=store_key(url))
    scheme = url.partition("://")[0]
    if scheme == "memory":
        from scrubjay.storage.sqlite.store import TemporaryStore

        return TemporaryStore(secret, quota)
    if scheme in ("postgres", "postgresql"):
        from scrubjay.storage.postgres.store import PostgresStore

        return PostgresStore(url, secret, quota=quota)
    raise InputError(
        f"{url} is not the URL of a store.",
        hint="use a path, sqlite:///path, postgresql://host/database or memory://",
    )


def store_file(url: str) -> Path | None:
    """Return the file that a store's URL names; None for one that is kept in no file.

    >>> store_file("sqlite:////srv/memory.db"), store_file("notes.db"), store_file("memory://")
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


def store_key(url: str) -> EncryptionKey | None:
    """Return the key of a store's URL, None where it names none.

    >>> store_key("sqlite:///notes.db"), store_key("what?.db")
    (None, None)
    """
    query = url.partition("?")[2] if url.startswith("sqlite://") else ""
    if not query:
        return None
    from urllib.parse import parse_qsl

    options = parse_qsl(query, keep_blank_values=True)
    if [name for name, _ in options] != ["key_file"] or not options[0][1]:
        raise InputError(
            f"{url} has options other than key_file.",
            hint="write sqlite:///PATH?key_file=FILE; a ? of the path as %3F",
        )
    from scrubjay.storage.sqlite.connection import read_key

    file = store_file(url)
    return read_key(Path(options[0][1]).expanduser(), new=file is None or not file.exists())
