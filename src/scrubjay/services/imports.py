"""Import service: restore an export, or import the memories of another tool.

No facts are extracted from imported memories and they supersede nothing, so importing a file again finds all of them.
"""

from __future__ import annotations

import os
import shlex
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from scrubjay.categories.folders import update_folders
from scrubjay.categories.topics import MIN_MEMORIES
from scrubjay.entities.dictionary import normal_form
from scrubjay.entities.edits import name_refusal, parse_names, teach_names
from scrubjay.errors import InputError, NotFoundError, QuotaError, StoreBusyError
from scrubjay.frozen import frozen
from scrubjay.ingest.additions import ValidatedMemory, with_stored_id
from scrubjay.ingest.deletion import find_forgotten
from scrubjay.ingest.scanner import FileState, list_files, scan_files
from scrubjay.ingest.turns import is_only_injected, redact_new_turns, redact_stored_turns
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.lifecycle import LifecycleChange
from scrubjay.models.records import UNDATED, Record, Source
from scrubjay.models.reports import (
    ImportReport,
    ImportSample,
    KeptMemory,
    Progress,
    ProgressCallback,
    RejectedItem,
)
from scrubjay.models.results import position
from scrubjay.models.sources import is_single_file, repository_of, source_location
from scrubjay.search.browse import short_references
from scrubjay.search.results import full_paths
from scrubjay.services.curation import addition_writer, forget_memories
from scrubjay.services.sync import (
    NO_RULES,
    SyncRules,
    current_versions,
    refresh_grown_topics,
    refresh_topics,
    sync,
)
from scrubjay.services.workspace import Workspace, may_change, refresh_learned_notes
from scrubjay.storage.changes import PutEdges, PutLifecycle, PutVersions, RequireUnchanged
from scrubjay.storage.interface import retry_conflicts
from scrubjay.transfer.archive import ExportHeader, check_export, principal_mark
from scrubjay.transfer.formats import (
    FOLDER_FORMATS,
    IMPORT_FORMATS,
    ImportedItem,
    ImportedMemory,
    ImportedName,
    ImportedRelation,
    SyncedFolder,
    detect_format,
    format_reader,
    synced_folder,
)
from scrubjay.transfer.importer import (
    MAX_SAMPLES,
    IdMap,
    ImportContext,
    import_lines,
    sample_memory,
)


@frozen
class ImportOptions:
    """Options of an import, as `Memory.import_` describes them."""

    dry_run: bool = False
    shared: bool = False
    untrusted: bool = False
    forget: bool = False
    include_forgotten: bool = False
    progress: ProgressCallback | None = None


def import_path(workspace: Workspace, path: Path, format: str, options: ImportOptions) -> ImportReport:
    path = path.expanduser()
    if format not in IMPORT_FORMATS:
        raise InputError(
            f"Format {format!r} is not one of {', '.join(IMPORT_FORMATS)}. Nothing was imported."
        )
    if not path.exists():
        raise NotFoundError(f"{path} does not exist. Nothing was imported.")
    detected = detect_format(path) if format == "auto" else format
    if path.is_dir() and detected not in (*FOLDER_FORMATS, "basic-memory"):
        raise InputError(f"{path} is a folder; {detected} is read from a file. Nothing was imported.")
    exported, synced = detected == "scrubjay", detected in FOLDER_FORMATS
    for refused, why, hint in (
        (
            options.shared and not exported,
            "Only an export of scrubjay records which memories are shared.",
            "",
        ),
        (options.forget and not exported, "Only an export of scrubjay lists forgotten memories.", ""),
        (
            options.forget and options.untrusted,
            f"{path} is not trusted, so it may not forget memories here.",
            "import it without --forget: such memories are then only reported",
        ),
        (
            options.include_forgotten and synced,
            f"{path} would be synced, which never restores what was forgotten.",
            "add the text: scrubjay add TEXT",
        ),
        (
            options.untrusted and synced,
            f"{path} would be synced as yours; only what is copied can be marked as untrusted.",
            f"scrubjay sync {path} --untrusted",
        ),
    ):
        if refused:
            raise InputError(f"{why} Nothing was imported.", hint=hint)
    with workspace.store.try_exclusive(workspace.scope, "import") as exclusive:
        if not exclusive:
            raise StoreBusyError(
                f"Another program imports into {workspace.store.url}. Nothing was imported.",
                hint="run it again when that has ended",
            )
        try:
            if exported:
                return _restore_export(workspace, path, options)
            if synced:
                return _sync_folder(workspace, synced_folder(path, detected), detected, options)
            return _import_items(workspace, format_reader(detected)(path), detected, options)
        except QuotaError as error:
            raise QuotaError(
                f"{error} What was imported before that stays.",
                hint=f"{error.hint}; then run the same import again: it goes on where it was",
            ) from error


