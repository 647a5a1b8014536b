"""Consolidation service: run consolidation for each visibility key, undo it, restore what it archived; find skills.

Skills are found in the requests and commands of each conversation, from the store and from agents' logs on disk.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.config.loader import api_key
from scrubjay.config.settings import MAX_DAYS
from scrubjay.consolidation.context import (
    MEMORY_COUNT,
    MEMORY_PAGE,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    DryRunState,
    RunContext,
    common_value,
    occurred_at,
)
from scrubjay.consolidation.facts import is_spoken
from scrubjay.consolidation.llm import ModelBudget
from scrubjay.consolidation.patterns import MAX_REQUEST_TEXT
from scrubjay.consolidation.runner import consolidate_key
from scrubjay.consolidation.shell_commands import CommandStep, command_steps, extract_steps
from scrubjay.consolidation.skills import Position, Request, Skill, WorkSession, find_skills, shell_calls
from scrubjay.consolidation.undo import restore_all, undo_run
from scrubjay.errors import ConfigError, InputError, StoreBusyError
from scrubjay.ingest.deletion import ALL_EVENTS, archived_by_hand
from scrubjay.llm.client import LanguageModel
from scrubjay.models.dates import now_micros, record_date
from scrubjay.models.lifecycle import ConsolidationRun, new_run_id
from scrubjay.models.records import NEVER_INJECT, Record, RecordFilter
from scrubjay.models.reports import ConsolidationReport, ProgressCallback, UndoReport
from scrubjay.models.views import ChangeReport
from scrubjay.redaction.redactor import redact_text
from scrubjay.services.sync import edge_builder, enrich, refresh_grown_topics
from scrubjay.services.workspace import Workspace, refresh_learned_notes, resolve_projects
from scrubjay.storage.changes import PutRun
from scrubjay.storage.interface import all_records

LOCK_NAME: Final = "consolidate"
"""Name of the lock of a consolidation."""


SUMMED_COUNTS: Final = ("tokens", "kept", "archived", "renewed", "supported", "read", "rephrased", "refused")
"""Counts of a report that are the sums of those of the keys."""


def run_consolidation(
    workspace: Workspace,
    *,
    dry_run: bool,
    now: int,
    after_days: int | None,
    due: int | None,
    archive: str | None,
    progress: ProgressCallback | None,
) -> ConsolidationReport:
    """Consolidate each of the caller's visibility keys, as `Memory.consolidate`.

    ``due`` is the microseconds since a key's last run before which it is skipped; None runs in any case.
    """
    started = time.monotonic()
    if after_days is not None and not 0 <= after_days <= MAX_DAYS:
        raise InputError(
            f"after_days is {after_days}; it must lie between 0 and {MAX_DAYS:,}. Nothing was done."
        )
    with workspace.store.try_exclusive(workspace.scope, LOCK_NAME) as exclusive:
        if not exclusive:
            return ConsolidationReport(passed="busy", dry_run=dry_run)
        interrupted = () if dry_run else _close_dead_runs(workspace)
        rows = _list_runs(workspace)
        keys = [key for key in workspace.scope.keys if due is None or _is_due(rows, key, now, due)]
        if not keys:
            return ConsolidationReport(passed="not due", interrupted=interrupted, dry_run=dry_run)
        if not dry_run:
            enrich(workspace)
        run = new_run_id()
        base = workspace.models.ensure_base_model()
        edges = edge_builder(workspace, base)
        if after_days is None:
            after_days = workspace.settings.consolidation.after_days
        kinds = {TRANSCRIPTS, NOTES} & {workspace.settings.consolidation.archive, archive}
        context = RunContext(
            workspace.store, workspace.scope, "", base, edges, run, now, after_days,
            archive=frozenset(kinds), dry_run=dry_run, progress=progress, began=started,
        )  # fmt: skip
        context, model, problems = with_language_model(workspace, context)
        unchanged = _unchanged_keys(workspace, rows) if due is not None else set()
        tallies = [
            consolidate_key(replace(context, key=key, idle=key in unchanged, preview=DryRunState()))
            for key in keys
        ]
        if due is not None and not dry_run:
            empty = [key for key, one in zip(keys, tallies, strict=True) if not one.wrote]
            _record_empty_run(workspace, rows, empty, run, now)
        if not dry_run and any(one.wrote for one in tallies):
            refresh_grown_topics(workspace, edges.connected)
        if not dry_run:
            refresh_learned_notes(workspace)
            workspace.store.vacuum()
    sums: dict[str, Any] = {name: sum(getattr(one, name) for one in tallies) for name in SUMMED_COUNTS}
    return ConsolidationReport(
        **sums,
        run=run if any(one.wrote for one in tallies) else None,
        made=tuple(created for one in tallies for created in one.made),
        kinds=dict(sorted(sum((one.kinds for one in tallies), Counter()).items())),
        undigested={
            reason: count
            for reason in ("recent", "short")
            if (count := sum(len(getattr(one, reason)) for one in tallies))
        },
        files=dict(sorted(sum((one.files for one in tallies), Counter()).items())),
        promoted=tuple(created for one in tallies for created in one.promoted),
        found=tuple(created for one in tallies for created in one.found),
        partial=(*problems, *(model.partial if model is not None else ())),
        interrupted=interrupted,
        dry_run=dry_run,
        seconds=time.monotonic() - started,
    )


def undo_consolidation(workspace: Workspace, run: str) -> UndoReport:
    with workspace.store.try_exclusive(workspace.scope, LOCK_NAME) as exclusive:
        if not exclusive:
            raise StoreBusyError(
                "Another process consolidates now. Nothing was undone.",
                hint=f"scrubjay consolidate --undo {run}",
            )
        report = undo_run(workspace.store, workspace.scope, run)
        refresh_learned_notes(workspace)
        return report


def restore_consolidated(workspace: Workspace) -> ChangeReport:
    with workspace.store.try_exclusive(workspace.scope, LOCK_NAME) as exclusive:
        if not exclusive:
            raise StoreBusyError(
                "Another process consolidates now. Nothing was restored.",
                hint="scrubjay restore --archived-by-consolidation, once it is done",
            )
        return ChangeReport(tuple(restore_all(workspace.store, workspace.scope)), (), ())


def _list_runs(workspace: Workspace) -> list[ConsolidationRun]:
    with workspace.reader() as reader:
        return reader.runs(ALL_EVENTS)


def _is_due(rows: Sequence[ConsolidationRun], key: str, now: int, due: int) -> bool:
    started = [row.started for row in rows if row.key == key and row.started <= now]
    return not started or now - max(started) >= due


def _unchanged_keys(workspace: Workspace, rows: Sequence[ConsolidationRun]) -> set[str]:
    """Return the keys with as many memories as at their last run."""
    last_counts: dict[str, int | None] = {}
    for row in rows:  # newest first
        last_counts.setdefault(row.key, row.counts.get(MEMORY_COUNT))
    with workspace.reader() as reader:
        return {key for key, count in last_counts.items() if count == reader.count_memories(key)}


def _close_dead_runs(workspace: Workspace) -> tuple[str, ...]:
    """End the records of killed runs: nobody else consolidates now, so none is running."""
    killed = [row for row in _list_runs(workspace) if row.state == "running"]
    ended = []
    for row in killed:
        with workspace.reader() as reader:
            ops = Counter(
                event.op for event in reader.events(run=row.id, limit=ALL_EVENTS) if event.key == row.key
            )
        counts = {"digests": ops["derived"], "archived": ops["archived"], "interrupted": 1}
        ended.append(PutRun(replace(row, state="done", ended=now_micros(), counts=counts)))
    if ended:
        workspace.store.write(workspace.scope, ended, durable=True)
    return tuple(sorted({row.id for row in killed}))


def _record_empty_run(
    workspace: Workspace, rows: Sequence[ConsolidationRun], keys: Sequence[str], run: str, now: int
) -> None:
    """Record that there was nothing to do, in place of the last such record."""
    runs = []
    with workspace.reader() as reader:
        for key in keys:
            last = next((row for row in rows if row.key == key), None)
            was_empty = last is not None and last.state == "done" and set(last.counts) == {MEMORY_COUNT}
            counts = {MEMORY_COUNT: reader.count_memories(key)}
            id = last.id if last and was_empty else run
            runs.append(PutRun(ConsolidationRun(id, key, "done", RULES_VERSION, now, now, counts)))
    if runs:
        workspace.store.write(workspace.scope, runs)


def with_language_model(
    workspace: Workspace, context: RunContext
) -> tuple[RunContext, ModelBudget | None, tuple[str, ...]]:
    """Return the context with the settings' language model, its budget, and why it cannot be used."""
    settings = workspace.settings.llm
    if not settings.model or not settings.refine:
        return context, None, ()
    try:
        model = LanguageModel(settings.base_url, settings.model, api_key("llm", settings))
    except ConfigError as error:
        return context, None, (f"{settings.model} was not used: {error}",)
    budget = ModelBudget(model, settings.deadline, settings.requests, workspace.announce)
    facts = budget if "facts" in settings.refine else None
    digests = budget if "digests" in settings.refine else None
    return replace(context, fact_model=facts, digest_model=digests), budget, ()


