"""History writes: status changes, events, runs and cached extractions, checked the same way for both SQL stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.models.lifecycle import CachedExtraction, LifecycleChange, changed_fields
from scrubjay.models.records import Scope
from scrubjay.storage import changes as c
from scrubjay.storage.rows import Tenant, event_to_row, run_to_row
from scrubjay.storage.validation import (
    check_event,
    check_lifecycle,
    check_reading,
    check_run,
    check_validity,
)


class PriorMemory(NamedTuple):
    """The row of a memory before a change."""

    num: int
    number: int
    key: str
    status: str
    valid_from: int | None
    valid_until: int | None


class HistoryWriter(ABC):
    """Applies the lifecycle changes of one transaction for one scope; a store reads and writes the rows."""

    def __init__(self, tenant: Tenant, scope: Scope) -> None:
        self._tenant = tenant.number
        self._scope = scope

    def apply(self, change: c.LifecycleChange) -> None:
        match change:
            case c.PutLifecycle(lives):
                self._put_lifecycles(lives)
            case c.PutEvents():
                self._put_events(change)
            case c.PutRun(run):
                check_run(self._scope, run)
                self._write_runs([run_to_row(self._tenant, run)])
            case c.PutReadings(readings):
                self._put_readings(readings)

    def _put_lifecycles(self, lives: Mapping[str, LifecycleChange]) -> None:
        for memory, life in lives.items():
            check_lifecycle(memory, life)
        for memory, prior in self._visible(lives).items():
            values = changed_fields(lives[memory])  # fields of `LifecycleChange` are columns of ``memory``
            check_validity(
                memory,
                values.get("valid_from", prior.valid_from),
                values.get("valid_until", prior.valid_until),
            )
            if values:
                self._update(prior, values)

    def _put_events(self, change: c.PutEvents) -> None:
        for event in change.events:
            check_event(self._scope, event, change.past)
        named = [memory for event in change.events for memory in (event.memory, event.other)]
        prior = self._visible(memory for memory in named if memory is not None)
        rows = []
        for event in change.events:
            memory, other = prior.get(event.memory), prior.get(event.other or "")
            if memory is not None and (change.past or memory.key == event.key):
                number = None if other is None else other.number
                rows.append(event_to_row(self._tenant, event, memory.number, number))
        self._write_events(rows)

    def _put_readings(self, readings: Sequence[CachedExtraction]) -> None:
        for reading in readings:
            check_reading(reading)
        prior = self._visible(reading.memory for reading in readings)
        self._write_readings(
            [(prior[one.memory].num, one.mark, one.data) for one in readings if one.memory in prior]
        )

    @abstractmethod
    def _visible(self, ids: Iterable[str]) -> dict[str, PriorMemory]:
        """Return the memories of these ids that the scope sees."""

    @abstractmethod
    def _update(self, prior: PriorMemory, values: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def _write_events(self, rows: Sequence[tuple[object, ...]]) -> None: ...

    @abstractmethod
    def _write_runs(self, rows: Sequence[tuple[object, ...]]) -> None: ...

    @abstractmethod
    def _write_readings(self, rows: Sequence[tuple[int, str, bytes]]) -> None: ...
