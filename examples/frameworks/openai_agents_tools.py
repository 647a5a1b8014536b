"""OpenAI Agents SDK: two tools, and what is known in the instructions of every run.

pip install scrubjay openai-agents
OPENAI_API_KEY=... python examples/frameworks/openai_agents_tools.py "who is on call?"

A `Session` of the SDK replays its items to the letter, which a memory that redacts secrets must not do; keep the
SDK's own for that, and a scrubjay memory for what outlasts it.
"""

import sys

from agents import Agent, RunContextWrapper, Runner, function_tool

from scrubjay import Memory


@function_tool
def recall(context: RunContextWrapper[Memory], question: str) -> str:
    """Search the memory for a question; results have dates and sources."""
    return context.context.context(question).text or "Nothing is remembered about it."


@function_tool
def remember(context: RunContextWrapper[Memory], statement: str) -> str:
    """Store one statement that will be true next week, understandable on its own."""
    return context.context.add(statement, origin="agent").id


def instructions(context: RunContextWrapper[Memory], _agent: Agent[Memory]) -> str:
    return f"Recall before you answer. Remember decisions.\n{context.context.context().text}"


agent = Agent[Memory](name="Assistant", instructions=instructions, tools=[recall, remember])

if __name__ == "__main__":
    with Memory.open() as memory:
        print(Runner.run_sync(agent, sys.argv[1], context=memory).final_output)
