"""Run a server: bind its address, serve until interrupted, register servers that are open to their account."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.errors import InputError, StoreError
from scrubjay.server.middleware import RootPathMiddleware, normalize_root_path
from scrubjay.server.session import Session
from scrubjay.server.workers import WorkerPool

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from scrubjay.api.auth import TokenStore
    from scrubjay.config.settings import Settings


BACKLOG: Final = 256
"""Connections that may wait to be taken."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Attributes:
        host: A name or a number.
        port: 0 for any that is free.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address that ``HOST:PORT`` names.

        >>> Address.parse("[::1]:8080")
        Address(host='::1', port=8080)

        Raises:
            InputError: It names none.
        """
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65_535 or not host.strip("[]"):
            raise InputError(f"{text!r:.80} is not HOST:PORT.", hint="127.0.0.1:8765")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    @property
    def loopback(self) -> bool:
        """Whether nobody on another machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def url(self, held: socket.socket) -> str:
        """Return the URL of a socket that is bound to it.

        >>> with Address("127.0.0.1", 0).bound() as held:
        ...     Address("127.0.0.1", 0).url(held) == f"http://127.0.0.1:{held.getsockname()[1]}"
        True
        """
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{held.getsockname()[1]}"

    def bound(self) -> socket.socket:
        """Return a socket that listens there: from here on nobody is turned away who was told the address.

        Raises:
            StoreError: The address is taken, or not to be had.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # The protocol is named, or asyncio does not see that it is TCP, and each answer waits 40 ms for nothing.
        held = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            held.bind((self.host, self.port))
            held.listen(BACKLOG)
        except OSError as error:
            held.close()
            raise StoreError(
                f"Cannot listen on {self.host}:{self.port}: {error.strerror}. Nothing was started.",
                hint="use another port, or 0 for any free one",
            ) from error
        return held


if sys.platform != "win32":
    import fcntl

REGISTRY_FOLDER: Final = "open-servers"
OPEN_SERVER_WARNING: Final = (
    "{url} runs with --open: programs without a token act as {user}, including anyone behind a "
    "reverse proxy that sends no forwarding headers"
)
"""Said at the start and by every `status`."""


@contextmanager
def register_open_server(data: Path, url: str) -> Iterator[None]:
    """Keep a file with the URL of this process's server in the data folder, as long as the block lasts."""
    file = data / REGISTRY_FOLDER / str(os.getpid())
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, url.encode())
        yield
    finally:
        os.close(descriptor)
        file.unlink(missing_ok=True)


def open_server_urls(data: Path) -> list[str]:
    """Return the URLs of the servers that run with `--open`; the files of those that were killed are removed."""
    found = []
    for file in sorted((data / REGISTRY_FOLDER).glob("*")):
        with file.open("rb") as held:
            if sys.platform != "win32":
                try:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    pass
                else:
                    file.unlink(missing_ok=True)
                    continue
            found.append(held.read().decode())
    return found


AppFactory = Callable[[Session], "ASGIApp"]


def run_server(
    settings: Settings,
    address: Address,
    tokens: TokenStore,
    application: AppFactory,
    ready: Callable[[str], None],
    *,
    readers: int = 0,
    root_path: str = "",
) -> None:
    """Serve until interrupted.

    Args:
        settings: Who owns the process, and where the store is.
        address: Where to listen.
        tokens: Who is let in; an address that is open to others needs at least one.
        application: Makes what answers of the open session.
        ready: Told the URL once it can be reached.
        readers: Processes that answer questions; 0 for the threads of this one.
        root_path: Path under which a reverse proxy hands requests on; empty for none.

    Raises:
        InputError: The address is open to others and there is no token, or the path is none.
        StoreError: The address is taken, or not to be had.
    """
    import uvicorn

    from scrubjay.server.middleware import head_timeout_protocol

    under = normalize_root_path(root_path)
    if not address.loopback and not tokens.all():
        raise InputError(
            f"{address.host} is reachable from other machines, so clients need a token, but none exists. "
            "Nothing was started.",
            hint="scrubjay token create NAME",
        )
    held = address.bound()
    with Session(settings, workers=WorkerPool(settings, readers) if readers else None) as session:
        config = uvicorn.Config(
            RootPathMiddleware(application(session), under),
            http=head_timeout_protocol(settings.server.patience_seconds),
            log_level="warning",
            ws="none",
            timeout_graceful_shutdown=5,
            # What the proxy hands on has its upstream's own.
            server_header=False,
            date_header=False,
        )
        server = uvicorn.Server(config)
        with _stop_on_signal(server):
            ready(address.url(held))
            server.run(sockets=[held])


@contextmanager
def _stop_on_signal(server: uvicorn.Server) -> Iterator[None]:
    """Let a signal end the server and then the block, also one that comes before the server listens to signals.

    The server raises the signal that ended it once more when it is done; by then there is nothing left to end.
    """

    def end(*_: object) -> None:
        server.should_exit = True

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
