"""Served: an address, what answers there, and who is let in -> a server, until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from scrubjay.config import data_dir
from scrubjay.errors import InputError
from scrubjay.surfaces.cli.output import tell

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from scrubjay.config import Settings
    from scrubjay.surfaces.serve.address import Address
    from scrubjay.verbs.tokens import Tokens

MOST_NAMES = 3
IN_CLEAR = "Tokens and memories go over the network as they are: put a proxy with TLS in front."


def served(
    settings: Settings,
    address: str,
    application: Callable[..., ASGIApp],
    said: str,
    *,
    require_token: bool,
    open_: bool,
    readers: int = 0,
    root_path: str = "",
) -> None:
    """Serve until interrupted; on an address of this machine alone a client may go without a token.

    Args:
        settings: Who owns the process, and where the store is.
        address: ``HOST:PORT``.
        application: Makes what answers, of a session, ``tokens`` and ``tokenless``.
        said: What is told once it can be reached, with ``{url}`` in it.
        require_token: Whether clients on this machine need a token, too.
        open_: Whether they need none where they would, because of the path, the address, or tokens that exist.
        readers: Processes that answer questions.
        root_path: Path under which a reverse proxy hands requests on.

    Raises:
        InputError: A token is required and is not; or as `serve`.
    """
    from functools import partial

    from scrubjay.surfaces.serve.address import Address
    from scrubjay.surfaces.serve.open_servers import WARNING, registered
    from scrubjay.surfaces.serve.run import serve
    from scrubjay.surfaces.serve.tokenless import LOCAL_NAMES, TokenlessAccess
    from scrubjay.verbs.tokens import Tokens, tokens_path

    if require_token and open_:
        raise InputError(
            "--require-token and --open say the opposite of each other. Nothing was started.",
            hint="give one of them",
        )
    where, tokens = Address.parse(address), Tokens(tokens_path())
    if not where.loopback:
        tell(IN_CLEAR)
    why = _closed(where, tokens, root_path)
    tokenless = None
    if open_ or not (require_token or root_path or not where.loopback):
        tokenless = TokenlessAccess((*LOCAL_NAMES, where.host.lower()), always=open_)
    if why and not open_ and not require_token:
        tell(
            f"Clients need a token, because {why}; --open lets your own programs on this machine go without."
        )

    with ExitStack() as stack:

        def ready(url: str) -> None:
            if open_:
                tell(f"warning: {WARNING.format(url=url, user=settings.user)}.")
                stack.enter_context(registered(data_dir(), url))
            tell(said.format(url=url) + "; Ctrl-C ends it.")

        serve(
            settings,
            where,
            tokens,
            partial(application, tokens=tokens, tokenless=tokenless),
            ready=ready,
            readers=readers,
            root_path=root_path,
        )


def _closed(where: Address, tokens: Tokens, root_path: str) -> str:
    """Return why a client of this machine needs a token; empty where it needs none."""
    if not where.loopback:
        return f"{where.host} is no address of this machine alone"
    if root_path:
        return "--root-path says that it stands behind a reverse proxy"
    if names := [token.name for token in tokens.all()]:
        return f"there are tokens ({', '.join(names[:MOST_NAMES])}{', …' if len(names) > MOST_NAMES else ''})"
    return ""
