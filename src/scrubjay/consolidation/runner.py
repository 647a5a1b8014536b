"""Runner: one consolidation run from selection to promotion.

Each step is one transaction, so a killed run leaves whole groups and the next run continues. A run is recorded with its
first write; one that finds nothing leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from scrubjay.consolidation.context import (
    MEMORY_COUNT,
    NOTES,
    RULES_VERSION,
    TRANSCRIPTS,
    RunContext,
    entities_of,
    gather_observations,
    persons_work,
)
from scrubjay.consolidation.digest import (
    Digest,
    DigestCoverage,
    StaleDigest,
    WrittenDigest,
    archive_changes,
    digest_changes,
    digest_coverage,
    digest_memory,
    distil_digest,
    group_records,
    inherit_work,
    is_withdrawable,
    quoted_sentences,
    quotes_all,
    reactivate_sources,
    select_observations,
    stale_digests,
    unchanged_digests,
    withdraw_digests,
    withdrawable_digests,
)
from scrubjay.consolidation.facts import FactSupport, PromotedMemory
from scrubjay.consolidation.llm import ModelBudget, ModelFacts, extract_with_model, rephrase_digest
from scrubjay.consolidation.promotion import (
    PromotionWrites,
    find_facets,
    find_facts,
    find_patterns,
    promotion_writes,
    support_changes,
    with_current_sources,
)
from scrubjay.ingest.deletion import ALL_EVENTS, STATUS_BATCH
from scrubjay.ingest.embedder import embed_memories
from scrubjay.models.dates import DAY, now_micros
from scrubjay.models.ids import tombstone_hashes
from scrubjay.models.lifecycle import ConsolidationRun
from scrubjay.models.records import NEVER_INJECT, Record, RecordFilter
from scrubjay.models.reports import CreatedMemory
from scrubjay.storage.changes import Change, PreparedMemory, PutEvents, PutMemory, PutRun, RequireUnchanged
from scrubjay.storage.interface import Reader, in_batches, retry_conflicts
from scrubjay.text.display import estimate_tokens

T = TypeVar("T")

PROMOTION_BATCH: Final = 64
"""Promoted, or archived, memories of one transaction."""
STALE_BATCH: Final = 16
"""Digests withdrawn together."""
GROUP_BATCH: Final = 64
"""Groups of one transaction. Of 10,000 turns in a thousand conversations, 8 take 38 s, 32 28 s, 64 25 s: similar
memories are searched for all of them at once, and other writers wait for two tenths of a second."""
MAX_ROUNDS: Final = 3
"""Rounds of fact promotion: a fact that superseded another may make further evidence obsolete."""
MAX_WITHHELD: Final = 100
"""Turns of a conversation that may not be quoted, of which the neighbours are checked."""


@dataclass(slots=True)
class ConsolidationTally:
    """Results of one key's run so far; `ConsolidationReport` explains the fields."""

    made: list[CreatedMemory] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    kept: int = 0
    recent: set[tuple[str, str]] = field(default_factory=set)
    short: set[tuple[str, str]] = field(default_factory=set)
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
        """Return the counts that are stored with the run."""
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


def consolidate_key(ctx: RunContext) -> ConsolidationTally:
    """Consolidate the memories under one visibility key."""
    run = _KeyRun(ctx)
    run.withdraw_stale()
    run.extract_facts()
    coverage = run.coverage()
    if coverage.outgrown:
        run.withdraw(withdrawable_digests(ctx, coverage.outgrown))
        coverage = run.coverage()
    run.archive_digested(coverage.digested)
    groups = group_records(coverage.new, entities_of(ctx, coverage.new))
    del coverage  # it holds all old observations
    digested = 0
    for batch in in_batches(groups, GROUP_BATCH):
        run.write_digests(batch)
        digested += len(batch)
        ctx.report(digested, len(groups))
    if run.tally.wrote or run.tally.renewed or run.tally.made or not ctx.idle:
        for _ in range(MAX_ROUNDS):
            facts = find_facts(ctx)
            run.support(facts.supports)
            if not run.promote(facts.facts):
                break
        run.promote_facets()
        run.promote(find_patterns(ctx))
    run.end()
    return run.tally


