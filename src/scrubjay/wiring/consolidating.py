"""Consolidating: a desk -> a night over each of the caller's visibility keys, one process at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.consolidate.night import MEMORIES, NOTES, RULES, TRANSCRIPTS, Foreseen, Night
from scrubjay.consolidate.pipeline import consolidate as pipeline
from scrubjay.consolidate.undo import restore_all
from scrubjay.consolidate.undo import undo as take_back
from scrubjay.errors import StoreBusyError
from scrubjay.ingest.turned import EVERY
from scrubjay.memory.dates import now_micros
from scrubjay.memory.histories import Changed
from scrubjay.memory.nights import Consolidated, Undone
from scrubjay.memory.reports import Progress
from scrubjay.memory.runs import Run, new_run_id
from scrubjay.store.changes import PutRun
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.refining import refining
from scrubjay.wiring.weaving import organise_due, weaving

NAME: Final = "consolidate"
"""What whoever consolidates holds."""
Report = Callable[[Progress], None]


def consolidate(
    desk: Desk,
    *,
    dry_run: bool,
    now: int,
    after_days: int,
    due: int | None,
    archive: str | None,
    progress: Report | None,
) -> Consolidated:
    """Consolidate what each of the caller's keys holds.

    Args:
        desk: Where, for whom.
        dry_run: Whether nothing is written.
        now: To which everything has its age, UTC microseconds.
        after_days: Days after which an observation is old.
        due: Microseconds that must have passed since a key's last run, None to run in any case.
        archive: ``transcripts`` or ``notes``, archived besides what the settings say; None for nothing else.
        progress: Told how far it is.
    """
    started = time.monotonic()
    with desk.store.alone(desk.scope, NAME) as alone:
        if not alone:
            return Consolidated(passed="busy", dry_run=dry_run)
        interrupted = () if dry_run else _ended(desk)
        rows = _rows(desk)
        keys = [key for key in desk.scope.keys if due is None or _due(rows, key, now, due)]
        if not keys:
            return Consolidated(passed="not due", interrupted=interrupted, dry_run=dry_run)
        run = new_run_id()
        base = desk.lineup.writing()
        weaver = weaving(desk, base)
        night = Night(desk.store, desk.scope, "", base, weaver, run, now, after_days, dry_run=dry_run)
        asked = (desk.settings.consolidation.archive, archive)
        wanted = frozenset(kind for kind in (TRANSCRIPTS, NOTES) if kind in asked)
        night = replace(night, archive=wanted, progress=progress, began=started)
        night, asking, trouble = refining(desk, night)
        same = _unchanged(desk, rows) if due is not None else set()
        tallies = [pipeline(replace(night, key=key, idle=key in same, foreseen=Foreseen())) for key in keys]
        if due is not None and not dry_run:
            _looked_at(
                desk, rows, [key for key, one in zip(keys, tallies, strict=True) if not one.wrote], run, now
            )
        if not dry_run and any(one.wrote for one in tallies):
            organise_due(desk, base, weaver)
        if not dry_run:
            desk.store.vacuum()
    return Consolidated(
        run=run if any(one.wrote for one in tallies) else None,
        made=tuple(made for one in tallies for made in one.made),
        kinds=dict(sorted(sum((one.kinds for one in tallies), Counter()).items())),
        tokens=sum(one.tokens for one in tallies),
        kept=sum(one.kept for one in tallies),
        archived=sum(one.archived for one in tallies),
        files=dict(sorted(sum((one.files for one in tallies), Counter()).items())),
        renewed=sum(one.renewed for one in tallies),
        promoted=tuple(made for one in tallies for made in one.promoted),
        supported=sum(one.supported for one in tallies),
        read=sum(one.read for one in tallies),
        found=tuple(made for one in tallies for made in one.found),
        rephrased=sum(one.rephrased for one in tallies),
        refused=sum(one.refused for one in tallies),
        partial=(*trouble, *(asking.partial if asking is not None else ())),
        interrupted=interrupted,
        dry_run=dry_run,
        seconds=time.monotonic() - started,
    )


def undo(desk: Desk, run: str) -> Undone:
    """Take a run back, as far as the caller sees what it did.

    Raises:
        NotFoundError: No run, or several, are called so.
        StoreBusyError: Another process consolidates.
    """
    with desk.store.alone(desk.scope, NAME) as alone:
        if not alone:
            raise StoreBusyError(
                "Another process consolidates now. Nothing was undone.",
                hint=f"scrubjay consolidate --undo {run}",
            )
        return take_back(desk.store, desk.scope, run)


def restore(desk: Desk) -> Changed:
    """Make active again whatever consolidation archived, in any run that the caller sees.

    Raises:
        StoreBusyError: Another process consolidates.
    """
    with desk.store.alone(desk.scope, NAME) as alone:
        if not alone:
            raise StoreBusyError(
                "Another process consolidates now. Nothing was restored.",
                hint="scrubjay restore --archived-by-consolidation, once it is done",
            )
        return Changed(tuple(restore_all(desk.store, desk.scope)), (), ())


def _rows(desk: Desk) -> list[Run]:
    with desk.store.reader(desk.scope) as reader:
        return reader.runs(EVERY)


def _due(rows: Sequence[Run], key: str, now: int, due: int) -> bool:
    """Tell whether a key's last run began long enough ago; one that began in the future tells of a wrong clock."""
    started = [row.started for row in rows if row.key == key and row.started <= now]
    return not started or now - max(started) >= due


def _unchanged(desk: Desk, rows: Sequence[Run]) -> set[str]:
    """Return the keys that hold as many memories as when they were looked at last."""
    held: dict[str, int | None] = {}
    for row in rows:  # started last first
        held.setdefault(row.key, row.counts.get(MEMORIES))
    with desk.store.reader(desk.scope) as reader:
        return {key for key, count in held.items() if count == reader.amount(key)}


def _ended(desk: Desk) -> tuple[str, ...]:
    """Write down what killed runs did: nobody else consolidates now, so what is said to run does not."""
    killed = [row for row in _rows(desk) if row.state == "running"]
    ended = []
    for row in killed:
        with desk.store.reader(desk.scope) as reader:
            ops = Counter(
                event.op for event in reader.events(run=row.id, limit=EVERY) if event.key == row.key
            )
        counts = {"digests": ops["derived"], "archived": ops["archived"], "interrupted": 1}
        ended.append(PutRun(replace(row, state="done", ended=now_micros(), counts=counts)))
    if ended:
        desk.store.write(desk.scope, ended, durable=True)
    return tuple(sorted({row.id for row in killed}))


def _looked_at(desk: Desk, rows: Sequence[Run], keys: Sequence[str], run: str, now: int) -> None:
    """Write down that there was nothing to do, in the place of the last time that there was nothing."""
    looked = []
    with desk.store.reader(desk.scope) as reader:
        for key in keys:
            last = next((row for row in rows if row.key == key), None)
            again = last is not None and last.state == "done" and set(last.counts) == {MEMORIES}
            counts = {MEMORIES: reader.amount(key)}
            looked.append(
                PutRun(Run(last.id if last and again else run, key, "done", RULES, now, now, counts))
            )
    if looked:
        desk.store.write(desk.scope, looked)
