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

from scrubjay.daemon.embedding import keep_embedded
from scrubjay.daemon.server import host_daemon
from scrubjay.errors import InputError
from scrubjay.server.mcp.server import build_server
from scrubjay.server.middleware import MAX_MESSAGE_BYTES, BodyTooLargeError, clean_json_text
from scrubjay.server.session import Session
from scrubjay.services.workspace import enable_tracing

if TYPE_CHECKING:
    from types import TracebackType

    import anyio

    from scrubjay.config.settings import Settings


DRAIN_SECONDS: Final = 30.0
"""Seconds that pending requests may take after the client's input has ended."""
CANCELLED_METHOD: Final = "notifications/cancelled"
TOO_LARGE_METHOD: Final = "scrubjay/refused"
"""Method of the request in place of a line that was too long."""
INVALID_REQUEST: Final = InputError(
    'Not a JSON-RPC 2.0 request: "jsonrpc" must be "2.0", "method" a string and "params" an object. '
    "Nothing was done."
)


class PendingRequests:
    def __init__(self) -> None:
        self._pending: set[int | str] = set()
        self._settled: anyio.Event | None = None
        self.answers: Any = None
        """The SDK's stream of answers; None until it is open."""

    async def accept(self, line: str) -> bool:
        """Record the request in a line, or refuse it; return whether the SDK is to read the line."""
        import mcp_types as types

        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            id = _request_id(line)
            if id is None:
                return True
            await self._refuse(id, INVALID_REQUEST)
            return False
        if isinstance(message, types.JSONRPCRequest):
            if message.method == TOO_LARGE_METHOD:
                await self._refuse(message.id, BodyTooLargeError(MAX_MESSAGE_BYTES))
                return False
            self._pending.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED_METHOD:
            self.remove((message.params or {}).get("requestId"))
        return True

    async def _refuse(self, id: int | str, error: InputError) -> None:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError
        from mcp.shared.message import SessionMessage

        refusal = MCPError(types.INVALID_REQUEST, str(error), {"hint": error.hint} if error.hint else None)
        answer = types.JSONRPCError(jsonrpc="2.0", id=id, error=refusal.error)
        await self.answers.send(SessionMessage(answer))

    def remove(self, id: Any) -> None:
        if isinstance(id, int | str):
            self._pending.discard(id)
        if not self._pending and self._settled is not None:
            self._settled.set()

    async def wait_until_settled(self) -> None:
        """Wait until all are answered, at most `DRAIN_SECONDS`."""
        import anyio

        if self._pending:
            self._settled = anyio.Event()
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._settled.wait()


class _TrackedStream:
    def __init__(self, stream: Any, answered: Callable[[Any], None]) -> None:
        self._stream = stream
        self._answered = answered

    async def send(self, item: Any) -> None:
        import mcp_types as types

        await self._stream.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._answered(item.message.id)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> _TrackedStream:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        suppressed: bool | None = await self._stream.__aexit__(kind, error, trace)
        return suppressed


def _request_id(line: str) -> int | str | None:
    """Return the id of an invalid request; None if it has none to answer."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    id = message.get("id") if isinstance(message, dict) and "method" in message else None
    return id if isinstance(id, str) or type(id) is int else None


STANDARD_INPUT: Final = 0
READ_BYTES: Final = 65_536
ID_SEARCH_BYTES: Final = 4_096
"""Bytes at either end of a line that is too long where its id is looked for."""
_ID: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")'
_FIRST: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*|"method"\s*:\s*"[^"]*"\s*,\s*)*' + _ID)
_LAST: Final = re.compile(_ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


def serve_stdio(settings: Settings, environment: Mapping[str, str]) -> None:
    """Serve one client until it closes standard input or stops reading; meanwhile act as the daemon.

    ``environment`` is the environment that the settings were loaded from.
    """
    import anyio
    from mcp.server.stdio import stdio_server

    enable_tracing(settings)
    with (
        Session(settings) as session,
        host_daemon(settings, session.memory, environment, "mcp"),
        keep_embedded(settings, session.log, lambda: session.embeddable(environment)),
    ):
        server = build_server(session, lambda _context: session.owner, here=_working_folder())

        async def run() -> None:
            pending = PendingRequests()
            lines = cast("anyio.AsyncFile[str]", _read_lines(_claim_descriptor(STANDARD_INPUT), pending))
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_on_interrupt, group.cancel_scope)
                async with stdio_server(stdin=lines) as (incoming, outgoing):
                    pending.answers = outgoing
                    tracked = _TrackedStream(outgoing, pending.remove)
                    await server.run(incoming, cast("Any", tracked), server.create_initialization_options())
                group.cancel_scope.cancel()

        try:
            anyio.run(run)
        except* (BrokenPipeError, anyio.BrokenResourceError):
            logging.getLogger("scrubjay").info("The client stopped reading.")


async def _cancel_on_interrupt(scope: anyio.CancelScope) -> None:
    """Cancel for good at Ctrl-C: asyncio cancels once, and code that catches that runs on."""
    import anyio

    if sys.platform == "win32":  # no signal receiver there
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
    duplicate = os.dup(descriptor)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, descriptor)
    os.close(null)
    return duplicate


async def _read_lines(descriptor: int, pending: PendingRequests) -> AsyncIterator[str]:
    """Yield the lines of a descriptor, read by a daemon thread, and end when all requests are answered."""
    import anyio
    from anyio.from_thread import run as call_in_loop
    from anyio.lowlevel import current_token

    sending, receiving = anyio.create_memory_object_stream[str](0)
    token, cancelled = current_token(), anyio.get_cancelled_exc_class()

    def read() -> None:
        try:
            for line in bounded_lines(descriptor):
                call_in_loop(sending.send, line, token=token)
            call_in_loop(sending.aclose, token=token)
        except (
            RuntimeError,
            CancelledError,
            cancelled,
            anyio.BrokenResourceError,
            anyio.ClosedResourceError,
        ):
            return  # the loop has ended, or is about to

    threading.Thread(target=read, name="scrubjay-stdin", daemon=True).start()
    async with sending, receiving:
        async for line in receiving:
            if await pending.accept(line):
                yield line
    await pending.wait_until_settled()


def bounded_lines(descriptor: int, limit: int = MAX_MESSAGE_BYTES) -> Iterator[str]:
    """Yield the lines of a descriptor; one that is too long becomes a request that is refused."""
    with open(descriptor, "rb", buffering=READ_BYTES, closefd=False) as source:
        while line := source.readline(limit + 1):
            if len(line) <= limit or line.endswith(b"\n"):
                if line.strip():
                    yield clean_json_text(line.removesuffix(b"\n").decode("utf-8", "replace"))
                continue
            tail = piece = line
            while not piece.endswith(b"\n") and (piece := source.readline(READ_BYTES)):
                tail = tail[-ID_SEARCH_BYTES:] + piece
            match = _FIRST.match(line[:ID_SEARCH_BYTES]) or _LAST.search(tail[-ID_SEARCH_BYTES:])
            if match:
                id = match[1].decode("utf-8", "replace")
                yield f'{{"jsonrpc":"2.0","id":{id},"method":"{TOO_LARGE_METHOD}"}}'
