"""Contradicted: traits, Reader -> pairs of active memories that cannot both be so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scrubjay.consolidate.audit.fault import Fault
from scrubjay.consolidate.audit.trait import Trait
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import said
from scrubjay.store.base import Reader


def contradicted(reader: Reader, traits: Mapping[str, Trait], edges: list[Edge]) -> Iterator[Fault]:
    """Yield the earlier of each two, with the later.

    It can be superseded by the later one where both are seen by the same people: what one writes for oneself
    decides nothing for others.

    Args:
        reader: What the caller sees.
        traits: The active memories by id.
        edges: ``contradicts`` edges among them.
    """
    pairs = sorted({tuple(sorted((edge.src, edge.dst))) for edge in edges})
    held = reader.get(sorted({memory for pair in pairs for memory in pair}))
    for pair in pairs:
        old, new = sorted(
            (held[memory] for memory in pair), key=lambda one: (said(one), one.recorded_at, one.id)
        )
        free = traits[old.id].key == traits[new.id].key and not traits[old.id].pinned
        yield Fault(
            old.id,
            "both cannot be so",
            "contradicted",
            float(said(new)),
            "superseded" if free else "",
            new.id,
        )
