"""Other tools on the same trees in the same run: syncs, searches, disk, memory, and the right file first.

Everything that a person waits for is a command of its own, in a fresh home: the first sync until it says that all is
searchable and until it ends, a sync without a change and after one file changed, a search. Warm searches are asked of
a library that is open, and of a server, one client. The tools take turns, each round begins with another, each has a
copy of the tree, and after its sync each must find the paragraph that was put into it. A known item is a heading,
lower-cased, one content word dropped where it has more than three; its file must come first.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from bench.command import HollowError, Row
from bench.fts5 import Fts5
from bench.harness import embedders, open_memory, scratch
from bench.processes import Watched, command, environment, watched
from bench.report import ROOT, circumstances, load, table
from bench.serving import served
from bench.texts import USER, KnownItem, Tree, generate, known_items, unpack, varied

PAGE = ROOT / "bench" / "TABLES.md"
TOP = 5
COLD = 3
"""Cold searches of a round."""
ASKED = 50
"""Questions to a server, at most."""
MANY = 5_000
"""A tree of more files is measured twice, whatever `--runs` says."""
LETTERS = "bdfgklmnprst"
MARKS = ("<!-- rivals: python -m bench speed --rivals --write -->", "<!-- end of rivals -->")
UNMEASURED = (
    "Not measured: memsearch 0.4 needs an embedding model from a hub or a service before it indexes anything; "
    "basic-memory 0.24 needs Python 3.12."
)
NO_QMD = """QMD is not measured: there is no `qmd` on the path, and no --qmd PATH.
Install it into a folder of its own, where its package.json pins better-sqlite3, since 13 crashes on Node 20:
  echo '{"dependencies": {"@tobilu/qmd": "2.8.3"}, "overrides": {"better-sqlite3": "12.4.1"}}' > package.json
  npm install
