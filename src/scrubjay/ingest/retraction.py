"""Retraction: derived memories are updated when the text of their source is corrected.

A fact that the new text no longer states loses that evidence; without other evidence it becomes superseded, and
memories that only it superseded become active again. Pinned memories stay, and so do digests: consolidation renews
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.ingest.deletion import reactivate_superseded, repeats_deleted
from scrubjay.models.graph import REPEATED_RULE, Edge
from scrubjay.models.lifecycle import Event, LifecycleChange, stored_end
from scrubjay.models.records import Record, is_own_turn
from scrubjay.storage.changes import (
    Change,
    DropEdges,
    PutEdges,
    PutEvents,
    PutLifecycle,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader
from scrubjay.text.normalize import normalize_content

RENEWED_TIERS: Final = ("crystal", "insight")
"""Tiers that consolidation makes anew when their sources change."""
STATED_RULES: Final = (REPEATED_RULE, "statement")
"""Rules of edges ``derived_from`` from a fact to the turns that state it word for word."""


def correction_changes(
    reader: Reader, old: Record, new: Record, version: Record | None, at: int, actor: str
) -> list[Change]:
    """Return the changes to memories derived from one whose text changes.

    ``version`` keeps the old text, and becomes the evidence of facts that only that states.
    """
    stated = _stated_facts(new)
    edges = _derivations(reader, [old.id])
    derived = _derived_records(reader, [edge.src for edge in edges])
    texts = _other_texts(reader, derived, old.id)
    lost = [
        edge
        for edge in edges
        if edge.src in derived
        and not _still_follows(derived[edge.src], edge, stated, old, [new.content, *texts[edge.src]])
    ]
    if not lost:
        return []
    gone = _find_retracted(reader, {old.id: [edge.src for edge in lost]}, {old.id})
    changes: list[Change] = []
    if moved := [edge for edge in lost if version is not None or edge.src not in gone]:
        changes.append(DropEdges(tuple((edge.src, edge.kind, edge.dst) for edge in moved)))
    if version is not None:
        changes.append(PutEdges(tuple(replace(edge, dst=version.id) for edge in lost)))
    if not gone:
        return changes
    lives = {
        memory: LifecycleChange(
            status="superseded", valid_until=max(min(at, one.valid_until or at), one.valid_from or 0)
        )
        for memory, (one, _) in gone.items()
    }
    events = tuple(
        Event(memory, "superseded", at, one.key, None, source, stored_end(one.valid_until), one.status, actor)
        for memory, (one, source) in gone.items()
    )
    reactivation, older = reactivate_superseded(reader, gone, at)
    ended = [
        (edge.src, edge.kind, edge.dst)
        for edge in reader.edges(sorted(gone), ["supersedes"])
        if edge.dst in older
    ]
    # The corrected memory itself is put by the same write.
    others = reader.get([memory for memory in older if memory != old.id])
    unchanged = {memory: one for memory, (one, _) in gone.items()} | others
    return [
        RequireUnchanged(unchanged),
        *changes,
        PutLifecycle(lives),
        PutEvents(events),
        *reactivation,
        *([DropEdges(tuple(ended))] if ended else []),
    ]


def _stated_facts(new: Record) -> set[str]:
    if not is_own_turn(new):
        return set()
    from scrubjay.facts.extractor import extract_facts

    return {normalize_content(one.text) for one in extract_facts(new.content)}


def _derivations(reader: Reader, sources: Collection[str]) -> list[Edge]:
    """Return the edges of memories that rules derived from sources; one that a person linked has its own words."""
    edges = reader.edges(sorted(sources), ["derived_from"], inward=True) if sources else []
    return [edge for edge in edges if edge.origin == "found"]


def _derived_by_source(reader: Reader, sources: Collection[str]) -> Mapping[str, Sequence[str]]:
    derived: defaultdict[str, list[str]] = defaultdict(list)
    for edge in _derivations(reader, sources):
        derived[edge.dst].append(edge.src)
    return derived


def _derived_records(reader: Reader, memories: Iterable[str]) -> dict[str, Record]:
    records = reader.get(sorted(set(memories)))
    return {
        memory: one
        for memory, one in records.items()
        if one.origin == "derived" and one.place is None and one.tier not in RENEWED_TIERS
    }


def _other_texts(reader: Reader, derived: Collection[str], source: str) -> Mapping[str, Sequence[str]]:
    edges = [edge for edge in reader.edges(sorted(derived), ["derived_from"]) if edge.dst != source]
    sources = reader.get(sorted({edge.dst for edge in edges}))
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if edge.dst in sources:
            texts[edge.src].append(sources[edge.dst].content)
    return texts


def _still_follows(derived: Record, edge: Edge, stated: set[str], old: Record, texts: Sequence[str]) -> bool:
    """Return whether a memory still follows from its source, whose text was ``old``."""
    if edge.rule in STATED_RULES:
        return normalize_content(derived.content) in stated
    return not repeats_deleted(derived, [old.content], texts)


def _find_retracted(
    reader: Reader, derived: Mapping[str, Sequence[str]], lost: set[str]
) -> dict[str, tuple[Record, str]]:
    """Return the memories without evidence once sources are lost, each with the source that it lost.

    ``derived`` has, by source, the memories that no longer follow from it; further ones are found from those.
    """
    gone: dict[str, tuple[Record, str]] = {}
    while derived:
        source_of = {memory: source for source, own in derived.items() for memory in own}
        records = _derived_records(reader, source_of.keys() - gone.keys())
        active = {memory: one for memory, one in records.items() if one.status == "active" and not one.pinned}
        edges = reader.edges(sorted(active), ["derived_from"])
        sources = reader.get(sorted({edge.dst for edge in edges} - lost - gone.keys()))
        supported = {
            edge.src for edge in edges if edge.dst in sources and sources[edge.dst].status != "superseded"
        }
        wave = sorted(active.keys() - supported)
        gone |= {memory: (active[memory], source_of[memory]) for memory in wave}
        derived = _derived_by_source(reader, wave)
    return gone
