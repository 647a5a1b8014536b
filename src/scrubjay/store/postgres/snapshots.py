"""Snapshots: what one process has read of tenants, each until somebody writes to it.

Every transaction that writes puts a new random mark on its tenant's row, and each reader reads that first: as long as
the mark is the same, so is all that the tenant holds, whoever wrote it. A number that counted up could come again after
a restore.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

from scrubjay.store.snapshot import Snapshot

if TYPE_CHECKING:
    from scrubjay.store.kept import Tenant

MOST_SCOPES: Final = 256
"""Scopes of which is kept what was read."""
MOST_BYTES: Final = 128 << 20
"""What they may take together, about; the one that reads is kept however much it takes, as a search needs it."""


UNREAD: Final = -1
"""Stands for the mark of a scope of which nothing was read since somebody wrote; a mark is never below 0."""
BEFORE: Final = "before"
"""Name of what was read before that: its mark, and the rows."""


class Snapshots:
    """What was read of the last scopes, shared by one process's readers."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: OrderedDict[tuple[str, Hashable], tuple[int, Snapshot]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, tenant: Tenant, name: str, keys: Hashable) -> Snapshot:
        """Return what was read for a scope, nothing where something was written since.

        Args:
            tenant: As the open transaction sees it.
            name: Its name.
            keys: The visibility keys.
        """
        with self._lock:
            scope = (name, keys)
            mark, held = self._held.get(scope, (UNREAD, None))
            if held is not None and mark == tenant.mark:
                self._held.move_to_end(scope)
                return held
            fresh = _after(mark, held)
            self._held[scope] = (tenant.mark, fresh)
            self._held.move_to_end(scope)
            self._make_room()
            return fresh

    def drop(self, name: str) -> None:
        """Let go of what was read of a tenant, which has changed."""
        with self._lock:
            for scope in [scope for scope in self._held if scope[0] == name]:
                self._held[scope] = (UNREAD, _after(*self._held[scope]))

    def _make_room(self) -> None:
        """Let go of those that were read longest ago; what grew is weighed when the next scope comes."""
        weight = sum(held.weight for _, held in self._held.values())
        while len(self._held) > 1 and (weight > self._most or len(self._held) > MOST_SCOPES):
            _, (_, held) = self._held.popitem(last=False)
            weight -= held.weight


def _after(mark: int, held: Snapshot | None) -> Snapshot:
    """Return what is known of a scope that was read under a mark before: its rows, to be brought up to date."""
    fresh = Snapshot()
    if held is not None:
        seen = held.known("table")
        before = held.known(BEFORE) if seen is None else (mark, seen)
        if before is not None:
            fresh.once(BEFORE, lambda: before, lambda read: 3 * read[1].table.columns.nbytes)
    return fresh
