"""Life state: what happened to one tenant's memories, as plain values, and what each change does to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from scrubjay.memory.events import Event
from scrubjay.memory.life import Life, lived
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.scope_check import lasting, livable, readable, runnable, tellable


@dataclass(slots=True)
class LifeState:
    """Events in the order of writing, runs by (id, key), and readings by memory."""

    events: list[Event] = field(default_factory=list)
    runs: dict[tuple[str, str], Run] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)

    def copy(self) -> LifeState:
        """Return a state that can be changed without this one changing."""
        return LifeState(list(self.events), dict(self.runs), dict(self.readings))

    def apply(self, scope: Scope, change: c.LifeChange, memories: dict[str, c.Prepared]) -> None:
        """Do one change for one scope; a life is put into the memory that it is of."""
        seen = {i: m for i, m in memories.items() if m.record.key in scope.keys}
        match change:
            case c.PutLife(lives):
                memories |= _lived(lives, seen)
            case c.PutEvents(events, past):
                for event in events:
                    tellable(scope, event, past)
                    if event.memory in seen and (past or seen[event.memory].record.key == event.key):
                        known = event.other in seen
                        self.events.append(event if known else replace(event, other=None))
            case c.PutRun(run):
                runnable(scope, run)
                self.runs[run.id, run.key] = run
            case c.PutReadings(readings):
                for reading in readings:
                    readable(reading)
                self.readings |= {reading.memory: reading for reading in readings if reading.memory in seen}

    def lose(self, memories: Collection[str]) -> None:
        """Remove events and readings of memories that were removed for good, and their names from others' events."""
        self.readings = {memory: one for memory, one in self.readings.items() if memory not in memories}
        kept = [event for event in self.events if event.memory not in memories]
        self.events = [replace(e, other=None) if e.other in memories else e for e in kept]


def _lived(lives: Mapping[str, Life], seen: Mapping[str, c.Prepared]) -> dict[str, c.Prepared]:
    changed = {}
    for memory, life in lives.items():
        livable(memory, life)
        if memory in seen:
            record = lived(seen[memory].record, life)
            lasting(memory, record.valid_from, record.valid_until)
            changed[memory] = replace(seen[memory], record=record)
    return changed
