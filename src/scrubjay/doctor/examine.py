"""Examine: an installation -> what is found of it, check by check, while it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from scrubjay.agents.agent import Agent
from scrubjay.agents.all import AGENTS, find
from scrubjay.doctor import files, lately, marks, models, programs, running, store
from scrubjay.doctor.case import Case
from scrubjay.doctor.proof import prove
from scrubjay.doctor.wires import wires
from scrubjay.errors import InputError
from scrubjay.memory.checks import OK, Check, ok, problem, warning

GENERAL: Final[tuple[Callable[[Case], Iterator[Check]], ...]] = (
    programs.check,
    files.check,
    store.check,
    models.check,
    running.check,
    lately.check,
    marks.sweep,
)


def examine(case: Case, names: Sequence[str] = (), *, agents: bool = True) -> Iterator[Check]:
    """Yield every check: of the installation, then of each agent that it is installed for.

    Args:
        case: The installation.
        names: Agents to look at; none takes every agent that it is installed for.
        agents: Whether agents are looked at; they use the settings' own store.

    Raises:
        InputError: No agent has such a name.
    """
    chosen = [find(name) for name in names] or [find(name) for name in AGENTS]
    for check in GENERAL:
        yield from check(case)
    if not agents:
        return
    seen = False
    for agent in chosen:
        for found in _agent(agent, case, asked=bool(names)):
            seen = True
            yield found
    if not seen:
        yield warning("agents", "it is installed for none", "scrubjay install --list")


def _agent(agent: Agent, case: Case, *, asked: bool) -> Iterator[Check]:
    about, again = f"{agent.name} configuration", f"scrubjay install {agent.name}"
    try:
        parts = agent.installed(case.home)
        reached = wires(agent, case.home)
    except InputError as error:
        if asked or agent.found(case.home):
            yield problem(about, str(error), error.hint or "mend the file")
        return
    if not any(parts.values()):
        if asked:
            yield problem(about, "scrubjay is not in it", again)
        return
    missing = [name for name, there in parts.items() if not there]
    if missing:
        yield warning(about, f"without {', '.join(missing)}", again)
    else:
        yield ok(about, f"in place: {', '.join(parts)}")
    if not reached.server and not reached.hooks:
        return
    start = programs.started(agent, reached, case)
    yield start
    if start.state != OK:
        return
    if why := running.off(case, agent.name):
        yield warning(f"{agent.name} proof", f"left out: {why}", "scrubjay resume, or unset SCRUBJAY_OFF")
        return
    with running.as_in_a_session(case):
        found = prove(agent, reached, case)
    yield from found
