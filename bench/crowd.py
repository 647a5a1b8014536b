"""Crowd: four writers and eight readers on one store, by the surfaces themselves: errors, losses, waiting.

    python bench/crowd.py [--memories 2000] [--seconds 300] [--rate 1] [--json FILE] [--log]

Writers: the command line that adds, a program that adds and forgets, `scrubjay watch` with a folder that changes all
the time, and nights, one after the other. Readers: two MCP servers, three clients of `scrubjay serve`, two programs,
and an agent's hook, a process a prompt. Readers ask at a fixed rate, first with nobody writing, then with all. A memory
that was told to be added and is not there in the end is lost; an exit code, an error and a refusal are errors.

Exit code 1 when something failed or was lost, or when the run was hollow.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from ask import open_memory
from metrics import SEED
from report import circumstances, log_rows, write_json
from scales import USER, questions, turns_stored
from scrubjay.embeddings.static import StaticEmbedder
from serving import served
from store_contract.sqlite_check import disagreements

CLI: Final = [sys.executable, "-P", "-m", "scrubjay"]
LIBRARY: Final = """
import json, os, sys
sys.path.insert(0, {bench!r})
from ask import open_memory
from pathlib import Path
from scrubjay.embeddings.static import StaticEmbedder
with open_memory(Path({store!r}), [StaticEmbedder()], {user!r}) as memory:
    for line in sys.stdin:
        verb, given = json.loads(line)
        found = getattr(memory, verb)(given)
        print(json.dumps(len(found.results) if verb == "search" else getattr(found, "id", "")), flush=True)
"""
FILES: Final = 8
PAUSES: Final = {"command": 2.0, "program": 0.5, "folder": 0.5, "nights": 10.0}
"""Seconds between two steps of a writer: more than busy people and agents do, and less than two processors can, so that
what readers wait for is the store and not a processor."""
PATIENCE: Final = 60.0
"""Seconds that what was written to the folder may take to be in the store."""
Ask = Callable[[str], int]


class Crowd:
    """What all of them do to one store, and what became of it."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder, self.environ = folder, environ
        self.errors: list[str] = []
        self.added: set[str] = set()
        self.gone: set[str] = set()
        self.wrote: dict[str, int] = {}
        self.stop = threading.Event()

    def run(self, *arguments: str, said: str = "") -> str:
        """Run a command; return what it printed."""
        done = subprocess.run(
            [*CLI, *arguments], input=said, capture_output=True, text=True, env=self.environ, cwd=self.folder
        )
        if done.returncode:
            raise RuntimeError(f"{arguments[:2]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def writing(self, name: str, step: Callable[[int], None]) -> threading.Thread:
        """Return a thread that repeats a step until all stop."""

        def work() -> None:
            for number in itertools.count():
                if self.stop.is_set():
                    return
                try:
                    step(number)
                    self.wrote[name] = number + 1
                except (RuntimeError, OSError, ValueError) as error:
                    self.errors.append(f"{name}: {error}")
                self.stop.wait(PAUSES[name])

        return threading.Thread(target=work, name=name)

    def reading(self, ask: Ask, seconds: float, rate: float, queries: Iterator[str]) -> list[float]:
        """Ask at a rate; return the milliseconds of each question from when it should have been asked."""
        took, begun = [], time.perf_counter() + random.Random(id(ask)).random() / rate
        for number in range(int(seconds * rate)):
            due = begun + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            try:
                ask(next(queries))
            except (RuntimeError, OSError, ValueError, http.client.HTTPException) as error:
                self.errors.append(f"reader: {error!r}")
            took.append((time.perf_counter() - due) * 1000)
        return took

    def by_command(self, number: int) -> None:
        """Add one by the command line."""
        text = f"The command {number} said that berth {number * 7} costs {number} euros."
        self.run("add", text)
        self.added.add(text)

    def by_library(self, asked: Callable[[str, str], Any], number: int) -> None:
        """Add one by a program; every fourth is forgotten again."""
        text = f"The program {number} said that crane {number * 3} lifts {number} tons."
        found = asked("add", text)
        if number % 4 == 3:
            asked("forget", found)
            self.gone.add(text)
        else:
            self.added.add(text)

    def by_file(self, number: int) -> None:
        """Say something else in a file of the folder."""
        draft = self.folder / "notes" / "draft"
        draft.write_text(f"# Quay {number % FILES}\n\n{self.note(number)}\n", "utf-8")
        draft.replace(self.folder / "notes" / f"{number % FILES}.md")

    @staticmethod
    def note(number: int) -> str:
        """Return what a file says."""
        return f"At quay {number % FILES} the tide table {number} was read by warden{number}."


def program(environ: dict[str, str], store: Path, stack: ExitStack) -> Callable[[str, str], Any]:
    """Start a program that uses the library; return what asks it."""
    code = LIBRARY.format(bench=str(Path(__file__).parent), store=str(store), user=USER)
    process = stack.enter_context(_running([sys.executable, "-c", code], environ))

    def asked(verb: str, given: str) -> Any:
        return json.loads(_exchanged(process, json.dumps([verb, given])))

    return asked


def mcp(environ: dict[str, str], stack: ExitStack) -> Ask:
    """Start an MCP server; return what searches by it."""
    process = stack.enter_context(_running([*CLI, "mcp"], environ))
    numbers = itertools.count(1)

    def call(method: str, params: dict[str, Any]) -> Any:
        asked = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
        answer = json.loads(_exchanged(process, json.dumps(asked)))
        while answer.get("id") != asked["id"]:
            answer = json.loads(_exchanged(process, None))
        if "error" in answer or answer["result"].get("isError"):
            raise ValueError(str(answer)[:300])
        return answer["result"]

    client = {"name": "crowd", "version": "1"}
    call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    assert process.stdin is not None
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    return lambda query: len(
        call("tools/call", {"name": "memory_search", "arguments": {"query": query}})["content"]
    )


def over_http(port: int, stack: ExitStack) -> Ask:
    """Return what searches by the server."""
    line = stack.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)))

    def ask(query: str) -> int:
        try:
            return asked(query)
        except (
            ConnectionError,
            http.client.HTTPException,
        ):  # the server ends what was silent for some seconds
            line.close()
            return asked(query)

    def asked(query: str) -> int:
        line.request("POST", "/v1/search", json.dumps({"query": query}), {"Content-Type": "application/json"})
        answer = line.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise ValueError(f"{answer.status}: {said[:200]!r}")
        return len(json.loads(said)["results"])

    return ask


