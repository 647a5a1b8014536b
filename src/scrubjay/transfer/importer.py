"""Importer: write what an export holds and this store does not, batch by batch.

Existing memories win and forgotten ones do not return. Each batch is one transaction that looks up what exists, so an
interrupted import resumes when run again, and a second run adds nothing.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.entities.dictionary import normal_form
from scrubjay.errors import InputError
from scrubjay.ingest.additions import addition_key
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.dates import format_event
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.ids import ID_DIGITS, entity_id, memory_id, memory_key, tombstone_hashes
from scrubjay.models.lifecycle import ConsolidationRun, Event
from scrubjay.models.records import ENTITY_PREFIX, Document, Record, Scope, Source
from scrubjay.models.reports import ImportSample, Progress
from scrubjay.models.sources import source_id, source_location
from scrubjay.storage.changes import (
    Change,
    PreparedMemory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutMemory,
    PutRun,
    PutSource,
)
from scrubjay.storage.interface import Reader, Store
from scrubjay.transfer.archive import (
    ExportHeader,
    LineFields,
    ValueReader,
    read_export_lines,
    relocated_passage,
)

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


class IdMap:
    """Ids of the export to ids here, in a temporary database: an export may hold more memories than fit in RAM."""

    def __init__(self) -> None:
        # A database without a name lies in a temporary file that nobody else sees, and goes with the connection.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE name (old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID")
        self._db.execute("CREATE INDEX by_new ON name (new)")

    def put(self, old: str, new: str | None) -> None:
        """Set an id; None where the item was not imported."""
        self._db.execute("INSERT OR REPLACE INTO name VALUES (?, ?)", (old, new))

    def get(self, old: Iterable[str | None]) -> dict[str | None, str]:
        """Return the ids of those that are here."""
        found: dict[str | None, str] = {}
        for one in {each for each in old if each is not None}:
            row = self._db.execute("SELECT new FROM name WHERE old = ?", (one,)).fetchone()
            if row is not None and row[0] is not None:
                found[one] = row[0]
        return found

    def taken(self, new: str, by: str) -> bool:
        """Return whether another item has this id."""
        rows = self._db.execute("SELECT 1 FROM name WHERE new = ? AND old <> ?", (new, by))
        return rows.fetchone() is not None

    def close(self) -> None:
        self._db.close()


MAX_SAMPLES: Final = 5
"""Memories that are shown of an import."""
SAMPLE_CHARACTERS: Final = 100
"""Characters of the text of each."""


@dataclass(slots=True)
class ImportContext:
    """One import in progress.

    Attributes:
        store_of: Identifies the store that it came from.
        own: Whether that is this principal's own store, so that ids are the same.
        dry: Whether nothing is written.
        untrusted: Whether nobody vouches for any of it.
        keys: Visibility keys under which memories were written.
        sources: Ids of sources whose documents were written.
        places: Folders and files of new sources.
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
    names: IdMap = field(default_factory=IdMap)
    counts: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    sources: set[str] = field(default_factory=set)
    places: list[str] = field(default_factory=list)
    samples: list[ImportSample] = field(default_factory=list)
    scrubbed: Counter[str] = field(default_factory=Counter)

    def write(self, changes: Sequence[Change]) -> None:
        """Write durably, except in a dry run."""
        if changes and not self.dry:
            self.store.write(self.scope, changes, durable=True)

    def added(self, record: Record) -> None:
        self.counts["added"] += 1
        self.keys[record.key] += 1
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append(sample_memory(record))


def sample_memory(record: Record) -> ImportSample:
    text = " ".join(record.content[: 4 * SAMPLE_CHARACTERS].split())
    date = "" if record.event is None else format_event(record.event, record.recorded_at)
    return ImportSample(
        record.tier,
        record.title,
        text if len(text) <= SAMPLE_CHARACTERS else f"{text[: SAMPLE_CHARACTERS - 1]}…",
        date,
    )


MEMORY_BATCH: Final = 500
"""Memories of one transaction."""
BATCH_CHARACTERS: Final = 4_000_000
"""Characters after which a transaction is full, however few memories they are."""


@dataclass(slots=True)
class _OpenDocument:
    """A document whose passages are being read.

    Attributes:
        left: Passages still to come.
        held: Content hash to ids of its passages here, where it exists already.
        begun: Whether a part of it was written.
        torn: Whether one of its passages stands elsewhere here, so that the file must be read again.
    """

    document: Document
    left: int
    held: dict[str, list[str]] | None = None
    begun: bool = False
    torn: bool = False


@dataclass(slots=True)
class _DocumentPart:
    """Passages of a document read so far, each with whether it may keep its id; or memories outside documents."""

    opened: _OpenDocument | None
    records: list[tuple[Record, bool]] = field(default_factory=list)
    last: bool = False


