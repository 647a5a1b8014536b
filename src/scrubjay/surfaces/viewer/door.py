"""Door: a token given in a form -> a cookie that stands for it, on this server's own pages alone."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from scrubjay.surfaces.serve.gate import COOKIE
from scrubjay.surfaces.viewer.page import Fields, Page, first, page, seen
from scrubjay.verbs.tokens import Tokens

router = APIRouter(include_in_schema=False, route_class=Page)

WRONG = (
    "This token is not in force. Look whether all of it was pasted; whoever runs the server can make another."
)


def _tokens(request: Request) -> Tokens:
    return cast(Tokens, request.app.state.tokens)


@router.get("/login")
def login(request: Request, then: str = "/") -> Response:
    """Show the form."""
    return page(request, "login", then=_inside(then), error="", stale=COOKIE in request.cookies)


@router.post("/login")
async def enter(request: Request, fields: Fields, tokens: Annotated[Tokens, Depends(_tokens)]) -> Response:
    """Let in who shows a token, and remember it in a cookie that no script reads and no other site sends."""
    secret, then = first(fields, "token").strip(), _inside(first(fields, "then"))
    if tokens.find(secret) is None:
        return page(request, "login", 401, then=then, error=WRONG, stale=COOKIE in request.cookies)
    answer = seen(then)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, secret, path=_ours(request), httponly=True, samesite="strict", secure=secure)
    return answer


@router.post("/logout")
def leave(request: Request) -> Response:
    """Forget the cookie; the token stays in force."""
    answer = seen("/")
    answer.delete_cookie(COOKIE, path=_ours(request), httponly=True, samesite="strict")
    return answer


def _ours(request: Request) -> str:
    """Return the path under which this server is: behind a reverse proxy, what stands beside it gets no token."""
    return request.scope.get("root_path", "") or "/"


def _inside(then: str) -> str:
    r"""Return a path of this server, whatever was asked for.

    >>> given = ("/timeline?page=2", "//evil.example", "/\\evil.example", "https://evil.example", "")
    >>> [_inside(each) for each in given]
    ['/timeline?page=2', '/', '/', '/', '/']
    """
    good = then.startswith("/") and not then.startswith(("//", "/\\")) and then.isprintable()
    return then if good and "\\" not in then else "/"
