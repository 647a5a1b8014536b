"""FastAPI dependencies and error handlers: who sends a request, what they may do, how an error is answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.api.auth import Principal
from scrubjay.api.oauth import OAuthVerifier
from scrubjay.errors import (
    ForbiddenError,
    InputError,
    NotFoundError,
    ProviderError,
    QuotaError,
    ScrubjayError,
    SourceError,
    StoreBusyError,
    StoreError,
    StoreUnreachableError,
)
from scrubjay.frozen import frozen
from scrubjay.memory import Memory
from scrubjay.server.auth import (
    OAUTH_KEY,
    SEND_JSON_HINT,
    TokenlessAccess,
    TokensUnreadableError,
    describe_content_type,
)
from scrubjay.server.middleware import PRINCIPAL_KEY, BodyTimeoutError, BodyTooLargeError
from scrubjay.server.run import OPEN_SERVER_WARNING
from scrubjay.server.session import Session

Value = TypeVar("Value")

ApiRouter = partial(APIRouter, generate_unique_id_function=lambda route: route.name)
"""Makes a router whose operations have the names of its functions."""


@frozen
class Access:
    """A request, its principal, and the session on which its work runs."""

    request: Request
    who: Principal
    session: Session

    async def read(self, work: Callable[[Memory], Value]) -> Value:
        return await self.session.read(self.who, work)

    async def write(self, work: Callable[[Memory], Value]) -> Value:
        return await self.session.write(self.who, work)

    async def run_long(self, work: Callable[[Memory], Value]) -> Value:
        return await self.session.run_long(self.who, work)

    @property
    def is_owner(self) -> bool:
        return self.session.is_owner(self.who)

    @property
    def is_operator(self) -> bool:
        """Whether the principal may see the server as a whole, and so figures of all tenants."""
        return "admin" in self.who.scopes and self.who.tenant == self.session.owner.tenant

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the server's configuration, for its operators only."""
        tokenless: TokenlessAccess | None = self.request.app.state.tokenless
        if tokenless is None or not tokenless.always or not self.is_operator:
            return ()
        url = str(self.request.base_url).rstrip("/")
        return (OPEN_SERVER_WARNING.format(url=url, user=self.session.owner.user),)


class OAuthScopeError(ForbiddenError):
    """An access token lacks a scope; ``challenge`` says which one its client may ask for."""

    def __init__(self, oauth: OAuthVerifier, who: Principal, scope: str) -> None:
        super().__init__(
            f"The access token lacks the scope {oauth.scope_name(scope)}. Nothing was done.",
            hint="let the client ask its issuer for it",
        )
        self.challenge = oauth.challenge("insufficient_scope", (*who.scopes, scope))


AccessDependency: TypeAlias = "Callable[[Request], Awaitable[Access]]"
REQUIRED_SCOPES: Final[dict[AccessDependency, str]] = {}
"""Scope that each dependency requires, for the OpenAPI document."""


def require_scope(scope: str) -> AccessDependency:
    """Return a dependency that yields the access of a request, or refuses one without the scope."""

    async def access(request: Request) -> Access:
        who: Principal = request.scope[PRINCIPAL_KEY]
        oauth: OAuthVerifier | None = request.scope.get(OAUTH_KEY)
        if oauth is not None and scope not in who.scopes:
            raise OAuthScopeError(oauth, who, scope)
        who.need(scope)
        return Access(request, who, request.app.state.session)

    REQUIRED_SCOPES[access] = scope
    return access


ReadAccess = Annotated[Access, Depends(require_scope("read"))]
WriteAccess = Annotated[Access, Depends(require_scope("write"))]
AdminAccess = Annotated[Access, Depends(require_scope("admin"))]


HTTP_STATUS: Final[tuple[tuple[type[ScrubjayError], int], ...]] = (
    (ForbiddenError, 403),
    (TokensUnreadableError, 503),
    (NotFoundError, 404),
    (BodyTooLargeError, 413),
    (BodyTimeoutError, 408),
    (InputError, 422),
    (SourceError, 422),
    (StoreBusyError, 503),
    (QuotaError, 507),
    (StoreError, 503),
    (ProviderError, 502),
)
"""Status by error class; the first match counts."""
UNEXPECTED_ERROR: Final = ScrubjayError("Unexpected error; see the server's output.")
MAX_FIELD_ERRORS: Final = 5
"""Validation errors reported; the first ones explain the rest."""


def http_status(error: ScrubjayError) -> int:
    """Return the HTTP status of an error.

    >>> http_status(NotFoundError("no")), http_status(ScrubjayError("no"))
    (404, 500)
    """
    return next((code for kind, code in HTTP_STATUS if isinstance(error, kind)), 500)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error in one shape, and unexpected ones without details."""
    app.add_exception_handler(ScrubjayError, _handle_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(HTTPException, _handle_http_error)
    app.add_exception_handler(ClientDisconnect, _handle_disconnect)
    app.add_exception_handler(Exception, _handle_unexpected)


def log_error(request: Request, surface: str, error: Exception) -> None:
    """Log an error by class and route pattern: its message and path may contain private text."""
    pattern = getattr(request.scope.get("route"), "path", "")
    log = request.app.state.session.log
    log.write("error", f"{surface} {request.method} {pattern}".strip(), error=type(error).__name__)


def _error_response(code: int, error: ScrubjayError, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(serializers.error_fields(error), code, headers)


async def _handle_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ScrubjayError)
    code = http_status(error)
    if code >= 500:
        log_error(request, "http", error)
    headers = {"retry-after": "1"} if isinstance(error, StoreBusyError | StoreUnreachableError) else None
    session: Session = request.app.state.session
    public = session.public_error(error, request.scope.get(PRINCIPAL_KEY))
    if isinstance(error, OAuthScopeError):
        headers = {"www-authenticate": error.challenge}
    return _error_response(code, public, headers)


async def _handle_invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if first["loc"] == ("body",) and isinstance(error.body, bytes) and not kind.endswith("json"):
        text = f"The body was sent {describe_content_type(kind)}, so it was not read. Nothing was done."
        return _error_response(422, InputError(text, hint=SEND_JSON_HINT))
    if first["type"] == "json_invalid":
        return _error_response(
            400, InputError(f"The body is not valid JSON; error at character {first['loc'][-1]}.")
        )
    faults = []
    for fault in error.errors()[:MAX_FIELD_ERRORS]:
        field = ".".join(str(part) for part in fault["loc"] if part != "body") or "the body"
        faults.append(f"{field}: {fault['msg']}")
    if (more := len(error.errors()) - MAX_FIELD_ERRORS) > 0:
        faults.append(f"and {more} more")
    return _error_response(422, InputError("Invalid request. " + "; ".join(faults), hint="GET /openapi.json"))


async def _handle_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    messages: Any = {404: f"No such path: {request.url.path!r:.200}.", 405: "Method not allowed."}
    public = InputError(messages.get(error.status_code, str(error.detail)), hint="GET /openapi.json")
    return _error_response(error.status_code, public, dict(error.headers or {}))


async def _handle_disconnect(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    log_error(request, "http", error)
    return _error_response(500, UNEXPECTED_ERROR)
