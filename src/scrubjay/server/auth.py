"""Authentication: tokens, viewer logins, and which local requests need neither.

Linux knows the account that owns each socket. It separates the person's programs from a reverse proxy under an account
of its own (www-data, nginx, haproxy), whatever the proxy sends, and from every other account of the machine. A lookup
by netlink (sock_diag(7)) takes .01 ms; reading /proc/net/tcp takes 8 to 24 ms.

A program of the person on this machine is the owner without a token. Its requests differ from all others in who
connects, the version of HTTP, the Host and, from a browser, the page that sends them.

Browsers send a cookie to every port of a host. What another program there gets is the number of a login, which no other
server knows, which ends with this process, and which shows nobody the token.

A token comes as ``Authorization: Bearer``, as ``x-scrubjay-token`` (where Authorization belongs to somebody else: the
proxy's upstream), or as the login that a cookie of the viewer names. `tokenless` says who needs none. A cookie is
sent by browsers of themselves, so what comes with one is answered to pages of this very server alone, but for a link
that its reader follows. Where clients of others ask, they are refused in the form that they know.
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
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode, urlsplit

from scrubjay.api.auth import TOKEN_PREFIX, Principal, Token, TokenStore
from scrubjay.errors import InputError, ScrubjayError
from scrubjay.server.middleware import ErrorFormat, route_path, send_error

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send


ROOT_UID: Final = 0
"""Can read the store anyway, and relays the person's own connections: WSL does so for a browser of Windows."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_MESSAGE_HEADER: Final = struct.Struct("=IHHII")
"""Length, type, flags, number, port of a message."""
_DIAG_REQUEST: Final = struct.Struct("=BBBxIHH16s16sIII")
"""Family, protocol, extensions, states; then a socket: ports, addresses, interface, cookie (all ones for any)."""
_DIAG_RESPONSE: Final = struct.Struct("=BBxx48x12xII")
"""Family, state; then the account and the inode."""
_ESTABLISHED, _LISTEN = 1, 10
_NO_COOKIE: Final = 0xFFFFFFFF

SocketAddress = tuple[str, int]


class SocketInfo(NamedTuple):
    """What the system knows of a socket."""

    state: int
    account: int
    inode: int


def is_same_account(near: SocketAddress, far: SocketAddress) -> bool:
    """Return whether this account, or root, owns the far end of a connection; True where the system cannot say.

    Args:
        near: Address and port of the server's end.
        far: The same of the client's.
    """
    if not is_peer_account_supported():
        return True
    try:
        row = _find_socket(far, near)
        if row is None:
            # A client outside of this system (Windows, with WSL's mirrored network) has no socket here, while our end
            # is connected. Where it is not, the client has closed, and the owner is no longer known.
            own = _find_socket(near, far)
            return own is not None and own.state == _ESTABLISHED
    except OSError:  # such as too many open files: the system could answer before
        return False
    # A socket that its program has closed has no inode; older kernels say that root owns it.
    return row.inode != 0 and row.account in (os.geteuid(), ROOT_UID)


@cache
def is_peer_account_supported() -> bool:
    """Return whether this system knows who owns a connection, tried with one of this process."""
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname()) as client,
        ):
            return _find_socket(client.getsockname(), client.getpeername()) is not None
    except (OSError, AttributeError):
        return False


def _find_socket(one: SocketAddress, other: SocketAddress) -> SocketInfo | None:
    """Return the connected socket with these ends, its own first; None where there is none.

    Raises:
        OSError: The lookup is not possible.
        AttributeError: The system is not Linux.
    """
    own, theirs = ipaddress.ip_address(one[0]).packed, ipaddress.ip_address(other[0]).packed
    family = socket.AF_INET if len(own) == 4 else socket.AF_INET6
    ports = socket.htons(one[1]), socket.htons(other[1])
    body = _DIAG_REQUEST.pack(
        family, socket.IPPROTO_TCP, 0, _NO_COOKIE, *ports, own, theirs, 0, _NO_COOKIE, _NO_COOKIE
    )
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as wire:
        wire.send(
            _MESSAGE_HEADER.pack(_MESSAGE_HEADER.size + len(body), _BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body
        )
        said = wire.recv(8_192)
    if _MESSAGE_HEADER.unpack_from(said)[1] != _BY_FAMILY:
        return None
    _, state, account, inode = _DIAG_RESPONSE.unpack_from(said, _MESSAGE_HEADER.size)
    # Where there is no such connection, the kernel returns the socket that listens on the port.
    return None if state == _LISTEN else SocketInfo(state, account, inode)


LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "::1")
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")
FORWARDING_HEADERS: Final = (
    "forwarded",
    "via",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
)
"""Headers by which a reverse proxy says that somebody else asks, besides all that begin with `FORWARDING_PREFIX`."""
FORWARDING_PREFIX: Final = "x-forwarded-"
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

