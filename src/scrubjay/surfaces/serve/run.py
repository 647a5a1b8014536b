"""Serve: settings and an address -> the server, until it is interrupted."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.prefix import Prefix, prefix
from scrubjay.surfaces.serve.readers import Readers
from scrubjay.surfaces.serve.session import Session

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from scrubjay.config import Settings
    from scrubjay.surfaces.serve.address import Address
    from scrubjay.verbs.tokens import Tokens

Application = Callable[[Session], "ASGIApp"]


def serve(
    settings: Settings,
    address: Address,
    tokens: Tokens,
    application: Application,
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

    from scrubjay.surfaces.serve.patience import patient

    under = prefix(root_path)
    if not address.loopback and not tokens.all():
        raise InputError(
            f"{address.host} can be reached from elsewhere, so clients need a token, and there is none. "
            "Nothing was started.",
            hint="scrubjay token create NAME",
        )
    held = address.bound()
    with Session(settings, readers=Readers(settings, readers) if readers else None) as session:
        config = uvicorn.Config(
            Prefix(application(session), under),
            http=patient(settings.server.patience_seconds),
            log_level="warning",
            ws="none",
            timeout_graceful_shutdown=5,
            # What the proxy hands on has its upstream's own.
            server_header=False,
            date_header=False,
        )
        server = uvicorn.Server(config)
        with _ending(server):
            ready(address.url(held))
            server.run(sockets=[held])


@contextmanager
def _ending(server: uvicorn.Server) -> Iterator[None]:
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
