"""Served: an address, what answers there, and who is let in -> a server, until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.output import tell

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from scrubjay.config import Settings

IN_CLEAR = "Tokens and memories go over the network as they are: put a proxy with TLS in front."


def served(
    settings: Settings,
    address: str,
    application: Callable[..., ASGIApp],
    said: str,
    *,
    require_token: bool,
    readers: int = 0,
    root_path: str = "",
) -> None:
    """Serve until interrupted; on an address of this machine alone a client may go without a token.

    Args:
        settings: Who owns the process, and where the store is.
        address: ``HOST:PORT``.
        application: Makes what answers, of a session, ``tokens`` and ``open_here``.
        said: What is told once it can be reached, with ``{url}`` in it.
        require_token: Whether clients on this machine need a token, too.
        readers: Processes that answer questions.
        root_path: Path under which a reverse proxy hands requests on.
    """
    from functools import partial

    from scrubjay.surfaces.serve.address import Address
    from scrubjay.surfaces.serve.run import serve
    from scrubjay.verbs.tokens import Tokens, tokens_path

    where, tokens = Address.parse(address), Tokens(tokens_path())
    if not where.loopback:
        tell(IN_CLEAR)
    serve(
        settings,
        where,
        tokens,
        partial(application, tokens=tokens, open_here=where.loopback and not require_token),
        ready=lambda url: tell(said.format(url=url) + "; Ctrl-C ends it."),
        readers=readers,
        root_path=root_path,
    )
