"""ASGI middleware: root path, limits on the size and time of request bodies, timeout of request heads.

Whether the proxy takes the path away before it hands a request on or leaves it there, either is understood.

JavaScript writes them where it cut a text within an emoji, and so do clients that shorten what they quote.

A body has a size that its path says, and a time: `[server] patience_seconds`, and a second more for each `BYTES_PER_EXTRA_SECOND` bytes
of it, so that a large one over a slow line comes through and one that drips does not. All bodies of a server together
have a bound as well, from their first byte until their request is answered. Who asks may hold as much as is still free:
one alone half of it, and whoever else comes finds room. Who asks is the principal, or the address where there is none.

The SDK gathers bodies too, but writes a traceback into the log for each client that goes away before its end.

uvicorn ends connections that are idle after an answer, but waits without end for the first request and for the rest
of a head. Of one address only so many may wait: a process has a bounded number of connections, and one client could
take them all. What a body takes, `bodies` limits.
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

from scrubjay.api import serializers
from scrubjay.api.tools import replace_surrogates
from scrubjay.errors import InputError, ScrubjayError, StoreBusyError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from scrubjay.api.auth import Principal


_VALID_PREFIX: Final = re.compile(r"(/[\w.~-]+)+")


def route_path(scope: Scope) -> str:
    """Return the path of a request as routes have it: without the prefix.

    >>> route_path({"path": "/memory/v1/search", "root_path": "/memory"}), route_path({"path": "/v1/search"})
    ('/v1/search', '/v1/search')
    """
    path: str = scope["path"]
    prefix: str = scope.get("root_path", "")
    return path[len(prefix) :] if prefix and path.startswith(f"{prefix}/") else path


def normalize_root_path(path: str) -> str:
    """Return a path that a server can be reached under, without a slash at its end; empty for none.

    >>> normalize_root_path("/memory/"), normalize_root_path("/")
    ('/memory', '')

    Raises:
        InputError: It is none.
    """
    found = path.rstrip("/")
    if found and not _VALID_PREFIX.fullmatch(found):
        raise InputError(
            f"{path!r:.80} is no path that a server can be reached under. Nothing was started.",
            hint="/memory",
        )
    return found


class RootPathMiddleware:
    """An ASGI application around another.

    Args:
        app: What is served under the path.
        path: The path, such as ``/memory``; empty for none.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its path as ASGI has it: the prefix, then the rest."""
        if self._path and scope["type"] == "http":
            path = scope["path"]
            if not (path + "/").startswith(self._path + "/"):
                path = self._path + path
            scope = {**scope, "root_path": self._path, "path": path}
        await self._app(scope, receive, send)


_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def clean_json_text(text: str) -> str:
    r"""Return JSON text whose strings are sound; what is no JSON as it is, for others to refuse.

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
        return {replace_surrogates(name): _clean_value(each) for name, each in value.items()}
    return [_clean_value(each) for each in value] if isinstance(value, list) else replace_surrogates(value)


MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message. A memory is some hundred bytes; what is larger is a file, which `scrubjay sync` takes in."""
MAX_SMALL_BYTES: Final = 256 * 1024
"""Bytes of a question, a form, or anything else that brings no memories: room for a long prompt."""
MAX_TOTAL_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all bodies that a server holds at the same time."""
MAX_UNFINISHED: Final = 256
"""Bodies of one client that have not come to their end: each keeps a connection open."""
BYTES_PER_EXTRA_SECOND: Final = 128 * 1024
"""Bytes that a client has a second more for."""
THREAD_BYTES: Final = 64 * 1024
"""Bytes from which on a text is looked through in a thread, where nobody else waits for it."""
CLOSE_HEADERS: Final = {"connection": "close"}
"""What is said to a client whose body was not read to its end."""
MAX_DISCARDED_BYTES: Final = 128 * 1024 * 1024
"""Bytes that are read and dropped once a body is refused; a connection closed before would take the answer with it."""

ErrorFormat = Callable[[int, str], Mapping[str, Any]]
"""What others call an error: a status and a message, with its hint -> what is sent as JSON."""


class BodyTooLargeError(InputError):
    """A body is larger than what is taken."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"The message has more than {most:,} bytes. Nothing was done.",
            hint="send less at once; `scrubjay sync` takes files",
        )


class BodyTimeoutError(InputError):
    """A body did not come in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The body did not come within {seconds:g} seconds. Nothing was done.",
            hint=f"send it at once; a large one has a second more for each {BYTES_PER_EXTRA_SECOND:,} bytes",
        )


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """What is taken at a path.

    Attributes:
        most: Bytes; None for any number, where it is streamed.
        streamed: Whether its handler reads the body piece by piece; it is told of too many or too late bytes by
            `BodyTooLargeError` and `BodyTimeoutError`.
        mended: Whether it is for us, as JSON without halves of characters; else it stays byte for byte what it is.
    """

    most: int | None = MAX_SMALL_BYTES
    streamed: bool = False
    mended: bool = True