MAX_LOGS: Final = 500
"""Logs that are read for commands, the latest."""


class _Turn(NamedTuple):
    """A turn without its text.

    Attributes:
        log: Source and path of its log; None if it was not read from one.
        request: Its text and ISO date, if a person asks.
        steps: The commands that it shows.
    """

    position: Position
    project: str | None
    log: tuple[str, str] | None
    request: tuple[str, str] | None
    steps: tuple[CommandStep, ...]


def list_skills(workspace: Workspace, project: str | None) -> tuple[Skill, ...]:
    wanted = resolve_projects(workspace, [project] if project is not None else [])
    turns: defaultdict[str, list[_Turn]] = defaultdict(list)
    where = RecordFilter(tiers=("observation",), statuses=("active", "archived"))
    with workspace.reader() as reader:
        records = all_records(reader, where)
        while batch := list(islice(records, MEMORY_PAGE)):
            by_hand = archived_by_hand(reader, batch)
            for record in batch:
                if record.session is not None and record.origin not in ("derived", "untrusted"):
                    turns[record.session].append(_build_turn(record, withheld=record.id in by_hand))
    logged = _logged_steps(workspace, turns)
    skills = find_skills(
        _work_session(session, own, logged.get(session, ()), turns) for session, own in sorted(turns.items())
    )
    return tuple(one for one in skills if not wanted or one.project in wanted)


