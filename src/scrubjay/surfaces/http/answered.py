"""Answered: a value of JSON -> a response; and what OpenAPI says of it, with every error that there can be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from fastapi.responses import JSONResponse
from pydantic import BaseModel

from scrubjay.surfaces.http.schemas import sample, whole

Problem: Final = whole("Problem", "An error.", type=str, message=str, hint=str, exit_code=int)
Failure: Final = whole("Failure", "What every error is told as, whatever its status.", error=Problem)

SAID: Final[Mapping[int, str]] = {
    400: "The body is no JSON.",
    401: "A token is needed, one that is neither revoked nor expired.",
    403: "The token may not do this, or a page of another site asks.",
    404: "It is not there, or not to be seen.",
    405: "This cannot be done there.",
    408: "The body did not come in time.",
    413: "The body is too large.",
    421: "Without a token, the request must name this machine.",
    422: "The request is not as it must be.",
    500: "Something went wrong that nobody expected; the server's output says what.",
    502: "A model or a remote service failed.",
    503: "The store cannot do it now, or too many requests wait; with Retry-After where it is worth trying again.",
    507: "A user or a tenant has as many memories as [quota] allows; nothing was written.",
}
EVERYWHERE: Final = (400, 401, 403, 408, 413, 421, 422, 500, 502, 503, 507)
"""Statuses that any request may be answered with."""


class Told(JSONResponse):
    """An answer of JSON."""

    def render(self, content: Any) -> bytes:
        """Return UTF-8; of a file's name that is none, half characters are replaced."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def answers(
    model: type[BaseModel],
    status: int = 200,
    *,
    about: str = "What was asked for.",
    more: tuple[int, ...] = (),
) -> dict[int | str, dict[str, Any]]:
    """Return what OpenAPI says of a route's answers.

    Args:
        model: What it answers.
        status: With which status.
        about: What that is.
        more: Statuses of errors that not every route has.
    """
    told: dict[int | str, dict[str, Any]] = {status: good(model, about)}
    return told | {code: _bad(code) for code in sorted({*EVERYWHERE, *more})}


def good(model: type[BaseModel], about: str) -> dict[str, Any]:
    """Return what OpenAPI says of one answer."""
    return {
        "model": model,
        "description": about,
        "content": {"application/json": {"example": sample(model)}},
    }


def _bad(code: int) -> dict[str, Any]:
    error = {"type": "InputError", "message": SAID[code], "hint": "", "exit_code": 2}
    return {
        "model": Failure,
        "description": SAID[code],
        "content": {"application/json": {"example": {"error": error}}},
    }
