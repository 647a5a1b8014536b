"""What an agent waits for: hooks as whole processes, and the proxy; and what a person waits for until it remembers.

`hooks`: the two events that are answered, with a question that a memory answers, and one that is not answered
(`stop`). Each run is the installed command, from its start to its end, cold and with the resident; ``first`` is a
session's first prompt, ``prompt`` a later one.

`starts`: cold starts of sessions with the budgets that hooks have by default, while ``--load`` processes keep the
processors busy: how many were delivered, and the milliseconds of each.

`proxy`: milliseconds to the first byte of an answer over the loopback, each of four ways in turn: straight to a
scripted upstream, and through the proxy with memory off, read alone, and on. With ``--data`` (the folder that holds
semantic_router/facts) its seeds are sent in one conversation and its queries asked in new ones; counted are the queries
for which the upstream received the expected words, and those for which it received the sentence that was sent.

`setup`: seconds of `scrubjay setup --yes` on a fresh home with made-up notes, Claude Code and Codex, from start to end.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from bench.command import Command, HollowError, Row, in_line
from bench.harness import open_memory, scratch
from bench.processes import command, environment, timed
from bench.report import load, spread
from bench.texts import generate, texts, words_of
from scrubjay.api.injections import Injection, InjectionLog
from scrubjay.api.jobs import JobQueue
from scrubjay.config.paths import data_folder, settings_fingerprint
from scrubjay.embeddings.static import StaticEmbedder
from scrubjay.models.lifecycle import NewMemory

USER = "ann"
KNOWN = "Our staging database is called heron and lives in Lisbon."
QUESTION = "What is our staging database called, and where does it live?"
WAYS = ("straight", "off", "read", "on")
ASKED = (
    "What is our staging database called?",
    "Where does our staging database live?",
    "What is our staging database called, and where does it live?",
    "Does the staging database live in Lisbon?",
    "Which name has the staging database?",
    "Is heron our staging database?",
    "Tell me where the staging database called heron lives.",
)
PATIENCE = 60
"""Seconds until what was sent must be stored."""


def hooks(args: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"memories": args.memories, "runs": args.runs}
    with scratch() as place:
        fill(place, args.memories, args.seed)
        result["cold"] = measure_hooks(place, args.runs, "cold")
        result["resident_start_ms"] = (
            timed([*command(), "resident", "start"], place, around(place), cwd=place).seconds * 1000
        )
        try:
            result["warm"] = measure_hooks(place, args.runs, "warm")
            result["resident_mb"] = resident_mb(place)
        finally:
            timed([*command(), "resident", "stop"], place, around(place))
    print(json.dumps(result | {"load": load()}, indent=2))
    return result


def fill(place: Path, count: int, seed: int) -> None:
    """Write made-up memories, and one that answers the question."""
    words = words_of([generate(place / "trees", seed)])
    with open_memory(place / "memory.db", [StaticEmbedder()], USER) as memory:
        batch = [NewMemory(text) for text in texts(words, count - 1, seed)]
        for at in range(0, len(batch), 2_000):
            memory.add_many(batch[at : at + 2_000])
        memory.add(KNOWN)


def around(place: Path) -> dict[str, str]:
    """The environment of a fresh machine; hooks may take as long as they need."""
    return environment(place) | {
        "SCRUBJAY_STORE": str(place / "memory.db"), "SCRUBJAY_USER": USER, "SCRUBJAY_HOOKS_BUDGET_MS": "10000",
        "SCRUBJAY_RESIDENT_AUTO": "false", "XDG_RUNTIME_DIR": str(place),
    }  # fmt: skip


def measure_hooks(place: Path, runs: int, state: str) -> dict[str, dict[str, float]]:
    """Milliseconds of each event, after one run that warms the disk's cache.

    ``cpu`` is the median processor time of the hook's own process, which a busy machine moves less.
    """
    common = {"cwd": str(place / "project")}
    events = {
        "first": common | {"prompt": QUESTION},
        "prompt": common | {"prompt": QUESTION},
        "session-start": common | {"source": "startup"},
        "stop": common,
    }
    found: dict[str, dict[str, float]] = {}
    (place / "project").mkdir(exist_ok=True)
    for event, payload in events.items():
        hook = [*command(), "hook", "claude-code", event.replace("first", "prompt")]
        log = InjectionLog(data_folder(around(place)))
        times = []
        for run in range(runs + 1):
            session = f"{state}-{event}-{run}"
            if event == "prompt":  # a later one: something was put in before
                told = [{"id": "obs_0000000000000000", "part": "relevant", "tokens": 1}]
                log.append(Injection("claude-code", session, "prompt", at=0.0, tokens=1, memories=told))
            said = json.dumps(payload | {"session_id": session})
            times.append(timed(hook, place, around(place), said, cwd=place))
            if event in ("first", "prompt") and "heron" not in times[-1].output:
                raise HollowError(f"The hook for {event} did not say what is known.")
            quiet(around(place))
        wall = spread([one.seconds * 1000 for one in times[1:]], 1)
        cpu = round(median(one.cpu for one in times[1:]) * 1000, 1)
        found[event] = {name: wall[name] for name in ("min", "median", "max")} | {"cpu": cpu}
    return found


def setup(args: argparse.Namespace) -> dict[str, Any]:
    """Set up a fresh home, ask a question, and start an agent's session; install the wheel before that."""
    result: dict[str, Any] = {"notes": args.notes, "seconds": [], "steps": []}
    for _ in range(args.runs):
        with scratch() as place:
            generate(place / "notes", args.seed, args.notes - 1)
            (place / "notes" / "known.md").write_text(f"# Staging\n\n{KNOWN}\n")
            for name in (".claude", ".codex"):
                (place / name).mkdir()
            env = environment(place) | {"XDG_RUNTIME_DIR": str(place), "SCRUBJAY_HOOKS_BUDGET_MS": "10000"}
            steps: dict[str, float] = {}
            scrubjay = command()
            if args.wheel:
                scrubjay = [str(place / "venv" / "bin" / "scrubjay")]
                for name, install in (
                    ("environment", [sys.executable, "-m", "venv", str(place / "venv")]),
                    (
                        "install",
                        [
                            str(place / "venv" / "bin" / "pip"),
                            "install",
                            "--quiet",
                            str(args.wheel.resolve()),
                        ],
                    ),
                ):
                    steps[name] = timed(install, place, env).seconds
            done = timed([*scrubjay, "setup", "--yes", "--json"], place, env, cwd=place)
            steps["setup"] = done.seconds
            asked = timed([*scrubjay, "search", "--json", QUESTION], place, env)
            steps["answer"] = asked.seconds
            first = next(iter(json.loads(asked.output)["results"]), None)
            if first is None or "heron" not in json.dumps(first):
                raise HollowError("The note that answers is not the first result after setup.")
            prompt = json.dumps({"session_id": "1", "cwd": str(place), "prompt": QUESTION})
            told = timed([*scrubjay, "hook", "claude-code", "prompt"], place, env, prompt, cwd=place)
            steps["agent"] = told.seconds
            if "heron" not in told.output:
                raise HollowError("The agent is not given the note that answers.")
            quiet(env)
            for verb in ("start", "stop"):  # one that the search began to start is waited for
                timed([*scrubjay, "resident", verb], place, env)
            result["seconds"].append(round(sum(steps.values()) if args.wheel else steps["setup"], 1))
            result["steps"].append({name: round(seconds, 1) for name, seconds in steps.items()})
            result["checks"] = len(json.loads(done.output)["checks"])
    result["wheel"] = args.wheel.name if args.wheel else None
    print(json.dumps(result | {"load": load()}, indent=2))
    return result


