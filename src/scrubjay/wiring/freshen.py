"""Freshen: a desk -> what changed is taken in before an answer, in the time that the settings give to looking."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import StoreBusyError, StoreReadOnlyError
from scrubjay.store.room import room
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.memory.records import Source, Versions
    from scrubjay.store.base import Reader

FULL = "Files changed, but there is no room ([quota]): the answer is from before; `scrubjay sync` takes what fits."
READ_ONLY = "Files changed, but the store is read-only: the answer is from before."
WRITING = "Files changed, but another process is writing: the answer is from before."


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at the files found.

    Attributes:
        changed: Sources with a few changed files, to be taken in.
        partial: What was not looked at.
        stamped: What made the store.
    """

    changed: tuple[Source, ...] = ()
    partial: tuple[str, ...] = ()
    stamped: Versions | None = None


def look(desk: Desk, reader: Reader) -> Seen:
    """Look for the few files that changed since the last sync."""
    sources = reader.sources() if desk.looks else []
    if not sources:
        return Seen()
    from scrubjay.ingest.fresh import fresh
    from scrubjay.memory.sources import apart

    found = fresh(reader, [apart(source, sources) for source in sources], desk.settings.sync.look_seconds)
    changed = tuple(source for source in sources if source.id in found.changed)
    return Seen(changed, found.partial, reader.versions() if changed else None)


def take_in(desk: Desk, seen: Seen) -> tuple[str, ...]:
    """Take in what changed, while no view of the store is open; say what was not looked at, or not taken in."""
    if any(limit.used >= limit.allowed for limit in room(desk.store, desk.scope)):
        return (*seen.partial, FULL)
    try:
        if desk.store.busy(desk.scope):
            return (*seen.partial, WRITING)
    except StoreReadOnlyError:
        return (*seen.partial, READ_ONLY)
    from scrubjay.ingest.fresh import MOST_BYTES
    from scrubjay.ingest.read import versions
    from scrubjay.wiring.syncing import chunks, run

    if seen.stamped is not None and seen.stamped != versions(chunks(desk)):
        return (*seen.partial, "The store was made by another version: `scrubjay sync` brings it up to date.")
    try:
        run(desk, list(seen.changed), time.monotonic(), None, most=0, inline=MOST_BYTES)
    except StoreBusyError:
        return (*seen.partial, WRITING)
    except StoreReadOnlyError:
        return (*seen.partial, READ_ONLY)
    return seen.partial
