"""Runner: one consolidation from selection to promotion, and its undo.

A run is recorded with its first write, so a run that finds nothing leaves no trace. Stale digests are withdrawn first.
A language model, if configured, then reads the turns that it has not read. Each group is read, digested and written
whole: a process killed in between leaves whole groups, and the next run continues. Sources stay active unless archiving
was asked for. Promotion comes last.

Undo removes what the run wrote and reactivates what it archived, except for memories that somebody has archived or
restored since, or whose text has changed. It can be repeated after a kill.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from scrubjay.consolidation.candidates import PromotedMemory
from scrubjay.consolidation.context import (
    MEMORY_COUNT,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    ModelBudget,
    RunContext,
    archivable_records,
    chronological_key,
    entities_of,
    gather_observations,
    preview_writes,
)
from scrubjay.consolidation.digest import (
    Group,
    StaleDigest,
    WrittenDigest,
    archive_changes,
    digest_changes,
    digest_coverage,
    digest_memory,
    group_records,
    outgrown_digests,
    select_observations,
    stale_digests,
    withdraw_digests,
)
from scrubjay.consolidation.facts import FactSupport
from scrubjay.consolidation.llm import extract_with_model, rephrase_digest
from scrubjay.consolidation.promotion import (
    corroborated_facts,
    promoted_patterns,
    promotion_writes,
    support_changes,
)
from scrubjay.consolidation.summary import distil_digest
from scrubjay.errors import NotFoundError
from scrubjay.ingest.deletion import ALL_EVENTS, last_status_events, revert_status_events
from scrubjay.ingest.embedder import embed_memories
from scrubjay.models.dates import DAY, now_micros
from scrubjay.models.ids import tombstone_hashes
from scrubjay.models.lifecycle import ConsolidationRun, Event, LifecycleChange, previous_confidence
from scrubjay.models.records import Record, Scope
from scrubjay.models.reports import CreatedMemory, UndoReport
from scrubjay.storage.changes import (
    Change,
    DropEdges,
    DropMemory,
    PreparedMemory,
    PutEvents,
    PutLifecycle,
    PutMemory,
    PutRun,
)
from scrubjay.storage.interface import Reader, Store
from scrubjay.text.display import estimate_tokens

PROMOTION_BATCH: Final = 64
"""Promoted memories of one transaction."""
STALE_BATCH: Final = 16
"""Digests that are taken back together."""


@dataclass(slots=True)
class ConsolidationTally:
    """What a night has done so far.

    Attributes:
        wrote: Whether anything was written.

    The other fields are those of `Consolidated`.
    """

    made: list[CreatedMemory] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    kept: int = 0
    archived: int = 0
    files: Counter[str] = field(default_factory=Counter)
    renewed: int = 0
    promoted: list[CreatedMemory] = field(default_factory=list)
    supported: int = 0
    read: int = 0
    found: list[CreatedMemory] = field(default_factory=list)
    rephrased: int = 0
    refused: int = 0
    wrote: bool = False

    def counts(self) -> dict[str, int]:
        """Return what is kept with the run."""
        return {
            "digests": len(self.made),
            "archived": self.archived,
            "renewed": self.renewed,
            "promoted": len(self.promoted),
            "supported": self.supported,
            "read": self.read,
            "found": len(self.found),
            "rephrased": self.rephrased,
            "refused": self.refused,
        }


class ConsolidationWork:
    """One key's night while it is done."""

    def __init__(self, night: RunContext) -> None:
        self._night = night
        self._secret = night.store.secret(night.scope)
        self._started = now_micros()
        self.tally = ConsolidationTally()

    def renew(self) -> set[str]:
        """Take back what is stale; return what is active again, or would be."""
        freed: set[str] = set()
        again = True
        while again:  # what rests on a digest that goes is stale as well
            again, found = False, stale_digests(self._night)
            while batch := list(islice(found, STALE_BATCH)):
                freed |= self.retake(batch)
                again = not self._night.dry_run
        return freed

    def retake(self, batch: Sequence[StaleDigest]) -> set[str]:
        """Take digests back; return what a run that writes nothing would have made active again."""
        self._write(withdraw_digests(self._night, batch, now_micros()))
        self.tally.renewed += len(batch)
        if not self._night.dry_run:
            return set()
        self._night.foreseen.gone |= {one.digest for one in batch}
        return {record.id for one in batch for record in one.freed}

    def put_away(self, known: Sequence[tuple[Record, str]]) -> None:
        """Archive what was told of by an earlier run that archived nothing, where archiving is asked for now."""
        digests = {record.id: digest for record, digest in known}
        away = self._away([record for record, _ in known])
        for first in range(0, len(away), PROMOTION_BATCH):
            batch = [(one.id, digests[one.id]) for one in away[first : first + PROMOTION_BATCH]]
            self._write(archive_changes(self._night, batch, now_micros()))
        self._count_away(away)

    def tell(self, groups: Sequence[Group], freed: set[str]) -> None:
        """Distil groups and write what they come to, in one transaction: the digests, and what is archived for them."""
        night, at = self._night, now_micros()
        with night.store.reader(night.viewers) as reader:
            found = [one for group_ in groups if (one := self._told(reader, group_, freed, at)) is not None]
            found = self._unforgotten(reader, found)
        if night.digests is not None and not night.dry_run:
            found = self._rephrased(night.digests, found, at)
        if not found:
            return
        gone = {record.id for record in self._away([record for one in found for record in one.records])}
        found = [replace(one, away=tuple(r for r in one.records if r.id in gone)) for one in found]
        with night.store.reader(night.viewers) as reader:
            present = reader.get([one.memory.record.id for one in found])
        self._count(found)
        fresh = embed_memories([one.memory for one in found], [""] * len(found), night.base)
        fresh = [memory for memory in fresh if memory.record.id not in present]
        night.weaver.add_entities([memory.record for memory in fresh])
        before, woven = night.weaver.changes(fresh, ())
        if night.dry_run:
            preview_writes(night, fresh, [*before, *woven], told=True)
            return
        puts: list[Change] = [PutMemory(memory) for memory in fresh]
        self._write([*before, *puts, *digest_changes(night, found, woven, at)])

    def refine(self) -> None:
        """Write what a language model finds in turns that it did not read yet; nothing is sent of a dry run."""
        night, tally = self._night, self.tally
        if night.facts is None or night.dry_run:
            return
        for one in extract_with_model(night, night.facts, self._secret):
            self._put(one.fresh, (), one.after)
            tally.read += one.turns
            tally.refused += one.refused
            tally.found += [
                CreatedMemory(new.id, new.tier, new.key, new.title, new.content, (one.sources[new.id],))
                for new in (memory.record for memory in one.fresh)
            ]

    def support(self, supports: Sequence[FactSupport]) -> None:
        """Write that known facts are borne out by more."""
        self.tally.supported += len(supports)
        if supports:
            self._write(support_changes(self._night, supports, now_micros()))

    def promote(self, drawn: Iterable[PromotedMemory]) -> bool:
        """Write what is drawn and new, some of it in each transaction; tell whether any took another's place."""
        rest, replaced = iter(drawn), False
        while batch := list(islice(rest, PROMOTION_BATCH)):
            at = now_micros()
            kept = promotion_writes(self._night, self._secret, batch, at)
            self.tally.promoted += [
                CreatedMemory(one.id, one.tier, one.key, one.title, one.content, kept.sources[one.id])
                for one in (memory.record for memory in kept.fresh)
            ]
            if kept.fresh or kept.after:
                self._put(kept.fresh, kept.renewed, kept.after)
            told = [
                event for change in kept.after if isinstance(change, PutEvents) for event in change.events
            ]
            replaced |= any(event.op == "superseded" for event in told)
        return replaced and not self._night.dry_run

    def _put(self, fresh: Sequence[PreparedMemory], renewed: Sequence[str], after: Sequence[Change]) -> None:
        weaver = self._night.weaver
        weaver.add_entities([memory.record for memory in fresh], renewed)
        before, woven = weaver.changes(fresh, renewed)
        if self._night.dry_run:
            preview_writes(self._night, fresh, [*before, *woven, *after], told=False)
        self._write([*before, *(PutMemory(memory) for memory in fresh), *woven, *after])

    def end(self) -> None:
        """Write down that the run is over, if it ever began."""
        if self.tally.wrote:
            with self._night.store.reader(self._night.viewers) as reader:
                held = reader.count_memories(self._night.key)
            run = self._run("done", now_micros(), {**self.tally.counts(), MEMORY_COUNT: held})
            self._night.store.write(self._night.scope, [PutRun(run)], durable=True)

    def _told(self, reader: Reader, group_: Group, freed: set[str], at: int) -> WrittenDigest | None:
        """Return a group with its digest, as its records are now."""
        held = reader.get([record.id for record in group_.records])
        records = [record for record in held.values() if _stays(record, self._night.key, freed)]
        digest = distil_digest(records)
        return digest_memory(self._night, self._secret, records, digest, at) if digest is not None else None

    def _rephrased(self, asking: ModelBudget, found: Sequence[WrittenDigest], at: int) -> list[WrittenDigest]:
        """Return digests in a model's words; one whose new words were forgotten stays in its own."""
        told_ = []
        for one in found:
            digest, refused = rephrase_digest(
                asking, one.digest, sorted({source.role or "" for source in one.records})
            )
            self.tally.refused += refused
            new = (
                one
                if digest == one.digest
                else digest_memory(self._night, self._secret, one.records, digest, at)
            )
            told_.append((one, new))
        with self._night.store.reader(self._night.viewers) as reader:
            kept = {one.memory.record.id for one in self._unforgotten(reader, [new for _, new in told_])}
        chosen = [new if new.memory.record.id in kept else old for old, new in told_]
        self.tally.rephrased += sum(one is not old for one, (old, _) in zip(chosen, told_, strict=True))
        return chosen

    def _unforgotten(self, reader: Reader, found: Sequence[WrittenDigest]) -> list[WrittenDigest]:
        """Return the digests whose text nobody forgot."""
        keys = (self._night.key,)
        marks = [tombstone_hashes(self._secret, one.digest.text, keys) for one in found]
        gone = reader.forgotten_hashes([mark for own in marks for mark in own])
        return [one for one, own in zip(found, marks, strict=True) if gone.isdisjoint(own)]

    def _count(self, found: Sequence[WrittenDigest]) -> None:
        tally = self.tally
        for one in found:
            record = one.memory.record
            sources = tuple(source.id for source in one.records)
            tally.made.append(
                CreatedMemory(record.id, record.tier, record.key, record.title, record.content, sources)
            )
            tally.kinds.update(map(_kind, one.records))
            tally.tokens += sum(estimate_tokens(source.content) for source in one.records)
            tally.kept += estimate_tokens(record.content)
            self._count_away(one.away)

    def _count_away(self, away: Sequence[Record]) -> None:
        self.tally.archived += len(away)
        self.tally.files.update(
            one.place.path for one in away if one.place is not None and _kind(one) == "note"
        )

    def _away(self, records: Sequence[Record]) -> list[Record]:
        """Return those of some records that the run archives: none, unless somebody asked for it."""
        archive = self._night.archive
        if not archive:
            return []
        asked = [one for one in records if (NOTES if _kind(one) == "note" else TRANSCRIPTS) in archive]
        return archivable_records(self._night, asked)

    def _write(self, changes: Sequence[Change]) -> None:
        night = self._night
        if night.dry_run:
            return
        first: list[Change] = [] if self.tally.wrote else [PutRun(self._run("running", None, {}))]
        night.store.write(night.scope, [*first, *changes], durable=True)
        self.tally.wrote = True

    def _run(self, state: str, ended: int | None, counts: Mapping[str, int]) -> ConsolidationRun:
        night = self._night
        return ConsolidationRun(night.run, night.key, state, RULES_VERSION, self._started, ended, counts)


