"""audit: how good what is remembered is, and what the settings no longer keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scrubjay.errors import InputError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import counted, indent, line, table, write, write_json
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.audits import Audit, Example, Rate, Retained, Shown

IDS = 20
"""Ids that are shown of what was put away; --json has all of them."""


@command("audit")
@click.option(
    "--fix",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Put away what has this fault; may be given several times. It can be taken back.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and say what would be put away.")
@click.option("--limit", type=int, default=3, show_default=True, help="Most examples of each kind.")
@click.option("--retention", is_flag=True, help="Keep to the settings of [retention] instead.")
@click.option("--undo", metavar="RUN", help="Take back what a run of this command put away.")
def audit(
    call: Call, kinds: tuple[str, ...], dry_run: bool, limit: int, retention: bool, undo: str | None
) -> None:
    """Show how many memories are junk, repeated, out of date, contradicted or never used.

    Every fault comes with its worst examples and with the command that mends it. Nothing is forgotten: what is
    put away is archived or superseded, and comes back with --undo, or one by one with `scrubjay restore`.
    """
    if sum((bool(kinds), retention, undo is not None)) > 1:
        raise InputError("--fix, --retention and --undo are three different things. Nothing was written.")
    if undo is not None:
        _undo(call, undo)
        return
    with call.open(cold=True) as memory:
        if retention:
            kept = memory.retain(dry_run=dry_run)
        else:
            found = memory.audit(kinds, limit, dry_run=dry_run)
    if call.json:
        write_json(shape.plain(kept if retention else found))
    elif retention:
        _retained(kept)
    else:
        _audited(found, kinds)


def _undo(call: Call, run: str) -> None:
    with call.open(cold=True) as memory:
        done = memory.undo_audit(run)
    if call.json:
        write_json(shape.plain(done))
        return
    write(f"{counted(len(done.ids), 'memory')} restored.")
    if done.unchanged:
        write(f"{counted(len(done.unchanged), 'memory')} left as they are: changed since.")


def _audited(found: Audit, kinds: Sequence[str]) -> None:
    if not kinds:
        write(f"{counted(found.memories, 'active memory')}, looked at in {found.seconds:.1f} s")
        for rate in found.rates:
            _rate(rate, found)
        for source in found.missing:
            write(f"{line(source.root)} is gone; {counted(source.passages, 'passage')} of it are kept.")
            write(indent(f"fix: scrubjay sources remove {source.id}"))
    for kind, ids in found.fixed.items():
        write(f"{kind}: {_done(ids, 'put away', found.dry_run)}")
    if found.undo:
        write(f"undo: {found.undo}")


def _rate(rate: Rate, found: Audit) -> None:
    write(f"{rate.kind:<15} {rate.count:>9,}  {rate.share:>6.1%}{f'   fix: {rate.fix}' if rate.fix else ''}")
    if rate.kind == "never-recalled" and rate.count:
        rows = [(tier, f"{count / found.tiers[tier]:.1%}") for tier, count in rate.tiers.items()]
        write(indent("\n".join(table(rows))))
        return
    if len(rate.reasons) > 1:
        write(indent(", ".join(f"{reason}: {count:,}" for reason, count in rate.reasons.items())))
    for example in rate.examples:
        write(indent(_told(example)))


def _told(example: Example) -> str:
    lines = [f"{_named(example.memory)}  ({example.why})"]
    if example.other is not None:
        lines.append(indent(f"beside {_named(example.other)}"))
    return "\n".join(lines)


def _named(one: Shown) -> str:
    day = (one.date or "not dated")[:10]
    return f"{one.id}  {day}  {line(one.where)}{'  ' if one.where else ''}{line(one.text)}"


def _retained(kept: Retained) -> None:
    write(_done(kept.archived, "archived", kept.dry_run))
    write(_done(kept.forgotten, "forgotten", kept.dry_run))
    if kept.undo:
        write(f"undo: {kept.undo}")


def _done(ids: Sequence[str], what: str, dry_run: bool) -> str:
    verb = "would be" if dry_run else "was" if len(ids) == 1 else "were"
    said = f"{counted(len(ids), 'memory')} {verb} {what}"
    if not ids:
        return f"{said}."
    more = f" and {len(ids) - IDS:,} more (--json tells all)" if len(ids) > IDS else ""
    return f"{said}: {' '.join(ids[:IDS])}{more}"
