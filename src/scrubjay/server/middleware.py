"""ASGI middleware: root path, size and time limits of request bodies, unread bodies, timeout of request heads.

The size limit of a body depends on its path. Its time limit is `[server] patience_seconds`, plus one second per
`BYTES_PER_EXTRA_SECOND` bytes received: a large body over a slow line passes, one that drips does not. All bodies share
`MAX_TOTAL_BYTES` until their requests are answered; a client may hold as much as is still free, which leaves half to
the others. A client is a principal, or an address without one. uvicorn waits forever for a request's head;
`head_timeout_protocol` bounds that, and the number of silent connections per address.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrubjay import tracing
from scrubjay.api import serializers
from scrubjay.api.tools import replace_surrogates
from scrubjay.errors import InputError, ScrubjayError, StoreBusyError
from scrubjay.frozen import frozen

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from scrubjay.api.auth import Principal


PRINCIPAL_KEY: Final = "scrubjay.principal"
"""Key of a request's scope with its principal."""
_VALID_PREFIX: Final = re.compile(r"(/[\w.~-]+)+")


def route_path(scope: Scope) -> str:
    """Return the path of a request without the root path.

    >>> route_path({"path": "/memory/v1/search", "root_path": "/memory"}), route_path({"path": "/v1/search"})
    ('/v1/search', '/v1/search')
    """
    path: str = scope["path"]
    prefix: str = scope.get("root_path", "")
    return path[len(prefix) :] if prefix and path.startswith(f"{prefix}/") else path


def normalize_root_path(path: str) -> str:
    """Return a root path without its trailing slash; empty for none.

    >>> normalize_root_path("/memory/"), normalize_root_path("/")
    ('/memory', '')
    """
    prefix = path.rstrip("/")
    if prefix and not _VALID_PREFIX.fullmatch(prefix):
        raise InputError(f"{path!r:.80} is not a valid URL path prefix. Nothing was started.", hint="/memory")
    return prefix


class RootPathMiddleware:
    """Serves an application under a path prefix such as ``/memory``, whether or not the reverse proxy strips it."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._path and scope["type"] == "http":
            path = scope["path"]
            if not (path + "/").startswith(self._path + "/"):
                path = self._path + path
            scope = {**scope, "root_path": self._path, "path": path}
        await self._app(scope, receive, send)


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def method_label(method: str) -> str:
    """Return a method's name for metrics and traces, in which a client must not be able to write."""
    return method if method in METHODS else "other"


class UnreadBodyMiddleware:
    """Reads what the application left unread of a small body before the connection may be closed.

    A connection that is closed with bytes unread is reset, and a client that still sends, as reverse proxies do, loses
    the response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = _declared_length(scope) if scope["type"] == "http" else 0
        if length == 0 or length > MAX_UNREAD_BYTES:
            await self._app(scope, receive, send)
            return
        more_body = True

        async def note_end(message: Message) -> None:
            if message["type"] != "http.response.body" or message.get("more_body", False) or not more_body:
                await send(message)
                return
            await send({**message, "more_body": True})
            await _discard(receive, MAX_UNREAD_BYTES, UNREAD_SECONDS)
            await send({"type": "http.response.body"})

        async def note_body() -> Message:
            nonlocal more_body
            message = await receive()
            more_body = message.get("more_body", False)
            return message

        await self._app(scope, note_body, note_end)


class TracingMiddleware:
    """Makes each request a span, in the trace that its client names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def note_status(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = message["status"]
                attributes = {"http.response.status_code": status}
                tracing.annotate(
                    attributes | ({"error.type": str(status)} if status >= 500 else {}), failed=status >= 500
                )
            await send(message)

        method = method_label(scope["method"])
        carrier = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in (b"traceparent", b"tracestate")
        }
        attributes = {
            "http.request.method": method,
            "url.scheme": scope["scheme"],
            "network.protocol.version": scope["http_version"],
        }
        with tracing.span(method, attributes, kind="server", parent=carrier):
            await self._app(scope, receive, note_status)


