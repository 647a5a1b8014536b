"""Audit: Reader -> the faults of all active memories, by kind.

sweep > junk > twins > stale > contradicted > orphaned > unused > loops. It changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.audit.contradicted import contradicted
from scrubjay.consolidate.audit.fault import KINDS, Fault
from scrubjay.consolidate.audit.junk import junk
from scrubjay.consolidate.audit.loops import loops
from scrubjay.consolidate.audit.orphaned import orphaned
from scrubjay.consolidate.audit.stale import stale
from scrubjay.consolidate.audit.sweep import sweep
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.consolidate.audit.twins import twins
from scrubjay.consolidate.audit.unused import unused
from scrubjay.memory.edges import Edge
from scrubjay.store.base import Reader

PAGE: Final = 500
"""Memories whose edges or events are read at once."""
MOST_EVENTS: Final = 100_000
"""Events of one page: 200 a memory."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found.

    Attributes:
        memories: How many memories are active.
        tiers: How many of them are of each tier.
        faults: Kind to faults, the worst first.
        tiers_of: Id to tier of every memory with a fault.
    """

    memories: int
    tiers: Mapping[str, int]
    faults: Mapping[str, Sequence[Fault]]
    tiers_of: Mapping[str, str]


def audit(reader: Reader, now: int) -> Audited:
    """Look at every active memory that a reader sees.

    Args:
        reader: What the caller sees.
        now: UTC microseconds.
    """
    swept = sweep(reader)
    traits = {one.id: one for one in swept.traits}
    nothing = junk(swept.traits)
    said = {fault.memory for fault in nothing}
    found: dict[str, Iterable[Fault]] = {
        "junk": nothing,
        "near-duplicate": twins(reader, [one for one in swept.traits if one.id not in said]),
        "stale": stale(swept.traits, _superseded(reader, traits), now),
        "contradicted": contradicted(reader, traits, _edges(reader, traits, "contradicts")),
        "orphaned": orphaned(swept.traits, _grounded(reader, swept.traits)),
        "never-recalled": unused(swept.traits, now),
        "recall-loop": loops(reader, swept),
    }
    faults = {kind: _ranked(reader, kind, found[kind]) for kind in KINDS}
    tiers = Counter(one.tier for one in swept.traits)
    of = {fault.memory: traits[fault.memory].tier for some in faults.values() for fault in some}
    return Audited(len(traits), dict(sorted(tiers.items())), faults, of)


def _edges(reader: Reader, traits: Mapping[str, Trait], kind: str) -> list[Edge]:
    """Return the edges of a kind between active memories."""
    ids = list(traits)
    found = [
        edge for first in range(0, len(ids), PAGE) for edge in reader.edges(ids[first : first + PAGE], [kind])
    ]
    return [edge for edge in found if edge.dst in traits and edge.dst != edge.src]


def _superseded(reader: Reader, traits: Mapping[str, Trait]) -> dict[str, str]:
    """Return which active memory took an active one's place; nobody's private words take that of shared ones."""
    edges = _edges(reader, traits, "supersedes")
    return {edge.dst: edge.src for edge in edges if traits[edge.dst].key == traits[edge.src].key}


def _grounded(reader: Reader, traits: Sequence[Trait]) -> set[str]:
    derived = [one.id for one in traits if one.derived]
    found: set[str] = set()
    for first in range(0, len(derived), PAGE):
        found.update(edge.src for edge in reader.edges(derived[first : first + PAGE], ["derived_from"]))
    return found


def _ranked(reader: Reader, kind: str, faults: Iterable[Fault]) -> list[Fault]:
    """Return faults, the worst first, without those that somebody looked at and decided to keep."""
    ranked = sorted(faults, key=lambda fault: (-fault.weight, fault.other or "", fault.memory))
    if kind in ("contradicted", "never-recalled"):
        return ranked
    kept = kept_by_hand(reader, [fault.memory for fault in ranked])
    return [fault for fault in ranked if fault.memory not in kept]


def kept_by_hand(reader: Reader, ids: Sequence[str]) -> Collection[str]:
    """Return the memories that somebody restored; a run that restores what it put away decides nothing."""
    kept: set[str] = set()
    for first in range(0, len(ids), PAGE):
        events = reader.events(ids[first : first + PAGE], limit=MOST_EVENTS)
        kept.update(event.memory for event in events if event.op == "restored" and event.run is None)
    return kept
