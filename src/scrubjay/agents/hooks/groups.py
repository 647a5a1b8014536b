"""Groups: how Claude Code, and Codex and Gemini CLI after it, tell of an event and take an answer.

On standard input an object with ``session_id``, ``transcript_path``, ``cwd``, ``hook_event_name``, at a prompt
``prompt``, at a start ``source``. On standard output ``hookSpecificOutput.additionalContext``, which the model reads,
and ``systemMessage``, which the person reads. (code.claude.com/docs/en/hooks, developers.openai.com/codex/hooks,
geminicli.com/docs/hooks)
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from scrubjay.agents.hooks.event import Event, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_PROMPT = 1_000_000
AFRESH = ("compact", "clear")
"""Starts after which the model no longer has what was said before, so that nothing of it is left out."""
THEIRS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}


def parse(agent: str, name: str, said: Mapping[str, Any]) -> Event:
    """Return the event."""
    folder, transcript = text(said, "cwd"), text(said, "transcript_path")
    theirs = text(said, "hook_event_name", 60)
    return Event(
        agent,
        name,
        {
            "theirs": theirs if theirs.isidentifier() else THEIRS.get(name, ""),
            "session": text(said, "session_id", 200),
            "transcript": transcript if os.path.isabs(transcript) else "",
            "folder": folder if os.path.isabs(folder) else "",
            "prompt": text(said, "prompt", MOST_PROMPT),
        },
        afresh=said.get("source") in AFRESH,
    )


def reply(event: Event, told: str, shown: str) -> dict[str, Any]:
    """Return what the agent is answered."""
    inner = {"hookEventName": event.theirs or THEIRS.get(event.name, ""), "additionalContext": told}
    return {"hookSpecificOutput": inner, "systemMessage": shown}
