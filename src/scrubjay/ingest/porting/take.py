"""Take: an export's file -> what of it is not here yet, in this store, under this principal's scope.

Each batch is one transaction and what is here is found again, so an import that was killed goes on when it is run
again, and one that is run twice adds nothing. Nothing of it is seen by more people than the principal says.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from scrubjay.errors import InputError
from scrubjay.ingest.porting.fields import Fields
from scrubjay.ingest.porting.into import Into
from scrubjay.ingest.porting.memories import Memories
from scrubjay.ingest.porting.read import Header, lines
from scrubjay.ingest.porting.ties import Concepts, Edges, Events, Runs
from scrubjay.ingest.porting.values import Values
from scrubjay.memory.ids import memory_key
from scrubjay.memory.records import Source
from scrubjay.memory.reports import Progress
from scrubjay.memory.sources import location, source_id
from scrubjay.store.changes import PutSource

Report = Callable[[Progress], None]


def take(
    file: Path, header: Header, into: Into, *, shared: bool = False, progress: Report | None = None
) -> None:
    """Take an export in; what came of it is in ``into``.

    Args:
        file: The export, checked.
        header: What its first line says.
        into: Where to.
        shared: Let what was shared be shared again, as far as the principal may.
        progress: Told how far it is.

    Raises:
        InputError: A line is wrong. What stands above it is imported; the same file again goes on there.
    """
    started = time.monotonic()
    values = Values(
        into.scope,
        shared=shared or into.own,
        scrubbed=into.scrubbed,
        untrusted=into.untrusted,
        allow=into.allow,
    )
    taker = _Taker(into, values)
    at = done = 0
    try:
        for number, kind, line in lines(file):
            at = number
            taker.take(kind, line)
            done += kind == "memory"
            if progress is not None and kind == "memory" and done % 100 == 0:
                progress(Progress("import", done, header.memories, time.monotonic() - started))
        taker.finish()
    except InputError as error:
        state = "Nothing was imported." if into.dry else "What stands above it is imported, whole."
        message = f"Line {at:,} of {file} cannot be taken: {str(error).rstrip('.')}. {state}"
        raise InputError(message, hint=error.hint or "export it again, then import that file") from error
    finally:
        into.names.close()


class _Taker:
    """Takes line after line."""

    def __init__(self, into: Into, values: Values) -> None:
        self._into = into
        self._values = values
        self._sources: dict[str, Source] = {}
        self._concepts = Concepts(into)
        self._memories = Memories(into)
        self._edges = Edges(into)
        self._events = Events(into)
        self._runs = Runs(into)
        with into.store.reader(into.scope) as reader:
            self._known = reader.sources()
        self._before = ""

    def take(self, kind: str, line: Fields) -> None:
        """Take one line."""
        if kind != self._before:
            self._turn(kind)
        match kind:
            case "source":
                self._source(self._values.source(line))
            case "concept":
                self._concepts.take(self._values.concept(line))
            case "run":
                self._runs.take(self._values.run(line))
            case "document":
                document = self._values.document(line)
                source = self._sources.get(document.source)
                if source is None:
                    raise InputError(f"no source {document.source} stands above it")
                memories = line.number("memories", least=0)
                self._memories.document(replace(document, source=source.id), source, memories)
            case "memory":
                record = self._values.record(line)
                self._memories.memory(record, keep=line.text("key") in ("user", record.key))
            case "edge":
                self._edges.take(self._values.edge(line))
            case "event":
                self._events.take(self._values.event(line))

    def _turn(self, kind: str) -> None:
        """Write what the lines that follow may rest on."""
        if self._before in ("document", "memory") and kind not in ("document", "memory"):
            self._memories.whole()
            self._memories.flush()
        elif self._before == "concept":
            self._concepts.flush()
        elif self._before == "edge":
            self._edges.flush()
        self._before = kind

    def finish(self) -> None:
        """Write what is left."""
        self._turn("")
        self._memories.flush()
        self._edges.flush()
        self._events.flush()

    def _source(self, told: Source) -> None:
        into = self._into
        if not into.own and told.trust == "trusted":
            told = replace(told, trust="")  # by somebody else, of a folder of theirs
        here = next((one for one in self._known if _same(one, told)), None)
        if here is None and into.own:
            here = next((one for one in self._known if one.id == told.id), None)
        if here is None:
            made = told.id if into.own else source_id(into.secret, location(told), told.key)
            if any(one.id == made for one in self._known):  # it stood at that root, and was moved since
                made = f"src_{memory_key(into.secret, ('import', into.store_of, told.id)):016x}"
            here = replace(told, id=made)
            if here.id not in {one.id for one in self._known}:
                self._known.append(here)
                into.places.append(location(here))
                into.write([PutSource(here)])
        self._sources[told.id] = here


def _same(one: Source, other: Source) -> bool:
    return (location(one), one.key) == (location(other), other.key)
