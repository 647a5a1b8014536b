"""Cold commands, their time and memory, and the memory of a running process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.command import HollowError
from bench.report import ROOT

_WATCH = """
import json, os, subprocess, sys, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
line = process.stdout.readline()
first = time.perf_counter() - begun
output = (line + process.stdout.read()).decode("utf-8", "replace")
_, status, used = os.wait4(process.pid, 0)
seconds = time.perf_counter() - begun
peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
json.dump([first, seconds, used.ru_utime + used.ru_stime, peak, output], sys.stdout)
sys.exit(os.waitstatus_to_exitcode(status))
"""

_HOLD = """
import json, sys
sys.path.insert(0, {root!r})
from scrubjay.memory import Memory
memory = Memory.open({store!r}, user={user!r}, {options})
for query in json.loads({queries!r}):
    memory.search(query)
print("ready", flush=True)
sys.stdin.readline()
"""


def command() -> list[str]:
    """The installed ``scrubjay`` command, or its module where no script is installed."""
    script = Path(sys.executable).with_name("scrubjay")
    return [str(script)] if script.exists() else [sys.executable, "-m", "scrubjay"]


def environment(home: Path) -> dict[str, str]:
    """An environment without this machine's settings, whose caches last as long as `home`.

    Bytecode may be written, as an installation has it: compiling each module is not a part of a cold command.
    """
    other = ("SCRUBJAY_", "XDG_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(other)}
    return kept | {"HOME": str(home), "SCRUBJAY_MODELS_BACKGROUND": "never"}


class Timed(NamedTuple):
    """Wall and processor seconds of a command, and its output."""

    seconds: float
    cpu: float
    output: str


def timed(
    arguments: Sequence[str],
    home: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    cwd: Path | None = None,
) -> Timed:
    """Run a command from start to end, as a shell sees it."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run(
        arguments, input=stdin, capture_output=True, text=True, env=env or environment(home), cwd=cwd
    )
    seconds, after = time.perf_counter() - begun, os.times()
    if done.returncode:
        reason = done.stderr.strip()[-500:]
        raise HollowError(f"{' '.join(arguments[:3])} ended with {done.returncode}: {reason}")
    return Timed(seconds, sum(after[2:4]) - sum(before[2:4]), done.stdout)


class Watched(NamedTuple):
    """Seconds of a command until its first line of output, until its end and of processor; megabytes at its peak."""

    first_line: float
    seconds: float
    cpu: float
    peak: float
    output: str


def watched(arguments: Sequence[str], env: Mapping[str, str]) -> Watched:
    """Run a command below a small process of its own: the system counts a parent's memory with a child's."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _WATCH, *arguments], capture_output=True, text=True, env=env
    )
    if done.returncode:
        reason = done.stderr.strip()[-500:] or done.stdout.strip()[-500:]
        raise HollowError(f"{' '.join(arguments[:3])} ended with {done.returncode}: {reason}")
    return Watched(*json.loads(done.stdout))


def memory_of(
    store: Path, user: str, queries: Sequence[str], home: Path, *, processes: int, options: str
) -> list[dict[str, float]]:
    """Megabytes (`megabytes`) of each of several processes that searched the same and wait, all alive at once.

    `options` is Python source, further arguments of ``Memory.open``. Nothing where the system has no such figures.
    """
    if not Path("/proc/self/smaps_rollup").exists():
        return []
    asked = json.dumps(list(queries))
    code = _HOLD.format(store=str(store), user=user, options=options, queries=asked, root=str(ROOT))
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(home),
        )
        for _ in range(processes)
    ]
    try:
        for process in running:
            if process.stdout is None or process.stdout.readline() != "ready\n":
                raise HollowError("A process ended before it had asked its queries.")
        return [megabytes(Path(f"/proc/{process.pid}/smaps_rollup").read_text()) for process in running]
    finally:
        for process in running:
            process.communicate("end\n")


def megabytes(rollup: str) -> dict[str, float]:
    r"""Sizes from ``smaps_rollup``, whose numbers are in kB.

    >>> megabytes("Rss: 2048 kB\nPss: 1024 kB\nPrivate_Dirty: 512 kB\nShared_Clean: 1536 kB")
    {'private': 0.5, 'shared': 1.5, 'rss': 2.0, 'pss': 1.0}
    """
    sizes: dict[str, int] = {}
    for line in rollup.splitlines():
        name, _, rest = line.partition(":")
        if rest.strip().endswith("kB"):
            sizes[name] = int(rest.split()[0])
    found = {
        "private": sizes.get("Private_Clean", 0) + sizes.get("Private_Dirty", 0),
        "shared": sizes.get("Shared_Clean", 0) + sizes.get("Shared_Dirty", 0),
        "rss": sizes.get("Rss", 0),
        "pss": sizes.get("Pss", 0),
    }
    return {name: round(size / 1024, 1) for name, size in found.items()}
