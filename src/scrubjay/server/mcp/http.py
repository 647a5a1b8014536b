"""MCP over streamable HTTP: many clients, each as the principal of its token."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.api.auth import DEFAULT_SCOPES
from scrubjay.api.oauth import oauth_verifier
from scrubjay.api.tools import TOOLS
from scrubjay.errors import ForbiddenError, StoreBusyError
from scrubjay.server.auth import OAUTH_KEY, TOKEN_HASH_KEY, AuthMiddleware
from scrubjay.server.mcp.server import build_server
from scrubjay.server.middleware import (
    MAX_MESSAGE_BYTES,
    PRINCIPAL_KEY,
    BodyLimit,
    BodyLimitMiddleware,
    client_key,
    method_label,
    replay_message,
    send_error,
)
from scrubjay.tracing import set_route

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from scrubjay.api.auth import Principal, TokenStore
    from scrubjay.api.oauth import OAuthVerifier
    from scrubjay.server.auth import TokenlessAccess
    from scrubjay.server.session import Session


MCP_PATH: Final = "/mcp"
MCP_LIMITS: Final = {MCP_PATH: BodyLimit(MAX_MESSAGE_BYTES)}
MAX_SESSIONS: Final = 1_000
"""The SDK ends sessions that are idle for half an hour."""
MAX_SESSIONS_PER_CLIENT: Final = 100
SCOPED_METHODS: Final = ("tools/call", "resources/read", "prompts/get")
"""Methods that read or write memories."""
SESSION_HEADER: Final = b"mcp-session-id"
VERSION_HEADER: Final = b"mcp-protocol-version"


def create_mcp_app(session: Session, tokens: TokenStore, *, tokenless: TokenlessAccess | None) -> ASGIApp:
    from starlette.applications import Starlette
    from starlette.routing import Route

    manager = session_manager(session)

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    oauth = oauth_verifier(session.settings)
    routes = [Route(MCP_PATH, MCPEndpoint(manager)), *metadata_routes(oauth)]
    app = Starlette(routes=routes, lifespan=running)
    bodies = BodyLimitMiddleware(app, session.settings.server.patience_seconds, MCP_LIMITS)
    return AuthMiddleware(bodies, tokens, session.owner, tokenless, public=metadata_paths(oauth), oauth=oauth)


def metadata_paths(oauth: OAuthVerifier | None) -> tuple[str, ...]:
    """Return the paths of the protected resource metadata: of the resource, and of the whole server."""
    if oauth is None:
        return ()
    return tuple(dict.fromkeys((oauth.metadata_path, "/.well-known/oauth-protected-resource")))


def metadata_routes(oauth: OAuthVerifier | None) -> list[Route]:
    """Return the routes of the protected resource metadata (RFC 9728)."""
    from mcp.server.auth.handlers.metadata import ProtectedResourceMetadataHandler
    from mcp.server.auth.routes import cors_middleware
    from mcp.shared.auth import ProtectedResourceMetadata
    from starlette.routing import Route

    if oauth is None:
        return []
    fields = {
        "resource": oauth.settings.resource,
        "authorization_servers": [oauth.settings.issuer],
        "scopes_supported": [*map(oauth.scope_name, DEFAULT_SCOPES)],
        "resource_name": "scrubjay",
    }
    handler = ProtectedResourceMetadataHandler(ProtectedResourceMetadata.model_validate(fields))
    methods = ["GET", "OPTIONS"]
    endpoint = cors_middleware(handler.handle, methods)  # clients in a browser read it, too
    return [Route(path, endpoint, methods=methods) for path in metadata_paths(oauth)]


def session_manager(session: Session) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        build_server(session, _request_principal, local=False),
        max_request_body_size=MAX_MESSAGE_BYTES,
        max_sessions=MAX_SESSIONS,
    )


@dataclass(eq=False, slots=True)
class _OpenSession:
    id: str
    who: Hashable
    user: Any
    """The SDK's user, to whom the session belongs."""
    busy: int = 0
    """Requests that are being answered, open event streams included."""


