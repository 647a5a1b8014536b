"""Work: one key's night while it is done: what it reads again, writes and counts.

The run is written down with the first thing that it writes, so a night that finds nothing to do leaves no trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from scrubjay.consolidate.asking import Asking
from scrubjay.consolidate.distil import distil
from scrubjay.consolidate.foresee import foresee
from scrubjay.consolidate.group import Group
from scrubjay.consolidate.keep import keep, supported
from scrubjay.consolidate.night import MEMORIES, NOTES, RULES, TRANSCRIPTS, Night
from scrubjay.consolidate.promote.drawn import Drawn
from scrubjay.consolidate.promote.semantic import Support
from scrubjay.consolidate.refine import refine
from scrubjay.consolidate.rephrase import rephrase
from scrubjay.consolidate.settle import Told, put_away, settle, told
from scrubjay.consolidate.spare import spare
from scrubjay.consolidate.stale import Stale, retaken, stale
from scrubjay.ingest.embed import embed
from scrubjay.memory.dates import now_micros
from scrubjay.memory.ids import tombstones
from scrubjay.memory.nights import Made
from scrubjay.memory.records import Record
from scrubjay.memory.runs import Run
from scrubjay.store.base import Reader
from scrubjay.store.changes import Change, Prepared, PutEvents, PutMemory, PutRun
from scrubjay.text.size import tokens

PROMOTED_AT_ONCE: Final = 64
"""Promoted memories of one transaction."""
STALE_AT_ONCE: Final = 16
"""Digests that are taken back together."""


@dataclass(slots=True)
class Tally:
    """What a night has done so far.

    Attributes:
        wrote: Whether anything was written.

    The other fields are those of `Consolidated`.
    """

    made: list[Made] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    kept: int = 0
    archived: int = 0
    files: Counter[str] = field(default_factory=Counter)
    renewed: int = 0
    promoted: list[Made] = field(default_factory=list)
    supported: int = 0
    read: int = 0
    found: list[Made] = field(default_factory=list)
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


class Work:
    """One key's night while it is done."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self._secret = night.store.secret(night.scope)
        self._started = now_micros()
        self.tally = Tally()

    def renew(self) -> set[str]:
        """Take back what is stale; return what is active again, or would be."""
        freed: set[str] = set()
        again = True
        while again:  # what rests on a digest that goes is stale as well
            again, found = False, stale(self._night)
            while batch := list(islice(found, STALE_AT_ONCE)):
                freed |= self.retake(batch)
                again = not self._night.dry_run
        return freed

    def retake(self, batch: Sequence[Stale]) -> set[str]:
        """Take digests back; return what a run that writes nothing would have made active again."""
        self._write(retaken(self._night, batch, now_micros()))
        self.tally.renewed += len(batch)
        if not self._night.dry_run:
            return set()
        self._night.foreseen.gone |= {one.digest for one in batch}
        return {record.id for one in batch for record in one.freed}

    def put_away(self, known: Sequence[tuple[Record, str]]) -> None:
        """Archive what was told of by an earlier run that archived nothing, where archiving is asked for now."""
        digests = {record.id: digest for record, digest in known}
        away = self._away([record for record, _ in known])
        for first in range(0, len(away), PROMOTED_AT_ONCE):
            batch = [(one.id, digests[one.id]) for one in away[first : first + PROMOTED_AT_ONCE]]
            self._write(put_away(self._night, batch, now_micros()))
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
        fresh = embed([one.memory for one in found], [""] * len(found), night.base)
        fresh = [memory for memory in fresh if memory.record.id not in present]
        night.weaver.learn([memory.record for memory in fresh])
        before, woven = night.weaver.changes(fresh, ())
        if night.dry_run:
            foresee(night, fresh, [*before, *woven], told=True)
            return
        puts: list[Change] = [PutMemory(memory) for memory in fresh]
        self._write([*before, *puts, *settle(night, found, woven, at)])

    def refine(self) -> None:
        """Write what a language model finds in turns that it did not read yet; nothing is sent of a dry run."""
        night, tally = self._night, self.tally
        if night.facts is None or night.dry_run:
            return
        for one in refine(night, night.facts, self._secret):
            self._put(one.fresh, (), one.after)
            tally.read += one.turns
            tally.refused += one.refused
            tally.found += [
                Made(new.id, new.tier, new.key, new.title, new.content, (one.sources[new.id],))
                for new in (memory.record for memory in one.fresh)
            ]

    def support(self, supports: Sequence[Support]) -> None:
        """Write that known facts are borne out by more."""
        self.tally.supported += len(supports)
        if supports:
            self._write(supported(self._night, supports, now_micros()))

    def promote(self, drawn: Iterable[Drawn]) -> bool:
        """Write what is drawn and new, some of it in each transaction; tell whether any took another's place."""
        rest, replaced = iter(drawn), False
        while batch := list(islice(rest, PROMOTED_AT_ONCE)):
            at = now_micros()
            kept = keep(self._night, self._secret, batch, at)
            self.tally.promoted += [
                Made(one.id, one.tier, one.key, one.title, one.content, kept.sources[one.id])
                for one in (memory.record for memory in kept.fresh)
            ]
            if kept.fresh or kept.after:
                self._put(kept.fresh, kept.renewed, kept.after)
            told = [
                event for change in kept.after if isinstance(change, PutEvents) for event in change.events
            ]
            replaced |= any(event.op == "superseded" for event in told)
        return replaced and not self._night.dry_run

    def _put(self, fresh: Sequence[Prepared], renewed: Sequence[str], after: Sequence[Change]) -> None:
        weaver = self._night.weaver
        weaver.learn([memory.record for memory in fresh], renewed)
        before, woven = weaver.changes(fresh, renewed)
        if self._night.dry_run:
            foresee(self._night, fresh, [*before, *woven, *after], told=False)
        self._write([*before, *(PutMemory(memory) for memory in fresh), *woven, *after])

    def end(self) -> None:
        """Write down that the run is over, if it ever began."""
        if self.tally.wrote:
            with self._night.store.reader(self._night.viewers) as reader:
                held = reader.amount(self._night.key)
            run = self._run("done", now_micros(), {**self.tally.counts(), MEMORIES: held})
            self._night.store.write(self._night.scope, [PutRun(run)], durable=True)

    def _told(self, reader: Reader, group_: Group, freed: set[str], at: int) -> Told | None:
        """Return a group with its digest, as its records are now."""
        held = reader.get([record.id for record in group_.records])
        records = [record for record in held.values() if _stays(record, self._night.key, freed)]
        digest = distil(records)
        return told(self._night, self._secret, records, digest, at) if digest is not None else None

    def _rephrased(self, asking: Asking, found: Sequence[Told], at: int) -> list[Told]:
        """Return digests in a model's words; one whose new words were forgotten stays in its own."""
        told_ = []
        for one in found:
            digest, refused = rephrase(
                asking, one.digest, sorted({source.role or "" for source in one.records})
            )
            self.tally.refused += refused
            new = one if digest == one.digest else told(self._night, self._secret, one.records, digest, at)
            told_.append((one, new))
        with self._night.store.reader(self._night.viewers) as reader:
            kept = {one.memory.record.id for one in self._unforgotten(reader, [new for _, new in told_])}
        chosen = [new if new.memory.record.id in kept else old for old, new in told_]
        self.tally.rephrased += sum(one is not old for one, (old, _) in zip(chosen, told_, strict=True))
        return chosen

    def _unforgotten(self, reader: Reader, found: Sequence[Told]) -> list[Told]:
        """Return the digests whose text nobody forgot."""
        keys = (self._night.key,)
        marks = [tombstones(self._secret, one.digest.text, keys) for one in found]
        gone = reader.forgotten([mark for own in marks for mark in own])
        return [one for one, own in zip(found, marks, strict=True) if gone.isdisjoint(own)]

    def _count(self, found: Sequence[Told]) -> None:
        tally = self.tally
        for one in found:
            record = one.memory.record
            sources = tuple(source.id for source in one.records)
            tally.made.append(Made(record.id, record.tier, record.key, record.title, record.content, sources))
            tally.kinds.update(map(_kind, one.records))
            tally.tokens += sum(tokens(source.content) for source in one.records)
            tally.kept += tokens(record.content)
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
        return spare(self._night, asked)

    def _write(self, changes: Sequence[Change]) -> None:
        night = self._night
        if night.dry_run:
            return
        first: list[Change] = [] if self.tally.wrote else [PutRun(self._run("running", None, {}))]
        night.store.write(night.scope, [*first, *changes], durable=True)
        self.tally.wrote = True

    def _run(self, state: str, ended: int | None, counts: Mapping[str, int]) -> Run:
        night = self._night
        return Run(night.run, night.key, state, RULES, self._started, ended, counts)


def _stays(record: Record, key: str, freed: set[str]) -> bool:
    active = record.status == "active" or record.id in freed
    return active and not record.pinned and record.key == key


def _kind(record: Record) -> str:
    if record.origin == "tool":
        return "tool"
    return "note" if record.session is None else "turn"
