"""Clients of the MCP server, by the official SDK: one process a client over stdio, one for all of them over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from http_server import started
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

Use = Callable[[Client], Awaitable[None]]
Server = Callable[[], AbstractAsyncContextManager[Client]]
COMMAND = [sys.executable, "-m", "scrubjay", "mcp"]
EIGHT = (
    "memory_search",
    "memory_get",
    "memory_thread",
    "memory_context",
    "memory_add",
    "memory_update",
    "memory_forget",
    "memory_feedback",
)
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
"""The first message of a client that speaks without the SDK."""
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def over_stdio(environ: Mapping[str, str], mode: str = "auto", folder: Path | None = None) -> Server:
    """Each client starts a server of its own, in a folder."""
    parameters = StdioServerParameters(
        command=COMMAND[0], args=COMMAND[1:], env={**os.environ, **environ}, cwd=folder
    )
    return lambda: Client(stdio_client(parameters), mode=mode)


def over_http(url: str, token: str | None = None, mode: str = "auto") -> Server:
    """All clients share one server."""

    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            yield client

    return connected


def running(
    environ: Mapping[str, str], *options: str, address: str = "127.0.0.1:0"
) -> AbstractContextManager[str]:
    """Run a server over HTTP."""
    return started([*COMMAND, "--http", address, *options], environ, r"MCP at (\S+);")


def talk(server: Server, *uses: Use) -> None:
    """Have clients use a server at the same time."""

    async def one(each: Use) -> None:
        async with server() as client:
            await each(client)

    async def all_of_them() -> None:
        with anyio.fail_after(90):
            async with anyio.create_task_group() as group:
                for each in uses:
                    group.start_soon(one, each)

    anyio.run(all_of_them)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    assert len(done.content) == 1
    return done.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    error = done.structured_content["error"]
    assert error["message"] in done.content[0].text
    return error
