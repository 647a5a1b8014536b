"""Server: the tools behind the official MCP SDK, over standard input and output.

Standard output belongs to the protocol. The store is opened by the first call, not at the start: a store
that cannot be opened is then an answer that the agent can read, not a server that dies unseen.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from scrubjay.errors import ScrubjayError
from scrubjay.verbs import shape
from scrubjay.verbs.tools import INSTRUCTIONS, TOOLS, call, find

if TYPE_CHECKING:
    from mcp.server import Server

    from scrubjay.config import Settings
    from scrubjay.engine import Memory


class Session:
    """One open store for all calls of a process; a context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memory: Memory | None = None
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._stack = ExitStack()

    def answer(self, name: str, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """Run a tool; return what it says and whether that is an error. Threads may call it at once."""
        try:
            tool = find(name)
            memory = self._opened()
            if not tool.writes:
                return call(memory, tool, arguments), False
            with self._writing:
                return call(memory, tool, arguments), False
        except ScrubjayError as error:
            return shape.error(error), True

    def _opened(self) -> Memory:
        from scrubjay.engine import Memory

        with self._opening:
            if self._memory is None:
                # The log is standard error, where a person finds that texts went to a service.
                opened = Memory.open(settings=self._settings, announce=logging.getLogger("scrubjay").warning)
                self._memory = self._stack.enter_context(opened)
            return self._memory

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def serve(settings: Settings) -> None:
    """Serve one client until it closes standard input."""
    import anyio
    from mcp.server.stdio import stdio_server

    with Session(settings) as session:
        server = build(session)

        async def run() -> None:
            async with stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())

        anyio.run(run)


def build(session: Session) -> Server[Any]:
    """Return the SDK's server with the tools on it."""
    import mcp_types as types
    from anyio.to_thread import run_sync
    from mcp.server import Server

    listed = types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.input_schema,
                output_schema=tool.output_schema,
                annotations=types.ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False),
            )
            for tool in TOOLS
        ]
    )

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        # A search may wait for a disk or a model: it must not hold up the loop that reads the next request.
        said, failed = await run_sync(session.answer, params.name, params.arguments or {})
        text = json.dumps(said, ensure_ascii=False)
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=said, is_error=failed
        )

    return Server(
        "scrubjay",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _version() -> str:
    from importlib.metadata import version

    return version("scrubjay")
