"""Programs: which scrubjay do the shell and the agents start: is it there, and is it this one?"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scrubjay import __version__
from scrubjay.agents.agent import NAME, Agent
from scrubjay.doctor.case import Case
from scrubjay.doctor.wires import Wires
from scrubjay.memory.checks import Check, ok, problem, warning


def check(case: Case) -> Iterator[Check]:
    """Yield what is found on the PATH."""
    found: dict[Path, Path] = {}
    for path in on_path(case.home.env):
        found.setdefault(path.resolve(), path)
    if len(found) > 1:
        told = ", ".join(f"{path} ({version([str(path)], case)})" for path in found.values())
        yield warning(
            "program",
            f"several are installed: {told}",
            "keep one, then scrubjay install AGENT for each agent",
        )
    elif not found:
        yield ok("program", f"{__version__}; it is not on the PATH, and agents start it by its full path")
    else:
        yield ok("program", f"{__version__}, {next(iter(found.values()))}")


def on_path(env: Mapping[str, str]) -> list[Path]:
    """Return every scrubjay on the PATH, the one that a shell takes first."""
    folders = [folder for folder in env.get("PATH", "").split(os.pathsep) if folder]
    there = (shutil.which(NAME, path=folder) for folder in folders)
    return [Path(path) for path in there if path]


def started(agent: Agent, wires: Wires, case: Case) -> Check:
    """Return whether the programs that an agent's configuration names are there, and of this version."""
    about = f"{agent.name} program"
    again = f"scrubjay install {agent.name}"
    for words in sorted(set(_programs(wires))):
        path = Path(words[0])
        if not (os.access(path, os.X_OK) if path.is_absolute() else shutil.which(words[0])):
            return problem(about, f"{words[0]}, which it starts, is not there", again)
        other = version(words, case)
        if other != __version__:
            return problem(about, f"it starts {words[0]}, which is {other}; this is {__version__}", again)
    return ok(about, f"it starts {next(_programs(wires))[0]}, which is this version")


def _programs(wires: Wires) -> Iterator[tuple[str, ...]]:
    """The words before a command's name, of each command in the configuration."""
    if wires.server:
        at = wires.server.index("mcp") if "mcp" in wires.server else 1
        yield wires.server[:at]
    for command in wires.hooks.values():
        words = shlex.split(command)
        yield tuple(words[: words.index("hook")])


def version(words: Iterable[str], case: Case) -> str:
    """Return the version that a program says it is, or why it says none."""
    command = [*words, "--version"]
    env = {**case.home.env}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=case.seconds,
            env=env,
            check=False,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return f"silent for {case.seconds:g} seconds"
    except OSError as error:
        return f"unable to start ({error.strerror})"
    name, _, said = done.stdout.strip().partition(" ")
    return said if done.returncode == 0 and name == NAME and said else "no scrubjay that runs"
