"""Server: the verbs behind the official MCP SDK, whatever carries the messages."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from scrubjay.errors import InputError, ScrubjayError
from scrubjay.surfaces.mcp import resources
from scrubjay.surfaces.serve.bodies import MOST_BYTES, TooLargeError
from scrubjay.text.display import line
from scrubjay.verbs import brief, shape
from scrubjay.verbs.tool import Caller
from scrubjay.verbs.tools import INSTRUCTIONS, TOOLS, call, find

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server

    from scrubjay.surfaces.serve.session import Session
    from scrubjay.verbs.tokens import Principal

BEAT: Final = 1.0
"""Seconds between two notices that a call goes on, for a client that asked for them."""
REFUSED: Final = "scrubjay/refused"
"""Method that stands in for a message that was too large to be read, so that its sender is answered."""
UNSOUND: Final = "scrubjay/unsound"
"""Method that stands in for a request that is none."""
MISREAD: Final = (
    'This is no request of JSON-RPC 2.0: "jsonrpc" is "2.0", "method" a text and "params" an object. '
    "Nothing was done."
)
_ODD: Final = re.compile(r"[^a-z0-9._-]+")

Who = Callable[[Any], "Principal"]


def build(
    session: Session, who: Who, *, local: bool = True, here: str = "", beat: float = BEAT
) -> Server[Any]:
    """Return the SDK's server with tools, resources and a prompt on it.

    Args:
        session: What does the work.
        who: A request's context to the principal whose memory it may use.
        local: Whether clients run on this machine as this user.
        here: Folder that the one client works in, whose project its searches prefer; empty where nobody knows.
        beat: Seconds between two notices of progress.
    """
    import mcp_types as types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    listed = types.ListToolsResult(tools=[_tool(tool.name) for tool in TOOLS])

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        principal = who(context)
        caller = Caller(principal.agent or _client(context), local, here)
        try:
            tool = find(params.name)
            principal.need("write" if tool.writes else "read")
            run = partial(call, tool=tool, given=params.arguments or {}, caller=caller)
            async with _beating(context, params.name, beat):
                said = await session.do(principal, run, writes=tool.writes)
        except ScrubjayError as error:
            said = shape.error(error)
            name = params.name if any(params.name == tool.name for tool in TOOLS) else "unknown"
            level = "info" if isinstance(error, InputError) else "error"
            session.log.write(level, f"mcp {name}", error=type(error).__name__)
            return _result(said, brief.told_error(said), failed=True)
        return _result(said, tool.tell(said), failed=False)

    async def read_resource(
        context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text, kind = await session.do(reader(who(context)), partial(resources.read, uri=uri, local=local))
        except ScrubjayError as error:
            said = shape.error(error)
            raise MCPError(types.INVALID_PARAMS, line(str(error)), said["error"]) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)]
        )

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = await session.do(
                reader(who(context)),
                partial(resources.prompt, name=params.name, arguments=params.arguments or {}),
            )
        except ScrubjayError as error:
            raise MCPError(types.INVALID_PARAMS, line(str(error)), shape.error(error)["error"]) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def refuse(_context: Any, _params: Any) -> None:
        raise MCPError(
            types.INVALID_REQUEST,
            str(TooLargeError(MOST_BYTES)),
            {"hint": TooLargeError(MOST_BYTES).hint},
        )

    async def misread(_context: Any, _params: Any) -> None:
        raise MCPError(types.INVALID_REQUEST, MISREAD)

    server: Server[Any] = Server(
        "scrubjay",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_always(resources.listed()),
        on_list_resource_templates=_always(resources.templates()),
        on_read_resource=read_resource,
        on_list_prompts=_always(resources.prompts()),
        on_get_prompt=get_prompt,
    )
    server.add_request_handler(REFUSED, types.RequestParams, refuse)
    server.add_request_handler(UNSOUND, types.RequestParams, misread)
    return server


def reader(who: Principal) -> Principal:
    """Return a principal who may read.

    Raises:
        ForbiddenError: They may not.
    """
    who.need("read")
    return who


def _tool(name: str) -> types.Tool:
    import mcp_types as types

    tool = find(name)
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys if tool.writes else None,
            open_world_hint=False,
        ),
    )


def _result(said: dict[str, Any], text: str, *, failed: bool) -> types.CallToolResult:
    import mcp_types as types

    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=said, is_error=failed
    )


def _always(answer: Any) -> Callable[[Any, Any], Any]:
    async def given(_context: Any, _params: Any) -> Any:
        return answer

    return given


def _client(context: Any) -> str:
    """What the client calls itself, as an agent's name; empty where it does not say.

    Every client is who its token, or the process's owner, is; a name it gives itself is a label on what it adds.
    """
    params = context.session.client_params
    return "" if params is None else _ODD.sub("-", params.client_info.name.lower()).strip("-")[:64]


@asynccontextmanager
async def _beating(context: Any, name: str, beat: float) -> AsyncIterator[None]:
    """Tell a client that asked for progress, from time to time, that its call goes on; another is told nothing.

    A task beside the call and not a group around it: a group would wrap the call's errors.
    """

    async def tell() -> None:
        for count in itertools.count(1):
            await asyncio.sleep(beat)
            await context.session.report_progress(count * beat, None, f"{name} goes on")

    task = asyncio.create_task(tell())
    try:
        yield
    finally:
        task.cancel()


def _version() -> str:
    from importlib.metadata import version

    return version("scrubjay")
