"""Promotion: the rule of each tier, and the writes of what it promotes.

| tier | evidence | fired per 1,000 memories of dev conversations |
| --- | --- | --- |
| semantic | one sentence, word for word, in two sources; nothing later changes it | 0 |
| facet | an active fact or lesson that states an attribute ("my X is Y") | .6 |
| procedural | three or more commands in the same order in two sessions, after similar requests | 0 |
| crystal | three digests of two sessions about one concept | .2 |
| insight | one concept in four sources over 14 days, but not in three quarters of all sources | 1.3 |

Observations come page by page with their cached gist (`candidates`); whole texts are read only where several sources
share something. In memory are the known facts and lessons, and the digests: of 100,000 observations about 10,000
digests, 30 MB.

The id of a promoted memory is a keyed hash of its key, project, tier and title (of a fact, its text). A later run that
finds another text or other evidence replaces it under its id. What a person pinned, archived, forgot or reworded is
left alone. A fact is reconciled with the known facts like any other statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from scrubjay.consolidation.candidates import (
    EMPTY_GIST,
    Gist,
    PromotedMemory,
    compute_gist,
    gist_fingerprint,
    parse_gist,
    serialize_gist,
)
from scrubjay.consolidation.context import (
    DIGEST_RULE,
    DIGEST_TIER,
    MEMORY_PAGE,
    RunContext,
    entities_of,
    memory_pages,
)
from scrubjay.consolidation.facts import (
    FACET_TIERS,
    CorroboratedFacts,
    FactSupport,
    corroborate_facts,
    promote_facets,
)
from scrubjay.consolidation.patterns import promote_crystals, promote_insights, promote_procedures
from scrubjay.facts.reconciliation import reconcile_facts
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.graph import EDITED_RULE, Edge, Entity
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
from scrubjay.models.lifecycle import CachedExtraction, Event, LifecycleChange
from scrubjay.models.records import STATUSES, Record, RecordFilter
from scrubjay.storage.changes import Change, PreparedMemory, PutEdges, PutEvents, PutExtractions, PutLifecycle
from scrubjay.storage.interface import Reader
from scrubjay.storage.scoring import mean_directions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


OBSERVATION_FILTER: Final = RecordFilter(tiers=("observation",), statuses=STATUSES)
"""Whatever was observed, told of in a digest or not."""


def observations_with_gists(night: RunContext) -> Iterator[tuple[Record, Gist]]:
    """Yield every observation of the night's key with its gist; a dry run keeps nothing."""
    rest = memory_pages(night.store, night.viewers, night.key, OBSERVATION_FILTER)
    while batch := list(islice(rest, MEMORY_PAGE)):
        marks = {record.id: gist_fingerprint(record) for record in batch}
        gists, fresh = _gists(night, batch, marks)
        if fresh and not night.dry_run:
            readings = (
                CachedExtraction(memory, marks[memory], serialize_gist(one)) for memory, one in fresh.items()
            )
            night.store.write(night.scope, [PutExtractions(tuple(readings))])
        yield from ((record, gists.get(record.id, EMPTY_GIST)) for record in batch)


def _gists(
    night: RunContext, batch: Sequence[Record], marks: dict[str, str]
) -> tuple[dict[str, Gist], dict[str, Gist]]:
    """Return the gists of records that have one, and those of them that are not kept yet."""
    with night.store.reader(night.viewers) as reader:
        held = reader.extractions([memory for memory, own in marks.items() if own])
    known = {memory: parse_gist(one.data) for memory, one in held.items() if one.mark == marks[memory]}
    fresh = {
        record.id: compute_gist(record) for record in batch if marks[record.id] and record.id not in known
    }
    return known | fresh, fresh


_KNOWN: Final = RecordFilter(tiers=FACET_TIERS, statuses=STATUSES)
_DIGESTS: Final = RecordFilter(tiers=(DIGEST_TIER,))


def corroborated_facts(night: RunContext) -> CorroboratedFacts:
    """Return the facts that several sources bear out."""
    known = _all(night, _KNOWN)
    evidence = _evidence_of(night, known)
    return corroborate_facts(observations_with_gists(night), partial(_whole, night), known, evidence)


