"""Night: one consolidation, for one visibility key: what it reads and writes with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.consolidate.asking import Asking
from scrubjay.ingest.weave import Weaver
from scrubjay.memory.concepts import Concept
from scrubjay.memory.records import Record
from scrubjay.memory.reports import Progress
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Prepared

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

RULES: Final = "2"
"""Version of the rules by which memories are chosen, grouped and told; kept with each run."""
ASKED_NOBODY: Final = frozenset(("1",))
"""Versions of rules that archived, notes too, although nobody had asked for it."""

TIER: Final = "crystal"
"""Tier of a digest."""
RULE: Final = "digest"
"""Tells the edges of a digest from those of what else is derived."""
TRANSCRIPTS: Final = "transcripts"
"""Turns and tool results, as what may be archived."""
NOTES: Final = "notes"
"""Passages of daily notes, as what may be archived."""
MEMORIES: Final = "memories"
"""Name under which a run keeps how many memories its key held in the end."""
PAGE: Final = 500
"""Memories that are read together: 1 MB of turns."""


@dataclass(slots=True)
class Foreseen:
    """What a night that writes nothing would have written so far, for its later stages to read.

    Attributes:
        gone: Ids of digests that it would have taken back.
        digests: Digests that it would have made, with their vectors.
        facts: Facts that it would have made.
        changed: Facts of those with what each would have superseded.
        references: Id of a memory to the concepts that it would have been linked with.
        concepts: Concepts that it would have found, by id.
    """

    gone: set[str] = field(default_factory=set)
    digests: list[Prepared] = field(default_factory=list)
    facts: list[Record] = field(default_factory=list)
    changed: list[tuple[Record, Record]] = field(default_factory=list)
    references: dict[str, list[str]] = field(default_factory=dict)
    concepts: dict[str, Concept] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Night:
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
    weaver: Weaver
    run: str
    now: int
    after_days: int
    archive: frozenset[str] = frozenset()
    idle: bool = False
    dry_run: bool = False
    foreseen: Foreseen = field(default_factory=Foreseen)
    progress: Callable[[Progress], None] | None = None
    facts: Asking | None = None
    digests: Asking | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def viewers(self) -> Scope:
        """Whoever sees the key: it is read with their eyes, so nothing private moves what others see."""
        return self.scope.seen_with(self.key)

    def report(self, done: int, total: int) -> None:
        """Tell how many groups are done."""
        if self.progress is not None:
            self.progress(Progress("distil", done, total, time.monotonic() - self.began))