_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def clean_json_text(text: str) -> str:
    r"""Replace unpaired surrogates in JSON text, which JavaScript writes where it cut a text within an emoji.

    Text that is not JSON is returned as it is.

    >>> clean_json_text(r'{"a": "\ud83d", "b": "\ud83d\ude00"}'), clean_json_text(r"[\ud83d")
    ('{"a": "\\ufffd", "b": "\\ud83d\\ude00"}', '[\\ud83d')
    """
    if not _SURROGATE_ESCAPE.search(text):
        return text
    try:
        return json.dumps(_clean_value(json.loads(text)))
    except (ValueError, RecursionError):
        return text


def _clean_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {replace_surrogates(name): _clean_value(item) for name, item in value.items()}
    return [_clean_value(item) for item in value] if isinstance(value, list) else replace_surrogates(value)


MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message that adds memories; larger texts are files, which `scrubjay sync` ingests."""
MAX_SMALL_BYTES: Final = 256 * 1024
"""Bytes of any other body, such as a query or a form: room for a long prompt."""
MAX_TOTAL_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all bodies that a server holds at once."""
MAX_UNFINISHED: Final = 256
"""Incomplete bodies of one client; each keeps a connection open."""
BYTES_PER_EXTRA_SECOND: Final = 128 * 1024
"""Bytes that extend the time limit of a body by one second."""
THREAD_BYTES: Final = 64 * 1024
"""Bytes from which a body is cleaned in a thread."""
CLOSE_HEADERS: Final = {"connection": "close"}
"""For responses to bodies that were not read completely."""
MAX_DISCARDED_BYTES: Final = 128 * 1024 * 1024
"""Bytes read and dropped after a refusal: closing the connection earlier would lose the response."""
MAX_UNREAD_BYTES: Final = 64 * 1024
"""Bytes of a body that the application left unread, such as that of a request without a token."""
UNREAD_SECONDS: Final = 2.0
"""Seconds in which they must arrive."""

ErrorFormat = Callable[[int, str], Mapping[str, Any]]
"""Builds the JSON of an error, from its status and its message with hint, in another API's form."""


class BodyTooLargeError(InputError):
    """A body exceeds its size limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The message has more than {limit:,} bytes. Nothing was done.",
            hint="send less at once; use `scrubjay sync` for files",
        )


class BodyTimeoutError(InputError):
    """A body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The body did not arrive within {seconds:g} seconds. Nothing was done.",
            hint=f"send it faster; large bodies get one more second per {BYTES_PER_EXTRA_SECOND:,} bytes",
        )


@frozen
class BodyLimit:
    """Limits of the body of a request.

    Attributes:
        max_bytes: None for no limit, only with ``streamed``.
        streamed: Whether the handler reads the body in pieces, and gets `BodyTooLargeError` and `BodyTimeoutError`.
        cleaned: Whether unpaired surrogates are replaced (`clean_json_text`); bodies for others pass unchanged.
    """

    max_bytes: int | None = MAX_SMALL_BYTES
    streamed: bool = False
    cleaned: bool = True


