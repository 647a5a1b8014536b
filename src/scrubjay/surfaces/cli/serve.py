"""serve: the server over HTTP, for many people and programs."""

from __future__ import annotations

import os
from functools import partial

import click

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.mcp import IN_CLEAR
from scrubjay.surfaces.cli.output import tell

USUAL = "127.0.0.1:8765"
MOST_READERS = 64
USUAL_READERS = 4
"""More are not taken without being asked for: each reader keeps models and caches of its own."""


@command("serve")
@click.argument("address", metavar="[HOST:PORT]", default=USUAL)
@click.option("--require-token", is_flag=True, help="Ask clients on this machine for a token too.")
@click.option(
    "--readers",
    type=click.IntRange(0, MOST_READERS),
    default=None,
    metavar="N",
    help="Processes that answer questions; 0 for none but the server's own.  "
    "[default: one for each processor, at most 4]",
)
@click.option(
    "--root-path", default="", metavar="PATH", help="Path under which a reverse proxy hands requests on."
)
def serve(call: Call, address: str, require_token: bool, readers: int | None, root_path: str) -> None:
    """Serve HTTP, MCP at /mcp and the proxy at /openai/v1 and /anthropic, on 127.0.0.1:8765 or where you say.

    A client shows a token (`scrubjay token create`); on an address of this machine alone it may go without, and is you.
    """
    from scrubjay.surfaces.http.app import application
    from scrubjay.surfaces.serve.address import Address
    from scrubjay.surfaces.serve.run import serve as run
    from scrubjay.verbs.tokens import Tokens, tokens_path

    where, tokens = Address.parse(address), Tokens(tokens_path())
    if not where.loopback:
        tell(IN_CLEAR)
    settings = call.settings()
    if settings.store.startswith("memory:"):  # nobody else can read it
        readers = 0
    run(
        settings,
        where,
        tokens,
        partial(application, tokens=tokens, open_here=where.loopback and not require_token),
        ready=lambda url: tell(f"Serving at {url}; Ctrl-C ends it."),
        readers=min(os.cpu_count() or 1, USUAL_READERS) if readers is None else readers,
        root_path=root_path,
    )
