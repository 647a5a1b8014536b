"""Proxy application: forward requests below the proxy's prefixes to their upstream.

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

from starlette.applications import Starlette

from scrubjay.api.auth import TOKEN_PREFIX
from scrubjay.config.loader import key_from_variable
from scrubjay.config.paths import data_folder, environment
from scrubjay.config.pauses import Pauses
from scrubjay.errors import ScrubjayError
from scrubjay.server.auth import PRINCIPAL_KEY, AuthMiddleware
from scrubjay.server.middleware import BodyLimit, BodyLimitMiddleware, BodyTimeoutError, route_path
from scrubjay.server.proxy.adapters import AnthropicAdapter, OpenAIAdapter
from scrubjay.server.proxy.exchange import Exchange, uncompressed_headers
from scrubjay.server.proxy.request import DEFAULT_AGENT, HEADER_PREFIX, parse_memory_options
from scrubjay.server.proxy.retrieval import ContextRetriever
from scrubjay.server.proxy.turn_queue import DropCounters, QueueWorker, TurnQueue
from scrubjay.server.proxy.upstream import (
    Header,
    Upstream,
    UpstreamTruncatedError,
    UpstreamUnavailableError,
    forwarded_headers,
)

if TYPE_CHECKING:
    import httpx
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.api.auth import TokenStore
    from scrubjay.server.auth import TokenlessAccess
    from scrubjay.server.proxy.adapters import ProviderAdapter
    from scrubjay.server.session import Session


class ClientDisconnectedError(Exception):
    """The client went away before its request was whole."""


async def read_body(receive: Receive) -> bytes:
    """Return the whole body.

    Raises:
        ClientDisconnectedError: The client went away.
    """
    return b"".join([piece async for piece in stream_body(receive)])


async def stream_body(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the body in pieces.

    Raises:
        ClientDisconnectedError: The client went away.
        BodyTimeoutError: It did not arrive in time.
    """
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client of a request that was read has gone away."""
    while (await receive())["type"] != "http.disconnect":
        pass


ADAPTERS: Final[tuple[ProviderAdapter, ...]] = (OpenAIAdapter(), AnthropicAdapter())
ERROR_FORMATS: Final = {adapter.prefix: adapter.error for adapter in ADAPTERS}
"""Where a request's Authorization or key is the upstream's, unless it is a token of ours; and the form of an error."""
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a request that memories may be put into."""
PROXY_LIMITS: Final = {adapter.prefix: BodyLimit(None, streamed=True) for adapter in ADAPTERS} | {
    adapter.prefix + adapter.talk: BodyLimit(MAX_BODY_BYTES, cleaned=False) for adapter in ADAPTERS
}
"""What a body may be below the prefixes."""
LOOP_HEADER: Final = b"x-scrubjay-through"
"""Header that names the proxies that a request has passed, so that none passes it on to itself for ever."""
SHUTDOWN_SECONDS: Final = 3.0
"""Seconds that what waits still has to be remembered when the server ends; what is left then waits for the next."""
KEY_HEADERS: Final = (b"authorization", b"x-api-key", b"api-key")


