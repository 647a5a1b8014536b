"""Proxy: the ASGI app that forwards requests to a model, injects memories and stores the turns.

Only the path below the prefix and the query come from the request.

Everything passes unchanged except completion requests: gate > rewrite > retrieve > inject > forward > remember.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.datastructures import Headers

from scrubjay import tracing
from scrubjay.api.auth import TOKEN_PREFIX
from scrubjay.api.oauth import oauth_verifier
from scrubjay.config.loader import key_from_variable
from scrubjay.config.paths import Pauses, data_folder, environment
from scrubjay.errors import ScrubjayError
from scrubjay.server.auth import AuthMiddleware
from scrubjay.server.middleware import (
    PRINCIPAL_KEY,
    BodyLimit,
    BodyLimitMiddleware,
    BodyTimeoutError,
    method_label,
    route_path,
)
from scrubjay.server.proxy.formats import (
    DEFAULT_AGENT,
    HEADER_PREFIX,
    AnthropicAdapter,
    CompletionRequest,
    MemoryOptions,
    OpenAIAdapter,
    ResponseReader,
    Utterance,
    object_members,
    parse_conversation,
    parse_memory_options,
)
from scrubjay.server.proxy.retrieval import ContextRetriever
from scrubjay.server.proxy.turn_queue import MAX_TEXT, DropCounters, QueueWorker, TurnQueue
from scrubjay.server.proxy.upstream import (
    Header,
    Upstream,
    UpstreamTruncatedError,
    UpstreamUnavailableError,
    forwarded_headers,
)

if TYPE_CHECKING:
    import httpx
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.api.auth import Principal, TokenStore
    from scrubjay.server.auth import TokenlessAccess
    from scrubjay.server.proxy.formats import ProviderAdapter
    from scrubjay.server.session import Session


class ClientDisconnectedError(Exception):
    """The client disconnected before its request was complete."""


async def stream_body(receive: Receive) -> AsyncIterator[bytes]:
    """Yield the body in pieces.

    Raises:
        ClientDisconnectedError: The client disconnected.
        BodyTimeoutError: The body did not arrive in time.
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
    while (await receive())["type"] != "http.disconnect":
        pass


