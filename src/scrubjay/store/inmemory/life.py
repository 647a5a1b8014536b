"""Life: events and runs of one state, as one scope sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scrubjay.memory.events import Event
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store.changes import Prepared
from scrubjay.store.inmemory.state import State


class InMemoryLife:
    """What happened to the memories of one state that one scope sees."""

    _state: State
    _scope: Scope
    _visible: dict[str, Prepared]

    def events(
        self, ids: Sequence[str] | None = None, run: str | None = None, limit: int = 1000
    ) -> list[Event]:
        """Return visible events, newest first."""
        found = [
            event if event.other in self._visible else replace(event, other=None)
            for event in reversed(self._state.life.events)
            if event.key in self._scope.keys
            and event.memory in self._visible
            and (ids is None or event.memory in ids)
            and (run is None or event.run == run)
        ]
        return sorted(found, key=lambda event: -event.at)[:limit]

    def readings(self, ids: Sequence[str]) -> dict[str, Reading]:
        """Return what was read from visible memories."""
        held = self._state.life.readings
        return {memory: held[memory] for memory in ids if memory in held and memory in self._visible}

    def runs(self, limit: int = 20) -> list[Run]:
        """Return the runs of visible keys, started last first."""
        found = [run for run in self._state.life.runs.values() if run.key in self._scope.keys]
        return sorted(found, key=lambda run: (-run.started, run.id, run.key))[:limit]
