"""Cold commands, where their time goes, and the memory of a running process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.command import HollowError
from bench.report import ROOT, spread

_STAGES = """
import time
marks = [("", time.perf_counter())]
def mark(name):
    marks.append((name, time.perf_counter()))
import scrubjay.cli.main
from scrubjay.config.loader import load_settings
from scrubjay.memory import Memory
from scrubjay.embeddings.static import StaticEmbedder
settings = load_settings()
mark("imports")
model = StaticEmbedder(cache_dir=settings.cache_dir)
model.embed([{query!r}])
mark("model")
memory = Memory.open({store!r}, user={user!r}, settings=settings, embedders=[model])
mark("open")
memory.search({query!r})
mark("query")
import json
print(json.dumps([(name, at - before) for (_, before), (name, at) in zip(marks, marks[1:])]))
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


def cold(arguments: Sequence[str], home: Path, runs: int) -> dict[str, float]:
    """Seconds of a command started afresh `runs` times, after one that warms the disk's cache.

    Beside the spread of wall time, ``cpu`` is the mean processor time, which a busy machine moves less.
    """
    timed(arguments, home)
    times = [timed(arguments, home) for _ in range(runs)]
    return spread([one.seconds for one in times]) | {"cpu": round(sum(one.cpu for one in times) / runs, 3)}


def stages(store: Path, user: str, query: str, home: Path, runs: int) -> dict[str, float]:
    """Median seconds of each stage of a cold search: python, imports, model, open, query."""
    code = _STAGES.format(store=str(store), user=user, query=query)
    found: dict[str, list[float]] = {"python": []}
    for _ in range(runs):
        found["python"].append(timed([sys.executable, "-c", "pass"], home).seconds)
        for name, took in json.loads(timed([sys.executable, "-c", code], home).output):
            found.setdefault(name, []).append(took)
    return {name: round(median(values), 4) for name, values in found.items()}


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
