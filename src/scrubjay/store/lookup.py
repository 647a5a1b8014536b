"""Lookup: numbers of ids -> the rows of a table that have them, by keys that are sorted once for parts that stay.

Sorting a million keys takes a tenth of a second, and each write makes another table. All but a few of its rows stand
in large parts, which stay as they are until something is removed from one: those are sorted once, the others each time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sorted: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.uint64]]"


LARGE: Final = 16_384
"""Rows from which on a part is large."""


@dataclass(frozen=True, slots=True)
class Part:
    """One segment within a table.

    Attributes:
        segment: Its number.
        version: Changes with every change of its columns, postings or vectors.
        first: Row of its first slot.
        slots: How many rows it has.
    """

    segment: int
    version: int
    first: int
    slots: int


Name: TypeAlias = "tuple[tuple[int, int], ...]"
Orders: TypeAlias = "dict[Name, Sorted]"
"""How the keys of the large parts, by segment and version, are sorted: one entry, for the last that were."""


class Lookup:
    """The rows of one table by key.

    Args:
        keys: The key of each row.
        parts: What the table is made of; none where it is one piece.
        orders: How the large parts of the table before this one are sorted; takes what is sorted now.
    """

    def __init__(self, keys: NDArray[np.uint64], parts: Sequence[Part], orders: Orders) -> None:
        stays = [part for part in parts if part.slots >= LARGE]
        large = [(part.first, part.slots) for part in stays]
        small = [(part.first, part.slots) for part in parts if part.slots < LARGE]
        small = small if parts else [(0, len(keys))]
        self._pieces = [_Piece(_sorted(keys, small), small)]
        if large:
            name = tuple((part.segment, part.version) for part in stays)
            held = orders.get(name)
            if (
                held is None
            ):  # taken once: a reader of another state of the store may replace the entry meanwhile
                held = _sorted(keys, large)
                orders.clear()
                orders[name] = held
            self._pieces.append(_Piece(held, large))

    def rows(self, numbers: NDArray[np.uint64]) -> list[list[int]]:
        """Return the rows that have each number, mostly one or none."""
        found: list[list[int]] = [[] for _ in numbers]
        for piece in self._pieces:
            for place, row in piece.rows(numbers):
                found[place].append(row)
        return found


class _Piece:
    """Some parts, laid end to end; what is sorted are places in that."""

    def __init__(self, held: Sorted, parts: Sequence[tuple[int, int]]) -> None:
        self._order, self._keys = held
        self._first = [first for first, _ in parts]
        self._start = np.cumsum([0, *(slots for _, slots in parts[:-1])]).tolist()

    def rows(self, numbers: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
        """Yield the place of a number and a row that has it."""
        if not len(self._keys):
            return
        spots = np.searchsorted(self._keys, numbers)
        held = self._keys[np.minimum(spots, len(self._keys) - 1)] == numbers
        for place in np.flatnonzero(held & (spots < len(self._keys))).tolist():
            spot = int(spots[place])
            while spot < len(self._keys) and self._keys[spot] == numbers[place]:
                local = int(self._order[spot])
                part = bisect_right(self._start, local) - 1
                yield place, local - self._start[part] + self._first[part]
                spot += 1


def _sorted(keys: NDArray[np.uint64], parts: Sequence[tuple[int, int]]) -> Sorted:
    held = np.concatenate([keys[first : first + slots] for first, slots in parts] or [keys[:0]])
    order = np.argsort(held, kind="stable")
    return order, held[order]
