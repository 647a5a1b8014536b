"""Serving: how many searches a second `scrubjay serve` answers, and how long each takes, with several clients.

    python bench/serving.py [--memories 10000] [--clients 8] [--seconds 10] [--rate 200] [--readers N] [--json FILE]

The server is the command itself, in a process of its own, on a store of made-up memories with the static model;
nothing caches answers, and no question is asked twice. ``closed``: each client asks again as soon as it is answered,
which says how much goes through. ``open``: questions come at a fixed rate whatever the server does, which says how long
each waits. The clients are sockets with requests written before, in one process, so that they take little of the
processors that the server is measured on; their share is told (``client_cpu``). What a request costs all processes of
the server (``server_cpu_ms``) hangs less on who else uses the machine.

Exit code 1 when a run was hollow: nothing found, or a request that failed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ask import HollowError
from metrics import SEED
from report import circumstances, log_rows, percentiles, write_json
from scales import USER, questions, turns_stored

WARM = 200
"""Questions that are asked first and not counted."""
MOST = 100_000
"""Questions that are made; a run that asks more fails rather than to ask one twice."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    result: dict[str, Any] = {"what": "serving", **circumstances(), "memories": args.memories}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            environ, asked = written(Path(folder), args.memories)
            with served(environ, args.readers) as server:
                result |= asyncio.run(measure(*server, asked, args))
    except HollowError as error:
        print(f"serving: {error}", file=sys.stderr)
        return 1
    for name in ("closed", "open"):
        print(f"{name}: {result[name]}")
    write_json(args.json, result)
    if args.log:
        told = "; ".join(f"{name} {result[name]}" for name in ("closed", "open"))
        log_rows([(f"scrubjay serve, {args.clients} clients, {args.memories} memories, ms", told, "sync")])
    return 0


def written(folder: Path, memories: int) -> tuple[dict[str, str], list[str]]:
    """Write a store; return the environment of a server on it, and questions to ask."""
    store, words = turns_stored(folder, memories, SEED)
    own = {"HOME": str(folder), "SCRUBJAY_STORE": str(store), "SCRUBJAY_USER": USER}
    own |= {"XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    return {**os.environ, **own}, questions(words, MOST, SEED)


@contextmanager
def served(environ: dict[str, str], readers: int | None) -> Iterator[tuple[int, int]]:
    """Run the server, and yield its port and its process."""
    command = [sys.executable, "-m", "scrubjay", "serve", "127.0.0.1:0"]
    command += [] if readers is None else ["--readers", str(readers)]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = None
        while found is None:
            line = process.stderr.readline()
            if not line:
                raise HollowError("the server ended before it served")
            found = re.search(r"Serving at http://[^:]+:(\d+);", line)
        yield int(found[1]), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stderr.close()


async def measure(port: int, process: int, asked: Sequence[str], args: argparse.Namespace) -> dict[str, Any]:
    """Return both runs.

    Raises:
        HollowError: A request failed, or most found nothing.
    """
    queries = iter(asked)
    clients = [await Client.to(port) for _ in range(args.clients)]
    await closed(clients, itertools.islice(queries, WARM), 600.0)
    found: dict[str, Any] = {}
    for name, run in (
        ("closed", closed(clients, queries, args.seconds)),
        ("open", paced(clients, queries, args.seconds, args.rate)),
    ):
        begun, own, server = time.perf_counter(), time.process_time(), used(process)
        took = await run
        seconds = time.perf_counter() - begun
        found[name] = percentiles(took) | {
            "per_second": round(len(took) / seconds, 1),
            "client_cpu": round((time.process_time() - own) / seconds, 2),
            "server_cpu_ms": round((used(process) - server) / len(took), 2),
        }
    if sum(client.empty for client in clients) * 2 > sum(client.answered for client in clients):
        raise HollowError("most searches found nothing")
    return found


def used(process: int) -> float:
    """Return the milliseconds of processor that a process and its children have used; 0 where no system tells."""
    place = Path(f"/proc/{process}")
    if not place.exists():
        return 0.0
    ticks = sum(map(int, (place / "stat").read_text().rpartition(")")[2].split()[11:13]))
    begun = [
        int(child) for task in (place / "task").iterdir() for child in (task / "children").read_text().split()
    ]
    return ticks * 1000 / os.sysconf("SC_CLK_TCK") + sum(map(used, begun))


class Client:
    """One connection that is kept."""

    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._port, self._reader, self._writer = port, reader, writer
        self.answered = self.empty = 0

    @classmethod
    async def to(cls, port: int) -> Client:
        """Connect to the server."""
        return cls(port, *await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, query: str) -> float:
        """Ask, and return the milliseconds until the whole answer was there."""
        body = json.dumps({"query": query}).encode()
        head = (
            f"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        begun = time.perf_counter()
        self._writer.write(head.encode() + body)
        said = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", said, re.I)
        if not said.startswith(b"HTTP/1.1 200") or length is None:
            raise HollowError(f"a search was answered {said[:80]!r}")
        told = await self._reader.readexactly(int(length[1]))
        took = (time.perf_counter() - begun) * 1000
        self.answered += 1
        self.empty += told.startswith(b'{"results":[]')
        return took


async def closed(clients: Sequence[Client], queries: Iterator[str], seconds: float) -> list[float]:
    """Ask with all clients, each again as soon as it is answered."""
    end = time.perf_counter() + seconds

    async def one(client: Client) -> list[float]:
        took = []
        while time.perf_counter() < end:
            query = next(queries, None)
            if query is None:
                break
            took.append(await client.ask(query))
        return took

    return [each for own in await asyncio.gather(*map(one, clients)) for each in own]


async def paced(
    clients: Sequence[Client], queries: Iterator[str], seconds: float, rate: float
) -> list[float]:
    """Ask at a rate; the time of a question counts from when it should have been asked."""
    free: asyncio.Queue[Client] = asyncio.Queue()
    for client in clients:
        free.put_nowait(client)
    took: list[float] = []

    async def one(due: float) -> None:
        client = await free.get()
        waited = (time.perf_counter() - due) * 1000
        took.append(waited + await client.ask(next(queries)))
        free.put_nowait(client)

    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(seconds * rate)):
            due = begun + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(one(due))
    return took


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the server under several clients.")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument("--rate", type=float, default=200.0, help="questions a second of the paced run")
    parser.add_argument("--readers", type=int, default=None, help="as of the command")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--log", action="store_true", help="put the figures on top of LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