class MemoryImporter:
    """Imports memories, in the order of the lines."""

    def __init__(self, into: ImportContext) -> None:
        self._into = into
        self._pieces: list[_DocumentPart] = []
        self._pending = self._characters = 0
        self._open: _OpenDocument | None = None
        self._documents: dict[str, dict[str, Document]] = {}

    def document(self, document: Document, source: Source, memories: int) -> None:
        """Begin a document of a source, under the names that both have here."""
        self.whole()
        opened = _OpenDocument(document, memories)
        with self._into.store.reader(self._into.scope) as reader:
            if source.id not in self._documents:
                self._documents = {source.id: reader.documents(source.id)}  # lines are by source
            known = self._documents[source.id].get(document.path)
            if known is not None and known.content_hash:
                opened.held = {}
                for record in reader.passages(source.id, document.path):
                    opened.held.setdefault(record.content_hash, []).append(record.id)
            opened.begun = known is not None and not known.content_hash
        self._open = opened
        self._pieces.append(_DocumentPart(opened, last=memories == 0))
        self._into.sources.add(source.id)

    def memory(self, record: Record, *, keep: bool) -> None:
        """Import a memory with its old id, which it may ``keep``; a passage belongs to the last document."""
        if record.place is not None:
            record = self._passage(record)
        elif self._open is not None:
            self.whole()
        if not self._pieces or self._pieces[-1].last or (self._pieces[-1].opened is not self._open):
            self._pieces.append(_DocumentPart(self._open))
        self._pieces[-1].records.append((record, keep))
        if self._open is not None:
            self._open.left -= 1
            self._pieces[-1].last = self._open.left == 0
            if self._open.left == 0:
                self._open = None
        self._pending += 1
        self._characters += len(record.content)
        if self._pending >= MEMORY_BATCH or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def _passage(self, record: Record) -> Record:
        if self._open is None:
            raise InputError("it stands in a document that does not stand above it")
        return relocated_passage(record, self._open.document)

    def whole(self) -> None:
        """Check that no passage of the last document is missing.

        Raises:
            InputError: One is.
        """
        if self._open is not None and self._open.left > 0:
            raise InputError(f"{self._open.left:,} passages of {self._open.document.path} are missing above")
        self._open = None

    def flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        self._pending = self._characters = 0
        records = [pair for piece in pieces for pair in piece.records]
        with self._into.store.reader(self._into.scope) as reader:
            sight = _ExistingRows(self._into, reader, records)
            fresh = [[one for record, _ in p.records if (one := sight.new(record, p))] for p in pieces]
        prepared = iter(self._embedded(fresh))
        changes: list[Change] = []
        for piece, mine in zip(pieces, fresh, strict=True):
            own = tuple(next(prepared) for _ in mine)
            if piece.opened is None:
                changes += [PutMemory(memory) for memory in own]
            else:
                changes += self._put(piece.opened, own, last=piece.last)
        self._into.write(changes)

    def _put(self, opened: _OpenDocument, fresh: tuple[PreparedMemory, ...], *, last: bool) -> list[Change]:
        """Until its last passage is written a document has no content hash, so a sync reads its file again."""
        document = opened.document
        if opened.held is not None or not (fresh or (opened.begun and last) or (last and not opened.torn)):
            return []
        if not last or opened.torn:
            document = replace(document, content_hash="", mtime_ns=0, size=0, cursor=0)
        if not opened.begun:
            self._into.counts["documents"] += 1
        grows, opened.begun = opened.begun, True
        return [PutDocument(document, fresh, grows=grows)]

    def _embedded(self, fresh: Sequence[Sequence[Record]]) -> list[PreparedMemory]:
        befores: list[str] = []
        for records in fresh:
            for place, record in enumerate(records):
                before = records[place - 1] if place and record.place is not None else record
                same = (before.heading_path, before.key) == (record.heading_path, record.key)
                befores.append(before.content if same and before is not record else "")
        prepared = [prepare_memory(record) for records in fresh for record in records]
        if self._into.dry:
            return prepared
        return embed_memories(prepared, befores, self._into.base, self._into.overlap)


