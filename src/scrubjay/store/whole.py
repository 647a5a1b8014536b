"""Port of what only who takes a whole tenant along asks: rows that no scope sees together, in pieces.

A whole view sees every visibility key (`scrubjay.memory.scope.Everyone`), so `Reader` answers for all of them. What it
would unite or leave out for a caller is told here row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from scrubjay.memory.edges import Edge
    from scrubjay.memory.events import Event
    from scrubjay.memory.scope import Everyone
    from scrubjay.store.changes import Codes, Prepared, PutProject

PIECE: Final = 500
"""Most rows of a piece: a transaction of a few milliseconds, and a few megabytes with their vectors."""


@dataclass(frozen=True, slots=True)
class Altered:
    """A memory whose text is not the one that was written.

    Attributes:
        id: The memory.
        source: Id of the source that it is a passage of, None for one of no file.
        path: Path of its document in that source.
    """

    id: str
    source: str | None = None
    path: str | None = None


class WholeReader(Protocol):
    """All rows of one tenant, as they are at one moment."""

    @property
    def scope(self) -> Everyone:
        """Who sees all of it: the keys of memories, sources, names, edges, histories and nights."""
        ...

    @property
    def secret(self) -> bytes | None:
        """The tenant's key for ids and tombstones, None where there is no such tenant."""
        ...

    def keys_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the visibility key of those of these memories that there are."""
        ...

    def memories(self) -> Iterator[list[Prepared]]:
        """Yield every memory once, of whatever status, with its terms, vectors and language, in any order.

        Counts of terms are 255 at most.
        """
        ...

    def altered(self) -> Iterator[tuple[int, list[Altered]]]:
        """Yield how many memories were looked at, a piece at a time, with those whose text has not the hash beside it.

        A disk that gives back other letters than it was given is not noticed by who reads them.
        """
        ...

    def connections(self) -> Iterator[list[Edge]]:
        """Yield every edge as it is stored, one a key, also where nobody knows the concept it leads to by now."""
        ...

    def past(self) -> Iterator[list[Event]]:
        """Yield every event in the order of writing."""
        ...

    def texts(self) -> Iterator[tuple[str, dict[str, Codes]]]:
        """Yield fingerprints of models with cached windows of texts (by sha256), in the order they came."""
        ...

    def tombstones(self) -> Iterator[list[str]]:
        """Yield the hashes of what was forgotten."""
        ...

    def places(self) -> list[PutProject]:
        """Return what every key calls the project of every place, by key and place."""
        ...
