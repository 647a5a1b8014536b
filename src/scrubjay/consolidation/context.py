"""Run context: scope, inputs, language-model budget and dry-run preview of one consolidation.

A slow or failing language model delays a run by at most the deadline of each answer; after `MAX_FAILURES` in a row it
is not asked again, and the report says so. Of each observation only what selection and grouping need is kept in
memory: about 75 MB for 100,000.

A memory that a person restored is not archived again until its text changes. A dry run promotes from the digests and
facts that the run would have written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError
from scrubjay.ingest.deletion import ALL_EVENTS, STATUS_BATCH
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.records import Record, RecordFilter, Scope
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import Change, PreparedMemory, PutConcept, PutEdges
from scrubjay.storage.interface import Store

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder
    from scrubjay.llm.client import LanguageModel


def occurred_at(record: Record) -> int:
    """Return when a record happened, else when it was recorded; UTC microseconds."""
    return record.event.start if record.event is not None else record.recorded_at


def ended_at(record: Record) -> int:
    """Return when it was over: of a day's note the end of the day, of a moment the moment."""
    return record.event.end if record.event is not None else record.recorded_at


def chronological_key(record: Record) -> tuple[int, int, int, str]:
    """Return what sorts records by time, then place in their conversation and document, then id."""
    ordinal = record.place.ordinal if record.place is not None else 0
    return (occurred_at(record), record.turn or 0, ordinal, record.id)


MAX_FAILURES: Final = 3
"""Failures in a row after which a model is not asked again."""
MAX_ANSWER_BYTES: Final = 1 << 20
"""Bytes of an answer: a hundred times what was asked for."""


class ModelBudget:
    """One run's dealings with a language model."""

    def __init__(
        self, model: LanguageModel, deadline: float, requests: int, announce: Callable[[str], None]
    ) -> None:
        """Ask nothing yet.

        Args:
            model: The model.
            deadline: Seconds for one request, its tries included.
            requests: Most requests.
            announce: Told once, before anything is sent, where what goes.
        """
        self._model = model
        self._deadline = deadline
        self._left = requests
        self._announce: Callable[[str], None] | None = announce
        self._row = 0
        self._failures = 0
        self._trouble = ""

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def open(self) -> bool:
        """Whether it may be asked again."""
        return self._left > 0 and self._row < MAX_FAILURES

    def ask(self, task: str, request: str, what: str) -> str | None:
        """Return the model's answer; None where it gave none or is not asked any more.

        Args:
            task: What it is to do.
            request: What it is to do it with, scrubbed.
            what: What the request holds, for the announcement, such as ``12 turns``.
        """
        if not self.open:
            return None
        if self._announce is not None:
            self._announce(
                f"Sending {what} ({len(request):,} characters) to {self._model.host} to be read by {self.name}; "
                "later ones go there too."
            )
            self._announce = None
        self._left -= 1
        try:
            return self._model.complete(task, request, deadline=self._deadline, max_bytes=MAX_ANSWER_BYTES)
        except ProviderError as exc:
            self.failed(str(exc).partition(". ")[0])
            return None

    def made_sense(self) -> None:
        """Note that an answer was of the form that was asked for."""
        self._row = 0

    def failed(self, why: str) -> None:
        """Note that an answer was of no use."""
        self._row += 1
        self._failures += 1
        self._trouble = why

    @property
    def partial(self) -> tuple[str, ...]:
        """What the run had to do without, each in one line; nothing where all went well."""
        spent = f"{self.name} was asked as often as one run may ([llm] requests); the next goes on."
        asked = () if self._left else (spent,)
        if not self._failures:
            return asked
        times = "once" if self._failures == 1 else f"{self._failures} times"
        off = " and was not asked again" if self._row >= MAX_FAILURES else ""
        return (f"{self.name} failed {times}{off}: {self._trouble}. What the rules found stands.", *asked)


RULES_VERSION: Final = "2"
"""Version of the rules by which memories are chosen, grouped and told; kept with each run."""
UNREQUESTED_ARCHIVE_RULES: Final = frozenset(("1",))
"""Versions of rules that archived, notes too, although nobody had asked for it."""

DIGEST_TIER: Final = "crystal"
"""Tier of a digest."""
DIGEST_RULE: Final = "digest"
"""Tells the edges of a digest from those of what else is derived."""
TRANSCRIPTS: Final = "transcripts"
"""Turns and tool results, as what may be archived."""
NOTES: Final = "notes"
"""Passages of daily notes, as what may be archived."""
MEMORY_COUNT: Final = "memories"
"""Name under which a run keeps how many memories its key held in the end."""
MEMORY_PAGE: Final = 500
"""Memories that are read together: 1 MB of turns."""


