"""Lives: what each change of what happens to memories does to the tables, inside the writer's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from scrubjay.memory.events import Event
from scrubjay.memory.life import Life, said
from scrubjay.memory.readings import Reading
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store import changes as c
from scrubjay.store.kept import Tenant, event_values, run_values
from scrubjay.store.postgres import rows
from scrubjay.store.postgres.scores import SCOPE
from scrubjay.store.scope_check import lasting, livable, readable, runnable, tellable

if TYPE_CHECKING:
    from scrubjay.store.postgres.connect import Database
    from scrubjay.store.postgres.scores import Own

PUT_EVENT: Final = (
    "INSERT INTO event (tenant, key, memory, op, at, run, other, count, before, actor) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
PUT_RUN: Final = (
    "INSERT INTO run (tenant, key, id, state, rules, started, ended, counts) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, key, id) DO UPDATE SET "
    "(state, rules, started, ended, counts) = "
    "(excluded.state, excluded.rules, excluded.started, excluded.ended, excluded.counts)"
)

PUT_READING: Final = (
    "INSERT INTO reading (tenant, memory, mark, data) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (tenant, memory) DO UPDATE SET (mark, data) = (excluded.mark, excluded.data)"
)


class Held(NamedTuple):
    """What a change asks of a memory before it is changed."""

    num: int
    number: int
    key: str
    valid_from: int | None
    valid_until: int | None


class Lives:
    """One transaction's work on what happens to the memories of a tenant, for one scope.

    Attributes:
        moved: Memories that were given a status, by number.
    """

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        self._db = db
        self._tenant = tenant.number
        self._scope = scope
        self._own: Own = (tenant.number, tenant.generation, list(scope.keys))
        self.moved: set[int] = set()

    def apply(self, change: c.LifeChange) -> None:
        """Do one change."""
        match change:
            case c.PutLife(lives):
                self._put_lives(lives)
            case c.PutEvents():
                self._put_events(change)
            case c.PutRun(run):
                self._put_run(run)
            case c.PutReadings(readings):
                self._put_readings(readings)

    def _put_lives(self, lives: Mapping[str, Life]) -> None:
        for memory, life in lives.items():
            livable(memory, life)
        for memory, held in self._held(lives).items():
            values = said(lives[memory])
            begins = values.get("valid_from", held.valid_from)
            lasting(memory, begins, values.get("valid_until", held.valid_until))
            if values:
                assigned = ", ".join(f"{name} = %s" for name in values)  # attributes of `Life`
                self._db.execute(
                    f"UPDATE memory SET {assigned} WHERE tenant = %s AND num = %s",
                    (*values.values(), self._tenant, held.num),
                )
            if "status" in values:
                self.moved.add(held.num)

    def _put_events(self, change: c.PutEvents) -> None:
        events, past = change.events, change.past
        for event in events:
            tellable(self._scope, event, past)
        held = self._held(one for e in events for one in (e.memory, e.other) if one is not None)
        told = [e for e in events if e.memory in held and (past or held[e.memory].key == e.key)]
        with self._db.cursor() as cursor:
            cursor.executemany(PUT_EVENT, [self._row(event, held) for event in told])

    def _row(self, event: Event, held: Mapping[str, Held]) -> tuple[object, ...]:
        other = held.get(event.other or "")
        return event_values(
            self._tenant, event, held[event.memory].number, None if other is None else other.number
        )

    def _put_run(self, run: Run) -> None:
        runnable(self._scope, run)
        self._db.execute(PUT_RUN, run_values(self._tenant, run))

    def _put_readings(self, readings: Sequence[Reading]) -> None:
        for reading in readings:
            readable(reading)
        held = self._held(reading.memory for reading in readings)
        told = [one for one in readings if one.memory in held]
        with self._db.cursor() as cursor:
            cursor.executemany(
                PUT_READING, [(self._tenant, held[one.memory].num, one.mark, one.data) for one in told]
            )

    def _held(self, ids: Iterable[str]) -> dict[str, Held]:
        """Return those of these memories that are there and visible."""
        wanted = set(ids)
        found = self._db.execute(
            "SELECT m.tier, m.num, m.hash, m.key, m.valid_from, m.valid_until FROM memory m "
            f"WHERE {SCOPE} AND m.hash = ANY(%s::bigint[])",
            (*self._own, rows.hashes(wanted)),
        ).fetchall()
        held = {rows.id_of(tier, rest[1]): Held(*rest) for tier, *rest in found}
        return {memory: one for memory, one in held.items() if memory in wanted}
