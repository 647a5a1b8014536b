"""Tools: what the MCP tools cost: tokens of every conversation, and the time from a call to its answer.

    python bench/tools.py [--memories 10000] [--questions 100] [--json FILE] [--log]

Tokens are counted by the static model's tokenizer, whose vocabulary is Llama 2's, over what `tools/list` returns and
the server's instructions. A round trip is the official SDK's client calling `memory_search` on a server in a process
of its own, over standard input and output and over HTTP, after ten calls that are not counted; ``python`` is the
same questions asked of `Memory.search` here, ``list`` a call that asks the store nothing.

Exit code 1 when a run was hollow: nothing written, or nothing found.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tokenizers import Tokenizer

from ask import HollowError
from metrics import SEED
from report import circumstances, log_rows, percentiles, write_json
from scales import USER, questions, turns_stored
from scrubjay import Memory
from scrubjay.api.tools import INSTRUCTIONS

WARM = 10
COMMAND = [sys.executable, "-m", "scrubjay", "mcp"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; return the exit code."""
    args = _parser().parse_args(arguments)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    result: dict[str, Any] = {"what": "tools", **circumstances()}
    try:
        with tempfile.TemporaryDirectory(prefix="scrubjay-bench-") as folder:
            result |= measure(Path(folder), args.memories, args.questions)
    except HollowError as error:
        print(f"tools: {error}", file=sys.stderr)
        return 1
    for name in ("tokens", "ms"):
        print(f"{name}: {result[name]}")
    write_json(args.json, result)
    if args.log:
        took = ", ".join(f"{way} {values}" for way, values in result["ms"].items())
        rows = [
            ("mcp tools, tokens", ", ".join(f"{k} {v}" for k, v in result["tokens"].items()), "-"),
            (f"mcp round trip of a search at {args.memories} memories, ms", took, "sync"),
        ]
        log_rows(rows)
    return 0


def measure(folder: Path, memories: int, asked: int) -> dict[str, Any]:
    """Return tokens and times of one store.

    Raises:
        HollowError: A search found nothing.
    """
    store, words = turns_stored(folder, memories, SEED)
    queries = questions(words, asked + WARM, SEED)
    with Memory.open(store, user=USER) as memory:
        took = {"python": percentiles([_asked(memory, query) for query in queries][WARM:])}
    environ = {**os.environ, "SCRUBJAY_STORE": str(store), "SCRUBJAY_USER": USER}
    tokens: dict[str, int] = {}
    took |= anyio.run(_both, environ, queries, tokens)
    return {"memories": memories, "tokens": tokens, "ms": took}


def _asked(memory: Memory, query: str) -> float:
    begun = time.perf_counter()
    memory.search(query)
    return (time.perf_counter() - begun) * 1000


async def _both(environ: dict[str, str], queries: Sequence[str], tokens: dict[str, int]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environ)
    async with Client(stdio_client(parameters)) as client:
        tokens |= await _tokens(client)
        found["list"] = await _timed(client.list_tools, [()] * len(queries))
        found["stdio"] = await _searches(client, queries)
    async with _web(environ) as client:
        found["http"] = await _searches(client, queries)
    return found


@asynccontextmanager
async def _web(environ: dict[str, str]) -> AsyncIterator[Client]:
    process = subprocess.Popen(
        [*COMMAND, "--http", "127.0.0.1:0"], env=environ, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process:
        try:
            line = await anyio.to_thread.run_sync(process.stderr.readline)
            async with Client(streamable_http_client(line.split()[2].rstrip(";"))) as client:
                yield client
        finally:
            process.terminate()


async def _searches(client: Client, queries: Sequence[str]) -> dict[str, float]:
    async def search(query: str) -> None:
        done = await client.call_tool("memory_search", {"query": query})
        if done.is_error or not done.structured_content["results"]:
            raise HollowError(f"A search found nothing: {done.content}")

    return await _timed(search, [(query,) for query in queries])


async def _timed(call: Callable[..., Awaitable[Any]], given: Sequence[tuple[Any, ...]]) -> dict[str, float]:
    took = []
    for arguments in given:
        begun = time.perf_counter()
        await call(*arguments)
        took.append((time.perf_counter() - begun) * 1000)
    return percentiles(took[WARM:])


async def _tokens(client: Client) -> dict[str, int]:
    file = files("wordllama") / "tokenizers" / "l2_supercat_tokenizer_config.json"
    tokenizer = Tokenizer.from_str(file.read_text("utf-8"))

    def count(value: Any) -> int:
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    each = {tool["name"]: count(tool) for tool in tools}
    return each | {"instructions": count(INSTRUCTIONS), "all": count(tools) + count(INSTRUCTIONS)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Tokens and time of the MCP tools.")
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--log", action="store_true", help="add rows to bench/LOG.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
