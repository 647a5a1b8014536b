"""export, import, backup, copy."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.cli.main import Call, command
from scrubjay.cli.output import format_count, format_duration, write, write_error
from scrubjay.cli.sync import show_progress
from scrubjay.text.display import single_line

if TYPE_CHECKING:
    from scrubjay.models.reports import ImportReport


IMPORT_FORMATS = (
    "auto", "scrubjay", "openclaw", "claude-code", "basic-memory", "mem0", "agentmemory", "mcp-memory", "jsonl",
)  # fmt: skip
MAX_SHOWN = 10
"""Items of a list that are shown."""


@command("export")
@click.argument("file", metavar="FILE|FOLDER")
@click.option(
    "--format",
    type=click.Choice(("jsonl", "markdown")),
    default="jsonl",
    show_default=True,
    help="markdown: facts, digests and additions as a Markdown file each, in a folder.",
)
@click.option("--overwrite", is_flag=True, help="Overwrite an existing file.")
def export(call: Call, file: str, format: str, overwrite: bool) -> None:
    """Export everything you may see to FILE as JSON lines; - writes to standard output.

    Includes memories of every tier with all fields, locations, links, concepts and histories; not vectors or settings;
    of forgotten memories only the ids. `scrubjay import` reads it, here or elsewhere.
    """
    if format == "markdown":
        _export_markdown(call, file)
        return
    with call.open(cold=True) as memory:
        if file == "-":
            sys.stdout.flush()
            memory.export(sys.stdout.buffer)
            return
        with show_progress(quiet=call.json) as (report, _):
            done = memory.export(file, overwrite=overwrite, progress=report)
    if call.print_json(done):
        return
    write(
        f"{format_count(done.counts.get('memory', 0), 'memory')}, "
        f"{format_count(done.counts.get('edge', 0), 'edge')} and "
        f"{format_count(done.counts.get('event', 0), 'event')} in {single_line(done.path)}, {done.bytes:,} bytes, "
        f"{format_duration(done.seconds)}"
    )


def _export_markdown(call: Call, folder: str) -> None:
    if folder == "-":
        raise click.UsageError("Markdown is written into a folder, not to standard output.")
    with call.open(cold=True) as memory:
        done = memory.export(folder, format="markdown")
    if call.print_json(done):
        return
    write(
        f"{format_count(done.counts['memory'], 'memory')} in {single_line(done.path)}: "
        f"{format_count(done.counts['written'], 'file')} written, {done.counts['removed']:,} removed, "
        f"{format_duration(done.seconds)}"
    )
    for problem in done.problems:
        write_error(f"{single_line(problem.path)}: {single_line(problem.message)}")


@command("import")
@click.argument("path", metavar="FILE|FOLDER", type=click.Path())
@click.option(
    "--format",
    type=click.Choice(IMPORT_FORMATS),
    default="auto",
    show_default=True,
    help="Format of the file; auto detects it.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be imported.")
@click.option(
    "--shared",
    is_flag=True,
    help="Keep the visibility recorded in an export; otherwise everything is visible to you only.",
)
@click.option(
    "--untrusted", is_flag=True, help="Do not trust the content: searchable, but never injected unasked."
)
@click.option("--forget", is_flag=True, help="Also forget memories that the exporting store forgot.")
@click.option("--include-forgotten", is_flag=True, help="Also import memories that were forgotten here.")
def import_(call: Call, path: str, dry_run: bool, **options: Any) -> None:
    """Import a scrubjay export or the memories of another tool.

    Running it again adds only missing memories. Memories that you changed or forgot stay that way.
    """
    with call.open(cold=True, new=True) as memory, show_progress(quiet=call.json) as (report, _):
        done = memory.import_(path, dry_run=dry_run, progress=report, **options)
    if call.print_json(done):
        return
    _print_imported(done, forget=options["forget"])


MAX_NAMED: Final = 3
"""Maximum number of files named whose memories were skipped."""


def _print_imported(done: ImportReport, *, forget: bool) -> None:
    dry_run = done.dry_run
    if done.format in ("openclaw", "claude-code"):
        verb = "Would register" if dry_run else "Registered"
        write(f"{verb} as a source: {format_count(done.documents, 'file')} (format {done.format})")
    if not (
        dry_run and done.format in ("openclaw", "claude-code")
    ):  # only a sync knows the number of passages
        write(
            f"{format_count(done.added, 'memory')} {'would be ' if dry_run else ''}added, "
            f"{done.existed:,} already present, "
            f"{format_count(done.edges, 'edge')}, {format_count(done.concepts, 'concept')}, "
            f"{format_count(done.events, 'event')} (format {done.format}, {format_duration(done.seconds)})"
        )
    if done.statuses:
        verb = "would get" if dry_run else "got"
        write(
            f"{format_count(done.statuses, 'memory')} of those present {verb} the later status of the export."
        )
    for new in done.samples if dry_run else ():
        title = f"{new.title}: " if new.title and not new.text.startswith(f"{new.title}: ") else ""
        write(f"  {new.tier}  {single_line(new.date)}  {single_line(title + new.text)}")
    if done.forgotten:
        write(
            f"{format_count(done.forgotten, 'memory')} skipped: forgotten here (--include-forgotten imports it)."
        )
    if done.forgotten_too:
        verb = "would be forgotten" if dry_run else "forgotten"
        write(f"{format_count(len(done.forgotten_too), 'memory')} {verb} here, too.")
    for place in done.still:
        write(f"The text remains in {single_line(place)}.")
    if ids := done.forgotten_there:
        or_all = "" if forget or len(ids) <= MAX_SHOWN else "; or all: repeat the import with --forget"
        write(f"{format_count(len(ids), 'memory')} forgotten in the other store, still here.")
        for memory in done.kept[:MAX_SHOWN]:
            where = f" in {single_line(memory.place)}" if memory.place else ""
            write(f"  {memory.short}{where}: {memory.reason}")
        if done.kept[MAX_SHOWN:]:
            write(f"  … and {len(done.kept) - MAX_SHOWN:,} more (--json lists all)")
        write(f"hint: scrubjay forget {' '.join(ids[:MAX_SHOWN])}{or_all}")
    if done.passed_files:
        names = ", ".join(map(single_line, done.passed_files[:MAX_NAMED]))
        surplus = len(done.passed_files) - MAX_NAMED
        more = f" and {surplus:,} more (--json lists all)" if surplus > 0 else ""
        write(
            f"{format_count(done.passed, 'memory')} skipped, because the file here is missing or has another version: "
            f"{names}{more}\nhint: copy the version you want here, then scrubjay sync"
        )
    elif done.passed:
        write(f"{format_count(done.passed, 'memory')} skipped: empty, or only text that scrubjay injected.")
    for kind, count in (done.scrubbed or {}).items():
        write(f"{format_count(count, 'secret')} of kind {single_line(kind)} replaced.")
    for place in done.sources:
        use = "read by every sync" if os.path.exists(place) else "not on this machine; its memories are kept"
        write(f"{'Would be' if dry_run else 'Now'} a source, {use}: {single_line(place)}")
    for fault in done.broken[:MAX_SHOWN]:
        write_error(f"{single_line(fault.where)}: {single_line(fault.message)}")
    if done.failures > MAX_SHOWN:
        write_error(f"… and {done.failures - MAX_SHOWN:,} more (use --json to show a hundred)")


@command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--overwrite", is_flag=True, help="Overwrite an earlier backup.")
def backup(call: Call, file: Path, overwrite: bool) -> None:
    """Copy the whole store to FILE while it is in use, and verify the copy.

    To restore it while no program uses the store, move the old store away and FILE to its path.
    """
    with call.open(cold=True) as memory:
        done = memory.backup(file, overwrite=overwrite)
    if not call.print_json(done):
        write(
            f"{single_line(done.path)} is a verified copy of the store, {done.bytes:,} bytes, "
            f"{format_duration(done.seconds)}"
        )


@command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option("--tenant", metavar="NAME", help="Tenant to copy.  [default: the settings' tenant]")
@click.option("--all-tenants", is_flag=True, help="Copy all tenants, one after the other.")
def copy(call: Call, source: str, target: str, tenant: str | None, all_tenants: bool) -> None:
    """Copy a tenant to another store, file or PostgreSQL, and verify the copy.

    Copies all users' memories with ids, vectors, concepts, histories and records of what was forgotten. FROM may be in
    use meanwhile; TO must not contain the tenant. An interrupted copy continues when run again.
    """
    from scrubjay.services.exports import require_store_file

    if tenant is not None and all_tenants:
        raise click.UsageError("--tenant and --all-tenants exclude each other.")
    require_store_file(source)
    with replace(call, store=source).open(cold=True) as memory, show_progress(quiet=call.json) as (report, _):
        done = memory.copy(target, tenant=tenant, all_tenants=all_tenants, progress=report)
    if call.print_json(done):
        return
    for copied in done:
        counts = copied.counts
        write(
            f"Tenant {single_line(copied.tenant)}: {format_count(counts['memories'], 'memory')}, "
            f"{format_count(counts['documents'], 'document')}, {format_count(counts['edges'], 'edge')} and "
            f"{format_count(counts['events'], 'event')} verified in {single_line(copied.store)}, "
            f"{format_duration(copied.seconds)}"
        )
