"""Messages: bytes of what an MCP client writes -> the server, in this process: one sound answer to each request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile
from typing import Any, Final, cast

from mcp.server.stdio import stdio_server

from fuzz.bound import bound
from fuzz.served import LONGEST_WAIT, WHO, Renewed, served
from scrubjay.server.mcp.server import build_server
from scrubjay.server.mcp.stdio import PendingRequests, bounded_lines

MOST: Final = 1_024
"""Bytes of a line that are taken; what is longer has to be refused."""
HELLO: Final = (
    '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"fuzz","version":"1"}}}',
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
)
SEARCH: Final = (
    '{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    '"params":{"name":"memory_search","arguments":{"query":"tea"}}}'
)
PING: Final = '{"jsonrpc":"2.0","id":"bye","method":"ping"}'


@contextmanager
def target(*, timed: bool) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes one input."""
    loop = asyncio.new_event_loop()
    held = Renewed(_Server)

    def check(data: bytes) -> None:
        server = held.now()
        with bound(len(data), timed=timed):
            sent = _lines(data)
            server.changes += len(sent)  # what is no change counts as one, for it costs little
            loop.run_until_complete(asyncio.wait_for(_talk(server.server, sent), LONGEST_WAIT))

    try:
        # The first call imports most of the program, which takes long where each line of it is counted.
        loop.run_until_complete(_talk(held.now().server, [SEARCH]))
        yield check
    finally:
        held.close()
        loop.close()


class _Server:
    def __init__(self) -> None:
        self.changes = 0
        self._stack = ExitStack()
        session, _ = self._stack.enter_context(served())
        self.server = build_server(session, lambda _context: WHO, local=False)

    def close(self) -> None:
        self._stack.close()


def _lines(data: bytes) -> list[str]:
    """What the server's own reader of standard input makes of the bytes."""
    with TemporaryFile(buffering=0) as source:  # a pipe holds 64 kB, and nobody reads it meanwhile
        source.write(data)
        source.seek(0)
        return list(bounded_lines(source.fileno(), MOST))


class _Out:
    """Where the server writes its answers."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.more = asyncio.Event()

    async def write(self, line: str) -> None:
        assert line.endswith("\n")
        assert "\n" not in line[:-1], "a message of two lines"
        assert "quagga" not in line, "somebody else's memory"
        assert "Traceback" not in line, "a traceback"
        line.encode("utf-8")
        self.said.append(json.loads(line))
        self.more.set()

    async def flush(self) -> None:
        return


async def _talk(server: Any, sent: list[str]) -> None:
    out, asked = _Out(), PendingRequests()
    waited = _requests(sent)

    async def incoming() -> AsyncIterator[str]:
        for line in (*HELLO, *sent, PING):
            if await asked.accept(line):
                yield line
        while not {"bye", *waited} <= {_key(said) for said in out.said}:
            out.more.clear()
            await out.more.wait()

    async with stdio_server(stdin=cast(Any, incoming()), stdout=cast(Any, out)) as (given, answers):
        asked.answers = answers
        await server.run(given, answers, server.create_initialization_options())
    answered = [_key(said) for said in out.said if "method" not in said]
    assert all(answered.count(key) == 1 for key in {"bye", *waited}), f"answered twice: {answered}"
    for said in out.said:
        assert said.get("error", {}).get("code") != -32603, f"an internal error: {said}"


def _key(said: dict[str, Any]) -> object:
    return said.get("id")


def _requests(sent: list[str]) -> set[object]:
    """The ids that must be answered: of requests, sound or not, each used once, if none of them is called off."""
    ids: list[object] = []
    for line in sent:
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(told, dict):
            continue
        if "cancelled" in str(told.get("method")):
            return set()
        if "method" in told and type(told.get("id")) is int:
            ids.append(told["id"])
    return {one for one in ids if ids.count(one) == 1 and abs(cast(int, one)) < 2**31}
