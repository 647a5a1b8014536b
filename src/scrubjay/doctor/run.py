"""Run every check of the installation, then of each agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from scrubjay.agents.base import AGENTS, Agent, Options, find_agent
from scrubjay.doctor import agent_commands, agent_proof, checks
from scrubjay.doctor.agent_commands import read_agent_commands
from scrubjay.doctor.agent_proof import prove_agent
from scrubjay.doctor.checks import Installation
from scrubjay.errors import InputError
from scrubjay.models.reports import OK, Check, check_ok, check_problem, check_warning

INSTALLATION_CHECKS: Final[tuple[Callable[[Installation], Iterator[Check]], ...]] = (
    agent_commands.check_programs,
    checks.check_files,
    checks.check_store,
    checks.check_models,
    checks.check_oauth,
    checks.check_background,
    checks.check_log,
    agent_proof.check_leftover_markers,
)


def run_checks(
    installation: Installation, names: Sequence[str] = (), *, agents: bool = True
) -> Iterator[Check]:
    """Yield every check: of the installation, then of each agent it is installed for.

    Without ``names`` every installed agent is checked, which uses the settings' own store.

    Raises:
        InputError: No agent has such a name.
    """
    chosen = [find_agent(name) for name in names] or [find_agent(name) for name in AGENTS]
    for check in INSTALLATION_CHECKS:
        yield from check(installation)
    if not agents:
        return
    is_installed = False
    for agent in chosen:
        for agent_check in _check_agent(agent, installation, asked=bool(names)):
            is_installed = True
            yield agent_check
    if not is_installed:
        yield check_warning("agents", "scrubjay is not installed in any agent", "scrubjay install --list")


def _check_agent(agent: Agent, installation: Installation, *, asked: bool) -> Iterator[Check]:
    check_name, fix = f"{agent.name} configuration", f"scrubjay install {agent.name}"
    try:
        parts = agent.installed_parts(installation.home)
        commands = read_agent_commands(agent, installation.home)
        ignored = agent.ignored_at(installation.home, Options())
    except InputError as error:
        if asked or agent.is_present(installation.home):
            yield check_problem(check_name, str(error), error.hint or "fix the file")
        return
    if not any(parts.values()):
        if asked:
            yield check_problem(check_name, "scrubjay is not configured in it", fix)
        return
    missing = [name for name, is_present in parts.items() if not is_present]
    if "hooks" in missing and ignored:
        fix = (
            f"remove the comment or comma at {ignored}, for which {agent.title} ignores the file; then {fix}"
        )
    if missing:
        yield check_warning(check_name, f"without {', '.join(missing)}", fix)
    else:
        yield check_ok(check_name, f"in place: {', '.join(parts)}")
    yield from agent_commands.check_trust(agent, installation)
    if not commands.server and not commands.hooks:
        return
    start = agent_commands.check_agent_programs(agent, commands, installation)
    yield start
    if start.state != OK:
        return
    if reason := checks.hooks_off_reason(installation, agent.name):
        yield check_warning(
            f"{agent.name} proof", f"skipped: {reason}", "scrubjay resume, or unset SCRUBJAY_OFF"
        )
        return
    with checks.daemon_running(installation):
        proof = prove_agent(agent, commands, installation)
    yield from proof
