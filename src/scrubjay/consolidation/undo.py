"""Undo of consolidation runs, and restoring of all that they archived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from scrubjay.consolidation.context import persons_work
from scrubjay.errors import NotFoundError
from scrubjay.ingest.deletion import (
    ALL_EVENTS,
    STATUS_BATCH,
    last_status_events,
    reactivate_superseded,
    revert_status_events,
)
from scrubjay.models.dates import now_micros
from scrubjay.models.lifecycle import ConsolidationRun, Event, LifecycleChange, previous_confidence
from scrubjay.models.records import Scope
from scrubjay.models.reports import UndoReport
from scrubjay.storage.changes import DropEdges, DropMemory, PutLifecycle, PutRun, RequireUnchanged
from scrubjay.storage.interface import Reader, Store, in_batches, retry_conflicts

UNDO_BATCH: Final = 64
"""Digests removed together, with their sources."""


def undo_run(store: Store, scope: Scope, run: str) -> UndoReport:
    """Undo a run, given by its id or a unique beginning of it; it can be repeated after a kill.

    What the run wrote is removed and what it archived becomes active, except for memories that somebody archived,
    restored, pinned, changed, judged or linked since, or that another run wrote as well.

    Raises:
        NotFoundError: No run, or several, match.
    """
    with store.reader(scope) as reader:
        rows = _matching_runs(reader, run)
        run = rows[0].id
        if all(row.state == "undone" for row in rows):
            return UndoReport(run, 0, 0, already=True)
        events = reader.events(run=run, limit=ALL_EVENTS)
        written = [event.memory for event in events if event.op == "derived"]
        records = reader.get(written)
        undone = {run} | {row.id for row in reader.runs(ALL_EVENTS) if row.state == "undone"}
        protected = persons_work(reader, written).touched()  # what a person changed is theirs
        protected |= {
            event.memory
            for batch in in_batches(written, STATUS_BATCH)
            for event in reader.events(batch, limit=ALL_EVENTS)
            if event.op == "derived" and event.run not in undone
        }
    removable = [
        memory
        for memory, record in records.items()
        if record.origin == "derived" and not record.pinned and memory not in protected
    ]
    restored = retry_conflicts(lambda: _undo_fact_changes(store, scope, run, events, frozenset(removable)))
    archived: dict[str, list[str]] = {memory: [] for memory in removable}
    others: list[str] = []  # of digests that are forgotten, withdrawn or since taken over by a person
    for event in events:
        if event.op == "archived":
            archived.get(event.other or "", others).append(event.memory)
    removed = 0

    def undo(batch: Sequence[str]) -> tuple[int, int]:
        """Remove those of a batch that nobody changed since, with what it archived; return how many, and restored."""
        with store.reader(scope) as reader:
            touched = persons_work(reader, batch).touched()
            unchanged = {
                memory: record
                for memory, record in reader.get(batch).items()
                if record.origin == "derived" and not record.pinned and memory not in touched
            }
            gone = tuple(unchanged)
            sources = [source for memory in gone for source in archived[memory]] if batch else others
            reactivated = _still_archived_by(reader, run, sources)
            after, superseded = reactivate_superseded(reader, gone, now_micros(), run)
            unchanged |= reader.get([*(event.memory for event in reactivated), *superseded])
        reverted = revert_status_events(reactivated, now_micros(), run)
        changes = [RequireUnchanged(unchanged), DropMemory(gone), *reverted, *after]
        store.write(scope, changes, durable=True)
        return len(gone), len(reactivated) + len(superseded)

    for batch in [*in_batches(removable, UNDO_BATCH), []]:
        gone, active = retry_conflicts(partial(undo, batch))
        removed, restored = removed + gone, restored + active
    store.write(scope, [PutRun(replace(row, state="undone")) for row in rows], durable=True)
    return UndoReport(run, removed, restored)


def archiving_runs(reader: Reader) -> list[tuple[ConsolidationRun, list[Event]]]:
    """Return the runs whose archived memories are still archived, newest first, with the events that archived them."""
    found: list[tuple[ConsolidationRun, list[Event]]] = []
    for row in reader.runs(ALL_EVENTS):
        if row.counts.get("archived") and row.state != "undone":
            events = reader.events(run=row.id, limit=ALL_EVENTS)
            ids = [event.memory for event in events if event.op == "archived" and event.key == row.key]
            if events := _still_archived_by(reader, row.id, ids):
                found.append((row, events))
    return found


def restore_all(store: Store, scope: Scope) -> list[str]:
    """Restore every memory that any run archived and that is still archived; return their ids.

    They count as restored by a person, so no later run archives them again until their text changes.
    """
    with store.reader(scope) as reader:
        runs = [(row.id, [event.memory for event in own]) for row, own in archiving_runs(reader)]

    def restore(run: str, ids: Sequence[str]) -> list[str]:
        with store.reader(scope) as reader:
            events = _still_archived_by(reader, run, ids)
            unchanged = reader.get([event.memory for event in events])
        changes = [RequireUnchanged(unchanged), *revert_status_events(events, now_micros())]
        store.write(scope, changes, durable=True)
        return [event.memory for event in events]

    return [
        memory
        for run, ids in runs
        for batch in in_batches(ids, UNDO_BATCH)
        for memory in retry_conflicts(partial(restore, run, batch))
    ]


def _matching_runs(reader: Reader, run: str) -> list[ConsolidationRun]:
    found = [row for row in reader.runs(ALL_EVENTS) if run and row.id.startswith(run)]
    ids = {row.id for row in found}
    if len(ids) != 1:
        raise NotFoundError(
            f"{'No run is' if not ids else f'{len(ids)} runs are'} called {run!r}. Nothing was undone.",
            hint="scrubjay history ID names the runs that a memory was part of",
        )
    return found


def _undo_fact_changes(
    store: Store, scope: Scope, run: str, events: Sequence[Event], removable: Collection[str]
) -> int:
    """Remove a run's evidence of known facts and restore facts that it superseded; return their number.

    Those that ``removable`` memories superseded become active when these are removed.
    """
    ids: defaultdict[str, set[str]] = defaultdict(set)
    for event in events:
        ids[event.op].add(event.memory)
    supported = sorted(ids["reinforced"])
    with store.reader(scope) as reader:
        edges = reader.edges(supported, ["derived_from"])
        last = last_status_events(reader, sorted(ids["superseded"]))
        confidences = _confidences_without(reader, run, supported)
        unchanged = reader.get(sorted({*ids["superseded"], *confidences}))
    dropped = tuple((edge.src, edge.kind, edge.dst) for edge in edges if edge.run == run)
    restored = [
        event
        for event in last.values()
        if event.op == "superseded" and event.run == run and event.other not in removable
    ]
    if dropped or restored or confidences:
        reverted = revert_status_events(restored, now_micros(), run)
        changes = [RequireUnchanged(unchanged), DropEdges(dropped), PutLifecycle(confidences), *reverted]
        store.write(scope, changes, durable=True)
    return len(restored)


def _confidences_without(reader: Reader, run: str, supported: Sequence[str]) -> dict[str, LifecycleChange]:
    """Return the confidence of facts before the earliest of the last undone runs, unless it was changed since."""
    undone = {run} | {row.id for row in reader.runs(ALL_EVENTS) if row.state == "undone"}
    found: dict[str, LifecycleChange] = {}
    final: set[str] = set()
    for event in reader.events(supported, limit=ALL_EVENTS):  # newest first
        if event.op not in ("changed", "reinforced") or event.memory in final:
            continue
        before = previous_confidence(event.before) if event.run in undone else None
        if before is None:
            final.add(event.memory)
        else:
            found[event.memory] = LifecycleChange(confidence=before)
    return found


def _still_archived_by(reader: Reader, run: str, ids: Sequence[str]) -> list[Event]:
    """Return the events with which a run archived memories, for those whose status was not changed since."""
    archived: list[str] = []
    for batch in in_batches(ids, STATUS_BATCH):
        archived += [memory for memory, record in reader.get(batch).items() if record.status == "archived"]
    last = last_status_events(reader, archived)
    return [event for event in last.values() if event.op == "archived" and event.run == run]