class _ExistingRows:
    def __init__(self, into: ImportContext, reader: Reader, records: Sequence[tuple[Record, bool]]) -> None:
        self._into = into
        self._told = reader.get([record.id for record, _ in records])
        self._ids = {record.id: self._candidates(record, keep=keep) for record, keep in records}
        self._here = reader.get([made for several in self._ids.values() for made in several])
        self._marks = {r.id: tombstone_hashes(into.secret, r.content, into.scope.keys) for r, _ in records}
        self._gone = reader.forgotten([mark for marks in self._marks.values() for mark in marks])

    def _candidates(self, record: Record, *, keep: bool) -> list[str]:
        into = self._into
        found = [record.id] if keep and into.own else []
        if not found and record.place is None and record.origin != "derived":
            found.append(memory_id(record.tier, addition_key(into.secret, record)))
        return [*found, memory_id(record.tier, memory_key(into.secret, ("import", into.store_of, record.id)))]

    def new(self, record: Record, piece: _DocumentPart) -> Record | None:
        """Return a memory under its id here, None where it is not to be written; record its id and count it."""
        into, opened = self._into, piece.opened
        here = self._told.get(record.id)
        if here is not None and (into.own or here.content_hash == record.content_hash):
            self._known(record, here, opened)
            return None
        # Of two memories that say the same, only the first gets the id of an addition.
        made = next(one for one in self._ids[record.id] if not into.names.taken(one, record.id))
        if made in self._here:
            self._known(record, self._here[made], opened)
            return None
        if opened is not None and opened.held is not None:
            alike = opened.held.get(record.content_hash)
            into.names.put(record.id, alike.pop(0) if alike else None)
            into.counts["existed" if alike is not None else "passed"] += 1
            return None
        if not self._gone.isdisjoint(self._marks[record.id]):
            into.names.put(record.id, None)
            into.counts["forgotten"] += 1
            return None
        into.names.put(record.id, made)
        named = replace(record, id=made)
        into.added(named)
        return named

    def _known(self, record: Record, here: Record, opened: _OpenDocument | None) -> None:
        if opened is not None and opened.held is None:
            stands = None if here.place is None else (here.place.source, here.place.path)
            opened.torn |= stands != (opened.document.source, opened.document.path)
        self._into.names.put(record.id, here.id)
        self._into.counts["existed"] += 1


TIE_BATCH: Final = 2_000
"""Ties of one transaction."""
ALL_ROWS: Final = 10_000_000
"""More events and runs than a batch of memories has."""


class EntityImporter:
    """Imports entities: a name that exists here keeps its entity."""

    def __init__(self, into: ImportContext) -> None:
        self._into = into
        self._pending: list[PutConcept] = []
        with into.store.reader(into.scope) as reader:
            rows = reader.concepts()
        self._rows = {(row.id, row.key) for row in rows}
        self._here: dict[str, set[str]] = {}
        self._means: dict[tuple[str, str], str] = {}
        for row in rows:
            self._here.setdefault(row.id, set()).add(normal_form(row.name))
            self._means.setdefault((row.key, normal_form(row.name)), row.id)
            self._means.setdefault(("", normal_form(row.name)), row.id)

    def take(self, concept: Entity) -> None:
        into = self._into
        here = into.names.get([concept.id]).get(concept.id) or self._id(concept)
        into.names.put(concept.id, here)
        if (here, concept.key) in self._rows:
            return
        self._rows.add((here, concept.key))
        into.counts["concepts"] += 1
        self._pending.append(PutConcept(replace(concept, id=here)))
        if len(self._pending) >= TIE_BATCH:
            self.flush()

    def _id(self, concept: Entity) -> str:
        """Of two entities with one name in one file, the second gets an id of its own."""
        into, name = self._into, normal_form(concept.name)
        if into.own or name in self._here.get(concept.id, ()):
            return concept.id
        own = f"{ENTITY_PREFIX}{memory_key(into.secret, ('import', into.store_of, concept.id)):0{ID_DIGITS}x}"
        if own in self._here:
            return own
        made = entity_id(into.secret, name)
        named = self._means.get((concept.key, name)) or self._means.get(("", name))
        known = made if name in self._here.get(made, ()) else named or ("" if made in self._here else made)
        return known if known and not into.names.taken(known, concept.id) else own

    def flush(self) -> None:
        changes, self._pending = self._pending, []
        self._into.write(changes)


class EdgeImporter:
    """Imports edges between memories and entities that are here; existing ones stay as they are."""

    def __init__(self, into: ImportContext) -> None:
        self._into = into
        self._pending: list[Edge] = []

    def take(self, edge: Edge) -> None:
        self._pending.append(edge)
        if len(self._pending) >= TIE_BATCH:
            self.flush()

    def flush(self) -> None:
        pending, self._pending = self._pending, []
        into = self._into
        names = into.names.get([end for edge in pending for end in (edge.src, edge.dst)])
        edges: dict[tuple[str, str, str], Edge] = {}
        for edge in pending:
            if edge.src in names and edge.dst in names:
                here = replace(edge, src=names[edge.src], dst=names[edge.dst])
                edges.setdefault((here.src, here.kind, here.dst), here)
        kinds = sorted({edge.kind for edge in edges.values()})
        with into.store.reader(into.scope) as reader:
            held = reader.edges(sorted({edge.src for edge in edges.values()}), kinds) if edges else []
        present = {(edge.src, edge.kind, edge.dst) for edge in held}
        fresh = tuple(edge for name, edge in edges.items() if name not in present)
        into.counts["edges"] += len(fresh)
        if fresh:
            into.write([PutEdges(fresh)])


