"""Foresee: what a night that writes nothing would write -> what its later stages read of it.

So a dry run promotes what the run itself would, from the digests and the facts that it would have made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from scrubjay.consolidate.night import Foreseen, Night
from scrubjay.memory.edges import Edge
from scrubjay.store.changes import Change, Prepared, PutConcept, PutEdges

FACT: Final = "semantic"


def foresee(night: Night, fresh: Sequence[Prepared], changes: Iterable[Change], *, told: bool) -> None:
    """Remember memories that would be written, and what would connect them.

    Args:
        night: The run, which writes nothing.
        fresh: The memories.
        changes: What would be written with them.
        told: Whether they are digests, not what is promoted.
    """
    foreseen = night.foreseen
    edges: list[Edge] = []
    for change in changes:
        if isinstance(change, PutConcept):
            foreseen.concepts[change.concept.id] = change.concept
        elif isinstance(change, PutEdges):
            edges += change.edges
    for edge in edges:
        if edge.kind == "references":
            foreseen.references.setdefault(edge.src, []).append(edge.dst)
    if told:
        foreseen.digests += fresh
    else:
        foreseen.facts += [one.record for one in fresh if one.record.tier == FACT]
        _supersede(night, foreseen, edges)


def _supersede(night: Night, foreseen: Foreseen, edges: Sequence[Edge]) -> None:
    pairs = [(edge.src, edge.dst) for edge in edges if edge.kind == "supersedes"]
    known = {record.id: record for record in foreseen.facts}
    with night.store.reader(night.viewers) as reader:
        known |= reader.get(sorted({one for pair in pairs for one in pair}))
    foreseen.changed += [(known[new], known[old]) for new, old in pairs]
