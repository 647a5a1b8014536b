"""mcp: the MCP server, over standard input and output or over HTTP."""

from __future__ import annotations

import click

from scrubjay.config_start import environment
from scrubjay.errors import InputError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.served import served


@command("mcp")
@click.option(
    "--http",
    metavar="HOST:PORT",
    help="Serve many clients over streamable HTTP instead, such as 127.0.0.1:8765.",
)
@click.option(
    "--require-token", is_flag=True, help="With --http: ask clients on this machine for a token too."
)
@click.option(
    "--open",
    "open_",
    is_flag=True,
    help="With --http: let your programs on this machine go without a token even if there are tokens.",
)
def mcp(call: Call, http: str | None, require_token: bool, open_: bool) -> None:
    """Serve an MCP client over standard input and output.

    The client starts it and ends it; meanwhile it is a resident, which hooks and searches ask. Standard
    output belongs to the protocol; the log is on standard error.

    With --http it serves until interrupted. A client shows a token (`scrubjay token create`); where there are none,
    your programs on this machine go without.
    """
    if http is None:
        if require_token or open_:
            option = "--require-token" if require_token else "--open"
            raise InputError(f"{option} goes with --http: over standard input the client is you.")
        from scrubjay.surfaces.mcp.stdio import serve

        serve(call.settings(), environment(call.store, call.user))
        return
    from scrubjay.surfaces.mcp.web import PATH, application

    served(
        call.settings(), http, application, f"MCP at {{url}}{PATH}", require_token=require_token, open_=open_
    )
