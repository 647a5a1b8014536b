"""consolidate, audit, skills."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scrubjay.cli.main import Call, Group, command, suggest
from scrubjay.cli.output import BOLD, format_count, indent, paint, require_terminal, write, write_error
from scrubjay.cli.sync import show_progress
from scrubjay.config.settings import MAX_DAYS
from scrubjay.errors import InputError, NotFoundError
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.consolidation.skills import Skill
    from scrubjay.memory import Memory
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
    "busy": "Another process is consolidating; nothing was done.",
    "not due": "Not due yet; nothing was done.",
}
"""Why a run did nothing, as a person reads it."""
UNDIGESTED = {
    "recent": "last turn too recent ([consolidation] after_days)",
    "short": "too little was said to quote",
}
"""Why a conversation got no digest, as a person reads it."""
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
"""Memories of each tier that a dry run prints."""


@command("consolidate")
@click.option("--dry-run", is_flag=True, help="Print what would be created; write nothing.")
@click.option(
    "--archive",
    type=click.Choice(["transcripts", "notes"]),
    help="Archive what digests summarise: turns and tool results, or passages of daily notes.",
)
@click.option(
    "--undo",
    metavar="RUN",
    help="Undo a run: remove its digests and restore what it archived. The next run writes the same digests again.",
)
@click.option(
    "--if-due", metavar="TIME", help="Do nothing if the last run began less than this ago, such as 4h."
)
@click.option(
    "--after-days",
    type=click.IntRange(0, MAX_DAYS),
    metavar="N",
    help="Age in days from which memories are consolidated.",
)
def consolidate(call: Call, undo: str | None, **options: Any) -> None:
    """Write digests of finished conversations, and derive facts from statements found in several sources.

    Nothing is archived unless you ask for it, here or by [consolidation] archive = "transcripts". Digests quote their
    sources and link to them; no sentence is invented. `--archive notes` summarises daily notes (files or headings
    named by a date and nothing else) and archives their passages; the files are not changed.
    """
    if undo is not None and any(value is not None and value is not False for value in options.values()):
        raise click.UsageError("--undo takes no other option.")
    with call.open(cold=True) as memory:
        if undo is not None:
            undo_report = memory.undo(undo)
            if not call.print_json(undo_report):
                _print_undone(undo_report)
            return
        with show_progress(quiet=call.json) as (report, _):
            run = memory.consolidate(**options, progress=report)
    if not call.print_json(run):
        _print_run(run)


def _print_run(report: ConsolidationReport) -> None:
    for run in report.interrupted:
        write_error(f"{run} was interrupted; its results are complete so far, and this run continues it.")
    if report.passed:
        write(SKIP_REASONS[report.passed])
        return
    if report.renewed:
        verb = "would be removed" if report.dry_run else "removed"
        cause = "their sources changed or are gone, an earlier version created them, or this run derives them again"
        write(f"{format_count(report.renewed, 'derived memory')} {verb}: {cause}.")
    for part in report.partial:
        write_error(single_line(part))
    if report.dry_run:
        for digest in report.made:
            _print_digest(digest)
        for tier, promoted in _by_tier(report).items():
            write(f"{format_count(len(promoted), TIER_NOUNS[tier])} would be promoted:")
            for digest in promoted[:MAX_EXAMPLES]:
                _print_digest(digest)
            if len(promoted) > MAX_EXAMPLES:
                write(f"  and {len(promoted) - MAX_EXAMPLES:,} more (use --json to list all)")
    if report.files:
        write(f"{'Would be archived' if report.dry_run else 'Archived'} from notes:")
        for path, count in report.files.items():
            write(f"  {single_line(path)} ({format_count(count, 'passage')})")
    write(_run_summary(report))
    for reason, count in report.undigested.items():
        write(f"{format_count(count, 'conversation')} without a digest: {UNDIGESTED[reason]}.")


def _print_digest(digest: CreatedMemory) -> None:
    write(f"{digest.id}  {single_line(digest.title)}".rstrip())
    write(indent(strip_control(digest.content)))


def _by_tier(report: ConsolidationReport) -> dict[str, list[CreatedMemory]]:
    tiers = sorted({memory.tier for memory in report.promoted})
    return {tier: [memory for memory in report.promoted if memory.tier == tier] for tier in tiers}


def _run_summary(report: ConsolidationReport) -> str:
    """Return a summary of a run in one line.

    >>> from scrubjay.models.reports import ConsolidationReport
    >>> _run_summary(ConsolidationReport(supported=2, dry_run=True))
    '2 known facts with new evidence. Nothing was written.'
    """
    facts = []
    if report.made:
        kinds = ", ".join(format_count(count, SOURCE_NOUNS[kind]) for kind, count in report.kinds.items())
        facts += [
            f"{format_count(len(report.made), 'digest')} from "
            f"{format_count(sum(report.kinds.values()), 'memory')} ({kinds}), "
            f"{report.kept:,} of {report.tokens:,} tokens"
        ]
    if report.archived:
        facts.append(f"{report.archived:,} {'would be ' if report.dry_run else ''}archived")
    if report.promoted:
        tiers = ", ".join(format_count(len(new), TIER_NOUNS[tier]) for tier, new in _by_tier(report).items())
        facts.append(f"{tiers} {'would be ' if report.dry_run else ''}promoted")
    if report.supported:
        facts.append(f"{format_count(report.supported, 'known fact')} with new evidence")
    if report.read:
        facts.append(
            f"{format_count(len(report.found), 'fact')} extracted from "
            f"{format_count(report.read, 'turn')} by a language model"
        )
    if report.rephrased:
        facts.append(f"{format_count(report.rephrased, 'digest')} reworded by it")
    if report.refused:
        facts.append(f"{report.refused:,} of its claims rejected: no source supports them")
    if report.run is not None:
        facts.append(f"run {report.run} (undo: scrubjay consolidate --undo {report.run})")
    if not facts:
        return "Nothing to consolidate."
    return "; ".join(facts) + (". Nothing was written." if report.dry_run else "")


def _print_undone(report: UndoReport) -> None:
    if report.already:
        write(f"{report.run} was already undone.")
        return
    write(
        f"{format_count(report.removed, 'memory')} removed, {format_count(report.restored, 'memory')} restored."
    )


MAX_IDS = 20
"""Archived ids that are shown; --json has all of them."""


@command("audit")
@click.option(
    "--fix",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="Archive memories with this fault; repeatable. Can be undone.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would be archived.")
@click.option(
    "--limit", type=int, default=3, show_default=True, help="Maximum number of examples of each kind."
)
@click.option("--retention", is_flag=True, help="Apply the [retention] settings instead.")
@click.option("--undo", metavar="RUN", help="Undo a run of this command.")
def audit(
    call: Call, kinds: tuple[str, ...], dry_run: bool, limit: int, retention: bool, undo: str | None
) -> None:
    """Show how many memories are junk, duplicates, out of date or orphaned.

    Each fault is shown with its worst examples and the command that fixes it. Nothing is deleted: memories are
    archived or superseded, and restored by --undo, or one by one with `scrubjay restore`.
    """
    if sum((bool(kinds), retention, undo is not None)) > 1:
        raise InputError("--fix, --retention and --undo exclude each other. Nothing was written.")
    if undo is not None:
        _undo_audit(call, undo)
        return
    with call.open(cold=True) as memory:
        if retention:
            retained = memory.retain(dry_run=dry_run)
        else:
            audited = memory.audit(kinds, limit, dry_run=dry_run)
    if call.print_json(retained if retention else audited):
        return
    if retention and not (call.settings.retention.days or call.settings.retention.most):
        write(
            "No limit is set, so nothing is archived or forgotten.\nhint: set days or most under [retention]"
        )
    elif retention:
        _print_retention(retained)
    else:
        _print_audit(audited, kinds)


def _undo_audit(call: Call, run: str) -> None:
    with call.open(cold=True) as memory:
        report = memory.undo_audit(run)
    if call.print_json(report):
        return
    write(f"{format_count(len(report.ids), 'memory')} restored.")
    if report.unchanged:
        write(f"{format_count(len(report.unchanged), 'memory')} skipped: changed since.")


def _print_audit(report: AuditReport, kinds: Sequence[str]) -> None:
    if not kinds:
        write(f"{format_count(report.memories, 'active memory')} audited in {report.seconds:.1f} s")
        for rate in report.rates:
            _print_rate(rate)
        for source in report.missing:
            write(
                f"{single_line(source.root)} is missing; {format_count(source.passages, 'passage')} of it still stored."
            )
            write(indent(f"fix: scrubjay sources remove {source.id}"))
    for kind, ids in report.fixed.items():
        write(f"{kind}: {_count_line(ids, 'archived', report.dry_run)}")
    if report.undo:
        write(f"undo: {report.undo}")


def _print_rate(rate: FaultRate) -> None:
    write(f"{rate.kind:<15} {rate.count:>9,}  {rate.share:>6.1%}{f'   fix: {rate.fix}' if rate.fix else ''}")
    if len(rate.reasons) > 1:
        write(indent(", ".join(f"{reason}: {count:,}" for reason, count in rate.reasons.items())))
    for example in rate.examples:
        write(indent(_format_example(example)))


def _format_example(example: FaultExample) -> str:
    lines = [f"{_memory_line(example.memory)}  ({example.why})"]
    if example.other is not None:
        lines.append(indent(f"compare {_memory_line(example.other)}"))
    return "\n".join(lines)


def _memory_line(memory: MemoryLine) -> str:
    day = (memory.date or "not dated")[:10]
    return f"{memory.id}  {day}  {single_line(memory.where)}{'  ' if memory.where else ''}{single_line(memory.text)}"


def _print_retention(report: RetentionReport) -> None:
    write(_count_line(report.archived, "archived", report.dry_run))
    write(_count_line(report.forgotten, "forgotten", report.dry_run))
    if report.undo:
        write(f"undo: {report.undo}")


def _count_line(ids: Sequence[str], participle: str, dry_run: bool) -> str:
    verb = "would be" if dry_run else "was" if len(ids) == 1 else "were"
    line = f"{format_count(len(ids), 'memory')} {verb} {participle}"
    if not ids:
        return f"{line}."
    more = f" and {len(ids) - MAX_IDS:,} more (use --json to list all)" if len(ids) > MAX_IDS else ""
    return f"{line}: {' '.join(ids[:MAX_IDS])}{more}"


MAX_ASKED = 60
"""Characters of a request that the list shows."""


@click.group("skills", cls=Group, default="list")
def skills() -> None:
    """List commands that repeat across conversations, and write them as skills for agents.

    A procedure is three or more commands that at least three conversations of a project ran in the same order after
    similar requests. Nothing is written unless you ask.
    """


@skills.command("list")
def list_(call: Call) -> None:
    """List the procedures, with their steps and the conversations that carried them out."""
    with call.open(cold=True) as memory:
        listed = memory.skills()
    if call.print_json({"skills": listed}):
        return
    if not listed:
        write("No procedure repeats in three sessions of a project.")
    for procedure in listed:
        project = f"  {single_line(procedure.project)}" if procedure.project else ""
        write(f"{paint(procedure.name, BOLD)}{project}  {format_count(len(procedure.sessions), 'session')}")
        for number, step in enumerate(procedure.steps, 1):
            write(indent(f"{number}. {single_line(step.command)}"))
        for evidence in procedure.sessions:
            request = textwrap.shorten(single_line(evidence.request), MAX_ASKED, placeholder=" …")
            write(indent(f"{evidence.date or 'no date':10}  {single_line(evidence.session)}  {request}"))
    if listed:
        write(
            f"\nscrubjay skills show {listed[0].name} prints its SKILL.md; `write` writes it, after a diff and a yes."
        )


@skills.command("show")
@click.argument("name")
def show(call: Call, name: str) -> None:
    """Print the SKILL.md of a procedure."""
    from scrubjay.consolidation.skills import skill_markdown

    with call.open(cold=True) as memory:
        text = skill_markdown(_find_skill(memory.skills(), name))
    if not call.print_json({"name": name, "text": text}):
        write(text.removesuffix("\n"))


@skills.command("write")
@click.argument("name")
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of skills.  [default: .claude/skills of the project]",
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def write_(call: Call, name: str, to: Path | None, yes: bool) -> None:
    """Write a procedure as NAME/SKILL.md, after showing the difference.

    A file that somebody edited is replaced only after you have seen the difference and agreed; --yes is not enough.
    """
    from scrubjay.agents.base import Change, read_if_exists
    from scrubjay.agents.installation import unified_diff, write_changes
    from scrubjay.consolidation.skills import is_unedited, skill_markdown

    with call.open(cold=True) as memory:
        skill = _find_skill(memory.skills(), name) if to is not None else _find_project_skill(memory, name)
    path = (to or _project_folder() / ".claude" / "skills").absolute() / skill.name / "SKILL.md"
    old = read_if_exists(path)
    change = Change(path, old, skill_markdown(skill).encode())
    shown = {"path": str(path), "diff": unified_diff(change) if change.new != old else ""}
    if change.new == old:
        if not call.print_json({"done": False, **shown}):
            write(f"{single_line(str(path))} is up to date.")
        return
    if not call.json:
        write(strip_control(shown["diff"]).rstrip("\n"))
    edited = old is not None and not is_unedited(old.decode("utf-8", "replace"))
    if edited and yes:
        raise InputError(
            f"{path} was edited, or was not written by scrubjay. Nothing was written.",
            hint="leave out --yes to decide by the difference, or name another folder: --to DIR",
        )
    if not yes:
        require_terminal("written", json=call.json)
        question = "\nReplace the edited file?" if edited else "\nWrite this file?"
        click.confirm(question, abort=True, err=True)
    write_changes([change])
    if not call.print_json({"done": True, **shown}):
        write(f"\nWritten. Agents use it from their next session on.\nundo: delete {single_line(str(path))}")


def _find_skill(procedures: Sequence[Skill], name: str) -> Skill:
    names = [skill.name for skill in procedures]
    if name not in names:
        others = f"Those that repeat: {', '.join(names)}." if names else "No procedure repeats."
        raise NotFoundError(
            f"No procedure is called {name!r:.80}. {others}{suggest(name, names)}", hint="scrubjay skills"
        )
    return procedures[names.index(name)]


def _find_project_skill(memory: Memory, name: str) -> Skill:
    """Return a procedure of the current folder's project.

    Raises:
        InputError: It is another project's, so that the folder to write to must be named.
    """
    from scrubjay.ingest.projects import project_of_directory

    procedures = memory.skills(project=".") if project_of_directory(".").folder else ()
    own = next((skill for skill in procedures if skill.name == name), None)
    if own is None:
        skill = _find_skill(memory.skills(), name)
        owner = f"of the project {skill.project}" if skill.project else "of no project"
        raise InputError(
            f"{name} is {owner}, not of the one in this folder. Nothing was written.",
            hint=f"go to its folder, or name a folder of skills: scrubjay skills write {name} --to DIR",
        )
    return own


def _project_folder() -> Path:
    current = Path.cwd()
    return next((folder for folder in (current, *current.parents) if (folder / ".git").exists()), current)