def promoted_patterns(night: RunContext) -> Iterator[PromotedMemory]:
    """Yield facets, procedures, crystals and insights, once the facts are written."""
    facts = chain(_pages(night, RecordFilter(tiers=FACET_TIERS)), night.foreseen.facts)
    yield from promote_facets(record for record in facts if record.id not in night.foreseen.superseded)
    yield from promote_procedures(observations_with_gists(night), partial(_of_sessions, night))
    digests = [*_digests(night), *(one.record for one in night.foreseen.digests)]
    digests.sort(key=lambda record: record.id)
    references = {**entities_of(night.store, night.viewers, digests)}
    for memory, concepts in night.foreseen.references.items():
        references[memory] = [*dict.fromkeys((*references.get(memory, ()), *concepts))]
    known_by = _entities(night, references)
    yield from promote_crystals(digests, _vectors(night, digests), references, known_by)
    yield from promote_insights(digests, references, known_by)


def _pages(night: RunContext, where: RecordFilter) -> Iterator[Record]:
    return _there(night, memory_pages(night.store, night.viewers, night.key, where))


def _there(night: RunContext, records: Iterable[Record]) -> Iterator[Record]:
    own = (record for record in records if record.key == night.key)
    return (record for record in own if record.id not in night.foreseen.gone)


def _whole(night: RunContext, ids: Collection[str]) -> Iterator[Record]:
    wanted = sorted(ids)
    for first in range(0, len(wanted), MEMORY_PAGE):
        with night.store.reader(night.viewers) as reader:
            held = reader.get(wanted[first : first + MEMORY_PAGE])
        yield from _there(night, held.values())


def _of_sessions(night: RunContext, sessions: Collection[str]) -> Iterator[Record]:
    wanted = sorted(sessions)
    for first in range(0, len(wanted), MEMORY_PAGE):
        yield from _pages(
            night, replace(OBSERVATION_FILTER, sessions=tuple(wanted[first : first + MEMORY_PAGE]))
        )


def _all(night: RunContext, where: RecordFilter) -> list[Record]:
    return list(_pages(night, where))


