"""Keep: what is drawn -> what is written of it: what is new or differs from what an earlier night drew.

A drawn memory is known again by its key, project, tier and title (a fact by its text), so its id is a keyed hash
of them. What was drawn before and says something else now, or rests on something else, is replaced under its id;
whatever somebody made of it meanwhile (strength, use) stays, and what somebody pinned, archived, forgot or put in
other words is left alone. A fact is settled with the facts that are known, as any other statement is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.consolidate.night import Night
from scrubjay.consolidate.promote.drawn import Drawn
from scrubjay.consolidate.promote.semantic import Support
from scrubjay.ingest.embed import embed
from scrubjay.ingest.naming import prepare
from scrubjay.ingest.revise import revise
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import memory_id, memory_key, text_hash, tombstones
from scrubjay.memory.life import Life
from scrubjay.memory.records import Record
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, Prepared, PutEdges, PutEvents, PutLife

RULE: Final = "promoted"
"""Tells the edges of what is promoted."""
FACT: Final = "semantic"
_SAME: Final = ("content", "title", "tags", "confidence", "project", "agent", "session", "event")
"""What of a memory its sources decide."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is to be written.

    Attributes:
        fresh: Memories that are new or differ, with their vectors.
        renewed: Ids of those of them that are there already.
        after: Changes to write after them.
        sources: Id of a memory to the ids of what it rests on.
    """

    fresh: tuple[Prepared, ...]
    renewed: tuple[str, ...]
    after: tuple[Change, ...]
    sources: Mapping[str, tuple[str, ...]]


def keep(night: Night, secret: bytes, drawn: Iterable[Drawn], at: int) -> Kept:
    """Return what is written of what is drawn, all of it of the night's key.

    Args:
        night: The run.
        secret: The tenant's key of ids.
        drawn: Facts alone, or no fact.
        at: UTC microseconds before what they rest on was read.
    """
    found = {_id(secret, one): one for one in drawn}
    with night.store.reader(night.viewers) as reader:
        present = reader.get([memory for memory in found if memory not in night.foreseen.gone])
        before = _evidence(reader, list(present))
        marks = {memory: tombstones(secret, one.text, (night.key,)) for memory, one in found.items()}
        gone = reader.forgotten([mark for own in marks.values() for mark in own])
    records = {}
    for memory, one in found.items():
        record = _record(night, memory, one, present.get(memory), at)
        same = memory in present and _equal(present[memory], record, one, before.get(memory, set()))
        if record is not None and not same and gone.isdisjoint(marks[memory]):
            records[memory] = record
    fresh = embed([prepare(record) for record in records.values()], [""] * len(records), night.base)
    return _settled(night, fresh, {memory: found[memory] for memory in records}, present, at)


def supported(night: Night, supports: Sequence[Support], at: int) -> list[Change]:
    """Return what is written of known facts that more sources bear out."""
    if not supports:
        return []
    edges = tuple(
        Edge(one.memory, "derived_from", source, night.key, share, at, rule=RULE, run=night.run)
        for one in supports
        for source, share in one.evidence
    )
    events = tuple(
        Event(one.memory, "reinforced", at, night.key, night.run, before=repr(float(one.before)))
        for one in supports
    )
    lives = {one.memory: Life(confidence=one.confidence) for one in supports}
    return [PutEdges(edges), PutLife(lives), PutEvents(events)]


def _id(secret: bytes, one: Drawn) -> str:
    name = one.text if one.tier == FACT else one.title
    return memory_id(one.tier, memory_key(secret, ("promoted", one.key, one.tier, one.project or "", name)))


def _record(night: Night, memory: str, one: Drawn, old: Record | None, at: int) -> Record | None:
    """Return a drawn memory, or None where an earlier one of its id is not to be touched."""
    if old is not None and (old.status != "active" or old.pinned or old.origin != "derived"):
        return None
    base = old or Record(memory, one.tier, "", "", "", one.key, night.scope.user, at, at, origin="derived")
    return replace(
        base,
        content=one.text,
        content_hash=text_hash(one.text),
        title=one.title,
        tags=one.tags,
        confidence=one.confidence,
        project=one.project,
        agent=one.agent,
        session=one.session,
        event=one.event,
        updated_at=at,
    )


def _equal(old: Record, new: Record | None, one: Drawn, evidence: set[str]) -> bool:
    if new is None:
        return True
    same = all(getattr(old, name) == getattr(new, name) for name in _SAME)
    return same and evidence == {memory for memory, _ in one.evidence}


def _evidence(reader: Reader, ids: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for edge in reader.edges(ids, ["derived_from"]):
        found.setdefault(edge.src, set()).add(edge.dst)
    return found


def _settled(
    night: Night,
    fresh: Sequence[Prepared],
    drawn: Mapping[str, Drawn],
    present: Mapping[str, Record],
    at: int,
) -> Kept:
    after: list[Change] = []
    facts = [memory for memory in fresh if memory.record.tier == FACT]
    if facts:
        kept, after = _revised(night, facts, drawn, at)
        fresh = [memory for memory in fresh if memory.record.tier != FACT] + kept
    ids = [memory.record.id for memory in fresh]
    renewed = tuple(memory for memory in ids if memory in present)
    edges = tuple(
        Edge(memory, "derived_from", source, night.key, share, at, rule=RULE, run=night.run)
        for memory in ids
        for source, share in drawn[memory].evidence
    )
    events = tuple(
        Event(memory, "derived", at, night.key, night.run, count=len(drawn[memory].evidence))
        for memory in ids
    )
    if ids:
        after = [*after, PutEdges(edges, renewed, ("derived_from",)), PutEvents(events)]
    sources = {memory: tuple(source for source, _ in drawn[memory].evidence) for memory in ids}
    return Kept(tuple(fresh), renewed, tuple(after), sources)


def _revised(
    night: Night, facts: Sequence[Prepared], drawn: Mapping[str, Drawn], at: int
) -> tuple[list[Prepared], list[Change]]:
    """Settle facts with what is known, without those that say nothing new.

    What bears out a known fact is told apart (`Support`), so that a night which finds the same again writes nothing.
    """
    said = {source for fact in facts for source, _ in drawn[fact.record.id].evidence}
    with night.store.reader(night.viewers) as reader:
        held = reader.get(sorted(said))
        evidence = {
            fact.record.id: [held[source] for source, _ in drawn[fact.record.id].evidence if source in held]
            for fact in facts
        }
        while True:
            done = revise(reader, night.base.model.fingerprint, facts, evidence, at)
            new = [one for one in facts if done.outcomes[one.record.id].same is None]
            if len(new) == len(facts):
                return done.fresh, [of_the_run(change, night.run) for change in done.after]
            facts = new


def of_the_run(change: Change, run: str) -> Change:
    """Return a change with what it makes in the name of a run."""
    if isinstance(change, PutEdges):
        return replace(change, edges=tuple(replace(edge, run=run) for edge in change.edges))
    if isinstance(change, PutEvents):
        return replace(change, events=tuple(replace(event, run=run) for event in change.events))
    return change
