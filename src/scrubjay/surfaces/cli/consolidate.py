"""consolidate: old conversations -> digests that lead back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import clean, counted, indent, line, tell, write, write_json
from scrubjay.surfaces.cli.progress import shown
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.memory.nights import Consolidated, Made, Undone

PASSED = {
    "busy": "Another process consolidates now; nothing was done.",
    "not due": "Not due yet; nothing was done.",
}
"""Why nothing was looked at, as a person reads it."""
KINDS = {"turn": "turn", "note": "note", "tool": "tool result"}
"""Kind of a memory to its noun."""
NOUNS = {
    "crystal": "crystal",
    "facet": "facet",
    "insight": "insight",
    "procedural": "procedure",
    "semantic": "fact",
}
"""Tier of a promoted memory to its noun."""


FEW = 3
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
            with shown(quiet=call.json) as (report, _):
                done = memory.consolidate(
                    if_due=if_due, after_days=after_days, archive=archive, dry_run=dry_run, progress=report
                )
    if call.json:
        write_json(shape.plain(taken if undo is not None else done))
    elif undo is not None:
        _say_undone(taken)
    else:
        _say(done)


def _say(done: Consolidated) -> None:
    for run in done.interrupted:
        tell(f"{run} was interrupted; what it wrote is whole, and this run goes on from there.")
    if done.passed:
        write(PASSED[done.passed])
        return
    if done.renewed:
        verb = "would be taken back" if done.dry_run else "taken back"
        why = "what they told of changed or is gone, or an earlier version made them"
        write(f"{counted(done.renewed, 'digest')} {verb}: {why}.")
    for trouble in done.partial:
        tell(line(trouble))
    if done.dry_run:
        for made in done.made:
            _show(made)
        for tier, promoted in _by_tier(done).items():
            write(f"{counted(len(promoted), NOUNS[tier])} would be promoted:")
            for made in promoted[:FEW]:
                _show(made)
            if len(promoted) > FEW:
                write(f"  and {len(promoted) - FEW:,} more (--json names all)")
    if done.files:
        write(f"{'Would be archived' if done.dry_run else 'Archived'} of notes:")
        for path, count in done.files.items():
            write(f"  {line(path)} ({counted(count, 'passage')})")
    write(_sentence(done))


def _show(made: Made) -> None:
    write(f"{made.id}  {line(made.title)}".rstrip())
    write(indent(clean(made.content)))


def _by_tier(done: Consolidated) -> dict[str, list[Made]]:
    """Return what was promoted, or would be, tier by tier."""
    tiers = sorted({made.tier for made in done.promoted})
    return {tier: [made for made in done.promoted if made.tier == tier] for tier in tiers}


def _sentence(done: Consolidated) -> str:
    """Return what was done in one line.

    >>> from scrubjay.memory.nights import Consolidated
    >>> _sentence(Consolidated(supported=2, dry_run=True))
    '2 known facts borne out by more. Nothing was written.'
    """
    facts = []
    if done.made:
        kinds = ", ".join(counted(count, KINDS[kind]) for kind, count in done.kinds.items())
        facts += [
            f"{counted(len(done.made), 'digest')} from {counted(sum(done.kinds.values()), 'memory')} ({kinds}), "
            f"{done.kept:,} of {done.tokens:,} tokens",
        ]
    if done.archived:
        facts.append(f"{done.archived:,} {'would be ' if done.dry_run else ''}archived")
    if done.promoted:
        tiers = ", ".join(counted(len(each), NOUNS[tier]) for tier, each in _by_tier(done).items())
        facts.append(f"{tiers} {'would be ' if done.dry_run else ''}promoted")
    if done.supported:
        facts.append(f"{counted(done.supported, 'known fact')} borne out by more")
    if done.read:
        facts.append(
            f"{counted(len(done.found), 'statement')} more in {counted(done.read, 'turn')} that a language model read"
        )
    if done.rephrased:
        facts.append(f"{counted(done.rephrased, 'digest')} reworded by it")
    if done.refused:
        facts.append(f"{done.refused:,} of its claims refused: no source says them")
    if done.run is not None:
        facts.append(f"run {done.run} (undo: scrubjay consolidate --undo {done.run})")
    if not facts:
        return "Nothing to consolidate."
    return "; ".join(facts) + (". Nothing was written." if done.dry_run else "")


def _say_undone(done: Undone) -> None:
    if done.already:
        write(f"{done.run} is undone already.")
        return
    write(f"{counted(done.removed, 'memory')} removed, {counted(done.restored, 'memory')} restored.")
