"""consolidate, audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scrubjay.api import serializers
from scrubjay.cli.main import Call, command
from scrubjay.cli.output import format_count, indent, write, write_error, write_json
from scrubjay.cli.progress import show_progress
from scrubjay.errors import InputError
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.models.reports import (
        AuditReport,
        ConsolidationReport,
        CreatedMemory,
        FaultExample,
        FaultRate,
        MemoryLine,
        RetentionReport,
        UndoReport,
    )


SKIP_REASONS = {
    "busy": "Another process consolidates now; nothing was done.",
    "not due": "Not due yet; nothing was done.",
}
"""Why nothing was looked at, as a person reads it."""
SOURCE_NOUNS = {"turn": "turn", "note": "note", "tool": "tool result"}
"""Kind of a memory to its noun."""
TIER_NOUNS = {
    "crystal": "crystal",
    "facet": "facet",
    "insight": "insight",
    "procedural": "procedure",
    "semantic": "fact",
}
"""Tier of a promoted memory to its noun."""


MAX_EXAMPLES = 3
"""Memories of each tier that a dry run prints of what would be promoted."""


@command("consolidate")
@click.option("--dry-run", is_flag=True, help="Print what would be made; write nothing.")
@click.option(
    "--archive",
    type=click.Choice(["transcripts", "notes"]),
    help="Archive what a digest tells of: turns and tool results, or passages of daily notes.",
)
@click.option(
    "--undo", metavar="RUN", help="Take a run back: its digests go, what it archived is active again."
)
@click.option(
    "--if-due", metavar="TIME", help="Do nothing where the last run began less than this ago, such as 4h."
)
@click.option(
    "--after-days", type=click.IntRange(0, 36_500), metavar="N", help="Days after which a memory is old."
)
def consolidate(
    call: Call,
    dry_run: bool,
    archive: str | None,
    undo: str | None,
    if_due: str | None,
    after_days: int | None,
) -> None:
    """Add a digest of each conversation that is over, and promote what several sources say.

    Nothing is archived unless you say so, here or by [consolidation] archive = "transcripts". No sentence is invented:
    each stands in a source, and the digest leads to it. `--archive notes` tells daily notes in digests (files or
    headings named by a date and nothing else) and archives their passages; the files stay as they are.
    """
    if undo is not None and (dry_run or archive or if_due is not None or after_days is not None):
        raise click.UsageError("--undo takes back a whole run; it goes with no other option.")
    with call.open(cold=True) as memory:
        if undo is not None:
            taken = memory.undo(undo)
        else:
            with show_progress(quiet=call.json) as (report, _):
                done = memory.consolidate(
                    if_due=if_due, after_days=after_days, archive=archive, dry_run=dry_run, progress=report
                )
    if call.json:
        write_json(serializers.to_plain(taken if undo is not None else done))
    elif undo is not None:
        _print_undone(taken)
    else:
        _print_run(done)


def _print_run(done: ConsolidationReport) -> None:
    for run in done.interrupted:
        write_error(f"{run} was interrupted; what it wrote is whole, and this run goes on from there.")
    if done.passed:
        write(SKIP_REASONS[done.passed])
        return
    if done.renewed:
        verb = "would be taken back" if done.dry_run else "taken back"
        why = "what they told of changed or is gone, or an earlier version made them"
        write(f"{format_count(done.renewed, 'digest')} {verb}: {why}.")
    for trouble in done.partial:
        write_error(single_line(trouble))
    if done.dry_run:
        for made in done.made:
            _print_digest(made)
        for tier, promoted in _by_tier(done).items():
            write(f"{format_count(len(promoted), TIER_NOUNS[tier])} would be promoted:")
            for made in promoted[:MAX_EXAMPLES]:
                _print_digest(made)
            if len(promoted) > MAX_EXAMPLES:
                write(f"  and {len(promoted) - MAX_EXAMPLES:,} more (--json names all)")
    if done.files:
        write(f"{'Would be archived' if done.dry_run else 'Archived'} of notes:")
        for path, count in done.files.items():
            write(f"  {single_line(path)} ({format_count(count, 'passage')})")
    write(_run_summary(done))


def _print_digest(made: CreatedMemory) -> None:
    write(f"{made.id}  {single_line(made.title)}".rstrip())
    write(indent(strip_control(made.content)))


def _by_tier(done: ConsolidationReport) -> dict[str, list[CreatedMemory]]:
    """Return what was promoted, or would be, tier by tier."""
    tiers = sorted({made.tier for made in done.promoted})
    return {tier: [made for made in done.promoted if made.tier == tier] for tier in tiers}


def _run_summary(done: ConsolidationReport) -> str:
    """Return what was done in one line.

    >>> from scrubjay.models.reports import ConsolidationReport
    >>> _run_summary(ConsolidationReport(supported=2, dry_run=True))
    '2 known facts borne out by more. Nothing was written.'
    """
    facts = []
    if done.made:
        kinds = ", ".join(format_count(count, SOURCE_NOUNS[kind]) for kind, count in done.kinds.items())
        facts += [
            f"{format_count(len(done.made), 'digest')} from {format_count(sum(done.kinds.values()), 'memory')} ({kinds}), "
            f"{done.kept:,} of {done.tokens:,} tokens",
        ]
    if done.archived:
        facts.append(f"{done.archived:,} {'would be ' if done.dry_run else ''}archived")
    if done.promoted:
        tiers = ", ".join(format_count(len(each), TIER_NOUNS[tier]) for tier, each in _by_tier(done).items())
        facts.append(f"{tiers} {'would be ' if done.dry_run else ''}promoted")
    if done.supported:
        facts.append(f"{format_count(done.supported, 'known fact')} borne out by more")
    if done.read:
        facts.append(
            f"{format_count(len(done.found), 'statement')} more in {format_count(done.read, 'turn')} that a language model read"
        )
    if done.rephrased:
        facts.append(f"{format_count(done.rephrased, 'digest')} reworded by it")
    if done.refused:
        facts.append(f"{done.refused:,} of its claims refused: no source says them")
    if done.run is not None:
        facts.append(f"run {done.run} (undo: scrubjay consolidate --undo {done.run})")
    if not facts:
        return "Nothing to consolidate."
    return "; ".join(facts) + (". Nothing was written." if done.dry_run else "")


def _print_undone(done: UndoReport) -> None:
    if done.already:
        write(f"{done.run} is undone already.")
        return
    write(
        f"{format_count(done.removed, 'memory')} removed, {format_count(done.restored, 'memory')} restored."
    )


MAX_IDS = 20
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
    """Show how many memories are junk, duplicates, out of date or orphaned.

    Lists the worst examples of each kind and the command that fixes it. A fix archives or supersedes memories and
    forgets nothing; --undo takes it back, `scrubjay restore` brings back one memory.
    """
    if sum((bool(kinds), retention, undo is not None)) > 1:
        raise InputError("--fix, --retention and --undo are three different things. Nothing was written.")
    if undo is not None:
        _undo_audit(call, undo)
        return
    with call.open(cold=True) as memory:
        if retention:
            kept = memory.retain(dry_run=dry_run)
        else:
            found = memory.audit(kinds, limit, dry_run=dry_run)
    if call.json:
        write_json(serializers.to_plain(kept if retention else found))
    elif retention:
        _print_retention(kept)
    else:
        _print_audit(found, kinds)


def _undo_audit(call: Call, run: str) -> None:
    with call.open(cold=True) as memory:
        done = memory.undo_audit(run)
    if call.json:
        write_json(serializers.to_plain(done))
        return
    write(f"{format_count(len(done.ids), 'memory')} restored.")
    if done.unchanged:
        write(f"{format_count(len(done.unchanged), 'memory')} left as they are: changed since.")


def _print_audit(found: AuditReport, kinds: Sequence[str]) -> None:
    if not kinds:
        write(f"{format_count(found.memories, 'active memory')}, looked at in {found.seconds:.1f} s")
        for rate in found.rates:
            _print_rate(rate)
        for source in found.missing:
            write(
                f"{single_line(source.root)} is gone; {format_count(source.passages, 'passage')} of it are kept."
            )
            write(indent(f"fix: scrubjay sources remove {source.id}"))
    for kind, ids in found.fixed.items():
        write(f"{kind}: {_count_line(ids, 'put away', found.dry_run)}")
    if found.undo:
        write(f"undo: {found.undo}")


def _print_rate(rate: FaultRate) -> None:
    write(f"{rate.kind:<15} {rate.count:>9,}  {rate.share:>6.1%}{f'   fix: {rate.fix}' if rate.fix else ''}")
    if len(rate.reasons) > 1:
        write(indent(", ".join(f"{reason}: {count:,}" for reason, count in rate.reasons.items())))
    for example in rate.examples:
        write(indent(_format_example(example)))


def _format_example(example: FaultExample) -> str:
    lines = [f"{_memory_line(example.memory)}  ({example.why})"]
    if example.other is not None:
        lines.append(indent(f"beside {_memory_line(example.other)}"))
    return "\n".join(lines)


def _memory_line(one: MemoryLine) -> str:
    day = (one.date or "not dated")[:10]
    return f"{one.id}  {day}  {single_line(one.where)}{'  ' if one.where else ''}{single_line(one.text)}"


def _print_retention(kept: RetentionReport) -> None:
    write(_count_line(kept.archived, "archived", kept.dry_run))
    write(_count_line(kept.forgotten, "forgotten", kept.dry_run))
    if kept.undo:
        write(f"undo: {kept.undo}")


def _count_line(ids: Sequence[str], what: str, dry_run: bool) -> str:
    verb = "would be" if dry_run else "was" if len(ids) == 1 else "were"
    said = f"{format_count(len(ids), 'memory')} {verb} {what}"
    if not ids:
        return f"{said}."
    more = f" and {len(ids) - MAX_IDS:,} more (--json tells all)" if len(ids) > MAX_IDS else ""
    return f"{said}: {' '.join(ids[:MAX_IDS])}{more}"
