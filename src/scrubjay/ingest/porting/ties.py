"""Ties: concepts, edges, events and runs of another store -> those that are not here yet, a batch at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from scrubjay.ingest.lexicon import form
from scrubjay.ingest.porting.into import Into
from scrubjay.memory.concepts import Concept
from scrubjay.memory.edges import Edge
from scrubjay.memory.events import Event
from scrubjay.memory.ids import DIGITS, concept_id, memory_key
from scrubjay.memory.runs import Run
from scrubjay.memory.tiers import CONCEPT_PREFIX
from scrubjay.store.changes import PutConcept, PutEdges, PutEvents, PutRun

AT_ONCE: Final = 2_000
"""Ties of one transaction."""
EVERY: Final = 10_000_000
"""More events and runs than a batch of memories has."""


class Concepts:
    """Takes names in: a name that means something here goes on meaning that."""

    def __init__(self, into: Into) -> None:
        self._into = into
        self._waiting: list[PutConcept] = []
        with into.store.reader(into.scope) as reader:
            rows = reader.concepts()
        self._rows = {(row.id, row.key) for row in rows}
        self._here: dict[str, set[str]] = {}
        self._means: dict[tuple[str, str], str] = {}
        for row in rows:
            self._here.setdefault(row.id, set()).add(form(row.name))
            self._means.setdefault((row.key, form(row.name)), row.id)
            self._means.setdefault(("", form(row.name)), row.id)

    def take(self, concept: Concept) -> None:
        """Take what one visibility key knows of a concept."""
        into = self._into
        here = into.names.get([concept.id]).get(concept.id) or self._id(concept)
        into.names.put(concept.id, here)
        if (here, concept.key) in self._rows:
            return
        self._rows.add((here, concept.key))
        into.counts["concepts"] += 1
        self._waiting.append(PutConcept(replace(concept, id=here)))
        if len(self._waiting) >= AT_ONCE:
            self.flush()

    def _id(self, concept: Concept) -> str:
        """Return the id that a concept has here; of two with one name in one file, the second gets one of its own."""
        into, name = self._into, form(concept.name)
        if into.own or name in self._here.get(concept.id, ()):
            return concept.id
        own = f"{CONCEPT_PREFIX}{memory_key(into.secret, ('import', into.store_of, concept.id)):0{DIGITS}x}"
        if own in self._here:
            return own
        made = concept_id(into.secret, name)
        named = self._means.get((concept.key, name)) or self._means.get(("", name))
        known = made if name in self._here.get(made, ()) else named or ("" if made in self._here else made)
        return known if known and not into.names.taken(known, concept.id) else own

    def flush(self) -> None:
        """Write what is waiting."""
        changes, self._waiting = self._waiting, []
        self._into.write(changes)


class Edges:
    """Takes edges in, between memories and concepts that are here; one that is here stays as it is."""

    def __init__(self, into: Into) -> None:
        self._into = into
        self._waiting: list[Edge] = []

    def take(self, edge: Edge) -> None:
        """Take one edge."""
        self._waiting.append(edge)
        if len(self._waiting) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        waiting, self._waiting = self._waiting, []
        into = self._into
        names = into.names.get([end for edge in waiting for end in (edge.src, edge.dst)])
        told: dict[tuple[str, str, str], Edge] = {}
        for edge in waiting:
            if edge.src in names and edge.dst in names:
                here = replace(edge, src=names[edge.src], dst=names[edge.dst])
                told.setdefault((here.src, here.kind, here.dst), here)
        kinds = sorted({edge.kind for edge in told.values()})
        with into.store.reader(into.scope) as reader:
            held = reader.edges(sorted({edge.src for edge in told.values()}), kinds) if told else []
        present = {(edge.src, edge.kind, edge.dst) for edge in held}
        fresh = tuple(edge for name, edge in told.items() if name not in present)
        into.counts["edges"] += len(fresh)
        if fresh:
            into.write([PutEdges(fresh)])


class Events:
    """Takes histories in: of each memory, what its history here does not tell yet."""

    def __init__(self, into: Into) -> None:
        self._into = into
        self._waiting: list[Event] = []

    def take(self, event: Event) -> None:
        """Take one event; those of one memory follow each other."""
        if len(self._waiting) >= AT_ONCE and event.memory != self._waiting[-1].memory:
            self.flush()
        self._waiting.append(event)

    def flush(self) -> None:
        """Write what is waiting."""
        waiting, self._waiting = self._waiting, []
        into = self._into
        names = into.names.get([one for event in waiting for one in (event.memory, event.other)])
        told = [
            replace(event, memory=names[event.memory], other=names.get(event.other))
            for event in waiting
            if event.memory in names
        ]
        ids = sorted({event.memory for event in told})
        with into.store.reader(into.scope) as reader:
            keys = {memory: record.key for memory, record in reader.get(ids).items()}
            held = Counter(replace(event, key="") for event in reader.events(ids, limit=EVERY)) if ids else {}
        fresh = []
        for event in told:
            if held.get(event, 0) > 0:
                held[event] -= 1
            elif event.memory in keys or into.dry:
                fresh.append(replace(event, key=keys.get(event.memory, "")))
        into.counts["events"] += len(fresh)
        if fresh:
            into.write([PutEvents(tuple(fresh))])


class Runs:
    """Takes in what nights did, so that one of them can be taken back here as well."""

    def __init__(self, into: Into) -> None:
        self._into = into
        with into.store.reader(into.scope) as reader:
            self._rows = {(run.id, run.key) for run in reader.runs(EVERY)}

    def take(self, run: Run) -> None:
        """Take one run."""
        if (run.id, run.key) not in self._rows:
            self._rows.add((run.id, run.key))
            self._into.counts["runs"] += 1
            self._into.write([PutRun(run)])
