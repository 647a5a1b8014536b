"""mcp: the MCP server, over standard input and output or over HTTP."""

from __future__ import annotations

from functools import partial

import click

from scrubjay.config_start import environment
from scrubjay.errors import InputError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import tell

IN_CLEAR = "Tokens and memories go over the network as they are: put a proxy with TLS in front."


@command("mcp")
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve many clients over streamable HTTP instead, such as 127.0.0.1:8765.",
)
@click.option(
    "--require-token", is_flag=True, help="With --http: ask clients on this machine for a token too."
)
def mcp(call: Call, http: str | None, require_token: bool) -> None:
    """Serve an MCP client over standard input and output.

    The client starts it and ends it; meanwhile it is a resident, which hooks and searches ask. Standard
    output belongs to the protocol; the log is on standard error.

    With --http it serves until interrupted. A client shows a token (`scrubjay token create`); on an address of this
    machine alone it may go without, and is you.
    """
    if http is None:
        if require_token:
            raise InputError("--require-token goes with --http: over standard input the client is you.")
        from scrubjay.surfaces.mcp.stdio import serve

        serve(call.settings(), environment(call.store, call.user))
        return
    from scrubjay.surfaces.mcp import web
    from scrubjay.surfaces.serve.address import Address
    from scrubjay.surfaces.serve.run import serve as serve_http
    from scrubjay.verbs.tokens import Tokens, tokens_path

    address, tokens = Address.parse(http), Tokens(tokens_path())
    if not address.loopback:
        tell(IN_CLEAR)
    serve_http(
        call.settings(),
        address,
        tokens,
        partial(web.application, tokens=tokens, open_here=address.loopback and not require_token),
        ready=lambda url: tell(f"MCP at {url}{web.PATH}; Ctrl-C ends it."),
    )
