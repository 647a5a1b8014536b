"""Code structure: how much code there is, and how much of it one cold search and one small sync go through.

    python bench/code_structure.py [--rounds 9] [--log]

Nothing here names a module, so that figures before and after a move compare. The commands are those of the installed
console script, each in a process of its own, with no resident, on a new store of one note of two passages:

- modules and lines under src;
- own modules that a cold search has loaded when it ends;
- of a cold search and a sync, own functions that were called, files they are in, and changes of the top-level
  package in the order in which functions are first called; what runs while a module is imported is not counted;
- the sync's views (``BEGIN``) and write transactions (``BEGIN IMMEDIATE``) of SQLite;
- processor time of a cold search, whole process, over that of ``python -c "import numpy"``, in turns: the median.

Exit code 1 when a command failed or found nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from report import log_rows

SOURCE = Path(__file__).resolve().parents[1] / "src" / "scrubjay"
NOTE = "# Staging\n\nWe roll back staging with `make rollback`.\n\n# Office\n\nThe office is in Bergen.\n"
QUESTION = "roll back staging"
TRACED = """
import inspect, json, os, sys
from importlib.metadata import entry_points
root, out, statements = sys.argv[1] + os.sep, sys.argv[2], []
if sys.argv[3] == "sync":
    import apsw
    def seen(cursor, sql, bindings):
        statements.append(sql)
        return True
    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(seen))
sys.argv = ["scrubjay", *sys.argv[3:]]
functions, importing, calls = {}, 0, 0
def trace(frame, event, _):
    global importing, calls
    code = frame.f_code
    if event not in ("call", "return") or not code.co_filename.startswith(root):
        return
    if not code.co_flags & inspect.CO_OPTIMIZED:  # a module's or a class's body
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing and not code.co_name.startswith("<"):
        calls += 1
        functions.setdefault((code.co_filename, code.co_firstlineno, code.co_name))
(main,) = entry_points(group="console_scripts", name="scrubjay")
sys.setprofile(trace)
try:
    code = main.load()()
except SystemExit as end:
    code = end.code
sys.setprofile(None)
packages = [os.path.relpath(file, root).split(os.sep)[0] for file, _, _ in functions]
found = {
    "code": code or 0,
    "modules": sum(name.partition(".")[0] == "scrubjay" for name in sys.modules),
    "functions": len(functions),
    "files": len({file for file, _, _ in functions}),
    "switches": sum(a != b for a, b in zip(packages, packages[1:])),
    "calls": calls,
    "views": sum(one.split() == ["BEGIN"] for one in statements),
    "writes": sum(one.split() == ["BEGIN", "IMMEDIATE"] for one in statements),
}
with open(out, "w") as file:
    json.dump(found, file)
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description="How much code one search and one sync go through.")
    parser.add_argument("--rounds", type=int, default=9, help="turns of search and numpy")
    parser.add_argument("--log", action="store_true", help="add a row to bench/LOG.md")
    args = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            rows = measured(Path(folder), args.rounds)
    except (subprocess.CalledProcessError, HollowError) as error:
        print(f"code_structure: {error}", file=sys.stderr)
        return 1
    for name, figure in rows.items():
        print(f"{name:<55} {figure}")
    if args.log:
        log_rows([("code structure", "; ".join(f"{name} {figure}" for name, figure in rows.items()), "n/a")])
    return 0


class HollowError(Exception):
    """A run that measured nothing."""


def measured(folder: Path, rounds: int) -> dict[str, str]:
    """Return what was measured, in words."""
    files = sorted(SOURCE.rglob("*.py"))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    notes = folder / "notes"
    notes.mkdir()
    (notes / "ops.md").write_text(NOTE, "utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")} | {
        "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder),
        "SCRUBJAY_STORE": str(folder / "memory.db"), "SCRUBJAY_RESIDENT_AUTO": "false",
    }  # fmt: skip
    script = Path(sys.executable).with_name("scrubjay")
    _run([script, "add", "The store is there before anything is measured."], env)
    sync = _traced(["sync", str(notes)], folder, env)
    search = [str(script), "search", QUESTION]
    if b"make rollback" not in _run(search, env):
        raise HollowError("The search did not find the note.")
    found = _traced(["search", QUESTION], folder, env)
    numpy = [sys.executable, "-c", "import numpy"]
    _run(numpy, env)
    turns = [(_cost(search, env), _cost(numpy, env)) for _ in range(rounds)]
    ratio = statistics.median(one / other for one, other in turns)
    apart = ", ".join(f"{statistics.median(side):.3f} s" for side in zip(*turns, strict=True))
    return {
        "modules / lines under src": f"{len(files):,} / {lines:,}",
        "own modules loaded by a cold search": f"{found['modules']:,}",
        "functions / files / package switches of a cold search": _parts(found),
        "functions / files / package switches of a small sync": _parts(sync),
        "views / write transactions of that sync": f"{sync['views']} / {sync['writes']}",
        "cold search / import numpy, processor time": f"{ratio:.2f} ({apart})",
    }


def _parts(found: dict[str, Any]) -> str:
    return f"{found['functions']} / {found['files']} / {found['switches']}"


def _run(command: Sequence[str | Path], env: dict[str, str]) -> bytes:
    return subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE).stdout


def _traced(words: Sequence[str], folder: Path, env: dict[str, str]) -> dict[str, Any]:
    """Run a command in a new process and return what went through it."""
    out = folder / "traced.json"
    _run([sys.executable, "-c", TRACED, str(SOURCE), str(out), *words], env)
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    if found["code"] or not found["functions"]:
        raise HollowError(
            f"scrubjay {words[0]} ended with {found['code']} after {found['functions']} functions."
        )
    return found


def _cost(command: Sequence[str], env: dict[str, str]) -> float:
    """Return the processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(command, env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
