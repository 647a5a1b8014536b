"""status: facts about the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scrubjay.config import data_dir
from scrubjay.doctor.logged import last
from scrubjay.memory.reports import ArchivedBy
from scrubjay.surfaces.cli import behind, models, sources
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, indent, line, write, write_json
from scrubjay.verbs import shape

RESTORE = "scrubjay restore --archived-by-consolidation"
"""Brings back all that consolidation archived."""


@command("status")
def status(call: Call) -> None:
    """Show what is stored, its sources and models, what runs or is paused, and the last errors of the log."""
    with call.open() as memory:
        found = memory.status()
    errors, around = last(data_dir()), behind.facts(call)
    if call.json:
        write_json(shape.plain(found) | around | {"errors": errors})
        return
    write(f"store      {line(found.store)} ({size(found.bytes)})")
    write(f"memories   {found.memories:,}{_parts(found.tiers)}")
    if set(found.statuses) - {"active"}:
        write(f"by status {_parts(found.statuses)}")
    for text in archived(found.archived):
        write(text)
    for limit in found.quota:
        write(f"quota      {limit.used:,} of {limit.allowed:,} memories ({limit.setting})")
    write(f"documents  {found.documents:,}")
    write(f"sources    {counted(len(found.sources), 'source')}")
    for text in sources.rows(list(found.sources)):
        write(indent(text))
    write("models")
    for text in models.rows(list(found.models)):
        write(indent(text))
    for text in found.warnings:
        write(f"warning    {line(text)}")
    for trouble in found.unread:
        write(f"not read   {line(trouble.path)}: {line(trouble.message)} {line(trouble.hint)}.")
    for text in behind.lines(around):
        write(text)
    for at, entry in enumerate(errors):
        told = f"{entry['time'][:19]}Z {entry.get('event')} {entry.get('error', '')}"
        write(f"{'' if at else 'errors':<10} {line(told)}")
    if not found.memories:
        write("hint: scrubjay sync DIR")


def archived(runs: Sequence[ArchivedBy]) -> list[str]:
    """Return lines on what consolidation archived, with the commands that bring it back.

    >>> archived([ArchivedBy("run_5f1c09ab27", 41, True, "scrubjay consolidate --undo run_5f1c09ab27")])[0]
    'archived   41 by consolidation of an earlier version, unasked (scrubjay restore --archived-by-consolidation)'
    """
    unasked = sum(run.memories for run in runs if run.unasked)
    lines = [
        f"archived   {run.memories:,} by consolidation in {run.run} (undo: {run.undo})"
        for run in runs
        if not run.unasked
    ]
    if unasked:
        lines.append(f"archived   {unasked:,} by consolidation of an earlier version, unasked ({RESTORE})")
    return lines


def size(count: int) -> str:
    """Return a number of bytes as people say it.

    >>> size(800), size(2_500_000)
    ('800 B', '2.5 MB')
    """
    if count < 1_000:
        return f"{count} B"
    number, unit = count / 1_000, "kB"
    for larger in ("MB", "GB", "TB"):
        if number < 1_000:
            break
        number, unit = number / 1_000, larger
    return f"{number:.1f} {unit}"


def _parts(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{line(name)} {number:,}" for name, number in counts.items() if number)
    return f" ({shown})" if shown else ""
