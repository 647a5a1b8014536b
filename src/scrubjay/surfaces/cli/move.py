"""export, import, backup, copy: memories out of a store, and into one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, duration, line, tell, write, write_json
from scrubjay.surfaces.cli.progress import shown
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.moves import Imported

FORMATS = (
    "auto", "scrubjay", "openclaw", "claude-code", "basic-memory", "mem0", "agentmemory", "mcp-memory", "jsonl",
)  # fmt: skip
SHOWN = 10
"""Lines that could not be taken which are shown; --json has a hundred of them."""


@command("export")
@click.argument("file")
@click.option("--overwrite", is_flag=True, help="Replace a file that stands there.")
def export(call: Call, file: str, overwrite: bool) -> None:
    """Write all that you may see to FILE, or to standard output when it is -: a JSON object a line.

    Memories of all kinds with every field, where they stand, what connects them, names, histories. Not in it: vectors,
    settings, and what was forgotten. `scrubjay import` takes it in again, here or elsewhere.
    """
    with call.open(cold=True) as memory:
        if file == "-":
            sys.stdout.flush()
            memory.export(sys.stdout.buffer)
            return
        with shown(quiet=call.json) as (report, _):
            done = memory.export(file, overwrite=overwrite, progress=report)
    if call.json:
        write_json(shape.plain(done))
        return
    write(
        f"{counted(done.counts.get('memory', 0), 'memory')}, {counted(done.counts.get('edge', 0), 'edge')} and "
        f"{counted(done.counts.get('event', 0), 'event')} in {line(done.path)}, {done.bytes:,} bytes, "
        f"{duration(done.seconds)}"
    )


@command("import")
@click.argument("path", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--format", type=click.Choice(FORMATS), default="auto", show_default=True, help="What it is; auto looks."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and show what would be taken in.")
@click.option(
    "--shared", is_flag=True, help="Of an export: what others could see, they may see here; else it is yours."
)
@click.option(
    "--untrusted", is_flag=True, help="Nobody vouches for it: found, but put into no prompt by itself."
)
def import_(call: Call, path: Path, dry_run: bool, **options: Any) -> None:
    """Take in an export of scrubjay, or the memories of another tool.

    Nothing is taken twice: run it again and it adds what is not here yet. What you changed or forgot here stays so.
    """
    with call.open(cold=True, new=True) as memory, shown(quiet=call.json) as (report, _):
        done = memory.import_(path, dry_run=dry_run, progress=report, **options)
    if call.json:
        write_json(shape.plain(done))
        return
    _say(done)


def _say(done: Imported) -> None:
    dry_run = done.dry_run
    if done.format in ("openclaw", "claude-code"):
        kept = "Would be kept in step with" if dry_run else "Kept in step with"
        write(f"{kept}, not copied: {counted(done.documents, 'file')} (read as {done.format})")
    if not (dry_run and done.format in ("openclaw", "claude-code")):  # how many passages, only a sync knows
        write(
            f"{counted(done.added, 'memory')} {'would be ' if dry_run else ''}added, {done.existed:,} here already, "
            f"{counted(done.edges, 'edge')}, {counted(done.concepts, 'concept')}, "
            f"{counted(done.events, 'event')} (read as {done.format}, {duration(done.seconds)})"
        )
    for one in done.samples if dry_run else ():
        write(f"  {one.tier}  {line(one.date)}  {line(one.title)}: {line(one.text)}")
    if done.forgotten:
        write(f"{counted(done.forgotten, 'memory')} left out: forgotten here.")
    if done.passed:
        write(
            f"{counted(done.passed, 'memory')} left out: their file is here in another version, or they say nothing."
        )
    for kind, times in (done.scrubbed or {}).items():
        write(f"{counted(times, 'secret')} of kind {line(kind)} replaced.")
    for place in done.sources:
        write(f"{'Would be' if dry_run else 'Is'} a source from now on, read by every sync: {line(place)}")
    for fault in done.broken[:SHOWN]:
        tell(f"{line(fault.where)}: {line(fault.message)}")
    if done.failures > SHOWN:
        tell(f"… and {done.failures - SHOWN:,} more (--json shows a hundred)")


@command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace a file that stands there.")
def backup(call: Call, file: Path, overwrite: bool) -> None:
    """Copy the whole store to FILE while others use it; the copy is checked.

    To go back, put FILE where the store is while no program uses it.
    """
    with call.open(cold=True) as memory:
        done = memory.backup(file, overwrite=overwrite)
    if call.json:
        write_json(shape.plain(done))
    else:
        write(
            f"{line(done.path)} is a checked copy of the store, {done.bytes:,} bytes, {duration(done.seconds)}"
        )


@command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--tenant", metavar="NAME", help="Which tenant; the settings' own when left out.")
@click.option("--all-tenants", is_flag=True, help="All of them, one after the other.")
def copy(call: Call, source: str, target: str, tenant: str | None, all_tenants: bool) -> None:
    """Copy all that a tenant has to another store, file or PostgreSQL, and verify it.

    Of all its users: memories of every kind with their ids, vectors, names, histories, and what was forgotten. Others
    may use FROM meanwhile; TO must be empty of the tenant. Stopped on the way, it goes on when it is run again.
    """
    from scrubjay.wiring.copying import exists

    if tenant is not None and all_tenants:
        raise click.UsageError("--tenant and --all-tenants exclude each other.")
    exists(source)
    with replace(call, store=source).open(cold=True) as memory, shown(quiet=call.json) as (report, _):
        done = memory.copy(target, tenant=tenant, all_tenants=all_tenants, progress=report)
    if call.json:
        write_json(shape.plain(done))
        return
    for one in done:
        held = one.counts
        write(
            f"Tenant {line(one.tenant)}: {counted(held['memories'], 'memory')}, "
            f"{counted(held['documents'], 'document')}, {counted(held['edges'], 'edge')} and "
            f"{counted(held['events'], 'event')} are the same in {line(one.store)}, {duration(one.seconds)}"
        )
