"""Take: an ASGI request -> its body in one piece, or piece by piece, and word of its client going away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Receive

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a request that memories may be put into."""
MOST_DRAINED: Final = 4 * MOST_BYTES
"""Bytes that are read and let go before a client is told that it sent too many: one that still writes hears nothing."""


class GoneError(Exception):
    """The client went away before its request was whole."""


class TooLargeError(Exception):
    """The request has more bytes than memories may be put into."""


async def whole(receive: Receive) -> bytes:
    """Return the body.

    Raises:
        GoneError: The client went away.
        TooLargeError: It has more than `MOST_BYTES`.
    """
    held = bytearray()
    read = 0
    async for piece in pieces(receive):
        read += len(piece)
        if read <= MOST_BYTES:
            held += piece
        else:
            held.clear()
        if read > MOST_DRAINED:
            break
    if read > MOST_BYTES:
        raise TooLargeError
    return bytes(held)


async def pieces(receive: Receive) -> AsyncIterator[bytes]:
    """Return the body as it comes.

    Raises:
        GoneError: The client went away.
    """
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]


async def gone(receive: Receive) -> None:
    """Return when the client of a request that was read has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass
