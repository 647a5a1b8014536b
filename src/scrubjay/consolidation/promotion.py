"""Promotion: what each rule reads, and the writes of what it promotes.

| tier | evidence | promoted per 1,000 memories of dev conversations |
| --- | --- | --- |
| semantic | one sentence, word for word, in two sources; nothing later changes it | 0 |
| facet | an active fact or lesson that states an attribute ("my X is Y") | .6 |
| procedural | three or more commands in the same order in two sessions, after similar requests | 0 |
| crystal | three digests of two sessions about one entity | .2 |
| insight | one entity in four sources over 14 days, but not in three quarters of all sources | 1.3 |

The id of a promoted memory is a keyed hash of its key, project, tier and title (of a fact, its text), so a later run
with other evidence replaces it. One that a person pinned, archived, forgot or reworded is left alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, TypeVar

from scrubjay.consolidation.context import (
    DIGEST_RULE,
    DIGEST_TIER,
    FACT_TIER,
    MEMORY_PAGE,
    RunContext,
    entities_of,
    persons_work,
    with_run,
)
from scrubjay.consolidation.digest import StaleDigest, source_times, with_given_fields
from scrubjay.consolidation.facets import FACET_TIERS, promote_facets
from scrubjay.consolidation.facts import (
    EMPTY_GIST,
    CorroboratedFacts,
    FactSupport,
    Gist,
    PromotedMemory,
    compute_gist,
    corroborate_facts,
    gist_fingerprint,
    is_expired,
    parse_gist,
    serialize_gist,
)
from scrubjay.consolidation.patterns import promote_crystals, promote_insights, promote_procedures
from scrubjay.facts.reconciliation import given_confidence, reconcile_facts
from scrubjay.frozen import frozen
from scrubjay.ingest.deletion import archived_by_hand
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.graph import EDITED_RULE, Edge, Entity
from scrubjay.models.ids import memory_id, memory_key, text_hash, tombstone_hashes
from scrubjay.models.lifecycle import CachedExtraction, Event, LifecycleChange
from scrubjay.models.records import NEVER_INJECT, STATUSES, Record, RecordFilter
from scrubjay.storage.changes import (
    Change,
    PreparedMemory,
    PutEdges,
    PutEvents,
    PutExtractions,
    PutLifecycle,
    RequireUnchanged,
)
from scrubjay.storage.interface import in_batches
from scrubjay.storage.scoring import mean_directions
from scrubjay.storage.validation import is_unchanged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PROMOTION_RULE: Final = "promoted"
"""Rule of the edges from a promoted memory to its sources."""
_OBSERVATIONS: Final = RecordFilter(tiers=("observation",), statuses=STATUSES)


def find_facts(ctx: RunContext) -> CorroboratedFacts:
    """Return the facts that several sources state."""
    known = list(_pages(ctx, RecordFilter(tiers=FACET_TIERS, statuses=STATUSES)))
    evidence: defaultdict[str, list[str]] = defaultdict(list)
    for batch in in_batches(known, MEMORY_PAGE):
        with ctx.reader() as reader:
            for edge in reader.edges([record.id for record in batch], ["derived_from"]):
                if edge.rule != EDITED_RULE:
                    evidence[edge.src].append(edge.dst)

    def read(ids: Collection[str]) -> Iterator[Record]:
        for batch in in_batches(sorted(ids), MEMORY_PAGE):
            with ctx.reader() as reader:
                records = reader.get(batch)
            yield from (record for record in records.values() if record.key == ctx.key)

    found = corroborate_facts(_observations(ctx), read, known, evidence)
    with ctx.reader() as reader:
        supported = reader.get([support.memory for support in found.supports])
        given = given_confidence(reader, list(supported.values()))
    supports = (
        replace(support, confidence=support.before) if support.memory in given else support
        for support in found.supports
    )
    # Where neither the evidence nor the confidence grows, there is nothing to write.
    written = tuple(
        support for support in supports if support.evidence or support.confidence > support.before
    )
    return replace(found, supports=written)


def find_facets(ctx: RunContext, secret: bytes) -> tuple[tuple[PromotedMemory, ...], list[StaleDigest]]:
    """Return the facets that hold, and the stored ones that hold no longer; facts must be written before.

    Stored ones that a person judged, changed, tagged or linked stay.
    """
    preview = ctx.preview
    facts = chain(_pages(ctx, RecordFilter(tiers=FACET_TIERS)), preview.facts)
    found = promote_facets(
        (record for record in facts if record.id not in preview.superseded),
        _pages(ctx, RecordFilter(tiers=("observation",), statuses=("active", "archived"))),
        ctx.now,
    )
    valid = {_memory_id(secret, facet) for facet in found}
    stored = {
        record.id: record
        for record in _pages(ctx, RecordFilter(tiers=("facet",)))
        if record.id not in valid and record.origin == "derived" and not record.pinned
    }
    with ctx.reader() as reader:
        evidence: defaultdict[str, list[str]] = defaultdict(list)
        for edge in reader.edges(list(stored), ["derived_from"]):
            evidence[edge.src].append(edge.dst)
        sources = reader.get(sorted(set(chain.from_iterable(evidence.values()))))
        judged = persons_work(reader, list(stored)).touched()
    # A facet whose sources were archived stays.
    outdated = [
        StaleDigest(stored[facet], ())
        for facet, own in evidence.items()
        if facet not in judged
        and all(source in sources and sources[source].status == "active" for source in own)
    ]
    return found, outdated


def find_patterns(ctx: RunContext) -> Iterator[PromotedMemory]:
    """Yield procedures, crystals and insights; facts and digests must be written before."""
    preview = ctx.preview

    def read_sessions(sessions: Collection[str]) -> Iterator[Record]:
        for batch in in_batches(sorted(sessions), MEMORY_PAGE):
            yield from _evidence(ctx, replace(_OBSERVATIONS, sessions=tuple(batch)))

    yield from promote_procedures(_observations(ctx), read_sessions)
    digests = [*_digests(ctx), *(memory.record for memory in preview.digests)]
    digests.sort(key=lambda record: record.id)
    references = entities_of(ctx, digests)
    for memory, entities in preview.references.items():
        references[memory] = [*dict.fromkeys((*references.get(memory, ()), *entities))]
    known = _entities(ctx, references)
    yield from promote_crystals(digests, _vectors(ctx, digests), references, known)
    yield from promote_insights(digests, references, known)


def _observations(ctx: RunContext) -> Iterator[tuple[Record, Gist]]:
    """Yield the observations that may be evidence with their gists, which are computed and stored where missing."""
    pages = _evidence(ctx, _OBSERVATIONS)
    while batch := list(islice(pages, MEMORY_PAGE)):
        fingerprints = {record.id: gist_fingerprint(record) for record in batch}
        with ctx.reader() as reader:
            stored = reader.extractions([memory for memory, own in fingerprints.items() if own])
        gists = {
            memory: parse_gist(extraction.data)
            for memory, extraction in stored.items()
            if extraction.mark == fingerprints[memory]
        }
        missing = [record for record in batch if fingerprints[record.id] and record.id not in gists]
        computed = {record.id: compute_gist(record) for record in missing}
        if computed and not ctx.dry_run:
            readings = (
                CachedExtraction(memory, fingerprints[memory], serialize_gist(gist))
                for memory, gist in computed.items()
            )
            ctx.store.write(ctx.scope, [PutExtractions(tuple(readings))])
        gists |= computed
        yield from ((record, gists.get(record.id, EMPTY_GIST)) for record in batch)


def _evidence(ctx: RunContext, where: RecordFilter) -> Iterator[Record]:
    """Yield the memories that may be evidence: those archived by a run too, but not by a person, and none expired."""
    pages = ctx.pages(where)
    while batch := list(islice(pages, MEMORY_PAGE)):
        with ctx.reader() as reader:
            by_hand = archived_by_hand(reader, batch)
        yield from (
            record for record in batch if record.id not in by_hand and not is_expired(record, ctx.now)
        )


def _pages(ctx: RunContext, where: RecordFilter) -> Iterator[Record]:
    return (record for record in ctx.pages(where) if record.id not in ctx.preview.withdrawn)


def _digests(ctx: RunContext) -> Iterator[Record]:
    """Yield the digests, without promoted crystals."""
    for batch in in_batches(list(_pages(ctx, RecordFilter(tiers=(DIGEST_TIER,)))), MEMORY_PAGE):
        with ctx.reader() as reader:
            edges = reader.edges([record.id for record in batch], ["derived_from"])
        digests = {edge.src for edge in edges if edge.rule == DIGEST_RULE}
        yield from (record for record in batch if record.id in digests)


def _vectors(ctx: RunContext, digests: Sequence[Record]) -> Mapping[str, NDArray[np.float32]]:
    vectors: dict[str, NDArray[np.float32]] = {}
    model = ctx.embedder.model
    for batch in in_batches(digests, MEMORY_PAGE):
        with ctx.reader() as reader:
            stored = reader.vectors(model.fingerprint, [record.id for record in batch])
        ids = sorted(stored)
        directions = mean_directions([stored[memory] for memory in ids], model.dimensions)
        vectors |= zip(ids, directions, strict=True)
    for memory in ctx.preview.digests:
        (vectors[memory.record.id],) = mean_directions([memory.vectors[model.fingerprint]], model.dimensions)
    return vectors


def _entities(ctx: RunContext, references: Mapping[str, Sequence[str]]) -> dict[str, Entity]:
    """Return entities by id, with the key's own names where it has some."""
    ids = sorted({entity for own in references.values() for entity in own})
    found = {entity: ctx.preview.entities[entity] for entity in ids if entity in ctx.preview.entities}
    for batch in in_batches(ids, MEMORY_PAGE):
        with ctx.reader() as reader:
            for row in reader.concepts(batch):
                if row.kind != "refused" and (row.id not in found or row.key == ctx.key):
                    found[row.id] = row
    return found