class Proxy:
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
        self.retriever = ContextRetriever(session)
        self.upstream = Upstream(self.settings)
        self.drops = DropCounters(session.log)
        most = self.settings.queue_mb * 1_000_000
        self._folder = data_folder(environment())
        allow = session.settings.redaction.allow
        self.queue = TurnQueue(self._folder, session.settings.store, most, self.drops.damaged, allow)
        self._name = secrets.token_hex(8).encode()
        self.worker: QueueWorker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store ahead, and remember what waits, as long as the block lasts."""
        self._loop = asyncio.get_running_loop()
        self.worker = QueueWorker(self._session, self.queue, self.drops)
        tasks = [self.retriever.open(), asyncio.create_task(self.worker.run())]
        try:
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(SHUTDOWN_SECONDS):
                    await self.worker.rested()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.upstream.close()
            self.queue.close()

    def around(self, app: ASGIApp) -> ASGIApp:
        """Return an application that passes on what is the proxy's and gives the rest to another."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            path = route_path(scope) if scope["type"] == "http" else ""
            adapter = next((one for one in ADAPTERS if path.startswith(one.prefix)), None)
            if adapter is None:
                await app(scope, receive, send)
            else:
                await self._request(adapter, scope, receive, send)

        return application

    def wake(self) -> None:
        """Tell the worker, from whatever thread, that something waits."""
        if self._loop is not None and self.worker is not None:
            self._loop.call_soon_threadsafe(self.worker.wake)

    def _paused(self) -> bool:
        """Tell whether `scrubjay pause` holds, of all agents."""
        return Pauses(self._folder).until(DEFAULT_AGENT) is not None

    async def waiting(self) -> int | None:
        """Return how many turns of all principals wait to be remembered; None while the queue cannot be read."""
        try:
            return await asyncio.to_thread(self.queue.waiting)
        except (OSError, sqlite3.Error) as error:
            self._session.log.write("warning", "proxy queue", error=type(error).__name__)
            return None

    async def _request(self, adapter: ProviderAdapter, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import Headers

        told = Headers(scope=scope)
        try:
            wished = parse_memory_options(
                told, scope[PRINCIPAL_KEY], self.settings.memory, paused=self._paused()
            )
            url = self.upstream.url(adapter, _raw_path(scope), scope["query_string"])
            headers = self._headers(adapter, told)
        except _RefusedError as error:
            await _error_response(adapter, error.status, str(error), send)
            return
        except ScrubjayError as error:
            await _error_response(adapter, 400, f"{error} {error.hint}".strip(), send)
            return
        exchange = None
        body: bytes | AsyncIterator[bytes] = b""
        try:
            if scope["method"] == "POST" and route_path(scope) == adapter.prefix + adapter.talk:
                exchange = Exchange(self, adapter, scope[PRINCIPAL_KEY], wished)
                readable = told.get("content-encoding", "identity").lower() == "identity"
                body = await exchange.prepared(await read_body(receive), readable=readable)
                headers = [each for each in headers if each[0].lower() != b"content-length"]
                headers = uncompressed_headers(headers) if exchange.stores_answer else headers
            elif "content-length" in told or "transfer-encoding" in told:
                body = stream_body(receive)
        except ClientDisconnectedError:
            return
        work = self._passed(adapter, scope["method"], url, headers, body, exchange, send)
        await _until_disconnect(work, exchange, receive, read=not isinstance(body, AsyncIterator))

    async def _passed(
        self,
        adapter: ProviderAdapter,
        method: str,
        url: bytes,
        headers: list[Header],
        body: bytes | AsyncIterator[bytes],
        exchange: Exchange | None,
        send: Send,
    ) -> None:
        """Pass one request on, and its answer back. An answer that breaks off is left broken off."""
        try:
            async with self.upstream.sent(adapter, method, url, headers, body) as response:
                if exchange is not None:
                    await exchange.answered(response, send)
                else:
                    await self._untouched(response, send)
        except UpstreamUnavailableError as error:
            self._session.log.write("warning", "proxy upstream", status=error.status, upstream=adapter.name)
            await _error_response(adapter, error.status, str(error), send)
        except ScrubjayError as error:  # of the body, which went on as it came
            status = 408 if isinstance(error, BodyTimeoutError) else 503
            await _error_response(adapter, status, f"{error} {error.hint}".strip(), send)
        except UpstreamTruncatedError as error:
            self._session.log.write("warning", "proxy upstream cut", error=str(error), upstream=adapter.name)

    async def _untouched(self, response: httpx.Response, send: Send) -> None:
        start = {"status": response.status_code, "headers": forwarded_headers(response.headers.raw)}
        await send({"type": "http.response.start", **start})
        async for piece in self.upstream.pieces(response):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _headers(self, adapter: ProviderAdapter, told: Headers) -> list[Header]:
        """Return the headers to send: the client's without ours, with the settings' key in the place of our token.

        Raises:
            _RefusedError: The request has passed here before, or there is no key to show.
        """
        through = [value for key, value in told.raw if key.lower() == LOOP_HEADER]
        if any(self._name in value for value in through):
            raise _RefusedError(
                508, f"[proxy] {adapter.name} points to this server itself. Nothing was sent."
            )
        headers = [
            (key, value)
            for key, value in forwarded_headers(told.raw, frozenset((b"host", b"expect")))
            if not key.lower().startswith(HEADER_PREFIX.encode())
            and not _is_own_credential(key.lower(), value)
        ]
        headers.append((LOOP_HEADER, b", ".join([*through, self._name])))
        if not any(key.lower() in KEY_HEADERS for key, _ in headers):
            ours = [
                key.lower()
                for key, value in told.raw
                if key.lower() in KEY_HEADERS and _is_own_credential(key.lower(), value)
            ]
            headers += self._key(adapter, ours[0].decode() if ours else "")
        return headers

    def _key(self, adapter: ProviderAdapter, shown: str) -> list[Header]:
        """Return the header with the settings' key; where there is none and a token of ours was shown, refuse."""
        variable = getattr(self.settings, f"{adapter.name}_key_env")
        try:
            key = key_from_variable("proxy", variable)
        except ScrubjayError as error:
            raise _RefusedError(401, f"{error}") from error
        if not key and shown:
            raise _RefusedError(
                401,
                f"The request has a scrubjay token, but [proxy] {adapter.name}_key_env names no key for the "
                "upstream. Nothing was sent.",
            )
        header, shows = adapter.key(key, shown)
        return [(header.encode(), shows.encode("latin-1"))] if key else []


class _RefusedError(Exception):
    """A request is not passed on; told to the client in its upstream's form."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _raw_path(scope: Scope) -> bytes:
    """Return the path as the client wrote it, without what a reverse proxy put before it."""
    raw: bytes = scope["raw_path"]
    before = str(scope.get("root_path", "")).encode()
    return raw[len(before) :] if before and raw.startswith(before + b"/") else raw


def _is_own_credential(key: bytes, value: bytes) -> bool:
    """Tell whether a header shows a token or a login of ours, which goes no further."""
    return key in (*KEY_HEADERS, b"cookie") and TOKEN_PREFIX.encode() in value


async def _until_disconnect(
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
    watch = asyncio.ensure_future(wait_for_disconnect(receive)) if read else None
    try:
        await asyncio.wait([task, *([watch] if watch else [])], return_when=asyncio.FIRST_COMPLETED)
    finally:
        left = not task.done()
        for each in (task, watch):
            if each is not None:
                each.cancel()
        if left and exchange is not None:
            exchange.keep()
    with suppress(asyncio.CancelledError, ClientDisconnectedError):
        await task


async def _error_response(adapter: ProviderAdapter, status: int, message: str, send: Send) -> None:
    body = json.dumps(adapter.error(status, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def create_proxy_app(session: Session, tokens: TokenStore, *, tokenless: TokenlessAccess | None) -> ASGIApp:
    """Return the ASGI application.

    Args:
        session: What does the work.
        tokens: Who is let in.
        tokenless: Which requests are the owner's without a token; None for none.
    """
    return AuthMiddleware(
        create_proxy(Proxy(session)), tokens, session.owner, tokenless, foreign=ERROR_FORMATS
    )


def create_proxy(passing: Proxy) -> ASGIApp:
    """Return what is behind the gate: the proxy and nothing else."""

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with passing.running():
            yield

    return BodyLimitMiddleware(
        passing.around(Starlette(lifespan=running)), passing.patience, PROXY_LIMITS, ERROR_FORMATS
    )