and pass --qmd node_modules/.bin/qmd."""
WARM_QMD = """
const { createStore } = await import(process.argv[1]);
const store = await createStore({ dbPath: process.argv[2] });
const found = [];
for (const query of JSON.parse(process.argv[3])) {
  const begun = performance.now();
  const results = await store.searchLex(query, { limit: 5 });
  found.push([performance.now() - begun, results.map((one) => one.filepath)]);
}
console.log(JSON.stringify(found));
await store.close();
"""

Found = tuple[float, list[str]]
"""Milliseconds of a search, and the paths of its results below the tree, best first."""


class Tool(Protocol):
    """One of those compared; ``home`` is where it keeps everything."""

    name: str

    def first(self, home: Path, tree: Path) -> list[str]:
        """Command that indexes a tree."""

    def again(self, home: Path, tree: Path) -> list[str]:
        """Command that brings the index up to date."""

    def search(self, home: Path, query: str) -> list[str]:
        """Command that prints the best five."""

    def index(self, home: Path) -> Path:
        """Folder of the index."""

    def warm(self, home: Path, tree: Path, queries: Sequence[str]) -> list[Found]:
        """Ask the open library."""

    def served(self, home: Path, queries: Sequence[str]) -> list[float]:
        """Milliseconds of each question to the server; none where there is no server."""


class Scrubjay:
    name = "scrubjay"

    def first(self, home: Path, tree: Path) -> list[str]:
        return [*command(), "sync", str(tree)]

    def again(self, home: Path, tree: Path) -> list[str]:
        return [*command(), "sync"]

    def search(self, home: Path, query: str) -> list[str]:
        return [*command(), "search", "--limit", str(TOP), query]

    def index(self, home: Path) -> Path:
        return home / ".local" / "share" / "scrubjay"

    def warm(self, home: Path, tree: Path, queries: Sequence[str]) -> list[Found]:
        found = []
        with open_memory(self.index(home) / "memory.db", embedders(), USER) as memory:
            for query in queries:
                begun = time.perf_counter()
                results = memory.search(query, limit=TOP).results
                took = (time.perf_counter() - begun) * 1000
                found.append((took, [_below(one.path, tree) for one in results]))
        return found

    def served(self, home: Path, queries: Sequence[str]) -> list[float]:
        with served(environ(home), None) as (port, _):
            asked = [
                ("GET", "/v1/search?" + urlencode({"query": query, "limit": TOP}), "") for query in queries
            ]
            return _ask(port, asked)


class Qmd:
    name = "QMD"

    def __init__(self, program: Path) -> None:
        self._program = str(program)
        self._library = program.resolve().parents[1] / "dist" / "index.js"

    def first(self, home: Path, tree: Path) -> list[str]:
        return [self._program, "collection", "add", str(tree), "--name", "tree"]

    def again(self, home: Path, tree: Path) -> list[str]:
        return [self._program, "update"]

    def search(self, home: Path, query: str) -> list[str]:
        return [self._program, "search", query, "-n", str(TOP)]

    def index(self, home: Path) -> Path:
        return home / ".cache" / "qmd"

    def warm(self, home: Path, tree: Path, queries: Sequence[str]) -> list[Found]:
        given = [str(self._library), str(self.index(home) / "index.sqlite"), json.dumps(queries)]
        done = watched(["node", "--input-type=module", "-e", WARM_QMD, "--", *given], environ(home))
        return [
            (took, [path.removeprefix("qmd://tree/") for path in paths])
            for took, paths in json.loads(done.output)
        ]

    def served(self, home: Path, queries: Sequence[str]) -> list[float]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [self._program, "mcp", "--http", "--port", str(port)],
            env=environ(home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port, process)
            bodies = [
                {"searches": [{"type": "lex", "query": query}], "limit": TOP, "rerank": False}
                for query in queries
            ]
            return _ask(port, [("POST", "/query", json.dumps(body)) for body in bodies])
        finally:
            process.terminate()
            process.wait(30)


class BareFts5:
    name = "FTS5"

    def _command(self, home: Path, *words: str) -> list[str]:
        return [
            sys.executable,
            str(Path(__file__).with_name("fts5.py")),
            str(self.index(home) / "index.db"),
            *words,
        ]

    def first(self, home: Path, tree: Path) -> list[str]:
        self.index(home).mkdir()
        return self.again(home, tree)

    def again(self, home: Path, tree: Path) -> list[str]:
        return self._command(home, "sync", str(tree))

    def search(self, home: Path, query: str) -> list[str]:
        return self._command(home, "search", query)

    def index(self, home: Path) -> Path:
        return home / "fts5"

    def warm(self, home: Path, tree: Path, queries: Sequence[str]) -> list[Found]:
        base, found = Fts5(self.index(home) / "index.db"), []
        for query in queries:
            begun = time.perf_counter()
            names = list(base.search(query, TOP))
            found.append(((time.perf_counter() - begun) * 1000, names))
        base.close()
        return found

    def served(self, home: Path, queries: Sequence[str]) -> list[float]:
        return []


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table: its name, its unit, the digits shown, and whether less is better."""

    name: str
    unit: str = "s"
    digits: int = 2
    less: bool = True


MEASURES = {
    "searchable": Measure("first sync, until searchable"),
    "first": Measure("first sync, to its end"),
    "cpu": Measure("first sync, processor"),
    "rate": Measure("files until searchable", "a second", 0, less=False),
    "unchanged": Measure("sync, nothing changed"),
    "changed": Measure("sync, one file changed, until searchable"),
    "changed_end": Measure("sync, one file changed, to its end"),
    "cold": Measure("cold search"),
    "warm": Measure("warm search, in a process", "ms", 1),
    "served": Measure("warm search, by a server", "ms", 1),
    "index": Measure("index", "MB", 1),
    "memory": Measure("peak memory of the first sync", "MB", 0),
    "hit@1": Measure("known items, the right file first", "", 2, less=False),
}


@dataclass(slots=True)
class Figures:
    """Repeated measurements of one tool on one tree, by row."""

    values: dict[str, list[float]] = field(default_factory=dict)
    said: str = ""

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def median(self, name: str) -> float | None:
        own = self.values.get(name)
        return statistics.median(own) if own else None


def run(args: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"machine": machine(), "seed": args.seed, "trees": {}}
    program = args.qmd or shutil.which("qmd")
    if args.qmd and not args.qmd.is_file():
        raise FileNotFoundError(f"There is no command {args.qmd}.")
    tools: list[Tool] = [Scrubjay(), *([Qmd(Path(program))] if program else []), BareFts5()]
    if not program:
        print(NO_QMD)
    print(UNMEASURED)
    page = []
    with scratch() as place:
        (place / "trees").mkdir()
        trees = [tree for source in args.tree for tree in unpack(source, place / "trees")]
        trees = trees or [generate(place / "trees", args.seed)]
        if args.large:
            trees.append(varied(trees[0], place / "trees", args.seed))
        for tree in trees:
            measured = compare(tools, tree, place, args)
            result["trees"][tree[0]] = measured
            page.append(markdown(measured))
            print(
                f"\n{measured['title']}\n{_plain(measured)}\nscrubjay: {measured['said']}\nload {measured['load']}",
                flush=True,
            )
    if args.write:
        write_page(result, page, args.write)
    return result