def _evidence_of(night: RunContext, records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the ids of what each memory is derived from."""
    found: dict[str, list[str]] = {}
    for batch in _batches(records):
        with night.store.reader(night.viewers) as reader:
            for edge in reader.edges([record.id for record in batch], ["derived_from"]):
                if edge.rule != EDITED_RULE:
                    found.setdefault(edge.src, []).append(edge.dst)
    return found


def _digests(night: RunContext) -> list[Record]:
    """Return the digests, not the crystals that were made from them."""
    found: list[Record] = []
    for batch in _batches(_all(night, _DIGESTS)):
        with night.store.reader(night.viewers) as reader:
            edges = reader.edges([record.id for record in batch], ["derived_from"])
        told = {edge.src for edge in edges if edge.rule == DIGEST_RULE}
        found += [record for record in batch if record.id in told]
    return found


def _batches(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    for first in range(0, len(records), MEMORY_PAGE):
        yield records[first : first + MEMORY_PAGE]


def _vectors(night: RunContext, digests: Sequence[Record]) -> Mapping[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    model = night.base.model
    for batch in _batches(digests):
        with night.store.reader(night.viewers) as reader:
            held = reader.vectors(model.fingerprint, [record.id for record in batch])
        ids = sorted(held)
        found |= zip(ids, mean_directions([held[one] for one in ids], model.dimensions), strict=True)
    for one in night.foreseen.digests:
        (found[one.record.id],) = mean_directions([one.vectors[model.fingerprint]], model.dimensions)
    return found


def _entities(night: RunContext, references: Mapping[str, Sequence[str]]) -> Mapping[str, Entity]:
    """Return entities by id, as the key names them, else as anyone who sees the key does."""
    ids = sorted({concept for own in references.values() for concept in own})
    found = {one: night.foreseen.concepts[one] for one in ids if one in night.foreseen.concepts}
    for first in range(0, len(ids), MEMORY_PAGE):
        with night.store.reader(night.viewers) as reader:
            for row in reader.concepts(ids[first : first + MEMORY_PAGE]):
                if row.kind != "refused" and (row.id not in found or row.key == night.key):
                    found[row.id] = row
    return found


PROMOTION_RULE: Final = "promoted"
"""Tells the edges of what is promoted."""
FACT_TIER: Final = "semantic"
_SAME: Final = ("content", "title", "tags", "confidence", "project", "agent", "session", "event")
"""What of a memory its sources decide."""


@dataclass(frozen=True, slots=True)
class PendingWrites:
    """What is to be written.

    Attributes:
        fresh: Memories that are new or differ, with their vectors.
        renewed: Ids of those of them that are there already.
        after: Changes to write after them.
        sources: Id of a memory to the ids of what it rests on.
    """

    fresh: tuple[PreparedMemory, ...]
    renewed: tuple[str, ...]
    after: tuple[Change, ...]
    sources: Mapping[str, tuple[str, ...]]


def promotion_writes(
    night: RunContext, secret: bytes, drawn: Iterable[PromotedMemory], at: int
) -> PendingWrites:
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
        marks = {memory: tombstone_hashes(secret, one.text, (night.key,)) for memory, one in found.items()}
        gone = reader.forgotten_hashes([mark for own in marks.values() for mark in own])
    records = {}
    for memory, one in found.items():
        record = _record(night, memory, one, present.get(memory), at)
        same = memory in present and _equal(present[memory], record, one, before.get(memory, set()))
        if record is not None and not same and gone.isdisjoint(marks[memory]):
            records[memory] = record
    fresh = embed_memories(
        [prepare_memory(record) for record in records.values()], [""] * len(records), night.base
    )
    return _settled(night, fresh, {memory: found[memory] for memory in records}, present, at)


def support_changes(night: RunContext, supports: Sequence[FactSupport], at: int) -> list[Change]:
    """Return what is written of known facts that more sources bear out."""
    if not supports:
        return []
    edges = tuple(
        Edge(one.memory, "derived_from", source, night.key, share, at, rule=PROMOTION_RULE, run=night.run)
        for one in supports
        for source, share in one.evidence
    )
    events = tuple(
        Event(one.memory, "reinforced", at, night.key, night.run, before=repr(float(one.before)))
        for one in supports
    )
    lives = {one.memory: LifecycleChange(confidence=one.confidence) for one in supports}
    return [PutEdges(edges), PutLifecycle(lives), PutEvents(events)]


def _id(secret: bytes, one: PromotedMemory) -> str:
    name = one.text if one.tier == FACT_TIER else one.title
    return memory_id(one.tier, memory_key(secret, ("promoted", one.key, one.tier, one.project or "", name)))


def _record(
    night: RunContext, memory: str, one: PromotedMemory, old: Record | None, at: int
) -> Record | None:
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


def _equal(old: Record, new: Record | None, one: PromotedMemory, evidence: set[str]) -> bool:
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
    night: RunContext,
    fresh: Sequence[PreparedMemory],
    drawn: Mapping[str, PromotedMemory],
    present: Mapping[str, Record],
    at: int,
) -> PendingWrites:
    after: list[Change] = []
    facts = [memory for memory in fresh if memory.record.tier == FACT_TIER]
    if facts:
        kept, after = _revised(night, facts, drawn, at)
        fresh = [memory for memory in fresh if memory.record.tier != FACT_TIER] + kept
    ids = [memory.record.id for memory in fresh]
    renewed = tuple(memory for memory in ids if memory in present)
    edges = tuple(
        Edge(memory, "derived_from", source, night.key, share, at, rule=PROMOTION_RULE, run=night.run)
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
    return PendingWrites(tuple(fresh), renewed, tuple(after), sources)


def _revised(
    night: RunContext, facts: Sequence[PreparedMemory], drawn: Mapping[str, PromotedMemory], at: int
) -> tuple[list[PreparedMemory], list[Change]]:
    """Settle facts with what is known, without those that say nothing new.

    What bears out a known fact is told apart (`FactSupport`), so that a night which finds the same again
    writes nothing.
    """
    said = {source for fact in facts for source, _ in drawn[fact.record.id].evidence}
    with night.store.reader(night.viewers) as reader:
        held = reader.get(sorted(said))
        evidence = {
            fact.record.id: [held[source] for source, _ in drawn[fact.record.id].evidence if source in held]
            for fact in facts
        }
        while True:
            done = reconcile_facts(reader, night.base.model.fingerprint, facts, evidence, at)
            new = [one for one in facts if done.outcomes[one.record.id].same is None]
            if len(new) == len(facts):
                return done.fresh, [with_run(change, night.run) for change in done.after]
            facts = new


def with_run(change: Change, run: str) -> Change:
    """Return a change with what it makes in the name of a run."""
    if isinstance(change, PutEdges):
        return replace(change, edges=tuple(replace(edge, run=run) for edge in change.edges))
    if isinstance(change, PutEvents):
        return replace(change, events=tuple(replace(event, run=run) for event in change.events))
    return change
