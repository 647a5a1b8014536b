"""Upstreams: send requests to the model services of ``[proxy]`` and stream their responses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes, urlsplit

from scrubjay import tracing
from scrubjay.errors import ConfigError, InputError
from scrubjay.server.auth import LOCAL_NAMES
from scrubjay.server.middleware import method_label

if TYPE_CHECKING:
    import httpx

    from scrubjay.config.settings import ProxySettings
    from scrubjay.server.proxy.formats import ProviderAdapter

Header = tuple[bytes, bytes]
HOP_BY_HOP_HEADERS: Final = frozenset(
    (b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
     b"trailer", b"transfer-encoding", b"upgrade")
)  # fmt: skip
"""Headers of a connection, which are not forwarded (RFC 9110, 7.6.1)."""
MAX_IDLE_CONNECTIONS: Final = 64
"""Idle connections kept for reuse; the number in use is not bounded."""


class UpstreamUnavailableError(Exception):
    """An upstream did not respond; ``status`` is 502 or 504."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class UpstreamTruncatedError(Exception):
    """An upstream's response broke off after it started."""


class Upstream:
    def __init__(self, settings: ProxySettings) -> None:
        self._settings = settings
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._announced: set[str] = set()
        for name in ("openai", "anthropic"):
            _check_url(name, getattr(settings, name))

    def url(self, adapter: ProviderAdapter, raw_path: bytes, query: bytes) -> bytes:
        """Return the upstream URL of a request.

        Raises:
            InputError: Its path leaves the API.
        """
        path = raw_path.removeprefix(adapter.base.encode())
        segments = unquote_to_bytes(path).replace(b"\\", b"/").split(b"/")
        if path == raw_path or b"." in segments or b".." in segments:
            raise InputError("The API has no such path. Nothing was sent to the upstream.")
        base = str(getattr(self._settings, adapter.name)).rstrip("/").encode()
        return base + path + (b"?" + query if query else b"")

    @asynccontextmanager
    async def send(
        self,
        adapter: ProviderAdapter,
        method: str,
        url: bytes,
        headers: Sequence[Header],
        body: bytes | AsyncIterator[bytes],
    ) -> AsyncIterator[httpx.Response]:
        """Send a request and yield its response from the first byte on; close it at the end of the block.

        Raises:
            UpstreamUnavailableError: The upstream did not respond.
        """
        import httpx

        settings, client = self._settings, self._client(adapter)
        host = client.base_url.netloc.decode("ascii")
        if adapter.name not in self._announced:
            self._announced.add(adapter.name)
            logging.getLogger("scrubjay").warning(
                "Forwarding to %s with up to %d tokens of memories per request; this is logged once.",
                host,
                settings.tokens,
            )
        timeouts = {
            "connect": settings.connect_seconds,
            "read": None,
            "write": settings.idle_seconds,
            "pool": None,
        }
        try:
            request = httpx.Request(
                method,
                url.decode("ascii"),
                headers=list(headers),
                content=body,
                extensions={"timeout": timeouts},
            )
        except (httpx.InvalidURL, UnicodeError) as error:
            raise UpstreamUnavailableError(502, f"The upstream {host} has no such path.") from error
        try:
            with tracing.span(
                method_label(method),
                {"http.request.method": method_label(method), "server.address": client.base_url.host},
                kind="client",
            ):
                async with asyncio.timeout(settings.connect_seconds + settings.first_byte_seconds):
                    response = await client.send(request, stream=True, follow_redirects=False)
                tracing.annotate({"http.response.status_code": response.status_code})
        except httpx.ConnectTimeout as error:
            raise UpstreamUnavailableError(
                504, f"Connection to {host} timed out after {settings.connect_seconds:g} s."
            ) from error
        except TimeoutError as error:
            seconds = settings.first_byte_seconds
            raise UpstreamUnavailableError(504, f"{host} did not respond within {seconds:g} s.") from error
        except httpx.HTTPError as error:
            raise UpstreamUnavailableError(502, f"{host} did not respond: {type(error).__name__}.") from error
        try:
            yield response
        finally:
            await response.aclose()

    async def stream(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Yield the raw bytes of a response.

        Raises:
            UpstreamTruncatedError: The response broke off or stalled.
        """
        import httpx

        stream = response.aiter_raw()
        while True:
            try:
                async with asyncio.timeout(self._settings.idle_seconds):
                    piece = await anext(stream, None)
            except (httpx.HTTPError, TimeoutError) as error:
                raise UpstreamTruncatedError(type(error).__name__) from error
            if piece is None:
                return
            yield piece

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()
        self._clients.clear()

    def _client(self, adapter: ProviderAdapter) -> httpx.AsyncClient:
        import http.cookiejar

        import httpx

        if adapter.name not in self._clients:
            base = getattr(self._settings, adapter.name)
            # Cookies belong to the clients: never store them here.
            jar = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
            self._clients[adapter.name] = httpx.AsyncClient(
                base_url=base,
                cookies=jar,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=MAX_IDLE_CONNECTIONS),
                # Proxies of the environment are used, except for local upstreams.
                trust_env=urlsplit(base).hostname not in LOCAL_NAMES,
            )
        return self._clients[adapter.name]


def forwarded_headers(headers: Sequence[Header], without: frozenset[bytes] = frozenset()) -> list[Header]:
    """Return the headers to forward: without those of the connection and without the given ones."""
    listed = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == b"connection"
        for name in value.split(b",")
    }
    dropped = HOP_BY_HOP_HEADERS | without | listed
    return [(key, value) for key, value in headers if key.lower() not in dropped]


def _check_url(name: str, url: str) -> None:
    parts = urlsplit(url)
    is_incomplete = parts.scheme not in ("http", "https") or not parts.hostname
    if is_incomplete or parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"[proxy] {name} is not a valid base URL: use http(s)://HOST[:PORT][/PATH] without user, "
            "query or fragment. Nothing was started.",
            hint=f'{name} = "https://HOST/v1"' if name == "openai" else f'{name} = "https://HOST"',
        )
