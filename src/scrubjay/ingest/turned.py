"""Turned: ids of memories -> what last gave each of them its status, as far as it is known.

And the way there and back: what gives memories another status, with the event that tells of it, and what takes
such events back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, PutEvents, PutLife

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


def turning(
    records: Iterable[Record], life: Life, op: str, at: int, run: str | None = None, actor: str = ""
) -> list[Change]:
    """Return what gives memories another status, and tells of it.

    Args:
        records: The memories as they are.
        life: What becomes of each.
        op: One of `TURNS`.
        at: UTC microseconds.
        run: In the name of which run, or None.
        actor: User who does it, or an empty string.
    """
    turned_ones = list(records)
    events = tuple(Event(one.id, op, at, one.key, run, before=one.status, actor=actor) for one in turned_ones)
    return [PutLife({one.id: life for one in turned_ones}), PutEvents(events)]


def taken_back(events: Iterable[Event], at: int, run: str | None = None) -> list[Change]:
    """Return what takes back the events that gave memories the status that they still have.

    Args:
        events: One of each memory.
        at: UTC microseconds.
        run: In the name of which run, or None.
    """
    back = list(events)
    lives = {
        # Superseding ended its time of being true; nothing else did.
        one.memory: Life(status=one.before or "active", valid_until=None)
        if one.op == "superseded"
        else Life(status=one.before or "active")
        for one in back
    }
    restored = tuple(Event(one.memory, "restored", at, one.key, run, before=one.op) for one in back)
    return [PutLife(lives), PutEvents(restored)]