def _sync_folder(
    workspace: Workspace, folder: SyncedFolder, format: str, options: ImportOptions
) -> ImportReport:
    """Register a folder of Markdown as a source, unless it is in one, and sync it."""
    started = time.monotonic()
    full = Path(os.path.abspath(folder.path))
    with workspace.reader() as reader:
        known = reader.sources()
    is_known = any(
        source_location(one) == str(full) or (not is_single_file(one) and full.is_relative_to(one.root))
        for one in known
    )
    new = () if is_known else (str(full),)
    scan = scan_files(full, include=folder.include) if folder.include else scan_files(full)
    root = full if full.is_dir() else full.parent
    files = {os.path.join(root, state.path): state for state in scan.files}
    unread: tuple[RejectedItem, ...] = ()
    if is_known:
        read = _source_files(known, full)
        unread = tuple(
            RejectedItem(place, f"its source leaves it out; `scrubjay sync {shlex.quote(place)}` reads it")
            for place in files
            if place not in read
        )
        files = read
    if options.dry_run:
        samples = tuple(
            ImportSample("file", os.path.relpath(place, root), f"{state.size:,} bytes", "")
            for place, state in islice(files.items(), MAX_SAMPLES)
        )
        return ImportReport(
            format,
            True,
            documents=len(files),
            sources=new,
            samples=samples,
            broken=unread[:MAX_REPORTED_FAULTS],
            failures=len(unread),
            seconds=time.monotonic() - started,
        )
    # Importing a part of a source does not change its rules; a new source is trusted.
    rules = NO_RULES if is_known else SyncRules(folder.description, folder.include, trust="trusted")
    done = sync(workspace, full, rules, options.progress)
    broken = (*(RejectedItem(one.path, one.message) for one in done.problems), *unread)
    return ImportReport(
        format,
        False,
        added=done.added + done.updated,
        existed=done.unchanged,
        forgotten=done.forgotten,
        documents=done.files,
        sources=new,
        scrubbed=done.scrubbed,
        broken=broken[:MAX_REPORTED_FAULTS],
        failures=len(broken),
        seconds=time.monotonic() - started,
    )


def _source_files(known: Sequence[Source], place: Path) -> dict[str, FileState]:
    """Return the files at a place that sources read by their own rules, by their paths."""
    return {
        path: state
        for one in known
        if repository_of(one) is None
        and (place.is_relative_to(one.root) or Path(one.root).is_relative_to(place))
        for state in list_files(one).files
        if Path(path := os.path.join(one.root, state.path)).is_relative_to(place)
    }


def _restore_export(workspace: Workspace, file: Path, options: ImportOptions) -> ImportReport:
    started = time.monotonic()
    header = check_export(file)
    base = workspace.models.ensure_base_model()
    secret = workspace.store.secret(workspace.scope)
    own = header.store == principal_mark(secret, workspace.scope)
    overlap = workspace.settings.chunk.overlap
    allow = workspace.settings.redaction.allow
    into = ImportContext(
        workspace.store, workspace.scope, base, overlap, header.store, own, options.dry_run, secret,
        options.untrusted, allow, options.include_forgotten,
    )  # fmt: skip
    if not options.dry_run:
        _record_versions(workspace, header)
    import_lines(file, header, into, shared=options.shared, progress=options.progress)
    forgettable = _forgettable(workspace, into.forgotten_there)
    forgotten_too = tuple(one for one in forgettable if options.forget and into.forgotten_there[one])
    if not options.dry_run:
        done = forget_memories(workspace, forgotten_too, unchanged=into.read)
        forgotten_too = tuple(one for one in forgotten_too if one in done.ids)
        _update_categories(workspace, into)
        refresh_learned_notes(workspace)
    kept = tuple(one for one in forgettable.values() if one.id not in forgotten_too)
    still = tuple(place for one in forgotten_too if (place := forgettable[one].place))
    return ImportReport(
        format="scrubjay",
        dry_run=options.dry_run,
        **dict[str, Any](into.counts),
        passed_files=tuple(into.passed_files),
        sources=tuple(into.places),
        scrubbed=dict(sorted(into.scrubbed.items())),
        samples=tuple(into.samples),
        seconds=time.monotonic() - started,
        forgotten_there=tuple(one.id for one in kept),
        forgotten_too=forgotten_too,
        kept=kept if options.forget else (),
        still=still,
    )


