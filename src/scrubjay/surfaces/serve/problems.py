"""Problems: an error of ours, or of a request's form -> a status and the one shape that errors have everywhere."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

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
)
from scrubjay.surfaces.serve.bodies import LateError, TooLargeError
from scrubjay.verbs import shape

STATUS: Final[tuple[tuple[type[ScrubjayError], int], ...]] = (
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (TooLargeError, 413),
    (LateError, 408),
    (InputError, 422),
    (SourceError, 422),
    (StoreBusyError, 503),
    (QuotaError, 507),
    (StoreError, 503),
    (ProviderError, 502),
)
"""The first that an error is an instance of says its status."""
UNEXPECTED: Final = ScrubjayError("Something went wrong that nobody expected; the server's output says what.")
MOST_TOLD: Final = 5
"""Faults of a request's form that are told; the first ones explain the rest."""


def status(error: ScrubjayError) -> int:
    """Return the HTTP status of an error.

    >>> status(NotFoundError("no")), status(ScrubjayError("no"))
    (404, 500)
    """
    return next((code for kind, code in STATUS if isinstance(error, kind)), 500)


def problems(app: FastAPI) -> None:
    """Answer every expected error in one shape, and one that nobody expected without what is inside."""
    app.add_exception_handler(ScrubjayError, _ours)
    app.add_exception_handler(RequestValidationError, _form)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)


def logged(request: Request, surface: str, error: ScrubjayError) -> None:
    """Write an error of ours into the log, by its kind and by the pattern of its route.

    Its message and the path that was asked for may name what is remembered, or a file.
    """
    pattern = getattr(request.scope.get("route"), "path", "")
    log = request.app.state.session.log
    log.write("error", f"{surface} {request.method} {pattern}".strip(), error=type(error).__name__)


def _told(code: int, error: ScrubjayError, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(shape.error(error), code, headers)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ScrubjayError)
    code = status(error)
    if code >= 500:
        logged(request, "http", error)
    return _told(code, error, {"retry-after": "1"} if isinstance(error, StoreBusyError) else None)


async def _form(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if first["loc"] == ("body",) and isinstance(error.body, bytes) and not kind.endswith("json"):
        sent = f"as {kind!r:.100}" if kind else "without a content-type"
        said = InputError(
            f"The body came {sent}, so it was not read. Nothing was done.",
            hint="send JSON as content-type: application/json; curl does with --json",
        )
        return _told(422, said)
    if first["type"] == "json_invalid":
        return _told(
            400, InputError(f"The body is no JSON: it breaks off or is torn at character {first['loc'][-1]}.")
        )
    faults = []
    for each in error.errors()[:MOST_TOLD]:
        where = ".".join(str(part) for part in each["loc"] if part != "body") or "the body"
        faults.append(f"{where}: {each['msg']}")
    more = len(error.errors()) - MOST_TOLD
    faults += [f"and {more} more"] if more > 0 else []
    said = InputError("The request is not as it must be. " + "; ".join(faults), hint="GET /openapi.json")
    return _told(422, said)


async def _plain(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    known: Any = {404: f"There is nothing at {request.url.path!r:.200}.", 405: "This cannot be done there."}
    said = InputError(known.get(error.status_code, str(error.detail)), hint="GET /openapi.json")
    return _told(error.status_code, said, dict(error.headers or {}))


async def _gone(_request: Request, _error: Exception) -> Response:
    """Answer a client that went away before its body was there: nobody hears it, and it is no fault of ours."""
    return Response(status_code=400)


async def _unexpected(_request: Request, _error: Exception) -> JSONResponse:
    """Answer what nobody expected; what it was stands in the server's own output, and is told to nobody else."""
    return _told(
        500, ScrubjayError("Something went wrong that nobody expected; the server's output says what.")
    )
