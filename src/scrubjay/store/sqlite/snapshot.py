"""Snapshots: what one connection has read of the file, until somebody writes.

SQLite itself tells when another connection has committed (``PRAGMA data_version``); then everything is read anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from scrubjay.store.snapshot import MOST_HEADS, MOST_WEIGHED, Snapshot

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

MOST_SCOPES: Final = 4
"""Scopes of which is kept what was read: as many as tables are."""


class Snapshots:
    """What one connection read of the state that the file is in."""

    def __init__(self) -> None:
        self._version: int | None = None
        self._scopes: OrderedDict[Hashable, Snapshot] = OrderedDict()

    def of(self, db: Database, scope: Hashable) -> Snapshot:
        """Return what was read for a scope, nothing where something was written since.

        Args:
            db: The connection, inside a transaction: so what it sees stays what it is.
            scope: Whose memories are read.
        """
        version = db.pragma("data_version")
        if version != self._version:
            self._version = version
            self._scopes.clear()
        before = len(self._scopes)
        found = self._scopes.setdefault(scope, Snapshot())
        self._scopes.move_to_end(scope)
        while len(self._scopes) > 1 and (
            len(self._scopes) > MOST_SCOPES or sum(map(len, self._scopes.values())) > MOST_HEADS
        ):
            self._scopes.popitem(last=False)
        if len(self._scopes) != before:
            for one in self._scopes.values():
                one.words.allow(MOST_WEIGHED // len(self._scopes))
        return found
