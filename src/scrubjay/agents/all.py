"""All: the name of an agent -> its installer, imported when asked for."""

from __future__ import annotations

import difflib
import importlib
from typing import Final

from scrubjay.agents.agent import Agent
from scrubjay.errors import InputError

AGENTS: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "openclaw": "openclaw",
    "cursor": "cursor",
    "gemini": "gemini",
    "opencode": "opencode",
}
"""Name to module, whose ``AGENT`` is the installer; in the order in which they are listed."""


def find(name: str) -> Agent:
    """Return an agent's installer.

    Raises:
        InputError: No agent has this name.
    """
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        raise InputError(
            f"No agent is called {name!r}. Nothing was changed.",
            hint=f"did you mean {near[0]}?" if near else f"there are: {', '.join(AGENTS)}",
        )
    agent: Agent = importlib.import_module(f"scrubjay.agents.{AGENTS[name]}").AGENT
    return agent