def _forgettable(workspace: Workspace, ids: Iterable[str]) -> dict[str, KeptMemory]:
    """Return the memories, forgotten elsewhere, that the user may forget here."""
    with workspace.reader() as reader:
        records = {one.id: one for one in reader.get(list(ids)).values() if may_change(workspace, one)}
        short = short_references(reader, records)
        paths = full_paths(list(records.values()), reader.sources()) if records else {}
    return {
        memory: KeptMemory(
            memory,
            short[memory].id,
            f"{paths[memory]}{position(record)}" if memory in paths else None,
            KEPT_REASON,
        )
        for memory, record in records.items()
    }


KEPT_REASON: Final = "edited, or added again here, since the stores were last merged"
"""The export may mean another text, or an earlier addition of the same one."""


def _record_versions(workspace: Workspace, header: ExportHeader) -> None:
    """Stamp the store with the export's versions; if they are not today's, the next sync rebuilds everything."""
    with workspace.reader() as reader:
        known = reader.versions()
    wanted = header.versions or current_versions(workspace)
    if known is None or (known == current_versions(workspace) and wanted != known):
        workspace.store.write(workspace.scope, [PutVersions(wanted)])


def _update_categories(workspace: Workspace, into: ImportContext) -> None:
    if "categories" not in workspace.settings.linking.stages:
        return
    refresh_topics(
        workspace, sorted(into.keys), lambda reader, key: reader.count_memories(key) >= MIN_MEMORIES
    )
    with workspace.reader() as reader:
        sources = [source for source in reader.sources() if source.id in into.sources]
    for source in sources if into.keys else ():
        update_folders(workspace.store, workspace.scope, source, now_micros())


BATCH_ITEMS: Final = 1_000
"""Items of one batch: what an addition writes in one transaction."""
BATCH_CHARACTERS: Final = 4_000_000
"""Characters after which a batch is full, however few items it has."""
MAX_REPORTED_FAULTS: Final = 100
"""Faults that are listed; the others are counted."""


def _import_items(
    workspace: Workspace, items: Iterable[ImportedItem], format: str, options: ImportOptions
) -> ImportReport:
    started = time.monotonic()
    importer = _BatchImporter(workspace, dry=options.dry_run, include_forgotten=options.include_forgotten)
    try:
        for item in items:
            if options.untrusted and isinstance(item, ImportedMemory):
                item = replace(item, new=replace(item.new, origin="untrusted"))
            importer.add_item(item)
            if options.progress and isinstance(item, ImportedMemory) and importer.seen % 100 == 0:
                options.progress(Progress("import", importer.seen, importer.seen, time.monotonic() - started))
        importer.finish()
    finally:
        importer.names.close()
    if not options.dry_run:
        refresh_learned_notes(workspace)
    return ImportReport(
        format=format,
        dry_run=options.dry_run,
        **dict[str, Any](importer.counts),
        scrubbed=dict(sorted(importer.scrubbed.items())),
        broken=tuple(importer.broken),
        samples=tuple(importer.samples),
        seconds=time.monotonic() - started,
    )