def _stays(record: Record, key: str, freed: set[str]) -> bool:
    active = record.status == "active" or record.id in freed
    return active and not record.pinned and record.key == key


def _kind(record: Record) -> str:
    if record.origin == "tool":
        return "tool"
    return "note" if record.session is None else "turn"


GROUP_BATCH: Final = 64
"""Groups of one transaction. Of 10,000 turns in a thousand conversations, 8 take 38 s, 32 28 s, 64 25 s: what is
alike is looked for once for all of them, and other writers wait for two tenths of a second."""
MAX_ROUNDS: Final = 3
"""Times that facts are drawn where one took another's place: what said the same as the other is said no more."""


def consolidate_key(night: RunContext) -> ConsolidationTally:
    """Consolidate what one visibility key holds; the run is written down once there is something to do."""
    work = ConsolidationWork(night)
    freed = work.renew()
    work.refine()
    parted = digest_coverage(night, _chosen(night, freed))
    if parted.grown:
        freed |= work.retake(outgrown_digests(night, parted.grown))
        parted = digest_coverage(night, _chosen(night, freed))
    work.put_away(parted.known)
    groups = sorted(
        group_records(parted.new, entities_of(night.store, night.viewers, parted.new)), key=_written
    )
    del parted
    for first in range(0, len(groups), GROUP_BATCH):
        work.tell(groups[first : first + GROUP_BATCH], freed)
        night.report(min(first + GROUP_BATCH, len(groups)), len(groups))
    if work.tally.wrote or work.tally.made or not night.idle:
        for _ in range(MAX_ROUNDS):
            found = corroborated_facts(night)
            work.support(found.supports)
            if not work.promote(found.facts):
                break
        work.promote(promoted_patterns(night))
    work.end()
    return work.tally


