"""Write README's table of results from bench/results, or check it.

    python scripts/generate_results.py            write
    python scripts/generate_results.py --check    exit 1 when the table is not what the results say

Of each set the newest run with the product's own settings counts, after `embed`. Where there is none, README
has no table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "bench" / "results"
START, END = "<!-- results: make docs -->", "<!-- end of results -->"
COLUMNS = ("recall@5", "recall@10", "hit@5", "ndcg@10")


def newest(folder: Path = RESULTS) -> dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return each set's newest whole run after `embed`: its figures, and the run they are of."""
    found: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
    runs = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("quality-*.json"))]
    for run in sorted(runs, key=lambda run: str(run["date"])):
        if run["state"] == "embed" and not run["options"] and "--limit-queries" not in run["command"]:
            found |= {name: (measured, run) for name, measured in run["sets"].items()}
    return dict(sorted(found.items()))


def table(found: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[str]:
    """Yield the lines of the table, its commands below it."""
    if not found:
        return
    yield f"| set, task | queries | {' | '.join(COLUMNS)} |"
    yield f"| --- | ---: | {' | '.join('---:' for _ in COLUMNS)} |"
    for name, (measured, _) in found.items():
        for task, own in measured["tasks"].items():
            if all(column in own["metrics"] for column in COLUMNS):
                cells = [f"{own['metrics'][column]['mean']:.3f}".lstrip("0") for column in COLUMNS]
                yield f"| {name}, {task} | {own['queries']} | {' | '.join(cells)} |"
    yield ""
    yield "After `scrubjay embed`; intervals, states and negative results: [bench/LOG.md](bench/LOG.md)."
    commands = {f"`{run['command']}` at {run['commit']}, {run['date'][:10]}" for _, run in found.values()}
    yield from (f"Command: {command}." for command in sorted(commands))


def page(text: str) -> str:
    """Return README with the table made anew.

    Raises:
        SystemExit: It does not hold both marks.
    """
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise SystemExit(f"README.md does not hold {START} and {END}.")
    lines = "\n".join(table(newest()))
    return before + START + "\n" + (lines + "\n" if lines else "") + END + after


def main() -> int:
    old = README.read_text("utf-8")
    new = page(old)
    if "--check" in sys.argv[1:]:
        if old != new:
            print("README.md's results are not those of bench/results; run: make docs")
        return int(old != new)
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
