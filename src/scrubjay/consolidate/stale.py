"""Stale: the digests of a key whose sources are no longer what they told of -> what takes them back.

A source was changed when it was written after the digest, or is active again although nothing but its digest's
run turned it; one that is gone, dropped or forgotten, took its edge along, and the digest's own event tells how
many there were. Such a digest goes, and what was archived for it is active again: the same night tells it anew. So
does one that earlier rules made, once nothing is archived for it: its sources are there to be told better. A pinned
digest stays: somebody holds on to it as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.consolidate.night import PAGE, RULE, RULES, Night
from scrubjay.ingest.turned import EVERY, turned, turning
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record, Where
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, DropMemory

_MADE: Final = Where(tiers=tuple(tier for tier in TIERS if tier != "observation"), statuses=STATUSES)


@dataclass(frozen=True, slots=True)
class Stale:
    """A digest that no longer tells what its sources say.

    Attributes:
        digest: Its id.
        freed: What is active again without it.
    """

    digest: str
    freed: tuple[Record, ...]


def stale(night: Night) -> Iterator[Stale]:
    """Yield the digests of the night's key that are to be taken back."""
    after = ""
    with night.store.reader(night.viewers) as reader:
        earlier = {run.id for run in reader.runs(EVERY) if run.rules != RULES}
    while True:
        with night.store.reader(night.viewers) as reader:
            page = reader.page(after, PAGE, _MADE)
            own = [one for one in page if one.key == night.key and _may_go(one)]
            found = list(_of(reader, own, earlier))
        yield from found
        if not page:
            return
        after = page[-1].id


def retaken(night: Night, found: Sequence[Stale], at: int) -> list[Change]:
    """Return what takes digests back and makes what they told of active again."""
    freed = {record.id: record for one in found for record in one.freed}
    back = turning(freed.values(), Life(status="active"), "restored", at, night.run)
    return [DropMemory(tuple(one.digest for one in found)), *back]


def grown(night: Night, digests: Sequence[str]) -> list[Stale]:
    """Return those of some digests that are told anew since their conversation went on; a pinned one is not."""
    with night.store.reader(night.viewers) as reader:
        held = {memory: one for memory, one in reader.get(digests).items() if _may_go(one)}
        found = []
        for memory in held:
            edges = [edge.dst for edge in reader.edges([memory], ["derived_from"]) if edge.rule == RULE]
            found.append(Stale(memory, _archived(reader, memory, reader.get(edges))))
    return found


def _may_go(record: Record) -> bool:
    return record.origin == "derived" and not record.pinned


def _of(reader: Reader, digests: Sequence[Record], earlier: Collection[str]) -> Iterator[Stale]:
    ids = [digest.id for digest in digests]
    facets = {digest.id for digest in digests if digest.tier == "facet"}
    made: dict[str, Event] = {}
    for event in reader.events(ids, limit=EVERY):
        if event.op == "derived" and event.run is not None:
            made.setdefault(event.memory, event)
    edges: dict[str, list[Edge]] = {memory: [] for memory in made}
    for edge in reader.edges(list(made), ["derived_from"]):
        if edge.run == made[edge.src].run:  # not what a person joined it with
            edges[edge.src].append(edge)
    for digest, own in edges.items():
        sources = reader.get([edge.dst for edge in own])
        # A facet of a superseded value is drawn anew from what holds now; insights may rest on what changed.
        outdated = digest in facets and any(one.status == "superseded" for one in sources.values())
        if len(own) < made[digest].count or outdated or _changed(reader, own, sources):
            yield Stale(digest, _archived(reader, digest, sources))
        elif (
            made[digest].run in earlier
            and any(edge.rule == RULE for edge in own)
            and not _archived(reader, digest, sources)
        ):
            yield Stale(digest, ())


def _changed(reader: Reader, edges: Sequence[Edge], sources: dict[str, Record]) -> bool:
    if any(sources[edge.dst].updated_at > edge.at for edge in edges):
        return True
    active = [memory for memory, record in sources.items() if record.status == "active"]
    # Nobody restored it, and yet it is active: its text is another. This holds whatever the clock did.
    return any(event.op == "archived" for event in turned(reader, active).values())


def _archived(reader: Reader, digest: str, sources: dict[str, Record]) -> tuple[Record, ...]:
    """Return those of a digest's sources that were archived with it, and left so since."""
    held = [memory for memory, record in sources.items() if record.status == "archived"]
    last = turned(reader, held)
    return tuple(
        sources[memory]
        for memory in held
        if memory in last and last[memory].op == "archived" and last[memory].other == digest
    )
