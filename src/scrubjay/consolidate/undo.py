"""Undo: a run -> the store as it was before it, as far as nobody has touched it since.

What the run made goes, and what it archived is active again: unless somebody archived or restored it themselves
since, or it says something else by now. A process killed midway leaves whole digests either made or taken back,
and undoing goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scrubjay.errors import NotFoundError
from scrubjay.ingest.turned import EVERY, taken_back, turned
from scrubjay.memory.dates import now_micros
from scrubjay.memory.events import Event, sure
from scrubjay.memory.life import Life
from scrubjay.memory.nights import Undone
from scrubjay.memory.runs import Run
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import DropEdges, DropMemory, PutLife, PutRun

AT_ONCE: Final = 64
"""Digests that are taken back together, with what they told of."""
READ_AT_ONCE: Final = 1_000
"""Memories that are read together."""
_SURER: Final = ("changed", "reinforced")
"""What gives a memory its confidence after it was made."""


def undo(store: Store, scope: Scope, run: str) -> Undone:
    """Take a run back, for those of its visibility keys that the scope sees.

    Args:
        store: Where.
        scope: Who asks.
        run: Id of the run, or its shortest unique beginning.

    Raises:
        NotFoundError: No run, or several, are called so.
    """
    with store.reader(scope) as reader:
        rows = _rows(reader, run)
        events = reader.events(run=rows[0].id, limit=EVERY)
    if all(row.state == "undone" for row in rows):
        return Undone(rows[0].id, 0, 0, already=True)
    restored = _back(store, scope, rows[0].id, events)
    made = _left(store, scope, [event.memory for event in events if event.op == "derived"])
    told: dict[str, list[str]] = {memory: [] for memory in made}
    for event in events:
        if event.op == "archived":
            told.setdefault(event.other if event.other and event.other in told else "", []).append(
                event.memory
            )
    removed = 0
    with_none = told.pop(
        "", []
    )  # their digest is gone (forgotten, or taken back by a later run) or a person's
    batches = [list(told.items())[first : first + AT_ONCE] for first in range(0, len(told), AT_ONCE)]
    for batch in [*batches, [("", with_none)]]:
        gone = [memory for memory, _ in batch if memory]
        freed = _held(store, scope, rows[0].id, [memory for _, sources in batch for memory in sources])
        back = taken_back(freed, now_micros(), rows[0].id)
        store.write(scope, [DropMemory(tuple(gone)), *back], durable=True)
        removed, restored = removed + len(gone), restored + len(freed)
    store.write(scope, [PutRun(replace(row, state="undone")) for row in rows], durable=True)
    return Undone(rows[0].id, removed, restored)


def still_archived(reader: Reader) -> list[tuple[Run, list[Event]]]:
    """Return the runs that archived memories which are archived to this day, newest first, with what archived each."""
    found: list[tuple[Run, list[Event]]] = []
    for row in reader.runs(EVERY):
        if row.counts.get("archived") and row.state != "undone":
            events = reader.events(run=row.id, limit=EVERY)
            ids = [event.memory for event in events if event.op == "archived" and event.key == row.key]
            if events := _as_left(reader, row.id, ids):
                found.append((row, events))
    return found


def restore_all(store: Store, scope: Scope) -> list[str]:
    """Make everything active again that any run archived and that is archived to this day; return its ids.

    It is restored as by a person, so no later run archives it again until its text changes. What somebody archived by
    hand, and what runs made, stays.
    """
    with store.reader(scope) as reader:
        events = [event for _, own in still_archived(reader) for event in own]
    for first in range(0, len(events), AT_ONCE):
        store.write(scope, taken_back(events[first : first + AT_ONCE], now_micros()), durable=True)
    return [event.memory for event in events]


def _left(store: Store, scope: Scope, made: Sequence[str]) -> list[str]:
    """Return what a run made without what somebody put in words of their own since: that is theirs."""
    with store.reader(scope) as reader:
        held = reader.get(made)
    return [memory for memory in made if memory in held and held[memory].origin == "derived"]


def _back(store: Store, scope: Scope, run: str, events: Sequence[Event]) -> int:
    """Take back what a run made of facts that were known: what they were borne out by, and what replaced them."""
    supported = sorted({event.memory for event in events if event.op == "reinforced"})
    past = sorted({event.memory for event in events if event.op == "superseded"})
    with store.reader(scope) as reader:
        edges = reader.edges(supported, ["derived_from"])
        last = turned(reader, past)
        doubted = _doubted(reader, run, supported)
    lost = tuple((edge.src, edge.kind, edge.dst) for edge in edges if edge.run == run)
    freed = [event for event in last.values() if event.op == "superseded" and event.run == run]
    if lost or freed or doubted:
        back = taken_back(freed, now_micros(), run)
        store.write(scope, [DropEdges(lost), PutLife(doubted), *back], durable=True)
    return len(freed)


def _doubted(reader: Reader, run: str, supported: Sequence[str]) -> dict[str, Life]:
    """Return how sure known facts are without a run: as they were before the earliest of the last undone ones.

    What made one surer since, or changed it, stands: then it is as sure as that left it.
    """
    undone = {run} | {row.id for row in reader.runs(EVERY) if row.state == "undone"}
    found: dict[str, Life] = {}
    standing: set[str] = set()
    for event in reader.events(supported, limit=EVERY):  # newest first
        if event.op not in _SURER or event.memory in standing:
            continue
        before = sure(event.before) if event.run in undone else None
        if before is None:
            standing.add(event.memory)
        else:
            found[event.memory] = Life(confidence=before)
    return found


def _rows(reader: Reader, run: str) -> list[Run]:
    found = [row for row in reader.runs(EVERY) if run and row.id.startswith(run)]
    names = sorted({row.id for row in found})
    if len(names) != 1:
        raise NotFoundError(
            f"{'No run is' if not names else f'{len(names)} runs are'} called {run!r}. Nothing was undone.",
            hint="scrubjay history ID names the runs that a memory was part of",
        )
    return found


def _held(store: Store, scope: Scope, run: str, sources: Sequence[str]) -> list[Event]:
    """Return what archived those sources that are as the run left them."""
    with store.reader(scope) as reader:
        return _as_left(reader, run, sources)


def _as_left(reader: Reader, run: str, ids: Sequence[str]) -> list[Event]:
    held: list[str] = []
    for first in range(0, len(ids), READ_AT_ONCE):
        records = reader.get(ids[first : first + READ_AT_ONCE])
        held += [memory for memory, record in records.items() if record.status == "archived"]
    last = turned(reader, held)
    return [event for event in last.values() if event.op == "archived" and event.run == run]
