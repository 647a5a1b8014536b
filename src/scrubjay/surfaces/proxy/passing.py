"""Passing: requests under the proxy's prefixes -> their upstreams; an ASGI application around another.

Everything below a prefix goes to its upstream as it is; two kinds of request are looked into (`exchange`).
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from scrubjay.config import named_key
from scrubjay.config_start import data_folder, environment
from scrubjay.errors import ScrubjayError
from scrubjay.pauses import Pauses
from scrubjay.surfaces.proxy.anthropic import Anthropic
from scrubjay.surfaces.proxy.exchange import Exchange, plain
from scrubjay.surfaces.proxy.losses import Losses
from scrubjay.surfaces.proxy.openai import OpenAI
from scrubjay.surfaces.proxy.recall import Recalling
from scrubjay.surfaces.proxy.remember import Worker
from scrubjay.surfaces.proxy.spool import Spool
from scrubjay.surfaces.proxy.take import GoneError, gone, pieces, whole
from scrubjay.surfaces.proxy.upstream import CutError, Header, LostError, Upstream, passed
from scrubjay.surfaces.proxy.wish import OURS, USUAL_AGENT, wish
from scrubjay.surfaces.serve.bodies import LateError, Limit
from scrubjay.surfaces.serve.gate import PRINCIPAL
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.verbs.tokens import PREFIX

if TYPE_CHECKING:
    import httpx
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.proxy.wire import Wire
    from scrubjay.surfaces.serve.session import Session

WIRES: Final[tuple[Wire, ...]] = (OpenAI(), Anthropic())
FOREIGN: Final = {wire.prefix: wire.error for wire in WIRES}
"""Where a request's Authorization or key is the upstream's, unless it is a token of ours; and the form of an error."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a request that memories may be put into."""
LIMITS: Final = {wire.prefix: Limit(None, streamed=True) for wire in WIRES} | {
    wire.prefix + wire.talk: Limit(MOST_BYTES, mended=False) for wire in WIRES
}
"""What a body may be below the prefixes."""
THROUGH: Final = b"x-scrubjay-through"
"""Header that names the proxies that a request has passed, so that none passes it on to itself for ever."""
LAST: Final = 3.0
"""Seconds that what waits still has to be remembered when the server ends; what is left then waits for the next."""
KEYS: Final = (b"authorization", b"x-api-key", b"api-key")


