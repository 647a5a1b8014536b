"""serve: the server over HTTP, for many people and programs."""

from __future__ import annotations

import os

import click

from scrubjay.errors import InputError
from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.served import served

HOST, PORT = "127.0.0.1", 8765
MOST_READERS = 64
USUAL_READERS = 4
"""More are not taken without being asked for: each reader keeps models and caches of its own."""


@command("serve")
@click.argument("address", metavar="[HOST:PORT]", default="")
@click.option("--host", metavar="NAME", help=f"Address to listen on.  [default: {HOST}]")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65_535), help=f"Port to listen on.  [default: {PORT}]"
)
@click.option("--require-token", is_flag=True, help="Ask clients on this machine for a token too.")
@click.option(
    "--open",
    "open_",
    is_flag=True,
    help="Let your programs on this machine go without a token even if there are tokens or a --root-path.",
)
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
def serve(
    call: Call,
    address: str,
    host: str | None,
    port: int | None,
    require_token: bool,
    open_: bool,
    readers: int | None,
    root_path: str,
) -> None:
    """Serve HTTP, MCP at /mcp and the proxy at /openai/v1 and /anthropic, on 127.0.0.1:8765 or where you say.

    A client shows a token (`scrubjay token create`). Where there are none and no --root-path, your programs on this
    machine go without.
    """
    from scrubjay.surfaces.http.app import application

    if address and (host or port is not None):
        raise InputError(
            f"The address is given twice, as {address} and by --host or --port. Nothing was started.",
            hint="give HOST:PORT, or --host and --port",
        )
    settings = call.settings()
    if settings.store.startswith("memory:"):  # nobody else can read it
        readers = 0
    served(
        settings,
        address or _address(host or HOST, PORT if port is None else port),
        application,
        "Serving at {url}",
        require_token=require_token,
        open_=open_,
        readers=min(os.cpu_count() or 1, USUAL_READERS) if readers is None else readers,
        root_path=root_path,
    )


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"
