"""Logins: a token shown in the viewer's form -> a cookie that names a login of this server, never the token.

Browsers send a cookie to every port of a host. What another program there gets is the number of a login, which no other
server knows, which ends with this process, and which shows nobody the token.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from scrubjay.verbs.tokens import PREFIX

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from scrubjay.verbs.tokens import Token, Tokens

NAME: Final = f"{PREFIX}session"
"""What the cookie's name begins with, but for the marks of TLS; the port follows."""
FORMER: Final = f"{PREFIX}token"
"""The cookie of earlier versions, which was the token itself."""
MOST: Final = 20
"""Logins of one token at the same time; the oldest ends for one more."""


class Logins:
    """The logins of one server."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}

    def begin(self, token: Token, request: Request, answer: Response) -> None:
        """Begin a login and leave its cookie in the answer; whatever login came with the request ends."""
        self.end(request, answer)
        own = [key for key, held in self._tokens.items() if held == token.hash]
        for key in own[: len(own) - MOST + 1]:
            del self._tokens[key]
        number = secrets.token_urlsafe(32)
        self._tokens[_key(number)] = token.hash
        under = request.scope.get("root_path", "")
        tls = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
        # A cookie for the whole host may be bound to it; one that keeps to a path may not.
        mark = "" if not tls else "__Secure-" if under else "__Host-"
        answer.set_cookie(
            mark + _name(request.scope),
            number,
            path=under or "/",
            httponly=True,
            samesite="strict",
            secure=tls,
        )

    def end(self, request: Request, answer: Response) -> None:
        """End the login that came with a request, and have its browser drop the cookie."""
        for name, number in _cookies(request.scope):
            self._tokens.pop(_key(number), None)
            answer.delete_cookie(
                name,
                path=request.scope.get("root_path", "") or "/",
                httponly=True,
                samesite="strict",
                secure=name.startswith("__"),
            )

    def token(self, scope: Scope, tokens: Tokens) -> Token | None:
        """Return the token of the login that came with a request; None where there is none, or it is not in force.

        Raises:
            ConfigError: The tokens cannot be read.
        """
        for _, number in _cookies(scope):
            held = self._tokens.get(_key(number))
            if held is not None:
                return tokens.in_force(held)
        return None


def stale(request: Request) -> bool:
    """Tell whether a request came with a cookie of this server."""
    return any(True for _ in _cookies(request.scope))


def _cookies(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each cookie of this server, those that TLS protects first."""
    name = _name(scope)
    names = (f"__Host-{name}", f"__Secure-{name}", name, FORMER)
    sent = "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == b"cookie")
    pairs = [piece.strip().partition("=") for piece in sent.split(";")]
    for wanted in names:
        yield from ((key, value) for key, _, value in pairs if key == wanted)


def _name(scope: Scope) -> str:
    """Return the name for this server: two of them on one host do not take each other's place."""
    server = scope.get("server")
    return f"{NAME}_{server[1]}" if server else NAME


def _key(number: str) -> str:
    return hashlib.sha256(number.encode()).hexdigest()
