"""Bodies: requests over HTTP -> requests whose body is there in one piece, within its limit, and sound; or an answer.

The SDK gathers bodies too, but writes a traceback into the log for each client that goes away before its end.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.halves import whole
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message. A memory is some hundred bytes; what is larger is a file, which `scrubjay sync` takes in."""
CLOSE: Final = {"connection": "close"}
"""What is said to a client whose body was not read to its end."""
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
                body = await _whole(receive)
        except TooLargeError as error:
            await refused(413, error, scope, receive, send, CLOSE)
            return
        except TimeoutError:
            await refused(408, LateError(self._patience), scope, receive, send, CLOSE)
            return
        if body is None:
            return
        text = whole(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        ahead: list[Message] = [{"type": "http.request", "body": text, "more_body": False}]

        async def once() -> Message:
            return ahead.pop() if ahead else await receive()

        await self._app(scope, once, send)


async def _whole(receive: Receive) -> bytes | None:
    """Return the body, None when its client has gone.

    Raises:
        TooLargeError: It has more bytes than are taken.
    """
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BYTES:
            raise TooLargeError(MOST_BYTES)
    return bytes(body)


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
