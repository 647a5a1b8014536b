"""Look back: concepts that a person has just named -> the memories of before that refer to them, linked.

Whoever sees a memory and a concept shall see that one refers to the other, and nobody else. So an edge is
written under the memory's key where all who see that also see the concept, else under the concept's where
all who see that see the memory, else under the writer's own; and it is judged by the names that all know
who see the edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from scrubjay.ingest.concepts.normal import normal
from scrubjay.ingest.lexicon import Lexicon, Lexicons, lexicon
from scrubjay.memory.concepts import Concept
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.records import Record, Where
from scrubjay.memory.scope import Scope
from scrubjay.memory.tiers import STATUSES
from scrubjay.store.base import Reader, Store
from scrubjay.store.changes import PutEdges
from scrubjay.text.tokens import groups

FEW: Final = 200
"""Names that are looked up by their words; for more, every memory is read once."""
LITTLE: Final = 2_000
"""Memories that are all read whatever is looked for: it takes .1 s, and finds what bears a name as tag alone."""
MANY: Final = 20_000
"""Memories that hold a name's rarest word above which every memory is read instead."""
READ_AT_ONCE: Final = 1_000
"""Memories held in RAM at a time."""
PUT_AT_ONCE: Final = 2_000
"""Edges of one transaction: others wait no longer than some tens of milliseconds for their turn."""


def look_back(store: Store, scope: Scope, rows: Sequence[Concept], kept: Lexicons) -> int:
    """Link the visible memories that refer to concepts whose rows were just written.

    It can be stopped at any moment, and called again: what is linked already is passed over.

    Args:
        store: Where.
        scope: Who named them.
        rows: The rows.
        kept: Lexicons of the scope.

    Returns:
        How many memories were linked that were not.
    """
    if not rows:
        return 0
    concepts = {row.id for row in rows}
    keys = {row.key for row in rows}
    names = list(dict.fromkeys(name for row in rows for name in (row.name, *row.aliases)))
    words: dict[str, Lexicon] = {}
    linked = 0
    at = now_micros()
    for key in scope.keys:
        viewer = scope.seen_with(key)
        for records in _memories(
            store, viewer, names
        ):  # chosen among what the edge's viewers see, as it is judged
            bearing = [record for record in records if key in _seen_under(record.key, keys, scope)]
            if bearing and key not in words:
                with store.reader(viewer) as reader:
                    words[key] = lexicon(reader, key, kept)
            found = [e for r in bearing for e in words[key].references(r, at, key) if e.dst in concepts]
            edges, fresh = _missing(store, scope, found)
            linked += fresh
            for first in range(0, len(edges), PUT_AT_ONCE):
                store.write(scope, [PutEdges(tuple(edges[first : first + PUT_AT_ONCE]))])
    return linked


def _memories(store: Store, scope: Scope, names: Sequence[str]) -> Iterator[list[Record]]:
    """Yield the memories that may hold these names, or all."""
    with store.reader(scope) as reader:
        ids = _holding(reader, names)
    if ids is None:
        after = ""
        while True:
            with store.reader(scope) as reader:
                records = reader.page(after, READ_AT_ONCE)
            if not records:
                return
            yield records
            after = records[-1].id
    for first in range(0, len(ids), READ_AT_ONCE):
        with store.reader(scope) as reader:
            records = list(reader.get(ids[first : first + READ_AT_ONCE]).values())
        yield records


def _holding(reader: Reader, names: Sequence[str]) -> list[str] | None:
    """Return the ids of memories that hold the rarest word of any of these names; None when all may."""
    tongues = reader.languages()
    if len(names) > FEW or reader.counts().memories <= LITTLE:
        return None
    found: dict[str, None] = {}
    for name in names:
        asked = groups(normal(name), tongues)
        counts = reader.frequencies(asked)
        least = min(counts, default=MANY + 1)
        if least > MANY:
            return None
        if least:
            rarest = asked[counts.index(least)]
            hits = reader.words([rarest], Where(statuses=STATUSES)).top(least)
            found |= dict.fromkeys(hit.id for hit in hits)
    return list(found)


def _seen_under(key: str, concepts: Collection[str], scope: Scope) -> set[str]:
    """Return under which keys a memory of one key is linked to a concept that is known under others."""
    if not set(concepts).isdisjoint(scope.seen_with(key).keys):
        return {key}
    return {each for each in concepts if key in scope.seen_with(each).keys} or {scope.key()}


def _missing(store: Store, scope: Scope, edges: list[Edge]) -> tuple[list[Edge], int]:
    """Return the edges that are not there as they should be, and how many memories had none to their end."""
    if not edges:
        return [], 0
    with store.reader(scope) as reader:
        there = reader.edges(list(dict.fromkeys(edge.src for edge in edges)), ["references"])
    weights = {(edge.src, edge.dst, edge.key): edge.weight for edge in there}
    linked = {(edge.src, edge.dst) for edge in there}
    missing = [edge for edge in edges if weights.get((edge.src, edge.dst, edge.key)) != edge.weight]
    return missing, len({edge.src for edge in missing if (edge.src, edge.dst) not in linked})
