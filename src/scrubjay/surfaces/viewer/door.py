"""Door: a token given in a form -> a login, on this server's own pages alone."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.surfaces.serve.gate import PRINCIPAL
from scrubjay.surfaces.serve.logins import Logins, stale
from scrubjay.surfaces.viewer.page import Fields, Page, first, page, seen
from scrubjay.verbs.tokens import Tokens

router = APIRouter(include_in_schema=False, route_class=Page)

WRONG = (
    "This token is not in force. Look whether all of it was pasted; whoever runs the server can make another."
)


def _tokens(request: Request) -> Tokens:
    return cast(Tokens, request.app.state.tokens)


def _logins(request: Request) -> Logins:
    return cast(Logins, request.app.state.logins)


def _form(request: Request, code: int, then: str, error: str = "") -> Response:
    closed = request.app.state.tokenless is not None and PRINCIPAL not in request.scope
    return page(request, "login", code, then=then, error=error, stale=stale(request), local=closed)


@router.get("/login")
def login(request: Request, then: str = "/") -> Response:
    """Show the form."""
    return _form(request, 200, _inside(then))


@router.post("/login")
async def enter(
    request: Request,
    fields: Fields,
    tokens: Annotated[Tokens, Depends(_tokens)],
    logins: Annotated[Logins, Depends(_logins)],
) -> Response:
    """Let in who shows a token, and remember it by a cookie that no script reads and no other site sends."""
    secret, then = first(fields, "token").strip(), _inside(first(fields, "then"))
    token = tokens.find(secret)
    if token is None:
        return _form(request, 401, then, WRONG)
    answer = seen(then)
    logins.begin(token, request, answer)
    return answer


@router.post("/logout")
async def leave(request: Request, logins: Annotated[Logins, Depends(_logins)]) -> Response:
    """End the login; the token stays in force."""
    answer = seen("/")
    logins.end(request, answer)
    return answer


def _inside(then: str) -> str:
    r"""Return a path of this server, whatever was asked for.

    >>> given = ("/timeline?page=2", "//evil.example", "/\\evil.example", "https://evil.example", "")
    >>> [_inside(each) for each in given]
    ['/timeline?page=2', '/', '/', '/', '/']
    """
    good = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable()
    return then if good and "\\" not in then else "/"
