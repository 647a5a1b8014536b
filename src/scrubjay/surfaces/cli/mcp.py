"""mcp: the MCP server over standard input and output."""

from __future__ import annotations

from scrubjay.surfaces.cli.command import Call, command


@command("mcp")
def mcp(call: Call) -> None:
    """Serve an MCP client over standard input and output.

    The client starts it and ends it. Standard output belongs to the protocol; the log is on standard error.
    """
    from scrubjay.surfaces.mcp.server import serve

    serve(call.settings())
