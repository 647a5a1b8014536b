"""Turned: ids of memories -> what last gave each of them its status, as far as it is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scrubjay.memory.events import Event
from scrubjay.store.base import Reader

TURNS: Final = frozenset(("archived", "restored", "superseded"))
"""What gives a memory another status."""
EVERY: Final = 2**31
"""More events than any memories have."""
AT_ONCE: Final = 1_000
"""Memories that are asked for together."""


def turned(reader: Reader, ids: Sequence[str]) -> dict[str, Event]:
    """Return the newest event of each memory that gave it a status; those without one are left out."""
    found: dict[str, Event] = {}
    for first in range(0, len(ids), AT_ONCE):
        for event in reader.events(ids[first : first + AT_ONCE], limit=EVERY):
            if event.op in TURNS:
                found.setdefault(event.memory, event)
    return found
