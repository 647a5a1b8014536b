"""What the process that embeds in the background takes of a machine."""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line
from bench.harness import scratch
from bench.processes import command, environment, timed
from bench.report import ROOT
from bench.texts import unpack
from scrubjay.daemon.embedding import EmbeddingJob

START_SECONDS = 60.0
"""Seconds that the process has to begin."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    if not Path("/proc/self/stat").exists():
        raise HollowError("Only Linux tells what another process has used (/proc).")
    with scratch() as home:
        notes = home / "notes"
        notes.mkdir()
        unpack(args.tree, notes)
        env = environment(home) | {"SCRUBJAY_MODELS_BACKGROUND": "always", "SCRUBJAY_USER": "ann"}
        timed([*command(), "sync", str(notes)], home, env)
        data = home / ".local" / "share" / "scrubjay"
        pid = _started(EmbeddingJob(str(data), str(data / "memory.db")))
        try:
            found = _watched(pid, args.seconds)
        finally:
            os.kill(pid, signal.SIGTERM)
        models = json.loads(timed([*command(), "models", "--json"], home, env).output)["models"]
    found["embedded"] = min(model["covered"] for model in models)
    if not found["embedded"]:
        raise HollowError("Nothing was embedded.")
    print(in_line(found))
    return found


def _started(job: EmbeddingJob) -> int:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        state = job.state()
        if state is not None and state["running"] and state["pid"]:
            return int(state["pid"])
        time.sleep(0.05)
    raise HollowError("No process embeds.")


def _watched(pid: int, seconds: float) -> dict[str, Any]:
    """Return the share of a processor that a process took while it was watched, its peak of memory and its niceness."""
    begun, before = time.monotonic(), _processor_seconds(pid)
    time.sleep(seconds)
    share = (_processor_seconds(pid) - before) / (time.monotonic() - begun)
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    return {"share": round(share, 3), "peak_mb": round(int(peak) / 1024), "nice": nice}


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except FileNotFoundError as error:
        raise HollowError("It ended before it was watched for so long: take a larger tree.") from error
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tree", type=Path, default=ROOT / "docs", help="folder of Markdown, a .tar.gz, or a folder of them"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it is watched")


def _rows(found: Mapping[str, Any]) -> Sequence[Row]:
    figures = {name: value for name, value in found.items() if name != "what"}
    return [("the process that embeds in the background", in_line(figures), "sync")]


BACKGROUND = Command(__doc__, run, _options, _rows)
