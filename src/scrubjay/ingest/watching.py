"""Watching: events of the file system -> syncs, until told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from scrubjay.ingest.sources.watch import watch
from scrubjay.memory.reports import Summary


def watching(
    roots: Sequence[Path],
    sync: Callable[[], Summary],
    report: Callable[[Summary], None],
    *,
    debounce: float,
    stop: threading.Event,
) -> None:
    """Sync once the watch is armed, then after every quiet moment that follows a change.

    Which files changed is not asked of the events: a sync compares all, so a lost event loses nothing.

    Raises:
        SourceError: The watch ended although nobody stopped it.
    """
    for _ in watch(list(roots), debounce=debounce, stop=stop):
        report(sync())