def _chosen(night: RunContext, freed: set[str]) -> list[Record]:
    """Return what a digest may tell of, told or not."""
    limit = night.now - night.after_days * DAY  # a day's note is over a day after it began
    records = gather_observations(night.store, night.viewers, night.key, limit - DAY, freed)
    return list(select_observations(records, night.now, night.after_days, night.archive))


def _written(one: Group) -> tuple[int, tuple[int, int, int, str]]:
    """Return when a group was written: what was written together lies together, and is changed together."""
    return (one.records[0].recorded_at, chronological_key(one.records[0]))


UNDO_BATCH: Final = 64
"""Digests that are taken back together, with what they told of."""
READ_AT_ONCE: Final = 1_000
"""Memories that are read together."""
_SURER: Final = ("changed", "reinforced")
"""What gives a memory its confidence after it was made."""


def undo_run(store: Store, scope: Scope, run: str) -> UndoReport:
    """Take a run back, for those of its visibility keys that the scope sees.

    Args:
        store: Where.
        scope: Who asks.
        run: Id of the run, or its shortest unique beginning.

    Raises:
        NotFoundError: No run, or several, are called so.
    """
    with store.reader(scope) as reader:
        rows = _rows(reader, run)
        events = reader.events(run=rows[0].id, limit=ALL_EVENTS)
    if all(row.state == "undone" for row in rows):
        return UndoReport(rows[0].id, 0, 0, already=True)
    restored = _back(store, scope, rows[0].id, events)
    made = _left(store, scope, [event.memory for event in events if event.op == "derived"])
    told: dict[str, list[str]] = {memory: [] for memory in made}
    for event in events:
        if event.op == "archived":
            told.setdefault(event.other if event.other and event.other in told else "", []).append(
                event.memory
            )
    removed = 0
    with_none = told.pop(
        "", []
    )  # their digest is gone (forgotten, or taken back by a later run) or a person's
    batches = [list(told.items())[first : first + UNDO_BATCH] for first in range(0, len(told), UNDO_BATCH)]
    for batch in [*batches, [("", with_none)]]:
        gone = [memory for memory, _ in batch if memory]
        freed = _held(store, scope, rows[0].id, [memory for _, sources in batch for memory in sources])
        back = revert_status_events(freed, now_micros(), rows[0].id)
        store.write(scope, [DropMemory(tuple(gone)), *back], durable=True)
        removed, restored = removed + len(gone), restored + len(freed)
    store.write(scope, [PutRun(replace(row, state="undone")) for row in rows], durable=True)
    return UndoReport(rows[0].id, removed, restored)


