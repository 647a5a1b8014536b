"""Into: where lines are taken to, by whom, and what has come of it so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scrubjay.ingest.porting.names import Names
from scrubjay.memory.dates import shown
from scrubjay.memory.moves import Sample
from scrubjay.memory.records import Record
from scrubjay.memory.scope import Scope
from scrubjay.store.base import Store
from scrubjay.store.changes import Change

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

SAMPLES: Final = 5
"""Memories that are shown of an import."""
PHRASE: Final = 100
"""Characters of the text of each."""


@dataclass(slots=True)
class Into:
    """One import on its way.

    Attributes:
        store: Where.
        scope: Who takes it in.
        base: The base model.
        overlap: Tokens of the piece before that are embedded with a piece.
        store_of: What tells the store that it came from.
        own: Whether that is this principal's own store, so that ids are the same.
        dry: Whether nothing is written.
        secret: The tenant's key of ids.
        untrusted: Whether nobody vouches for any of it.
        allow: What is never replaced as a secret.
        names: What things are called here.
        counts: What was done to how many.
        keys: Visibility keys under which memories were written.
        sources: Ids of sources whose documents were written.
        places: Folders and files of sources that are new.
        samples: The first memories that are new.
        scrubbed: Kind of secret to how many were replaced.
    """

    store: Store
    scope: Scope
    base: Embedder
    overlap: int
    store_of: str
    own: bool
    dry: bool
    secret: bytes
    untrusted: bool = False
    allow: Sequence[str] = ()
    names: Names = field(default_factory=Names)
    counts: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    sources: set[str] = field(default_factory=set)
    places: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    scrubbed: Counter[str] = field(default_factory=Counter)

    def write(self, changes: Sequence[Change]) -> None:
        """Write durably, unless nothing is to be written."""
        if changes and not self.dry:
            self.store.write(self.scope, changes, durable=True)

    def added(self, record: Record) -> None:
        """Count a memory that is new."""
        self.counts["added"] += 1
        self.keys[record.key] += 1
        if len(self.samples) < SAMPLES:
            self.samples.append(sample(record))


def sample(record: Record) -> Sample:
    """Return a memory as one of the first of an import."""
    text = " ".join(record.content[: 4 * PHRASE].split())
    date = "" if record.event is None else shown(record.event, record.recorded_at)
    return Sample(record.tier, record.title, text if len(text) <= PHRASE else f"{text[: PHRASE - 1]}…", date)
