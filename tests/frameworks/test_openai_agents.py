"""The OpenAI Agents SDK's own runner and scripted model with the tools of the example."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType

import pytest

from scrubjay import Memory

# Loaded by the tests and not by each process that collects them: it takes a second.
pytestmark = pytest.mark.skipif(
    not find_spec("agents"), reason="openai-agents is not installed: `pip install --group dev`"
)


def test_an_agent_starts_with_what_is_pinned_recalls_remembers_and_answers(
    example: Callable[[str], ModuleType], memory: Memory
) -> None:
    from agents import RunConfig, Runner
    from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

    memory.add("Answer in one word.", pinned=True)
    calls = [function_call("recall", {"question": "Who is on call?"}, call_id="1"),
             function_call("remember", {"statement": "Ann swaps her week with Mara."}, call_id="2")]  # fmt: skip
    model = ScriptedModel([ModelStep(calls), ModelStep([assistant_message("Mara.")])])
    running = Runner.run(
        example("openai_agents_tools").agent,
        "Who is on call? I swap with her.",
        context=memory,
        run_config=RunConfig(model=model, tracing_disabled=True),
    )
    # Not `run_sync`, which leaves its loop open.
    done = asyncio.run(running)
    assert done.final_output == "Mara."
    first, second = model.calls
    assert "Answer in one word." in (first.system_instructions or "")
    recalled, stored = (item["output"] for item in second.input if item.get("type") == "function_call_output")
    assert "Mara is on call in May." in recalled
    (kept,) = memory.records([stored]).memories
    assert (kept.content, kept.origin) == ("Ann swaps her week with Mara.", "agent")