def archiving_runs(reader: Reader) -> list[tuple[ConsolidationRun, list[Event]]]:
    """Return the runs that archived memories which are archived to this day, newest first, with what archived each."""
    found: list[tuple[ConsolidationRun, list[Event]]] = []
    for row in reader.runs(ALL_EVENTS):
        if row.counts.get("archived") and row.state != "undone":
            events = reader.events(run=row.id, limit=ALL_EVENTS)
            ids = [event.memory for event in events if event.op == "archived" and event.key == row.key]
            if events := _as_left(reader, row.id, ids):
                found.append((row, events))
    return found


def restore_all(store: Store, scope: Scope) -> list[str]:
    """Make everything active again that any run archived and that is archived to this day; return its ids.

    It is restored as by a person, so no later run archives it again until its text changes. What somebody archived by
    hand, and what runs made, stays.
    """
    with store.reader(scope) as reader:
        events = [event for _, own in archiving_runs(reader) for event in own]
    for first in range(0, len(events), UNDO_BATCH):
        store.write(
            scope, revert_status_events(events[first : first + UNDO_BATCH], now_micros()), durable=True
        )
    return [event.memory for event in events]


def _left(store: Store, scope: Scope, made: Sequence[str]) -> list[str]:
    """Return what a run made without what somebody put in words of their own since: that is theirs."""
    with store.reader(scope) as reader:
        held = reader.get(made)
    return [memory for memory in made if memory in held and held[memory].origin == "derived"]


