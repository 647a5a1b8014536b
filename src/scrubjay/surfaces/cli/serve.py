"""serve: the server over HTTP, for many people and programs."""

from __future__ import annotations

from functools import partial

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.mcp import IN_CLEAR
from scrubjay.surfaces.cli.output import tell

USUAL = "127.0.0.1:8765"


@command("serve")
@click.argument("address", metavar="[HOST:PORT]", default=USUAL)
@click.option("--require-token", is_flag=True, help="Ask clients on this machine for a token too.")
def serve(call: Call, address: str, require_token: bool) -> None:
    """Serve HTTP, and MCP at /mcp, on 127.0.0.1:8765 or where you say, until interrupted.

    A client shows a token (`scrubjay token create`); on an address of this machine alone it may go without, and is you.
    """
    from scrubjay.surfaces.http.app import application
    from scrubjay.surfaces.serve.address import Address
    from scrubjay.surfaces.serve.run import serve as run
    from scrubjay.verbs.tokens import Tokens, tokens_path

    where, tokens = Address.parse(address), Tokens(tokens_path())
    if not where.loopback:
        tell(IN_CLEAR)
    run(
        call.settings(),
        where,
        tokens,
        partial(application, tokens=tokens, open_here=where.loopback and not require_token),
        ready=lambda url: tell(f"Serving at {url}; Ctrl-C ends it."),
    )
