"""Addition service: add memories, also to the day's note, and update them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final

from scrubjay.errors import InputError, SourceError
from scrubjay.ingest import additions as store_path
from scrubjay.ingest.alignment import NOTE_MARKER, with_note_marker
from scrubjay.ingest.fact_stage import FactStage
from scrubjay.models.lifecycle import Amendment, NewMemory
from scrubjay.models.records import UNCHANGED, Record
from scrubjay.models.reports import AddReport
from scrubjay.models.views import UpdateReport
from scrubjay.search.results import full_path
from scrubjay.services.enrichment import edge_builder, recluster_due
from scrubjay.services.workspace import Workspace, require_may_change, resolve_id, resolve_projects

MAX_INLINE_RECLUSTER = 1_024
"""Memories above which topics are not recomputed by an addition, but by the next sync."""
MAX_HEADING = 60
"""Characters of a memory's first line used as a heading if it has no title."""


def add_one(workspace: Workspace, memory: NewMemory) -> AddReport:
    (added,) = add(workspace, [memory])
    if added.passed:
        raise InputError(f"{added.passed} Nothing was written.", hint="leave it out")
    return added


def add(workspace: Workspace, memories: Iterable[NewMemory]) -> list[AddReport]:
    """Add memories; those that are new are appended to today's note when settings name a notes folder."""
    new = [
        replace(item, project=resolve_projects(workspace, [item.project])[0]) if item.project else item
        for item in memories
    ]
    store, scope, settings, base = (
        workspace.store,
        workspace.scope,
        workspace.settings,
        workspace.models.writer(),
    )
    edges = edge_builder(workspace, base)
    facts = FactStage(store, scope, base, settings.facts.stages, curates=workspace.may_curate)
    added = store_path.add_memories(store, scope, base, new, edges, facts, settings.redaction.allow)
    recluster_due(workspace, base, edges, MAX_INLINE_RECLUSTER)
    folder = workspace.settings.notes.dir
    if folder is None:
        return added
    with workspace.store.reader(workspace.scope) as reader:
        records = reader.get([item.id for item in added if not item.existed])
    return [
        item
        if item.existed or item.passed
        else replace(item, note=_append_to_day_note(folder, records[item.id]))
        for item in added
    ]


def _append_to_day_note(folder: Path, record: Record) -> str:
    now = datetime.now().astimezone()
    file = folder.expanduser() / f"{now:%Y-%m-%d}.md"
    first = record.content.strip().splitlines()[0]
    heading = " ".join((record.title or first.lstrip("#-* ")).split())[:MAX_HEADING].strip()
    block = f"\n## {now:%H:%M} {heading}\n{with_note_marker(record)}\n"
    try:
        folder.expanduser().mkdir(parents=True, exist_ok=True)
        before = file.read_text("utf-8").count("\n") if file.exists() else 0
        with file.open("a", encoding="utf-8") as note:
            note.write(block)
    except OSError as error:
        raise SourceError(
            f"The memory {record.id} is stored, but {file} cannot be written: {error.strerror}.",
            hint="correct [notes] dir in the settings, or its rights",
        ) from error
    return f"{file}:{before + 2}-{before + block.count(chr(10))}"


_FILE_FIELDS: Final = frozenset(("content", "title", "tags", "date", "pinned"))
"""Fields that come from the file of a passage."""


def update_memory(workspace: Workspace, memory: str, amendment: Amendment) -> UpdateReport:
    fields = store_path.amendment_fields(amendment)
    with workspace.store.reader(workspace.scope) as reader:
        memory = resolve_id(reader, memory)
        record = reader.get([memory])[memory]
        require_may_change(workspace, [record], "change")
        path = full_path(record, {source.id: source for source in reader.sources()})
    if record.place is not None and _FILE_FIELDS & fields.keys():
        lines = f"{record.place.line_start}-{record.place.line_end}"
        _refuse_file_field(memory, f"{path or record.place.path}:{lines}")
    if amendment.content is not UNCHANGED and (note := _day_note_location(workspace, record)) is not None:
        _refuse_file_field(memory, note)
    base = workspace.models.writer()
    edges = edge_builder(workspace, base)
    report = store_path.amend_memory(
        workspace.store, workspace.scope, base, edges, memory, amendment, workspace.settings.redaction.allow
    )
    recluster_due(workspace, base, edges, MAX_INLINE_RECLUSTER)
    return report


def _refuse_file_field(memory: str, where: str) -> None:
    raise InputError(
        f"{memory} stands in {where}, and this changes no file. Nothing was written.",
        hint=f"edit {where}, then scrubjay sync",
    )


def _day_note_location(workspace: Workspace, record: Record) -> str | None:
    folder = workspace.settings.notes.dir
    if folder is None or record.place is not None:
        return None
    for file in sorted(folder.expanduser().glob("*.md")):
        text = _read_text(file)
        if record.id not in text:
            continue
        for mark in NOTE_MARKER.finditer(text):
            if mark.group(1) == record.id:
                after = text.find("\n## ", mark.end())
                first = text.count("\n", 0, mark.start())
                rest = text[: after if after >= 0 else len(text)].rstrip("\n")
                return f"{file}:{first}-{rest.count(chr(10)) + 1}"
    return None


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:  # a sync cannot read it either
        return ""
