"""The store of `memory://`: an SQLite file in a private temporary folder, removed when the store is closed."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from scrubjay.errors import InputError
from scrubjay.storage.quota import NO_QUOTA, Quota
from scrubjay.storage.sqlite.store import SQLiteStore


class TemporaryStore(SQLiteStore):
    """An SQLite store whose folder is removed when it is closed, or when its process ends."""

    def __init__(self, secret: bytes | None = None, quota: Quota = NO_QUOTA) -> None:
        folder = tempfile.mkdtemp(prefix="scrubjay-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(Path(folder) / "memory.db", secret, quota=quota)

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
