"""Snapshot: what was read of one state of the file, for the searches that follow until somebody writes.

Not answers but rows, each read once: a search reads a few hundred, and the next ones mostly the same. SQLite itself
tells when another connection has committed (``PRAGMA data_version``); then everything is read anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from scrubjay.memory.records import Record
    from scrubjay.store.base import Head
    from scrubjay.store.sqlite.database import Database

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_SCOPES: Final = 4
"""Scopes of which is kept what was read: as many as tables are."""
MOST_HEADS: Final = 1 << 14
"""Memories of which is kept what ranking asks, about 8 MB, and as many of which turns stand beside them, 4 MB."""
MOST_RECORDS: Final = 1 << 11
"""Memories that are kept whole, about 4 MB of usual ones."""


class Rows(Generic[K, V]):
    """Rows by name, read where they were not yet; too many make way for none.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[K, V | None] = {}

    def of(self, names: Sequence[K], read: Callable[[list[K]], dict[K, V]]) -> dict[K, V]:
        """Return those that there are, in the order of their names; ``read`` reads what was not read yet."""
        held = self._held
        new = [name for name in dict.fromkeys(names) if name not in held]
        if new:
            if len(held) + len(new) > self._most:
                held = {name: held[name] for name in names if name in held}
                self._held = held if len(held) + len(new) <= self._most else {}
            found = read(new)
            held.update((name, found.get(name)) for name in new)
        return {name: row for name in names if (row := held[name]) is not None}

    def __len__(self) -> int:
        return len(self._held)


class Snapshot:
    """What was read of one scope's memories.

    Attributes:
        heads: What ranking asks of memories.
        beside: Turns next to turns.
        records: Memories.
    """

    def __init__(self) -> None:
        self.heads: Rows[str, Head] = Rows(MOST_HEADS)
        self.beside: Rows[str, tuple[str, ...]] = Rows(MOST_HEADS)
        self.records: Rows[str, Record] = Rows(MOST_RECORDS)
        self._once: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.heads) + len(self.beside) + len(self.records)

    def once(self, name: Hashable, read: Callable[[], V]) -> V:
        """Return what was read under a name, reading it the first time."""
        if name not in self._once:
            self._once[name] = read()
        found: V = self._once[name]
        return found


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
        found = self._scopes.setdefault(scope, Snapshot())
        self._scopes.move_to_end(scope)
        while len(self._scopes) > 1 and (
            len(self._scopes) > MOST_SCOPES or sum(map(len, self._scopes.values())) > MOST_HEADS
        ):
            self._scopes.popitem(last=False)
        return found