def _build_turn(record: Record, *, withheld: bool) -> _Turn:
    """Return a turn; of one that is never injected, marked wrong or withheld only its place."""
    place = record.place
    spoken = is_spoken(record)
    withheld = withheld or record.marked_wrong or NEVER_INJECT in record.tags
    text = "" if withheld else record.content
    return _Turn(
        (occurred_at(record), record.turn or 0, place.line_start if place else 0, 0),
        record.project,
        (place.source, place.path) if place else None,
        (text[:MAX_REQUEST_TEXT], (record_date(record) or "")[:10]) if spoken else None,
        () if spoken else extract_steps(text),
    )


def _logged_steps(
    workspace: Workspace, turns: dict[str, list[_Turn]]
) -> dict[str, list[tuple[Position, CommandStep]]]:
    """Return the commands that logs say were run, by session; a call belongs to the turn before it in its log."""
    with workspace.reader() as reader:
        roots = {source.id: source.root for source in reader.sources()}
    logs: defaultdict[tuple[str, str], list[tuple[int, str, Position]]] = defaultdict(list)
    for session, own in turns.items():
        for turn in own:
            if turn.log is not None and turn.log[0] in roots and turn.log[1].endswith(".jsonl"):
                logs[turn.log].append((turn.position[2], session, turn.position))
    latest = sorted(logs, key=lambda log: max(position for _, _, position in logs[log]))[-MAX_LOGS:]
    steps: defaultdict[str, list[tuple[Position, CommandStep]]] = defaultdict(list)
    for source, path in latest:
        ahead = sorted(logs[source, path], reverse=True)
        current: tuple[int, str, Position] | None = None
        try:
            calls = shell_calls(Path(roots[source], path))
        except OSError:  # agents delete old logs; what their turns show still counts
            continue
        index = 0
        for call in calls:
            while ahead and ahead[-1][0] <= call.line:
                current = ahead.pop()
            if current is None:  # copied from another conversation
                continue
            clean = redact_text(call.command, workspace.settings.redaction.allow).text
            _, session, (at, number, _, _) = current
            for step in command_steps(clean):
                steps[session].append(((at, number, call.line, index), step))
                index += 1
    return steps


def _work_session(
    session: str,
    own: list[_Turn],
    logged: list[tuple[Position, CommandStep]] | tuple[()],
    known: dict[str, list[_Turn]],
) -> WorkSession:
    shown = [((*one.position[:3], index), step) for one in own for index, step in enumerate(one.steps)]
    requests = [(one.position, one.request) for one in own if one.request is not None]
    steps: list[tuple[Position, CommandStep]] = []
    for position, step in sorted(logged or shown, key=lambda pair: pair[0]):
        if not steps or steps[-1][1].name != step.name:
            steps.append((position, step))
    return WorkSession(
        session,
        _conversation(session, known),
        common_value(one.project for one in own),
        tuple(Request(position, date, text) for position, (text, date) in sorted(requests)),
        tuple(steps),
    )


def _conversation(session: str, known: dict[str, list[_Turn]]) -> str:
    """Return the conversation that a branch (``s~x``) or a sub-agent (``s/x``) belongs to."""
    for mark in ("/", "~"):
        above = session.rpartition(mark)[0]
        if above in known:
            return _conversation(above, known)
    return session
