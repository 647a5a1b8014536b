"""CrewAI: the tools of `scrubjay mcp`, a process of its own.

pip install crewai; pipx install scrubjay
OPENAI_API_KEY=... python examples/frameworks/crewai_mcp.py "who is on call?"

CrewAI 1.15 needs `mcp<2` and scrubjay `mcp>=2.3`, so that pip installs no environment with both.
"""

import sys

from crewai import Agent
from crewai.mcp import MCPServerStdio

scrubjay = MCPServerStdio(command="scrubjay", args=["mcp"])


def assistant() -> Agent:
    return Agent(
        role="Assistant",
        goal="Answer from memory.",
        backstory="Searches memory before it answers, and adds what the user decides.",
        mcps=[scrubjay],
        llm="openai/gpt-5",
    )


if __name__ == "__main__":
    print(assistant().kickoff(sys.argv[1]).raw)