class BodyLimitMiddleware:
    """An ASGI application around another.

    Args:
        app: What is behind it.
        patience: Seconds in which a body must have come.
        limits: What is taken at a path, or below one that ends in ``/``; elsewhere it is `MAX_SMALL_BYTES`.
        forms: Beginnings of paths, and the form of an error there; None for ours.
    """

    def __init__(
        self,
        app: ASGIApp,
        patience: float,
        limits: Mapping[str, BodyLimit],
        forms: Mapping[str, ErrorFormat | None] = {},
    ) -> None:
        self._app = app
        self._patience = patience
        self._limits = {path: limit for path, limit in limits.items() if not path.endswith("/")}
        self._folders = [(path, limit) for path, limit in limits.items() if path.endswith("/")]
        self._forms = forms
        self._held: Counter[Hashable] = Counter()
        self._unfinished: Counter[Hashable] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its body; nothing when its client has gone."""
        length = _declared_length(scope) if scope["type"] == "http" else 0
        if length == 0:  # and nobody who asks for no more than an answer is counted
            await self._app(scope, receive, send)
            return
        path = route_path(scope)
        body = _BodyReader(self, client_key(scope), self._limit(path), self._patience, receive)
        try:
            body.fits(length)
            if body.limit.streamed:
                await self._app(scope, body.receive, send)
                return
            ahead = await body.whole()
            if ahead is None:
                return

            async def once() -> Message:
                return ahead.pop() if ahead else await receive()

            await self._app(scope, once, send)
        except _RefusedError as refusal:
            form = next((form for start, form in self._forms.items() if path.startswith(start)), None)
            await self._refused(refusal.error, scope, receive, send, form, refusal.more)
        finally:
            body.close()

    def _limit(self, path: str) -> BodyLimit:
        found = self._limits.get(path)
        return found or next((limit for start, limit in self._folders if path.startswith(start)), BodyLimit())

    async def _refused(
        self,
        error: ScrubjayError,
        scope: Scope,
        receive: Receive,
        send: Send,
        form: ErrorFormat | None,
        more: bool,
    ) -> None:
        if isinstance(error, BodyTimeoutError):
            await send_error(408, error, scope, receive, send, CLOSE_HEADERS, form)
            return
        status, headers = (413, {}) if isinstance(error, BodyTooLargeError) else (503, {"retry-after": "1"})
        await send_error(status, error, scope, receive, _keep_open(send), {**CLOSE_HEADERS, **headers}, form)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await _discard(receive, more)
        await send({"type": "http.response.body"})

    # --- what all bodies of the server share -----------------------------------------------------------------

    def begun(self, who: Hashable) -> None:
        """Count a body that begins.

        Raises:
            StoreBusyError: Too many of this client's have not come to their end.
        """
        if self._unfinished[who] >= MAX_UNFINISHED:
            raise StoreBusyError(
                f"{self._unfinished[who]} of your requests have not been sent to their end. Nothing was done.",
                hint="finish those, then ask again",
            )
        self._unfinished[who] += 1

    def ended(self, who: Hashable) -> None:
        """Count one that came to its end, or to none."""
        _subtract(self._unfinished, who, 1)

    def hold(self, who: Hashable, size: int) -> None:
        """Take room for bytes that came.

        Raises:
            StoreBusyError: There is not as much left for this client.
        """
        total = self._held.total()
        if size and self._held[who] + size > MAX_TOTAL_BYTES - total:
            raise StoreBusyError(
                f"Requests of {total:,} bytes are being answered, {self._held[who]:,} of them yours. "
                "Nothing was done.",
                hint="ask again in a second, with fewer large requests at once",
            )
        self._held[who] += size

    def let_go(self, who: Hashable, size: int) -> None:
        """Give room back."""
        _subtract(self._held, who, size)


class _RefusedError(Exception):
    """A request is answered without being handed on.

    Attributes:
        error: Why.
        more: Whether more of its body is to come.
    """

    def __init__(self, error: ScrubjayError, more: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.more = more


class _BodyReader:
    """The body of one request."""

    def __init__(
        self, bodies: BodyLimitMiddleware, who: Hashable, limit: BodyLimit, patience: float, receive: Receive
    ) -> None:
        self.limit = limit
        self._bodies = bodies
        self._who = who
        self._patience = patience
        self._receive = receive
        self._left = patience
        self._size = self._held = 0
        self._more = True
        self._counted = False

    async def receive(self) -> Message:
        """Return the next piece.

        Raises:
            LateError: It did not come in time.
            TooLargeError: It is one too many.
            StoreBusyError: The client has too many others.
        """
        if not self._more:
            return await self._receive()
        if not self._counted:
            self._bodies.begun(self._who)
            self._counted = True
        message = await self._in_time(self._receive)
        size = len(message.get("body", b""))
        self._more = message["type"] == "http.request" and message.get("more_body", False)
        if not self._more:
            self._end()
        self._size += size
        self._left += size / BYTES_PER_EXTRA_SECOND
        if self.limit.most is not None and self._size > self.limit.most:
            raise BodyTooLargeError(self.limit.most)
        return message

    def fits(self, length: int) -> None:
        """Refuse a body that its client says is too large.

        Raises:
            _RefusedError: It is.
        """
        if self.limit.most is not None and length > self.limit.most:
            raise _RefusedError(BodyTooLargeError(self.limit.most), more=True)

    async def whole(self) -> list[Message] | None:
        """Return the one message that brings all of it; None when the client has gone.

        Raises:
            _RefusedError: It is late, or there is no room for it.
        """
        held = bytearray()
        try:
            while self._more:
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    return None
                piece = message.get("body", b"")
                self._bodies.hold(self._who, len(piece))
                self._held += len(piece)
                held += piece
        except (BodyTooLargeError, BodyTimeoutError, StoreBusyError) as error:
            held.clear()
            self._release()
            raise _RefusedError(error, self._more) from error
        body = bytes(held)
        del held
        if self.limit.mended:
            body = (
                _clean_body(body) if len(body) < THREAD_BYTES else await asyncio.to_thread(_clean_body, body)
            )
        return [{"type": "http.request", "body": body, "more_body": False}]

    def close(self) -> None:
        """Give back what is held for it."""
        self._end()
        self._release()

    def _release(self) -> None:
        self._bodies.let_go(self._who, self._held)
        self._held = 0

    def _end(self) -> None:
        if self._counted:
            self._bodies.ended(self._who)
        self._counted = False

    async def _in_time(self, receive: Callable[[], Awaitable[Message]]) -> Message:
        """Wait for a piece; only what the client takes counts, not what is done with the piece."""
        begun = monotonic()
        try:
            async with asyncio.timeout(max(self._left, 0)):
                return await receive()
        except TimeoutError as error:
            raise BodyTimeoutError(self._patience) from error
        finally:
            self._left -= monotonic() - begun


def client_key(scope: Scope) -> Hashable:
    """Return who a request counts for: its principal, or the address that it comes from.

    >>> client_key({"client": ("2001:db8::7", 80)}) == client_key({"client": ("2001:db8::8", 443)})
    True
    """
    from scrubjay.server.auth import PRINCIPAL_KEY  # which answers with what is below

    who: Principal | None = scope.get(PRINCIPAL_KEY)
    if who is not None:
        return who.tenant, who.user
    return client_network((scope.get("client") or ("",))[0])


def client_network(host: str) -> str:
    """Return what of an address one client has: all of IPv4, of IPv6 the network, with 2**64 numbers to itself.

    >>> client_network("192.0.2.7"), client_network("::ffff:192.0.2.7"), client_network("2001:db8::7") == client_network("2001:db8::8")
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
    """Return how many bytes there will be, by what the head says; -1 where it does not say how many."""
    said = dict(scope["headers"])
    if b"transfer-encoding" in said:
        return -1
    found = said.get(b"content-length", b"0")
    return int(found) if found.isdigit() else -1


