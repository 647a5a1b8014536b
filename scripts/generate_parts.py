"""Write the parts of hand-written pages that come from the code or from results, or check them.

    python scripts/generate_parts.py            write
    python scripts/generate_parts.py --check    exit 1 and name the parts that are out of date

A part stands between `<!-- NAME: make docs -->` and `<!-- end of NAME -->`. Whole pages are written by
`generate_docs.py`.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "scrubjay"
RESULTS = ROOT / "bench" / "results"
METRICS = ("recall@5", "recall@10", "hit@5", "ndcg@10")
RANKING = ("search", "storage/scoring.py", "text/tokenizer.py")
"""Places of the constants that decide the ranking."""


def numbers() -> Iterator[str]:
    """Yield a table of the constants that decide the ranking, with the reason below each."""
    yield "| where | number | value | why |"
    yield "| --- | --- | ---: | --- |"
    for place in RANKING:
        path = PACKAGE / place
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from _constants(module)


def _constants(module: Path) -> Iterator[str]:
    body = ast.parse(module.read_text("utf-8")).body
    for node, after in itertools.pairwise(body):
        reason = _text(after)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None or not reason:
            continue
        name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
        if name.isupper() and _numeric(node.value):
            where = module.relative_to(PACKAGE)
            yield f"| `{where}` | `{name}` | {ast.unparse(node.value)} | {reason} |"


def _text(node: ast.stmt) -> str:
    """Return the string below a constant as one line of Markdown."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return ""
    return " ".join(str(node.value.value).split()).replace("``", "`").replace("|", "/")


def _numeric(value: ast.expr) -> bool:
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(each, ast.Constant) and isinstance(each.value, int | float) for each in values)


def results() -> Iterator[str]:
    """Yield each set's figures after `embed`, of its newest whole run with the product's own settings."""
    sets: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    runs = [json.loads(file.read_text("utf-8")) for file in RESULTS.glob("quality-*.json")]
    for run in sorted(runs, key=lambda run: str(run["date"])):
        if run["state"] == "embed" and not run["options"] and "--limit-queries" not in run["command"]:
            sets |= {name: (measured, run) for name, measured in run["sets"].items()}
    if not sets:
        return
    yield f"| set, task | queries | {' | '.join(METRICS)} |"
    yield f"| --- | ---: | {' | '.join('---:' for _ in METRICS)} |"
    for name, (measured, _) in sorted(sets.items()):
        for task, own in measured["tasks"].items():
            if all(metric in own["metrics"] for metric in METRICS):
                cells = [f"{own['metrics'][metric]['mean']:.3f}" for metric in METRICS]
                yield f"| {name}, {task} | {own['queries']} | {' | '.join(cells)} |"
    yield ""
    yield "After `scrubjay embed`; intervals, states and negative results: [bench/LOG.md](LOG.md)."
    # Older results name a script of their own time.
    commands = {
        f"`{run['command'].replace('bench/quality.py', '-m bench quality')}` at {run['commit']}, {run['date'][:10]}"
        for _, run in sets.values()
    }
    yield from (f"Command: {command}." for command in sorted(commands))


def rivals() -> tuple[str, dict[str, list[str]]]:
    """Return commit and date of the run beside other tools, and its medians on the Rust book by row."""
    page = (ROOT / "bench" / "TABLES.md").read_text("utf-8").partition("<!-- rivals: ")[2]
    about = re.search(r"^(\S+), (commit \w{8})", page, re.MULTILINE)
    table = re.search(r"^\*\*rust_book: .*?\n\n(.*?)\n\n", page, re.MULTILINE | re.DOTALL)
    assert about is not None
    assert table is not None
    rows: dict[str, list[str]] = {}
    for line in table[1].splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = [re.sub(r" \(.*?\)", "", cell) for cell in cells[:3]]
    return f"{about[2]}, {about[1]}", rows


def headline() -> Iterator[str]:
    """Yield the three rows of the README: the newest run of LongMemEval, and two of the run beside other tools."""
    name, task = "longmemeval_s", "session"
    runs = [json.loads(file.read_text("utf-8")) for file in RESULTS.glob("quality-*.json")]
    run = max((run for run in runs if name in run["sets"]), key=lambda run: str(run["date"]))
    own = run["sets"][name]["tasks"][task]
    first, every = (f"{own['metrics'][metric]['mean']:.3f}" for metric in ("hit@5", "all@5"))
    _, rows = rivals()
    hits, syncs = rows["known items, the right file first"], rows["first sync, until searchable, s"]
    yield "| | scrubjay | others | command |"
    yield "| --- | --- | --- | --- |"
    yield (
        f"| LongMemEval-S: share of questions with a right conversation in the first five; with all of them | {first}; "
        f"{every} ({own['queries']} questions) | MemPalace v4 0.984; 0.870 (450 questions, published) | "
        f"`python -m bench quality --data DIR --state {run['state']} --sets {name} --limit-queries {own['queries']}` |"
    )
    yield (
        f"| Rust book, 112 files: share of queries with the right file first | {hits[0]} | QMD, words only {hits[1]}; "
        f"SQLite FTS5 {hits[2]} | `python -m bench speed --rivals --tree DIR --qmd PATH` |"
    )
    yield (
        f"| the same run: seconds until a first sync is searchable | {syncs[0]} | QMD, words only {syncs[1]}; "
        f"FTS5 {syncs[2]} | as above |"
    )


def beside() -> Iterator[str]:
    """Yield the shorter table of the comparison."""
    run, rows = rivals()
    yield f"| Rust book, {run} | scrubjay | QMD (words only) | bare SQLite FTS5 |"
    yield "| --- | ---: | ---: | ---: |"
    for name in (
        "known items, the right file first",
        "first sync, until searchable, s",
        "sync, nothing changed, s",
        "sync, one file changed, until searchable, s",
        "cold search, s",
        "warm search, in a process, ms",
        "index, MB",
        "peak memory of the first sync, MB",
    ):
        yield f"| {name} | {' | '.join(rows[name])} |"


PARTS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "results": ("bench/TABLES.md", results),
    "numbers": ("docs/reference/ranking.md", numbers),
    "headline": ("README.md", headline),
    "beside": ("docs/benchmarks.md", beside),
}


def renewed(text: str, name: str, lines: Iterator[str]) -> str:
    """Return a page with one part renewed.

    Raises:
        SystemExit: The page does not hold both marks.
    """
    start, end = f"<!-- {name}: make docs -->\n", f"<!-- end of {name} -->"
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"{PARTS[name][0]} does not hold {start.strip()} and {end}.")
    return before + start + "".join(line + "\n" for line in lines) + end + after


def main() -> int:
    """Write or check every part."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for name, (place, make) in PARTS.items():
        page = ROOT / place
        old = page.read_text("utf-8")
        new = renewed(old, name, make())
        if new == old:
            continue
        stale += 1
        print(f"{place}: {name} {'is out of date; run: make docs' if check else 'written'}")
        if check:
            before, after = set(old.splitlines()), set(new.splitlines())
            print("\n".join(f"{'+' if line in after else '-'} {line}" for line in sorted(before ^ after)))
        else:
            page.write_text(new, "utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
