"""What `scrubjay serve`, the MCP server and the viewer take on a store of made-up memories.

`serving`: the server is the command itself, in a process of its own, with the static model; nothing caches answers, and
no question is asked twice. ``closed``: each client asks again as soon as it is answered, which measures throughput.
``open``: questions come at a fixed rate whatever the server does, which measures how long each waits. The clients are
sockets with requests written before, in one process, so that they take little of the processors that the server is
measured on (``client_cpu``). ``server_cpu_ms``, of all processes of the server, depends less on the machine's load.

`mcp`: tokens are counted by the static model's tokenizer, whose vocabulary is Llama 2's, over what `tools/list` returns
and the server's instructions. A round trip is the official SDK's client calling `memory_search` on a server in a
process of its own, over standard input and output and over HTTP, after ten calls that are not counted; ``python`` is
the same questions through `Memory.search`, ``list`` a call that reads nothing from the store.

`viewer`: memories have two of 80 names each, dates over twelve years, seven projects and forty tags. Each page is
requested once with the store just opened (``first``) and then ``--rounds`` times, through the application of
`scrubjay serve`, without the network.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.command import Command, HollowError, Row, in_line
from bench.harness import count_tokens, embedders, milliseconds, open_memory, scratch
from bench.metrics import SEED
from bench.report import percentiles
from bench.texts import BATCH, USER, generate, questions, texts, turns_stored, words_of
from scrubjay import Memory
from scrubjay.api.auth import TokenStore
from scrubjay.api.tools import INSTRUCTIONS
from scrubjay.config.loader import load_settings
from scrubjay.models.lifecycle import NewMemory
from scrubjay.models.results import BLOCK_OPEN
from scrubjay.server.app import create_app
from scrubjay.server.auth import TokenlessAccess
from scrubjay.server.session import Session

WARM = 200
"""Questions that are asked first and not counted."""
MOST = 100_000
"""Questions that are made; a run that asks more fails, since none is asked twice."""
FEW = 10
"""Calls of MCP that are not counted."""
COMMAND = [sys.executable, "-m", "scrubjay", "mcp"]
FIRST = ("Blue", "Iron", "North", "Quiet", "Old", "Green", "Silver", "Long")
LAST = ("Harbor", "Ledger", "Falcon", "Orchard", "Signal", "Beacon", "Canyon", "Meadow", "Anchor", "Lantern")
NAMES = [f"{first} {last}" for first in FIRST for last in LAST]
LOCAL = TokenlessAccess(own=lambda _scope: True)
"""Without a socket nobody could know whose a connection is."""


def run(args: argparse.Namespace) -> dict[str, Any]:
    with scratch() as folder:
        environ, asked = written(folder, args.memories)
        with served(environ, args.readers) as server:
            found = asyncio.run(measure(*server, asked, args))
    for name, figures in found.items():
        print(f"{name}: {figures}")
    return {"memories": args.memories, "clients": args.clients, **found}


def written(folder: Path, memories: int) -> tuple[dict[str, str], list[str]]:
    """Write a store; return the environment of a server on it, and questions to ask."""
    store, words = turns_stored(folder, memories, SEED)
    return environment(folder, store) | {"SCRUBJAY_MODELS_BACKGROUND": "never"}, questions(words, MOST, SEED)


def environment(folder: Path, store: Path) -> dict[str, str]:
    """Return an environment with a home of its own, without the settings and tokens of whoever measures."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SCRUBJAY_")}
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), str(folder))
    return kept | homes | {"SCRUBJAY_STORE": str(store), "SCRUBJAY_USER": USER}


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
    def __init__(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._port, self._reader, self._writer = port, reader, writer
        self.answered = self.empty = 0

    @classmethod
    async def to(cls, port: int) -> Client:
        return cls(port, *await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, query: str) -> float:
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


def mcp(args: argparse.Namespace) -> dict[str, Any]:
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    with scratch() as folder:
        store, words = turns_stored(folder, args.memories, SEED)
        queries = questions(words, args.questions + FEW, SEED)
        environ = environment(folder, store)
        with Memory.open(settings=load_settings(environ=environ)) as memory:
            calls = [lambda query=query: memory.search(query) for query in queries]
            took = {"python": percentiles(milliseconds(calls)[FEW:])}
        tokens: dict[str, int] = {}
        took |= anyio.run(_both, environ, queries, tokens)
    print(f"tokens: {tokens}\nms: {took}")
    return {"memories": args.memories, "tokens": tokens, "ms": took}


async def _both(environ: dict[str, str], queries: Sequence[str], tokens: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environ)
    async with McpClient(stdio_client(parameters)) as client:
        tokens |= await _tokens(client)
        found["list"] = await _timed_calls(client.list_tools, [()] * len(queries))
        found["stdio"] = await _searches(client, queries)
    async with _web(environ) as client:
        found["http"] = await _searches(client, queries)
    return found


@asynccontextmanager
async def _web(environ: dict[str, str]) -> AsyncIterator[McpClient]:
    process = subprocess.Popen(
        [*COMMAND, "--http", "127.0.0.1:0"], env=environ, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process:
        try:
            line = await anyio.to_thread.run_sync(process.stderr.readline)
            async with McpClient(streamable_http_client(line.split()[2].rstrip(";"))) as client:
                yield client
        finally:
            process.terminate()


async def _searches(client: McpClient, queries: Sequence[str]) -> dict[str, float]:
    async def search(query: str) -> None:
        done = await client.call_tool("memory_search", {"query": query})
        if done.is_error or not done.content[0].text.startswith(BLOCK_OPEN):
            raise HollowError(f"A search found nothing: {done.content}")

    return await _timed_calls(search, [(query,) for query in queries])


async def _timed_calls(
    call: Callable[..., Awaitable[Any]], given: Sequence[tuple[Any, ...]]
) -> dict[str, float]:
    took = []
    for arguments in given:
        begun = time.perf_counter()
        await call(*arguments)
        took.append((time.perf_counter() - begun) * 1000)
    return percentiles(took[FEW:])


async def _tokens(client: McpClient) -> dict[str, int]:
    def count(value: Any) -> int:
        return count_tokens(value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))

    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    each = {tool["name"]: count(tool) for tool in tools}
    return each | {"instructions": count(INSTRUCTIONS), "all": count(tools) + count(INSTRUCTIONS)}


def viewer(args: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {"ms": {}}
    with scratch() as folder:
        for count in map(int, args.memories.split(",")):
            store = folder / f"viewer-{count}.db"
            write_named(store, count, folder)
            result["ms"][str(count)] = asyncio.run(measure_pages(store, args.rounds, folder))
    for count, pages in result["ms"].items():
        for page, took in pages.items():
            print(f"{count:>8}  {page:<10}  {took}")
    return result


def write_named(store: Path, count: int, scratch: Path) -> None:
    tree = scratch / "tree"
    tree.mkdir(exist_ok=True)
    words = words_of([generate(tree, SEED)])
    draw = random.Random(SEED)
    with open_memory(store, embedders()[:1], USER) as memory:
        batch: list[NewMemory] = []
        for number, text in enumerate(texts(words, count, SEED), 1):
            one, other = draw.sample(NAMES, 2)
            date = f"20{draw.randint(15, 26)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
            content = f"{one} met {other}. {text}"
            batch.append(NewMemory(content, date=date, project=f"p{number % 7}", tags=[f"t{number % 40}"]))
            if len(batch) == BATCH or number == count:
                memory.add_many(batch)
                batch = []
        memory.concepts.add_many(NAMES)


async def measure_pages(store: Path, rounds: int, scratch: Path) -> dict[str, dict[str, float]]:
    settings = replace(
        load_settings(environ={"SCRUBJAY_CONFIG": "", "HOME": str(scratch)}), store=str(store), user=USER
    )
    async with browser(settings, scratch) as client:
        memory = re.search(r"/memories/(\w+)", (await client.get("/")).text)
        concept = re.search(r"/concepts/(con_\w+)", (await client.get("/concepts")).text)
        if memory is None or concept is None:
            raise HollowError("No memory or no concept is shown.")
    pages = {
        "first": "/",
        "overview": "/overview",
        "search": f"/?query={NAMES[0].replace(' ', '+')}",
        "timeline": "/timeline",
        "page 50": "/timeline?page=50",
        "memory": f"/memories/{memory[1]}",
        "concepts": "/concepts",
        "concept": f"/concepts/{concept[1]}",
        "picture": "/concepts/web.json?size=2000",
        "categories": "/categories",
        "status": "/status",
    }
    return {name: await _timed_page(settings, path, rounds, scratch) for name, path in pages.items()}


@asynccontextmanager
async def browser(settings: Any, scratch: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the application on a store that was just opened."""
    with Session(settings) as session:
        app = create_app(session, TokenStore(scratch / "tokens.json"), tokenless=LOCAL)
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:8765", timeout=600
        ) as client:
            yield client


async def _timed_page(settings: Any, path: str, rounds: int, scratch: Path) -> dict[str, float]:
    took = []
    async with browser(settings, scratch) as client:
        for _ in range(rounds + 1):
            begun = time.perf_counter()
            said = await client.get(path)
            took.append((time.perf_counter() - begun) * 1000)
            if said.status_code != 200:
                raise HollowError(f"{path}: {said.status_code} {said.text[:200]}")
    return {"first": round(took[0], 1), **percentiles(took[1:])}


def _rows(result: Mapping[str, Any]) -> list[Row]:
    figures = "; ".join(f"{name} {result[name]}" for name in ("closed", "open"))
    what = f"scrubjay serve, {result['clients']} clients, {result['memories']} memories, ms"
    return [(what, figures, "sync")]


def _mcp_rows(result: Mapping[str, Any]) -> list[Row]:
    what = f"mcp round trip of a search at {result['memories']} memories, ms"
    return [("mcp tools, tokens", in_line(result["tokens"]), "-"), (what, in_line(result["ms"]), "sync")]


def _viewer_rows(result: Mapping[str, Any]) -> list[Row]:
    return [
        (
            f"viewer at {count} memories, ms: first, p50, p95",
            in_line(
                {
                    page: f"{took['first']:.0f} {took['p50']:.0f} {took['p95']:.0f}"
                    for page, took in pages.items()
                }
            ),
            "sync",
        )
        for count, pages in result["ms"].items()
    ]


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument("--rate", type=float, default=200.0, help="questions a second of the paced run")
    parser.add_argument("--readers", type=int, default=None, help="as of the command")


def _mcp_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)


def _viewer_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--memories", default="10000,100000", help="numbers of memories, separated by commas")
    parser.add_argument("--rounds", type=int, default=20)


SERVING = Command(__doc__, run, _options, _rows)
MCP = Command(__doc__, mcp, _mcp_options, _mcp_rows)
VIEWER = Command(__doc__, viewer, _viewer_options, _viewer_rows)