def _subtract(counts: Counter[Hashable], who: Hashable, size: int) -> None:
    counts[who] -= size
    if not counts[who]:
        del counts[who]


def _clean_body(body: bytes) -> bytes:
    return clean_json_text(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _keep_open(send: Send) -> Send:
    """Return what sends an answer whose end is yet to be said: the server closes the connection at the end."""

    async def sending(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    return sending


async def _discard(receive: Receive, more: bool) -> None:
    """Read the rest of a body and drop it, up to a bound.

    Who sends all of it before it reads, as most clients and reverse proxies do, would else be cut off while it sends,
    and never read why.
    """
    read = 0
    while more and read < MAX_DISCARDED_BYTES:
        message = await receive()
        read += len(message.get("body", b""))
        more = message.get("more_body", False)


async def send_error(
    status: int,
    error: ScrubjayError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
    form: ErrorFormat | None = None,
) -> None:
    """Answer a request with an error of ours as JSON, in another form than ours if one is given."""
    from starlette.responses import Response

    told = serializers.error_fields(error) if form is None else form(status, f"{error} {error.hint}".strip())
    text = json.dumps(told)
    await Response(text, status, headers, media_type="application/json")(scope, receive, send)


MAX_SILENT_CONNECTIONS: Final = 256
"""Connections of one address that bring no request; for one more, the one that has been silent longest is closed."""


def head_timeout_protocol(seconds: float) -> type[H11Protocol]:
    """Return a protocol for uvicorn that waits so long for the whole head of each request."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: defaultdict[str, dict[H11Protocol, None]] = defaultdict(dict)

    class Patient(H11Protocol):
        """One connection."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._expect()

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None and not self.cycle.response_complete:
                self._came()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete:  # else one that was sent ahead is being answered already
                self._expect()

        def connection_lost(self, exc: Exception | None) -> None:
            self._came()
            super().connection_lost(exc)

        def _expect(self) -> None:
            self._came()
            self._deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
            others = silent[self._address]
            others[self] = None
            if len(others) > MAX_SILENT_CONNECTIONS:
                longest = next(iter(others))
                del others[longest]
                longest.timeout_keep_alive_handler()

        @property
        def _address(self) -> str:
            return client_network(self.client[0]) if self.client else ""

        def _came(self) -> None:
            silent[self._address].pop(self, None)
            if not silent[self._address]:
                del silent[self._address]
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return Patient
