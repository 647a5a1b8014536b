"""Requests without a token: which of them are the owner's, and why the others are not.

A program of the person on this machine is the owner without a token. Its requests differ from all others in who
connects, the version of HTTP, the Host and, from a browser, the page that sends them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.peer_account import same_account

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import Scope

LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SAFE: Final = ("GET", "HEAD", "OPTIONS")
FORWARDED: Final = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip")
"""Headers by which a reverse proxy says that somebody else asks, besides all that begin with `FORWARDED_PREFIX`."""
FORWARDED_PREFIX: Final = "x-forwarded-"
SIMPLE: Final = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""Content types that a browser sends for a page of another origin without a preflight."""

NOBODY: Final = "A token is needed, one that is neither revoked nor expired."
NOBODY_HINT: Final = (
    "ask whoever runs the server for `scrubjay token create NAME`, and send it as Authorization: Bearer TOKEN"
)
TOKENS: Final = "A token is needed: this server has tokens, so nobody goes without one."
TOKENS_HINT: Final = (
    "send one as Authorization: Bearer TOKEN, or start the server with --open: your programs on its machine then go "
    "without"
)
ELSEWHERE: Final = "The request comes from a page of another site."

Refusal = tuple[int, InputError]
"""The status, and the error."""


def own_connection(scope: Scope) -> bool:
    """Return whether the server's own account, or root, made the connection of a request."""
    return same_account(tuple(scope["server"][:2]), tuple(scope["client"][:2]))


@dataclass(frozen=True, slots=True)
class TokenlessAccess:
    """Which requests are the owner's without a token.

    Attributes:
        names: Hosts that a request may name, with the port that it came to.
        always: Whether this holds beside tokens, too; else it ends with the first one.
        own: Whether a request's connection is of the server's own account.
    """

    names: tuple[str, ...] = LOCAL_NAMES
    always: bool = False
    own: Callable[[Scope], bool] = own_connection

    def refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Return why a request is not the owner's; None where it is."""
        if scope.get("http_version") == "1.0" or forwarded(headers):
            return 401, InputError(
                "The request was forwarded, so it may be anybody's, and shows no token.", hint=NOBODY_HINT
            )
        if not _loopback(scope):
            return 401, InputError(
                "The request comes from another machine and shows no token.", hint=NOBODY_HINT
            )
        if not self._named(headers.get("host", ""), scope["server"][1]):
            return 421, InputError(
                "The request's Host names another machine or port than the server's.", hint=NOBODY_HINT
            )
        if not self.own(scope):
            return 401, InputError(
                "The request comes from another account of this machine and shows no token.", hint=NOBODY_HINT
            )
        reads = scope["method"] in SAFE
        if cross_origin(headers, reads=reads):
            return 403, InputError(ELSEWHERE, hint=NOBODY_HINT)
        if not reads and not (needs_preflight(headers) or same_origin(headers)):
            return 415, _simple_body(headers, scope["path"])
        return None

    def _named(self, netloc: str, port: int | None) -> bool:
        """Tell whether ``HOST[:PORT]`` names this server."""
        try:
            split = urlsplit(f"//{netloc}")
            return split.netloc == netloc and split.hostname in self.names and (split.port or 80) == port
        except ValueError:
            return False


def forwarded(headers: Headers) -> bool:
    """Tell whether a request says that somebody else than its sender asks."""
    return any(name in FORWARDED or name.startswith(FORWARDED_PREFIX) for name in headers)


def cross_origin(headers: Headers, *, reads: bool) -> bool:
    """Tell whether a browser says that a page of another origin asks, other ports of this machine included.

    Args:
        headers: What the request says of itself.
        reads: Whether it changes nothing; then a link may have been followed.
    """
    followed = reads and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == (
        "navigate",
        "document",
    )
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not followed:
        return True
    return "origin" in headers and not _own_origin(headers)


def same_origin(headers: Headers) -> bool:
    """Tell whether a browser says that a request comes from a page of this very server."""
    fetched = headers.get("sec-fetch-site")
    return fetched == "same-origin" if fetched is not None else _own_origin(headers)


def needs_preflight(headers: Headers) -> bool:
    """Tell whether a browser sends such a request for a page of another origin only after a preflight.

    It does for content types other than those of forms, and for the keys that clients of the proxy send.
    """
    if headers.get("authorization", "")[:7].lower() == "bearer " or "x-api-key" in headers:
        return True
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind:
        return kind not in SIMPLE
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


def _own_origin(headers: Headers) -> bool:
    scheme, mark, netloc = headers.get("origin", "").partition("://")
    return scheme in ("http", "https") and bool(mark) and netloc == headers.get("host", "")


def _loopback(scope: Scope) -> bool:
    try:
        return ipaddress.ip_address((scope["client"] or ("",))[0]).is_loopback
    except ValueError:
        return False


def _simple_body(headers: Headers, path: str) -> InputError:
    kind = headers.get("content-type", "")
    sent = f"as {kind!r:.100}" if kind else "without a content-type"
    hint = "send JSON as content-type: application/json; curl does with --json"
    if path.endswith("/import"):
        hint = "curl -H 'content-type: application/octet-stream' --data-binary @FILE"
    return InputError(
        f"The body came {sent}, as any page in a browser may send one, and without a token. Nothing was done.",
        hint=hint,
    )
