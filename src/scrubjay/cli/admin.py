"""status, doctor, config, redactions, completion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from scrubjay.api import serializers
from scrubjay.cli import agents, sync
from scrubjay.cli.agents import agent_home
from scrubjay.cli.main import Call, command
from scrubjay.cli.output import RED, format_count, paint, write, write_error, write_table
from scrubjay.config.loader import config_path, known_settings, variable_name
from scrubjay.config.paths import Pauses, pause_end
from scrubjay.config.settings import Settings, data_dir, setting_rules
from scrubjay.daemon.embedding import embedding_summary
from scrubjay.doctor.checks import last_log_entries
from scrubjay.errors import ConfigError, InputError
from scrubjay.models.reports import PROBLEM, WARNING, ArchivedByRun, Check
from scrubjay.text.display import single_line


def background_facts(call: Call) -> dict[str, Any]:
    """Return the state of the daemon and of background embedding, pauses with their ends, and open servers."""
    from scrubjay.daemon import client
    from scrubjay.daemon.embedding import EmbeddingJob
    from scrubjay.server.run import open_server_urls

    path, fingerprint, _ = agents.daemon_address(call)
    pauses = Pauses(str(data_dir())).running()
    paused = {who or "all": None if math.isinf(until) else until for who, until in pauses.items()}
    return {
        "resident": client.daemon_state(path, fingerprint),
        "embedding": EmbeddingJob(str(data_dir()), call.settings.store).state(),
        "paused": paused,
        "open_servers": open_server_urls(data_dir()),
    }


def background_lines(state: Mapping[str, Any]) -> list[str]:
    from scrubjay.server.run import OPEN_SERVER_WARNING

    lines = [f"resident   {agents.daemon_line(state['resident'])}"]
    for who, until in state["paused"].items():
        lines.append(f"hooks      {'' if who == 'all' else who + ' '}paused {pause_end(until)}")
    lines += [
        f"warning    {OPEN_SERVER_WARNING.format(url=url, user='you')}" for url in state["open_servers"]
    ]
    return lines


RESTORE_COMMAND = "scrubjay restore --archived-by-consolidation"
"""Restores everything that consolidation archived."""


def _print_tenants(call: Call) -> None:
    from scrubjay.api.auth import TokenStore, tokens_path
    from scrubjay.services.inspection import tenant_counts

    tenants = {call.settings.tenant, *(token.tenant for token in TokenStore(tokens_path()).all())}
    with call.open(cold=True) as memory:
        counted = tenant_counts(memory.workspace.store, tenants)
    if call.print_json(counted):
        return
    for tenant, counts in counted.tenants.items():
        by_key = {key.replace(":", " ", 1): count for key, count in counts.items()}
        write(f"{single_line(tenant)}: {format_count(sum(counts.values()), 'memory')}{_status_lines(by_key)}")
    if counted.hidden:
        write(f"note: {counted.hidden} These are the tenants of the settings and the tokens.")


@command("status")
@click.option(
    "--tenants",
    is_flag=True,
    help="Show only the store's tenants, with the number of memories of each user and group.",
)
def status(call: Call, tenants: bool) -> None:
    """Show the store, its sources and models, running and paused processes, and recent errors from the log."""
    if tenants:
        _print_tenants(call)
        return
    with call.open() as memory:
        report = memory.status()
    errors, background = last_log_entries(data_dir()), background_facts(call)
    if call.print_json(serializers.to_plain(report) | background | {"errors": errors}):
        return
    write(f"store      {single_line(report.store)} ({format_size(report.bytes)})")
    write(f"memories   {report.memories:,}{_status_lines(report.tiers)}")
    if set(report.statuses) - {"active"}:
        write(f"by status {_status_lines(report.statuses)}")
    for text in archived_lines(report.archived):
        write(text)
    for limit in report.quota:
        write(f"quota      {limit.used:,} of {limit.allowed:,} memories ({limit.setting})")
    write(f"documents  {report.documents:,}")
    write(f"sources    {format_count(len(report.sources), 'source')}")
    write_table(sync.source_rows(report.sources), "   ")
    write("models")
    write_table(sync.model_rows(report.models), "   ")
    for text in report.notes:
        write(f"note       {single_line(text)}")
    for text in report.warnings:
        write(f"warning    {single_line(text)}")
    for problem in report.unread:
        write(
            f"unread     {single_line(problem.path)}: {single_line(problem.message)} {single_line(problem.hint)}."
        )
    if report.unenriched:
        write(
            f"enriching  {format_count(report.unenriched, 'document')} waiting since {report.unenriched_since}; "
            "the next sync or a background process links them"
        )
    pending = max((model.waiting for model in report.models), default=0)
    if pending or (background["embedding"] and not background["embedding"]["paused"]):
        write(f"embedding  {pending:,} pending; {embedding_summary(background['embedding'], call.settings)}")
    for text in background_lines(background):
        write(text)
    for number, entry in enumerate(errors):
        line = f"{entry['time'][:19]}Z {entry.get('event')} {entry.get('error', '')}"
        write(f"{'' if number else 'errors':<10} {single_line(line)}")
    if not report.memories:
        write("hint: scrubjay sync DIR")


def archived_lines(runs: Sequence[ArchivedByRun]) -> list[str]:
    unasked = sum(run.memories for run in runs if run.unasked)
    lines = [
        f"archived   {run.memories:,} by consolidation in {run.run} (undo: {run.undo})"
        for run in runs
        if not run.unasked
    ]
    if unasked:
        lines.append(
            f"archived   {unasked:,} by consolidation of an earlier version, without being asked ({RESTORE_COMMAND})"
        )
    return lines


def format_size(count: int) -> str:
    """Return a number of bytes in a readable unit.

    >>> format_size(800), format_size(2_500_000)
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


