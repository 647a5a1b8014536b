"""Write figures: tables on the terminal, JSON files, rows of LOG.md."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOG = Path(__file__).with_name("LOG.md")
_RULE = "| --- | --- | --- | --- | --- | --- | --- |"


def circumstances() -> dict[str, Any]:
    """Where and on what a run was made: date, commit, machine, load, command."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "load": load(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "command": " ".join(["python -m bench", *map(_shown, sys.argv[1:])]),
    }


def commit() -> str:
    """The checkout's commit, twelve digits; followed by ``+`` when src or bench differ from it."""
    try:
        found = _git("rev-parse", "--short=12", "HEAD")
        return found + (
            "+" if _git("status", "--porcelain", "--", "src", "bench/*.py", "bench/tagger/*.py") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "no checkout"


def load() -> list[float]:
    """The machine's load averages over 1, 5 and 15 minutes; empty where it keeps none."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []


def write_json(file: Path | None, result: dict[str, Any]) -> None:
    """Write a result; None writes nothing."""
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they need to be; the first is text, the rest are aligned right.

    >>> print(table(["set", "n"], [["a", "10"]]))
    set   n
    a    10
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def spread(values: Sequence[float], digits: int = 3) -> dict[str, float]:
    """Median, least and most of repeated measurements."""
    return {
        "median": round(statistics.median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "runs": len(values),
    }


def percentiles(took: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile, least and most of milliseconds.

    >>> percentiles([1.0, 2.0, 3.0])["p50"]
    2.0
    """
    own = spread(took)
    p95 = sorted(took)[int(0.95 * (len(took) - 1))]
    return {"p50": own["median"], "p95": round(p95, 3), "min": own["min"], "max": own["max"]}


def log_rows(rows: Sequence[tuple[str, str, str]]) -> None:
    """Insert rows at the top of the table in LOG.md."""
    now = circumstances()
    text = LOG.read_text(encoding="utf-8")
    tail = f"{now['load'][0] if now['load'] else '?'} | {now['commit']} | `{now['command']}` |"
    day = now["date"][:10]
    fresh = "\n".join(f"| {day} | {what} | {value} | {state} | {tail}" for what, value, state in rows)
    before, rule, after = text.partition(_RULE)
    if not rule:
        raise ValueError(f"{LOG} has no table to put rows in.")
    LOG.write_text(f"{before}{rule}\n{fresh}{after}", encoding="utf-8")


def _shown(argument: str) -> str:
    """A command's argument, without the machine's own folders."""
    path = Path(argument)
    return path.name if path.is_absolute() else argument


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()