@frozen
class PromotionWrites:
    """Writes of one promotion stage.

    Attributes:
        memories: Memories that are new or changed, with their vectors.
        replaced: Ids of those of them that are stored already.
        unchanged: Refuses the write if these or their sources were changed meanwhile.
        sources: Id of a memory to the ids of its evidence.
    """

    memories: tuple[PreparedMemory, ...]
    replaced: tuple[str, ...]
    unchanged: RequireUnchanged
    after: tuple[Change, ...]
    sources: Mapping[str, tuple[str, ...]]


Candidate = TypeVar("Candidate", PromotedMemory, FactSupport)


def with_current_sources(ctx: RunContext, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates whose sources nobody has changed since they were read; the next run judges the others.

    A dry run keeps all, since what it would have written is not stored.
    """
    if ctx.dry_run:
        return list(candidates)
    ids = {source.id for candidate in candidates for source in candidate.sources}
    with ctx.reader() as reader:
        stored = reader.get(sorted(ids))
    return [
        candidate
        for candidate in candidates
        if all(is_unchanged(source, stored.get(source.id)) for source in candidate.sources)
    ]


def promotion_writes(
    ctx: RunContext, secret: bytes, candidates: Sequence[PromotedMemory], at: int
) -> PromotionWrites:
    """Return the writes of promoted memories.

    The candidates are of the run's key; ``at`` is a moment before their evidence was read.
    """
    current = with_current_sources(ctx, candidates)
    by_id = {_memory_id(secret, candidate): candidate for candidate in current}
    hashes = {
        memory: tombstone_hashes(secret, candidate.text, (ctx.key,)) for memory, candidate in by_id.items()
    }
    evidence: defaultdict[str, set[str]] = defaultdict(set)
    with ctx.reader() as reader:
        renewed = ctx.preview.withdrawn & by_id.keys()
        present = reader.get([memory for memory in by_id if not (ctx.dry_run and memory in renewed)])
        work = persons_work(reader, list(present))
        for edge in reader.edges(list(present), ["derived_from"]):
            evidence[edge.src].add(edge.dst)
        forgotten = reader.forgotten_hashes([value for own in hashes.values() for value in own])
    records = []
    for memory, candidate in by_id.items():
        old = present.get(memory)
        if old is not None and (old.status != "active" or old.pinned or old.origin != "derived"):
            continue
        record = _record(ctx, memory, candidate, old, at)
        if old is not None and work.changed(memory):
            record = with_given_fields(record, old)
        unchanged = record == old and evidence[memory] == {source for source, _ in candidate.evidence}
        unchanged = unchanged and memory not in renewed
        if not unchanged and forgotten.isdisjoint(hashes[memory]):
            records.append(replace(record, updated_at=at))
    memories = embed_memories(
        [prepare_memory(record) for record in records], [""] * len(records), ctx.embedder
    )
    facts = [memory for memory in memories if memory.record.tier == FACT_TIER]
    after: list[Change] = []
    if facts:
        others = [memory for memory in memories if memory.record.tier != FACT_TIER]
        new_facts, after = _reconcile(ctx, facts, by_id, at)
        memories = others + new_facts
    ids = [memory.record.id for memory in memories]
    replaced = tuple(memory for memory in ids if memory in present)
    if ids:
        read_at = source_times((source for memory in ids for source in by_id[memory].sources), at)
        edges = tuple(
            Edge(
                memory,
                "derived_from",
                source,
                ctx.key,
                share,
                read_at[source],
                rule=PROMOTION_RULE,
                run=ctx.run,
            )
            for memory in ids
            for source, share in by_id[memory].evidence
        )
        events = tuple(
            Event(memory, "derived", at, ctx.key, ctx.run, count=len(by_id[memory].evidence))
            for memory in ids
        )
        after += [PutEdges(edges, replaced, ("derived_from",)), PutEvents(events)]
    sources = {memory: tuple(source for source, _ in by_id[memory].evidence) for memory in ids}
    read = {source.id: source for memory in ids for source in by_id[memory].sources}
    stored = {memory: present.get(memory) for memory in ids}
    return PromotionWrites(
        tuple(memories), replaced, RequireUnchanged({**read, **stored}), tuple(after), sources
    )


def _memory_id(secret: bytes, promoted: PromotedMemory) -> str:
    name = promoted.text if promoted.tier == FACT_TIER else promoted.title
    return memory_id(
        promoted.tier,
        memory_key(secret, ("promoted", promoted.key, promoted.tier, promoted.project or "", name)),
    )


def _record(ctx: RunContext, memory: str, promoted: PromotedMemory, old: Record | None, at: int) -> Record:
    base = old or Record(
        memory, promoted.tier, "", "", "", promoted.key, ctx.scope.user, at, at, origin="derived"
    )
    return replace(
        base,
        content=promoted.text,
        content_hash=text_hash(promoted.text),
        title=promoted.title,
        tags=tuple(sorted({*promoted.tags, *(tag for tag in base.tags if tag == NEVER_INJECT)})),
        confidence=promoted.confidence,
        project=promoted.project,
        agent=promoted.agent,
        session=promoted.session,
        event=promoted.event,
        valid_until=promoted.valid_until,
    )


def _reconcile(
    ctx: RunContext, facts: Sequence[PreparedMemory], candidates: Mapping[str, PromotedMemory], at: int
) -> tuple[list[PreparedMemory], list[Change]]:
    """Reconcile new facts with the known ones; facts that are known already are left to `FactSupport`."""
    ids = {source for fact in facts for source, _ in candidates[fact.record.id].evidence}
    with ctx.reader() as reader:
        sources = reader.get(sorted(ids))
        evidence = {
            fact.record.id: [
                sources[source] for source, _ in candidates[fact.record.id].evidence if source in sources
            ]
            for fact in facts
        }
        while True:
            done = reconcile_facts(reader, ctx.embedder.model.fingerprint, facts, evidence, at)
            new = [fact for fact in facts if done.outcomes[fact.record.id].same is None]
            if len(new) == len(facts):
                return done.fresh, [with_run(change, ctx.run) for change in done.after]
            facts = new


def support_changes(ctx: RunContext, supports: Sequence[FactSupport], at: int) -> list[Change]:
    """Return the writes of further evidence of known facts."""
    edges = tuple(
        Edge(support.memory, "derived_from", source, ctx.key, share, at, rule=PROMOTION_RULE, run=ctx.run)
        for support in supports
        for source, share in support.evidence
    )
    events = tuple(
        Event(support.memory, "reinforced", at, ctx.key, ctx.run, before=repr(float(support.before)))
        for support in supports
    )
    confidences = {support.memory: LifecycleChange(confidence=support.confidence) for support in supports}
    read = {source.id: source for support in supports for source in support.sources}
    return [RequireUnchanged(read), PutEdges(edges), PutLifecycle(confidences), PutEvents(events)]
