"""Cursor: how it tells of an event and takes an answer (cursor.com/docs/agent/hooks).

``conversation_id`` names the session and ``workspace_roots`` the folders; a session that begins takes
``additional_context``. What is answered before a prompt cannot carry context, so nothing is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from scrubjay.agents.hooks.event import Event, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_PROMPT = 1_000_000


def parse(agent: str, name: str, said: Mapping[str, Any]) -> Event:
    """Return the event."""
    roots = said.get("workspace_roots")
    folder = text({"folder": roots[0]}, "folder") if isinstance(roots, list) and roots else ""
    transcript = text(said, "transcript_path")
    fields = {
        "session": text(said, "conversation_id", 200),
        "transcript": transcript if os.path.isabs(transcript) else "",
        "folder": folder if os.path.isabs(folder) else "",
        "prompt": text(said, "prompt", MOST_PROMPT),
    }
    return Event(agent, name, fields)


def reply(event: Event, told: str, shown: str) -> dict[str, Any]:
    """Return what Cursor is answered; an empty object is nothing."""
    del shown
    return {"additional_context": told} if event.name == "session-start" else {}
