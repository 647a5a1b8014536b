"""Pydantic AI: two tools of an agent, whose dependency is the memory of the person it works for.

pip install scrubjay "pydantic-ai-slim[openai]"
OPENAI_API_KEY=... python examples/frameworks/pydantic_ai_tools.py "who is on call?"
"""

import sys

from pydantic_ai import Agent, FunctionToolset, RunContext

from scrubjay import Memory

memory_tools: FunctionToolset[Memory] = FunctionToolset()


@memory_tools.tool
def recall(context: RunContext[Memory], question: str) -> str:
    """Search the memory for a question; results have dates and sources."""
    return context.deps.context(question).text or "Nothing is remembered about it."


@memory_tools.tool
def remember(context: RunContext[Memory], statement: str) -> str:
    """Store one statement that will be true next week, understandable on its own."""
    return context.deps.add(statement, origin="agent").id


agent = Agent(
    deps_type=Memory,
    toolsets=[memory_tools],
    instructions="Recall before you answer. Remember what the user decides or prefers.",
)

if __name__ == "__main__":
    with Memory.open() as memory:
        print(agent.run_sync(sys.argv[1], model="openai:gpt-5", deps=memory).output)
