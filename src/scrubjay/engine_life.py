"""Living: the part of the facade that says what becomes of memories in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.memory.histories import Changed, History
    from scrubjay.wiring.desk import Desk


class Living:
    """Archive, restore, judge; `Memory` is one."""

    _desk: Desk

    def archive(self, ids: str | Sequence[str]) -> Changed:
        """Take memories out of default answers; they stay whole, and `restore` brings them back.

        A passage of a file stays archived as long as its text stays the same. An exact identifier that stands
        only in an archived memory still finds it; `statuses=("active", "archived")` finds all of them.

        Args:
            ids: Ids, or their shortest unique beginnings.
        """
        from scrubjay.wiring.living import archive

        return archive(self._desk, [ids] if isinstance(ids, str) else list(ids))

    def restore(self, ids: str | Sequence[str]) -> Changed:
        """Make archived or superseded memories active again."""
        from scrubjay.wiring.living import restore

        return restore(self._desk, [ids] if isinstance(ids, str) else list(ids))

    def feedback(self, ids: str | Sequence[str], verdict: str) -> Changed:
        """Remember that memories were ``used``, ``useful`` or ``wrong``.

        It is counted apart from what searches return, and its effect is bounded: "wrong" lowers a memory's
        strength to .3 at the least, "useful" makes up for it, and both that and ``used`` keep it young.

        Raises:
            InputError: The verdict is none of the three.
        """
        from scrubjay.wiring.living import feedback

        return feedback(self._desk, [ids] if isinstance(ids, str) else list(ids), verdict)

    def history(self, memory: str) -> History:
        """Return what happened to a memory: when it changed, what it rests on, what took its place.

        Raises:
            NotFoundError: No memory's id begins so, or several do.
        """
        from scrubjay.wiring.living import history

        return history(self._desk, memory)
