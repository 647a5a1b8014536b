"""MCP server: tools, resources and the prompt, independent of the transport.

The lists are short and fixed: memories are found by searching, not by listing.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from scrubjay.api import serializers
from scrubjay.api.tools import INSTRUCTIONS, TOOLS, Caller, find_tool
from scrubjay.api.tools import call_tool as tools_call_tool
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.server.middleware import MAX_MESSAGE_BYTES, BodyTooLargeError
from scrubjay.text.display import escape_json, single_line

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server

    from scrubjay.api.auth import Principal
    from scrubjay.memory import Memory
    from scrubjay.server.session import Session


SCHEME: Final = "scrubjay://"
MARKDOWN_TYPE: Final = "text/markdown"
JSON_TYPE: Final = "application/json"
RECALL_PROMPT: Final = "recall"


def resource_list() -> types.ListResourcesResult:
    import mcp_types as types

    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"{SCHEME}context",
                name="context",
                description="Context for a new session: pinned memories and recent sessions.",
                mime_type=MARKDOWN_TYPE,
            ),
            types.Resource(
                uri=f"{SCHEME}status",
                name="status",
                description="Store status: memories by tier, sources, models.",
                mime_type=JSON_TYPE,
            ),
        ]
    )


def resource_templates() -> types.ListResourceTemplatesResult:
    import mcp_types as types

    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{SCHEME}memory/{{id}}",
                name="memory",
                description="One whole memory.",
                mime_type=MARKDOWN_TYPE,
            ),
            types.ResourceTemplate(
                uri_template=f"{SCHEME}context/{{project}}",
                name="project context",
                description="Context for a new session in a project.",
                mime_type=MARKDOWN_TYPE,
            ),
        ]
    )


def prompt_list() -> types.ListPromptsResult:
    import mcp_types as types

    question = types.PromptArgument(name="question", description="The question.", required=True)
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=RECALL_PROMPT, description="Recall memories about a question.", arguments=[question]
            )
        ]
    )


def read_uri(memory: Memory, *, uri: str, local: bool) -> tuple[str, str]:
    """Return a resource's text and media type."""
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    name = unquote(name)
    if uri.startswith(SCHEME):
        if kind == "status" and not name:
            status = serializers.to_plain(memory.status())
            shown = status if local else _without_paths(status)
            return escape_json(json.dumps(shown, ensure_ascii=False, indent=1)), JSON_TYPE
        if kind == "context":
            arguments = {"project": name} if name else {}
            return tools_call_tool(memory, find_tool("memory_context"), arguments, Caller(local=local))[
                "text"
            ], MARKDOWN_TYPE
        if kind == "memory" and name:
            return _read_memory(memory, name), MARKDOWN_TYPE
    raise NotFoundError(
        f"There is no resource {uri!r:.200}.",
        hint=f"{SCHEME}memory/ID, {SCHEME}context, {SCHEME}context/PROJECT or {SCHEME}status",
    )


def prompt_text(memory: Memory, *, name: str, arguments: Mapping[str, str]) -> str:
    if name != RECALL_PROMPT:
        raise InputError(f"There is no prompt {name!r:.80}.", hint=RECALL_PROMPT)
    question = arguments.get("question", "")
    if not question.strip():
        raise InputError(f"{RECALL_PROMPT} needs a question.")
    known = tools_call_tool(memory, find_tool("memory_context"), {"query": question})["text"]
    return f"{question}\n\n{known or 'No relevant memories.'}"


def _read_memory(memory: Memory, name: str) -> str:
    found = serializers.compact_fetched(memory.get([name]))
    if not found["memories"]:
        raise NotFoundError(f"There is no memory {name!r:.80}.", hint="find memories with memory_search")
    return serializers.memories_text(found)


def _without_paths(status: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in status.items() if name not in ("store", "bytes")}
    return kept | {"sources": [{**each, "root": None} for each in status["sources"]]}


PROGRESS_SECONDS: Final = 1.0
"""Seconds between two notices that a call goes on, for a client that asked for them."""
TOO_LARGE_METHOD: Final = "scrubjay/refused"
"""Method that stands in for a message that was too large to be read, so that its sender is answered."""
INVALID_METHOD: Final = "scrubjay/unsound"
"""Method that stands in for a request that is none."""
INVALID_REQUEST: Final = (
    'Not a JSON-RPC 2.0 request: "jsonrpc" must be "2.0", "method" a string and "params" an object. '
    "Nothing was done."
)
_NOT_AGENT_NAME: Final = re.compile(r"[^a-z0-9._-]+")