def compare(tools: Sequence[Tool], tree: Tree, place: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Measure all tools on a tree, round by round."""
    name, folder = tree
    files = list(folder.rglob("*.md"))
    runs = min(args.runs, 2) if len(files) > MANY else args.runs
    items = known_items([tree], args.items, args.seed)
    if not items:
        raise HollowError(f"Tree {name} holds no heading to ask for.")
    own = {tool.name: Figures() for tool in tools}
    copies = {tool.name: shutil.copytree(folder, place / f"{name}-{tool.name}") for tool in tools}
    homes = {}
    for number in range(runs):
        shift = number % len(tools)
        for tool in [*tools[shift:], *tools[:shift]]:
            home = homes[tool.name] = place / f"{name}-{tool.name}-{number}"
            _round(tool, home, copies[tool.name], own[tool.name], [item.query for item in items], number)
            own[tool.name].add("rate", len(files) / own[tool.name].values["searchable"][-1])
            shutil.rmtree(place / f"{name}-{tool.name}-{number - 1}", ignore_errors=True)
    for tool in tools:
        _warm(tool, homes[tool.name], copies[tool.name], own[tool.name], name, items)
    size = sum(file.stat().st_size for file in files) / 1e6
    rounds = "1 round" if runs == 1 else f"{runs} rounds"
    return {
        "title": f"{name}: {len(files):,} files, {size:.1f} MB, {rounds}, {len(items)} known items",
        "said": own["scrubjay"].said,
        "tools": {tool.name: own[tool.name].values for tool in tools},
        "load": load(),
    }


def _round(tool: Tool, home: Path, tree: Path, own: Figures, queries: Sequence[str], number: int) -> None:
    home.mkdir()

    def timed(arguments: Sequence[str]) -> Watched:
        return watched(arguments, environ(home))

    def searchable(done: Watched) -> float:
        # The summary is the first line that scrubjay prints; the others have no second phase.
        return done.first_line if isinstance(tool, Scrubjay) else done.seconds

    first = timed(tool.first(home, tree))
    own.said = first.output.partition("\n")[0]
    own.add("searchable", searchable(first))
    own.add("first", first.seconds)
    own.add("cpu", first.cpu)
    own.add("memory", first.peak)
    own.add("unchanged", timed(tool.again(home, tree)).seconds)
    words, file = _put_in(tree, number)
    changed = timed(tool.again(home, tree))
    own.add("changed", searchable(changed))
    own.add("changed_end", changed.seconds)
    if file not in timed(tool.search(home, words)).output:
        raise HollowError(f"{tool.name} does not find what its sync of {tree.name} brought.")
    for query in queries[number * COLD : (number + 1) * COLD] or queries[:COLD]:
        own.add("cold", timed(tool.search(home, query)).seconds)
    size = sum(file.stat().st_size for file in tool.index(home).rglob("*") if file.is_file())
    own.add("index", size / 1e6)


def _put_in(tree: Path, number: int) -> tuple[str, str]:
    """Put a paragraph into the middle of the largest file; return words that no other text holds, and the file."""
    rng = random.Random(number)
    word = "".join(rng.choice(LETTERS) + rng.choice("aeiou") for _ in range(5))
    file = max(sorted(tree.rglob("*.md")), key=lambda path: path.stat().st_size)
    parts = file.read_text(encoding="utf-8", errors="replace").split("\n\n")
    parts.insert(len(parts) // 2, f"The {word} heron was seen here.")
    file.write_text("\n\n".join(parts), encoding="utf-8")
    return f"{word} heron", file.name


def _warm(tool: Tool, home: Path, tree: Path, own: Figures, name: str, items: Sequence[KnownItem]) -> None:
    queries = [items[0].query, *(item.query for item in items)]  # the first warms up
    right = []
    for item, (took, paths) in zip(items, tool.warm(home, tree, queries)[1:], strict=True):
        own.add("warm", took)
        right.append(float(paths[:1] == [item.path.removeprefix(f"{name}/")]))
    if not any(right):
        raise HollowError(f"{tool.name} found none of {len(items)} known items.")
    own.values["hit@1"] = right
    for took in tool.served(home, queries[: ASKED + 1])[1:]:
        own.add("served", took)


def _below(path: str | None, tree: Path) -> str:
    found = Path(path or "")
    return found.relative_to(tree.resolve()).as_posix() if found.is_relative_to(tree.resolve()) else ""


def _ask(port: int, requests: Sequence[tuple[str, str, str]]) -> list[float]:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    took = []
    for method, path, body in requests:
        begun = time.perf_counter()
        client.request(method, path, body or None, {"Content-Type": "application/json"})
        answer = client.getresponse()
        text = answer.read()
        took.append((time.perf_counter() - begun) * 1000)
        if answer.status != http.client.OK:
            raise HollowError(f"A server answered {answer.status}: {text[:200]!r}")
    client.close()
    return took


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise HollowError("A server ended before it served, or did not start within 30 seconds.")


def environ(home: Path) -> dict[str, str]:
    """An environment in which a tool finds nothing but its own home, and prints each line at once."""
    return environment(home) | {"SCRUBJAY_USER": USER, "PYTHONUNBUFFERED": "1"}


def cells(measured: Mapping[str, Any]) -> Iterator[list[str]]:
    """The table: a row a measure, a column a tool, then how many times another's median scrubjay's is."""
    tools = {name: Figures(values) for name, values in measured["tools"].items()}
    ours, *others = tools
    yield ["", *tools, *(f"scrubjay / {name}" for name in others)]
    for key, measure in MEASURES.items():
        medians = {name: own.median(key) for name, own in tools.items()}
        if key == "hit@1":
            medians = {name: statistics.mean(own.values[key]) for name, own in tools.items()}
        known = [value for value in medians.values() if value is not None]
        best = (min if measure.less else max)(known)
        row = [f"{measure.name}, {measure.unit}" if measure.unit else measure.name]
        for name, value in medians.items():
            row.append("–" if value is None else _cell(measure, value, tools[name].values[key], best))
        for name in others:
            own, other = medians[ours], medians[name]
            row.append(f"{own / other:.2f}" if own is not None and other else "–")
        yield row


def _cell(measure: Measure, value: float, repeats: Sequence[float], best: float) -> str:
    text = f"{value:,.{measure.digits}f}"
    if value == best:
        text = f"**{text}**"
    return text if not measure.unit or not measure.less else f"{text} ({min(repeats):,.{measure.digits}f})"


def _plain(measured: Mapping[str, Any]) -> str:
    head, *rows = [[cell.replace("**", "") for cell in row] for row in cells(measured)]
    return table(head, rows)


def markdown(measured: Mapping[str, Any]) -> str:
    """The table below its title."""
    head, *rows = cells(measured)
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    body = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    return f"**{measured['title']}**\n\n{body}\n"


def machine() -> str:
    """Processor, cores, memory and system of this machine, without its name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = models[0] if models else platform.processor()
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"


def write_page(result: Mapping[str, Any], tables: Sequence[str], page: Path) -> None:
    """Put the tables between the page's marks."""
    now = circumstances()
    loads = ", ".join(str(own["load"][0]) for own in result["trees"].values() if own["load"])
    head = (
        f"{now['date'][:10]}, commit {now['commit']}, {result['machine']}; load {loads or '?'}. Median (least); "
        "the best is bold. A ratio is scrubjay's median over the other's. QMD indexes words alone here, since its "
        "vectors need a model that it downloads; scrubjay's index holds vectors of its static model too."
    )
    before, start, rest = page.read_text("utf-8").partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not (start and end):
        raise HollowError(f"{page} does not hold {MARKS[0]} and {MARKS[1]}.")
    body = "\n".join([head, "", *tables, UNMEASURED])
    page.write_text(f"{before}{start}\n{body}\n{end}{after}", "utf-8")


def rows(result: Mapping[str, Any]) -> list[Row]:
    """A row of the log for each tree."""
    found = []
    for measured in result["trees"].values():
        head, *own = cells(measured)
        value = "; ".join(f"{row[0]} {' / '.join(cell.replace('*', '') for cell in row[1:])}" for row in own)
        found.append((f"{measured['title']}: {' / '.join(head[1:])}", value, "sync"))
    return found
