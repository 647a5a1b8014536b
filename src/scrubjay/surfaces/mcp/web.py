"""Web: many clients, over streamable HTTP, each as the principal that its token stands for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import StoreBusyError
from scrubjay.surfaces.mcp.server import build
from scrubjay.surfaces.serve.bodies import MOST_BYTES, Bodies, Limit, client, refused
from scrubjay.surfaces.serve.gate import PRINCIPAL, TOKEN, Gate

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scrubjay.surfaces.serve.session import Session
    from scrubjay.surfaces.serve.tokenless import TokenlessAccess
    from scrubjay.verbs.tokens import Principal, Tokens

PATH: Final = "/mcp"
LIMITS: Final = {PATH: Limit(MOST_BYTES)}
"""What a body may be."""
MOST_SESSIONS: Final = 1_000
"""Sessions at the same time; one that is idle for half an hour ends."""
MOST_EACH: Final = 100
"""Sessions of one person."""
SESSION: Final = b"mcp-session-id"
"""Header that names a session."""


def application(session: Session, tokens: Tokens, *, tokenless: TokenlessAccess | None) -> ASGIApp:
    """Return the ASGI application.

    Args:
        session: What does the work.
        tokens: Who is let in.
        tokenless: Which requests are the owner's without a token; None for none.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = managed(session)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = Starlette(routes=[Route(PATH, Endpoint(manager))], lifespan=running)
    bodies = Bodies(app, session.settings.server.patience_seconds, LIMITS)
    return Gate(bodies, tokens, session.owner, tokenless)


def managed(session: Session) -> StreamableHTTPSessionManager:
    """Return the SDK's manager of sessions over HTTP; whoever takes it runs it."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        build(session, _principal, local=False), max_request_body_size=MOST_BYTES, max_sessions=MOST_SESSIONS
    )


@dataclass(eq=False, slots=True)
class _Opened:
    """A session.

    Attributes:
        who: Whose.
        user: Who the SDK takes it to be of.
        busy: Requests of it that are being answered, a stream that is listened to included.
    """

    who: Hashable
    user: Any
    busy: int = 0


class Endpoint:
    """Where MCP is spoken, behind a gate: an ASGI application.

    A client that begins sessions and ends none, as many do, keeps the newest `MOST_EACH`: the one that was idle longest
    is ended for the next. Where all are in use, the next is refused.
    """

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._app = manager.handle_request
        self._sessions: OrderedDict[str, _Opened] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request; the SDK holds all of a session's to the token that it began with."""
        user = _user(scope[TOKEN]) if TOKEN in scope else None
        known = {**scope, "user": user} if user is not None else scope
        who, name = client(scope), _named(scope["headers"])
        if name is None and self._full(who):
            await refused(503, _crowded(), scope, receive, send, {"retry-after": "1"})
            return
        opened = self._sessions.get(name) if name is not None else None
        if opened is not None and opened.who != who:
            opened = None  # the SDK refuses it

        async def sending(message: Message) -> None:
            nonlocal opened, name
            if message["type"] == "http.response.start":
                begun = _named(message["headers"])
                if name is None and begun is not None and message["status"] < 400:
                    name, opened = begun, _Opened(who, user, busy=1)
                    self._sessions[begun] = opened
                elif name is not None and opened is not None and _ends(scope["method"], message["status"]):
                    self._sessions.pop(name, None)
            await send(message)

        if name is not None and opened is not None:
            opened.busy += 1
            self._sessions.move_to_end(name)
        try:
            await self._app(known, receive, sending)
        finally:
            if name is not None and opened is not None:
                opened.busy -= 1
                if name in self._sessions:
                    self._sessions.move_to_end(name)
            await self._end_idle(who)

    def _full(self, who: Hashable) -> bool:
        mine = [each for each in self._sessions.values() if each.who == who]
        return len(mine) >= MOST_EACH and all(each.busy for each in mine)

    async def _end_idle(self, who: Hashable) -> None:
        """End the sessions of somebody that have been idle longest, as far as they are too many."""
        mine = [(name, each) for name, each in self._sessions.items() if each.who == who]
        idle = [(name, each) for name, each in mine if not each.busy]
        for name, each in idle[: max(0, len(mine) - MOST_EACH)]:
            del self._sessions[name]
            await self._app(_ending(name, each.user), _nothing, _unheard)


def _crowded() -> StoreBusyError:
    return StoreBusyError(
        f"{MOST_EACH} sessions of yours are open, and all of them in use. No other was begun.",
        hint="end one (DELETE with its mcp-session-id), or use it again",
    )


def _named(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == SESSION), None)


def _ends(method: str, status: int) -> bool:
    """Tell whether an answer says that a session is not there any more."""
    return status == 404 or (method == "DELETE" and status < 400)


def _ending(name: str, user: Any) -> Scope:
    """Return the request by which a client ends its session."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": "DELETE",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(SESSION, name.encode("latin-1"))],
    }
    return {**scope, "user": user} if user is not None else scope


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_message: Message) -> None:
    """The answer is nobody's: a session that is gone already is gone."""


def _user(token: str) -> Any:
    """Who the SDK takes a request to be of."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))


def _principal(context: Any) -> Principal:
    """Who the gate let in with the very request that is answered; never who began the session."""
    found: Principal = context.request.scope[PRINCIPAL]
    return found
