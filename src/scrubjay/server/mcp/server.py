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
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from scrubjay.api import serializers
from scrubjay.api.tools import INSTRUCTIONS, TOOLS, Caller, Tool, call_tool, find_tool, reply_to_tool
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.search.browse import unknown_id
from scrubjay.text.display import escape_json, single_line
from scrubjay.tracing import annotate, span

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server
    from mcp.server.caching import CacheableMethod
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from scrubjay.api.auth import Principal
    from scrubjay.memory import Memory
    from scrubjay.server.session import Session


Value = TypeVar("Value")
SCHEME: Final = "scrubjay://"
MARKDOWN_TYPE: Final = "text/markdown"
JSON_TYPE: Final = "application/json"
RECALL_PROMPT: Final = "recall"


def read_uri(memory: Memory, *, uri: str, local: bool) -> tuple[str, str]:
    """Return a resource's text and media type."""
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    name = unquote(name)
    if uri.startswith(SCHEME):
        if kind == "status" and not name:
            status = serializers.to_plain(memory.status())
            if not local:
                del status["store"], status["bytes"]
                status["sources"] = [{**source, "root": None} for source in status["sources"]]
            return escape_json(json.dumps(status, ensure_ascii=False, indent=1)), JSON_TYPE
        if kind == "context":
            arguments = {"project": name} if name else {}
            context = call_tool(memory, find_tool("memory_context"), arguments, Caller(local=local))
            return context["text"], MARKDOWN_TYPE
        if kind == "memory" and name:
            reply = reply_to_tool(memory, find_tool("memory_get"), {"ids": [name]}, Caller(local=local))
            if not reply.fields["memories"]:
                raise unknown_id(name)
            return reply.text, MARKDOWN_TYPE
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
    context = call_tool(memory, find_tool("memory_context"), {"query": question})["text"]
    return f"{question}\n\n{context or 'No relevant memories.'}"


CONSTANT_METHODS: Final[tuple[CacheableMethod, ...]] = (
    "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
)  # fmt: skip
"""Methods whose results a client may cache; none of them reads the store."""
LIST_TTL_MS: Final = 3_600_000
PROGRESS_SECONDS: Final = 1.0
"""Interval of progress notifications."""
_NOT_AGENT_NAME: Final = re.compile(r"[^a-z0-9._-]+")


