"""Gate: a request over HTTP -> the same request with its principal, or an answer that lets nobody in.

A token comes as ``Authorization: Bearer``, as ``x-scrubjay-token`` (where Authorization belongs to somebody else: the
proxy's upstream), or as the cookie that the viewer's own form set. Without one a request is let in only where the
server listens on this machine alone, and only when its Host and Origin are this machine's and nobody forwarded it: no
page in a browser reaches it by a name that it made lead here (DNS rebinding), and nobody from elsewhere by a reverse
proxy. A cookie is sent by browsers of themselves, so what comes with one and changes something must come from a page of
this very server. Nor does a page of another site get anything from a browser that needs no token, whatever it asks for,
but for a link that its reader follows. Where clients of others ask, they are refused in the form that they know.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.surfaces.serve.bodies import Form, refused
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.verbs.tokens import PREFIX, Principal, Token, Tokens

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

PRINCIPAL: Final = "scrubjay.principal"
"""Key of a request's scope under which the gate leaves who is let in."""
TOKEN: Final = "scrubjay.token"
"""Key under which it leaves the hash of the token that was shown; not there where none was needed."""
COOKIE: Final = "scrubjay_token"
LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "::1")
FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers by which a reverse proxy says that somebody else asks."""
SAFE: Final = ("GET", "HEAD", "OPTIONS")

NOBODY: Final = "A token is needed, one that is neither revoked nor expired."
NOBODY_HINT: Final = (
    "ask whoever runs the server for `scrubjay token create NAME`, and send it as Authorization: Bearer TOKEN"
)
CHALLENGE: Final = {"www-authenticate": 'Bearer error="invalid_token"'}


class Gate:
    """Lets a request in as somebody, or not at all; an ASGI application around another.

    Args:
        app: What is behind it.
        tokens: Who is let in.
        owner: Who a request without a token is; None where it is nobody.
        everybody: Paths, and beginnings of paths that end in ``/``, that anybody may ask for.
        foreign: Beginnings of paths where an Authorization that is no token of ours belongs to somebody else, and
            the form of an error there; None for ours.
        door: Where a person in a browser is sent who shows no token; None for nowhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        owner: Principal | None,
        *,
        everybody: Sequence[str] = (),
        foreign: Mapping[str, Form | None] = {},
        door: str | None = None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._owner = owner
        self._everybody = frozenset(each for each in everybody if not each.endswith("/"))
        self._folders = tuple(each for each in everybody if each.endswith("/"))
        self._foreign = tuple(foreign)
        self._forms = [(start, form) for start, form in foreign.items() if form is not None]
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on a request with its principal, or answer it here."""
        from starlette.datastructures import Headers

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), inner(scope)
        secret, by_cookie = self._shown(headers, path)
        if secret is None and self._owner is not None:
            refusal = strange(headers, reads=scope["method"] in SAFE)
            if refusal is None:
                await self._app({**scope, PRINCIPAL: self._owner}, receive, send)
                return
            if not self._open(path):
                await self._refused(*refusal, scope, receive, send)
                return
        if self._open(path) and secret is None:
            await self._app(scope, receive, send)
            return
        if by_cookie and scope["method"] not in SAFE and not same_site(headers):
            said = InputError("The request comes from a page of another site. Nothing was done.")
            await self._answered(403, said, scope, receive, send)
            return
        try:
            token = self._tokens.find(secret) if secret else None
        except ScrubjayError as error:
            logging.getLogger("scrubjay").warning("%s %s", error, error.hint)
            said = InputError("The server cannot read its tokens; its log says why.")
            await self._answered(503, said, scope, receive, send)
            return
        if token is not None:
            await self._app(_with(scope, token), receive, send)
        elif self._open(path):
            await self._app(scope, receive, send)
        else:
            await self._refused(401, InputError(NOBODY, hint=NOBODY_HINT), scope, receive, send)

    async def _refused(
        self, status: int, said: InputError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let nobody in: a person is shown the door at which a token can be given, a program an error."""
        from starlette.datastructures import Headers
        from starlette.responses import RedirectResponse

        person = "text/html" in Headers(scope=scope).get("accept", "") and scope["method"] in SAFE
        if status == 401 and person and self._door is not None:
            under = scope.get("root_path", "")
            asked = inner(scope) + (
                f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
            )
            await RedirectResponse(f"{under}{self._door}?{urlencode({'then': asked})}", 303)(
                scope, receive, send
            )
            return
        await self._answered(status, said, scope, receive, send)

    async def _answered(
        self, status: int, said: InputError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer with an error, in the form that is known where it was asked."""
        path = inner(scope)
        form = next((form for start, form in self._forms if path.startswith(start)), None)
        challenge = CHALLENGE if said.args[0] == NOBODY else None
        await refused(status, said, scope, receive, send, challenge, form)

    def _open(self, path: str) -> bool:
        return path in self._everybody or path.startswith(self._folders)

    def _shown(self, headers: Headers, path: str) -> tuple[str | None, bool]:
        """The secret that a request shows, empty for what is none of ours, None for nothing; and whether by cookie."""
        own = headers.get("x-scrubjay-token")
        if own is not None:
            return own.strip(), False
        kind, _, secret = headers.get("authorization", "").partition(" ")
        key = headers.get("x-api-key", "") if path.startswith(self._foreign) else ""
        shown = secret.strip() if kind.lower() == "bearer" else ""
        ours = next((each for each in (shown, key.strip()) if each.startswith(PREFIX)), None)
        if ours is not None:
            return ours, False
        if path.startswith(self._foreign):
            return None, False
        if kind:
            return shown, False
        cookie = _cookie(headers)
        return (cookie, True) if cookie else (None, False)


def strange(headers: Headers, *, reads: bool = False) -> tuple[int, InputError] | None:
    """Return why a request that shows no token is not the owner's, with its status; None where it is.

    Args:
        headers: What the request says of itself.
        reads: Whether it changes nothing.
    """
    if any(name in headers for name in FORWARDED):
        return 401, InputError(
            "The request was forwarded, so it may be anybody's, and shows no token.", hint=NOBODY_HINT
        )
    if not _local(headers.get("host", "")):
        return 421, InputError("The request's Host names another machine.", hint=NOBODY_HINT)
    origin = headers.get("origin")
    elsewhere = origin is not None and not (
        origin.startswith(("http://", "https://")) and _local(origin.partition("//")[2])
    )
    followed = reads and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == (
        "navigate",
        "document",
    )
    if elsewhere or (headers.get("sec-fetch-site") == "cross-site" and not followed):
        return 403, InputError("The request comes from a page of another site.", hint=NOBODY_HINT)
    return None


def same_site(headers: Headers) -> bool:
    """Tell whether a browser says that a request comes from a page of this very server."""
    fetched = headers.get("sec-fetch-site")
    if fetched is not None:
        return fetched == "same-origin"
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc == headers.get("host", "")


def _local(netloc: str) -> bool:
    """Tell whether ``HOST[:PORT]`` names this machine.

    >>> [_local(each) for each in ("localhost:80", "[::1]:8765", "127.0.0.1", "evil.example", "localhost.evil", "")]
    [True, True, True, False, False, False]
    """
    try:
        split = urlsplit(f"//{netloc}")
        return split.hostname in LOCAL_NAMES and split.netloc == netloc and split.port != 0
    except ValueError:
        return False


def _cookie(headers: Headers) -> str:
    from starlette.requests import cookie_parser

    return cookie_parser(headers.get("cookie", "")).get(COOKIE, "")


def _with(scope: Scope, token: Token) -> Scope:
    return {**scope, PRINCIPAL: token.principal, TOKEN: token.hash}
