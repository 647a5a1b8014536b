"""Pydantic AI's own agent loop and function model with the tools of the example."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from scrubjay import Memory

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo

# Loaded by the tests and not by each process that collects them: it takes a second.
pytestmark = pytest.mark.skipif(
    not find_spec("pydantic_ai"), reason="pydantic-ai-slim is not installed: `pip install --group dev`"
)


def test_an_agent_recalls_remembers_and_answers(example: Callable[[str], ModuleType], memory: Memory) -> None:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    agent = example("pydantic_ai_tools").agent

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert {tool.name for tool in info.function_tools} == {"recall", "remember"}
        returned = [part.content for part in messages[-1].parts if part.part_kind == "tool-return"]
        if not returned:
            asked = [ToolCallPart("recall", {"question": "Who is on call?"}),
                     ToolCallPart("remember", {"statement": "Ann swaps her week with Mara."})]  # fmt: skip
            return ModelResponse(parts=asked)
        return ModelResponse(parts=[TextPart(str(returned[0]))])

    said = asyncio.run(
        agent.run("Who is on call? I swap with her.", model=FunctionModel(model), deps=memory)
    ).output
    assert "[2026-03-01" in said
    assert "Mara is on call in May." in said
    kept = memory.search("Who swaps her week?").results[0]
    assert (kept.snippet, kept.origin) == ("Ann swaps her week with Mara.", "agent")


def test_an_agent_is_told_where_nothing_is_remembered(example: Callable[[str], ModuleType]) -> None:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    agent = example("pydantic_ai_tools").agent
    seen = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.extend(part.content for part in messages[-1].parts if part.part_kind == "tool-return")
        called = [ToolCallPart("recall", {"question": "Who is on call?"})]
        return ModelResponse(parts=[TextPart("I do not know.")] if seen else called)

    with Memory.open("memory://", user="ann") as empty:
        asyncio.run(agent.run("Who is on call?", model=FunctionModel(model), deps=empty))
    assert seen == ["Nothing is remembered about it."]