def build_server(
    session: Session,
    who: Callable[[Any], Principal],
    *,
    local: bool = True,
    here: str = "",
    interval: float = PROGRESS_SECONDS,
) -> Server[Any]:
    """Return the SDK's server with our tools, resources and prompt.

    Args:
        session: The session.
        who: Returns the principal of a request's context.
        local: Whether clients run on this machine as this user.
        here: The client's working folder, whose project searches prefer; empty if unknown.
        interval: Seconds between two progress notifications.
    """
    import mcp_types as types
    from mcp.server import Server
    from mcp.server.caching import CacheHint
    from mcp.shared.exceptions import MCPError

    def constant(result: Any) -> Callable[[Any, Any], Any]:
        async def handle(_context: Any, _params: Any) -> Any:
            return result

        return handle

    async def on_call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        principal = who(context)
        caller = Caller(principal.agent or _client_agent(context), local, here)
        try:
            tool = find_tool(params.name)
            principal.need("write" if tool.writes else "read")
            run = partial(reply_to_tool, tool=tool, given=params.arguments or {}, caller=caller)
            async with _report_progress(context, params.name, interval):
                reply = await (session.write if tool.writes else session.read)(principal, run)
            result, text, failed = reply.fields if tool.returns else None, reply.text, False
        except ScrubjayError as error:
            name = params.name if any(params.name == tool.name for tool in TOOLS) else "unknown"
            level = "info" if isinstance(error, InputError) else "error"
            session.log.write(level, f"mcp {name}", error=type(error).__name__)
            result = serializers.error_fields(session.public_error(error, principal))
            text, failed = serializers.error_text(result), True
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=result, is_error=failed
        )

    async def read(context: Any, work: Callable[[Memory], Value]) -> Value:
        principal = who(context)
        try:
            principal.need("read")
            return await session.read(principal, work)
        except ScrubjayError as failure:
            error = session.public_error(failure, principal)
            raise MCPError(
                types.INVALID_PARAMS, single_line(str(error)), serializers.error_fields(error)["error"]
            ) from failure

    async def on_read_resource(
        context: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text, kind = await read(context, partial(read_uri, uri=uri, local=local))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)]
        )

    async def on_get_prompt(context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        work = partial(prompt_text, name=params.name, arguments=params.arguments or {})
        content = types.TextContent(text=await read(context, work))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    context, status = "Context for a new session", "Store status: memories by tier, sources, models."
    resources = [
        types.Resource(
            uri=f"{SCHEME}context",
            name="context",
            description=f"{context}: pinned memories and recent sessions.",
            mime_type=MARKDOWN_TYPE,
        ),
        types.Resource(uri=f"{SCHEME}status", name="status", description=status, mime_type=JSON_TYPE),
    ]
    templates = [
        types.ResourceTemplate(uri_template=uri, name=name, description=about, mime_type=MARKDOWN_TYPE)
        for uri, name, about in (
            (f"{SCHEME}memory/{{id}}", "memory", "One whole memory."),
            (f"{SCHEME}context/{{project}}", "project context", f"{context} in a project."),
        )
    ]
    question = types.PromptArgument(name="question", description="The question.", required=True)
    about = "Recall memories about a question."
    prompt = types.Prompt(name=RECALL_PROMPT, description=about, arguments=[question])

    lists = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")  # the same for everybody until the next version
    server: Server[Any] = Server(
        "scrubjay",
        version=version("scrubjay"),
        instructions=INSTRUCTIONS,
        cache_hints=dict.fromkeys(CONSTANT_METHODS, lists),
        get_tool_input_schema=lambda _name: None,  # no argument is repeated in a header
        on_list_tools=constant(types.ListToolsResult(tools=[_tool_type(tool) for tool in TOOLS])),
        on_call_tool=on_call_tool,
        on_list_resources=constant(types.ListResourcesResult(resources=resources)),
        on_list_resource_templates=constant(types.ListResourceTemplatesResult(resource_templates=templates)),
        on_read_resource=on_read_resource,
        on_list_prompts=constant(types.ListPromptsResult(prompts=[prompt])),
        on_get_prompt=on_get_prompt,
    )
    # The SDK's own would record messages of errors, which name memories.
    server.middleware[:] = [_trace_message]
    return server


METHODS: Final = frozenset(
    ("initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list",
     "resources/read", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
     "notifications/initialized", "notifications/cancelled", "notifications/progress")
)  # fmt: skip
"""Methods that traces name; a client may write anything into another's place."""


async def _trace_message(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Make a message a span, by the conventions for MCP, in the trace that its ``_meta`` names."""
    method = ctx.method if ctx.method in METHODS else "other"
    name = ctx.params.get("name") if ctx.params else None
    attributes: dict[str, Any] = {"mcp.method.name": method, "mcp.protocol.version": ctx.protocol_version}
    target = ""
    if method == "tools/call":
        target = next((tool.name for tool in TOOLS if tool.name == name), "")
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": target or "other"}
    elif method == "prompts/get" and name == RECALL_PROMPT:
        target = attributes["gen_ai.prompt.name"] = RECALL_PROMPT
    meta: Any = ctx.meta
    with span(f"{method} {target}".strip(), attributes, kind="server", parent=meta):
        result = await call_next(ctx)
        failed = result.get("isError") if isinstance(result, dict) else getattr(result, "is_error", False)
        if failed:
            annotate({"error.type": "tool_error"}, failed=True)
        return result


def _tool_type(tool: Tool) -> types.Tool:
    import mcp_types as types

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


def _client_agent(context: Any) -> str:
    """Return the client's name for itself: a label on what it adds, not an identity."""
    params = context.session.client_params
    return "" if params is None else _NOT_AGENT_NAME.sub("-", params.client_info.name.lower()).strip("-")[:64]


@asynccontextmanager
async def _report_progress(context: Any, name: str, interval: float) -> AsyncIterator[None]:
    """Notify a client that asked for progress while a call runs.

    A task beside the call, because a task group would wrap the call's errors.
    """

    async def report() -> None:
        for count in itertools.count(1):
            await asyncio.sleep(interval)
            await context.session.report_progress(count * interval, None, f"{name} is running")

    task = asyncio.create_task(report())
    try:
        yield
    finally:
        task.cancel()