@dataclass(slots=True)
class DryRunState:
    """What a night that writes nothing would have written so far, for its later stages to read.

    Attributes:
        gone: Ids of digests that it would have taken back.
        digests: Digests that it would have made, with their vectors.
        facts: Facts that it would have made.
        superseded: Ids of the facts that those would have superseded.
        references: Id of a memory to the concepts that it would have been linked with.
        concepts: Concepts that it would have found, by id.
    """

    gone: set[str] = field(default_factory=set)
    digests: list[PreparedMemory] = field(default_factory=list)
    facts: list[Record] = field(default_factory=list)
    superseded: set[str] = field(default_factory=set)
    references: dict[str, list[str]] = field(default_factory=dict)
    concepts: dict[str, Entity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunContext:
    """One consolidation of what one visibility key holds.

    Attributes:
        store: Where.
        scope: Who consolidates; writes are theirs.
        key: The visibility key: nothing else is told of, and the digests are seen by whoever sees it.
        base: The base model, whose vectors a digest gets at once.
        weaver: Connects what is written.
        run: Id of the run.
        now: To which everything has its age, UTC microseconds.
        after_days: Days after which an observation is old.
        idle: Whether nothing came or went since the last night: unless this one writes something, nothing is promoted.
        archive: What is archived once a digest tells of it: ``transcripts``, ``notes``, both or, by default, nothing.
        dry_run: Whether nothing is written.
        foreseen: What it would have written so far, where nothing is.
        progress: Told how far it is.
        facts: A language model that is asked for facts, or None.
        digests: The one that is asked to reword digests, or None.
        began: When the call began, by the monotonic clock.
    """

    store: Store
    scope: Scope
    key: str
    base: Embedder
    weaver: EdgeBuilder
    run: str
    now: int
    after_days: int
    archive: frozenset[str] = frozenset()
    idle: bool = False
    dry_run: bool = False
    foreseen: DryRunState = field(default_factory=DryRunState)
    progress: Callable[[Progress], None] | None = None
    facts: ModelBudget | None = None
    digests: ModelBudget | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def viewers(self) -> Scope:
        """Whoever sees the key: it is read with their eyes, so nothing private moves what others see."""
        return self.scope.seen_with(self.key)

    def report(self, done: int, total: int) -> None:
        """Tell how many groups are done."""
        if self.progress is not None:
            self.progress(Progress("distil", done, total, time.monotonic() - self.began))


GATHERED_TIERS: Final = ("observation",)


def gather_observations(
    store: Store, viewers: Scope, key: str, since: int, freed: Collection[str] = ()
) -> Iterator[Record]:
    """Yield observations of a key: the active, and of the rest those that happened later than a moment.

    Args:
        store: Where.
        viewers: Whoever sees the key.
        key: The key.
        since: UTC microseconds before any moment that keeps a conversation open.
        freed: Archived ones that are taken for active.
    """
    closed = RecordFilter(tiers=GATHERED_TIERS, statuses=("archived", "superseded"), since=since)
    for where in (RecordFilter(tiers=GATHERED_TIERS), closed):
        yield from map(_slim, memory_pages(store, viewers, key, where))
    if freed:
        with store.reader(viewers) as reader:
            held = reader.get(sorted(freed))
        yield from (_slim(replace(record, status="active")) for record in held.values())


def memory_pages(store: Store, viewers: Scope, key: str, where: RecordFilter) -> Iterator[Record]:
    """Yield the memories of a key that pass a filter, whole, a page of them at a time."""
    after = ""
    while True:
        with store.reader(viewers) as reader:  # one a page: no view of a store outlives a query
            page = reader.page(after, MEMORY_PAGE, where)
        if not page:
            return
        after = page[-1].id
        yield from (record for record in page if record.key == key)


def _slim(record: Record) -> Record:
    """Return a record without its texts, and with one copy of what many records share."""
    return replace(
        record,
        content="",
        content_hash="",
        abstract=None,
        overview=None,
        title=intern(record.title),
        key=intern(record.key),
        owner=intern(record.owner),
        session=None if record.session is None else intern(record.session),
    )


def entities_of(store: Store, viewers: Scope, records: Sequence[Record]) -> Mapping[str, Sequence[str]]:
    """Return the ids of the concepts that each record refers to, as whoever sees its key sees it."""
    found: dict[str, list[str]] = {}
    for first in range(0, len(records), MEMORY_PAGE):
        ids = [record.id for record in records[first : first + MEMORY_PAGE]]
        with store.reader(viewers) as reader:
            for edge in reader.edges(ids, ["references"]):
                found.setdefault(edge.src, []).append(intern(edge.dst))
    return found


def archivable_records(night: RunContext, records: Sequence[Record]) -> list[Record]:
    """Return the records that may be archived."""
    kept: list[Record] = []
    for first in range(0, len(records), STATUS_BATCH):
        batch = records[first : first + STATUS_BATCH]
        restored = _restored_by_hand(night, batch)
        kept += [record for record in batch if record.id not in restored]
    return kept


def _restored_by_hand(night: RunContext, batch: Sequence[Record]) -> set[str]:
    with night.store.reader(night.viewers) as reader:
        events = reader.events([record.id for record in batch], limit=ALL_EVENTS)
    at = {
        event.memory: event.at for event in reversed(events) if event.op == "restored" and event.run is None
    }
    return {record.id for record in batch if record.id in at and record.updated_at <= at[record.id]}


FACT_TIER: Final = "semantic"


def preview_writes(
    night: RunContext, fresh: Sequence[PreparedMemory], changes: Iterable[Change], *, told: bool
) -> None:
    """Remember memories that would be written, and what would connect them.

    Args:
        night: The run, which writes nothing.
        fresh: The memories.
        changes: What would be written with them.
        told: Whether they are digests, not what is promoted.
    """
    foreseen = night.foreseen
    edges: list[Edge] = []
    for change in changes:
        if isinstance(change, PutConcept):
            foreseen.concepts[change.concept.id] = change.concept
        elif isinstance(change, PutEdges):
            edges += change.edges
    for edge in edges:
        if edge.kind == "references":
            foreseen.references.setdefault(edge.src, []).append(edge.dst)
    if told:
        foreseen.digests += fresh
    else:
        foreseen.facts += [one.record for one in fresh if one.record.tier == FACT_TIER]
        foreseen.superseded |= {edge.dst for edge in edges if edge.kind == "supersedes"}