def hook(crowd: Crowd) -> Ask:
    """Return what asks as an agent's hook does."""

    def ask(query: str) -> int:
        told = {"session_id": "s", "cwd": str(crowd.folder), "prompt": query}
        return len(crowd.run("hook", "claude-code", "prompt", said=json.dumps(told)))

    return ask


@contextmanager
def _running(command: Sequence[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def _exchanged(process: subprocess.Popen[str], line: str | None) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    if line is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    said = process.stdout.readline()
    if not said:
        raise RuntimeError(f"{process.args!r:.80} has ended")
    return said


def measure(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return what readers waited for idle and busy, and what was lost."""
    store, words = turns_stored(folder, args.memories, SEED)
    environ = {
        "HOME": str(folder), "SCRUBJAY_STORE": str(store), "SCRUBJAY_USER": USER, "XDG_RUNTIME_DIR": str(folder),
        "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CACHE_HOME": str(folder),
        "SCRUBJAY_HOOKS_BUDGET_MS": "10000", "PATH": "/usr/bin:/bin",
    }  # fmt: skip
    (folder / "notes").mkdir()
    crowd = Crowd(folder, environ)
    queries = iter(questions(words, 200_000, SEED))
    with ExitStack() as stack:
        (port, _) = stack.enter_context(served(environ, 2))
        programs = [program(environ, store, stack) for _ in range(2)]
        asks: list[tuple[str, Ask]] = [("mcp", mcp(environ, stack)) for _ in range(2)]
        asks += [("http", over_http(port, stack)) for _ in range(3)]
        asks += [("program", partial(asked, "search")) for asked in programs]
        asks.append(("hook", hook(crowd)))
        for _, ask in asks:
            ask(next(queries))
        idle = _read(crowd, asks, max(args.seconds / 5, 5), args.rate, queries)
        crowd.by_file(0)
        crowd.run("sync", str(folder / "notes"))
        stack.enter_context(_running([*CLI, "watch"], environ))
        writing = program(environ, store, stack)
        writers = [
            crowd.writing("command", crowd.by_command),
            crowd.writing("program", lambda number: crowd.by_library(writing, number)),
            crowd.writing("folder", lambda number: crowd.by_file(number + 1)),
            crowd.writing("nights", lambda number: _night(crowd)),
        ]
        for writer in writers:
            writer.start()
        busy = _read(crowd, asks, args.seconds, args.rate, queries)
        crowd.stop.set()
        for writer in writers:
            writer.join()
        late = _awaited(crowd, store)
    lost = _lost(crowd, store)
    return {
        "errors": len(crowd.errors), "told": crowd.errors[:10], "lost": len(lost), "missing": sorted(lost)[:10],
        "unsound": disagreements(store), "folder_seconds": late, "wrote": crowd.wrote,
        "idle": idle, "busy": busy, "ratio_p99": round(busy["p99"] / idle["p99"], 2),
    }  # fmt: skip


def _night(crowd: Crowd) -> None:
    crowd.run("consolidate", "--after-days", "0")


def _read(
    crowd: Crowd, asks: Sequence[tuple[str, Ask]], seconds: float, rate: float, queries: Iterator[str]
) -> dict[str, Any]:
    """Let all readers read; return how long they waited."""
    lock = threading.Lock()
    took: dict[str, list[float]] = {}

    def shared() -> Iterator[str]:
        while True:
            with lock:
                query = next(queries)
            yield query

    def work(name: str, ask: Ask) -> None:
        found = crowd.reading(ask, seconds, rate, shared())
        with lock:
            took.setdefault(name, []).extend(found)

    readers = [threading.Thread(target=work, args=each) for each in asks]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return _spread([one for each in took.values() for one in each]) | {
        name: _spread(each) for name, each in sorted(took.items())
    }


def _spread(took: Sequence[float]) -> dict[str, Any]:
    own = sorted(took)
    middle, late = own[len(own) // 2], own[int(len(own) * 0.99)]
    return {"n": len(own), "p50": round(middle, 1), "p99": round(late, 1), "max": round(own[-1], 1)}


def _held(store: Path) -> set[str]:
    with (
        open_memory(store, [StaticEmbedder()], USER) as memory,
        memory._workspace.store.reader(memory._workspace.scope) as reader,
    ):
        return {record.content for record in reader.get(reader.complete("", 1_000_000)).values()}


def _last(crowd: Crowd) -> list[str]:
    """Return what the files say in the end."""
    return [file.read_text("utf-8").splitlines()[2] for file in (crowd.folder / "notes").glob("*.md")]


def _awaited(crowd: Crowd, store: Path) -> float:
    """Return the seconds until the watcher has taken the last of the folder in."""
    begun = time.monotonic()
    while time.monotonic() < begun + PATIENCE:
        held = "\n".join(_held(store))
        if all(line in held for line in _last(crowd)):
            return round(time.monotonic() - begun, 1)
        time.sleep(0.2)
    crowd.errors.append(f"watch: the folder's last state was not there after {PATIENCE:g} seconds")
    return PATIENCE


def _lost(crowd: Crowd, store: Path) -> set[str]:
    """Return what was told to be added and is not there, and what was told to be forgotten and is."""
    held = _held(store)
    return (crowd.added - held) | (crowd.gone & held)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=2_000, help="memories of the store before")
    parser.add_argument(
        "--seconds", type=float, default=300, help="that writers write; a fifth of it is idle before"
    )
    parser.add_argument("--rate", type=float, default=1, help="questions a second of each reader")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--log", action="store_true", help="put the figures on top of LOG.md")
    args = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="sj-crowd-"))
    try:
        result = {"what": "crowd", **circumstances(), **measure(folder, args)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(result, indent=1))
    write_json(args.json, result)
    if args.log:
        told = {name: result[name] for name in ("errors", "lost", "ratio_p99", "idle", "busy", "wrote")}
        log_rows(
            [
                (
                    f"4 writers and 8 readers, {args.seconds:g} s, {args.memories} memories, ms",
                    str(told),
                    "sync",
                )
            ]
        )
    hollow = not all(result["wrote"].get(name) for name in ("command", "program", "folder", "nights"))
    return int(bool(hollow or result["errors"] or result["lost"] or result["unsound"]))


if __name__ == "__main__":
    sys.exit(main())
