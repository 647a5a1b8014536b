"""install, uninstall: coding agents, by name -> their configuration with scrubjay in it, or without."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from scrubjay.config import Settings, config_path, data_dir, surroundings
from scrubjay.errors import InputError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import DIM, clean, colourful, line, paint, table, tell, write, write_json

if TYPE_CHECKING:
    from scrubjay.agents.agent import Agent, Home, Options
    from scrubjay.agents.plan import Plan

GREEN, RED = "32", "31"


class Step(NamedTuple):
    """What is planned for one agent.

    Attributes:
        agent: The agent.
        make: Plans it, from what the files hold when it is called.
        plan: What it came to when it was shown.
    """

    agent: Agent
    make: Callable[[], Plan]
    plan: Plan

    def now(self) -> Plan:
        """Return the plan as it is after the agents before: two may read one file, by a link.

        What was not shown is not done: then the plan is the one that was, and the file that changed stops it.
        """
        shown = {(change.path, change.new) for change in self.plan.changes}
        fresh = self.make()
        return fresh if {(change.path, change.new) for change in fresh.changes} <= shown else self.plan


def _asked(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--project", is_flag=True, help="Only for the project in the current folder."),
        click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
        click.option("--yes", "-y", is_flag=True, help="Do not ask."),
        click.argument("names", nargs=-1, metavar="[AGENT]..."),
    ):
        function = option(function)
    return function


@command("install")
@_asked
@click.option("--list", "listing", is_flag=True, help="Show the agents, and what is installed for each.")
@click.option(
    "--no-hooks",
    is_flag=True,
    help="Only the tools and instructions: nothing is recalled or taken in by itself.",
)
def install(
    call: Call, names: tuple[str, ...], listing: bool, no_hooks: bool, project: bool, dry_run: bool, yes: bool
) -> None:
    """Make coding agents remember: write scrubjay into their configuration.

    Says what will be captured, shows every change, asks, and writes. Entries of others, comments and layout
    stay. Run it again after an upgrade or a move; `scrubjay uninstall` takes it back.
    """
    from scrubjay.agents import plan
    from scrubjay.agents.agent import Options

    home = here()
    if listing:
        _list(call, home)
        return
    settings = _settings(call)
    options = Options(hooks=not no_hooks, project=Path.cwd() if project else None)
    steps = _steps(_agents(names, "install", home), lambda agent: plan.to_install(agent, home, options))
    if not call.json:
        for step in steps:
            _tell_install(step, settings, home, options)
    done = _carry_out(call, steps, home, "install", dry_run=dry_run, yes=yes)
    if call.json:
        write_json({"done": done, "agents": [_as_json(step, settings, home, options) for step in steps]})
    elif done:
        write("\nDone. From its next session on the agent remembers.")
        write(f"undo: scrubjay uninstall {' '.join(names)}{' --project' if project else ''}")


@command("uninstall")
@_asked
def uninstall(call: Call, names: tuple[str, ...], project: bool, dry_run: bool, yes: bool) -> None:
    """Take scrubjay out of coding agents' configuration again.

    A file that nobody changed since becomes what it was, to the byte; of others only scrubjay's entries go.
    Memories stay: `scrubjay forget` and the store's file are yours.
    """
    from scrubjay.agents import plan
    from scrubjay.agents.agent import Options

    settings = _settings(call)
    home = here()
    options = Options(project=Path.cwd() if project else None)
    steps = _steps(_agents(names, "uninstall", home), lambda agent: plan.to_uninstall(agent, home, options))
    if not call.json:
        for step in steps:
            write(f"{step.agent.title}")
            _tell_changes(step.plan, "scrubjay is not in its configuration; nothing to change.")
            for path in step.plan.left:
                tell(
                    f"{line(str(path))} was changed since, and {step.agent.title} looks elsewhere now: it stays."
                )
    done = _carry_out(call, steps, home, "uninstall", dry_run=dry_run, yes=yes)
    if call.json:
        write_json({"done": done, "agents": [_changes_as_json(step) for step in steps]})
    elif done:
        write(f"\nDone. Memories stay in {line(settings.store)}.")


def here() -> Home:
    """Return where things are on this machine."""
    from scrubjay.agents.agent import Home

    return Home(Path.home(), surroundings(), _command(), data_dir())


def _command() -> tuple[str, ...]:
    """How an agent starts this scrubjay: by its absolute path, whatever its own PATH is."""
    beside = Path(sys.executable).with_name("scrubjay")
    if beside.is_file():
        return (str(beside),)
    found = shutil.which("scrubjay")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "scrubjay.surfaces.cli")


def _settings(call: Call) -> Settings:
    """Return the settings that agents will have too.

    Raises:
        InputError: A store or a user was named for this call alone.
    """
    if call.store or call.user:
        raise InputError(
            "An agent starts scrubjay with your settings, so --store and --user mean nothing here. "
            "Nothing was changed.",
            hint=f'write store = "..." or user = "..." into {config_path()}',
        )
    return call.settings()


def _agents(names: Sequence[str], verb: str, home: Home) -> list[Agent]:
    from scrubjay.agents.all import AGENTS, find

    if not names:
        there = [name for name in AGENTS if find(name).found(home)]
        raise InputError(
            f"Name the agents to {verb} for: {', '.join(AGENTS)}. Nothing was changed.",
            hint=f"scrubjay {verb} {there[0] if there else next(iter(AGENTS))}",
        )
    return [find(name) for name in dict.fromkeys(names)]


def _steps(agents: Sequence[Agent], make: Callable[[Agent], Plan]) -> list[Step]:
    return [Step(agent, partial(make, agent), make(agent)) for agent in agents]


def _carry_out(call: Call, steps: Sequence[Step], home: Home, verb: str, *, dry_run: bool, yes: bool) -> bool:
    """Ask if need be, write, and return whether anything was written.

    Raises:
        InputError: There is no terminal to ask on, or a file cannot be written.
        Abort: The answer was no.
    """
    from scrubjay.agents import plan

    if dry_run or not any(step.plan.changes for step in steps):
        return False
    if not yes:
        if call.json or not sys.stdin.isatty():
            raise InputError(
                f"{verb} asks first, and nobody can answer here. Nothing was changed.",
                hint="add --yes, or --dry-run to see what would change",
            )
        click.confirm("\nWrite these changes?", abort=True, err=True)
    for step in steps:
        plan.carry_out(step.now(), home)
    return True


def _tell_install(step: Step, settings: Settings, home: Home, options: Options) -> None:
    write(f"{step.agent.title}")
    rows = [("" if at else "takes in", text) for at, text in enumerate(step.agent.captured(home, options))]
    rows.append(("kept in", f"{settings.store} {_origin(settings)}".rstrip()))
    if options.hooks:
        rows.append(("archives", _archives(settings)))
        rows.append(("pause", f"scrubjay pause {step.agent.name}, or SCRUBJAY_OFF=1 in the environment"))
    for text in table(rows):
        write(f"  {text}")
    _tell_changes(step.plan, "It is installed as it should be; nothing to change.")


def _archives(settings: Settings) -> str:
    """Say what the consolidation that hooks start archives."""
    if settings.consolidation.archive == "never":
        return "nothing: a digest is added of each conversation that is over, and its turns stay"
    return (
        "turns and tool results once a digest tells of them ([consolidation] archive); "
        "scrubjay status names each run and the command that takes it back"
    )


def _origin(settings: Settings) -> str:
    origin = settings.origins.get("store", "default")
    if not origin.startswith("environment"):
        return ""
    return f"(from {origin}: the agent must be started with it too, or write it into {config_path()})"


def _tell_changes(plan: Plan, none: str) -> None:
    from scrubjay.agents.plan import difference, summary

    if not plan.changes:
        write(f"  {none}")
        return
    on = colourful(sys.stdout)
    for path, what in summary(plan.changes).items():
        write(f"  {what:<8}  {line(str(path))}")
    for change in plan.changes:
        write()
        for text in clean(difference(change)).splitlines():
            style = {"+": GREEN, "-": RED, "@": DIM}.get(text[:1], "")
            write(paint(text, style, on=on and bool(style)))


def _as_json(step: Step, settings: Settings, home: Home, options: Options) -> dict[str, Any]:
    captured = list(step.agent.captured(home, options))
    return {**_changes_as_json(step), "captured": captured, "store": settings.store}


def _changes_as_json(step: Step) -> dict[str, Any]:
    from scrubjay.agents.plan import difference, summary

    words = summary(step.plan.changes)
    return {
        "agent": step.agent.name,
        "changes": [
            {"path": str(change.path), "change": words[change.path], "diff": difference(change)}
            for change in step.plan.changes
        ],
    }


def _list(call: Call, home: Home) -> None:
    from scrubjay.agents.all import AGENTS, find

    rows = []
    for agent in map(find, AGENTS):
        try:
            parts, broken = agent.installed(home), ""
        except InputError as error:
            parts, broken = {}, str(error)
        rows.append({"agent": agent.name, "found": agent.found(home), "installed": parts, "broken": broken})
    if call.json:
        write_json({"agents": rows})
        return
    for text in table([(str(row["agent"]), _found(row), _parts(row)) for row in rows]):
        write(text)
    if not any(row["found"] for row in rows):
        tell("hint: none of them was found on this machine")


def _found(row: dict[str, Any]) -> str:
    return "found" if row["found"] else "not found"


def _parts(row: dict[str, Any]) -> str:
    if row["broken"]:
        return str(row["broken"])
    there = [name for name, is_there in row["installed"].items() if is_there]
    return f"installed: {', '.join(there)}" if there else "not installed"