Refusal = tuple[int, InputError]
"""The status, and the error."""


def is_own_connection(scope: Scope) -> bool:
    """Return whether the server's own account, or root, made the connection of a request."""
    return is_same_account(tuple(scope["server"][:2]), tuple(scope["client"][:2]))


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
    own: Callable[[Scope], bool] = is_own_connection

    def refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Return why a request is not the owner's; None where it is."""
        if scope.get("http_version") == "1.0" or is_forwarded(headers):
            return 401, InputError(
                "The request was forwarded by a proxy and has no token.",
                hint=TOKEN_NEEDED_HINT,
            )
        if not _is_loopback(scope):
            return 401, InputError(
                "The request comes from another machine and has no token.", hint=TOKEN_NEEDED_HINT
            )
        if not self._named(headers.get("host", ""), scope["server"][1]):
            return 421, InputError(
                "The request's Host header does not match the server.", hint=TOKEN_NEEDED_HINT
            )
        if not self.own(scope):
            return 401, InputError(
                "The request comes from another account on this machine and has no token.",
                hint=TOKEN_NEEDED_HINT,
            )
        reads = scope["method"] in SAFE_METHODS
        if is_cross_origin(headers, reads=reads):
            return 403, InputError(CROSS_SITE, hint=TOKEN_NEEDED_HINT)
        if not reads and not (needs_preflight(headers) or is_same_origin(headers)):
            return 415, _simple_body_error(headers, scope["path"])
        return None

    def _named(self, netloc: str, port: int | None) -> bool:
        """Tell whether ``HOST[:PORT]`` names this server."""
        try:
            split = urlsplit(f"//{netloc}")
            return split.netloc == netloc and split.hostname in self.names and (split.port or 80) == port
        except ValueError:
            return False


def is_forwarded(headers: Headers) -> bool:
    """Tell whether a request says that somebody else than its sender asks."""
    return any(name in FORWARDING_HEADERS or name.startswith(FORWARDING_PREFIX) for name in headers)


def is_cross_origin(headers: Headers, *, reads: bool) -> bool:
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
    return "origin" in headers and not _has_own_origin(headers)


def is_same_origin(headers: Headers) -> bool:
    """Tell whether a browser says that a request comes from a page of this very server."""
    fetched = headers.get("sec-fetch-site")
    return fetched == "same-origin" if fetched is not None else _has_own_origin(headers)


def needs_preflight(headers: Headers) -> bool:
    """Tell whether a browser sends such a request for a page of another origin only after a preflight.

    It does for content types other than those of forms, and for the keys that clients of the proxy send.
    """
    if headers.get("authorization", "")[:7].lower() == "bearer " or "x-api-key" in headers:
        return True
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind:
        return kind not in SIMPLE_CONTENT_TYPES
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
    sent = describe_content_type(headers.get("content-type", ""))
    upload = "curl -H 'content-type: application/octet-stream' --data-binary @FILE"
    return InputError(
        f"The body was sent {sent}, as any web page could send it, and without a token. Nothing was done.",
        hint=upload if path.endswith("/import") else SEND_JSON_HINT,
    )


def describe_content_type(kind: str) -> str:
    """Return how a body was sent, for an error message."""
    return f"as {kind!r:.100}" if kind else "without a content-type"


COOKIE_NAME: Final = f"{TOKEN_PREFIX}session"
"""What the cookie's name begins with, but for the marks of TLS; the port follows."""
FORMER_COOKIE_NAME: Final = f"{TOKEN_PREFIX}token"
"""The cookie of earlier versions, which was the token itself."""
MAX_LOGINS_PER_TOKEN: Final = 20
"""Logins of one token at the same time; the oldest ends for one more."""