ADAPTERS: Final[tuple[ProviderAdapter, ...]] = (OpenAIAdapter(), AnthropicAdapter())
ERROR_FORMATS: Final = {adapter.prefix: adapter.error for adapter in ADAPTERS}
"""Form of errors by path prefix. Below these an Authorization or key is the upstream's unless it is our token."""
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a completion request."""
PROXY_LIMITS: Final = {adapter.prefix: BodyLimit(None, streamed=True) for adapter in ADAPTERS} | {
    adapter.prefix + adapter.completion_path: BodyLimit(MAX_BODY_BYTES, cleaned=False) for adapter in ADAPTERS
}
LOOP_HEADER: Final = b"x-scrubjay-through"
"""Header with the ids of the proxies that a request has passed, to detect loops."""
SHUTDOWN_SECONDS: Final = 3.0
"""Seconds to store queued turns at shutdown; the rest stays queued."""
KEY_HEADERS: Final = (b"authorization", b"x-api-key", b"api-key")


class Proxy:
    """The proxy of one process.

    Raises:
        ConfigError: An upstream's URL is invalid.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.settings = session.settings.proxy
        self.patience = session.settings.server.patience_seconds
        self.retriever = ContextRetriever(session)
        self.upstream = Upstream(self.settings)
        self.drops = DropCounters(session.log)
        self._folder = data_folder(environment())
        self.queue = TurnQueue(
            self._folder,
            session.settings.store,
            self.settings.queue_mb * 1_000_000,
            self.drops.report_damage,
            session.settings.redaction.allow,
        )
        self._id = secrets.token_hex(8).encode()
        self.worker: QueueWorker | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open the store ahead and store queued turns until the block ends."""
        self.worker = QueueWorker(self._session, self.queue, self.drops)
        tasks = [self.retriever.open(), asyncio.create_task(self.worker.run())]
        try:
            yield
            with suppress(TimeoutError):
                async with asyncio.timeout(SHUTDOWN_SECONDS):
                    await self.worker.wait_until_drained()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.upstream.close()
            self.queue.close()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        """Return an application that forwards the proxy's paths and leaves the rest to another."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            path = route_path(scope) if scope["type"] == "http" else ""
            adapter = next((candidate for candidate in ADAPTERS if path.startswith(candidate.prefix)), None)
            if adapter is None:
                await app(scope, receive, send)
            else:
                tracing.set_route(method_label(scope["method"]), f"{adapter.prefix}{{path}}")
                await self._forward(adapter, scope, receive, send)

        return application

    async def queue_size(self) -> int | None:
        """Return how many turns of all principals are queued; None if the queue cannot be read."""
        try:
            return await asyncio.to_thread(self.queue.size)
        except (OSError, sqlite3.Error) as error:
            self._session.log.write("warning", "proxy queue", error=type(error).__name__)
            return None

    async def _forward(self, adapter: ProviderAdapter, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        who: Principal = scope[PRINCIPAL_KEY]
        try:
            paused = Pauses(self._folder).until(DEFAULT_AGENT) is not None
            options = parse_memory_options(headers, who, self.settings.memory, paused=paused)
            url = self.upstream.url(adapter, _raw_path(scope), scope["query_string"])
            upstream_headers = self._headers(adapter, headers)
        except _RefusedError as error:
            await _error_response(adapter, error.status, str(error), send)
            return
        except ScrubjayError as error:
            await _error_response(adapter, 400, f"{error} {error.hint}".strip(), send)
            return
        exchange = None
        body: bytes | AsyncIterator[bytes] = b""
        try:
            if scope["method"] == "POST" and route_path(scope) == adapter.prefix + adapter.completion_path:
                exchange = _Exchange(self, adapter, who, options)
                readable = headers.get("content-encoding", "identity").lower() == "identity"
                content = b"".join([piece async for piece in stream_body(receive)])
                body = await exchange.prepare(content, readable=readable)
                replaced = {b"content-length"}
                if exchange.stores_answer:
                    replaced.add(b"accept-encoding")
                upstream_headers = [pair for pair in upstream_headers if pair[0].lower() not in replaced]
                if exchange.stores_answer:
                    upstream_headers.append((b"accept-encoding", b"identity"))
            elif "content-length" in headers or "transfer-encoding" in headers:
                body = stream_body(receive)
        except ClientDisconnectedError:
            return
        work = self._relay(adapter, scope["method"], url, upstream_headers, body, exchange, send)
        await _until_disconnect(work, exchange, receive, read=not isinstance(body, AsyncIterator))

    async def _relay(
        self,
        adapter: ProviderAdapter,
        method: str,
        url: bytes,
        headers: list[Header],
        body: bytes | AsyncIterator[bytes],
        exchange: _Exchange | None,
        send: Send,
    ) -> None:
        """Send a request and its response. A response that breaks off is left broken off."""
        try:
            async with self.upstream.send(adapter, method, url, headers, body) as response:
                if exchange is not None:
                    await exchange.respond(response, send)
                    return
                start = {"status": response.status_code, "headers": forwarded_headers(response.headers.raw)}
                await send({"type": "http.response.start", **start})
                async for piece in self.upstream.stream(response):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except UpstreamUnavailableError as error:
            self._session.log.write("warning", "proxy upstream", status=error.status, upstream=adapter.name)
            await _error_response(adapter, error.status, str(error), send)
        except ScrubjayError as error:  # from a body that is streamed
            status = 408 if isinstance(error, BodyTimeoutError) else 503
            await _error_response(adapter, status, f"{error} {error.hint}".strip(), send)
        except UpstreamTruncatedError as error:
            self._session.log.write("warning", "proxy upstream cut", error=str(error), upstream=adapter.name)

    def _headers(self, adapter: ProviderAdapter, client: Headers) -> list[Header]:
        """Return the client's headers without ours, with the configured key in place of our token."""
        proxy_ids = [value for key, value in client.raw if key.lower() == LOOP_HEADER]
        if any(self._id in value for value in proxy_ids):
            raise _RefusedError(
                508, f"[proxy] {adapter.name} points to this server itself. Nothing was sent."
            )
        headers = [
            (key, value)
            for key, value in forwarded_headers(client.raw, frozenset((b"host", b"expect")))
            if not key.lower().startswith(HEADER_PREFIX.encode())
            and not _is_own_credential(key.lower(), value)
        ]
        headers.append((LOOP_HEADER, b", ".join([*proxy_ids, self._id])))
        if any(key.lower() in KEY_HEADERS for key, _ in headers):
            return headers
        keys = (key.lower() for key, value in client.raw if _is_own_credential(key.lower(), value))
        client_header = next((key.decode() for key in keys if key in KEY_HEADERS), "")
        try:
            key = key_from_variable("proxy", getattr(self.settings, f"{adapter.name}_key_env"))
        except ScrubjayError as error:
            raise _RefusedError(401, f"{error}") from error
        if key:
            header, value = adapter.key_header(key, client_header)
            headers.append((header.encode(), value.encode("latin-1")))
        elif client_header:
            raise _RefusedError(
                401,
                f"The request has a scrubjay token, but [proxy] {adapter.name}_key_env names no key for the "
                "upstream. Nothing was sent.",
            )
        return headers


MEMORIES_HEADER: Final = b"x-scrubjay-memories"
"""Response header with the number of injected memories."""


@dataclass
class _Exchange:
    """One completion request and its response."""

    proxy: Proxy
    adapter: ProviderAdapter
    who: Principal
    options: MemoryOptions
    _request: CompletionRequest | None = None
    _memories: int = 0
    _reader: ResponseReader | None = None
    _queued: bool = False

    async def prepare(self, body: bytes, *, readable: bool) -> bytes:
        """Return the body to send: with memories injected, or unchanged."""
        if not readable or not (self.options.reads or self.options.writes):
            return body
        self._request = await asyncio.to_thread(_parse_request, body)
        if self._request is None or not self.options.reads:
            return body
        context = await self.proxy.retriever.retrieve(self.who, self.options, self._request.conversation)
        if not context.text:
            return body
        role = self.proxy.settings.role
        injected = await asyncio.to_thread(self.adapter.inject, self._request, context.text, role)
        if injected is None:
            return body
        self._memories = context.memories
        return await asyncio.to_thread(injected.encode, "utf-8")

    @property
    def stores_answer(self) -> bool:
        return self._request is not None and self.options.writes

    async def respond(self, response: httpx.Response, send: Send) -> None:
        """Stream the response to the client; its turns are queued before its end."""
        headers = [*forwarded_headers(response.headers.raw), (MEMORIES_HEADER, str(self._memories).encode())]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        encoding = response.headers.get("content-encoding", "identity").lower()
        if self.stores_answer and response.is_success and encoding == "identity":
            streamed = response.headers.get("content-type", "").lower().startswith("text/event-stream")
            self._reader = ResponseReader(self.adapter.parser(), streamed=streamed)
        length, size = int(response.headers.get("content-length") or -1), 0
        async for piece in self.proxy.upstream.stream(response):
            size += len(piece)
            if self._reader is not None:
                self._reader.feed(piece)
                if size == length:
                    await asyncio.to_thread(self._reader.end)
                if self._reader.parser.ended:
                    await asyncio.to_thread(self.queue_turns)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._reader is not None and not self._queued:
            await asyncio.to_thread(self._reader.end)
            await asyncio.to_thread(self.queue_turns)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def queue_turns(self) -> None:
        if self._reader is None or self._request is None or self._queued:
            return
        self._queued = True
        parser, conversation = self._reader.parser, self._request.conversation
        session = self.options.session or conversation.name
        if not session or parser.failed or not parser.started:
            return
        turns = list(conversation.fresh)
        if answer := parser.text.strip():
            turns.append(Utterance("assistant", answer, len(conversation.turns)))
        before = conversation.turns[: len(conversation.turns) - len(conversation.fresh)]
        try:
            written, dropped = self.proxy.queue.put(self.who, self.options, session, turns, before)
        except (OSError, sqlite3.Error) as error:
            self.proxy.drops.record(len(turns), "unwritten", type(error).__name__)
            return
        if dropped:
            self.proxy.drops.record(dropped, "full", "the queue is full")
        if written and (cut := sum(len(turn.text) > MAX_TEXT for turn in turns)):
            self.proxy.drops.report_cut(cut)
        if written and self.proxy.worker is not None:
            self.proxy.worker.wake()


def _parse_request(body: bytes) -> CompletionRequest | None:
    """Parse a request; None if it cannot be understood or repeats a key, and so is forwarded unchanged."""
    try:
        text = body.decode("utf-8")
        members = object_members(text, "messages")
    except (ValueError, RecursionError):
        return None
    if any(len(members.get(name, [])) > 1 for name in ("messages", "system")) or "messages" not in members:
        return None
    single = {name: values[-1] for name, values in members.items()}
    messages = single["messages"].items
    return CompletionRequest(text, single, parse_conversation(messages)) if messages else None


class _RefusedError(Exception):
    """The request is not forwarded; the client gets an error in its upstream's form."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _raw_path(scope: Scope) -> bytes:
    """Return the path as the client wrote it, without the root path."""
    raw: bytes = scope["raw_path"]
    root = str(scope.get("root_path", "")).encode()
    return raw[len(root) :] if root and raw.startswith(root + b"/") else raw


def _is_own_credential(key: bytes, value: bytes) -> bool:
    return key in (*KEY_HEADERS, b"cookie") and TOKEN_PREFIX.encode() in value


async def _until_disconnect(
    work: Coroutine[Any, Any, None], exchange: _Exchange | None, receive: Receive, *, read: bool
) -> None:
    """Run the work until its client disconnects; the part of an answer that has passed by then is stored.

    ``read``: whether the request was read completely, so that nothing else listens.
    """
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(wait_for_disconnect(receive)) if read else None
    try:
        await asyncio.wait([task, *([watch] if watch else [])], return_when=asyncio.FIRST_COMPLETED)
    finally:
        unfinished = not task.done()
        for future in (task, watch):
            if future is not None:
                future.cancel()
        if unfinished and exchange is not None:
            exchange.queue_turns()
    with suppress(asyncio.CancelledError, ClientDisconnectedError):
        await task


async def _error_response(adapter: ProviderAdapter, status: int, message: str, send: Send) -> None:
    body = json.dumps(adapter.error(status, message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def create_proxy_app(session: Session, tokens: TokenStore, *, tokenless: TokenlessAccess | None) -> ASGIApp:
    return AuthMiddleware(
        create_proxy(Proxy(session)),
        tokens,
        session.owner,
        tokenless,
        foreign=ERROR_FORMATS,
        oauth=oauth_verifier(session.settings),
    )


def create_proxy(proxy: Proxy) -> ASGIApp:
    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with proxy.running():
            yield

    return BodyLimitMiddleware(
        proxy.wrap(Starlette(lifespan=running)), proxy.patience, PROXY_LIMITS, ERROR_FORMATS
    )
