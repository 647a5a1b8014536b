"""Take: an ASGI request -> its body in one piece, or piece by piece, and word of its client going away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive


class GoneError(Exception):
    """The client went away before its request was whole."""


async def whole(receive: Receive) -> bytes:
    """Return the body, which comes in one piece (`serve/bodies.py`).

    Raises:
        GoneError: The client went away.
    """
    return b"".join([piece async for piece in pieces(receive)])


async def pieces(receive: Receive) -> AsyncIterator[bytes]:
    """Return the body as it comes.

    Raises:
        GoneError: The client went away.
        LateError: It does not come in time.
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