def _status_lines(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{single_line(name)} {number:,}" for name, number in counts.items() if number)
    return f" ({shown})" if shown else ""


YELLOW, GREEN = "33", "32"
STATUS_MARKS = {"ok": ("ok", GREEN), WARNING: ("warning", YELLOW), PROBLEM: ("problem", RED)}
NAME_WIDTH = 26


@command("doctor")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@click.option("--fix", is_flag=True, help="Make safe repairs: file permissions and leftovers.")
def doctor(call: Call, names: tuple[str, ...], fix: bool) -> int:
    """Check the installation, and test each agent end to end.

    For each agent that scrubjay is installed for, a marker is captured by the agent's own hooks, recalled and
    forgotten again. With --store or --user only that store is checked, because agents use the store of your settings.
    The exit code is 1 if there is a problem.
    """
    checks = []
    for check in _run_checks(call, names, fix):
        checks.append(check)
        if not call.json:
            print_check(check)
    problems = sum(check.state == PROBLEM for check in checks)
    warnings = sum(check.state == WARNING for check in checks)
    if not call.print_json({"sound": not problems, "checks": checks}):
        write(f"\n{summary_line(problems, 'problem')}, {summary_line(warnings, 'warning')}.")
    return 1 if problems else 0


def _run_checks(call: Call, names: tuple[str, ...], fix: bool) -> Iterator[Check]:
    from scrubjay.doctor.checks import Installation
    from scrubjay.doctor.run import run_checks
    from scrubjay.models.reports import check_ok, check_problem

    other_store = bool(call.store or call.user)
    if other_store and names:
        raise InputError(
            "Agents use the store of your settings, so they cannot be checked with --store or --user. "
            "Nothing was checked.",
            hint=f"scrubjay doctor {' '.join(names)}",
        )
    call.require_store()
    try:
        settings = call.settings
    except ConfigError as error:
        yield check_problem("settings", str(error), error.hint or "scrubjay config")
        return
    set_count = sum(origin != "default" for origin in settings.origins.values())
    yield check_ok("settings", f"valid; {set_count} set, the others at their defaults")
    yield from run_checks(Installation(settings, agent_home(), fix=fix), names, agents=not other_store)


def print_check(check: Check) -> None:
    mark, style = STATUS_MARKS[check.state]
    label = paint(f"{mark:<8}", style)
    prefix = "fixed: " if check.mended else ""
    write(f"{label} {single_line(check.about):<{NAME_WIDTH}}{prefix}{single_line(check.found)}")
    if check.fix:
        write(f"{'':<9}{'':<{NAME_WIDTH}}fix: {single_line(check.fix)}")


def summary_line(number: int, noun: str) -> str:
    """Return a number and its noun.

    >>> summary_line(0, "problem"), summary_line(1, "warning")
    ('no problems', '1 warning')
    """
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


@command("config")
def config(call: Call) -> None:
    """Show every setting, its value and its origin.

    Settings come from defaults, the settings file, the environment and flags; later ones win.
    """
    settings = call.settings
    path = config_path()
    rows = list_settings(settings)
    if call.json:
        entries = [
            {"name": name, "value": value, "origin": origin, "variable": variable_name(name)}
            for name, value, origin in rows
        ]
        call.print_json({"file": str(path), "file_exists": path.exists(), "settings": entries})
        return
    write(f"settings file: {single_line(str(path))}{'' if path.exists() else ' (missing)'}\n")
    write_table([(name, _display_value(value), f"({origin})") for name, value, origin in rows])


def list_settings(settings: Settings) -> list[tuple[str, object, str]]:
    names = [*known_settings()]
    for name, model in settings.models.extra.items():
        names += [f"models.{name}.{setting}" for setting in setting_rules(type(model))]
    return [(name, _json_value(settings, name), settings.origins.get(name, "default")) for name in names]


def _json_value(settings: Settings, name: str) -> object:
    section, _, setting = name.rpartition(".")
    if not section:
        value = getattr(settings, setting)
    elif section.startswith("models."):
        value = getattr(settings.models.extra[section.removeprefix("models.")], setting)
    else:
        value = getattr(getattr(settings, section), setting)
    return (
        serializers.to_plain(value)
        if value is None or isinstance(value, int | float | tuple | dict)
        else str(value)
    )


def _display_value(value: object) -> str:
    if value is None or value in ("", []):
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ",".join(f"{name}={weight:g}" for name, weight in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


@command("redactions")
def redactions(call: Call) -> None:
    """List the redacted secrets and their locations.

    Each line shows file and line (or the memory's id), the kind and the surrounding text. The secrets themselves are
    not stored anywhere.
    """
    with call.open(cold=True) as memory:
        redacted = memory.redactions()
    if call.print_json({"redactions": redacted}):
        return
    for item in redacted:
        place = f"{item.path}:{item.line}" if item.line else f"{item.path} ({item.memory})"
        where = place if item.path else item.memory
        write(single_line(f"{where}  {item.kind}  {item.before}[…]{item.after}"))
    if not redacted:
        write("Nothing was redacted.")
        return
    write_error(
        f'hint: to keep one that is no secret, write allow = ["word"] under [redaction] into {config_path()} and run'
        " scrubjay sync; copy from the file the whole text that […] replaces. A memory without a file has to be"
        " added again"
    )


SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(call: Call, shell: str) -> None:
    """Print the shell completion script.

    bash: eval "$(scrubjay completion bash)" in ~/.bashrc. zsh: the same with zsh in ~/.zshrc.
    fish: scrubjay completion fish > ~/.config/fish/completions/scrubjay.fish
    """
    from click.shell_completion import get_completion_class

    from scrubjay.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None, shell
    script = kind(cli, {}, "scrubjay", "_SCRUBJAY_COMPLETE").source()
    if not call.print_json({"shell": shell, "script": script}):
        write(script)
