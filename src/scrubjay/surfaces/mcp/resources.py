"""Resources: what a client can attach without a tool: a memory, the status, what to have in mind; and one prompt.

The lists are short and fixed, whatever the store holds: memories are found by searching, not by listing them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from scrubjay.errors import InputError, NotFoundError
from scrubjay.text.display import escaped
from scrubjay.verbs import brief, shape
from scrubjay.verbs.tool import Caller
from scrubjay.verbs.tools import call, find

if TYPE_CHECKING:
    import mcp_types as types

    from scrubjay.engine import Memory

SCHEME: Final = "scrubjay://"
MARKDOWN: Final = "text/markdown"
JSON: Final = "application/json"
RECALL: Final = "recall"


def listed() -> types.ListResourcesResult:
    """Return the resources that are always there."""
    import mcp_types as types

    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"{SCHEME}context",
                name="context",
                description="What to have in mind as a session begins: what is pinned, the last sessions.",
                mime_type=MARKDOWN,
            ),
            types.Resource(
                uri=f"{SCHEME}status",
                name="status",
                description="What is stored: memories by tier, sources, models.",
                mime_type=JSON,
            ),
        ]
    )


def templates() -> types.ListResourceTemplatesResult:
    """Return the forms of resources that are had by name."""
    import mcp_types as types

    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=f"{SCHEME}memory/{{id}}",
                name="memory",
                description="One memory, whole.",
                mime_type=MARKDOWN,
            ),
            types.ResourceTemplate(
                uri_template=f"{SCHEME}context/{{project}}",
                name="project context",
                description="What to have in mind as a session begins in a project.",
                mime_type=MARKDOWN,
            ),
        ]
    )


def prompts() -> types.ListPromptsResult:
    """Return the one prompt."""
    import mcp_types as types

    question = types.PromptArgument(name="question", description="What about.", required=True)
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(name=RECALL, description="What memory knows of a question.", arguments=[question])
        ]
    )


def read(memory: Memory, *, uri: str, local: bool) -> tuple[str, str]:
    """Return a resource's text and media type.

    Raises:
        NotFoundError: There is no such resource.
    """
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    name = unquote(name)
    if uri.startswith(SCHEME):
        if kind == "status" and not name:
            status = shape.plain(memory.status())
            shown = status if local else _without_places(status)
            return escaped(json.dumps(shown, ensure_ascii=False, indent=1)), JSON
        if kind == "context":
            arguments = {"project": name} if name else {}
            return call(memory, find("memory_context"), arguments, Caller(local=local))["text"], MARKDOWN
        if kind == "memory" and name:
            return _memory(memory, name), MARKDOWN
    raise NotFoundError(
        f"There is no resource {uri!r:.200}.",
        hint=f"{SCHEME}memory/ID, {SCHEME}context, {SCHEME}context/PROJECT or {SCHEME}status",
    )


def prompt(memory: Memory, *, name: str, arguments: Mapping[str, str]) -> str:
    """Return a prompt's text.

    Raises:
        InputError: There is no such prompt, or it lacks its question.
    """
    if name != RECALL:
        raise InputError(f"There is no prompt {name!r:.80}.", hint=RECALL)
    question = arguments.get("question", "")
    if not question.strip():
        raise InputError(f"{RECALL} needs a question.")
    known = call(memory, find("memory_context"), {"query": question})["text"]
    return f"{question}\n\n{known or 'Memory has nothing that has to do with it.'}"


def _memory(memory: Memory, name: str) -> str:
    found = brief.fetched(memory.get([name]))
    if not found["memories"]:
        raise NotFoundError(f"There is no memory {name!r:.80}.", hint="memory_search finds memories")
    return brief.told_memories(found)


def _without_places(status: dict[str, Any]) -> dict[str, Any]:
    """A status without where on the server's disk things lie, which is nobody's business elsewhere."""
    kept = {name: value for name, value in status.items() if name not in ("store", "bytes")}
    return kept | {"sources": [{**each, "root": None} for each in status["sources"]]}
