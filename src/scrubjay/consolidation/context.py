"""Run context: scope, settings and dry-run preview of one consolidation run, and how it reads the store.

Only what selection and grouping need is kept of each observation: about 75 MB for 100,000.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.frozen import frozen
from scrubjay.ingest.deletion import ALL_EVENTS
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.models.graph import EDITED_RULE, Edge, Entity
from scrubjay.models.lifecycle import INJECTION_VERDICTS, Event
from scrubjay.models.records import Record, RecordFilter, Scope
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import Change, PreparedMemory, PutConcept, PutEdges, PutEvents
from scrubjay.storage.interface import Reader, Store, in_batches

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from scrubjay.consolidation.llm import ModelBudget
    from scrubjay.embeddings.base import Embedder

RULES_VERSION: Final = "3"
"""Version of the rules that select, group and summarise; stored with each run."""
UNREQUESTED_ARCHIVE_RULES: Final = frozenset(("1",))
"""Versions that archived the sources of digests, even notes, without an option that asked for it."""

DIGEST_TIER: Final = "crystal"
FACT_TIER: Final = "semantic"
DIGEST_RULE: Final = "digest"
"""Rule of the edges from a digest to its sources."""
TRANSCRIPTS: Final = "transcripts"
"""Archive option: turns and tool results."""
NOTES: Final = "notes"
"""Archive option: passages of daily notes."""
MEMORY_COUNT: Final = "memories"
"""Count of a run: memories of its key when it ended."""
MEMORY_PAGE: Final = 500
"""Memories read together: 1 MB of turns."""


def occurred_at(record: Record) -> int:
    """Return when a record happened, else when it was recorded; UTC microseconds."""
    return record.event.start if record.event is not None else record.recorded_at


def ended_at(record: Record) -> int:
    """Return when a record's event was over, else when it was recorded; UTC microseconds."""
    return record.event.end if record.event is not None else record.recorded_at


def chronological_key(record: Record) -> tuple[int, int, int, str]:
    """Return a sort key: time, place in the conversation and in the document, id."""
    ordinal = record.place.ordinal if record.place is not None else 0
    return (occurred_at(record), record.turn or 0, ordinal, record.id)


