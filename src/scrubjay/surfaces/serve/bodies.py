"""Bodies: requests over HTTP -> requests whose body is there in one piece, within its bounds, and sound; or an answer.

A body has a size that its path says, and a time: `[server] patience_seconds`, and a second more for each `RATE` bytes
of it, so that a large one over a slow line comes through and one that drips does not. All bodies of a server together
have a bound as well, from their first byte until their request is answered. Who asks may hold as much as is still free:
one alone half of it, and whoever else comes finds room. Who asks is the principal, or the address where there is none.

The SDK gathers bodies too, but writes a traceback into the log for each client that goes away before its end.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, ScrubjayError, StoreBusyError
from scrubjay.surfaces.serve.halves import whole
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scrubjay.verbs.tokens import Principal

MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of one message. A memory is some hundred bytes; what is larger is a file, which `scrubjay sync` takes in."""
SMALL: Final = 256 * 1024
"""Bytes of a question, a form, or anything else that brings no memories: room for a long prompt."""
MOST_HELD: Final = 256 * 1024 * 1024
"""Bytes of all bodies that a server holds at the same time."""
MOST_UNFINISHED: Final = 256
"""Bodies of one client that have not come to their end: each keeps a connection open."""
RATE: Final = 128 * 1024
"""Bytes that a client has a second more for."""
LONG: Final = 64 * 1024
"""Bytes from which on a text is looked through in a thread, where nobody else waits for it."""
CLOSE: Final = {"connection": "close"}
"""What is said to a client whose body was not read to its end."""
MOST_DROPPED: Final = 128 * 1024 * 1024
"""Bytes that are read and dropped once a body is refused; a connection closed before would take the answer with it."""

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
        super().__init__(
            f"The body did not come within {seconds:g} seconds. Nothing was done.",
            hint=f"send it at once; a large one has a second more for each {RATE:,} bytes",
        )


@dataclass(frozen=True, slots=True)
class Limit:
    """What is taken at a path.

    Attributes:
        most: Bytes; None for any number, where it is streamed.
        streamed: Whether its handler reads the body piece by piece; it is told of too many or too late bytes by
            `TooLargeError` and `LateError`.
        mended: Whether it is for us, as JSON without halves of characters; else it stays byte for byte what it is.
    """

    most: int | None = SMALL
    streamed: bool = False
    mended: bool = True


class Bodies:
    """An ASGI application around another.

    Args:
        app: What is behind it.
        patience: Seconds in which a body must have come.
        limits: What is taken at a path, or below one that ends in ``/``; elsewhere it is `SMALL`.
        forms: Beginnings of paths, and the form of an error there; None for ours.
    """

    def __init__(
        self,
        app: ASGIApp,
        patience: float,
        limits: Mapping[str, Limit],
        forms: Mapping[str, Form | None] = {},
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
        length = _length(scope) if scope["type"] == "http" else 0
        if length == 0:  # and nobody who asks for no more than an answer is counted
            await self._app(scope, receive, send)
            return
        path = inner(scope)
        body = _Body(self, client(scope), self._limit(path), self._patience, receive)
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

    def _limit(self, path: str) -> Limit:
        found = self._limits.get(path)
        return found or next((limit for start, limit in self._folders if path.startswith(start)), Limit())

    async def _refused(
        self, error: ScrubjayError, scope: Scope, receive: Receive, send: Send, form: Form | None, more: bool
    ) -> None:
        if isinstance(error, LateError):
            await refused(408, error, scope, receive, send, CLOSE, form)
            return
        status, headers = (413, {}) if isinstance(error, TooLargeError) else (503, {"retry-after": "1"})
        await refused(status, error, scope, receive, _unended(send), {**CLOSE, **headers}, form)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await _dropped(receive, more)
        await send({"type": "http.response.body"})

    # --- what all bodies of the server share -----------------------------------------------------------------

    def begun(self, who: Hashable) -> None:
        """Count a body that begins.

        Raises:
            StoreBusyError: Too many of this client's have not come to their end.
        """
        if self._unfinished[who] >= MOST_UNFINISHED:
            raise StoreBusyError(
                f"{self._unfinished[who]} of your requests have not been sent to their end. Nothing was done.",
                hint="finish those, then ask again",
            )
        self._unfinished[who] += 1

    def ended(self, who: Hashable) -> None:
        """Count one that came to its end, or to none."""
        _less(self._unfinished, who, 1)

    def hold(self, who: Hashable, size: int) -> None:
        """Take room for bytes that came.

        Raises:
            StoreBusyError: There is not as much left for this client.
        """
        total = self._held.total()
        if size and self._held[who] + size > MOST_HELD - total:
            raise StoreBusyError(
                f"Requests of {total:,} bytes are being answered, {self._held[who]:,} of them yours. "
                "Nothing was done.",
                hint="ask again in a second, with fewer large requests at once",
            )
        self._held[who] += size

    def let_go(self, who: Hashable, size: int) -> None:
        """Give room back."""
        _less(self._held, who, size)


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


class _Body:
    """The body of one request."""

    def __init__(
        self, bodies: Bodies, who: Hashable, limit: Limit, patience: float, receive: Receive
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
        self._left += size / RATE
        if self.limit.most is not None and self._size > self.limit.most:
            raise TooLargeError(self.limit.most)
        return message

    def fits(self, length: int) -> None:
        """Refuse a body that its client says is too large.

        Raises:
            _RefusedError: It is.
        """
        if self.limit.most is not None and length > self.limit.most:
            raise _RefusedError(TooLargeError(self.limit.most), more=True)

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
        except (TooLargeError, LateError, StoreBusyError) as error:
            held.clear()
            self._release()
            raise _RefusedError(error, self._more) from error
        body = bytes(held)
        del held
        if self.limit.mended:
            body = _mended(body) if len(body) < LONG else await asyncio.to_thread(_mended, body)
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
            raise LateError(self._patience) from error
        finally:
            self._left -= monotonic() - begun


def client(scope: Scope) -> Hashable:
    """Return who a request counts for: its principal, or the address that it comes from.

    >>> client({"client": ("2001:db8::7", 80)}) == client({"client": ("2001:db8::8", 443)})
    True
    """
    from scrubjay.surfaces.serve.gate import PRINCIPAL  # which answers with what is below

    who: Principal | None = scope.get(PRINCIPAL)
    if who is not None:
        return who.tenant, who.user
    return network((scope.get("client") or ("",))[0])


def network(host: str) -> str:
    """Return what of an address one client has: all of IPv4, of IPv6 the network, with 2**64 numbers to itself.

    >>> network("192.0.2.7"), network("::ffff:192.0.2.7"), network("2001:db8::7") == network("2001:db8::8")
    ('192.0.2.7', '192.0.2.7', True)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address) >> 64 << 64)
    return str(address)


def _length(scope: Scope) -> int:
    """Return how many bytes there will be, by what the head says; -1 where it does not say how many."""
    said = dict(scope["headers"])
    if b"transfer-encoding" in said:
        return -1
    found = said.get(b"content-length", b"0")
    return int(found) if found.isdigit() else -1


def _less(counts: Counter[Hashable], who: Hashable, size: int) -> None:
    counts[who] -= size
    if not counts[who]:
        del counts[who]


def _mended(body: bytes) -> bytes:
    return whole(body.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


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
    error: ScrubjayError,
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
