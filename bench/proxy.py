"""Proxy: what it adds to the first byte of an answer, and what of five topics it gives for nine questions.

    python bench/proxy.py DATA [--memories 10000] [--runs 200] [--json FILE] [--log]

DATA is the folder with semantic_router/facts: its seeds are told in one conversation and its queries asked in new ones,
through the proxy; counted are those whose words the upstream received, and for which it received what was told.
The times are of requests over the loopback, each of the four ways in turn: straight to a scripted upstream, and by
the proxy with memory off, read alone, and on. Exit code 1 when a question that has an answer was passed on without it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from ask import HollowError
from hooks import KNOWN, USER, fill
from processes import command, environment
from report import circumstances, load, log_rows, write_json

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
"""Seconds until what was told must be there."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {
        "what": "proxy",
        "memories": args.memories,
        "runs": args.runs,
        **circumstances(),
    }
    try:
        with upstream() as (url, received):
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
                result["nine"] = nine(Path(folder), args.data, url, received)
            with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
                fill(Path(folder), args.memories, args.seed)
                with proxied(Path(folder), url) as proxy:
                    result["ms"] = measure(proxy, url, received, args)
    except HollowError as error:
        print(f"proxy: {error}", file=sys.stderr)
        return 1
    result["load"] = load()
    print(json.dumps(result, indent=2))
    write_json(args.json, result)
    if args.log:
        log_rows(_log(result))
    return 0


@contextmanager
def upstream() -> Iterator[tuple[str, list[bytes]]]:
    """Run a model that streams a word at once; yield its URL and the bodies that it received."""
    received: list[bytes] = []
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    said = json.dumps(
        chunk | {"choices": [{"index": 0, "delta": {"content": "Noted."}, "finish_reason": None}]}
    )
    body = f"data: {said}\n\ndata: [DONE]\n\n".encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["content-length"])))
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
    told = [*command(), "proxy", "127.0.0.1:0", "--openai", f"{url}/v1"]
    with subprocess.Popen(told, env=around, stderr=subprocess.PIPE, text=True) as process:
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
    """One connection that asks."""

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


def measure(
    proxy: str, url: str, received: list[bytes], args: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """Milliseconds to the first byte by each way, the ways in turn.

    Raises:
        HollowError: What is known was not put in where it should be, or was where it should not.
    """
    clients = {way: Client(proxy, "/openai/v1/chat/completions") for way in WAYS}
    clients["straight"] = Client(url, "/v1/chat/completions")
    took: dict[str, list[float]] = {way: [] for way in WAYS}
    for run in range(args.runs + 5):
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
    """Tell what the router's test tells, in one conversation, and ask what it asks, each in a new one.

    Raises:
        HollowError: What was told was not remembered.
    """
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
            words = told = 0
            for question, topic, expected in found["queries"]:
                client.ask([{"role": "user", "content": question}], "read")
                given = " ".join(one["content"] for one in json.loads(received[-1])["messages"][:-1])
                words += any(word in given.lower() for word in expected)
                told += any(part in given for part in found["seeds"][topic].removesuffix(".").split(". "))
            counts[name] = {"questions": len(found["queries"]), "words": words, "told": told}
    return counts


def _until(client: Client, last: str, received: list[bytes]) -> None:
    """Wait until what was told last is remembered."""
    until = time.monotonic() + PATIENCE
    while last[:30].encode() not in received[-1].partition(b'"role": "user"')[0]:
        if time.monotonic() > until:
            raise HollowError("What was told was not remembered.")
        client.ask([{"role": "user", "content": f"Was this said: {last}?"}], "read")


def _log(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    ms = "; ".join(
        f"{way} " + ", ".join(f"{k} {v}" for k, v in each.items()) for way, each in result["ms"].items()
    )
    nine = "; ".join(
        f"{name}: words {each['words']} of {each['questions']}, what was told {each['told']}"
        for name, each in result["nine"].items()
    )
    first = f"the proxy, {result['memories']:,} memories, ms to the first byte of a stream over the loopback"
    second = "the router's nine questions over five topics, told in one conversation, asked in new ones by the proxy"
    return [(first, ms, "sync"), (second, nine, "sync")]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
