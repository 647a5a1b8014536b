"""MCP over standard input and output: one client until it disconnects.

The SDK ignores invalid requests and cancels running ones when input ends, so their senders would wait forever; both
are answered here. Lines are read here too, because the SDK's reader is unbounded and cannot be interrupted.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Final, cast

from scrubjay.daemon.server import host_daemon
from scrubjay.server.mcp.server import INVALID_METHOD, TOO_LARGE_METHOD, build_server
from scrubjay.server.middleware import MAX_MESSAGE_BYTES, clean_json_text
from scrubjay.server.session import Session

if TYPE_CHECKING:
    from types import TracebackType

    import anyio

    from scrubjay.config.settings import Settings


DRAIN_SECONDS: Final = 30.0
"""Seconds that what was asked may take after the client's input has ended; a call takes a few at most."""
CANCELLED_METHOD: Final = "notifications/cancelled"


class PendingRequests:
    """Requests of one client that are not answered yet."""

    def __init__(self) -> None:
        self._open: set[int | str] = set()
        self._settled: anyio.Event | None = None

    def read(self, line: str) -> str:
        """Record the request in a line; return the line, or a request that is refused in place of an invalid one."""
        import mcp_types as types

        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            number = _request_id(line)
            if number is None:
                return line
            self._open.add(number)
            return json.dumps({"jsonrpc": "2.0", "id": number, "method": INVALID_METHOD})
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED_METHOD:
            self._close((message.params or {}).get("requestId"))
        return line

    def _close(self, number: Any) -> None:
        if isinstance(number, int | str):
            self._open.discard(number)
        if not self._open and self._settled is not None:
            self._settled.set()

    async def settled(self) -> None:
        """Wait until all are answered, at most `DRAIN_SECONDS`."""
        import anyio

        if self._open:
            self._settled = anyio.Event()
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._settled.wait()

    def told(self, stream: Any) -> Any:
        return _TrackedStream(stream, self._close)


class _TrackedStream:
    """A stream of responses that reports each answered request."""

    def __init__(self, stream: Any, close: Callable[[Any], None]) -> None:
        self._stream = stream
        self._close = close

    async def send(self, item: Any) -> None:
        import mcp_types as types

        await self._stream.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._close(item.message.id)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _TrackedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(kind, error, trace)
        return ended


def _request_id(line: str) -> int | str | None:
    """Return the id of an invalid request; None if it has none to answer."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = told.get("id") if isinstance(told, dict) and "method" in told else None
    return number if isinstance(number, str) or type(number) is int else None


STANDARD_INPUT: Final = 0
READ_BYTES: Final = 65_536
ID_SEARCH_BYTES: Final = 4_096
"""Bytes at either end of a line that is too long, in which its id is looked for."""
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")'
_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"method"\s*:\s*"[^"]*"\s*,\s*)*' + _ID)
_LAST: Final = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def serve_stdio(settings: Settings, around: Mapping[str, str]) -> None:
    """Serve one client until it closes standard input or stops reading; meanwhile act as the daemon.

    ``environ`` is the environment that the settings were loaded from.
    """
    import anyio
    from mcp.server.stdio import stdio_server

    with Session(settings) as session, host_daemon(settings, session.memory, around, "mcp"):
        server = build_server(session, lambda _context: session.owner, here=_working_folder())

        async def run() -> None:
            asked = PendingRequests()
            lines = cast("anyio.AsyncFile[str]", _read_lines(_claim_descriptor(STANDARD_INPUT), asked))
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_on_interrupt, group.cancel_scope)
                async with stdio_server(stdin=lines) as (incoming, outgoing):
                    await server.run(incoming, asked.told(outgoing), server.create_initialization_options())
                group.cancel_scope.cancel()

        try:
            anyio.run(run)
        except* (BrokenPipeError, anyio.BrokenResourceError):
            # The client is gone, and with it everybody who could be told.
            logging.getLogger("scrubjay").info("The client stopped reading.")


async def _cancel_on_interrupt(scope: anyio.CancelScope) -> None:
    """Cancel for good at Ctrl-C: asyncio cancels once, and code that catches that runs on."""
    import anyio

    if (
        sys.platform == "win32"
    ):  # has no signals that a loop could wait for; there asyncio's own way is the way
        return
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            scope.cancel()
            return


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _claim_descriptor(descriptor: int) -> int:
    """Duplicate standard input and empty the original, which programs that we start inherit."""
    own = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return own


async def _read_lines(descriptor: int, asked: PendingRequests) -> AsyncIterator[str]:
    """Yield the lines of a descriptor, read by a daemon thread, and end when all requests are answered."""
    import anyio
    from anyio.from_thread import run as call_in_loop
    from anyio.lowlevel import current_token

    sending, receiving = anyio.create_memory_object_stream[str](0)
    token = current_token()

    def read() -> None:
        try:
            for line in bounded_lines(descriptor):
                call_in_loop(sending.send, line, token=token)
            call_in_loop(sending.aclose, token=token)
        except (RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the loop has ended, or is about to, and nobody wants the rest

    threading.Thread(target=read, name="scrubjay-stdin", daemon=True).start()
    async with receiving:
        async for line in receiving:
            yield asked.read(line)
    await asked.settled()


def bounded_lines(descriptor: int, most: int = MAX_MESSAGE_BYTES) -> Iterator[str]:
    """Yield the lines of a descriptor; one that is too long becomes a request that is refused."""
    held, size, tail = bytearray(), 0, b""
    while chunk := os.read(descriptor, READ_BYTES):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if size + len(piece) <= most:
                yield from _decode_line(bytes(held + piece))
            else:
                yield from _too_large_request(
                    bytes(held[:ID_SEARCH_BYTES] + piece[:ID_SEARCH_BYTES]), tail + piece
                )
            held, size, tail = bytearray(), 0, b""
        size += len(rest)
        tail = (tail + rest)[-ID_SEARCH_BYTES:]
        held += rest if size <= most else rest[: max(0, ID_SEARCH_BYTES - len(held))]
    yield from (
        _decode_line(bytes(held)) if size <= most else _too_large_request(bytes(held[:ID_SEARCH_BYTES]), tail)
    )


def _decode_line(line: bytes) -> Iterator[str]:
    if line.strip():
        yield clean_json_text(line.decode("utf-8", "replace"))


def _too_large_request(begun: bytes, tail: bytes) -> Iterator[str]:
    """Return a request with the id of a line that is too long, if it is found."""
    found = _FIRST.match(begun) or _LAST.search(tail[-ID_SEARCH_BYTES:])
    if found:
        yield f'{{"jsonrpc":"2.0","id":{found[1].decode("utf-8", "replace")},"method":"{TOO_LARGE_METHOD}"}}'
