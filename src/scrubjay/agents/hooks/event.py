"""Event: one moment in an agent's session, whatever the agent calls it."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ASKED = ("session-start", "prompt")
"""Events that are answered with memories."""
CAPTURED = ("stop", "pre-compact", "session-end")
"""Events after which the transcript is taken in."""
NAMES = (*ASKED, *CAPTURED, "heartbeat")
MOST_TEXT = 4_096
"""Characters of a path or a name; longer ones are none."""


class Event:
    """One moment in an agent's session.

    Attributes:
        agent: Which agent, ``claude-code``.
        name: One of ``NAMES``.
        theirs: The agent's own name of it, ``UserPromptSubmit``; empty where it says none.
        session: The conversation; empty where it is not said.
        afresh: Whether the model no longer has what was said in it before.
        transcript: Absolute path of its transcript; empty where there is none.
        folder: Absolute path of the folder that the agent works in; empty where it is not said.
        prompt: What the person asks.
    """

    __slots__ = ("afresh", "agent", "folder", "name", "prompt", "session", "theirs", "transcript")

    def __init__(self, agent: str, name: str, said: Mapping[str, str], *, afresh: bool = False) -> None:
        """Args: the agent, the event, its fields, of which any may be missing, and whether it begins afresh."""
        self.afresh = afresh
        self.agent = agent
        self.name = name
        self.theirs = said.get("theirs", "")
        self.session = said.get("session", "")
        self.transcript = said.get("transcript", "")
        self.folder = said.get("folder", "")
        self.prompt = said.get("prompt", "")


def text(said: Mapping[str, Any], name: str, most: int = MOST_TEXT) -> str:
    """Return a field that holds text of at most so many characters; empty for anything else."""
    value = said.get(name)
    return value if isinstance(value, str) and len(value) <= most and "\0" not in value else ""
