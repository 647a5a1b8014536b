"""Plain: scrubjay's own form, for plugins that call it: an event's fields in, ``context`` and ``message`` out."""

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
    folder, transcript = text(said, "folder"), text(said, "transcript")
    fields = {
        "session": text(said, "session", 200),
        "transcript": transcript if os.path.isabs(transcript) else "",
        "folder": folder if os.path.isabs(folder) else "",
        "prompt": text(said, "prompt", MOST_PROMPT),
    }
    return Event(agent, name, fields, afresh=said.get("afresh") is True)


def reply(event: Event, told: str, shown: str) -> dict[str, Any]:
    """Return what the agent is answered."""
    return {"event": event.name, "context": told, "message": shown}
