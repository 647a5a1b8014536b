"""Ports of what happens to memories: what every store answers of events and runs.

The same rules hold as for memories (`scrubjay.store.base`). An event is seen by who sees its own key and the
memory it happened to; the other memory that had part in it is named to who sees that one, too. Events of a
memory go when it is removed for good. They stay when it is replaced under its id, moved, renamed or rebuilt:
events and runs belong to no generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from scrubjay.memory.events import Event
    from scrubjay.memory.readings import Reading
    from scrubjay.memory.runs import Run


class LifeReader(Protocol):
    """What happened to memories, as one scope sees it."""

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return visible events, newest first; of one time, the one that was written later first.

        Args:
            ids: Memories they happened to, any without; unknown and foreign ones have none.
            run: Those of this run alone.
            limit: Most events.

        Returns:
            Events whose ``other`` is None where that memory is gone or out of sight.
        """
        ...

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from visible memories, by id; those that nothing was read from are left out."""
        ...

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the runs of visible keys, started last first, then by id and key; at most ``limit`` rows."""
        ...
