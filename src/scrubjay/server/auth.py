"""Authentication: tokens, viewer logins, and local requests that need neither.

A token comes as ``Authorization: Bearer``, as ``x-scrubjay-token`` (for proxied requests, whose Authorization belongs
to the upstream), or through the viewer's login cookie. Browsers send a cookie to every port of a host, so it holds the
number of a login that only this process knows, and it is accepted from this server's own pages alone.

Where an OAuth issuer is configured, its access tokens are accepted in the same places (`api/oauth.py`).

A local request without a token is the owner's if its connection, HTTP version, Host and browser headers say so
(`TokenlessAccess`). On Linux, netlink (sock_diag(7)) tells which account owns a connection, which separates the
person's programs from a reverse proxy or another account; it takes .01 ms, /proc/net/tcp takes 8 to 24 ms.
"""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import os
import secrets
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse

from scrubjay.api.auth import TOKEN_PREFIX, Principal, Token, TokenStore
from scrubjay.api.oauth import InvalidTokenError, OAuthVerifier, VerifiedToken, is_jwt
from scrubjay.errors import ConfigError, ForbiddenError, InputError, ProviderError, ScrubjayError
from scrubjay.frozen import frozen
from scrubjay.server.middleware import PRINCIPAL_KEY, ErrorFormat, route_path, send_error
from scrubjay.server.session import PUBLIC_HINT

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send


ROOT_UID: Final = 0
"""Root: it can read the store anyway, and it relays the person's connections under WSL."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_MESSAGE_HEADER: Final = struct.Struct("=IHHII")
"""Length, type, flags, sequence number, port."""
_DIAG_REQUEST: Final = struct.Struct("=BBBxIHH16s16sIII")
"""Family, protocol, extensions, states; then ports, addresses, interface, cookie (all ones for any)."""
_DIAG_RESPONSE: Final = struct.Struct("=BBxx48x12xII")
"""Family, state, account, inode."""
_ESTABLISHED, _LISTEN = 1, 10
_NO_COOKIE: Final = 0xFFFFFFFF

SocketAddress = tuple[str, int]


class SocketInfo(NamedTuple):
    state: int
    account: int
    inode: int


def is_same_account(local: SocketAddress, remote: SocketAddress) -> bool:
    """Return whether this account, or root, owns the client's end of a connection; True if the system cannot say."""
    if not is_peer_account_supported():
        return True
    try:
        peer = _find_socket(remote, local)
        if peer is None:
            # A client outside of this system (Windows, with WSL's mirrored network) has no socket here while our end is
            # connected. Where ours is not, the client has closed, and its owner is no longer known.
            ours = _find_socket(local, remote)
            return ours is not None and ours.state == _ESTABLISHED
    except OSError:  # such as too many open files: the system could answer before
        return False
    # A socket that its program has closed has no inode; older kernels say that root owns it.
    return peer.inode != 0 and peer.account in (os.geteuid(), ROOT_UID)


@cache
def is_peer_account_supported() -> bool:
    """Return whether this system reports who owns a connection."""
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname()) as client,
        ):
            return _find_socket(client.getsockname(), client.getpeername()) is not None
    except (OSError, AttributeError):
        return False


