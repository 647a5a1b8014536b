"""Fresh: registered sources -> those whose files changed, within a budget of time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.ingest.compare import compare, look
from scrubjay.memory.records import Source
from scrubjay.store.base import Reader

BUDGET: Final = 0.020
"""Seconds a search spends on comparing files with the store before it answers without."""
MOST_CHANGED: Final = 16
"""Changed files that a search takes in itself; more are named, and `sync` is the place for them."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a look at the sources found.

    Attributes:
        changed: Ids of sources with a few changed files, to be synced before the answer.
        partial: What the answer has to do without.
    """

    changed: tuple[str, ...]
    partial: tuple[str, ...]


def fresh(reader: Reader, sources: Sequence[Source]) -> Freshness:
    """Compare each source's files with the store until the budget is spent.

    A missing root is not news here: `status` shows it, and its memories still answer.
    """
    started = time.monotonic()
    changed: list[str] = []
    partial: list[str] = []
    for source in sources:
        found = look(source, started + BUDGET)
        if not found.complete:
            partial.append(
                f"{source.root} was not compared with the store: the look takes longer than 20 ms."
            )
            continue
        stale, gone = ([], []) if found.missing else compare(found, reader.documents(source.id))
        if not (stale or gone):
            continue
        if len(stale) + len(gone) > MOST_CHANGED:
            partial.append(
                f"{source.root} has {len(stale) + len(gone)} changed files: `scrubjay sync` takes them in."
            )
        else:
            changed.append(source.id)
    return Freshness(tuple(changed), tuple(partial))
