"""Mend: faults, Reader -> the changes that put memories away, each of which can be taken back.

What stays in the stead of another is never put away in the same run, so that no text goes altogether.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from scrubjay.consolidate.audit.audit import kept_by_hand
from scrubjay.consolidate.audit.fault import KINDS, Fault
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record, said
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, PutEdges, PutEvents, PutLife

AT_ONCE: Final = 1_000
"""Memories of one transaction."""
RULE: Final = "audit"
"""What the edges say that made them."""


def chosen(faults: Mapping[str, Sequence[Fault]], kinds: Sequence[str]) -> dict[str, list[Fault]]:
    """Return which faults a run mends, by kind: no memory twice, and none that another one's fault relies on."""
    done: set[str] = set()
    stays: set[str] = set()
    found: dict[str, list[Fault]] = {}
    for kind in (kind for kind in KINDS if kind in kinds):
        found[kind] = []
        for fault in faults[kind]:
            free = fault.memory not in done and fault.memory not in stays
            if fault.mend and free and fault.other not in done:
                found[kind].append(fault)
                done.add(fault.memory)
                if fault.other is not None:
                    stays.add(fault.other)
    return found


def mend(
    reader: Reader, faults: Sequence[Fault], run: str, at: int, actor: str = ""
) -> Iterator[tuple[list[str], list[Change]]]:
    """Yield what to write, a transaction at a time, with the ids of what it puts away.

    Args:
        reader: What the caller sees now: what was put away or pinned meanwhile, or restored, is passed over.
        faults: Each memory once.
        run: Under which the events are written.
        at: UTC microseconds.
        actor: User who does it.
    """
    for first in range(0, len(faults), AT_ONCE):
        some = faults[first : first + AT_ONCE]
        held = reader.get([memory for fault in some for memory in (fault.memory, fault.other) if memory])
        kept = kept_by_hand(reader, [fault.memory for fault in some])
        lives: dict[str, Life] = {}
        events: list[Event] = []
        edges: list[Edge] = []
        for fault in some:
            old, new = held.get(fault.memory), held.get(fault.other or "")
            if old is None or old.pinned or old.status != "active" or old.id in kept:
                continue
            if fault.other is not None and (new is None or new.status != "active"):
                continue
            lives[old.id] = _life(fault, old, new)
            other = fault.other if fault.mend == "superseded" else None
            events.append(Event(old.id, fault.mend, at, old.key, run, other, before=old.status, actor=actor))
            if fault.mend == "superseded" and new is not None:
                edges.append(Edge(new.id, "supersedes", old.id, old.key, 1.0, at, rule=RULE, run=run))
        if lives:
            yield list(lives), [PutLife(lives), PutEdges(tuple(edges)), PutEvents(tuple(events))]


def _life(fault: Fault, old: Record, new: Record | None) -> Life:
    if fault.mend == "archived" or new is None:
        return Life(status="archived")
    return Life(status="superseded", valid_until=max(said(new), old.valid_from or 0))