class MCPEndpoint:
    """The MCP endpoint, behind authentication: an ASGI application.

    Clients of revision 2026-07-28 have no sessions. Many older ones start sessions and end none: starting one beyond
    `MAX_SESSIONS_PER_CLIENT` ends the client's session that was idle longest; if all are in use, it is refused.
    """

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._app = manager.handle_request
        self._sessions: OrderedDict[str, _OpenSession] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        set_route(method_label(scope["method"]), MCP_PATH)
        user = _sdk_user(scope[TOKEN_HASH_KEY]) if TOKEN_HASH_KEY in scope else None
        scope = {**scope, "user": user} if user is not None else scope
        if OAUTH_KEY in scope and scope["method"] == "POST":
            message = await receive()
            receive = replay_message(message, receive)
            if missing := _missing_scope(message.get("body", b""), scope[PRINCIPAL_KEY]):
                await _refuse_scope(missing, scope, receive, send)
                return
        if _is_sessionless(scope["headers"]):
            await self._app(scope, receive, send)
            return
        who, id = client_key(scope), _session_id(scope["headers"])
        if id is None and self._is_full(who):
            error = StoreBusyError(
                f"{MAX_SESSIONS_PER_CLIENT} of your sessions are open and in use. No new session was started.",
                hint="end one (DELETE with its mcp-session-id) or reuse it",
            )
            await send_error(503, error, scope, receive, send, {"retry-after": "1"})
            return
        opened = self._sessions.get(id) if id is not None else None
        if opened is not None and opened.who != who:
            opened = None  # the SDK refuses it

        async def track(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start":
                status, new = message["status"], _session_id(message["headers"])
                if id is None and new is not None and status < 400:
                    opened = self._sessions[new] = _OpenSession(new, who, user, busy=1)
                elif opened is not None and (status == 404 or (scope["method"] == "DELETE" and status < 400)):
                    self._sessions.pop(opened.id, None)
            await send(message)

        if opened is not None:
            opened.busy += 1
            self._sessions.move_to_end(opened.id)
        try:
            await self._app(scope, receive, track)
        finally:
            if opened is not None:
                opened.busy -= 1
                if opened.id in self._sessions:
                    self._sessions.move_to_end(opened.id)
            await self._end_idle(who)

    def _is_full(self, who: Hashable) -> bool:
        own = [session for session in self._sessions.values() if session.who == who]
        return len(own) >= MAX_SESSIONS_PER_CLIENT and all(session.busy for session in own)

    async def _end_idle(self, who: Hashable) -> None:
        own = [session for session in self._sessions.values() if session.who == who]
        idle = [session for session in own if not session.busy]
        for session in idle[: max(0, len(own) - MAX_SESSIONS_PER_CLIENT)]:
            del self._sessions[session.id]
            await self._app(_delete_request(session.id, session.user), _empty_body, _discard_response)


def _missing_scope(body: bytes, who: Principal) -> str:
    """Return the scope that a message takes and its sender lacks; empty for none.

    A tool would answer with an error, on which a client cannot ask its person for more.
    """
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for message in parsed if isinstance(parsed, list) else [parsed]:
        if not isinstance(message, dict) or message.get("method") not in SCOPED_METHODS:
            continue
        parameters = message.get("params")
        name = parameters.get("name") if isinstance(parameters, dict) else None
        writes = message["method"] == "tools/call" and any(tool.writes for tool in TOOLS if tool.name == name)
        scope = "write" if writes else "read"
        if scope not in who.scopes:
            return scope
    return ""


async def _refuse_scope(missing: str, scope: Scope, receive: Receive, send: Send) -> None:
    oauth: OAuthVerifier = scope[OAUTH_KEY]
    scopes = (*scope[PRINCIPAL_KEY].scopes, missing)
    error = ForbiddenError(
        f"The access token lacks the scope {oauth.scope_name(missing)}. Nothing was done.",
        hint="let the client ask its issuer for it",
    )
    headers = {"www-authenticate": oauth.challenge("insufficient_scope", scopes)}
    await send_error(403, error, scope, receive, send, headers)


def _is_sessionless(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether the SDK answers a request by itself: every revision from 2026-07-28 on is without sessions."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    version = next((value.decode("latin-1") for key, value in headers if key.lower() == VERSION_HEADER), None)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _session_id(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == SESSION_HEADER), None)


def _delete_request(id: str, user: Any) -> Scope:
    """Return the request by which a client ends its session."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": "DELETE",
        "path": MCP_PATH,
        "raw_path": MCP_PATH.encode(),
        "query_string": b"",
        "headers": [(SESSION_HEADER, id.encode("latin-1"))],
    }
    return {**scope, "user": user} if user is not None else scope


async def _empty_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard_response(_message: Message) -> None:
    pass


def _sdk_user(token: str) -> Any:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=token, scopes=[]))


def _request_principal(context: Any) -> Principal:
    """The principal of this request, not of the one that began the session."""
    principal: Principal = context.request.scope[PRINCIPAL_KEY]
    return principal
