"""Web: many clients, over streamable HTTP, each as the principal that its token stands for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from scrubjay.surfaces.mcp.server import build
from scrubjay.surfaces.serve.bodies import MOST_BYTES, Bodies
from scrubjay.surfaces.serve.gate import PRINCIPAL, TOKEN, Gate

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from scrubjay.surfaces.serve.local import Local
    from scrubjay.surfaces.serve.session import Session
    from scrubjay.verbs.tokens import Principal, Tokens

PATH: Final = "/mcp"
MOST_SESSIONS: Final = 1_000
"""Sessions at the same time; one that is idle for half an hour ends."""


def application(session: Session, tokens: Tokens, *, local: Local | None) -> ASGIApp:
    """Return the ASGI application.

    Args:
        session: What does the work.
        tokens: Who is let in.
        local: Which requests are the owner's without a token; None for none.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = managed(session)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = Starlette(routes=[Route(PATH, Endpoint(manager))], lifespan=running)
    return Gate(app, tokens, session.owner, local)


def managed(session: Session) -> StreamableHTTPSessionManager:
    """Return the SDK's manager of sessions over HTTP; whoever takes it runs it."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        build(session, _principal, local=False), max_request_body_size=MOST_BYTES, max_sessions=MOST_SESSIONS
    )


class Endpoint:
    """Where MCP is spoken, behind a gate: an ASGI application."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._app = Bodies(manager.handle_request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request; the SDK holds all of a session's to the token that it began with."""
        known = {**scope, "user": _user(scope[TOKEN])} if TOKEN in scope else scope
        await self._app(known, receive, send)


def _user(token: str) -> Any:
    """Who the SDK takes a request to be of."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))


def _principal(context: Any) -> Principal:
    """Who the gate let in with the very request that is answered; never who began the session."""
    found: Principal = context.request.scope[PRINCIPAL]
    return found