def starts(args: argparse.Namespace) -> dict[str, Any]:
    """Start sessions cold on a busy machine; each has a lesson to be told."""
    with scratch() as place:
        fill(place, args.memories, args.seed)
        (place / "project").mkdir()
        with open_memory(place / "memory.db", [StaticEmbedder()], USER) as memory:
            memory.add(KNOWN, tier="lesson")
        env = {name: value for name, value in around(place).items() if name != "SCRUBJAY_HOOKS_BUDGET_MS"}
        hook = [*command(), "hook", "claude-code", "session-start"]
        took, delivered = [], 0
        with busy(args.load):
            for run in range(args.runs):
                said = {"session_id": str(run), "cwd": str(place / "project"), "source": "startup"}
                one = timed(hook, place, env, json.dumps(said), cwd=place)
                took.append(one.seconds * 1000)
                delivered += "heron" in one.output
                quiet(env)
    result = {"memories": args.memories, "runs": args.runs, "busy": args.load, "delivered": delivered}
    result |= {"ms": {name: spread(took, 0)[name] for name in ("min", "median", "max")}, "load": load()}
    print(json.dumps(result, indent=2))
    return result


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep as many processes at work."""
    work = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(work) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def quiet(env: Mapping[str, str]) -> None:
    """Wait until what a session's start leaves to be done is done: no second session starts in that moment."""
    errands = JobQueue(data_folder(env), settings_fingerprint(env))
    while errands.waiting() or errands.busy():
        time.sleep(0.05)