class BodyLimitMiddleware:
    """Reads request bodies within their limits before the application runs.

    Args:
        timeout: Seconds in which a body must arrive.
        limits: Limits by path, or by prefix if it ends in ``/``; elsewhere `BodyLimit()`.
        error_formats: Form of errors by path prefix.
    """

    def __init__(
        self,
        app: ASGIApp,
        timeout: float,
        limits: Mapping[str, BodyLimit],
        error_formats: Mapping[str, ErrorFormat | None] = {},
    ) -> None:
        self._app = app
        self._timeout = timeout
        self._limits = {path: limit for path, limit in limits.items() if not path.endswith("/")}
        self._prefixes = [(path, limit) for path, limit in limits.items() if path.endswith("/")]
        self._error_formats = error_formats
        self._reserved: Counter[Hashable] = Counter()
        self._unfinished: Counter[Hashable] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = _declared_length(scope) if scope["type"] == "http" else 0
        if length == 0:
            await self._app(scope, receive, send)
            return
        limit = self._limit(route_path(scope))
        body = _BodyReader(self, client_key(scope), limit, self._timeout, receive)
        try:
            await self._handle(body, length, scope, receive, send)
        finally:
            body.close()

    async def _handle(
        self, body: _BodyReader, length: int, scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            body.check_length(length)
            message = None if body.limit.streamed else await body.read_all()
        except (BodyTooLargeError, BodyTimeoutError, StoreBusyError) as error:
            body.close()
            await self._refuse(error, body.more_body, scope, receive, send)
            return
        if body.limit.streamed:
            await self._app(scope, body.receive, send)
        elif message is not None:  # else the client has disconnected
            await self._app(scope, replay_message(message, receive), send)

    def _limit(self, path: str) -> BodyLimit:
        prefixed = (limit for prefix, limit in self._prefixes if path.startswith(prefix))
        return self._limits.get(path) or next(prefixed, BodyLimit())

    async def _refuse(
        self, error: ScrubjayError, more_body: bool, scope: Scope, receive: Receive, send: Send
    ) -> None:
        formats = self._error_formats
        if isinstance(error, BodyTimeoutError):
            await send_error(408, error, scope, receive, send, CLOSE_HEADERS, formats)
            return
        status, headers = 413, CLOSE_HEADERS
        if isinstance(error, StoreBusyError):
            status, headers = 503, {**CLOSE_HEADERS, "retry-after": "1"}
        await send_error(status, error, scope, receive, _keep_open(send), headers, formats)
        if more_body:
            await _discard(receive, MAX_DISCARDED_BYTES, self._timeout)
        await send({"type": "http.response.body"})

    # --- shared by all bodies of the server --------------------------------------------------------------------

    def begin(self, who: Hashable) -> None:
        """Count an incomplete body; raises StoreBusyError if the client has too many."""
        if self._unfinished[who] >= MAX_UNFINISHED:
            raise StoreBusyError(
                f"{self._unfinished[who]} of your requests are incomplete. Nothing was done.",
                hint="finish those, then retry",
            )
        self._unfinished[who] += 1

    def end(self, who: Hashable) -> None:
        _subtract(self._unfinished, who, 1)

    def reserve(self, who: Hashable, size: int) -> None:
        """Reserve memory for received bytes; raises StoreBusyError if too little is left for this client."""
        total = self._reserved.total()
        if size and self._reserved[who] + size > MAX_TOTAL_BYTES - total:
            raise StoreBusyError(
                f"Requests of {total:,} bytes are being answered, {self._reserved[who]:,} of them yours. "
                "Nothing was done.",
                hint="retry in a second, with fewer large requests at once",
            )
        self._reserved[who] += size

    def release(self, who: Hashable, size: int) -> None:
        _subtract(self._reserved, who, size)


@dataclass(slots=True)
class _BodyReader:
    _middleware: BodyLimitMiddleware
    _who: Hashable
    limit: BodyLimit
    _timeout: float
    _receive: Receive
    more_body: bool = True
    _waited: float = 0.0
    _size: int = 0
    _reserved: int = 0
    _counted: bool = False

    async def receive(self) -> Message:
        if not self.more_body:
            return await self._receive()
        if not self._counted:
            self._middleware.begin(self._who)
            self._counted = True
        message = await self._receive_in_time(self._receive)
        size = len(message.get("body", b""))
        self.more_body = message["type"] == "http.request" and message.get("more_body", False)
        if not self.more_body:
            self._end()
        self._size += size
        if self.limit.max_bytes is not None and self._size > self.limit.max_bytes:
            raise BodyTooLargeError(self.limit.max_bytes)
        return message

    def check_length(self, length: int) -> None:
        if self.limit.max_bytes is not None and length > self.limit.max_bytes:
            raise BodyTooLargeError(self.limit.max_bytes)

    async def read_all(self) -> Message | None:
        """Return the whole body as one message; None if the client disconnected."""
        buffer = bytearray()
        try:
            while self.more_body:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    return None
                piece = message.get("body", b"")
                self._middleware.reserve(self._who, len(piece))
                self._reserved += len(piece)
                buffer += piece
        except BaseException:
            buffer.clear()  # the error's traceback would keep it
            raise
        body = bytes(buffer)
        del buffer
        if self.limit.cleaned:
            body = (
                _clean_body(body) if len(body) < THREAD_BYTES else await asyncio.to_thread(_clean_body, body)
            )
        return {"type": "http.request", "body": body, "more_body": False}

    def close(self) -> None:
        self._end()
        self._middleware.release(self._who, self._reserved)
        self._reserved = 0

    def _end(self) -> None:
        if self._counted:
            self._middleware.end(self._who)
        self._counted = False

    async def _receive_in_time(self, receive: Callable[[], Awaitable[Message]]) -> Message:
        """Only waiting counts against the timeout, not processing."""
        started = monotonic()
        try:
            remaining = self._timeout + self._size / BYTES_PER_EXTRA_SECOND - self._waited
            async with asyncio.timeout(max(remaining, 0)):
                return await receive()
        except TimeoutError as error:
            raise BodyTimeoutError(self._timeout) from error
        finally:
            self._waited += monotonic() - started


def replay_message(message: Message, receive: Receive) -> Receive:
    messages = [message]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def client_key(scope: Scope) -> Hashable:
    """Return whom a request counts for: its principal, or else its network address.

    >>> client_key({"client": ("2001:db8::7", 80)}) == client_key({"client": ("2001:db8::8", 443)})
    True
    """
    who: Principal | None = scope.get(PRINCIPAL_KEY)
    if who is not None:
        return who.tenant, who.user
    return client_network((scope.get("client") or ("",))[0])


def client_network(host: str) -> str:
    """Return the part of an address that identifies a client: all of an IPv4 address, the /64 network of IPv6.

    >>> (
    ...     client_network("192.0.2.7"), client_network("::ffff:192.0.2.7"),
    ...     client_network("2001:db8::7") == client_network("2001:db8::8")
    ... )
    ('192.0.2.7', '192.0.2.7', True)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64)
    return str(address)


def _declared_length(scope: Scope) -> int:
    headers = dict(scope["headers"])
    if b"transfer-encoding" in headers:
        return -1
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else -1


def _subtract(counts: Counter[Hashable], who: Hashable, size: int) -> None:
    counts[who] -= size
    if not counts[who]:
        del counts[who]


def _clean_body(body: bytes) -> bytes:
    return clean_json_text(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _keep_open(send: Send) -> Send:
    """Leave the response open, because the server closes the connection at its end."""

    async def sending(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    return sending


async def _discard(receive: Receive, limit: int, seconds: float) -> None:
    """Read and drop the rest of a body: most clients read the response only after sending it all."""
    size, more_body = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while more_body and size < limit:
                message = await receive()
                size += len(message.get("body", b""))
                more_body = message.get("more_body", False)


async def send_error(
    status: int,
    error: ScrubjayError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
    formats: Mapping[str, ErrorFormat | None] = {},
) -> None:
    """Answer a request with an error as JSON, in the form of its path's prefix, or else in ours."""
    from starlette.responses import Response

    body: Mapping[str, Any] = serializers.error_fields(error)
    path = route_path(scope)
    error_format = next((form for prefix, form in formats.items() if path.startswith(prefix)), None)
    if error_format is not None:
        body = error_format(status, f"{error} {error.hint}".strip())
    response = Response(json.dumps(body), status, headers, media_type="application/json")
    await response(scope, receive, send)


MAX_SILENT_CONNECTIONS: Final = 256
"""Connections of one address without a request; one more closes the one that has been silent longest."""


def head_timeout_protocol(seconds: float) -> type[H11Protocol]:
    """Return a uvicorn protocol that closes a connection whose request head takes longer than this."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: defaultdict[str, dict[H11Protocol, None]] = defaultdict(dict)

    class HeadTimeoutProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._start_timer()

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None and not self.cycle.response_complete:
                self._stop_timer()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete:  # otherwise a pipelined request is being answered
                self._start_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _start_timer(self) -> None:
            self._stop_timer()
            self._deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
            connections = silent[self._address]
            connections[self] = None
            if len(connections) > MAX_SILENT_CONNECTIONS:
                longest = next(iter(connections))
                del connections[longest]
                longest.timeout_keep_alive_handler()

        @property
        def _address(self) -> str:
            return client_network(self.client[0]) if self.client else ""

        def _stop_timer(self) -> None:
            silent[self._address].pop(self, None)
            if not silent[self._address]:
                del silent[self._address]
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return HeadTimeoutProtocol