def _find_socket(local: SocketAddress, remote: SocketAddress) -> SocketInfo | None:
    """Return the connected socket with these ends, its own first.

    Raises:
        OSError: The lookup failed.
        AttributeError: The system is not Linux.
    """
    local_ip, remote_ip = ipaddress.ip_address(local[0]).packed, ipaddress.ip_address(remote[0]).packed
    family = socket.AF_INET if len(local_ip) == 4 else socket.AF_INET6
    ports = socket.htons(local[1]), socket.htons(remote[1])
    body = _DIAG_REQUEST.pack(
        family, socket.IPPROTO_TCP, 0, _NO_COOKIE, *ports, local_ip, remote_ip, 0, _NO_COOKIE, _NO_COOKIE
    )
    header = _MESSAGE_HEADER.pack(_MESSAGE_HEADER.size + len(body), _BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as netlink:
        netlink.send(header + body)
        response = netlink.recv(8_192)
    if _MESSAGE_HEADER.unpack_from(response)[1] != _BY_FAMILY:
        return None
    _, state, account, inode = _DIAG_RESPONSE.unpack_from(response, _MESSAGE_HEADER.size)
    # Without such a connection the kernel returns the socket that listens on the port.
    return None if state == _LISTEN else SocketInfo(state, account, inode)


LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
FORWARDING_HEADERS: Final = (
    "forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip",
)  # fmt: skip
"""Headers of reverse proxies, besides those that begin with ``x-forwarded-``."""
SIMPLE_CONTENT_TYPES: Final = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""Content types that a browser sends for a page of another origin without a preflight."""

TOKEN_NEEDED: Final = "A valid token is required; revoked and expired ones are rejected."
TOKEN_NEEDED_HINT: Final = (
    "get one from the server's operator (`scrubjay token create NAME`) "
    "and send it as Authorization: Bearer TOKEN"
)
TOKENS_EXIST: Final = "A token is required: this server has tokens."
TOKENS_EXIST_HINT: Final = (
    "send one as Authorization: Bearer TOKEN, or start the server with --open to exempt your local programs"
)
SEND_JSON_HINT: Final = "send JSON with content-type: application/json (curl --json)"
CROSS_SITE: Final = "Cross-site request rejected."


class TokensUnreadableError(ConfigError):
    """No request with a token is answered; the server's output has the reason."""

    def __init__(self) -> None:
        super().__init__("The server cannot read its tokens.", hint=PUBLIC_HINT)


Refusal = tuple[int, ScrubjayError]
"""Status and error."""


def is_own_connection(scope: Scope) -> bool:
    return is_same_account(tuple(scope["server"][:2]), tuple(scope["client"][:2]))


@frozen
class TokenlessAccess:
    """Which requests without a token are the owner's.

    Attributes:
        names: Accepted names in the Host header.
        always: Whether this holds even if tokens exist (``--open``).
        own: Whether a request's connection belongs to the server's account.
    """

    names: tuple[str, ...] = LOCAL_NAMES
    always: bool = False
    own: Callable[[Scope], bool] = is_own_connection

    def refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Return why a request is not the owner's; None if it is."""
        reads = scope["method"] in SAFE_METHODS
        if scope.get("http_version") == "1.0" or is_forwarded(headers):
            status, message = 401, "The request was forwarded by a proxy and has no token."
        elif not _is_loopback(scope):
            status, message = 401, "The request comes from another machine and has no token."
        elif not self._is_named(headers.get("host", ""), scope["server"][1]):
            status, message = 421, "The request's Host header does not match the server."
        elif not self.own(scope):
            status, message = 401, "The request comes from another account on this machine and has no token."
        elif is_cross_origin(headers, reads=reads):
            status, message = 403, CROSS_SITE
        elif not reads and not (needs_preflight(headers) or is_same_origin(headers)):
            return 415, _simple_body_error(headers, scope["path"])
        else:
            return None
        return status, InputError(message, hint=TOKEN_NEEDED_HINT)

    def _is_named(self, netloc: str, port: int | None) -> bool:
        try:
            split = urlsplit(f"//{netloc}")
            return split.netloc == netloc and split.hostname in self.names and (split.port or 80) == port
        except ValueError:
            return False


def is_forwarded(headers: Headers) -> bool:
    """Return whether a reverse proxy says that it forwards somebody else's request."""
    return any(name in FORWARDING_HEADERS or name.startswith("x-forwarded-") for name in headers)


def is_cross_origin(headers: Headers, *, reads: bool) -> bool:
    """Return whether a browser says that a page of another origin, other ports included, sends the request.

    ``reads``: whether it changes nothing; then a followed link is allowed.
    """
    from_elsewhere = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
    navigates = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    if from_elsewhere and not (reads and navigates):
        return True
    return "origin" in headers and not _has_own_origin(headers)


def is_same_origin(headers: Headers) -> bool:
    """Return whether a browser says that a page of this server sends the request."""
    site = headers.get("sec-fetch-site")
    return site == "same-origin" if site is not None else _has_own_origin(headers)


def needs_preflight(headers: Headers) -> bool:
    """Return whether a browser would send such a cross-origin request only after a preflight.

    It does for content types other than those of forms, and for the keys that proxy clients send.
    """
    if headers.get("authorization", "")[:7].lower() == "bearer " or "x-api-key" in headers:
        return True
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type:
        return content_type not in SIMPLE_CONTENT_TYPES
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


def _has_own_origin(headers: Headers) -> bool:
    scheme, mark, netloc = headers.get("origin", "").partition("://")
    return scheme in ("http", "https") and bool(mark) and netloc == headers.get("host", "")


def _is_loopback(scope: Scope) -> bool:
    try:
        return ipaddress.ip_address((scope["client"] or ("",))[0]).is_loopback
    except ValueError:
        return False


def _simple_body_error(headers: Headers, path: str) -> InputError:
    kind = describe_content_type(headers.get("content-type", ""))
    upload = "curl -H 'content-type: application/octet-stream' --data-binary @FILE"
    return InputError(
        f"The body was sent {kind}, as any web page could send it, and without a token. Nothing was done.",
        hint=upload if path.endswith("/import") else SEND_JSON_HINT,
    )


def describe_content_type(kind: str) -> str:
    return f"as {kind!r:.100}" if kind else "without a content-type"


COOKIE_NAME: Final = f"{TOKEN_PREFIX}session"
"""Name of the login cookie, before the port and behind a prefix for TLS."""
FORMER_COOKIE_NAME: Final = f"{TOKEN_PREFIX}token"
"""Cookie of earlier versions, which was the token itself."""
MAX_LOGINS_PER_TOKEN: Final = 20
"""One more ends the oldest."""


class LoginStore:
    """The viewer logins of one server, as hashes of their numbers."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}

    def begin(self, token: Token, request: Request, response: Response) -> None:
        """Start a login, set its cookie, and end the one that came with the request."""
        self.end(request, response)
        logins = [key for key, digest in self._tokens.items() if digest == token.hash]
        for key in logins[: len(logins) - MAX_LOGINS_PER_TOKEN + 1]:
            del self._tokens[key]
        number = secrets.token_urlsafe(32)
        self._tokens[_login_key(number)] = token.hash
        root_path = request.scope.get("root_path", "")
        tls = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
        prefix = ""
        if tls:  # __Host- binds a cookie to its host and demands the path "/"
            prefix = "__Secure-" if root_path else "__Host-"
        response.set_cookie(
            prefix + _cookie_name(request.scope),
            number,
            path=root_path or "/",
            httponly=True,
            samesite="strict",
            secure=tls,
        )

    def end(self, request: Request, response: Response) -> None:
        """End the login that came with a request and delete its cookie."""
        for name, number in _own_cookies(request.scope):
            self._tokens.pop(_login_key(number), None)
            response.delete_cookie(
                name,
                path=request.scope.get("root_path", "") or "/",
                httponly=True,
                samesite="strict",
                secure=name.startswith("__"),
            )

    def token(self, scope: Scope, tokens: TokenStore) -> Token | None:
        for _, number in _own_cookies(scope):
            digest = self._tokens.get(_login_key(number))
            if digest is not None:
                return tokens.in_force(digest)
        return None


def has_stale_cookie(request: Request) -> bool:
    return any(True for _ in _own_cookies(request.scope))


def _own_cookies(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield this server's cookies, those protected by TLS first."""
    name = _cookie_name(scope)
    names = (f"__Host-{name}", f"__Secure-{name}", name, FORMER_COOKIE_NAME)
    cookies = "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == b"cookie")
    pairs = [cookie.strip().partition("=") for cookie in cookies.split(";")]
    for name in names:
        yield from ((key, value) for key, _, value in pairs if key == name)


def _cookie_name(scope: Scope) -> str:
    """Include the port: two servers on one host do not overwrite each other's cookie."""
    server = scope.get("server")
    return f"{COOKIE_NAME}_{server[1]}" if server else COOKIE_NAME


def _login_key(number: str) -> str:
    return hashlib.sha256(number.encode()).hexdigest()


TOKEN_HASH_KEY: Final = "scrubjay.token"
"""Key of a request's scope with the hash of its token; missing if it needed none."""
OAUTH_KEY: Final = "scrubjay.oauth"
"""Key of a request's scope with the verifier of its access token; missing if it has none."""
CHALLENGE: Final = 'Bearer error="invalid_token"'


def _is_public(path: str, public: Sequence[str]) -> bool:
    return any(path.startswith(prefix) if prefix.endswith("/") else path == prefix for prefix in public)


@dataclass(eq=False, slots=True)
class AuthMiddleware:
    """ASGI middleware that gives each request its principal, or refuses it.

    Attributes:
        owner: Principal of tokenless requests.
        tokenless: Which requests need no token; None for none.
        logins: Viewer logins; None without a viewer.
        public: Public paths, and prefixes ending in ``/``.
        foreign: Path prefixes where an Authorization that is not our token belongs to somebody else, with the form of
            an error there; None for ours.
        login_path: Where browsers without a token are redirected; None for nowhere.
        oauth: Verifies access tokens of an OAuth issuer; None if none is configured.
    """

    app: ASGIApp
    tokens: TokenStore
    owner: Principal
    tokenless: TokenlessAccess | None
    logins: LoginStore | None = None
    public: Sequence[str] = ()
    foreign: Mapping[str, ErrorFormat | None] = field(default_factory=dict)
    login_path: str | None = None
    oauth: OAuthVerifier | None = None
    _tokens_existed: bool = field(default=False, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers, path = Headers(scope=scope), route_path(scope)
        secret = self._secret(headers, path)
        by_cookie = secret is None and self.logins is not None and not path.startswith(tuple(self.foreign))
        added: dict[str, Any] = {PRINCIPAL_KEY: self.owner}
        credential = None
        try:
            token = self.tokens.find(secret) if secret else None
            if by_cookie and self.logins is not None:
                token = self.logins.token(scope, self.tokens)
            if token is not None:
                credential = VerifiedToken(token.principal, token.hash)
            refusal = self._refusal(scope, secret, credential, by_cookie=by_cookie)
        except ScrubjayError as error:
            logging.getLogger("scrubjay").warning("%s %s", error, error.hint)
            credential, refusal = None, (503, TokensUnreadableError())
        else:
            if refusal is not None and self.oauth is not None and secret and is_jwt(secret):
                credential, refusal = await self._verify(self.oauth, secret)
                added[OAUTH_KEY] = self.oauth
        if refusal is None:
            if credential is not None:
                added |= {PRINCIPAL_KEY: credential.principal, TOKEN_HASH_KEY: credential.key}
            await self.app({**scope, **added}, receive, send)
        elif credential is None and _is_public(path, self.public):
            await self.app(scope, receive, send)
        else:
            await self._refuse(refusal, secret, scope, receive, send)

    async def _verify(self, oauth: OAuthVerifier, secret: str) -> tuple[VerifiedToken | None, Refusal | None]:
        try:
            return await oauth.verify(secret), None
        except InvalidTokenError as error:
            return None, (401, error)
        except ForbiddenError as error:
            return None, (403, error)
        except ProviderError:  # the verifier logs it
            text = "The server cannot read its issuer's keys; see its log. The access token was not checked."
            return None, (503, ProviderError(text, hint="retry in a minute"))

    def _secret(self, headers: Headers, path: str) -> str | None:
        """Return the token that a request shows; None if it shows none, or one of somebody else's."""
        header = headers.get("x-scrubjay-token")
        if header is not None:
            return header.strip()
        scheme, _, value = headers.get("authorization", "").partition(" ")
        bearer = value.strip() if scheme.lower() == "bearer" else ""
        if not path.startswith(tuple(self.foreign)):
            return bearer if scheme else None
        keys = (bearer, headers.get("x-api-key", "").strip())
        return next((key for key in keys if key.startswith(TOKEN_PREFIX)), None)

    def _refusal(
        self, scope: Scope, secret: str | None, credential: VerifiedToken | None, *, by_cookie: bool
    ) -> Refusal | None:
        headers = Headers(scope=scope)
        if credential is not None:
            reads = scope["method"] in SAFE_METHODS
            is_own_page = not is_cross_origin(headers, reads=reads) and (reads or is_same_origin(headers))
            if by_cookie and not is_own_page:
                return 403, InputError(f"{CROSS_SITE} Nothing was done.")
            return None
        if secret is not None or self.tokenless is None:
            return 401, InputError(TOKEN_NEEDED, hint=TOKEN_NEEDED_HINT)
        refusal = self.tokenless.refusal(scope, headers)
        if refusal is None and not self.tokenless.always:
            # Once tokens existed, others may know this server: revoking the last token must not open it.
            self._tokens_existed = self._tokens_existed or bool(self.tokens.all())
            if self._tokens_existed:
                return 401, InputError(TOKENS_EXIST, hint=TOKENS_EXIST_HINT)
        return refusal

    def _challenge(self, status: int, error: ScrubjayError, secret: str | None) -> dict[str, str] | None:
        if isinstance(error, ProviderError):
            return {"retry-after": "10"}
        if self.oauth is None:
            return {"www-authenticate": CHALLENGE} if status == 401 else None
        if isinstance(error, ForbiddenError):
            return {"www-authenticate": self.oauth.challenge("insufficient_scope")}
        if status != 401:
            return None
        reason = str(error) if isinstance(error, InvalidTokenError) else ""
        return {"www-authenticate": self.oauth.challenge("invalid_token" if secret else "", about=reason)}

    async def _refuse(
        self, refusal: Refusal, secret: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        (status, error), path = refusal, route_path(scope)
        accepted = Headers(scope=scope).get("accept", "")
        is_browser = "text/html" in accepted and scope["method"] in SAFE_METHODS
        if status == 401 and is_browser and self.login_path is not None:
            query = scope["query_string"].decode("latin-1")
            target = urlencode({"then": f"{path}?{query}" if query else path})
            redirect = RedirectResponse(f"{scope.get('root_path', '')}{self.login_path}?{target}", 303)
            await redirect(scope, receive, send)
            return
        if status == 401 and path.startswith(tuple(self.foreign)):
            # Authorization has the key of the model's service.
            error.hint = error.hint.replace("Authorization: Bearer TOKEN", "x-scrubjay-token: TOKEN")
        challenge = self._challenge(status, error, secret)
        await send_error(status, error, scope, receive, send, challenge, self.foreign)