def _back(store: Store, scope: Scope, run: str, events: Sequence[Event]) -> int:
    """Take back what a run made of facts that were known: what they were borne out by, and what replaced them."""
    supported = sorted({event.memory for event in events if event.op == "reinforced"})
    past = sorted({event.memory for event in events if event.op == "superseded"})
    with store.reader(scope) as reader:
        edges = reader.edges(supported, ["derived_from"])
        last = last_status_events(reader, past)
        doubted = _doubted(reader, run, supported)
    lost = tuple((edge.src, edge.kind, edge.dst) for edge in edges if edge.run == run)
    freed = [event for event in last.values() if event.op == "superseded" and event.run == run]
    if lost or freed or doubted:
        back = revert_status_events(freed, now_micros(), run)
        store.write(scope, [DropEdges(lost), PutLifecycle(doubted), *back], durable=True)
    return len(freed)


def _doubted(reader: Reader, run: str, supported: Sequence[str]) -> dict[str, LifecycleChange]:
    """Return how sure known facts are without a run: as they were before the earliest of the last undone ones.

    What made one surer since, or changed it, stands: then it is as sure as that left it.
    """
    undone = {run} | {row.id for row in reader.runs(ALL_EVENTS) if row.state == "undone"}
    found: dict[str, LifecycleChange] = {}
    standing: set[str] = set()
    for event in reader.events(supported, limit=ALL_EVENTS):  # newest first
        if event.op not in _SURER or event.memory in standing:
            continue
        before = previous_confidence(event.before) if event.run in undone else None
        if before is None:
            standing.add(event.memory)
        else:
            found[event.memory] = LifecycleChange(confidence=before)
    return found


def _rows(reader: Reader, run: str) -> list[ConsolidationRun]:
    found = [row for row in reader.runs(ALL_EVENTS) if run and row.id.startswith(run)]
    names = sorted({row.id for row in found})
    if len(names) != 1:
        raise NotFoundError(
            f"{'No run is' if not names else f'{len(names)} runs are'} called {run!r}. Nothing was undone.",
            hint="scrubjay history ID names the runs that a memory was part of",
        )
    return found


def _held(store: Store, scope: Scope, run: str, sources: Sequence[str]) -> list[Event]:
    """Return what archived those sources that are as the run left them."""
    with store.reader(scope) as reader:
        return _as_left(reader, run, sources)


def _as_left(reader: Reader, run: str, ids: Sequence[str]) -> list[Event]:
    held: list[str] = []
    for first in range(0, len(ids), READ_AT_ONCE):
        records = reader.get(ids[first : first + READ_AT_ONCE])
        held += [memory for memory, record in records.items() if record.status == "archived"]
    last = last_status_events(reader, held)
    return [event for event in last.values() if event.op == "archived" and event.run == run]
