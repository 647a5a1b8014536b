"""Stdio: one client, over standard input and output, until it closes them.

Standard output belongs to the protocol. The lines are read here and not by the SDK, which reads a line of any
length into memory, and which cannot be interrupted while it waits for one.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Final, cast

from scrubjay.resident.host import hosted
from scrubjay.surfaces.mcp.server import REFUSED, build
from scrubjay.surfaces.serve.bodies import MOST_BYTES
from scrubjay.surfaces.serve.halves import whole
from scrubjay.surfaces.serve.session import Session

if TYPE_CHECKING:
    import anyio

    from scrubjay.config import Settings
    from scrubjay.surfaces.mcp.asked import Asked

STANDARD_INPUT: Final = 0
CHUNK: Final = 65_536
KEPT: Final = 4_096
"""Bytes at either end of a line that is too long, in which its id is looked for."""
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")'
_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"method"\s*:\s*"[^"]*"\s*,\s*)*' + _ID)
_LAST: Final = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def serve(settings: Settings, around: Mapping[str, str]) -> None:
    """Serve one client until it closes standard input, or reads no more; meanwhile be a resident.

    Args:
        settings: Who owns the process, and where the store is.
        around: The environment that they were made of.
    """
    import anyio
    from mcp.server.stdio import stdio_server

    from scrubjay.surfaces.mcp.asked import Asked

    with Session(settings) as session, hosted(settings, session.memory, around, "mcp"):
        server = build(session, lambda _context: session.owner, here=_folder())

        async def run() -> None:
            asked = Asked()
            lines = cast("anyio.AsyncFile[str]", _incoming(_claimed(STANDARD_INPUT), asked))
            async with anyio.create_task_group() as group:
                group.start_soon(_interrupted, group.cancel_scope)
                async with stdio_server(stdin=lines) as (incoming, outgoing):
                    await server.run(incoming, asked.told(outgoing), server.create_initialization_options())
                group.cancel_scope.cancel()

        try:
            anyio.run(run)
        except* (BrokenPipeError, anyio.BrokenResourceError):
            # The client is gone, and with it everybody who could be told.
            logging.getLogger("scrubjay").info("The client reads no more.")


async def _interrupted(scope: anyio.CancelScope) -> None:
    """End the server at Ctrl-C, for certain: asyncio's own way cancels once, and who catches that goes on for ever."""
    import anyio

    if (
        sys.platform == "win32"
    ):  # has no signals that a loop could wait for; there asyncio's own way is the way
        return
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


def _folder() -> str:
    """The folder that the client started us in, most often its project's; empty where it is no more."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _claimed(descriptor: int) -> int:
    """A descriptor of our own for what the client writes; programs that we start find standard input empty."""
    own = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return own


async def _incoming(descriptor: int, asked: Asked) -> AsyncIterator[str]:
    """The lines of a descriptor, read by a thread that ends with the process, one ahead of who uses them.

    They end when all that they ask was answered: what is being done then would be stopped.
    """
    import anyio
    from anyio.from_thread import run as call_in_loop
    from anyio.lowlevel import current_token

    sending, receiving = anyio.create_memory_object_stream[str](0)
    token = current_token()

    def read() -> None:
        try:
            for line in lines(descriptor):
                call_in_loop(sending.send, line, token=token)
            call_in_loop(sending.aclose, token=token)
        except (RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the loop has ended, or is about to, and nobody wants the rest

    threading.Thread(target=read, name="scrubjay-stdin", daemon=True).start()
    async with receiving:
        async for line in receiving:
            yield asked.read(line)
    await asked.settled()


def lines(descriptor: int, most: int = MOST_BYTES) -> Iterator[str]:
    """Yield the lines of a descriptor until its end; one that is too long becomes a message that says so."""
    held, size, tail = bytearray(), 0, b""
    while chunk := os.read(descriptor, CHUNK):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if size + len(piece) <= most:
                yield from _line(bytes(held + piece))
            else:
                yield from _refusal(bytes(held[:KEPT] + piece[:KEPT]), tail + piece)
            held, size, tail = bytearray(), 0, b""
        size += len(rest)
        tail = (tail + rest)[-KEPT:]
        held += rest if size <= most else rest[: max(0, KEPT - len(held))]
    yield from _line(bytes(held)) if size <= most else _refusal(bytes(held[:KEPT]), tail)


def _line(line: bytes) -> Iterator[str]:
    if line.strip():
        yield whole(line.decode("utf-8", "replace"))


def _refusal(begun: bytes, tail: bytes) -> Iterator[str]:
    """Of a line that is too long, a request that will be refused in its stead, if its id is to be seen."""
    found = _FIRST.match(begun) or _LAST.search(tail[-KEPT:])
    if found:
        yield f'{{"jsonrpc":"2.0","id":{found[1].decode("utf-8", "replace")},"method":"{REFUSED}"}}'
