"""Audit and retention service: archive or forget memories that are faulty, too old or too many, and undo it.

Passages of files are neither counted nor changed.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Final

from scrubjay.consolidation.audit import (
    FAULT_KINDS,
    AuditFault,
    AuditResult,
    last_activity,
    mend_changes,
    select_faults,
)
from scrubjay.consolidation.audit import run_audit as find_faults
from scrubjay.errors import InputError, NotFoundError
from scrubjay.ingest.deletion import (
    earlier_versions,
    last_status_events,
    revert_status_events,
    status_changes,
)
from scrubjay.models.dates import DAY, now_micros, record_date
from scrubjay.models.lifecycle import LifecycleChange, new_run_id
from scrubjay.models.records import STATUSES, Record, RecordFilter, Source
from scrubjay.models.reports import AuditReport, FaultExample, FaultRate, MemoryLine, RetentionReport
from scrubjay.models.results import position
from scrubjay.models.views import ChangeReport
from scrubjay.search.results import full_path
from scrubjay.services import inspection
from scrubjay.services.curation import forget_memories
from scrubjay.services.workspace import Workspace, may_change
from scrubjay.storage.changes import DropEdges, RequireUnchanged
from scrubjay.storage.interface import Reader, all_records, in_batches, retry_conflicts
from scrubjay.text.display import excerpt

MAX_SHOWN_CHARACTERS: Final = 120
"""Characters of a memory's text that are shown."""
MAX_RUN_EVENTS: Final = 1_000_000
"""Maximum events of one run."""
BATCH: Final = 1_000
"""Memories read at once, and of one transaction."""


def run_audit(
    workspace: Workspace, fix: Sequence[str], limit: int, *, dry_run: bool, now: int
) -> AuditReport:
    """Count faulty active memories, and archive or supersede those of the kinds in ``fix``."""
    started = time.monotonic()
    _check_audit_arguments(fix, limit)
    at = now_micros()
    with workspace.reader() as reader:
        result = find_faults(reader, now)
        selected = select_faults(result.faults, FAULT_KINDS if dry_run and not fix else fix)
        rates = tuple(_fault_rate(reader, result, kind, limit) for kind in FAULT_KINDS)
    run = new_run_id()
    fixed = {kind: tuple(fault.memory for fault in faults) for kind, faults in selected.items()}
    if not dry_run:
        fixed = {kind: _archive_faults(workspace, faults, run, at) for kind, faults in selected.items()}
    return AuditReport(
        memories=result.memories,
        tiers=result.tiers,
        rates=rates,
        missing=tuple(source for source in inspection.list_sources(workspace) if not source.present),
        fixed=fixed,
        dry_run=dry_run,
        undo=f"scrubjay audit --undo {run}" if any(fixed.values()) and not dry_run else "",
        seconds=time.monotonic() - started,
    )


def _check_audit_arguments(fix: Sequence[str], limit: int) -> None:
    if limit < 0:
        raise InputError(f"limit is {limit}; it must be 0 or more. Nothing was written.")
    for kind in fix:
        if kind not in FAULT_KINDS:
            near = get_close_matches(kind, FAULT_KINDS, n=1)
            raise InputError(
                f"{kind!r} cannot be fixed; what can is {', '.join(FAULT_KINDS)}. Nothing was written.",
                hint=f"scrubjay audit --fix {near[0]}" if near else "scrubjay audit",
            )


def _archive_faults(workspace: Workspace, faults: Sequence[AuditFault], run: str, at: int) -> tuple[str, ...]:
    def mend(batch: Sequence[AuditFault]) -> list[str]:
        with workspace.reader() as reader:
            records = reader.get(sorted({fault.memory for fault in batch}))
            mine = [
                fault
                for fault in batch
                if fault.memory in records and may_change(workspace, records[fault.memory])
            ]
            ids, changes = mend_changes(reader, mine, run, at, workspace.scope.user)
        if changes:
            workspace.store.write(workspace.scope, changes, durable=True)
        return ids

    return tuple(one for batch in in_batches(faults, BATCH) for one in retry_conflicts(partial(mend, batch)))


def _fault_rate(reader: Reader, result: AuditResult, kind: str, limit: int) -> FaultRate:
    faults = result.faults[kind]
    fixable = sum(1 for fault in faults if fault.mend)
    reasons = Counter(fault.reason for fault in faults)
    return FaultRate(
        kind=kind,
        count=len(faults),
        share=round(len(faults) / result.memories, 6) if result.memories else 0.0,
        fixable=fixable,
        reasons=dict(reasons.most_common()),
        tiers=dict(sorted(Counter(result.tiers_of[fault.memory] for fault in faults).items())),
        examples=_examples(reader, faults[:limit]),
        fix=f"scrubjay audit --fix {kind}" if fixable else "",
    )


def _examples(reader: Reader, faults: Sequence[AuditFault]) -> tuple[FaultExample, ...]:
    records = reader.get(sorted({memory for one in faults for memory in (one.memory, one.other) if memory}))
    sources = {source.id: source for source in reader.sources()}
    return tuple(
        FaultExample(
            one.why,
            _memory_line(records[one.memory], sources),
            _memory_line(records[one.other], sources) if one.other in records else None,
            one.mend,
        )
        for one in faults
    )


def _memory_line(record: Record, sources: Mapping[str, Source]) -> MemoryLine:
    place = record.place
    where = "" if place is None else (full_path(record, sources) or place.path) + position(record)
    text = excerpt(record.content, MAX_SHOWN_CHARACTERS)
    return MemoryLine(record.id, text, record_date(record), where, record.status)