class _KeyRun:
    def __init__(self, ctx: RunContext) -> None:
        self._ctx = ctx
        self._secret = ctx.store.secret(ctx.scope)
        self._started = now_micros()
        self._reactivated: set[str] = set()  # by a dry run, or with the digests that are being renewed
        self._renewing: dict[str, StaleDigest] = {}  # what persons gave goes to their successors first
        self._taken_over: set[str] = set()  # stale ones that a person has pinned or reworded during the run
        # By text, for a write that is retried asks no model again.
        self._wordings: dict[str, tuple[Digest, int]] = {}
        self.tally = ConsolidationTally()

    def withdraw_stale(self) -> None:
        """Withdraw stale digests until none is left: one that rests on a withdrawn one is stale as well."""
        repeat = True
        while repeat:
            known = self._ctx.preview.withdrawn
            repeat, stale = False, (one for one in stale_digests(self._ctx) if one.digest.id not in known)
            while batch := list(islice(stale, STALE_BATCH)):
                self.withdraw(batch)
                repeat = not self._ctx.dry_run

    def withdraw(self, stale: Sequence[StaleDigest]) -> None:
        """Withdraw digests and reactivate their archived sources; those that a person touched go when the run ends."""
        self._retry(partial(self._withdraw, stale))

    def _withdraw(self, stale: Sequence[StaleDigest]) -> None:
        ctx = self._ctx
        with ctx.store.reader(ctx.scope) as reader:
            stale = unchanged_digests(reader, stale)
            touched = persons_work(reader, [one.digest.id for one in stale]).touched()
        if at_once := [one for one in stale if one.digest.id not in touched]:
            self._write(withdraw_digests(ctx, at_once, now_micros()))
        self.tally.renewed += len(stale)
        later = [one for one in stale if ctx.dry_run or one.digest.id in touched]
        ctx.preview.withdrawn |= {one.digest.id for one in later}
        self._reactivated |= {record.id for one in later for record in one.reactivated}
        if not ctx.dry_run:
            self._renewing |= {one.digest.id: one for one in later}

    def extract_facts(self) -> None:
        """Write the facts that a language model finds in turns that it has not read; a dry run sends nothing."""
        if self._ctx.fact_model is None or self._ctx.dry_run:
            return
        for find in extract_with_model(self._ctx, self._ctx.fact_model, self._secret):
            found = self._retry(partial(self._write_found, find))
            self.tally.read += found.turns
            self.tally.refused += found.refused
            self.tally.found += [
                _created(memory.record, (found.sources[memory.record.id],)) for memory in found.memories
            ]

    def _write_found(self, find: Callable[[], ModelFacts]) -> ModelFacts:
        found = find()
        self._write_linked(found.unchanged, found.memories, (), found.after)
        return found

    def coverage(self) -> DigestCoverage:
        """Return the old observations, by whether they are digested."""
        ctx = self._ctx
        since = ctx.now - ctx.after_days * DAY - DAY  # a day's note is over a day after it began
        records = gather_observations(ctx, since, self._reactivated)
        return digest_coverage(
            ctx, list(select_observations(records, ctx.now, ctx.after_days, ctx.archive, self.tally.recent))
        )

    def archive_digested(self, digested: Sequence[tuple[Record, str]]) -> None:
        """Archive the sources of earlier digests, if that is wanted now and was not then."""
        digests = {record.id: digest for record, digest in digested}
        records = self._archivable([record for record, _ in digested])
        for batch in in_batches(records, PROMOTION_BATCH):
            self._retry(partial(self._archive, [(one.id, digests[one.id]) for one in batch]))

    def _archive(self, digested: Sequence[tuple[str, str]]) -> None:
        with self._ctx.reader() as reader:
            stored = reader.get(sorted({memory for pair in digested for memory in pair}))
        covered = {
            source: digest
            for source, digest in digested
            if {source, digest} <= stored.keys()
            and stored[source].status == "active"
            and not stored[source].pinned
            and quotes_all(quoted_sentences(stored[digest].content, stored[source].role), stored[source])
        }
        if covered:
            records = [stored[source] for source in covered]
            changes = archive_changes(self._ctx, list(covered.items()), now_micros())
            read = {memory: stored[memory] for pair in covered.items() for memory in pair}
            self._write([RequireUnchanged(read), *changes])
            self._count_archived(records)

    def write_digests(self, groups: Sequence[Sequence[Record]]) -> None:
        """Write the digests of groups, and archive their sources, in one transaction."""
        self._retry(partial(self._write_digests, groups))

    def _write_digests(self, groups: Sequence[Sequence[Record]]) -> None:
        ctx, at = self._ctx, now_micros()
        found = []
        with ctx.reader() as reader:
            for group in groups:
                records = [
                    record
                    for record in reader.get([one.id for one in group]).values()
                    if record.key == ctx.key
                    and not record.pinned
                    and (record.status == "active" or record.id in self._reactivated)
                ]
                sessions = tuple({one.session for one in records if one.session is not None})
                tagged = RecordFilter(sessions=sessions, tags=(NEVER_INJECT,))
                withheld = reader.latest(tagged, MAX_WITHHELD) if sessions else []
                digest = distil_digest(records, withheld=withheld)
                if digest is not None:
                    found.append(digest_memory(ctx, self._secret, records, digest, at))
                self.tally.short |= {
                    (one.key, one.session) for one in group if digest is None and one.session
                }
            found = self._without_forgotten(reader, found)
        if ctx.digest_model is not None and not ctx.dry_run:
            found = self._rephrased(ctx.digest_model, found, at)
        if not found:
            return
        covered = [
            record for one in found for record in one.records if quotes_all(one.digest.quoted(), record)
        ]
        archived = {record.id for record in self._archivable(covered)}
        found = [
            replace(one, archived=tuple(record for record in one.records if record.id in archived))
            for one in found
        ]
        counted = found
        found, given, earlier = self._inherit(found)
        counted = [one for one in counted if one.memory.record.id not in self._taken_over]
        ids = [one.memory.record.id for one in found]
        rewritten = [self._renewing[memory] for memory in ids if memory in self._renewing]
        with ctx.reader() as reader:
            present = reader.get(ids).keys() - self._renewing.keys()
        memories = embed_memories([one.memory for one in found], [""] * len(found), ctx.embedder)
        memories = [memory for memory in memories if memory.record.id not in present]
        ctx.edges.add_entities([memory.record for memory in memories])
        before, linking = ctx.edges.changes(memories, [one.digest.id for one in rewritten])
        if ctx.dry_run:
            self._count_digests(counted)
            ctx.preview.add(memories, [*before, *linking], digests=True)
            return
        sources = {record.id: record for one in found for record in one.records}
        puts = (PutMemory(memory) for memory in memories)
        reactivated = reactivate_sources(ctx, rewritten, at)
        new = dict.fromkeys(memory.record.id for memory in memories)
        unchanged = RequireUnchanged({**new, **earlier, **sources})
        self._write(
            [unchanged, *before, *puts, *given, *reactivated, *digest_changes(ctx, found, linking, at)]
        )
        self._count_digests(counted)
        asked = {wording.text for wording, _ in self._wordings.values()} - self._wordings.keys()
        self.tally.rephrased += sum(one.digest.text in asked for one in counted)
        self._settle(ids)

    def _inherit(
        self, found: Sequence[WrittenDigest]
    ) -> tuple[list[WrittenDigest], list[Change], Mapping[str, Record]]:
        """Give digests what persons gave those that they replace, and return these, too.

        One that a person has pinned or reworded since is not replaced.
        """
        ctx = self._ctx
        with ctx.store.reader(ctx.scope) as reader:
            stored = reader.get(sorted(self._renewing))
            earlier = {memory: old for memory, old in stored.items() if is_withdrawable(old)}
            self._taken_over |= stored.keys() - earlier.keys()
            self._settle(self._taken_over)
            work = persons_work(reader, sorted(earlier))
            sources: dict[str, set[str]] = {}
            for edge in reader.edges(sorted(earlier), ["derived_from"]):
                sources.setdefault(edge.src, set()).add(edge.dst)
        inherited: list[WrittenDigest] = []
        changes: list[Change] = []
        for one in found:
            if one.memory.record.id in self._taken_over:
                continue
            own = {record.id for record in one.records}
            replaced = [old for memory, old in earlier.items() if not own.isdisjoint(sources.get(memory, ()))]
            digest, more = inherit_work(one, replaced, work)
            inherited.append(digest)
            changes += more
        return inherited, changes, earlier

    def _settle(self, ids: Iterable[str]) -> None:
        """Note that memories were renewed under their ids, or are no longer to be withdrawn."""
        for memory in ids:
            if self._renewing.pop(memory, None) is not None:
                self._ctx.preview.withdrawn.discard(memory)

    def support(self, supports: Sequence[FactSupport]) -> None:
        """Write further evidence of known facts."""
        self.tally.supported += self._retry(partial(self._support, supports))

    def _support(self, supports: Sequence[FactSupport]) -> int:
        current = with_current_sources(self._ctx, supports)
        if current:
            self._write(support_changes(self._ctx, current, now_micros()))
        return len(current)

    def promote(self, candidates: Iterable[PromotedMemory]) -> bool:
        """Write promoted memories that are new or changed; return whether any superseded another."""
        rest, superseded = iter(candidates), False
        while batch := list(islice(rest, PROMOTION_BATCH)):
            writes = self._retry(partial(self._promote, batch))
            self.tally.promoted += [
                _created(memory.record, writes.sources[memory.record.id]) for memory in writes.memories
            ]
            self._settle(memory.record.id for memory in writes.memories)
            superseded |= any(
                event.op == "superseded"
                for change in writes.after
                if isinstance(change, PutEvents)
                for event in change.events
            )
        return superseded and not self._ctx.dry_run

    def _promote(self, candidates: Sequence[PromotedMemory]) -> PromotionWrites:
        writes = promotion_writes(self._ctx, self._secret, candidates, now_micros())
        if writes.memories or writes.after:
            self._write_linked(writes.unchanged, writes.memories, writes.replaced, writes.after)
        return writes

    def promote_facets(self) -> None:
        """Write the facets that hold, and withdraw those that a later statement may have changed."""
        facets, outdated = find_facets(self._ctx, self._secret)
        if outdated:
            self.withdraw(outdated)
        self.promote(facets)

    def end(self) -> None:
        """Withdraw the digests that were not renewed under their ids, and store the run's counts, if it wrote any."""
        for batch in in_batches(sorted(self._renewing), STALE_BATCH):
            self._retry(partial(self._withdraw_replaced, batch))
        if self.tally.wrote:
            with self._ctx.reader() as reader:
                memories = reader.count_memories(self._ctx.key)
            run = self._run_row("done", now_micros(), {**self.tally.counts(), MEMORY_COUNT: memories})
            self._ctx.store.write(self._ctx.scope, [PutRun(run)], durable=True)

    def _withdraw_replaced(self, digests: Sequence[str]) -> None:
        stale = withdrawable_digests(self._ctx, digests)
        self._write(withdraw_digests(self._ctx, stale, now_micros()))

    def _rephrased(self, budget: ModelBudget, found: Sequence[WrittenDigest], at: int) -> list[WrittenDigest]:
        reworded = {}
        for one in found:
            roles = sorted({source.role or "" for source in one.records})
            if (text := one.digest.text) not in self._wordings:
                self._wordings[text] = rephrase_digest(budget, one.digest, roles)
                self.tally.refused += self._wordings[text][1]
            digest = replace(one.digest, text=self._wordings[text][0].text)
            if digest != one.digest:
                reworded[one.memory.record.id] = digest_memory(
                    self._ctx, self._secret, one.records, digest, at
                )
        with self._ctx.reader() as reader:
            allowed = {
                one.memory.record.id for one in self._without_forgotten(reader, list(reworded.values()))
            }
        reworded = {old: new for old, new in reworded.items() if new.memory.record.id in allowed}
        return [reworded.get(one.memory.record.id, one) for one in found]

    def _without_forgotten(self, reader: Reader, found: Sequence[WrittenDigest]) -> list[WrittenDigest]:
        hashes = [tombstone_hashes(self._secret, one.digest.text, (self._ctx.key,)) for one in found]
        forgotten = reader.forgotten_hashes([one for own in hashes for one in own])
        return [one for one, own in zip(found, hashes, strict=True) if forgotten.isdisjoint(own)]

    def _count_digests(self, found: Sequence[WrittenDigest]) -> None:
        tally = self.tally
        for one in found:
            tally.short -= {(source.key, source.session or "") for source in one.records}
            tally.made.append(_created(one.memory.record, tuple(source.id for source in one.records)))
            tally.kinds.update(map(_kind, one.records))
            tally.tokens += sum(estimate_tokens(source.content) for source in one.records)
            tally.kept += estimate_tokens(one.memory.record.content)
            self._count_archived(one.archived)

    def _count_archived(self, records: Sequence[Record]) -> None:
        self.tally.archived += len(records)
        self.tally.files.update(
            one.place.path for one in records if one.place is not None and _kind(one) == "note"
        )

    def _archivable(self, records: Sequence[Record]) -> list[Record]:
        """Return the records to archive; one that a person restored stays until its text changes."""
        archive = self._ctx.archive
        wanted = [one for one in records if (NOTES if _kind(one) == "note" else TRANSCRIPTS) in archive]
        archivable: list[Record] = []
        for batch in in_batches(wanted, STATUS_BATCH):
            restored_at: dict[str, int] = {}
            with self._ctx.reader() as reader:
                for event in reader.events([record.id for record in batch], limit=ALL_EVENTS):
                    if event.op == "restored" and event.run is None:
                        restored_at.setdefault(event.memory, event.at)  # newest first
            archivable += [record for record in batch if record.updated_at >= restored_at.get(record.id, 0)]
        return archivable

    def _retry(self, work: Callable[[], T]) -> T:
        """Repeat work that reads and writes if others changed meanwhile what it had read."""
        return retry_conflicts(work, self._ctx.edges.discard)

    def _write_linked(
        self,
        unchanged: RequireUnchanged,
        memories: Sequence[PreparedMemory],
        replaced: Sequence[str],
        after: Sequence[Change],
    ) -> None:
        ctx = self._ctx
        with ctx.reader() as reader:
            stored = list(reader.get(replaced).values())
        ctx.edges.add_entities([memory.record for memory in memories], stored)
        before, linking = ctx.edges.changes(memories, replaced)
        if ctx.dry_run:
            ctx.preview.add(memories, [*before, *linking, *after], digests=False)
        puts = (PutMemory(memory) for memory in memories)
        self._write([unchanged, *before, *puts, *linking, *after])

    def _write(self, changes: Sequence[Change]) -> None:
        if self._ctx.dry_run:
            return
        first: list[Change] = [] if self.tally.wrote else [PutRun(self._run_row("running", None, {}))]
        self._ctx.store.write(self._ctx.scope, [*first, *changes], durable=True)
        self.tally.wrote = True

    def _run_row(self, state: str, ended: int | None, counts: Mapping[str, int]) -> ConsolidationRun:
        return ConsolidationRun(
            self._ctx.run, self._ctx.key, state, RULES_VERSION, self._started, ended, counts
        )


def _created(record: Record, sources: tuple[str, ...]) -> CreatedMemory:
    return CreatedMemory(record.id, record.tier, record.key, record.title, record.content, sources)


def _kind(record: Record) -> str:
    if record.origin == "tool":
        return "tool"
    return "note" if record.session is None else "turn"
