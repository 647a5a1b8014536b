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
from scrubjay.store.scope_check import lasting, livable, readable, runnable, tellable
from scrubjay.store.sqlite import index, rows
from scrubjay.store.sqlite.seen import Seen

if TYPE_CHECKING:
    from scrubjay.store.sqlite.database import Database

PUT_EVENT: Final = (
    "INSERT INTO event (tenant, key, memory, op, at, run, other, count, before, actor) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
PUT_RUN: Final = "INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
PUT_READING: Final = "INSERT OR REPLACE INTO reading VALUES (?, ?, ?)"


class Held(NamedTuple):
    """What a change asks of a memory before it is changed."""

    num: int
    number: int
    key: str
    status: str
    valid_from: int | None
    valid_until: int | None


class Lives:
    """One transaction's work on what happens to the memories of a tenant, for one scope."""

    def __init__(self, db: Database, tenant: Tenant, scope: Scope) -> None:
        self._db = db
        self._tenant = tenant.number
        self._scope = scope
        self._seen = Seen(db, tenant.number, tenant.generation, scope.keys)

    def apply(self, change: c.LifeChange) -> None:
        """Do one change. A memory whose status is changed stands in a segment already."""
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
        restated: dict[int, str] = {}
        for memory, held in self._held(lives).items():
            values = said(lives[memory])
            begins, ends = (
                values.get("valid_from", held.valid_from),
                values.get("valid_until", held.valid_until),
            )
            lasting(memory, begins, ends)
            if values:
                assigned = ", ".join(f"{name} = ?" for name in values)  # attributes of `Life`
                self._db.execute(f"UPDATE memory SET {assigned} WHERE num = ?", (*values.values(), held.num))
            if values.get("status", held.status) != held.status:
                restated[held.num] = values["status"]
        index.restate(self._db, restated)

    def _put_events(self, change: c.PutEvents) -> None:
        events, past = change.events, change.past
        for event in events:
            tellable(self._scope, event, past)
        held = self._held(one for e in events for one in (e.memory, e.other) if one is not None)
        told = [e for e in events if e.memory in held and (past or held[e.memory].key == e.key)]
        self._db.executemany(PUT_EVENT, [self._row(event, held) for event in told])

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
        told = [(held[one.memory].num, one.mark, one.data) for one in readings if one.memory in held]
        self._db.executemany(PUT_READING, told)

    def _held(self, ids: Iterable[str]) -> dict[str, Held]:
        """Return those of these memories that are there and visible."""
        wanted = {memory for memory in ids if rows.is_id(memory)}
        found: dict[str, Held] = {}
        for batch in rows.batches([rows.sort_hash(memory) for memory in wanted]):
            held = self._db.execute(
                "SELECT m.tier, m.num, m.hash, m.key, m.status, m.valid_from, m.valid_until FROM memory m "
                f"WHERE {self._seen.among()} AND m.hash IN ({','.join('?' * len(batch))})",
                (*self._seen.own, *batch),
            ).fetchall()
            found |= {rows.from_hash(tier, rest[1]): Held(*rest) for tier, *rest in held}
        return {memory: held for memory, held in found.items() if memory in wanted}
