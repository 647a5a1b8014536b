"""Importer: write the memories of an export that this store lacks, batch by batch.

Existing memories win and forgotten ones do not return. Each batch is one transaction that looks up what exists, so an
interrupted import resumes when run again, and a second run adds nothing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrubjay.entities.dictionary import normal_form
from scrubjay.errors import InputError
from scrubjay.ingest.additions import addition_key, has_same_text
from scrubjay.ingest.alignment import preceding_texts
from scrubjay.ingest.deletion import STATUS_EVENTS, find_forgotten
from scrubjay.ingest.embedder import embed_memories, prepare_memory
from scrubjay.models.dates import format_event, now_micros
from scrubjay.models.graph import Edge, Entity
from scrubjay.models.ids import ID_DIGITS, entity_id, forgotten_prefix, memory_id, memory_key, text_hash
from scrubjay.models.lifecycle import ConsolidationRun, Event, LifecycleChange
from scrubjay.models.records import (
    ENTITY_PREFIX,
    STATUSES,
    Document,
    Record,
    RecordFilter,
    Scope,
    Source,
)
from scrubjay.models.reports import ImportSample, Progress, ProgressCallback
from scrubjay.models.sources import is_single_file, source_id, source_location
from scrubjay.storage.changes import (
    Change,
    PreparedMemory,
    PutConcept,
    PutDocument,
    PutEdges,
    PutEvents,
    PutLifecycle,
    PutMemory,
    PutRun,
    PutSource,
    PutTombstones,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, Store, all_records, retry_conflicts
from scrubjay.storage.validation import is_unchanged
from scrubjay.text.display import excerpt
from scrubjay.text.normalize import normalize_content
from scrubjay.transfer.archive import (
    ALL_ROWS,
    COUNTS,
    ExportHeader,
    ExportLine,
    ValueReader,
    export_name,
    exported_documents,
    find_named,
    last_additions,
    local_forgotten_names,
    principal_mark,
    read_export_lines,
    read_field,
)

if TYPE_CHECKING:
    from scrubjay.embeddings.base import Embedder


class IdMap:
    """Ids of the export to ids here, in a temporary database: an export may hold more memories than fit in RAM."""

    def __init__(self) -> None:
        # A database without a name is a temporary file that is deleted with the connection.
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE name (old TEXT PRIMARY KEY, new TEXT, same INTEGER) WITHOUT ROWID")
        self._db.execute("CREATE INDEX by_new ON name (new)")
        self._db.execute("CREATE TABLE said (digest TEXT, status TEXT, id TEXT)")
        self._listed = False

    def put(self, old: str, new: str | None, *, same: bool = True) -> None:
        """Record an id; ``same`` is whether the memory here has the same text, so that no other one can be it."""
        self._db.execute("INSERT OR REPLACE INTO name VALUES (?, ?, ?)", (old, new, same))

    def get(self, old: Iterable[str | None]) -> dict[str | None, str]:
        ids: dict[str | None, str] = {}
        for one in {each for each in old if each is not None}:
            row = self._db.execute("SELECT new FROM name WHERE old = ?", (one,)).fetchone()
            if row is not None and row[0] is not None:
                ids[one] = row[0]
        return ids

    def is_taken(self, new: str, by: str) -> bool:
        rows = self._db.execute("SELECT 1 FROM name WHERE new = ? AND old <> ? AND same", (new, by))
        return rows.fetchone() is not None

    def find_text(self, reader: Reader, record: Record) -> list[str]:
        """Return the stored memories outside documents that say the same, those of the same status first."""
        if not self._listed:
            self._listed = True
            records = all_records(reader, RecordFilter(statuses=STATUSES))
            rows = ((_text_digest(one), one.status, one.id) for one in records if one.place is None)
            self._db.executemany("INSERT INTO said VALUES (?, ?, ?)", rows)
            self._db.execute("CREATE INDEX by_digest ON said (digest)")
        query = "SELECT id FROM said WHERE digest = ? ORDER BY status <> ?, id"
        return [row[0] for row in self._db.execute(query, (_text_digest(record), record.status))]

    def close(self) -> None:
        self._db.close()


def _text_digest(record: Record) -> str:
    """Return a hash of what two stores agree on in a memory: ids, owners and times of writing differ."""
    at = "" if record.event is None else str(record.event.start)
    turn = "" if record.turn is None else str(record.turn)
    # Two conversations may teach one fact; two that say the same words are two memories.
    session = "" if record.origin == "derived" and not turn else record.session or ""
    parts = (record.key, record.tier, record.project or "", at, session, turn)
    return text_hash("\x1f".join((*parts, normalize_content(record.content))))


MAX_SAMPLES: Final = 5
SAMPLE_CHARACTERS: Final = 100


@dataclass(frozen=True, slots=True)
class _OtherStatus:
    """A memory here and in the export.

    Attributes:
        set_at: Microseconds at which its status was last set here, 0 for never.
        said_at: Microseconds at which it was last added here.
    """

    here: Record
    set_at: int
    said_at: int
    there: Record


@dataclass(slots=True)
class ImportContext:
    """One import in progress.

    Attributes:
        origin_store: Identifies the store that it came from.
        own: Whether that is this principal's own store, so that ids are the same.
        untrusted: Whether nobody vouches for any of it.
        include_forgotten: Whether memories that were forgotten here are imported, too.
        keys: Visibility keys under which memories were written.
        sources: Ids of sources whose documents were written.
        places: Folders and files of new sources.
        scrubbed: Kind of secret to how many were replaced.
        mirrored: Ids of sources here whose folder is the export's at another path: what it lacks here is not imported.
        states: Id in the export to a memory here of another status.
        forgotten_there: Memories here that the store of the export has forgotten, each with whether it certainly forgot
            the text that is here.
        read: These memories, as they were read then.
    """

    store: Store
    scope: Scope
    base: Embedder
    overlap: int
    origin_store: str
    own: bool
    dry: bool
    secret: bytes
    untrusted: bool = False
    allow: Sequence[str] = ()
    include_forgotten: bool = False
    names: IdMap = field(default_factory=IdMap)
    counts: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    sources: set[str] = field(default_factory=set)
    places: list[str] = field(default_factory=list)
    samples: list[ImportSample] = field(default_factory=list)
    scrubbed: Counter[str] = field(default_factory=Counter)
    mirrored: set[str] = field(default_factory=set)
    states: dict[str, _OtherStatus] = field(default_factory=dict)
    passed_files: dict[str, None] = field(default_factory=dict)
    forgotten_there: dict[str, bool] = field(default_factory=dict)
    read: dict[str, Record] = field(default_factory=dict)

    def write(self, changes: Sequence[Change]) -> None:
        """Write durably, except in a dry run."""
        if changes and not self.dry:
            self.store.write(self.scope, changes, durable=True)

    def count_added(self, record: Record) -> None:
        self.counts["added"] += 1
        self.keys[record.key] += 1
        if len(self.samples) < MAX_SAMPLES:
            self.samples.append(sample_memory(record))


def sample_memory(record: Record) -> ImportSample:
    date = "" if record.event is None else format_event(record.event, record.recorded_at)
    return ImportSample(record.tier, record.title, excerpt(record.content, SAMPLE_CHARACTERS), date)


MEMORY_BATCH: Final = 500
"""Memories of one transaction."""
BATCH_CHARACTERS: Final = 4_000_000
"""Characters after which a transaction is full."""


@dataclass(slots=True)
class _OpenDocument:
    """A document whose passages are being read.

    Attributes:
        file: Path of its file here.
        stored: Content hash to its passages here, where it exists already.
        started: Whether a part of it was written.
        incomplete: Whether one of its passages stands elsewhere here, so that the file must be read again.
    """

    document: Document
    file: str
    remaining: int
    stored: dict[str, list[Record]] | None = None
    started: bool = False
    incomplete: bool = False


@dataclass(slots=True)
class _DocumentPart:
    """Passages of a document read so far, each with whether it may keep its id; or memories outside documents."""

    opened: _OpenDocument | None
    records: list[tuple[Record, bool]] = field(default_factory=list)
    last: bool = False


class MemoryImporter:
    def __init__(self, into: ImportContext) -> None:
        self._into = into
        self._parts: list[_DocumentPart] = []
        self._pending = self._characters = 0
        self._open: _OpenDocument | None = None
        self._documents: dict[str, dict[str, Document]] = {}

    def document(self, document: Document, source: Source, memories: int) -> None:
        """Begin a document of a source, under the names that both have here."""
        self.require_complete()
        file = Path(source.root) / document.path
        if not os.path.lexists(file):
            document = replace(document, size=-1 - document.size)
        opened = _OpenDocument(document, str(file), memories)
        with self._into.store.reader(self._into.scope) as reader:
            if source.id not in self._documents:
                self._documents = {source.id: reader.documents(source.id)}  # lines are by source
            known = self._documents[source.id].get(document.path)
            if known is not None and known.content_hash:
                opened.stored = {}
                for record in reader.passages(source.id, document.path):
                    opened.stored.setdefault(record.content_hash, []).append(record)
            opened.started = known is not None and not known.content_hash
            if known is None and source.id in self._into.mirrored and not document.cursor:
                opened.stored = {}  # the folder here does not have that note
        self._open = opened
        self._parts.append(_DocumentPart(opened, last=memories == 0))
        self._into.sources.add(source.id)

    def memory(self, record: Record, *, keep: bool) -> None:
        """Import a memory with its old id, which it may ``keep``; a passage belongs to the last document."""
        if record.place is not None:
            if self._open is None:
                raise InputError("its document is not above it")
            document = self._open.document
            record = replace(record, place=replace(record.place, source=document.source, path=document.path))
        elif self._open is not None:
            self.require_complete()
        if not self._parts or self._parts[-1].last or (self._parts[-1].opened is not self._open):
            self._parts.append(_DocumentPart(self._open))
        self._parts[-1].records.append((record, keep))
        if self._open is not None:
            self._open.remaining -= 1
            self._parts[-1].last = self._open.remaining == 0
            if self._open.remaining == 0:
                self._open = None
        self._pending += 1
        self._characters += len(record.content)
        if self._pending >= MEMORY_BATCH or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def require_complete(self) -> None:
        """Raise an `InputError` if a passage of the last document is missing."""
        if self._open is not None and self._open.remaining > 0:
            raise InputError(
                f"{self._open.remaining:,} passages of {self._open.document.path} are missing above"
            )
        self._open = None

    def flush(self) -> None:
        parts, self._parts = self._parts, []
        self._pending = self._characters = 0
        records = [pair for part in parts for pair in part.records]
        with self._into.store.reader(self._into.scope) as reader:
            existing = _ExistingRows(self._into, reader, records)
            fresh = [
                [one for record, _ in part.records if (one := existing.import_record(record, part.opened))]
                for part in parts
            ]
            matches = existing.match_events()
        if existing.forgotten_names:
            matches.append(PutTombstones(tuple(existing.forgotten_names)))
        prepared = iter(self._embed(fresh))
        memories = [[next(prepared) for _ in new_records] for new_records in fresh]
        retry_conflicts(lambda: self._write(parts, memories, matches))

    def _write(
        self,
        parts: Sequence[_DocumentPart],
        memories: Sequence[Sequence[PreparedMemory]],
        matches: Sequence[Change],
    ) -> None:
        """Write memories, except those that were added here since the import looked."""
        ids = [memory.record.id for own in memories for memory in own]
        with self._into.store.reader(self._into.scope) as reader:
            present = reader.get(ids)
        changes: list[Change] = []
        for part, own in zip(parts, memories, strict=True):
            new = tuple(memory for memory in own if memory.record.id not in present)
            if part.opened is None:
                changes += [PutMemory(memory) for memory in new]
            elif len(new) < len(own):
                part.opened.stored = {}  # a sync has read its file
            else:
                changes += self._document_changes(part.opened, new, last=part.last)
        if changes or matches:
            unchanged = RequireUnchanged({one: None for one in ids if one not in present})
            self._into.write([unchanged, *changes, *matches])

    def _document_changes(
        self, opened: _OpenDocument, fresh: tuple[PreparedMemory, ...], *, last: bool
    ) -> list[Change]:
        """Until its last passage a document is written without content hash, so that a sync reads its file again."""
        document = opened.document
        if opened.stored is not None or not (
            fresh or (opened.started and last) or (last and not opened.incomplete)
        ):
            return []
        if not last or opened.incomplete:
            size = min(document.size, 0)
            document = replace(document, content_hash="", mtime_ns=0, size=size, cursor=0)
        if not opened.started:
            self._into.counts["documents"] += 1
        grows, opened.started = opened.started, True
        return [PutDocument(document, fresh, grows=grows)]

    def _embed(self, fresh: Sequence[Sequence[Record]]) -> list[PreparedMemory]:
        prepared = [prepare_memory(record) for records in fresh for record in records]
        if self._into.dry:
            return prepared
        preceding = [text for records in fresh for text in preceding_texts(records)]
        return embed_memories(prepared, preceding, self._into.base, self._into.overlap)


class _ExistingRows:
    def __init__(self, into: ImportContext, reader: Reader, records: Sequence[tuple[Record, bool]]) -> None:
        self._into = into
        self._reader = reader
        self._exported = {record.id: record for record, _ in records}
        self._same_id = reader.get([record.id for record, _ in records])
        self._candidates = {record.id: self._candidate_ids(record, keep=keep) for record, keep in records}
        self._here = reader.get([one for ids in self._candidates.values() for one in ids])
        exported = list(self._exported.values())
        gone = find_forgotten(reader, into.secret, exported, lambda one: (one.content,), into.scope.keys)
        self._forgotten = {record.id for record, forgotten in zip(exported, gone, strict=True) if forgotten}
        self.matched: dict[str, Record] = {}
        self.forgotten_names: list[str] = []

    def _candidate_ids(self, record: Record, *, keep: bool) -> list[str]:
        """Return the ids that a memory may get, the best first: its own, that of an addition, a new one."""
        into = self._into
        ids = [record.id] if keep and into.own else []
        if not ids and record.place is None and record.origin != "derived":
            ids.append(memory_id(record.tier, addition_key(into.secret, record)))
        new_key = memory_key(into.secret, ("import", into.origin_store, record.id))
        return [*ids, memory_id(record.tier, new_key)]

    def import_record(self, record: Record, opened: _OpenDocument | None) -> Record | None:
        """Return a memory under its id here, None where it is not to be written; record its id and count it."""
        into = self._into
        here = self._same_id.get(record.id)
        if here is None or not (into.own or here.content_hash == record.content_hash):
            # Of two memories with one text, only the first gets the id of an addition.
            candidates = self._candidates[record.id]
            free = (one for one in candidates if not into.names.is_taken(one, record.id))
            new_id = next(free, candidates[-1])
            here = self._here.get(new_id)
            if record.place is None and (here is None or not has_same_text(here, record)):
                here = self._find_same_text(record) or (here if record.status != "superseded" else None)
                if here is None and new_id in self._here:
                    new_id = candidates[-1]
                    here = self._here.get(new_id)
        if here is not None:
            vouched = not into.untrusted and has_same_text(here, record)
            if here.place is None and here.status != record.status and vouched:
                into.states[record.id] = self._other_status(here, record)
            if opened is not None and opened.stored is None:
                place = None if here.place is None else (here.place.source, here.place.path)
                opened.incomplete |= place != (opened.document.source, opened.document.path)
            into.names.put(record.id, here.id, same=has_same_text(here, record))
            into.counts["existed"] += 1
            self.matched[record.id] = here
            return None
        if opened is not None and opened.stored is not None:
            same = opened.stored.get(record.content_hash)
            passage = same.pop(0) if same else None
            into.names.put(record.id, None if passage is None else passage.id)
            into.counts["existed" if same is not None else "passed"] += 1
            if same is None:
                into.passed_files[opened.file] = None
            if passage is not None:
                self.matched[record.id] = passage
            return None
        if record.id in self._forgotten and not into.include_forgotten:
            into.names.put(record.id, None)
            # Without a version: it may have been written there after it was forgotten here.
            if not (into.own or into.untrusted):
                name = export_name(into.origin_store, record.id)
                self.forgotten_names.append(forgotten_prefix(into.secret, record.key) + name)
            into.counts["forgotten"] += 1
            return None
        into.names.put(record.id, new_id)
        self.matched[record.id] = imported = replace(record, id=new_id)
        into.count_added(imported)
        return imported

    def _other_status(self, here: Record, there: Record) -> _OtherStatus:
        events = self._reader.events([here.id], limit=ALL_ROWS)
        set_at = max((event.at for event in events if event.op in STATUS_EVENTS), default=0)
        said_at = max(here.recorded_at, last_additions(events).get(here.id, 0))
        return _OtherStatus(here, set_at, said_at, there)

    def match_events(self) -> list[Change]:
        """Record under which names of the export its memories are here."""
        if self._into.own:
            return []
        ids = [one.id for one in self.matched.values()]
        stored: dict[tuple[str, str | None, int], int] = {}
        known = self._reader.events(ids, limit=ALL_ROWS)
        again = last_additions(known)
        for event in known:
            stored.setdefault((event.memory, event.run, event.count), event.at)  # the newest comes first
        now = now_micros()
        events = []
        for old, one in self.matched.items():
            name, there = export_name(self._into.origin_store, old), self._exported[old]
            version = there.updated_at if has_same_text(one, there) else 0
            at = stored.get((one.id, name, version))
            changed = max(one.updated_at, again.get(one.id, 0))
            if at is None or (version and at < changed <= now):
                events.append(Event(one.id, "imported", now, one.key, name, count=version))
        return [PutEvents(tuple(events))] if events else []

    def _find_same_text(self, record: Record) -> Record | None:
        names = self._into.names
        ids = [one for one in names.find_text(self._reader, record) if not names.is_taken(one, record.id)]
        return self._reader.get(ids[:1]).get(ids[0]) if ids else None


ROW_BATCH: Final = 2_000
"""Entities, edges or events of one transaction."""


def import_lines(
    file: Path,
    header: ExportHeader,
    into: ImportContext,
    *,
    shared: bool = False,
    progress: ProgressCallback | None = None,
) -> None:
    """Import a verified export; the results are in ``into``.

    With ``shared`` what was shared stays shared, as far as the principal may.

    Raises:
        InputError: A line is wrong. The lines above it are imported; running it again resumes there.
    """
    started = time.monotonic()
    importer = _LineImporter(into, file, shared=shared)
    at = done = 0
    try:
        for number, kind, line in read_export_lines(file):
            at = number
            importer.import_line(kind, line)
            done += kind == "memory"
            if progress is not None and kind == "memory" and done % 100 == 0:
                progress(Progress("import", done, header.memories, time.monotonic() - started))
        importer.finish()
        mark = principal_mark(into.secret, into.scope)
        with into.store.reader(into.scope) as reader:
            matches = find_named(reader, header.forgotten, mark).values()
            forgotten = local_forgotten_names(reader, into.secret, into.scope) if matches else ()
            into.read = reader.get(sorted({memory for found in matches for memory in found}))
        forgotten_ids = {name.partition("@")[0] for name in forgotten}
        for memory, same in sorted(pair for found in matches for pair in found.items()):
            if not into.names.is_taken(memory, ""):  # else a memory of the same text was stored there since
                # Of several names, one that is certain comes last.
                into.forgotten_there[memory] = same and memory not in forgotten_ids
    except InputError as error:
        state = "Nothing was imported." if into.dry else "The lines above it are imported."
        message = f"Line {at:,} of {file} cannot be imported: {str(error).rstrip('.')}. {state}"
        raise InputError(message, hint=error.hint or "export it again, then import that file") from error
    finally:
        into.names.close()


class _LineImporter:
    """Imports line after line; existing rows stay as they are."""

    def __init__(self, into: ImportContext, file: Path, *, shared: bool) -> None:
        self._into = into
        self._file = file
        self._exported: dict[str, dict[str, str]] | None = None
        self._set_at: dict[str, int] = {}
        self._values = ValueReader(
            into.scope,
            shared=shared or into.own,
            scrubbed=into.scrubbed,
            untrusted=into.untrusted,
            allow=into.allow,
        )
        self._memories = MemoryImporter(into)
        self._sources: dict[str, Source] = {}
        self._entities: list[Entity] = []
        # Names of forgotten texts are forgotten, too: those found in texts wait for one that is here.
        self._unmentioned: dict[str, list[Entity]] = {}
        self._of_forgotten: set[str] = set()
        self._edges: list[Edge] = []
        self._events: list[Event] = []
        self._last_kind = ""
        with into.store.reader(into.scope) as reader:
            self._known_sources = reader.sources()
            entities = reader.concepts()
            self._runs = {(run.id, run.key) for run in reader.runs(ALL_ROWS)}
        self._entity_rows = {(row.id, row.key) for row in entities}
        self._names: dict[str, set[str]] = {}
        self._by_name: dict[tuple[str, str], str] = {}
        for row in entities:
            name = normal_form(row.name)
            self._names.setdefault(row.id, set()).add(name)
            self._by_name.setdefault((row.key, name), row.id)
            self._by_name.setdefault(("", name), row.id)

    def import_line(self, kind: str, line: ExportLine) -> None:
        if kind != self._last_kind:
            self._end_section(kind)
        match kind:
            case "source":
                self._import_source(self._values.source(line))
            case "concept":
                self._import_entity(self._values.concept(line))
            case "run":
                self._import_run(self._values.run(line))
            case "document":
                document = self._values.document(line)
                source = self._sources.get(document.source)
                if source is None:
                    raise InputError(f"no source {document.source} stands above it")
                memories = read_field(line, "memories", int, allowed=COUNTS)
                self._memories.document(replace(document, source=source.id), source, memories)
            case "memory":
                record = self._values.record(line)
                self._memories.memory(record, keep=line["key"] in ("user", record.key))
            case "edge":
                self._edges.append(self._values.edge(line))
                if len(self._edges) >= ROW_BATCH:
                    self._flush_edges()
            case "event":
                event = self._values.event(line)
                if event.memory in self._into.states and event.op in STATUS_EVENTS:
                    self._set_at[event.memory] = max(event.at, self._set_at.get(event.memory, 0))
                # Those of one memory are adjacent, and are compared with its history together.
                if len(self._events) >= ROW_BATCH and event.memory != self._events[-1].memory:
                    self._flush_events()
                self._events.append(event)

    def _end_section(self, kind: str) -> None:
        """Write everything that the following lines may refer to."""
        if self._last_kind in ("document", "memory") and kind not in ("document", "memory"):
            self._memories.require_complete()
            self._memories.flush()
        elif self._last_kind == "concept":
            self._flush_entities()
        elif self._last_kind == "edge":
            self._flush_edges()
        self._last_kind = kind

    def finish(self) -> None:
        self._end_section("")
        self._memories.flush()
        self._flush_edges()
        for entity, rows in self._unmentioned.items():
            if entity not in self._of_forgotten:
                self._put_entities(rows)
        self._flush_entities()
        self._flush_events()
        self._merge_statuses()

    def _merge_statuses(self) -> None:
        """Set the status of a memory that both stores have to the one that was set later, unless it was said later."""
        here, lives = {}, {}
        for old, one in self._into.states.items():
            set_at = self._set_at.get(old, 0)
            if not set_at and not one.set_at and one.there.status == "superseded":
                set_at = one.there.valid_until or 0  # it was amended then
            if set_at > max(one.set_at, one.said_at):
                here[one.here.id] = one.here
                lives[one.here.id] = LifecycleChange(
                    status=one.there.status, valid_until=one.there.valid_until
                )
        self._into.counts["statuses"] = retry_conflicts(lambda: self._set_statuses(here, lives))

    def _set_statuses(self, here: Mapping[str, Record], lives: Mapping[str, LifecycleChange]) -> int:
        """Change memories that nobody has changed since they were read, and return their number."""
        with self._into.store.reader(self._into.scope) as reader:
            stored = reader.get(list(here))
        same = {one: record for one, record in here.items() if is_unchanged(record, stored.get(one))}
        if same:
            changes = {one: lives[one] for one in same}
            self._into.write([RequireUnchanged(same), PutLifecycle(changes)])
        return len(same)

    def _import_source(self, source: Source) -> None:
        into = self._into
        if not into.own and source.trust == "trusted":
            source = replace(source, trust="")  # chosen by another user
        place = (source_location(source), source.key)
        here = next((one for one in self._known_sources if (source_location(one), one.key) == place), None)
        known_ids = {one.id for one in self._known_sources}
        if here is None and into.own:
            here = next((one for one in self._known_sources if one.id == source.id), None)
        if here is None and not into.own and (here := self._find_mirror(source)) is not None:
            into.mirrored.add(here.id)
        if here is None:
            id_here = source.id if into.own else source_id(into.secret, source_location(source), source.key)
            if id_here in known_ids:  # a source of that root was moved since
                id_here = f"src_{memory_key(into.secret, ('import', into.origin_store, source.id)):016x}"
            here = replace(source, id=id_here)
            if here.id not in known_ids:
                self._known_sources.append(here)
                into.places.append(source_location(here))
                into.write([PutSource(here)])
        self._sources[source.id] = here

    def _find_mirror(self, source: Source) -> Source | None:
        """Return the source here that holds the same notes at another path: half of all paths, most of them equal."""
        if self._exported is None:
            self._exported = exported_documents(self._file)
        there = self._exported.get(source.id, {})
        mirrors: list[tuple[int, Source]] = []
        with self._into.store.reader(self._into.scope) as reader:
            for one in self._known_sources:
                if one.key != source.key or is_single_file(one) or one.id in self._into.mirrored:
                    continue
                here = {path: each.content_hash for path, each in reader.documents(one.id).items()}
                both = here.keys() & there.keys()
                equal = sum(here[path] == there[path] for path in both)
                if both and 2 * len(both) >= max(len(here), len(there)) and 2 * equal >= len(both):
                    mirrors.append((equal, one))
        return max(mirrors, key=lambda pair: (pair[0], pair[1].id))[1] if mirrors else None

    def _import_run(self, run: ConsolidationRun) -> None:
        if (run.id, run.key) not in self._runs:
            self._runs.add((run.id, run.key))
            self._into.counts["runs"] += 1
            self._into.write([PutRun(run)])

    def _import_entity(self, entity: Entity) -> None:
        into = self._into
        here = into.names.get([entity.id]).get(entity.id) or self._entity_id(entity)
        into.names.put(entity.id, here)
        if (here, entity.key) in self._entity_rows:
            return
        self._entity_rows.add((here, entity.key))
        if entity.kind == "given":
            self._put_entities([replace(entity, id=here)])
        else:  # found in texts: whether one of them is here is known when the edges are read
            self._unmentioned.setdefault(here, []).append(replace(entity, id=here))

    def _put_entities(self, entities: Iterable[Entity]) -> None:
        for entity in entities:
            self._into.counts["concepts"] += 1
            self._entities.append(entity)
        if len(self._entities) >= ROW_BATCH:
            self._flush_entities()

    def _entity_id(self, entity: Entity) -> str:
        """Return the id of the entity that has its name here; of two with one name, the second gets its own."""
        into, name = self._into, normal_form(entity.name)
        if into.own or name in self._names.get(entity.id, ()):
            return entity.id
        own = f"{ENTITY_PREFIX}{memory_key(into.secret, ('import', into.origin_store, entity.id)):0{ID_DIGITS}x}"
        if own in self._names:
            return own
        usual = entity_id(into.secret, name)
        if name in self._names.get(usual, ()):
            known = usual
        else:
            known = self._by_name.get((entity.key, name)) or self._by_name.get(("", name)) or ""
            if not known and usual not in self._names:
                known = usual
        return known if known and not into.names.is_taken(known, entity.id) else own

    def _flush_entities(self) -> None:
        entities, self._entities = self._entities, []
        if entities:
            retry_conflicts(lambda: self._write_entities(entities))

    def _write_entities(self, entities: Sequence[Entity]) -> None:
        """Write entities, except those that were added here during the import."""
        with self._into.store.reader(self._into.scope) as reader:
            stored = {(row.id, row.key) for row in reader.concepts([entity.id for entity in entities])}
        self._into.write(
            [PutConcept(entity, ()) for entity in entities if (entity.id, entity.key) not in stored]
        )

    def _flush_edges(self) -> None:
        pending, self._edges = self._edges, []
        into = self._into
        names = into.names.get([end for edge in pending for end in (edge.src, edge.dst)])
        edges: dict[tuple[str, str, str], Edge] = {}
        for edge in pending:
            if edge.src not in names and edge.dst in names:
                self._of_forgotten.add(names[edge.dst])
            if edge.src in names and edge.dst in names:
                self._put_entities(self._unmentioned.pop(names[edge.dst], ()))
                here = replace(edge, src=names[edge.src], dst=names[edge.dst])
                edges.setdefault((here.src, here.kind, here.dst), here)
        self._flush_entities()
        if not edges:
            return
        kinds = sorted({edge.kind for edge in edges.values()})
        with into.store.reader(into.scope) as reader:
            stored = reader.edges(sorted({edge.src for edge in edges.values()}), kinds)
        for edge in stored:
            edges.pop((edge.src, edge.kind, edge.dst), None)
        into.counts["edges"] += len(edges)
        if edges:
            into.write([PutEdges(tuple(edges.values()))])

    def _flush_events(self) -> None:
        pending, self._events = self._events, []
        into = self._into
        names = into.names.get([one for event in pending for one in (event.memory, event.other)])
        events = [
            replace(event, memory=names[event.memory], other=names.get(event.other))
            for event in pending
            if event.memory in names
        ]
        if not events:
            return
        ids = sorted({event.memory for event in events})
        with into.store.reader(into.scope) as reader:
            keys = {memory: record.key for memory, record in reader.get(ids).items()}
            stored = Counter(replace(event, key="") for event in reader.events(ids, limit=ALL_ROWS))
        fresh = [
            replace(event, key=keys.get(event.memory, ""))
            for event in _missing_events(events, stored)
            if event.memory in keys or into.dry
        ]
        into.counts["events"] += len(fresh)
        if fresh:
            into.write([PutEvents(tuple(fresh))])


def _missing_events(events: Sequence[Event], stored: Counter[Event]) -> Iterator[Event]:
    """Yield the events that are not stored; one whose other memory is gone in either store is the same event."""
    unmatched = []
    for event in events:
        if stored[event] > 0:
            stored[event] -= 1
        else:
            unmatched.append(event)
    left = Counter(replace(event, other=None) for event in stored.elements())
    for event in unmatched:
        bare = replace(event, other=None)
        if left[bare] > 0 and (event.other is None or stored[bare] > 0):
            left[bare] -= 1
            stored[bare] -= event.other is not None
        else:
            yield event
