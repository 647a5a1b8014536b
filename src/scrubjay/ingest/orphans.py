"""Orphans: a source -> the memories that were made from what it brought and rest on nothing else.

They go with it, and so on upward: a fact that a person stated in one of its conversations, a digest of such. What
has other evidence stays without the edges to what is gone; the next night tells such a digest anew. What somebody
pinned, or wrote, stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from scrubjay.memory.records import Where
from scrubjay.memory.tiers import STATUSES
from scrubjay.store.base import Reader

PAGE: Final = 1_000
"""Memories that are read together."""


def orphans(reader: Reader, source: str) -> set[str]:
    """Return the ids of the memories that rest on a source alone.

    Args:
        reader: Who removes it sees no other memories.
        source: Its id.
    """
    gone: set[str] = set()
    lost = set(chain.from_iterable(_brought(reader, source)))
    wave = sorted(lost)
    while wave:
        found: set[str] = set()
        for first in range(0, len(wave), PAGE):
            edges = reader.edges(wave[first : first + PAGE], ["derived_from"], inward=True)
            found |= {edge.src for edge in edges}
        wave = sorted(_resting(reader, sorted(found - lost), lost))
        gone |= set(wave)
        lost |= set(wave)
    return gone


def _brought(reader: Reader, source: str) -> Iterator[list[str]]:
    after, where = "", Where(sources=(source,), statuses=STATUSES)
    while page := reader.page(after, PAGE, where):
        after = page[-1].id
        yield [record.id for record in page]


def _resting(reader: Reader, made: Sequence[str], lost: set[str]) -> Iterator[str]:
    """Yield those of some memories all of whose evidence is lost."""
    for first in range(0, len(made), PAGE):
        records = reader.get(made[first : first + PAGE])
        own = [
            memory
            for memory, one in records.items()
            if one.origin == "derived" and one.place is None and not one.pinned
        ]
        borne = {edge.src for edge in reader.edges(own, ["derived_from"]) if edge.dst not in lost}
        yield from (memory for memory in own if memory not in borne)
