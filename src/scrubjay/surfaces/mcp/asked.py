"""Asked: the lines of a client -> which requests wait for an answer yet, and one for each that the SDK cannot read.

The SDK passes over a request that is no sound one, and stops what is being answered when the client's input ends.
Whoever asked would wait for ever, and `printf '…' | scrubjay mcp` would be without its last answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from scrubjay.surfaces.mcp.server import UNSOUND

if TYPE_CHECKING:
    from types import TracebackType

    import anyio

LONGEST: Final = 30.0
"""Seconds that what was asked may take after the client's input has ended; a call takes a few at most."""
CANCELLED: Final = "notifications/cancelled"


class Asked:
    """Requests of one client that are not answered yet."""

    def __init__(self) -> None:
        self._open: set[int | str] = set()
        self._settled: anyio.Event | None = None

    def read(self, line: str) -> str:
        """Take note of what a line asks; return it, or what is refused in its stead where it cannot be read."""
        import mcp_types as types

        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            number = _wanting(line)
            if number is None:
                return line
            self._open.add(number)
            return json.dumps({"jsonrpc": "2.0", "id": number, "method": UNSOUND})
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == CANCELLED:
            self._close((message.params or {}).get("requestId"))
        return line

    def _close(self, number: Any) -> None:
        if isinstance(number, int | str):
            self._open.discard(number)
        if not self._open and self._settled is not None:
            self._settled.set()

    async def settled(self) -> None:
        """Return when all was answered, or it takes too long."""
        import anyio

        if self._open:
            self._settled = anyio.Event()
            with anyio.move_on_after(LONGEST):
                await self._settled.wait()

    def told(self, stream: Any) -> Any:
        """Return a stream of answers that takes note of each before it passes it on."""
        return _Told(stream, self._close)


class _Told:
    """A stream of the SDK, and what is to know of each answer in it."""

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

    async def __aenter__(self) -> _Told:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        ended: bool | None = await self._stream.__aexit__(kind, error, trace)
        return ended


def _wanting(line: str) -> int | str | None:
    """Return the id of a request that is no sound one; None where nobody can be answered."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    number = told.get("id") if isinstance(told, dict) and "method" in told else None
    return number if isinstance(number, str) or type(number) is int else None
