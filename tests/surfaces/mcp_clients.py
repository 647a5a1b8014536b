"""Clients of the MCP server, by the official SDK: one process a client over stdio, one for all of them over HTTP."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import httpx2
from http_server import started
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tokenizers import Tokenizer

from fork_server import SCRUBJAY

Use = Callable[[Client], Awaitable[None]]
Server = Callable[[], AbstractAsyncContextManager[Client]]
COMMAND = [*SCRUBJAY, "mcp"]
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
    """Return the structured result of a tool that writes, and what the text of one that reads says."""
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    assert len(done.content) == 1
    if done.structured_content is not None:
        return done.structured_content
    return parsed(done.content[0].text)


HEAD = re.compile(
    r"(?P<evidence>evidence )?(?P<id>[0-9a-f]{6,16}|[a-z]+_[0-9a-f]{16})(?P<marks>( [^,]+)?)(, (?P<place>.*))?"
)


def parsed(text: str) -> dict[str, Any]:
    """Return what a text for a model says, as fields: each memory with its id, marks, date, place and text.

    Ids are as in `short`; ``rest`` are the lines behind the memories.
    """
    opened, _, after = text.partition("<scrubjay-memories>\n")
    block, _, rest = after.partition("\n</scrubjay-memories>")
    memories: list[dict[str, Any]] = []
    for line in block.split("\n") if block else ():
        if line.startswith(">"):
            memories[-1]["content"] += [line[2:]]
            continue
        head = HEAD.fullmatch(line)
        if head is None:  # the text of a context
            memories = []
            break
        marks = head["marks"].split()
        date = next((mark for mark in marks if re.fullmatch(r"\d{4}-\d\d-\d\d", mark)), None)
        memories.append(
            {"id": head["id"], "marks": marks, "date": date, "place": head["place"] or "", "content": []}
            | ({"evidence": True} if head["evidence"] else {})
        )
    for memory in memories:
        memory["content"] = memory["snippet"] = "\n".join(memory["content"])
    unknown = re.search(r"^Unknown: (.*)\.$", rest or opened, re.MULTILINE)
    return {
        "results": memories,
        "memories": memories,
        "text": text,
        "rest": (rest or opened).strip(),
        "unknown": unknown[1].split(", ") if unknown else [],
    }


def short(id: str) -> str:
    """Return an id as texts for a model name it, in a store that is not large."""
    return id.partition("_")[2][:6]


def count_tokens(text: str) -> int:
    """Return the tokens of a text by Llama 2's vocabulary, so what a language model pays for."""
    file = files("wordllama") / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return len(Tokenizer.from_str(file.read_text("utf-8")).encode(text, add_special_tokens=False).ids)


async def refusal(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    error = done.structured_content["error"]
    assert error["message"] in done.content[0].text
    return error
