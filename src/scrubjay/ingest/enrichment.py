"""Enrichment: connect stored memories by entities, similarity, topics, links and folders, and extract facts from turns.

The mark of a memory (`Record.due`) is the queue: it is written with the text, and changed with the edges. So enrichment
can be interrupted at any time, and the next call ends in the same state.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.fact_stage import FactStage
from scrubjay.ingest.finalizer import finalize_source
from scrubjay.ingest.linker import EdgeBuilder
from scrubjay.ingest.sync_run import write_in_batches
from scrubjay.models.records import (
    DUE_EDGES,
    DUE_FACTS,
    DUE_LINKS,
    DUE_PLACE,
    Scope,
    due_level,
    due_mark,
    due_since,
)
from scrubjay.models.reports import Progress
from scrubjay.storage.changes import PreparedMemory, PutDue, PutMemory
from scrubjay.storage.interface import DueMemory, Reader, Store
from scrubjay.text.language import detect_language
from scrubjay.text.tokenizer import Terms
from scrubjay.tracing import traced

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder

PAGE: Final = 1_000
"""Memories of one transaction, whose entities are discovered together."""
NO_TERMS: Final = Terms({}, 0)


def due_memories(reader: Reader, level: int = DUE_LINKS) -> list[DueMemory]:
    """Return memories that enrichment is due for, except those of others' sources, who know their folders."""
    found = reader.due(level)
    own = {source.id for source in reader.sources()} if found else set()
    return [one for one in found if one.source is None or one.source in own]


@dataclass(frozen=True, slots=True)
class EnrichmentRun:
    """One call; ``edges`` and ``facts`` are used by no other.

    Attributes:
        recluster: Recomputes the topics that are due, by ``edges.written``.
        proceed: Asked before each page; where it returns False the run ends, and a later one continues.
    """

    store: Store
    scope: Scope
    base: Embedder
    edges: EdgeBuilder
    facts: FactStage
    recluster: Callable[[], None]
    progress: Callable[[Progress], None] | None
    proceed: Callable[[], bool]

    def enrich(self) -> None:
        """Enrich pending memories page by page, then the links and folders of their sources, then topics."""
        started, done = time.monotonic(), 0
        with self.store.reader(self.scope) as reader:
            due = due_memories(reader, DUE_EDGES)
        for first in range(0, len(due), PAGE):
            if not self.proceed():
                return
            page = due[first : first + PAGE]
            self._connect([one.id for one in page])
            done += len(page)
            if self.progress is not None:
                self.progress(Progress("connect", done, len(due), time.monotonic() - started))
        with self.store.reader(self.scope) as reader:
            connected = [one for one in due_memories(reader) if due_level(one.mark) < DUE_EDGES]
        self._finalize_sources(connected)
        # An interrupted call may have connected more of them.
        self.edges.written |= Counter(one.key for one in connected if due_level(one.mark) == DUE_PLACE)
        self.recluster()
        for first in range(0, len(connected), PAGE):
            was = {one.id: one.mark for one in connected[first : first + PAGE]}
            self.store.write(self.scope, [PutDue(dict.fromkeys(was, 0), was)])

    @traced("scrubjay.enrich.connect")
    def _connect(self, ids: Sequence[str]) -> None:
        fingerprint = self.base.model.fingerprint
        with self.store.reader(self.scope) as reader:
            records = [one for one in reader.get(ids).values() if due_level(one.due) >= DUE_EDGES]
            embedded = any(one.model.fingerprint == fingerprint for one in reader.models())
            vectors = reader.vectors(fingerprint, [one.id for one in records]) if embedded else {}
        memories = [
            PreparedMemory(
                one,
                NO_TERMS,
                {fingerprint: vectors[one.id]} if one.id in vectors else {},
                detect_language(one.content) if due_level(one.due) == DUE_FACTS else "",
            )
            for one in records
        ]
        self.edges.add_entities(records, records)
        facts = self.facts.extract([one for one in memories if one.language], settle=False)
        self.edges.add_entities([one.record for one in facts.fresh])
        was = {one.id: one.due for one in records}
        first, last = self.edges.changes([*memories, *facts.fresh], list(was))
        left = {memory: due_mark(DUE_PLACE, due_since(mark)) for memory, mark in was.items()}
        self.store.write(
            self.scope, [*first, *map(PutMemory, facts.fresh), *last, *facts.after, PutDue(left, was)]
        )

    @traced("scrubjay.enrich.finalize")
    def _finalize_sources(self, due: Sequence[DueMemory]) -> None:
        by_source: dict[str, dict[str, int]] = defaultdict(dict)
        for one in due:
            if one.source is not None and one.path is not None:
                levels = by_source[one.source]
                levels[one.path] = max(due_level(one.mark), levels.get(one.path, 0))
        if not by_source:
            return
        secret = self.store.secret(self.scope)
        with self.store.reader(self.scope) as reader:
            sources = [source for source in reader.sources() if source.id in by_source]
        for source in sources:
            with self.store.reader(self.scope) as reader:
                levels = by_source[source.id]
                changes = finalize_source(reader, secret, self.scope, source, levels, self.edges.stages)
            write_in_batches(lambda some: self.store.write(self.scope, some), changes)
