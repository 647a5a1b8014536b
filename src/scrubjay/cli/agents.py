"""Commands for coding agents: install, hook, pause, and the resident background process."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from scrubjay.agents.hooks import HOOK_FORMATS
from scrubjay.cli.main import Call, Group, command, stop_on_signal
from scrubjay.cli.output import DIM, format_duration, paint, require_terminal, write, write_error, write_table
from scrubjay.config.loader import config_path, environment_copy, load_settings
from scrubjay.config.paths import (
    ALL_AGENTS,
    Pauses,
    data_folder,
    environment,
    pause_end,
    runtime_folder,
    settings_fingerprint,
)
from scrubjay.config.settings import Settings, data_dir
from scrubjay.daemon import client
from scrubjay.daemon.client import socket_path
from scrubjay.errors import InputError, StoreError
from scrubjay.models.dates import SECOND, parse_duration
from scrubjay.text.display import single_line, strip_control

if TYPE_CHECKING:
    from scrubjay.agents.base import Agent, Home, Options
    from scrubjay.agents.installation import InstallPlan


GREEN, RED = "32", "31"


class InstallStep(NamedTuple):
    """The plan for one agent, as shown to the person, and the function that makes it from the current files."""

    agent: Agent
    make: Callable[[], InstallPlan]
    plan: InstallPlan

    def replan(self) -> InstallPlan:
        """Plan again, since two agents may share a file by a link.

        If the new plan has a change that was not shown, the shown one is used, and fails on the file that changed.
        """
        shown = {(change.path, change.new) for change in self.plan.changes}
        fresh = self.make()
        return fresh if {(change.path, change.new) for change in fresh.changes} <= shown else self.plan


def _agent_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--project", is_flag=True, help="Only for the project in the current folder."),
        click.option("--dry-run", is_flag=True, help="Show what would change; change nothing."),
        click.option("--yes", "-y", is_flag=True, help="Do not ask."),
        click.argument("names", nargs=-1, metavar="[AGENT]..."),
    ):
        function = option(function)
    return function


@command("install")
@_agent_options
@click.option("--list", "listing", is_flag=True, help="List the agents and what is installed for each.")
@click.option(
    "--no-hooks", is_flag=True, help="Install only tools and instructions: no automatic recall or capture."
)
def install(
    call: Call, names: tuple[str, ...], listing: bool, no_hooks: bool, project: bool, dry_run: bool, yes: bool
) -> None:
    """Add scrubjay to the configuration of coding agents.

    Shows what will be captured and every change, asks, and writes. Other entries, comments and layout are kept. Run it
    again after an upgrade or a move; `scrubjay uninstall` reverts it.
    """
    from scrubjay.agents import installation
    from scrubjay.agents.base import Options, check_not_ignored

    home = agent_home()
    if listing:
        _list_agents(call, home)
        return
    settings = agent_settings(call)
    options = Options(hooks=not no_hooks, project=Path.cwd() if project else None)
    agents = _find_agents(names, "install", home)
    for agent in agents:
        check_not_ignored(agent, home, options)
    steps = _plan_steps(agents, lambda agent: installation.plan_install(agent, home, options))
    if not call.json:
        for step in steps:
            _print_install(step, settings, home, options)
    done = _apply_steps(call, steps, home, "install", dry_run=dry_run, yes=yes)
    if call.json:
        call.print_json(
            {"done": done, "agents": [_install_json(step, settings, home, options) for step in steps]}
        )
    elif done:
        write("\nDone. The agent remembers from its next session on.")
        write(f"undo: scrubjay uninstall {' '.join(names)}{' --project' if project else ''}")


@command("uninstall")
@_agent_options
def uninstall(call: Call, names: tuple[str, ...], project: bool, dry_run: bool, yes: bool) -> None:
    """Remove scrubjay from the configuration of coding agents.

    Files that have not changed since the installation are restored exactly; from others, only scrubjay's entries are
    removed. Memories are kept.
    """
    from scrubjay.agents import installation
    from scrubjay.agents.base import Options

    settings = agent_settings(call)
    home = agent_home()
    options = Options(project=Path.cwd() if project else None)
    agents = _find_agents(names, "uninstall", home)
    steps = _plan_steps(agents, lambda agent: installation.plan_uninstall(agent, home, options, agents))
    if not call.json:
        for step in steps:
            write(f"{step.agent.title}")
            _print_changes(step.plan, "scrubjay is not installed; nothing to change.")
            for path in step.plan.left:
                write_error(
                    f"{single_line(str(path))} was changed since, and {step.agent.title} no longer "
                    f"reads it: it is kept."
                )
    done = _apply_steps(call, steps, home, "uninstall", dry_run=dry_run, yes=yes)
    if done:
        end_daemon(call)
    if call.json:
        call.print_json({"done": done, "agents": [_changes_json(step) for step in steps]})
    elif done:
        write(f"\nDone. Memories are kept in {single_line(settings.store)}.")


def agent_home() -> Home:
    from scrubjay.agents.base import Home

    return Home(Path.home(), environment_copy(), _scrubjay_command(), data_dir())


def _scrubjay_command() -> tuple[str, ...]:
    script = Path(sys.executable).with_name("scrubjay")
    if script.is_file():
        return (str(script),)
    path = shutil.which("scrubjay")
    return (str(Path(path).absolute()),) if path else (sys.executable, "-m", "scrubjay")


def agent_settings(call: Call) -> Settings:
    """Return the settings that agents start scrubjay with.

    Raises:
        InputError: ``--store`` or ``--user`` was given.
    """
    if call.store or call.user:
        raise InputError(
            "Agents start scrubjay with your settings, so --store and --user have no effect here. "
            "Nothing was changed.",
            hint=f'write store = "..." or user = "..." into {config_path()}',
        )
    return call.settings


def _find_agents(names: Sequence[str], verb: str, home: Home) -> list[Agent]:
    from scrubjay.agents.base import AGENTS, find_agent

    if not names:
        present = [name for name in AGENTS if find_agent(name).is_present(home)]
        raise InputError(
            f"Name the agents to {verb} scrubjay for: {', '.join(AGENTS)}. Nothing was changed.",
            hint=f"scrubjay {verb} {present[0] if present else next(iter(AGENTS))}",
        )
    return [find_agent(name) for name in dict.fromkeys(names)]


def _plan_steps(agents: Sequence[Agent], make: Callable[[Agent], InstallPlan]) -> list[InstallStep]:
    return [InstallStep(agent, partial(make, agent), make(agent)) for agent in agents]


def _apply_steps(
    call: Call, steps: Sequence[InstallStep], home: Home, verb: str, *, dry_run: bool, yes: bool
) -> bool:
    """Apply the plans, after asking unless ``yes``, and return whether anything was written."""
    from scrubjay.agents import installation

    if dry_run or not any(step.plan.changes for step in steps):
        return False
    if not yes:
        require_terminal("changed", "add --yes, or --dry-run to see what would change", json=call.json)
        click.confirm("\nWrite these changes?", abort=True, err=True)
    for step in steps:
        installation.apply_plan(step.replan(), home)
    return True


def _print_install(step: InstallStep, settings: Settings, home: Home, options: Options) -> None:
    write(f"{step.agent.title}")
    rows = [("" if n else "captures", text) for n, text in enumerate(step.agent.install_notes(home, options))]
    rows.append(("stores in", f"{settings.store} {settings_origin(settings)}".rstrip()))
    if options.hooks and step.agent.name in HOOK_FORMATS:
        rows.append(("archives", archiving_note(settings)))
        rows.append(("pause", f"scrubjay pause {step.agent.name}, or SCRUBJAY_OFF=1 in the environment"))
    write_table(rows, "  ")
    _print_changes(step.plan, "Already installed; nothing to change.")
    for path in step.plan.left:
        write_error(
            f"{single_line(str(path))} is no version of scrubjay's and stays; remove it to have scrubjay's."
        )


def archiving_note(settings: Settings) -> str:
    if settings.consolidation.archive == "never":
        return "nothing: finished conversations get a digest, and their turns stay active"
    return (
        "turns and tool results once a digest summarises them ([consolidation] archive); "
        "scrubjay status lists each run and how to undo it"
    )


def settings_origin(settings: Settings) -> str:
    """Return a note where the store comes from the environment, which an agent may not have; else an empty string."""
    origin = settings.origins.get("store", "default")
    if not origin.startswith("environment"):
        return ""
    return f"(from {origin}: start the agent with it too, or write it into {config_path()})"


def _print_changes(plan: InstallPlan, unchanged: str) -> None:
    from scrubjay.agents.installation import change_summary, unified_diff

    if not plan.changes:
        write(f"  {unchanged}")
        return
    for path, change_word in change_summary(plan.changes).items():
        write(f"  {change_word:<9}  {single_line(str(path))}")
    for change in plan.changes:
        write()
        for text in strip_control(unified_diff(change)).splitlines():
            style = {"+": GREEN, "-": RED, "@": DIM}.get(text[:1], "")
            write(paint(text, style))


def _install_json(step: InstallStep, settings: Settings, home: Home, options: Options) -> dict[str, Any]:
    captured = list(step.agent.install_notes(home, options))
    return {**_changes_json(step), "captured": captured, "store": settings.store}


def _changes_json(step: InstallStep) -> dict[str, Any]:
    from scrubjay.agents.installation import change_summary, unified_diff

    words = change_summary(step.plan.changes)
    return {
        "agent": step.agent.name,
        "changes": [
            {"path": str(change.path), "change": words[change.path], "diff": unified_diff(change)}
            for change in step.plan.changes
        ],
    }


def _list_agents(call: Call, home: Home) -> None:
    from scrubjay.agents.base import AGENTS, find_agent

    rows = []
    for agent in map(find_agent, AGENTS):
        try:
            parts, error = agent.installed_parts(home), ""
        except InputError as refusal:
            parts, error = {}, str(refusal)
        is_present = agent.is_present(home)
        rows.append({"agent": agent.name, "found": is_present, "installed": parts, "broken": error})
    if call.print_json({"agents": rows}):
        return
    write_table(
        [(str(row["agent"]), "found" if row["found"] else "not found", _installed_parts(row)) for row in rows]
    )
    if not any(row["found"] for row in rows):
        write_error("hint: no supported agent was found on this machine")


def _installed_parts(row: dict[str, Any]) -> str:
    if row["broken"]:
        return str(row["broken"])
    names = [name for name, is_installed in row["installed"].items() if is_installed]
    return f"installed: {', '.join(names)}" if names else "not installed"


@command("hook")
@click.argument("agent")
@click.argument("event")
def hook(call: Call, agent: str, event: str) -> None:
    """Handle an agent's hook event; `scrubjay install` writes this command into its configuration.

    Reads the agent's JSON from standard input and answers in its format, or prints nothing if there is nothing to say,
    time ran out or an error occurred (see the log). Always exits with 0. Events: session-start, prompt, stop,
    pre-compact, session-end, heartbeat.
    """
    from scrubjay.cli.entry import run_hook

    run_hook((agent, event), call.store, call.user)


AGENT_ARGUMENT = click.argument(
    "agent", required=False, type=click.Choice([*HOOK_FORMATS]), metavar="[AGENT]"
)


@command("pause")
@AGENT_ARGUMENT
@click.option("--for", "length", metavar="TIME", help="How long, such as 2h.  [default: until resume]")
def pause(call: Call, agent: str | None, length: str | None) -> None:
    """Pause agents' hooks: nothing is injected into sessions and nothing is captured.

    Messages sent during a pause are not captured later either, if the transcript has timestamps. MCP tools and
    `scrubjay sync` of notes still work.
    """
    seconds = parse_duration(length) / SECOND if length is not None else None
    pauses = Pauses(str(data_dir()))
    try:
        until = pauses.pause(agent or ALL_AGENTS, seconds)
    except OSError as error:
        raise StoreError(
            f"{pauses.path} cannot be written ({error.strerror}). Nothing was paused.",
            hint="set SCRUBJAY_OFF=1 for the agent's command to pause one session",
        ) from error
    if call.print_json({"paused": agent or "all", "until": until}):
        return
    write(f"Paused{f' for {agent}' if agent else ''} {pause_end(until)}.")


@command("resume")
@AGENT_ARGUMENT
def resume(call: Call, agent: str | None) -> None:
    """Resume paused hooks."""
    pauses = Pauses(str(data_dir()))
    before = pauses.running()
    try:
        if before:
            pauses.resume(agent or ALL_AGENTS)
    except OSError as error:
        raise StoreError(f"{pauses.path} cannot be written ({error.strerror}). Hooks stay paused.") from error
    after = pauses.running()
    if call.print_json(
        {"resumed": bool(before) and after != before, "paused": sorted(who or "all" for who in after)}
    ):
        return
    if not before:
        write("Nothing was paused.")
    elif after:
        write(f"Still paused: {', '.join(who or 'all agents' for who in sorted(after))}.")
    else:
        write("Hooks resumed.")


START_SECONDS: Final = 20.0
"""Seconds that a started daemon has to answer: it loads its models first."""
DAEMON_UNSUPPORTED: Final = (
    "The daemon needs private sockets, which Python lacks on Windows. All commands work without it."
)


@click.group("resident", cls=Group)
def resident() -> None:
    """Start, show or stop the daemon, which keeps models loaded so that hooks and searches answer fast.

    An agent's session starts it automatically (resident.auto); `scrubjay mcp` and `scrubjay watch` act as one while
    they run. It stops when idle. Every command works without it.
    """


def daemon_address(call: Call) -> tuple[str | None, str, dict[str, str]]:
    env = environment(call.store, call.user)
    fingerprint = settings_fingerprint(env)
    return socket_path(runtime_folder(env), fingerprint), fingerprint, env


def end_daemon(call: Call) -> None:
    """Stop the daemon that a session started, if it runs; a session of another agent starts it again."""
    path, fingerprint, _ = daemon_address(call)
    state = client.daemon_state(path, fingerprint)
    if state is not None and state["host"] == "resident":
        client.stop_daemon(path, fingerprint)


@command("start")
def start_daemon(call: Call) -> None:
    """Start the daemon unless it is running."""
    load_settings(overrides={"store": call.store, "user": call.user})  # errors appear here, not in a log
    path, fingerprint, env = daemon_address(call)
    if path is None:
        raise StoreError(DAEMON_UNSUPPORTED)
    state = client.daemon_state(path, fingerprint)
    if state is None:
        client.spawn_detached(["resident", "serve"], env)
        deadline = time.monotonic() + START_SECONDS
        while state is None and time.monotonic() < deadline:
            time.sleep(0.05)
            state = client.daemon_state(path, fingerprint)
    if state is None:
        raise StoreError(
            f"The daemon did not answer within {START_SECONDS:.0f} seconds. All commands work without it.",
            hint="see the file `log` in the data folder",
        )
    _print_state(call, state)


@command("stop")
def stop_daemon(call: Call) -> None:
    """Stop the daemon; if it runs inside another command, it only stops answering."""
    path, fingerprint, _ = daemon_address(call)
    state = client.stop_daemon(path, fingerprint)
    if call.print_json({"stopped": state is not None}):
        return
    if state is None:
        write("The resident daemon was not running.")
    elif state["host"] == "resident":
        write(f"Stopped (process {state['pid']}).")
    else:
        write(
            f"`scrubjay {state['host']}` (process {state['pid']}) keeps running but no longer acts as the daemon."
        )


@command("status")
def daemon_status(call: Call) -> None:
    """Show whether the daemon is running."""
    path, fingerprint, _ = daemon_address(call)
    _print_state(call, client.daemon_state(path, fingerprint))


@command("serve", hidden=True)
@click.option("--if-wanted", is_flag=True, help="Only if resident.auto is true.")
def serve_daemon(call: Call, if_wanted: bool) -> None:
    """Run the daemon until it is idle for a while."""
    env = environment(call.store, call.user)
    settings = load_settings(environ=env)
    if settings.resident.auto or not if_wanted:
        run_daemon(settings, env)


def run_daemon(settings: Settings, env: Mapping[str, str]) -> None:
    from scrubjay.daemon.embedding import keep_embedded, stop_reason
    from scrubjay.daemon.server import prepare_daemon
    from scrubjay.memory import Memory

    os.chdir(os.sep)
    opened: list[Memory] = []
    prepared = prepare_daemon(settings, lambda: opened[0], env, "resident")
    if prepared is None or not prepared[0].lock():  # before loading: several may be started at once
        return
    daemon, answerer = prepared
    log = settings.log.open(data_folder(env))
    with Memory.open(settings=settings, log=log) as memory:
        opened.append(memory)
        answerer.warm()
        try:
            with stop_on_signal(daemon.stopped):  # whoever finds the socket may end the process at once
                if not daemon.open():
                    return
                fingerprint = settings_fingerprint(env)
                with keep_embedded(settings, log, lambda: [(env, memory)]):
                    daemon.wait(
                        settings.resident.idle_minutes * 60, lambda: stop_reason(settings, env, fingerprint)
                    )
        finally:
            daemon.close()
            answerer.close()


def _print_state(call: Call, state: Mapping[str, Any] | None) -> None:
    if call.print_json({"running": state is not None, **(state or {})}):
        return
    write(daemon_line(state))


def daemon_line(state: Mapping[str, Any] | None) -> str:
    if state is None:
        return "not running" if sys.platform != "win32" else DAEMON_UNSUPPORTED
    host = "" if state["host"] == "resident" else f" in `scrubjay {state['host']}`"
    return (
        f"running{host}, process {state['pid']}, {state['requests']:,} requests, "
        f"last {format_duration(state['idle_seconds'])} ago"
    )


for each in (start_daemon, stop_daemon, daemon_status, serve_daemon):
    resident.add_command(each)