class Passing:
    """Passes requests on, for one process.

    Attributes:
        settings: The section ``[proxy]``.
        patience: Seconds in which a body must have come.
        recalling: What finds what is put in.
        upstream: The services.
        spool: What waits to be remembered.
        worker: What remembers it, while it runs.
        losses: What passed and could not be kept.

    Raises:
        ConfigError: An upstream's URL is none.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.settings = session.settings.proxy
        self.patience = session.settings.server.patience_seconds
        self.recalling = Recalling(session)
        self.upstream = Upstream(self.settings)
        self.losses = Losses(session.log)
        most = self.settings.queue_mb * 1_000_000
        self._folder = data_folder(environment())
        allow = session.settings.redaction.allow
        self.spool = Spool(self._folder, session.settings.store, most, self.losses.damaged, allow)
        self._name = secrets.token_hex(8).encode()
        self.worker: Worker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store ahead, and remember what waits, as long as the block lasts."""
        self._loop = asyncio.get_running_loop()
        self.worker = Worker(self._session, self.spool, self.losses)
        tasks = [self.recalling.open(), asyncio.create_task(self.worker.run())]
        try:
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST):
                    await self.worker.rested()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.upstream.close()
            self.spool.close()

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application that passes on what is the proxy's and gives the rest to another."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            path = inner(scope) if scope["type"] == "http" else ""
            wire = next((one for one in WIRES if path.startswith(one.prefix)), None)
            if wire is None:
                await app(scope, receive, send)
            else:
                await self._request(wire, scope, receive, send)

        return application

    def wake(self) -> None:
        """Tell the worker, from whatever thread, that something waits."""
        if self._loop is not None and self.worker is not None:
            self._loop.call_soon_threadsafe(self.worker.wake)

    def _paused(self) -> bool:
        """Tell whether `scrubjay pause` holds, of all agents."""
        return Pauses(self._folder).until(USUAL_AGENT) is not None

    async def waiting(self) -> int | None:
        """Return how many turns of all principals wait to be remembered; None while the queue cannot be read."""
        try:
            return await asyncio.to_thread(self.spool.waiting)
        except (OSError, sqlite3.Error) as error:
            self._session.log.write("warning", "proxy queue", error=type(error).__name__)
            return None

    async def _request(self, wire: Wire, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import Headers

        told = Headers(scope=scope)
        try:
            wished = wish(told, scope[PRINCIPAL], self.settings.memory, paused=self._paused())
            url = self.upstream.url(wire, _raw(scope), scope["query_string"])
            headers = self._headers(wire, told)
        except _RefusedError as error:
            await _told(wire, error.status, str(error), send)
            return
        except ScrubjayError as error:
            await _told(wire, 400, f"{error} {error.hint}".strip(), send)
            return
        exchange = None
        body: bytes | AsyncIterator[bytes] = b""
        try:
            if scope["method"] == "POST" and inner(scope) == wire.prefix + wire.talk:
                exchange = Exchange(self, wire, scope[PRINCIPAL], wished)
                readable = told.get("content-encoding", "identity").lower() == "identity"
                body = await exchange.prepared(await whole(receive), readable=readable)
                headers = [each for each in headers if each[0].lower() != b"content-length"]
                headers = plain(headers) if exchange.heard else headers
            elif "content-length" in told or "transfer-encoding" in told:
                body = pieces(receive)
        except GoneError:
            return
        work = self._passed(wire, scope["method"], url, headers, body, exchange, send)
        await _until_gone(work, exchange, receive, read=not isinstance(body, AsyncIterator))

    async def _passed(
        self,
        wire: Wire,
        method: str,
        url: bytes,
        headers: list[Header],
        body: bytes | AsyncIterator[bytes],
        exchange: Exchange | None,
        send: Send,
    ) -> None:
        """Pass one request on, and its answer back. An answer that breaks off is left broken off."""
        try:
            async with self.upstream.sent(wire, method, url, headers, body) as response:
                if exchange is not None:
                    await exchange.answered(response, send)
                else:
                    await self._untouched(response, send)
        except LostError as error:
            self._session.log.write("warning", "proxy upstream", status=error.status, upstream=wire.name)
            await _told(wire, error.status, str(error), send)
        except ScrubjayError as error:  # of the body, which went on as it came
            status = 408 if isinstance(error, LateError) else 503
            await _told(wire, status, f"{error} {error.hint}".strip(), send)
        except CutError as error:
            self._session.log.write("warning", "proxy upstream cut", error=str(error), upstream=wire.name)

    async def _untouched(self, response: httpx.Response, send: Send) -> None:
        start = {"status": response.status_code, "headers": passed(response.headers.raw)}
        await send({"type": "http.response.start", **start})
        async for piece in self.upstream.pieces(response):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _headers(self, wire: Wire, told: Headers) -> list[Header]:
        """Return the headers to send: the client's without ours, with the settings' key in the place of our token.

        Raises:
            _RefusedError: The request has passed here before, or there is no key to show.
        """
        through = [value for key, value in told.raw if key.lower() == THROUGH]
        if any(self._name in value for value in through):
            raise _RefusedError(508, f"[proxy] {wire.name} leads back to this very server. Nothing was sent.")
        headers = [
            (key, value)
            for key, value in passed(told.raw, frozenset((b"host", b"expect")))
            if not key.lower().startswith(OURS.encode()) and not _ours(key.lower(), value)
        ]
        headers.append((THROUGH, b", ".join([*through, self._name])))
        if not any(key.lower() in KEYS for key, _ in headers):
            ours = [
                key.lower() for key, value in told.raw if key.lower() in KEYS and _ours(key.lower(), value)
            ]
            headers += self._key(wire, ours[0].decode() if ours else "")
        return headers

    def _key(self, wire: Wire, shown: str) -> list[Header]:
        """Return the header with the settings' key; where there is none and a token of ours was shown, refuse."""
        variable = getattr(self.settings, f"{wire.name}_key_env")
        try:
            key = named_key("proxy", variable)
        except ScrubjayError as error:
            raise _RefusedError(401, f"{error}") from error
        if not key and shown:
            raise _RefusedError(
                401,
                f"The request shows a token of scrubjay, and [proxy] {wire.name}_key_env names no key for the "
                "upstream. Nothing was sent.",
            )
        header, shows = wire.key(key, shown)
        return [(header.encode(), shows.encode("latin-1"))] if key else []


class _RefusedError(Exception):
    """A request is not passed on; told to the client in its upstream's form."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _raw(scope: Scope) -> bytes:
    """Return the path as the client wrote it, without what a reverse proxy put before it."""
    raw: bytes = scope["raw_path"]
    before = str(scope.get("root_path", "")).encode()
    return raw[len(before) :] if before and raw.startswith(before + b"/") else raw


def _ours(key: bytes, value: bytes) -> bool:
    """Tell whether a header shows a token or a login of ours, which goes no further."""
    return key in (*KEYS, b"cookie") and PREFIX.encode() in value


async def _until_gone(
    work: Coroutine[Any, Any, None], exchange: Exchange | None, receive: Receive, *, read: bool
) -> None:
    """Do the work, but no longer than its client is there; what an answer had said until then is kept.

    Args:
        work: Passes the request on.
        exchange: What is remembered; None for nothing.
        receive: Tells of the client.
        read: Whether the request was read whole, so that nobody else listens.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(gone(receive)) if read else None
    try:
        await asyncio.wait([task, *([watch] if watch else [])], return_when=asyncio.FIRST_COMPLETED)
    finally:
        left = not task.done()
        for each in (task, watch):
            if each is not None:
                each.cancel()
        if left and exchange is not None:
            exchange.keep()
    with suppress(asyncio.CancelledError, GoneError):
        await task


async def _told(wire: Wire, status: int, message: str, send: Send) -> None:
    body = json.dumps(wire.error(status, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