class EventImporter:
    """Imports the events that each memory's history here lacks."""

    def __init__(self, into: ImportContext) -> None:
        self._into = into
        self._pending: list[Event] = []

    def take(self, event: Event) -> None:
        """Add an event; those of one memory are adjacent."""
        if len(self._pending) >= TIE_BATCH and event.memory != self._pending[-1].memory:
            self.flush()
        self._pending.append(event)

    def flush(self) -> None:
        pending, self._pending = self._pending, []
        into = self._into
        names = into.names.get([one for event in pending for one in (event.memory, event.other)])
        events = [
            replace(event, memory=names[event.memory], other=names.get(event.other))
            for event in pending
            if event.memory in names
        ]
        ids = sorted({event.memory for event in events})
        with into.store.reader(into.scope) as reader:
            keys = {memory: record.key for memory, record in reader.get(ids).items()}
            held = (
                Counter(replace(event, key="") for event in reader.events(ids, limit=ALL_ROWS)) if ids else {}
            )
        fresh = []
        for event in events:
            if held.get(event, 0) > 0:
                held[event] -= 1
            elif event.memory in keys or into.dry:
                fresh.append(replace(event, key=keys.get(event.memory, "")))
        into.counts["events"] += len(fresh)
        if fresh:
            into.write([PutEvents(tuple(fresh))])


class RunImporter:
    """Imports consolidation runs, so that they can be undone here as well."""

    def __init__(self, into: ImportContext) -> None:
        self._into = into
        with into.store.reader(into.scope) as reader:
            self._rows = {(run.id, run.key) for run in reader.runs(ALL_ROWS)}

    def take(self, run: ConsolidationRun) -> None:
        if (run.id, run.key) not in self._rows:
            self._rows.add((run.id, run.key))
            self._into.counts["runs"] += 1
            self._into.write([PutRun(run)])


Report = Callable[[Progress], None]


def import_lines(
    file: Path,
    header: ExportHeader,
    into: ImportContext,
    *,
    shared: bool = False,
    progress: Report | None = None,
) -> None:
    """Import a verified export; the results are in ``into``.

    With ``shared`` what was shared stays shared, as far as the principal may.

    Raises:
        InputError: A line is wrong. The lines above it are imported; running it again resumes there.
    """
    started = time.monotonic()
    values = ValueReader(
        into.scope,
        shared=shared or into.own,
        scrubbed=into.scrubbed,
        untrusted=into.untrusted,
        allow=into.allow,
    )
    taker = _LineImporter(into, values)
    at = done = 0
    try:
        for number, kind, line in read_export_lines(file):
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


class _LineImporter:
    def __init__(self, into: ImportContext, values: ValueReader) -> None:
        self._into = into
        self._values = values
        self._sources: dict[str, Source] = {}
        self._concepts = EntityImporter(into)
        self._memories = MemoryImporter(into)
        self._edges = EdgeImporter(into)
        self._events = EventImporter(into)
        self._runs = RunImporter(into)
        with into.store.reader(into.scope) as reader:
            self._known = reader.sources()
        self._before = ""

    def take(self, kind: str, line: LineFields) -> None:
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
        if self._before in ("document", "memory") and kind not in ("document", "memory"):
            self._memories.whole()
            self._memories.flush()
        elif self._before == "concept":
            self._concepts.flush()
        elif self._before == "edge":
            self._edges.flush()
        self._before = kind

    def finish(self) -> None:
        self._turn("")
        self._memories.flush()
        self._edges.flush()
        self._events.flush()

    def _source(self, source: Source) -> None:
        into = self._into
        if not into.own and source.trust == "trusted":
            source = replace(source, trust="")  # by somebody else, of a folder of theirs
        here = next((one for one in self._known if _same(one, source)), None)
        if here is None and into.own:
            here = next((one for one in self._known if one.id == source.id), None)
        if here is None:
            id_here = source.id if into.own else source_id(into.secret, source_location(source), source.key)
            if any(one.id == id_here for one in self._known):  # it stood at that root, and was moved since
                id_here = f"src_{memory_key(into.secret, ('import', into.store_of, source.id)):016x}"
            here = replace(source, id=id_here)
            if here.id not in {one.id for one in self._known}:
                self._known.append(here)
                into.places.append(source_location(here))
                into.write([PutSource(here)])
        self._sources[source.id] = here


def _same(one: Source, other: Source) -> bool:
    return (source_location(one), one.key) == (source_location(other), other.key)
