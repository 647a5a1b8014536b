"""Gate: a request over HTTP -> the same request with its principal, or an answer that lets nobody in.

A token comes as ``Authorization: Bearer``, as ``x-scrubjay-token`` (where Authorization belongs to somebody else: the
proxy's upstream), or as the login that a cookie of the viewer names. `tokenless` says who needs none. A cookie is
sent by browsers of themselves, so what comes with one is answered to pages of this very server alone, but for a link
that its reader follows. Where clients of others ask, they are refused in the form that they know.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.surfaces.serve.bodies import Form, refused
from scrubjay.surfaces.serve.logins import Logins
from scrubjay.surfaces.serve.prefix import inner
from scrubjay.surfaces.serve.tokenless import (
    ELSEWHERE,
    NOBODY,
    NOBODY_HINT,
    SAFE,
    TOKENS,
    TOKENS_HINT,
    Refusal,
    TokenlessAccess,
    cross_origin,
    same_origin,
)
from scrubjay.verbs.tokens import PREFIX, Principal, Token, Tokens

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Receive, Scope, Send

PRINCIPAL: Final = "scrubjay.principal"
"""Key of a request's scope under which the gate leaves who is let in."""
TOKEN: Final = "scrubjay.token"
"""Key under which it leaves the hash of the token that was shown; not there where none was needed."""
CHALLENGE: Final = {"www-authenticate": 'Bearer error="invalid_token"'}


class Gate:
    """Lets a request in as somebody, or not at all; an ASGI application around another.

    Args:
        app: What is behind it.
        tokens: Who is let in.
        owner: Who a local request without a token is.
        tokenless: Which requests those are; None where nobody goes without a token.
        logins: Which cookies stand for which tokens; None where there are no pages.
        everybody: Paths, and beginnings of paths that end in ``/``, that anybody may ask for.
        foreign: Beginnings of paths where an Authorization that is no token of ours belongs to somebody else, and
            the form of an error there; None for ours.
        door: Where a person in a browser is sent who shows no token; None for nowhere.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        owner: Principal,
        tokenless: TokenlessAccess | None,
        *,
        logins: Logins | None = None,
        everybody: Sequence[str] = (),
        foreign: Mapping[str, Form | None] = {},
        door: str | None = None,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._owner = owner
        self._tokenless = tokenless
        self._closed = False
        self._logins = logins
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
        secret = self._shown(headers, path)
        by_cookie = secret is None and self._logins is not None and not path.startswith(self._foreign)
        try:
            token = self._tokens.find(secret) if secret else None
            if by_cookie and self._logins is not None:
                token = self._logins.token(scope, self._tokens)
            refusal = self._refusal(scope, headers, secret, token, by_cookie=by_cookie)
        except ScrubjayError as error:
            logging.getLogger("scrubjay").warning("%s %s", error, error.hint)
            token, refusal = None, (503, InputError("The server cannot read its tokens; its log says why."))
        if refusal is None:
            who = (
                {PRINCIPAL: self._owner} if token is None else {PRINCIPAL: token.principal, TOKEN: token.hash}
            )
            await self._app({**scope, **who}, receive, send)
        elif token is None and self._open(path):
            await self._app(scope, receive, send)
        else:
            await self._refused(*refusal, scope, receive, send)

    def _refusal(
        self, scope: Scope, headers: Headers, secret: str | None, token: Token | None, *, by_cookie: bool
    ) -> Refusal | None:
        """Return why a request is not let in; None where it is.

        Raises:
            ScrubjayError: The tokens cannot be read.
        """
        if token is not None:
            reads = scope["method"] in SAFE
            if by_cookie and (cross_origin(headers, reads=reads) or not (reads or same_origin(headers))):
                return 403, InputError(f"{ELSEWHERE} Nothing was done.")
            return None
        if secret is not None or self._tokenless is None:
            return 401, InputError(NOBODY, hint=NOBODY_HINT)
        refusal = self._tokenless.refusal(scope, headers)
        if refusal is None and not self._tokenless.always:
            # Once there was a token, others may have been told of this server: the end of the last one opens nothing.
            self._closed = self._closed or bool(self._tokens.all())
            if self._closed:
                return 401, InputError(TOKENS, hint=TOKENS_HINT)
        return refusal

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
        challenge = CHALLENGE if status == 401 else None
        await refused(status, said, scope, receive, send, challenge, form)

    def _open(self, path: str) -> bool:
        return path in self._everybody or path.startswith(self._folders)

    def _shown(self, headers: Headers, path: str) -> str | None:
        """Return the secret that a request shows, empty for what is none of ours, None for nothing."""
        own = headers.get("x-scrubjay-token")
        if own is not None:
            return own.strip()
        kind, _, secret = headers.get("authorization", "").partition(" ")
        key = headers.get("x-api-key", "") if path.startswith(self._foreign) else ""
        shown = secret.strip() if kind.lower() == "bearer" else ""
        ours = next((each for each in (shown, key.strip()) if each.startswith(PREFIX)), None)
        if ours is not None or path.startswith(self._foreign):
            return ours
        return shown if kind else None
