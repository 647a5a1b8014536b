"""Settle: the digest of a group -> what one transaction writes: the digest, what it rests on, what is archived for it.

A group is written whole or not at all: its digest, an edge to each source (weight: its share of the sentences), and,
where archiving was asked for, the sources archived with an event for each of them. The digest's id is a keyed hash of
its key, its sources and its text, so that whoever makes the same again finds it there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.consolidate.distil import Digest
from scrubjay.consolidate.night import RULE, TIER, Night
from scrubjay.ingest.naming import prepare
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import memory_id, memory_key, text_hash
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record, When
from scrubjay.store.changes import Change, Prepared, PutEdges, PutEvents, PutLife

_PRECISIONS: Final = ("second", "day", "month", "year")


@dataclass(frozen=True, slots=True)
class Told:
    """A group that has a digest.

    Attributes:
        records: The group, whole.
        digest: What it says in short.
        memory: The digest as a memory, counted, not yet embedded.
        away: Those of the records that are archived for it.
    """

    records: tuple[Record, ...]
    digest: Digest
    memory: Prepared
    away: tuple[Record, ...] = ()


def told(night: Night, secret: bytes, records: Sequence[Record], digest: Digest, at: int) -> Told:
    """Return a group with its digest as a memory.

    Args:
        night: The run.
        secret: The tenant's key of ids.
        records: The group, whole.
        digest: Its digest.
        at: UTC microseconds now.
    """
    sources = "\x1e".join(sorted(record.id for record in records))
    content_hash = text_hash(digest.text)
    parts = ("digest", night.key, sources, content_hash)
    record = Record(
        id=memory_id(TIER, memory_key(secret, parts)),
        tier=TIER,
        content=digest.text,
        content_hash=content_hash,
        title=digest.title,
        key=night.key,
        owner=_shared(record.owner for record in records) or night.scope.user,
        recorded_at=at,
        updated_at=at,
        tags=digest.tags,
        project=_shared(record.project for record in records),
        agent=_shared(record.agent for record in records),
        session=_shared(record.session for record in records),
        origin="derived",
        event=When(digest.start, digest.end, _precision(records)),
    )
    return Told(tuple(records), digest, prepare(record))


def settle(night: Night, groups: Sequence[Told], woven: Iterable[Change], at: int) -> list[Change]:
    """Return what is written after the digests.

    Args:
        night: The run.
        groups: What was told.
        woven: What connects the digests (`Weaver.changes`). A digest is not joined with what it tells of.
        at: UTC microseconds before the sources were read: a source that is written later is told anew.
    """
    sources_of_all = {record.id for group in groups for record in group.records}
    edges: list[Edge] = []
    events: list[Event] = []
    for group in groups:
        digest, sources = group.memory.record, group.records
        edges += [
            Edge(digest.id, "derived_from", source, night.key, weight, at, rule=RULE, run=night.run)
            for source, weight in _shares(group).items()
        ]
        events.append(Event(digest.id, "derived", at, night.key, night.run, count=len(sources)))
    away = [(record.id, group.memory.record.id) for group in groups for record in group.away]
    own = [_apart(change, sources_of_all) for change in woven]
    return [*own, PutEdges(tuple(edges)), PutEvents(tuple(events)), *put_away(night, away, at)]


def put_away(night: Night, away: Sequence[tuple[str, str]], at: int) -> list[Change]:
    """Return what archives active memories, each for the digest that tells of it.

    Args:
        night: The run.
        away: Ids of the memories, each with its digest's.
        at: UTC microseconds.
    """
    if not away:
        return []
    events = (
        Event(memory, "archived", at, night.key, night.run, digest, before="active")
        for memory, digest in away
    )
    lives = {memory: Life(status="archived") for memory, _ in sorted(away)}
    return [PutLife(lives), PutEvents(tuple(events))]


def _apart(change: Change, sources: Collection[str]) -> Change:
    if not isinstance(change, PutEdges):
        return change
    edges = (edge for edge in change.edges if not (edge.kind == "similar" and edge.dst in sources))
    return replace(change, edges=tuple(edges))


def _shares(group: Told) -> dict[str, float]:
    """Return each source's share of the sentences; of one that several say, each has its part."""
    shares: Counter[str] = Counter({record.id: 0 for record in group.records})
    for sentence in group.digest.sentences:
        for source in sentence.sources:
            shares[source] += 1 / len(sentence.sources)  # type: ignore[assignment]
    count = len(group.digest.sentences)
    return {source: min(1.0, share / count) for source, share in shares.items()}


def _shared(values: Iterable[str | None]) -> str | None:
    """Return what all have, None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _precision(records: Sequence[Record]) -> str:
    known = [record.event.precision for record in records if record.event is not None]
    return max(known, key=_PRECISIONS.index, default="second")