def common_value(values: Iterable[str | None]) -> str | None:
    """Return the value that all share, or None if they differ."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


PERSON_EVENTS: Final = frozenset(("changed", "useful", "wrong", "not-wrong", *INJECTION_VERDICTS))
"""Events by which a person changes or judges a memory."""
LINKS: Final = ("links", "derived_from", "supersedes", "contradicts")
"""Kinds of edges that a person may make."""


@frozen
class PersonsWork:
    """What persons did to some memories, by id.

    Attributes:
        events: Their changes and verdicts, newest first.
        links: The links they made from or to the memory.
    """

    events: Mapping[str, Sequence[Event]]
    links: Mapping[str, Sequence[Edge]]

    def touched(self) -> set[str]:
        return {*self.events, *self.links}

    def changed(self, memory: str) -> bool:
        return any(event.op == "changed" for event in self.events.get(memory, ()))


def persons_work(reader: Reader, ids: Sequence[str]) -> PersonsWork:
    events: defaultdict[str, list[Event]] = defaultdict(list)
    links: defaultdict[str, list[Edge]] = defaultdict(list)
    for batch in in_batches(ids, MEMORY_PAGE):
        for event in reader.events(batch, limit=ALL_EVENTS):
            if event.op in PERSON_EVENTS and event.run is None and event.other is None:
                events[event.memory].append(event)
        for edge in {*reader.edges(batch, LINKS), *reader.edges(batch, LINKS, inward=True)}:
            if edge.origin == "given" and edge.rule != EDITED_RULE:
                for end in {edge.src, edge.dst}.intersection(batch):
                    links[end].append(edge)
    return PersonsWork(events, links)


@dataclass(slots=True)
class DryRunState:
    """Writes that a dry run has skipped so far, for its later stages to read.

    Attributes:
        withdrawn: Ids of digests that it would have withdrawn; of a run, those that it withdraws at its end.
        digests: Digests that it would have written, with their vectors.
        superseded: Ids of facts that those would supersede.
        references: Memory id to the entities that it would reference.
        entities: Entities that it would have added, by id.
    """

    withdrawn: set[str] = field(default_factory=set)
    digests: list[PreparedMemory] = field(default_factory=list)
    facts: list[Record] = field(default_factory=list)
    superseded: set[str] = field(default_factory=set)
    references: dict[str, list[str]] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)

    def add(self, memories: Sequence[PreparedMemory], changes: Iterable[Change], *, digests: bool) -> None:
        """Record memories and the changes that would be written with them."""
        edges: list[Edge] = []
        for change in changes:
            if isinstance(change, PutConcept):
                self.entities[change.concept.id] = change.concept
            elif isinstance(change, PutEdges):
                edges += change.edges
        for edge in edges:
            if edge.kind == "references":
                self.references.setdefault(edge.src, []).append(edge.dst)
        if digests:
            self.digests += memories
        else:
            self.facts += [memory.record for memory in memories if memory.record.tier == FACT_TIER]
            self.superseded |= {edge.dst for edge in edges if edge.kind == "supersedes"}


@frozen
class RunContext:
    """One consolidation of the memories under one visibility key.

    Attributes:
        scope: Who consolidates and owns the writes.
        key: Visibility key; only its memories are read, and whoever sees it sees the digests.
        now: Time from which ages count, UTC microseconds.
        after_days: Age in days from which an observation is digested.
        archive: What is archived once it is digested: ``transcripts``, ``notes``, both or nothing.
        idle: Whether no memory was added or removed since the last run; then promotion is skipped
            unless this run writes something.
        fact_model: Language model that extracts facts, or None.
        digest_model: Language model that rewords digests, or None.
        began: Monotonic clock when the call began, in seconds.
    """

    store: Store
    scope: Scope
    key: str
    embedder: Embedder
    edges: EdgeBuilder
    run: str
    now: int
    after_days: int
    archive: frozenset[str] = frozenset()
    idle: bool = False
    dry_run: bool = False
    preview: DryRunState = field(default_factory=DryRunState)
    progress: Callable[[Progress], None] | None = None
    fact_model: ModelBudget | None = None
    digest_model: ModelBudget | None = None
    began: float = field(default_factory=time.monotonic)

    def reader(self) -> AbstractContextManager[Reader]:
        """Open a reader that sees what every viewer of the key sees, so that nothing private affects a digest."""
        return self.store.reader(self.scope.seen_with(self.key))

    def pages(self, where: RecordFilter) -> Iterator[Record]:
        """Yield the key's memories that pass a filter, in the order of their ids."""
        after = ""
        while True:
            with (
                self.reader() as reader
            ):  # one a page, since a long read would keep the store from cleaning up
                page = reader.page(after, MEMORY_PAGE, where)
            if not page:
                return
            after = page[-1].id
            yield from (record for record in page if record.key == self.key)

    def report(self, done: int, total: int) -> None:
        """Report how many groups are digested."""
        if self.progress is not None:
            self.progress(Progress("distil", done, total, time.monotonic() - self.began))


def gather_observations(ctx: RunContext, since: int, reactivated: Collection[str] = ()) -> Iterator[Record]:
    """Yield the key's observations without their texts: active or reactivated ones, and all that happened later."""
    yield from map(_without_text, ctx.pages(RecordFilter(tiers=("observation",))))
    closed = RecordFilter(tiers=("observation",), statuses=("archived", "superseded"), since=since)
    yield from map(_without_text, ctx.pages(closed))
    if reactivated:
        with ctx.reader() as reader:
            records = reader.get(sorted(reactivated))
        yield from (_without_text(replace(record, status="active")) for record in records.values())


def _without_text(record: Record) -> Record:
    return replace(
        record,
        content="",
        content_hash="",
        title=intern(record.title),
        key=intern(record.key),
        owner=intern(record.owner),
        session=None if record.session is None else intern(record.session),
    )


def entities_of(ctx: RunContext, records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the ids of the entities that each record references."""
    found: dict[str, list[str]] = {}
    for batch in in_batches(records, MEMORY_PAGE):
        with ctx.reader() as reader:
            for edge in reader.edges([record.id for record in batch], ["references"]):
                found.setdefault(edge.src, []).append(intern(edge.dst))
    return found


def with_run(change: Change, run: str) -> Change:
    """Return a change with the run's id on its edges and events."""
    if isinstance(change, PutEdges):
        return replace(change, edges=tuple(replace(edge, run=run) for edge in change.edges))
    if isinstance(change, PutEvents):
        return replace(change, events=tuple(replace(event, run=run) for event in change.events))
    return change
