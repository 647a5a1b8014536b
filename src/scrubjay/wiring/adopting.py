"""Adopting: what a reader finds of another tool's memories -> memories of the caller's, each once.

Nothing is learned from them and none settles with what is known: what a file says is taken as it says it, and the
same file again finds all of it. The night and the audit look at it as at everything else.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.errors import InputError
from scrubjay.ingest import add as store_path
from scrubjay.ingest.dictionary import given, refusal
from scrubjay.ingest.draw import Drawn, draw
from scrubjay.ingest.echo import nothing
from scrubjay.ingest.importing.item import Found, Item, Joined, Named
from scrubjay.ingest.learn import Learner
from scrubjay.ingest.lexicon import form
from scrubjay.ingest.porting.into import SAMPLES, sample
from scrubjay.ingest.porting.names import Names
from scrubjay.ingest.scrub_turns import redact, scrub_new
from scrubjay.ingest.teach import teach
from scrubjay.memory.dates import now_micros
from scrubjay.memory.edges import Edge
from scrubjay.memory.ids import tombstones
from scrubjay.memory.life import Life
from scrubjay.memory.moves import Broken, Imported, Sample
from scrubjay.memory.reports import Progress
from scrubjay.store.changes import PutEdges, PutLife
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.weaving import organise_due, weaving

Report = Callable[[Progress], None]
AT_ONCE: Final = 1_000
"""Items of one batch: what an addition writes in one transaction."""
CHARACTERS: Final = 4_000_000
"""Characters after which a batch is full, however few items it has."""
TOLD: Final = 100
"""Faults that are told; the others are counted."""


def adopt(
    desk: Desk,
    found: Iterable[Found],
    format: str,
    *,
    dry_run: bool,
    untrusted: bool,
    progress: Report | None,
) -> Imported:
    """Take in what a reader finds.

    Args:
        desk: Where, and for whom.
        found: What is found, read as it is asked for.
        format: What it was read as.
        dry_run: Write nothing.
        untrusted: Nobody vouches for any of it.
        progress: Told how far it is; how much there is, is not known before.
    """
    started = time.monotonic()
    adopter = _Adopter(desk, dry=dry_run)
    try:
        for one in found:
            if untrusted and isinstance(one, Item):
                one = replace(one, new=replace(one.new, origin="untrusted"))
            adopter.take(one)
            if progress is not None and isinstance(one, Item) and adopter.seen % 100 == 0:
                progress(Progress("import", adopter.seen, adopter.seen, time.monotonic() - started))
        adopter.finish()
    finally:
        adopter.names.close()
    counts = adopter.counts
    return Imported(
        format=format,
        dry_run=dry_run,
        added=counts["added"],
        existed=counts["existed"],
        forgotten=counts["forgotten"],
        passed=counts["passed"],
        edges=counts["edges"],
        concepts=counts["concepts"],
        scrubbed=dict(sorted(adopter.scrubbed.items())),
        broken=tuple(adopter.broken),
        failures=counts["failures"],
        samples=tuple(adopter.samples),
        seconds=time.monotonic() - started,
    )


class _Adopter:
    """Takes one thing after the other, and writes a batch when it is full.

    Attributes:
        names: What items are called to the memories that they became.
        seen: Items so far.
    """

    def __init__(self, desk: Desk, *, dry: bool) -> None:
        self._desk, self._dry = desk, dry
        self._base = desk.lineup.writing()
        self._weaver = weaving(desk, self._base)
        self._learner = Learner(desk.store, desk.scope, self._base, ())
        self._secret = desk.store.secret(desk.scope)
        self._key = desk.scope.key()
        self._items: list[tuple[Item, Drawn]] = []
        self._named: dict[str, Named] = {}
        self._joined: list[Joined] = []
        self._characters = 0
        self.names = Names()
        self.seen = 0
        self.counts: Counter[str] = Counter()
        self.scrubbed: Counter[str] = Counter()
        self.broken: list[Broken] = []
        self.samples: list[Sample] = []

    def take(self, one: Found) -> None:
        """Take one thing."""
        match one:
            case Broken():
                self._fault(one.where, one.message)
            case Named():
                self._named.setdefault(one.name, one)
            case Joined():
                self._joined.append(one)
            case Item():
                self.seen += 1
                if (drawn := self._drawn(one)) is not None:
                    self._items.append((one, drawn))
                    self._characters += len(one.new.content)
        if max(len(self._items), len(self._named)) >= AT_ONCE or self._characters >= CHARACTERS:
            self._flush()

    def _fault(self, where: str, message: str) -> None:
        self.counts["failures"] += 1
        if len(self.broken) < TOLD:
            self.broken.append(Broken(where, message))

    def finish(self) -> None:
        """Write what is left, and what connects all of it."""
        self._flush()
        for first in range(0, len(self._joined), AT_ONCE):
            self._join(self._joined[first : first + AT_ONCE])
        if not self._dry:
            organise_due(self._desk, self._base, self._weaver)

    def _flush(self) -> None:
        items, self._items, self._characters = self._items, [], 0
        allow = self._desk.settings.redaction.allow
        self._teach()
        store, scope = self._desk.store, self._desk.scope
        found, called = scrub_new(store, scope, [item.new for item, _ in items], allow)
        drawn = [
            (item, one if text is None else draw(item.new, scope, self._secret, allow, text))
            for (item, one), text in zip(items, found, strict=True)
        ]
        with store.reader(scope) as reader:
            here = reader.get([memory for _, one in drawn for memory in (one.record.id, one.exact)])
            marks = [tombstones(self._secret, one.record.content, self._desk.scope.keys) for _, one in drawn]
            gone = reader.forgotten([mark for own in marks for mark in own])
        if called and not self._dry:
            redact(store, scope, self._base, called)
        fresh: dict[str, tuple[Item, Drawn]] = {}
        for (item, one), own in zip(drawn, marks, strict=True):
            memory = _id(one, here)
            if memory in here or memory in fresh:
                self.counts["existed"] += 1
            elif not gone.isdisjoint(own):
                self.counts["forgotten"] += 1
                continue
            else:
                fresh[memory] = (item, one)
            if item.name and item.name not in self.names.get([item.name]):
                self.names.put(item.name, memory)
        self._add(list(fresh.values()))
        present = here.keys() | fresh.keys()
        written = [(item, memory) for item, one in drawn if (memory := _id(one, here)) in present]
        self._supersede([memory for item, memory in written if item.superseded])
        self._refer(written)

    def _drawn(self, item: Item) -> Drawn | None:
        """Return a memory that can be added, None for one that cannot; that is told."""
        if nothing(item.new):
            self.counts["passed"] += 1
            return None
        try:
            return draw(item.new, self._desk.scope, self._secret, self._desk.settings.redaction.allow)
        except InputError as error:
            self._fault(item.where, str(error).removesuffix(" Nothing was written."))
            return None

    def _add(self, fresh: Sequence[tuple[Item, Drawn]]) -> None:
        desk = self._desk
        for _, one in fresh:
            self.counts["added"] += 1
            self.scrubbed.update(one.scrubbed)
            if len(self.samples) < SAMPLES:
                self.samples.append(sample(one.record))
        if self._dry or not fresh:
            return
        new = [one for _, one in fresh]
        store_path.put(desk.store, desk.scope, self._base, new, self._weaver, self._learner)

    def _supersede(self, memories: Sequence[str]) -> None:
        """Have memories be superseded that are so where they come from, but for those that somebody restored here."""
        desk = self._desk
        with desk.store.reader(desk.scope) as reader:
            active = [one for one, record in reader.get(memories).items() if record.status == "active"]
            events = reader.events(active) if active else []
        restored = {event.memory for event in events if event.op == "restored"}
        past = {one: Life(status="superseded") for one in active if one not in restored}
        if past and not self._dry:
            desk.store.write(desk.scope, [PutLife(past)], durable=True)

    def _teach(self) -> None:
        """Have the names of this batch in the dictionary, before what refers to them is written."""
        named, self._named = list(self._named.values()), {}
        for one in named:
            if (why := refusal(one.name)) is not None:
                self._fault(one.where, f'"{one.name[:60]}" is not taken as a concept: {why}')
        able = [one for one in named if refusal(one.name) is None]
        if not able:
            return
        if self._dry:
            known = self._concepts()
            self.counts["concepts"] += len({form(one.name) for one in able} - known.keys())
            return
        desk = self._desk
        terms = given([[one.name, *(a for a in one.aliases if refusal(a) is None)] for one in able])
        self.counts["concepts"] += teach(desk.store, desk.scope, terms, self._key, desk.lexicons).added

    def _concepts(self) -> dict[str, str]:
        """Return the normal form of every name to its concept."""
        found: dict[str, str] = {}
        with self._desk.store.reader(self._desk.scope) as reader:
            for row in reader.concepts():
                for name in (*row.aliases, row.name):
                    found[form(name)] = row.id
        return found

    def _refer(self, written: Sequence[tuple[Item, str]]) -> None:
        """Join memories with the concepts that they are about, whether or not their text holds the name."""
        if not any(item.about for item, _ in written):
            return
        known = self._concepts()
        wanted = {
            (memory, "references", known[form(name)]): ""
            for item, memory in written
            for name in item.about
            if form(name) in known
        }
        self._put(wanted)

    def _join(self, joined: Sequence[Joined]) -> None:
        names = self.names.get([end for one in joined for end in (one.src, one.dst)])
        wanted: dict[tuple[str, str, str], str] = {}
        for one in joined:
            src, dst = names.get(one.src), names.get(one.dst)
            if src is not None and dst is not None and src != dst:
                wanted.setdefault((src, one.kind, dst), one.rule)
        self._put(wanted)

    def _put(self, wanted: dict[tuple[str, str, str], str]) -> None:
        """Put edges that are not there."""
        desk = self._desk
        kinds = sorted({kind for _, kind, _ in wanted})
        with desk.store.reader(desk.scope) as reader:
            held = reader.edges(sorted({src for src, _, _ in wanted}), kinds) if wanted else []
        present = {(edge.src, edge.kind, edge.dst) for edge in held}
        at = now_micros()
        fresh = tuple(
            Edge(*ends, self._key, 1.0, at, "given", rule or "imported")
            for ends, rule in wanted.items()
            if ends not in present
        )
        self.counts["edges"] += len(fresh)
        if fresh and not self._dry:
            desk.store.write(desk.scope, [PutEdges(fresh)], durable=True)


def _id(one: Drawn, here: Container[str]) -> str:
    """Return the id of what was drawn, which an earlier version may have stored under another."""
    return one.exact if one.exact in here and not one.scrubbed else one.record.id