class LoginStore:
    """The logins of one server."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}

    def begin(self, token: Token, request: Request, answer: Response) -> None:
        """Begin a login and leave its cookie in the answer; whatever login came with the request ends."""
        self.end(request, answer)
        own = [key for key, held in self._tokens.items() if held == token.hash]
        for key in own[: len(own) - MAX_LOGINS_PER_TOKEN + 1]:
            del self._tokens[key]
        number = secrets.token_urlsafe(32)
        self._tokens[_login_key(number)] = token.hash
        under = request.scope.get("root_path", "")
        tls = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
        # A cookie for the whole host may be bound to it; one that keeps to a path may not.
        mark = "" if not tls else "__Secure-" if under else "__Host-"
        answer.set_cookie(
            mark + _cookie_name(request.scope),
            number,
            path=under or "/",
            httponly=True,
            samesite="strict",
            secure=tls,
        )

    def end(self, request: Request, answer: Response) -> None:
        """End the login that came with a request, and have its browser drop the cookie."""
        for name, number in _own_cookies(request.scope):
            self._tokens.pop(_login_key(number), None)
            answer.delete_cookie(
                name,
                path=request.scope.get("root_path", "") or "/",
                httponly=True,
                samesite="strict",
                secure=name.startswith("__"),
            )

    def token(self, scope: Scope, tokens: TokenStore) -> Token | None:
        """Return the token of the login that came with a request; None where there is none, or it is not in force.

        Raises:
            ConfigError: The tokens cannot be read.
        """
        for _, number in _own_cookies(scope):
            held = self._tokens.get(_login_key(number))
            if held is not None:
                return tokens.in_force(held)
        return None


def has_stale_cookie(request: Request) -> bool:
    """Tell whether a request came with a cookie of this server."""
    return any(True for _ in _own_cookies(request.scope))


def _own_cookies(scope: Scope) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each cookie of this server, those that TLS protects first."""
    name = _cookie_name(scope)
    names = (f"__Host-{name}", f"__Secure-{name}", name, FORMER_COOKIE_NAME)
    sent = "; ".join(value.decode("latin-1") for key, value in scope["headers"] if key == b"cookie")
    pairs = [piece.strip().partition("=") for piece in sent.split(";")]
    for wanted in names:
        yield from ((key, value) for key, _, value in pairs if key == wanted)


def _cookie_name(scope: Scope) -> str:
    """Return the name for this server: two of them on one host do not take each other's place."""
    server = scope.get("server")
    return f"{COOKIE_NAME}_{server[1]}" if server else COOKIE_NAME


def _login_key(number: str) -> str:
    return hashlib.sha256(number.encode()).hexdigest()


PRINCIPAL_KEY: Final = "scrubjay.principal"
"""Key of a request's scope under which the gate leaves who is let in."""
TOKEN_HASH_KEY: Final = "scrubjay.token"
"""Key under which it leaves the hash of the token that was shown; not there where none was needed."""
CHALLENGE_HEADERS: Final = {"www-authenticate": 'Bearer error="invalid_token"'}


class AuthMiddleware:
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
        tokens: TokenStore,
        owner: Principal,
        tokenless: TokenlessAccess | None,
        *,
        logins: LoginStore | None = None,
        everybody: Sequence[str] = (),
        foreign: Mapping[str, ErrorFormat | None] = {},
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
        headers, path = Headers(scope=scope), route_path(scope)
        secret = self._shown(headers, path)
        by_cookie = secret is None and self._logins is not None and not path.startswith(self._foreign)
        try:
            token = self._tokens.find(secret) if secret else None
            if by_cookie and self._logins is not None:
                token = self._logins.token(scope, self._tokens)
            refusal = self._refusal(scope, headers, secret, token, by_cookie=by_cookie)
        except ScrubjayError as error:
            logging.getLogger("scrubjay").warning("%s %s", error, error.hint)
            token, refusal = None, (503, InputError("The server cannot read its tokens; see its log."))
        if refusal is None:
            who = (
                {PRINCIPAL_KEY: self._owner}
                if token is None
                else {PRINCIPAL_KEY: token.principal, TOKEN_HASH_KEY: token.hash}
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
            reads = scope["method"] in SAFE_METHODS
            if by_cookie and (
                is_cross_origin(headers, reads=reads) or not (reads or is_same_origin(headers))
            ):
                return 403, InputError(f"{CROSS_SITE} Nothing was done.")
            return None
        if secret is not None or self._tokenless is None:
            return 401, InputError(TOKEN_NEEDED, hint=TOKEN_NEEDED_HINT)
        refusal = self._tokenless.refusal(scope, headers)
        if refusal is None and not self._tokenless.always:
            # Once there was a token, others may have been told of this server: the end of the last one opens nothing.
            self._closed = self._closed or bool(self._tokens.all())
            if self._closed:
                return 401, InputError(TOKENS_EXIST, hint=TOKENS_EXIST_HINT)
        return refusal

    async def _refused(
        self, status: int, said: InputError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let nobody in: a person is shown the door at which a token can be given, a program an error."""
        from starlette.datastructures import Headers
        from starlette.responses import RedirectResponse

        person = "text/html" in Headers(scope=scope).get("accept", "") and scope["method"] in SAFE_METHODS
        if status == 401 and person and self._door is not None:
            under = scope.get("root_path", "")
            asked = route_path(scope) + (
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
        path = route_path(scope)
        form = next((form for start, form in self._forms if path.startswith(start)), None)
        challenge = CHALLENGE_HEADERS if status == 401 else None
        await send_error(status, said, scope, receive, send, challenge, form)

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
        ours = next((each for each in (shown, key.strip()) if each.startswith(TOKEN_PREFIX)), None)
        if ours is not None or path.startswith(self._foreign):
            return ours
        return shown if kind else None
