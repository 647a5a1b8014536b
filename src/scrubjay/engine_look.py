"""Looking: the part of the facade that shows a person what is remembered, and where in time it stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.looks import Look, Stretch
    from scrubjay.wiring.desk import Desk


class Looking:
    """Look and timeline; `Memory` is one."""

    _desk: Desk

    def look(self, memory: str, *, neighbours: int = 2) -> Look:
        """Return a memory with its neighbours, links, concepts, categories and history. It does not count as used.

        Args:
            memory: Its id, or the id's shortest unique beginning.
            neighbours: Passages or turns to show on either side.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.wiring.looking import look

        return look(self._desk, memory, neighbours)

    def timeline(
        self,
        *,
        limit: int = 50,
        skip: int = 0,
        tiers: Sequence[str] = (),
        tags: Sequence[str] = (),
        path: str = "",
        sources: Sequence[str] = (),
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        statuses: Sequence[str] = ("active",),
        projects: Sequence[str] = (),
        agents: Sequence[str] = (),
        sessions: Sequence[str] = (),
        categories: Sequence[str] = (),
    ) -> Stretch:
        """Return a page of memories by when what they tell of happened, else by when they were recorded, last first.

        Args:
            limit: Most memories, 1 to 1,000.
            skip: Memories to pass over first.
            tiers: Any of these tiers; this and the other filters are those of `search`.
            tags: All of these tags.
            path: Glob over a file's path within its source, or a folder of it.
            sources: Any of these sources, by id or path.
            since: What happened at or after.
            until: What happened before the end of this day, month, year, or before this time.
            statuses: Any of these statuses.
            projects: Any of these projects, by name, by the end of a name, or by a path.
            agents: What any of these agents wrote or recorded.
            sessions: Any of these conversations.
            categories: What belongs to any of these categories or to one below, by id or name.

        Raises:
            InputError: An option has a value it cannot have.
        """
        from scrubjay.recall.request import Filters
        from scrubjay.wiring.looking import timeline

        filters = Filters(
            tiers, tags, path, sources, since, until, statuses, projects, agents, sessions, categories
        )
        return timeline(self._desk, filters, limit, skip)
