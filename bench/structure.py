"""How much code there is, and how much of it one cold search and one small sync go through.

The commands are those of the installed console script, each in a process of its own, without the resident, on a new
store of one note of two passages:

- modules and lines under src; own modules that a cold search has loaded when it ends;
- of a cold search and a sync, own functions that were called, files they are in, and changes of the top-level package
  in the order in which functions are first called; what runs while a module is imported is not counted;
- the sync's views (``BEGIN``) and write transactions (``BEGIN IMMEDIATE``) of SQLite;
- processor time of a cold search, whole process, over that of ``python -c "import numpy"``, in turns: the median.

No module is named here, so that figures before and after a move compare.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.command import Command, HollowError, Row, in_line
from bench.harness import scratch
from bench.processes import command, environment, timed
from bench.report import ROOT

SOURCE = ROOT / "src" / "scrubjay"
NOTE = "# Staging\n\nWe roll back staging with `make rollback`.\n\n# Office\n\nThe office is in Bergen.\n"
QUESTION = "roll back staging"
TRACED = """
import inspect, json, os, sys
from importlib.metadata import entry_points
root, out, statements = sys.argv[1] + os.sep, sys.argv[2], []
if sys.argv[3] == "sync":
    import apsw
    def log(cursor, sql, bindings):
        statements.append(sql)
        return True
    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(log))
sys.argv = ["scrubjay", *sys.argv[3:]]
functions, importing = {}, 0
def trace(frame, event, _):
    global importing
    code = frame.f_code
    if event not in ("call", "return") or not code.co_filename.startswith(root):
        return
    if not code.co_flags & inspect.CO_OPTIMIZED:  # a module's or a class's body
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing and not code.co_name.startswith("<"):
        functions.setdefault((code.co_filename, code.co_firstlineno, code.co_name))
(main,) = entry_points(group="console_scripts", name="scrubjay")
os._exit = sys.exit  # the command ends without the interpreter's teardown
sys.setprofile(trace)
try:
    code = main.load()()
except SystemExit as end:
    code = end.code
sys.setprofile(None)
packages = [os.path.relpath(file, root).split(os.sep)[0] for file, _, _ in functions]
counts = {
    "code": code or 0,
    "modules": sum(name.partition(".")[0] == "scrubjay" for name in sys.modules),
    "functions": len(functions),
    "files": len({file for file, _, _ in functions}),
    "switches": sum(a != b for a, b in zip(packages, packages[1:])),
    "views": sum(one.split() == ["BEGIN"] for one in statements),
    "writes": sum(one.split() == ["BEGIN", "IMMEDIATE"] for one in statements),
}
with open(out, "w") as file:
    json.dump(counts, file)
"""


def run(args: argparse.Namespace) -> dict[str, Any]:
    with scratch() as folder:
        figures = measure(folder, args.rounds)
    for name, value in figures.items():
        print(f"{name:<55} {value}")
    return {"figures": figures}


def measure(folder: Path, rounds: int) -> dict[str, str]:
    """Each figure in words."""
    files = sorted(SOURCE.rglob("*.py"))
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    notes = folder / "notes"
    notes.mkdir()
    (notes / "ops.md").write_text(NOTE, "utf-8")
    env = environment(folder) | {
        "XDG_RUNTIME_DIR": str(folder),
        "SCRUBJAY_STORE": str(folder / "memory.db"),
        "SCRUBJAY_RESIDENT_AUTO": "false",
    }
    timed([*command(), "add", "The store is there before anything is measured."], folder, env)
    sync = _traced(["sync", str(notes)], folder, env)
    cold_search, numpy = [*command(), "search", QUESTION], [sys.executable, "-c", "import numpy"]
    if "make rollback" not in timed(cold_search, folder, env).output:
        raise HollowError("The search did not find the note.")
    search = _traced(["search", QUESTION], folder, env)
    timed(numpy, folder, env)
    turns = [[timed(one, folder, env).cpu for one in (cold_search, numpy)] for _ in range(rounds)]
    ratio = statistics.median(one / other for one, other in turns)
    apart = ", ".join(f"{statistics.median(side):.3f} s" for side in zip(*turns, strict=True))
    return {
        "modules / lines under src": f"{len(files):,} / {lines:,}",
        "own modules loaded by a cold search": f"{search['modules']:,}",
        "functions / files / package switches of a cold search": _parts(search),
        "functions / files / package switches of a small sync": _parts(sync),
        "views / write transactions of that sync": f"{sync['views']} / {sync['writes']}",
        "cold search / import numpy, processor time": f"{ratio:.2f} ({apart})",
    }


def _parts(counts: Mapping[str, Any]) -> str:
    return f"{counts['functions']} / {counts['files']} / {counts['switches']}"


def _traced(arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> dict[str, Any]:
    out = folder / "traced.json"
    timed([sys.executable, "-c", TRACED, str(SOURCE), str(out), *arguments], folder, env)
    counts: dict[str, Any] = json.loads(out.read_text("utf-8"))
    if counts["code"] or not counts["functions"]:
        raise HollowError(f"scrubjay {arguments[0]} ended with {counts['code']}: {counts}")
    return counts


def _rows(result: Mapping[str, Any]) -> list[Row]:
    return [("code structure", in_line(result["figures"]), "n/a")]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=9, help="turns of search and numpy")


STRUCTURE = Command(__doc__, run, _options, _rows)
