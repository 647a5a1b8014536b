"""Freshen: a desk -> what changed is taken in before an answer, in the time that the settings give to looking."""

from __future__ import annotations

import time

from scrubjay.errors import StoreBusyError
from scrubjay.wiring.desk import Desk

WRITING = "Files changed, but another process is writing: the answer is from before."


def freshen(desk: Desk) -> tuple[str, ...]:
    """Take in the few files that changed since the last sync, before an answer; say what was not looked at."""
    if not desk.looks:
        return ()
    with desk.store.reader(desk.scope) as reader:
        sources = reader.sources()
        if not sources:
            return ()
        from scrubjay.ingest.fresh import fresh
        from scrubjay.memory.sources import apart

        look = fresh(reader, [apart(source, sources) for source in sources], desk.settings.sync.look_seconds)
        stamped = reader.versions()
    if not look.changed:
        return look.partial
    if desk.store.busy(desk.scope):
        return (*look.partial, WRITING)
    from scrubjay.ingest.read import versions
    from scrubjay.wiring.syncing import chunks, run

    if stamped is not None and stamped != versions(chunks(desk)):
        return (*look.partial, "The store was made by another version: `scrubjay sync` brings it up to date.")
    try:
        run(desk, [source for source in sources if source.id in look.changed], time.monotonic(), None, most=0)
    except StoreBusyError:
        return (*look.partial, WRITING)
    return look.partial
