"""setup: find agents, repositories and notes, show the plan, carry it out after one yes, check it, undo it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from scrubjay.agents.setup import (
    DONE,
    LEFT_OUT,
    TODO,
    AgentStep,
    FolderStep,
    SetupPlan,
    SetupRecord,
    Step,
    install_plan,
    make_plan,
)
from scrubjay.cli.admin import print_check, summary_line
from scrubjay.cli.agents import agent_home, agent_settings, archiving_note, end_daemon, settings_origin
from scrubjay.cli.main import Call, command
from scrubjay.cli.output import BOLD, format_count, paint, require_terminal, write, write_error, write_table
from scrubjay.cli.sync import pending_embedding, print_summary, show_progress
from scrubjay.config.paths import environment
from scrubjay.daemon.embedding import start_embedding
from scrubjay.errors import NotFoundError, ScrubjayError
from scrubjay.models.reports import OK, PROBLEM, WARNING, Check
from scrubjay.storage.urls import store_file
from scrubjay.text.display import single_line

if TYPE_CHECKING:
    from scrubjay.agents.base import Home
    from scrubjay.config.settings import Settings
    from scrubjay.models.reports import SourceStatus


MAX_LISTED: Final = 10
"""Maximum number of listed entries that need no action."""


@command("setup")
@click.option(
    "--undo", is_flag=True, help="Undo setup: restore agents' files exactly and remove the added sources."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; do nothing.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def setup(call: Call, undo: bool, dry_run: bool, yes: bool) -> int:
    """Find your agents, repositories and notes, and set them all up after asking once.

    Ingests the folders, adds scrubjay to the agents' configuration, starts embedding in the background, and checks the
    result as `scrubjay doctor` does. You can run it again at any time to add missing parts. The exit code is 1 if a
    step failed or the doctor found a problem.
    """
    settings, home = agent_settings(call), agent_home()
    record = SetupRecord.load(home)
    if undo:
        return _undo(call, settings, home, record, dry_run=dry_run, yes=yes)
    plan = make_plan(home, _current_folder(), [source.root for source in _sources(call, settings)])
    if not call.json:
        _print_plan(plan, settings)
    todo = plan.in_state(TODO)
    if dry_run or not todo:
        call.print_json({"done": False, "steps": plan.steps})
        return 0
    if not yes:
        todo = _ask_which(call, todo)
    failed = _run_steps(call, todo, settings, home, record)
    checks = _run_doctor(call, settings, home)
    sound = not failed and not any(check.state == PROBLEM for check in checks)
    if not call.print_json(
        {
            "done": True,
            "steps": plan.steps,
            "failed": failed,
            "sound": sound,
            "checks": checks,
        }
    ):
        _print_end(failed, checks)
    return 0 if sound else 1


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed under this shell
        return Path.home()


def _sources(call: Call, settings: Settings) -> Sequence[SourceStatus]:
    """The registered sources; a missing store is not created."""
    if not _has_store(settings):
        return ()
    with call.open(cold=True) as memory:
        return memory.sources()


def _has_store(settings: Settings) -> bool:
    file = store_file(settings.store)
    return file is None or file.exists()


def _print_plan(plan: SetupPlan, settings: Settings) -> None:
    todo = plan.in_state(TODO)
    if todo:
        write(paint("To be set up", BOLD))
        write_table([(str(number), *_columns(step)) for number, step in enumerate(todo, 1)], "  ")
    _print_reasons([step for step in todo if isinstance(step, FolderStep)], todo, settings)
    _print_list("Already set up", [(step.name, "") for step in plan.in_state(DONE)])
    _print_list("Left out", [(step.name, step.why) for step in plan.in_state(LEFT_OUT)])
    if plan.truncated:
        write("\nThe search of your home folder ended early; `scrubjay sync DIR` adds what it missed.")
    if not any(isinstance(step, FolderStep) for step in plan.steps):
        write("\nNo repository or folder of notes was found; scrubjay sync DIR adds one.")
    if not any(isinstance(step, AgentStep) for step in plan.steps):
        write("\nNo agent was found; scrubjay install --list names those that can be set up.")
    if not todo:
        write("\nNothing is missing. Run scrubjay doctor to check that it works.")


def _columns(step: Step) -> tuple[str, str, str]:
    if isinstance(step, FolderStep):
        return step.kind, step.name, "not counted" if step.notes is None else format_count(step.notes, "note")
    parts = f"without {', '.join(step.missing)} so far" if step.partly_installed and step.missing else ""
    return "agent", step.title, parts or f"{format_count(len(step.files), 'file')} of its configuration"


def _print_reasons(folders: Sequence[Step], todo: Sequence[Step], settings: Settings) -> None:
    if folders:
        write(
            "\nFolders become searchable for you and your agents. scrubjay reads their files and never changes them."
        )
    for step in todo:
        if isinstance(step, AgentStep):
            write(f"\n{step.title}: can search and add memories. What is captured:")
            for text in step.notes:
                write(f"  {text}")
            write(f"  Changes {', '.join(step.files)}; scrubjay install {step.name} --dry-run shows how.")
    if todo:
        write(f"\nStored in   {single_line(f'{settings.store} {settings_origin(settings)}')}")
        write("Sent        nothing, unless your settings name a remote model")
        write(f"Archives    {archiving_note(settings)}")
        write("Then        larger models embed in the background, and the doctor checks that agents remember")
        write("Undo        scrubjay setup --undo")


def _print_list(title: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        write(f"\n{paint(title, BOLD)}")
        for name, reason in rows[:MAX_LISTED]:
            write(f"  {single_line(name)}{f': {single_line(reason)}' if reason else ''}")
        if len(rows) > MAX_LISTED:
            write(f"  and {len(rows) - MAX_LISTED:,} more, which --json lists")


def _ask_which(call: Call, todo: Sequence[Step]) -> list[Step]:
    require_terminal("changed", "add --yes, or --dry-run to see what would be done", json=call.json)

    def chosen(text: str) -> list[Step]:
        words = text.replace(",", " ").lower().split()
        if words in ([], ["y"], ["yes"]):
            return list(todo)
        if words in (["n"], ["no"]):
            raise click.Abort
        numbers = {int(word) for word in words if word.isdecimal()}
        if len(numbers) < len(set(words)) or not numbers <= set(range(1, len(todo) + 1)):
            raise click.UsageError(f"Enter, n, or numbers from 1 to {len(todo)}, such as: 1 {len(todo)}")
        return [step for number, step in enumerate(todo, 1) if number not in numbers]

    write()
    question = "Set up all of it? Enter = yes, n = no, or the numbers to leave out"
    steps: list[Step] = click.prompt(question, default="", show_default=False, value_proc=chosen, err=True)
    return steps


def _run_steps(
    call: Call, todo: Sequence[Step], settings: Settings, home: Home, record: SetupRecord
) -> dict[str, str]:
    """Do every step, and return what failed by name."""
    from scrubjay.agents import installation

    failed: dict[str, str] = {}
    folders = [step for step in todo if isinstance(step, FolderStep)]
    with call.open(new=True) as memory:
        pending = 0
        for step in folders:
            if not call.json:
                write(f"\n{single_line(step.name)}")
            is_new, known = record.add(step), {source.root for source in memory.sources()}
            try:
                with show_progress(quiet=call.json) as (report, _):
                    synced = memory.sync(step.name, progress=report)
                # A sync may register more than one source of a folder.
                record.add_sources(source.root for source in memory.sources() if source.root not in known)
            except (ScrubjayError, OSError) as error:
                if is_new:
                    record.remove(step)
                _print_failure(call, failed, step.name, error)
                continue
            pending = synced.waiting
            if not call.json:
                print_summary(synced)
        follow = start_embedding(settings, environment(), memory)
    if folders and not call.json:
        pending_embedding(pending, 0.0, follow=follow)
    for agent in (step for step in todo if isinstance(step, AgentStep)):
        is_new = record.add(agent)
        try:
            installation.apply_plan(install_plan(agent, home), home)
        except (ScrubjayError, OSError) as error:
            if is_new:
                record.remove(agent)
            _print_failure(call, failed, agent.name, error)
            continue
        if not call.json:
            write(f"\n{agent.title}: scrubjay is installed. It remembers from its next session on.")
    return failed


def _print_failure(call: Call, failed: dict[str, str], name: str, error: Exception) -> None:
    failed[name] = str(error)
    if not call.json:
        write_error(f"{single_line(name)} failed: {single_line(str(error))}")
        if isinstance(error, ScrubjayError) and error.hint:
            write_error(f"  hint: {single_line(error.hint)}")


def _run_doctor(call: Call, settings: Settings, home: Home) -> list[Check]:
    """Run the doctor; print the checks of each agent, and every warning and problem."""
    from scrubjay.agents.base import AGENTS
    from scrubjay.doctor.checks import Installation
    from scrubjay.doctor.run import run_checks

    if not call.json:
        write(f"\n{paint('scrubjay doctor', BOLD)}")
    checks = []
    for check in run_checks(Installation(settings, home)):
        checks.append(check)
        if not call.json and (check.state != OK or check.about.split()[0] in AGENTS):
            print_check(check)
    return checks


def _print_end(failed: dict[str, str], checks: Sequence[Check]) -> None:
    counts = {state: sum(check.state == state for check in checks) for state in (PROBLEM, WARNING)}
    write(
        f"{format_count(len(checks), 'check')}: {summary_line(counts[PROBLEM], 'problem')}, "
        f"{summary_line(counts[WARNING], 'warning')}."
    )
    if failed:
        write(f"\nNot set up: {', '.join(map(single_line, failed))}. scrubjay setup tries again.")
    write("\nAsk: scrubjay search 'what did we decide about …', or your agent in its next session.")
    write("Undo: scrubjay setup --undo")


def _undo(
    call: Call, settings: Settings, home: Home, record: SetupRecord, *, dry_run: bool, yes: bool
) -> int:
    from scrubjay.agents.base import find_agent

    roots = {source.root: source for source in _sources(call, settings) if source.root in record.sources}
    result: dict[str, Any] = {"done": False, "agents": record.agents, "sources": list(roots)}
    if not (record.agents or roots or record.completed):
        if not call.print_json(result):
            write("Nothing to undo: setup has changed nothing that is still there.")
        return 0
    if not call.json:
        write(paint("This will be undone", BOLD))
        for name in record.agents:
            write(f"  {find_agent(name).title}: scrubjay's part of its configuration")
        for source in roots.values():
            write(f"  {single_line(source.root)}: {format_count(source.passages, 'passage')}; its files stay")
        for name in record.completed:
            write(
                f"  not {find_agent(name).title}, which was set up in part before: scrubjay uninstall {name}"
            )
    if dry_run:
        call.print_json(result)
        return 0
    if not yes:
        require_terminal("changed", "add --yes, or --dry-run to see what would be done", json=call.json)
        click.confirm("\nUndo it?", abort=True, err=True)
    failed: dict[str, str] = {}
    for name in record.agents:
        _uninstall(call, name, home, failed)
    end_daemon(call)
    kept = _remove_sources(call, roots, failed) if _has_store(settings) else 0
    record.keep(
        [root for root in roots if root in failed], [name for name in record.agents if name in failed]
    )
    if not call.print_json({**result, "done": True, "failed": failed, "kept": kept}):
        remaining = f"{format_count(kept, 'memory')} from sessions, additions and before the setup"
        write(f"\nDone. {remaining} stay in {single_line(settings.store)}.")
        write("`scrubjay sources` lists their folders, and `scrubjay sources remove` removes one.")
    return 1 if failed else 0


def _remove_sources(call: Call, roots: Mapping[str, SourceStatus], failed: dict[str, str]) -> int:
    with call.open() as memory:
        for root, source in roots.items():
            try:
                memory.remove_source(source.id)
            except NotFoundError:
                continue  # it went with another one
            except ScrubjayError as error:
                _print_failure(call, failed, root, error)
        return memory.status().memories


def _uninstall(call: Call, name: str, home: Home, failed: dict[str, str]) -> None:
    from scrubjay.agents import installation
    from scrubjay.agents.base import Options, find_agent

    try:
        plan = installation.plan_uninstall(find_agent(name), home, Options())
        installation.apply_plan(plan, home)
    except ScrubjayError as error:
        _print_failure(call, failed, name, error)
        return
    for path in () if call.json else plan.left:
        write_error(f"{single_line(str(path))} was changed since and is kept.")