PrincipalOf = Callable[[Any], "Principal"]


def build_server(
    session: Session, who: PrincipalOf, *, local: bool = True, here: str = "", beat: float = PROGRESS_SECONDS
) -> Server[Any]:
    """Return the SDK's server with our tools, resources and prompt.

    Args:
        session: The session.
        who: Returns the principal of a request's context.
        local: Whether clients run on this machine as this user.
        here: The client's working folder, whose project searches prefer; empty if unknown.
        beat: Seconds between two progress notifications.
    """
    import mcp_types as types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    listed = types.ListToolsResult(tools=[_tool_type(tool.name) for tool in TOOLS])

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        principal = who(context)
        caller = Caller(principal.agent or _client_agent(context), local, here)
        try:
            tool = find_tool(params.name)
            principal.need("write" if tool.writes else "read")
            run = partial(tools_call_tool, tool=tool, given=params.arguments or {}, caller=caller)
            async with _report_progress(context, params.name, beat):
                said = await (session.write if tool.writes else session.read)(principal, run)
        except ScrubjayError as error:
            said = serializers.error_fields(error)
            name = params.name if any(params.name == tool.name for tool in TOOLS) else "unknown"
            level = "info" if isinstance(error, InputError) else "error"
            session.log.write(level, f"mcp {name}", error=type(error).__name__)
            return _tool_result(said, serializers.error_text(said), failed=True)
        return _tool_result(said, tool.text(said), failed=False)

    async def read_resource(
        context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            text, kind = await session.read(
                require_reader(who(context)), partial(read_uri, uri=uri, local=local)
            )
        except ScrubjayError as error:
            said = serializers.error_fields(error)
            raise MCPError(types.INVALID_PARAMS, single_line(str(error)), said["error"]) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)]
        )

    async def get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = await session.read(
                require_reader(who(context)),
                partial(prompt_text, name=params.name, arguments=params.arguments or {}),
            )
        except ScrubjayError as error:
            raise MCPError(
                types.INVALID_PARAMS, single_line(str(error)), serializers.error_fields(error)["error"]
            ) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def refuse(_context: Any, _params: Any) -> None:
        raise MCPError(
            types.INVALID_REQUEST,
            str(BodyTooLargeError(MAX_MESSAGE_BYTES)),
            {"hint": BodyTooLargeError(MAX_MESSAGE_BYTES).hint},
        )

    async def misread(_context: Any, _params: Any) -> None:
        raise MCPError(types.INVALID_REQUEST, INVALID_REQUEST)

    server: Server[Any] = Server(
        "scrubjay",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=_constant(resource_list()),
        on_list_resource_templates=_constant(resource_templates()),
        on_read_resource=read_resource,
        on_list_prompts=_constant(prompt_list()),
        on_get_prompt=get_prompt,
    )
    server.add_request_handler(TOO_LARGE_METHOD, types.RequestParams, refuse)
    server.add_request_handler(INVALID_METHOD, types.RequestParams, misread)
    return server


def require_reader(who: Principal) -> Principal:
    who.need("read")
    return who


def _tool_type(name: str) -> types.Tool:
    import mcp_types as types

    tool = find_tool(name)
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


def _tool_result(said: dict[str, Any], text: str, *, failed: bool) -> types.CallToolResult:
    import mcp_types as types

    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=said, is_error=failed
    )


def _constant(answer: Any) -> Callable[[Any, Any], Any]:
    async def given(_context: Any, _params: Any) -> Any:
        return answer

    return given


def _client_agent(context: Any) -> str:
    """Return the client's name for itself: a label on what it adds, not an identity."""
    params = context.session.client_params
    return "" if params is None else _NOT_AGENT_NAME.sub("-", params.client_info.name.lower()).strip("-")[:64]


@asynccontextmanager
async def _report_progress(context: Any, name: str, beat: float) -> AsyncIterator[None]:
    """Notify a client that asked for progress while a call runs.

    A task beside the call, because a task group would wrap the call's errors.
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
