"""Bodies: requests over HTTP -> requests whose body is there in one piece, within its limit, and sound; or an answer.

The SDK gathers bodies too, but writes a traceback into the log for each client that goes away before its end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.halves import whole
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message. A memory is some hundred bytes; what is larger is a file, which `scrubjay sync` takes in."""
TOO_LARGE: Final = f"The message has more than {MOST_BYTES:,} bytes. Nothing was done."
TOO_LARGE_HINT: Final = "send less at once; `scrubjay sync` takes files"


class Bodies:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its body; nothing when its client has gone."""
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > MOST_BYTES:
                await refused(413, InputError(TOO_LARGE, hint=TOO_LARGE_HINT), scope, receive, send)
                return
        text = whole(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        ahead: list[Message] = [{"type": "http.request", "body": text, "more_body": False}]

        async def once() -> Message:
            return ahead.pop() if ahead else await receive()

        await self._app(scope, once, send)


async def refused(
    status: int,
    error: InputError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer a request with an error of ours as JSON."""
    from starlette.responses import Response

    text = json.dumps(shape.error(error))
    await Response(text, status, headers, media_type="application/json")(scope, receive, send)
