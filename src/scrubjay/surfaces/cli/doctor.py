"""doctor: an installation -> what is wrong with it, and whether each agent in fact remembers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from scrubjay.errors import ConfigError, InputError
from scrubjay.memory.checks import PROBLEM, WARNING, Check
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.install import here
from scrubjay.surfaces.cli.output import RED, colourful, line, paint, write, write_json
from scrubjay.verbs import shape

YELLOW, GREEN = "33", "32"
MARKS = {"ok": ("ok", GREEN), WARNING: ("warning", YELLOW), PROBLEM: ("problem", RED)}
WIDTH = 26


@command("doctor")
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@click.option("--fix", is_flag=True, help="Put right what is safe: rights of files, what was left behind.")
def doctor(call: Call, names: tuple[str, ...], fix: bool) -> int:
    """Look whether all is well, and prove that each agent remembers.

    For each agent that scrubjay is installed for, a marker is captured by the agent's own hooks, recalled, and
    forgotten again. With --store or --user only that store is examined, since agents use the store of your settings.
    Exit code 1 when there is a problem.
    """
    checks = []
    for each in _checks(call, names, fix):
        checks.append(each)
        if not call.json:
            _tell(each)
    problems = sum(each.state == PROBLEM for each in checks)
    warnings = sum(each.state == WARNING for each in checks)
    if call.json:
        write_json({"sound": not problems, "checks": shape.plain(checks)})
    else:
        write(f"\n{_sum(problems, 'problem')}, {_sum(warnings, 'warning')}.")
    return 1 if problems else 0


def _checks(call: Call, names: tuple[str, ...], fix: bool) -> Iterator[Check]:
    from scrubjay.doctor.case import Case
    from scrubjay.doctor.examine import examine
    from scrubjay.memory.checks import ok, problem

    other = bool(call.store or call.user)
    if other and names:
        raise InputError(
            "Agents use the store of your settings, so an agent cannot be examined with --store or --user. "
            "Nothing was examined.",
            hint=f"scrubjay doctor {' '.join(names)}",
        )
    call.must_exist()
    try:
        settings = call.settings()
    except ConfigError as error:
        yield problem("settings", str(error), error.hint or "scrubjay config")
        return
    given = sum(origin != "default" for origin in settings.origins.values())
    yield ok("settings", f"understood; {given} given, the others as they come")
    yield from examine(Case(settings, here(), mend=fix), names, agents=not other)


def _tell(check: Check) -> None:
    mark, style = MARKS[check.state]
    shown = paint(f"{mark:<8}", style, on=colourful(sys.stdout))
    mended = "mended: " if check.mended else ""
    write(f"{shown} {line(check.about):<{WIDTH}}{mended}{line(check.found)}")
    if check.fix:
        write(f"{'':<9}{'':<{WIDTH}}fix: {line(check.fix)}")


def _sum(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