def resident_mb(place: Path) -> float | None:
    """Megabytes that the resident keeps for itself; None where the system does not tell."""
    state = json.loads(timed([*command(), "resident", "status", "--json"], place, around(place)).output)
    try:
        lines = Path(f"/proc/{state['pid']}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    return round(sum(int(line.split()[1]) for line in lines if line.startswith("Private")) / 1000, 1)


def proxy(args: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"memories": args.memories, "runs": args.runs}
    with upstream() as (url, received):
        if args.data is not None:
            with scratch() as folder:
                result["nine"] = nine(folder, args.data, url, received)
        with scratch() as folder:
            fill(folder, args.memories, args.seed)
            with proxied(folder, url) as own:
                result["ms"] = measure_proxy(own, url, received, args.runs)
    print(json.dumps(result | {"load": load()}, indent=2))
    return result


def _noted(request: bytes) -> bytes:
    """One word, as OpenAI streams it."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    line = json.dumps(
        chunk | {"choices": [{"index": 0, "delta": {"content": "Noted."}, "finish_reason": None}]}
    )
    return f"data: {line}\n\ndata: [DONE]\n\n".encode()


@contextmanager
def upstream(answer: Callable[[bytes], bytes] = _noted) -> Iterator[tuple[str, list[bytes]]]:
    """Run a model that streams what `answer` makes of a request; yield its URL and the bodies that it received."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
            body = answer(received[-1])
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def proxied(place: Path, url: str) -> Iterator[str]:
    """Run the proxy as a process; yield its URL."""
    around = environment(place) | {
        "SCRUBJAY_STORE": str(place / "memory.db"), "SCRUBJAY_USER": USER, "SCRUBJAY_PROXY_BUDGET_MS": "60000",
    }  # fmt: skip
    arguments = [*command(), "proxy", "127.0.0.1:0", "--openai", f"{url}/v1"]
    with subprocess.Popen(arguments, env=around, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = re.search(r"OpenAI at (\S+)/openai/v1,", process.stderr.readline())
            if found is None:
                raise HollowError("The proxy did not start.")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield found[1]
        finally:
            process.terminate()


class Client:
    def __init__(self, url: str, path: str) -> None:
        self._held = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._path = path

    def ask(self, messages: list[dict[str, str]], mode: str, session: str = "") -> float:
        """Return the milliseconds to the first byte of the answer's body."""
        body = json.dumps({"model": "m", "stream": True, "messages": messages})
        headers = {"content-type": "application/json", "x-scrubjay-memory": mode}
        headers |= {"x-scrubjay-session": session} if session else {}
        begun = time.perf_counter()
        self._held.request("POST", self._path, body, headers)
        answer = self._held.getresponse()
        answer.read(1)
        took = (time.perf_counter() - begun) * 1000
        answer.read()
        return took


def measure_proxy(proxy: str, url: str, received: list[bytes], runs: int) -> dict[str, dict[str, float]]:
    """Milliseconds to the first byte by each way, the ways in turn."""
    clients = {way: Client(proxy, "/openai/v1/chat/completions") for way in WAYS}
    clients["straight"] = Client(url, "/v1/chat/completions")
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    for run in range(runs + 5):
        for way in WAYS:
            question = ASKED[run % len(ASKED)]
            took[way].append(clients[way].ask([{"role": "user", "content": question}], way, f"{way}-{run}"))
            if (KNOWN.encode() in received[-1]) != (way in ("read", "on")):
                raise HollowError(
                    f"{way}, {question!r}: what is known was put in where it should not, or left out."
                )
    found = {}
    for way, each in took.items():
        tenths = quantiles(each[5:], n=100)
        found[way] = {
            "p50": round(median(each[5:]), 1),
            "p95": round(tenths[94], 1),
            "max": round(max(each), 1),
        }
    for way in WAYS[1:]:
        found[way]["added_p50"] = round(found[way]["p50"] - found["straight"]["p50"], 1)
    return found


def nine(place: Path, data: Path, url: str, received: list[bytes]) -> dict[str, Any]:
    """Tell what the router's test tells, in one conversation, and ask what it asks, each in a new one."""
    facts = data / "semantic_router" / "facts"
    found = json.loads((facts / "e2e_retrieval.json").read_text("utf-8"))
    others = json.loads((facts / "workload_memories.json").read_text("utf-8"))["memories"]
    counts = {}
    for name, more in (("alone", []), ("among others", [one["content"] for one in others])):
        with proxied(place / name.replace(" ", "-"), url) as proxy:
            client = Client(proxy, "/openai/v1/chat/completions")
            talk: list[dict[str, str]] = []
            for text in [*found["seeds"].values(), *more]:
                talk.append({"role": "user", "content": text})
                client.ask(talk, "on")
                talk.append({"role": "assistant", "content": "Noted."})
            _until(client, [*found["seeds"].values(), *more][-1], received)
            words = sentences = 0
            for question, topic, expected in found["queries"]:
                client.ask([{"role": "user", "content": question}], "read")
                context = " ".join(one["content"] for one in json.loads(received[-1])["messages"][:-1])
                words += any(word in context.lower() for word in expected)
                sentences += any(
                    part in context for part in found["seeds"][topic].removesuffix(".").split(". ")
                )
            counts[name] = {"questions": len(found["queries"]), "words": words, "told": sentences}
    return counts


def _until(client: Client, last: str, received: list[bytes]) -> None:
    """Wait until what was told last is remembered."""
    until = time.monotonic() + PATIENCE
    while last[:30].encode() not in received[-1].partition(b'"role": "user"')[0]:
        if time.monotonic() > until:
            raise HollowError("What was told was not remembered.")
        client.ask([{"role": "user", "content": f"Was this said: {last}?"}], "read")


def _hook_rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        (
            f"a hook as a whole process, {state}, {result['memories']:,} memories, ms",
            "; ".join(f"{event} {in_line(ms)}" for event, ms in result[state].items()),
            "sync",
        )
        for state in ("cold", "warm")
    ]


def _start_rows(result: Mapping[str, Any]) -> list[Row]:
    first = f"cold starts of sessions, {result['memories']:,} memories, {result['busy']} busy processes"
    figure = f"{result['delivered']} of {result['runs']} delivered; ms {in_line(result['ms'])}"
    return [(first, figure, "sync")]


def _start_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.add_argument("--load", type=int, default=6, help="processes that keep the processors busy")


def _proxy_rows(result: Mapping[str, Any]) -> list[Row]:
    first = f"the proxy, {result['memories']:,} memories, ms to the first byte of a stream over the loopback"
    rows = [(first, "; ".join(f"{way} {in_line(each)}" for way, each in result["ms"].items()), "sync")]
    if "nine" in result:
        counts = "; ".join(f"{name}: {in_line(each)}" for name, each in result["nine"].items())
        rows.append(
            ("the router's nine questions, sent in one conversation, asked in new ones", counts, "sync")
        )
    return rows


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)


def _proxy_options(parser: argparse.ArgumentParser) -> None:
    _options(parser)
    parser.set_defaults(runs=200)
    parser.add_argument("--data", type=Path, help="folder of the development data")


def _setup_rows(result: Mapping[str, Any]) -> list[Row]:
    what = f"`scrubjay setup --yes` on a fresh home: {result['notes']:,} notes, 2 agents, {result['checks']} checks"
    if result["wheel"]:
        what = (
            f"from nothing to a right first answer and a session that is given it, {result['wheel']}: {what}"
        )
    return [(f"{what}, s", ", ".join(map(str, result["seconds"])), "sync")]


def _setup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--notes", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--wheel", type=Path, help="install this wheel into a fresh environment first")


SETUP = Command(__doc__, setup, _setup_options, _setup_rows)
HOOKS = Command(__doc__, hooks, _options, _hook_rows)
STARTS = Command(__doc__, starts, _start_options, _start_rows)
PROXY = Command(__doc__, proxy, _proxy_options, _proxy_rows)
