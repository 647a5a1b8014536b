"""Run a server: bind its address, serve until interrupted, register servers started with ``--open``."""

from __future__ import annotations

import errno
import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.atomic_files import lock_file, try_lock
from scrubjay.config.paths import environment, make_private
from scrubjay.daemon.embedding import keep_embedded
from scrubjay.errors import InputError, StoreError
from scrubjay.frozen import frozen
from scrubjay.server.middleware import (
    RootPathMiddleware,
    TracingMiddleware,
    UnreadBodyMiddleware,
    head_timeout_protocol,
    normalize_root_path,
)
from scrubjay.server.session import Session
from scrubjay.server.workers import WorkerPool
from scrubjay.services.workspace import enable_tracing

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from scrubjay.api.auth import TokenStore
    from scrubjay.config.settings import Settings


BACKLOG: Final = 256
"""Connections that the system may queue."""


@frozen
class Address:
    """An address to listen on; port 0 picks a free one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse ``HOST:PORT``.

        >>> Address.parse("[::1]:8080")
        Address(host='::1', port=8080)
        """
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65_535 or not host.strip("[]"):
            raise InputError(f"{text!r:.80} is not HOST:PORT.", hint="127.0.0.1:8765")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def url(self, listener: socket.socket) -> str:
        """Return the URL of a socket bound to this address.

        >>> with Address("127.0.0.1", 0).bind() as listener:
        ...     Address("127.0.0.1", 0).url(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        True
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{listener.getsockname()[1]}"

    def bind(self) -> socket.socket:
        """Return a listening socket: from now on connections are accepted.

        Raises:
            StoreError: The address is taken or unavailable.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # Without IPPROTO_TCP asyncio does not set TCP_NODELAY, and each response waits 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((self.host, self.port))
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            raise StoreError(
                f"Cannot listen on {self.host}:{self.port}: {error.strerror}. Nothing was started.",
                hint="name an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all"
                if error.errno == errno.EADDRNOTAVAIL
                else "use another port, or 0 for any free one",
            ) from error
        return listener


REGISTRY_FOLDER: Final = "open-servers"
OPEN_SERVER_WARNING: Final = (
    "{url} runs with --open: programs without a token act as {user}, including anyone behind a "
    "reverse proxy that sends no forwarding headers"
)
"""Shown at startup and in every `status`."""


@contextmanager
def register_open_server(data: Path, url: str) -> Iterator[None]:
    """Record the server's URL in the data folder until the block ends, for `scrubjay status` to warn about."""
    file = data / REGISTRY_FOLDER / str(os.getpid())
    make_private(str(file.parent))
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        if sys.platform != "win32":
            lock_file(descriptor)
        os.write(descriptor, url.encode())
        yield
    finally:
        os.close(descriptor)
        file.unlink(missing_ok=True)


def open_server_urls(data: Path) -> list[str]:
    """Return the URLs of servers that run with ``--open``; remove the files of those that were killed."""
    urls = []
    for file in sorted((data / REGISTRY_FOLDER).glob("*")):
        with file.open("rb") as handle:
            # On Windows nobody could read a locked file, so those that were killed stay.
            if sys.platform != "win32" and try_lock(handle.fileno()):
                file.unlink(missing_ok=True)
                continue
            urls.append(handle.read().decode())
    return urls


def run_server(
    settings: Settings,
    address: Address,
    tokens: TokenStore,
    application: Callable[[Session], ASGIApp],
    ready: Callable[[str], None],
    *,
    readers: int = 0,
    root_path: str = "",
) -> None:
    """Serve until interrupted.

    Args:
        settings: Settings of the process.
        address: Where to listen.
        tokens: Access tokens; an address that other machines reach needs at least one, or an issuer.
        application: Builds the ASGI application for a session.
        ready: Called with the URL once it is reachable.
        readers: Worker processes for queries; 0 for threads.
        root_path: Path prefix of a reverse proxy; empty for none.

    Raises:
        InputError: Other machines reach the address and no token exists, or the root path is invalid.
        StoreError: The address is taken or unavailable.
    """
    import uvicorn

    root_path = normalize_root_path(root_path)
    if not address.loopback and not tokens.all() and not settings.oauth.issuer:
        raise InputError(
            f"{address.host} is reachable from other machines, so clients need a token, but none exists, and [oauth] "
            "names no issuer. Nothing was started.",
            hint="scrubjay token create NAME",
        )
    enable_tracing(settings)
    listener = address.bind()
    env = environment(settings.store, settings.user)
    with (
        Session(settings, workers=WorkerPool(settings, readers) if readers else None) as session,
        keep_embedded(settings, session.log, lambda: session.embeddable(env, open_=True)),
    ):
        app: ASGIApp = UnreadBodyMiddleware(RootPathMiddleware(application(session), root_path))
        config = uvicorn.Config(
            TracingMiddleware(app) if settings.telemetry.traces else app,
            http=head_timeout_protocol(settings.server.patience_seconds),
            log_level="warning",
            ws="none",
            timeout_graceful_shutdown=5,
            # Proxied responses have their upstream's.
            server_header=False,
            date_header=False,
        )
        server = uvicorn.Server(config)
        with _stop_on_signal(server):
            ready(address.url(listener))
            server.run(sockets=[listener])


@contextmanager
def _stop_on_signal(server: uvicorn.Server) -> Iterator[None]:
    """End the server on SIGINT or SIGTERM, also before uvicorn listens for them.

    uvicorn raises the signal again when it is done; by then there is nothing left to end.
    """

    def end(*_: object) -> None:
        server.should_exit = True

    previous = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
