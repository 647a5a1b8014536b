"""Hooks: milliseconds that an agent waits for one, as a whole process: cold, and with a resident.

    python bench/hooks.py [--memories 10000] [--runs 20] [--json FILE] [--log]

Both events that are answered, with a question that memories have to do with, and one that is not (`stop`). Each run is
the installed command, from its start to its end. Exit code 1 when a hook that should say something said nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from ask import HollowError, open_memory
from processes import command, environment
from report import circumstances, load, log_rows, write_json
from scales import texts
from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import data_folder, settings_fingerprint
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory
from trees import generate, words_of

USER = "ann"
ASKED = "What is our staging database called, and where does it live?"
KNOWN = "Our staging database is called heron and lives in Lisbon."


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {
        "what": "hooks",
        "memories": args.memories,
        "runs": args.runs,
        **circumstances(),
    }
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            place = Path(folder)
            fill(place, args.memories, args.seed)
            result["cold"] = measure(place, args.runs)
            result["resident_start_ms"] = timed([*command(), "resident", "start"], place, b"")[0]
            try:
                result["warm"] = measure(place, args.runs)
                result["resident_mb"] = resident_mb(place)
            finally:
                timed([*command(), "resident", "stop"], place, b"")
    except HollowError as error:
        print(f"hooks: {error}", file=sys.stderr)
        return 1
    result["load"] = load()
    print(json.dumps(result, indent=2))
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


def fill(place: Path, count: int, seed: int) -> None:
    """Write made-up memories, and one that answers the question."""
    words = words_of([generate(place / "trees", seed)])
    with open_memory(place / "memory.db", [StaticEmbedder()], USER) as memory:
        batch = [NewMemory(text) for text in texts(words, count - 1, seed)]
        for at in range(0, len(batch), 2_000):
            memory.add_many(batch[at : at + 2_000])
        memory.add(KNOWN)


def around(place: Path) -> dict[str, str]:
    """The environment of a machine of one's own; hooks have time to be measured to their end."""
    return environment(place) | {
        "SCRUBJAY_STORE": str(place / "memory.db"), "SCRUBJAY_USER": USER, "SCRUBJAY_HOOKS_BUDGET_MS": "10000",
        "SCRUBJAY_RESIDENT_AUTO": "false", "XDG_RUNTIME_DIR": str(place),
    }  # fmt: skip


def timed(arguments: Sequence[str], place: Path, said: bytes) -> tuple[float, bytes]:
    """Milliseconds of a command from start to end, and what it printed."""
    begun = time.perf_counter()
    done = subprocess.run(
        arguments, input=said, capture_output=True, env=around(place), cwd=place, check=True
    )
    return (time.perf_counter() - begun) * 1000, done.stdout


def measure(place: Path, runs: int) -> dict[str, dict[str, float]]:
    """Milliseconds of each event, after one run that warms the disk's cache.

    ``cpu`` is the median processor time of the hook's own process, which a busy machine moves less.

    Raises:
        HollowError: A hook was silent that had something to say.
    """
    told = {"session_id": "s", "cwd": str(place / "project")}
    events = {"prompt": told | {"prompt": ASKED}, "session-start": told | {"source": "startup"}, "stop": told}
    found: dict[str, dict[str, float]] = {}
    (place / "project").mkdir(exist_ok=True)
    for event, said in events.items():
        hook = [*command(), "hook", "claude-code", event]
        took, used = [], []
        for _ in range(runs + 1):
            before = os.times()
            ms, out = timed(hook, place, json.dumps(said).encode())
            after = os.times()
            used.append(sum(after[2:4]) - sum(before[2:4]))
            if event == "prompt" and b"heron" not in out:
                raise HollowError(f"The hook for {event} did not say what is known.")
            took.append(ms)
            quiet(place)
        found[event] = {"min": round(min(took[1:]), 1), "median": round(median(took[1:]), 1)}
        found[event] |= {"max": round(max(took[1:]), 1), "cpu": round(median(used[1:]) * 1000, 1)}
    return found


def quiet(place: Path) -> None:
    """Wait until what a session's start leaves to be done is done: no second session starts in that moment."""
    errands = JobQueue(data_folder(around(place)), settings_fingerprint(around(place)))
    while errands.waiting() or errands.busy():
        time.sleep(0.05)


def resident_mb(place: Path) -> float | None:
    """Megabytes that the resident keeps for itself; None where the system does not tell."""
    state = json.loads(timed([*command(), "resident", "status", "--json"], place, b"")[1])
    try:
        lines = Path(f"/proc/{state['pid']}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return round(sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1000, 1)


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    rows = []
    for state in ("cold", "warm"):
        figures = "; ".join(
            f"{event} min {ms['min']}, median {ms['median']}, max {ms['max']}, CPU {ms['cpu']}"
            for event, ms in result[state].items()
        )
        rows.append(
            (f"a hook as a whole process, {state}, {result['memories']:,} memories, ms", figures, "sync")
        )
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
