"""Web: many clients, over streamable HTTP, each as the principal that its token stands for.

Without a token a request is let in only where the server listens on this machine alone, and only when its Host and
Origin are this machine's: so no page in a browser reaches it by a name that it made lead here (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, ScrubjayError, StoreError
from scrubjay.surfaces.mcp.bodies import Bodies, refused
from scrubjay.surfaces.mcp.server import MOST_BYTES, build
from scrubjay.surfaces.mcp.session import Session

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.config import Settings
    from scrubjay.verbs.tokens import Principal, Tokens

PATH: Final = "/mcp"
PRINCIPAL: Final = "scrubjay.principal"
"""Key of a request's scope under which the gate leaves who is let in."""
MOST_SESSIONS: Final = 1_000
"""Sessions at the same time; one that is idle for half an hour ends."""
BACKLOG: Final = 256
"""Connections that may wait to be taken."""
LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


NOBODY: Final = "A token is needed, one that is neither revoked nor expired."
NOBODY_HINT: Final = (
    "ask whoever runs the server for `scrubjay token create NAME`, and send it as Authorization: Bearer TOKEN"
)
CHALLENGE: Final = {"www-authenticate": 'Bearer error="invalid_token"'}


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Attributes:
        host: A name or a number.
        port: 0 for any that is free.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address that ``HOST:PORT`` names.

        >>> Address.parse("[::1]:8080")
        Address(host='::1', port=8080)

        Raises:
            InputError: It names none.
        """
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65_535 or not host.strip("[]"):
            raise InputError(f"{text!r:.80} is no HOST:PORT.", hint="127.0.0.1:8765")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def loopback(self) -> bool:
        """Whether nobody on another machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def serve(
    settings: Settings,
    address: Address,
    tokens: Tokens,
    *,
    needed: bool,
    ready: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        settings: Who owns the process, and where the store is.
        address: Where to listen.
        tokens: Who is let in.
        needed: Whether a token is needed on this machine too.
        ready: Told the URL once it can be reached.

    Raises:
        InputError: The address is open to others and there is no token.
        StoreError: The address is taken, or not to be had.
    """
    import uvicorn

    if not address.loopback and not tokens.all():
        raise InputError(
            f"{address.host} can be reached from elsewhere, so clients need a token, and there is none. "
            "Nothing was started.",
            hint="scrubjay token create NAME",
        )
    held = _bound(address)
    with Session(settings) as session:
        app = application(session, tokens, open_here=address.loopback and not needed)
        config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=5)
        shown = f"[{address.host}]" if ":" in address.host else address.host
        ready(f"http://{shown}:{held.getsockname()[1]}{PATH}")
        with _quiet_end():
            uvicorn.Server(config).run(sockets=[held])


@contextmanager
def _quiet_end() -> Iterator[None]:
    """Let the server's end be the end of the block: it raises the signal that ended it once more, for nobody."""
    before = {each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def application(session: Session, tokens: Tokens, *, open_here: bool) -> Starlette:
    """Return the ASGI application.

    Args:
        session: What does the work.
        tokens: Who is let in.
        open_here: Whether requests without a token are the owner's, as far as they name this machine.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.routing import Route

    server = build(session, _principal, local=False)
    manager = StreamableHTTPSessionManager(
        server, max_request_body_size=MOST_BYTES, max_sessions=MOST_SESSIONS
    )

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    owner = session.owner if open_here else None
    gate = Gate(Bodies(manager.handle_request), tokens, owner)
    return Starlette(routes=[Route(PATH, gate)], lifespan=running)


class Gate:
    """Lets a request in as somebody, or not at all; an ASGI application around another.

    Args:
        app: What is behind it.
        tokens: Who is let in.
        owner: Who a request without a token is; None where it is nobody.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, owner: Principal | None) -> None:
        from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings

        self._app = app
        self._tokens = tokens
        self._owner = owner
        hosts = [name + port for name in LOCAL_NAMES for port in ("", ":*")]
        self._here = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its principal, or answer it here."""
        from starlette.datastructures import Headers
        from starlette.requests import Request

        kind, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
        if not kind and self._owner is not None:
            refusal = await self._here.validate_request(Request(scope))
            if refusal is None:
                await self._app({**scope, PRINCIPAL: self._owner}, receive, send)
            else:
                await refusal(scope, receive, send)
            return
        try:
            token = self._tokens.find(secret.strip()) if kind.lower() == "bearer" else None
        except ScrubjayError as error:
            logging.getLogger("scrubjay").warning("%s %s", error, error.hint)
            said = InputError("The server cannot read its tokens; its log says why.")
            await refused(503, said, scope, receive, send)
            return
        if token is None:
            await refused(401, InputError(NOBODY, hint=NOBODY_HINT), scope, receive, send, CHALLENGE)
            return
        await self._app({**scope, PRINCIPAL: token.principal, "user": _user(token.hash)}, receive, send)


def _user(token: str) -> Any:
    """What the SDK holds a session's requests against: all must come with the token that it began with."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))


def _principal(context: Any) -> Principal:
    """Who the gate let in with the very request that is answered; never who began the session."""
    found: Principal = context.request.scope[PRINCIPAL]
    return found


def _bound(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # The protocol is named, or asyncio does not see that it is TCP, and each answer waits 40 ms for nothing.
    held = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((address.host, address.port))
        held.listen(BACKLOG)  # from here on nobody is turned away who was told the address
    except OSError as error:
        held.close()
        raise StoreError(
            f"{address.host}:{address.port} cannot be listened on: {error.strerror}. Nothing was started.",
            hint="take another port, or 0 for any that is free",
        ) from error
    return held