class _BatchImporter:
    """Collects imported items, and writes a batch when it is full.

    Attributes:
        names: Names of items to the memories that they became.
        seen: Memories so far.
    """

    def __init__(self, workspace: Workspace, *, dry: bool, include_forgotten: bool) -> None:
        self._workspace, self._dry = workspace, dry
        self._include_forgotten = include_forgotten
        self._writer = addition_writer(workspace, extract_facts=False)
        self._key = workspace.scope.key()
        self._items: list[tuple[ImportedMemory, ValidatedMemory]] = []
        self._names: dict[str, ImportedName] = {}
        self._relations: list[ImportedRelation] = []
        self._characters = 0
        self.names = IdMap()
        self.seen = 0
        self.counts: Counter[str] = Counter()
        self.scrubbed: Counter[str] = Counter()
        self.broken: list[RejectedItem] = []
        self.samples: list[ImportSample] = []

    def add_item(self, item: ImportedItem) -> None:
        match item:
            case RejectedItem():
                self._report_fault(item.where, item.message)
            case ImportedName():
                self._names.setdefault(item.name, item)
            case ImportedRelation():
                self._relations.append(item)
            case ImportedMemory(new=new):
                self.seen += 1
                if not new.date:
                    item = replace(item, new=replace(new, tags=(*new.tags, UNDATED)))
                if (validated := self._validate(item)) is not None:
                    self._items.append((item, validated))
                    self._characters += len(item.new.content)
        if max(len(self._items), len(self._names)) >= BATCH_ITEMS or self._characters >= BATCH_CHARACTERS:
            self._flush()

    def _report_fault(self, where: str, message: str) -> None:
        self.counts["failures"] += 1
        if len(self.broken) < MAX_REPORTED_FAULTS:
            self.broken.append(RejectedItem(where, message))

    def finish(self) -> None:
        """Write the last batch, then the relations."""
        self._flush()
        for first in range(0, len(self._relations), BATCH_ITEMS):
            self._add_relations(self._relations[first : first + BATCH_ITEMS])
        if not self._dry:
            refresh_grown_topics(self._workspace, self._writer.edges.connected)

    def _flush(self) -> None:
        pending, self._items, self._characters = self._items, [], 0
        self._add_names()
        writer, store, scope = self._writer, self._workspace.store, self._workspace.scope
        items = [item for item, _ in pending]
        redacted, secret_ids = redact_new_turns(store, scope, [item.new for item in items], writer.allow)
        validated = [
            memory if text is None else writer.validate(item.new, text)
            for (item, memory), text in zip(pending, redacted, strict=True)
        ]
        with store.reader(scope) as reader:
            validated = writer.separate_speakers(reader, validated)
            stored = reader.get([id for memory in validated for id in (memory.record.id, memory.legacy_id)])
            validated = [with_stored_id(memory, stored) for memory in validated]
            records = [memory.record for memory in validated]
            forgotten = find_forgotten(
                reader, writer.secret, records, lambda record: (record.content,), scope.keys
            )
        if secret_ids and not self._dry:
            redact_stored_turns(store, scope, writer.base, secret_ids)
        new: dict[str, ValidatedMemory] = {}
        for item, memory, gone in zip(items, validated, forgotten, strict=True):
            record = memory.record
            known = new[record.id].record if record.id in new else stored.get(record.id)
            if known is not None:
                self.counts["existed"] += 1
                if record.project not in (None, known.project):
                    there = f"the project {known.project}" if known.project else "no project"
                    self._report_fault(item.where, f"its text is stored as {record.id} already, in {there}")
            elif gone and not self._include_forgotten:
                self.counts["forgotten"] += 1
                continue
            else:
                new[record.id] = memory
            if item.name and item.name not in self.names.get([item.name]):
                self.names.put(item.name, record.id)
        self._write_new(list(new.values()))
        superseded = [record for item, record in zip(items, records, strict=True) if item.superseded]
        retry_conflicts(lambda: self._supersede(superseded))
        self._link_concepts(
            [
                (item, record.id)
                for item, record in zip(items, records, strict=True)
                if record.id in stored or record.id in new
            ]
        )

    def _validate(self, item: ImportedMemory) -> ValidatedMemory | None:
        if is_only_injected(item.new):
            self.counts["passed"] += 1
            return None
        try:
            return self._writer.validate(item.new)
        except InputError as error:
            self._report_fault(item.where, str(error).removesuffix(" Nothing was written."))
            return None

    def _write_new(self, memories: Sequence[ValidatedMemory]) -> None:
        for memory in memories:
            self.counts["added"] += 1
            self.scrubbed.update(memory.scrubbed)
            if len(self.samples) < MAX_SAMPLES:
                self.samples.append(sample_memory(memory.record))
        if memories and not self._dry:
            self._writer.put(memories)

    def _supersede(self, memories: Sequence[Record]) -> None:
        """Supersede memories that are superseded in the import, except those that somebody said or changed here."""
        workspace = self._workspace
        with workspace.reader() as reader:
            stored = reader.get([record.id for record in memories])
            active = {
                record.id: stored[record.id]
                for record in memories
                if record.id in stored
                and stored[record.id].status == "active"
                and _was_imported(record, stored[record.id])
            }
            events = reader.events(list(active)) if active else []
        for event in events:
            if event.op == "restored":
                active.pop(event.memory, None)
        if active and not self._dry:
            changes = dict.fromkeys(active, LifecycleChange(status="superseded"))
            workspace.store.write(
                workspace.scope, [RequireUnchanged(active), PutLifecycle(changes)], durable=True
            )

    def _add_names(self) -> None:
        names, self._names = list(self._names.values()), {}
        allowed = []
        for name in names:
            if (reason := name_refusal(name.name)) is None:
                allowed.append(name)
            else:
                self._report_fault(name.where, f'"{name.name[:60]}" is not taken as a concept: {reason}')
        if not allowed:
            return
        if self._dry:
            known = self._concept_ids()
            self.counts["concepts"] += len({normal_form(name.name) for name in allowed} - known.keys())
            return
        workspace = self._workspace
        rows = [[name.name, *(one for one in name.aliases if name_refusal(one) is None)] for name in allowed]
        terms = parse_names(rows)
        report = retry_conflicts(
            lambda: teach_names(workspace.store, workspace.scope, terms, self._key, workspace.dictionaries)
        )
        self.counts["concepts"] += report.added

    def _concept_ids(self) -> dict[str, str]:
        ids: dict[str, str] = {}
        with self._workspace.reader() as reader:
            for row in reader.concepts():
                for name in (*row.aliases, row.name):
                    ids[normal_form(name)] = row.id
        return ids

    def _link_concepts(self, written: Sequence[tuple[ImportedMemory, str]]) -> None:
        """Link memories to the concepts they are about, whether or not their text has the name."""
        if not any(item.about for item, _ in written):
            return
        known = self._concept_ids()
        edges = {
            (memory, "references", known[normal_form(name)]): ""
            for item, memory in written
            for name in item.about
            if normal_form(name) in known
        }
        self._add_edges(edges)

    def _add_relations(self, relations: Sequence[ImportedRelation]) -> None:
        names = self.names.get([end for relation in relations for end in (relation.src, relation.dst)])
        edges: dict[tuple[str, str, str], str] = {}
        for relation in relations:
            src, dst = names.get(relation.src), names.get(relation.dst)
            if src is not None and dst is not None and src != dst:
                edges.setdefault((src, relation.kind, dst), relation.rule)
        self._add_edges(edges)

    def _add_edges(self, edges: dict[tuple[str, str, str], str]) -> None:
        workspace = self._workspace
        kinds = sorted({kind for _, kind, _ in edges})
        with workspace.reader() as reader:
            existing = reader.edges(sorted({src for src, _, _ in edges}), kinds) if edges else []
        present = {(edge.src, edge.kind, edge.dst) for edge in existing}
        at = now_micros()
        fresh = tuple(
            Edge(*ends, self._key, 1.0, at, "given", rule or "imported")
            for ends, rule in edges.items()
            if ends not in present
        )
        self.counts["edges"] += len(fresh)
        if fresh and not self._dry:
            workspace.store.write(workspace.scope, [PutEdges(fresh)], durable=True)


def _was_imported(record: Record, here: Record) -> bool:
    """Return whether a stored memory is as this import would write it, so that nobody said or changed it here."""
    return all(
        getattr(record, field) == getattr(here, field)
        for field in ("content", "title", "tags", "origin", "agent", "project", "confidence")
    )
