"""Fresh: registered sources -> those whose files changed, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scrubjay.ingest.compare import compare, fitting, look, new_bytes
from scrubjay.memory.records import Document, Source
from scrubjay.store.base import Reader

MOST_CHANGED: Final = 16
"""Changed files that a search takes in itself; more are named, and `sync` is the place for them."""
MOST_BYTES: Final = 1_000_000
"""Bytes of changed files that a search reads itself: seconds of work. Larger files are named and left to `sync`."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a look at the sources found.

    Attributes:
        changed: Ids of sources with a few changed files, to be synced before the answer.
        partial: What the answer has to do without.
    """

    changed: tuple[str, ...]
    partial: tuple[str, ...]


def _due(source: Source, document: Document | None) -> bool:
    """Return whether a changed file is worth reading now: a talk that goes on is, once it has grown enough."""
    if document is None or not document.cursor:
        return True
    from scrubjay.ingest.sources.transcripts.due import due

    try:
        with (Path(source.root) / document.path).open("rb") as file:
            return due(file, document.cursor)
    except OSError:
        return True  # the sync says why it cannot be read


def fresh(reader: Reader, sources: Sequence[Source], seconds: float) -> Freshness:
    """Compare each source's files with the store until the time is up.

    A missing root is not news here: `status` shows it, and its memories still answer.

    Args:
        reader: Where.
        sources: Which.
        seconds: After which an answer does not wait for the look any longer.
    """
    started = time.monotonic()
    changed: list[str] = []
    partial: list[str] = []
    room = MOST_BYTES
    for source in sources:
        found = look(source, started + seconds)
        if not found.complete:
            partial.append(
                f"{source.root} was not compared with the store: the look takes longer than {seconds * 1000:g} ms."
            )
            continue
        known = reader.documents(source.id)
        stale, gone = ([], []) if found.missing else compare(found, known)
        gone = [path for path in gone if not known[path].cursor]  # what was said stays when its log is gone
        stale = [file for file in stale if _due(source, known.get(file.path))]
        if not (stale or gone):
            continue
        fit, left = fitting(stale, known, room)
        room -= sum(new_bytes(state, known) for state in fit)
        if left and len(stale) + len(gone) <= MOST_CHANGED:
            largest = max(left, key=lambda state: new_bytes(state, known))
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            partial.append(
                f"{Path(source.root) / largest.path}{more} changed and holds more than a search reads: "
                "`scrubjay sync` takes it in."
            )
            if not (fit or gone):
                continue
        if len(stale) + len(gone) > MOST_CHANGED:
            partial.append(
                f"{source.root} has {len(stale) + len(gone)} files that changed or were being written when they were "
                "read: `scrubjay sync` takes them in."
            )
        else:
            changed.append(source.id)
    return Freshness(tuple(changed), tuple(partial))
