"""Look: a memory -> all that surrounds it; and a stretch of time -> what happened in it, last first."""

from __future__ import annotations

from typing import Final

from scrubjay.memory.concepts import united
from scrubjay.memory.histories import History
from scrubjay.memory.looks import Look, Stretch
from scrubjay.memory.records import Where
from scrubjay.memory.tree import path
from scrubjay.memory.webs import Known
from scrubjay.recall.assemble import full_path, full_paths
from scrubjay.recall.get import Window, fetch
from scrubjay.recall.plan import resolved
from scrubjay.recall.webs import links, places
from scrubjay.store.base import Reader

WHOLE: Final = 2_000_000
"""Characters of a memory and its neighbours that are shown: all of them, whatever a passage's size."""
MOST_CONCEPTS: Final = 50
MOST_NAMED: Final = 100
"""Memories of a history that are told in a line."""


def look(reader: Reader, history: History, neighbours: int) -> Look:
    """Return a memory with what surrounds it.

    Args:
        reader: What is visible.
        history: What happened to it, which holds the memory itself.
        neighbours: Passages or turns to show on either side.
    """
    record = history.memory
    sources = {source.id: source for source in reader.sources()}
    around = fetch(reader, [record.id], None, None, Window(neighbours, WHOLE)) if neighbours else None
    source = sources.get(record.place.source) if record.place is not None else None
    others = (*history.evidence, *history.derived, *history.supersedes, *history.superseded_by)
    others = (*others, *history.contradicts, *(event.other for event in history.events if event.other))
    told = places(reader, list(dict.fromkeys(others))[:MOST_NAMED])
    return Look(
        memory=record,
        path=full_path(record, sources),
        source=source.description if source is not None else "",
        around=around.records if around is not None else (record,),
        links=links(reader, record.id),
        concepts=_concepts(reader, record.id),
        categories=_categories(reader, record.id),
        history=history,
        named={place.id: place for place in told},
    )


def stretch(reader: Reader, where: Where, limit: int, skip: int) -> Stretch:
    """Return a page of what passes a filter, by when it happened, last first; sources and categories by any name."""
    found = reader.latest(resolved(where, reader), limit + 1, skip)
    shown = tuple(found[:limit])
    return Stretch(shown, full_paths(shown, reader.sources()), len(found) > limit)


def _concepts(reader: Reader, memory: str) -> tuple[Known, ...]:
    edges = reader.edges([memory], ["references"], limit=MOST_CONCEPTS)
    ids = [edge.dst for edge in edges]
    counts = reader.degrees("references", ids) if ids else {}
    found = [
        Known(one.id, one.name, one.aliases, one.kind, counts.get(one.id, 0))
        for one in united(reader.concepts(ids))
    ]
    return tuple(sorted(found, key=lambda known: (-known.memories, known.name.casefold(), known.id)))


def _categories(reader: Reader, memory: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    edges = reader.edges([memory], ["belongs"])
    if not edges:
        return ()
    by_id = {category.id: category for category in reader.categories()}
    return tuple(
        (edge.dst, tuple(one.name for one in path(by_id[edge.dst], by_id)))
        for edge in edges
        if edge.dst in by_id
    )