def undo_audit(workspace: Workspace, run: str) -> ChangeReport:
    with workspace.reader() as reader:
        events = reader.events(run=run, limit=MAX_RUN_EVENTS)
        if not events:
            raise NotFoundError(
                f"No run {run} archived a memory that you may see. Nothing was restored.",
                hint="scrubjay history ID shows the changes of one memory",
            )
    ids = sorted({event.memory for event in events})
    restored = tuple(
        one
        for batch in in_batches(ids, BATCH)
        for one in retry_conflicts(partial(_restore_audited, workspace, run, batch))
    )
    return ChangeReport(restored, tuple(sorted(set(ids) - set(restored))), ())


def _restore_audited(workspace: Workspace, run: str, ids: Sequence[str]) -> list[str]:
    """Restore the memories that nobody changed since a run archived or superseded them, and return their ids."""
    with workspace.reader() as reader:
        records = reader.get(ids)
        undone = [  # what somebody did since holds, also where it gave the same status again
            replace(event, key=records[event.memory].key)  # the owner of a memory may have changed
            for event in last_status_events(reader, ids).values()
            if event.run == run
            and event.before
            and event.op == records[event.memory].status
            and may_change(workspace, records[event.memory])
        ]
        restored = [event.memory for event in undone]
        edges = reader.edges(restored, ["supersedes"], inward=True)
    if undone:
        dropped = tuple((edge.src, edge.kind, edge.dst) for edge in edges if edge.run == run)
        unchanged = RequireUnchanged({memory: records[memory] for memory in restored})
        changes = [unchanged, DropEdges(dropped), *revert_status_events(undone, now_micros())]
        workspace.store.write(workspace.scope, changes, durable=True)
    return restored


@dataclass(frozen=True, slots=True)
class _Expirable:
    """A memory that retention may end; ``active_at`` is its last activity, ``is_old`` whether that is too long ago."""

    id: str
    updated_at: int
    active_at: int
    active: bool
    is_old: bool


def apply_retention(workspace: Workspace, *, dry_run: bool, now: int) -> RetentionReport:
    """Archive or forget the caller's own memories that the settings no longer keep.

    First those inactive for longer than their tier's days, then the oldest active ones beyond the maximum. Forgetting
    includes archived memories.
    """
    settings = workspace.settings.retention
    days = settings.days_by_tier()
    if not days and not settings.most:
        return RetentionReport((), (), dry_run, "")
    active, candidates = 0, []
    with workspace.reader() as reader:
        for record in _own_records(reader, workspace.scope.user):
            active += record.status == "active"
            if not record.pinned:
                active_at = last_activity(record)
                is_old = record.tier in days and now - active_at > days[record.tier] * DAY
                active_now = record.status == "active"
                candidates.append(_Expirable(record.id, record.updated_at, active_at, active_now, is_old))
    expired = _select_expired(candidates, active, settings.most)
    to_forget = expired if settings.action == "forget" else []
    to_archive = [one for one in expired if one.active and settings.action == "archive"]
    if dry_run:
        ids = [one.id for one in to_forget]
        with workspace.reader() as reader:
            earlier = [one for batch in in_batches(ids, BATCH) for one in earlier_versions(reader, batch)]
        return RetentionReport(
            tuple(one.id for one in to_archive), tuple(dict.fromkeys([*ids, *earlier])), True, ""
        )
    run = new_run_id()
    forgotten: list[str] = []
    for batch in in_batches(to_forget, BATCH):
        with workspace.reader() as reader:
            still = _still_expired(reader, batch)
        # A limit of age or number does not say that what was superseded is true again, and what was learned from a
        # memory has a limit and a pin of its own.
        done = forget_memories(workspace, list(still), reactivate=False, dependents=False, unchanged=still)
        forgotten += [*done.ids, *done.derived]
    archived = [
        one
        for batch in in_batches(to_archive, BATCH)
        for one in retry_conflicts(partial(_archive_records, workspace, batch, run))
    ]
    return RetentionReport(
        tuple(archived), tuple(forgotten), False, f"scrubjay audit --undo {run}" if archived else ""
    )


def _own_records(reader: Reader, user: str) -> Iterator[Record]:
    for record in all_records(reader, RecordFilter(statuses=STATUSES)):
        is_passage = record.place is not None and record.turn is None
        if record.owner == user and not is_passage:
            yield record


def _select_expired(candidates: Sequence[_Expirable], active: int, most: int) -> list[_Expirable]:
    ordered = sorted(candidates, key=lambda one: (one.active_at, one.id))
    expired = [one for one in ordered if one.is_old]
    if most:
        remaining = active - sum(1 for one in expired if one.active)
        expired += [one for one in ordered if one.active and not one.is_old][: max(0, remaining - most)]
    return expired


def _still_expired(reader: Reader, expired: Sequence[_Expirable]) -> dict[str, Record]:
    """Return those that nobody pinned, changed or used since they were read."""
    records = reader.get([one.id for one in expired])
    return {
        one.id: record
        for one in expired
        if (record := records.get(one.id)) is not None
        and not record.pinned
        and (record.updated_at, last_activity(record)) == (one.updated_at, one.active_at)
    }


def _archive_records(workspace: Workspace, expired: Sequence[_Expirable], run: str) -> list[str]:
    with workspace.reader() as reader:
        still = _still_expired(reader, expired)
    records = {memory: record for memory, record in still.items() if record.status == "active"}
    if records:
        life = LifecycleChange(status="archived")
        changes = status_changes(records.values(), life, "archived", now_micros(), run)
        workspace.store.write(workspace.scope, [RequireUnchanged(records), *changes], durable=True)
    return list(records)
