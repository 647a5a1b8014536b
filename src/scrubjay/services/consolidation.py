"""Consolidation service: run consolidation for each visibility key, undo it, restore what it archived."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from scrubjay.config.loader import api_key
from scrubjay.consolidation.context import (
    MEMORY_COUNT,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    DryRunState,
    RunContext,
)
from scrubjay.consolidation.llm import ModelBudget
from scrubjay.consolidation.runner import consolidate_key, restore_all, undo_run
from scrubjay.errors import ConfigError, StoreBusyError
from scrubjay.ingest.deletion import ALL_EVENTS
from scrubjay.llm.client import LlmSpec, open_llm
from scrubjay.models.dates import now_micros
from scrubjay.models.lifecycle import ConsolidationRun, new_run_id
from scrubjay.models.reports import ConsolidationReport, ProgressCallback, UndoReport
from scrubjay.models.views import ChangeReport
from scrubjay.services.sync import edge_builder, enrich, recluster_due
from scrubjay.services.workspace import Workspace, refresh_learned_notes
from scrubjay.storage.changes import PutRun

LOCK_NAME: Final = "consolidate"
"""Name of the lock of a consolidation."""


def run_consolidation(
    workspace: Workspace,
    *,
    dry_run: bool,
    now: int,
    after_days: int,
    due: int | None,
    archive: str | None,
    progress: ProgressCallback | None,
) -> ConsolidationReport:
    """Consolidate each of the caller's visibility keys.

    Args:
        workspace: The workspace.
        dry_run: Write nothing.
        now: Current time, UTC microseconds.
        after_days: Days after which an observation is old.
        due: Microseconds since a key's last run before which it is skipped; None runs in any case.
        archive: ``transcripts`` or ``notes``, archived besides what the settings say.
        progress: Called with the progress.
    """
    started = time.monotonic()
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
        base = workspace.models.writer()
        edges = edge_builder(workspace, base)
        context = RunContext(
            workspace.store, workspace.scope, "", base, edges, run, now, after_days, dry_run=dry_run
        )
        kinds = {TRANSCRIPTS, NOTES} & {workspace.settings.consolidation.archive, archive}
        context = replace(context, archive=frozenset(kinds), progress=progress, began=started)
        context, model, problems = with_language_model(workspace, context)
        unchanged = _unchanged_keys(workspace, rows) if due is not None else set()
        tallies = [
            consolidate_key(replace(context, key=key, idle=key in unchanged, preview=DryRunState()))
            for key in keys
        ]
        if due is not None and not dry_run:
            _record_empty_run(
                workspace,
                rows,
                [key for key, one in zip(keys, tallies, strict=True) if not one.wrote],
                run,
                now,
            )
        if not dry_run and any(one.wrote for one in tallies):
            recluster_due(workspace, base, edges)
        if not dry_run:
            refresh_learned_notes(workspace)
            workspace.store.vacuum()
    return ConsolidationReport(
        run=run if any(one.wrote for one in tallies) else None,
        made=tuple(created for one in tallies for created in one.made),
        kinds=dict(sorted(sum((one.kinds for one in tallies), Counter()).items())),
        tokens=sum(one.tokens for one in tallies),
        kept=sum(one.kept for one in tallies),
        archived=sum(one.archived for one in tallies),
        files=dict(sorted(sum((one.files for one in tallies), Counter()).items())),
        renewed=sum(one.renewed for one in tallies),
        promoted=tuple(created for one in tallies for created in one.promoted),
        supported=sum(one.supported for one in tallies),
        read=sum(one.read for one in tallies),
        found=tuple(created for one in tallies for created in one.found),
        rephrased=sum(one.rephrased for one in tallies),
        refused=sum(one.refused for one in tallies),
        partial=(*problems, *(model.partial if model is not None else ())),
        interrupted=interrupted,
        dry_run=dry_run,
        seconds=time.monotonic() - started,
    )


def undo_consolidation(workspace: Workspace, run: str) -> UndoReport:
    """Take a run back, as far as the caller sees what it did.

    Raises:
        NotFoundError: No run, or several, are called so.
        StoreBusyError: Another process consolidates.
    """
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
    """Make active again whatever consolidation archived, in any run that the caller sees.

    Raises:
        StoreBusyError: Another process consolidates.
    """
    with workspace.store.try_exclusive(workspace.scope, LOCK_NAME) as exclusive:
        if not exclusive:
            raise StoreBusyError(
                "Another process consolidates now. Nothing was restored.",
                hint="scrubjay restore --archived-by-consolidation, once it is done",
            )
        return ChangeReport(tuple(restore_all(workspace.store, workspace.scope)), (), ())


def _list_runs(workspace: Workspace) -> list[ConsolidationRun]:
    with workspace.store.reader(workspace.scope) as reader:
        return reader.runs(ALL_EVENTS)


def _is_due(rows: Sequence[ConsolidationRun], key: str, now: int, due: int) -> bool:
    started = [row.started for row in rows if row.key == key and row.started <= now]
    return not started or now - max(started) >= due


def _unchanged_keys(workspace: Workspace, rows: Sequence[ConsolidationRun]) -> set[str]:
    """Return the keys with as many memories as at their last run."""
    last_counts: dict[str, int | None] = {}
    for row in rows:  # newest first
        last_counts.setdefault(row.key, row.counts.get(MEMORY_COUNT))
    with workspace.store.reader(workspace.scope) as reader:
        return {key for key, count in last_counts.items() if count == reader.count_memories(key)}


def _close_dead_runs(workspace: Workspace) -> tuple[str, ...]:
    """End the records of killed runs: nobody else consolidates now, so none is running."""
    killed = [row for row in _list_runs(workspace) if row.state == "running"]
    ended = []
    for row in killed:
        with workspace.store.reader(workspace.scope) as reader:
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
    with workspace.store.reader(workspace.scope) as reader:
        for key in keys:
            last = next((row for row in rows if row.key == key), None)
            was_empty = last is not None and last.state == "done" and set(last.counts) == {MEMORY_COUNT}
            counts = {MEMORY_COUNT: reader.count_memories(key)}
            runs.append(
                PutRun(
                    ConsolidationRun(
                        last.id if last and was_empty else run, key, "done", RULES_VERSION, now, now, counts
                    )
                )
            )
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
        model = open_llm(LlmSpec(settings.base_url, settings.model, api_key("llm", settings)))
    except ConfigError as error:
        return context, None, (f"{settings.model} was not asked: {error}",)
    budget = ModelBudget(model, settings.deadline, settings.requests, workspace.announce)
    facts = budget if "facts" in settings.refine else None
    digests = budget if "digests" in settings.refine else None
    return replace(context, fact_model=facts, digest_model=digests), budget, ()
