"""Watching: events of the file system -> syncs, until told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from scrubjay.ingest.sources.kinds import DEFAULT_INCLUDE
from scrubjay.ingest.sources.watch import watch
from scrubjay.memory.records import Source
from scrubjay.memory.reports import Summary, Trouble


def watching(
    sources: Sequence[Source],
    sync: Callable[[], Summary],
    report: Callable[[Summary], None],
    *,
    debounce: float,
    stop: threading.Event,
) -> None:
    """Sync once the watch is armed, then after every quiet moment that follows a change.

    Which files changed is not asked of the events: a sync compares all, so a lost event loses nothing. Where
    the watch lost track, the summary says so among its problems.

    Raises:
        SourceError: The watch ended although nobody stopped it.
    """
    roots = [Path(root) for root in dict.fromkeys(source.root for source in sources)]
    include = tuple(dict.fromkeys((*DEFAULT_INCLUDE, *(p for source in sources for p in source.include))))
    armed = False
    for changes in watch(roots, debounce=debounce, stop=stop, include=include):
        summary = sync()
        if armed and not changes.complete:
            behind = Trouble(
                ", ".join(map(str, roots)), f"The watch was behind: {changes.reason}.", "all was compared"
            )
            summary = replace(summary, problems=(*summary.problems, behind))
        armed = True
        report(summary)
