"""Snapshot: what was read of one state of a store, for the searches that follow until somebody writes.

Not answers but rows, each read once: a search reads a few hundred, and the next ones mostly the same. Each store has
its own way to notice that something was written; then everything is read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

if TYPE_CHECKING:
    from scrubjay.memory.records import Record, Where
    from scrubjay.store.base import Head

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_HEADS: Final = 1 << 14
"""Memories of which is kept what ranking asks, about 8 MB, and as many of which turns stand beside them, 4 MB."""
MOST_RECORDS: Final = 1 << 11
"""Memories that are kept whole, about 4 MB of usual ones."""
MOST_MASKS: Final = 8
"""Filters of which is kept what passes: a byte for each memory, and an agent asks with the same few."""
ROW_BYTES: Final = 500
"""What a small row takes, about."""
RECORD_BYTES: Final = 2_000
"""What a memory takes that is kept whole, about."""


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
        masks: What passes a filter, in the form that the store has it in.
    """

    def __init__(self) -> None:
        self.heads: Rows[str, Head] = Rows(MOST_HEADS)
        self.beside: Rows[str, tuple[str, ...]] = Rows(MOST_HEADS)
        self.records: Rows[str, Record] = Rows(MOST_RECORDS)
        self.masks: Rows[Where, Any] = Rows(MOST_MASKS)
        self._others: dict[Hashable, Rows[Any, Any]] = {}
        self._once: dict[Hashable, Any] = {}
        self._weights: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.heads) + len(self.beside) + len(self.records)

    def rows(self, name: Hashable) -> Rows[Any, Any]:
        """Return rows of another kind."""
        return self._others.setdefault(name, Rows(MOST_HEADS))

    def once(self, name: Hashable, read: Callable[[], V], weigh: Callable[[V], int] | None = None) -> V:
        """Return what was read under a name, reading it the first time; ``weigh`` tells the bytes it takes."""
        if name not in self._once:
            found = read()
            self._weights[name] = 0 if weigh is None else weigh(found)
            self._once[name] = found
        held: V = self._once[name]
        return held

    def known(self, name: Hashable) -> Any:
        """Return what was read under a name, None where nothing was."""
        return self._once.get(name)

    def take(self, name: Hashable) -> Any:
        """Return what was read under a name, None where nothing was, and let go of it."""
        self._weights.pop(name, None)
        return self._once.pop(name, None)

    @property
    def weight(self) -> int:
        """How many bytes it takes, about."""
        small = len(self.heads) + len(self.beside) + sum(map(len, list(self._others.values())))
        return small * ROW_BYTES + len(self.records) * RECORD_BYTES + sum(list(self._weights.values()))
