"""Bodies: requests over HTTP -> requests whose body is there in one piece, within its limit, and sound; or an answer.

The SDK gathers bodies too, but writes a traceback into the log for each client that goes away before its end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.halves import whole
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message. A memory is some hundred bytes; what is larger is a file, which `scrubjay sync` takes in."""
LITTLE: Final = 64 * 1024
"""Bytes of a body that is looked through at once; a larger one is the work of a thread, and others are answered."""
CLOSE: Final = {"connection": "close"}
"""What is said to a client whose body was not read to its end."""
MOST_DROPPED: Final = 128 * 1024 * 1024
"""Bytes that are read and dropped once a body is refused; a connection closed before would take the answer with it."""
PATIENCE: Final = 30.0
"""Seconds in which a body must have come, where nothing else was said."""

Form = Callable[[int, str], Mapping[str, Any]]
"""What others call an error: a status and a message, with its hint -> what is sent as JSON."""


class TooLargeError(InputError):
    """A body is larger than what is taken."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The message has more than {most:,} bytes. Nothing was done.",
            hint="send less at once; `scrubjay sync` takes files",
        )


class LateError(InputError):
    """A body did not come in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The body did not come within {seconds:g} seconds. Nothing was done.")


class Bodies:
    """An ASGI application around another.

    Args:
        app: What is behind it.
        patience: Seconds in which a body must have come.
        streamed: Paths whose handlers read and limit the body themselves.
    """

    def __init__(self, app: ASGIApp, patience: float = PATIENCE, streamed: Sequence[str] = ()) -> None:
        self._app = app
        self._patience = patience
        self._streamed = frozenset(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its body; nothing when its client has gone."""
        if scope["type"] != "http" or inner(scope) in self._streamed:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._patience):
                body, more = await _whole(receive)
        except TimeoutError:
            await refused(408, LateError(self._patience), scope, receive, send, CLOSE)
            return
        if body is None:
            return
        if len(body) > MOST_BYTES:
            await refused(413, TooLargeError(MOST_BYTES), scope, receive, _unended(send), CLOSE)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience):
                    await _dropped(receive, more)
            await send({"type": "http.response.body"})
            return
        text = _sound(body) if len(body) <= LITTLE else await asyncio.to_thread(_sound, body)
        ahead: list[Message] = [{"type": "http.request", "body": text, "more_body": False}]

        async def once() -> Message:
            return ahead.pop() if ahead else await receive()

        await self._app(scope, once, send)


def _sound(body: bytes) -> bytes:
    return whole(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


async def _whole(receive: Receive) -> tuple[bytes | None, bool]:
    """Return the body, None when its client has gone, and whether there is more than is taken."""
    body, more = bytearray(), True
    while more and len(body) <= MOST_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None, False
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body), more


def _unended(send: Send) -> Send:
    """Return what sends an answer whose end is yet to be said: the server closes the connection at the end."""

    async def sending(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    return sending


async def _dropped(receive: Receive, more: bool) -> None:
    """Read the rest of a body and drop it, up to a bound.

    Who sends all of it before it reads, as most clients and reverse proxies do, would else be cut off while it sends,
    and never read why.
    """
    read = 0
    while more and read < MOST_DROPPED:
        message = await receive()
        read += len(message.get("body", b""))
        more = message.get("more_body", False)


async def refused(
    status: int,
    error: InputError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
    form: Form | None = None,
) -> None:
    """Answer a request with an error of ours as JSON, in another form than ours if one is given."""
    from starlette.responses import Response

    told = shape.error(error) if form is None else form(status, f"{error} {error.hint}".strip())
    text = json.dumps(told)
    await Response(text, status, headers, media_type="application/json")(scope, receive, send)
