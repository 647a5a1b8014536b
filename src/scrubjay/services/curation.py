"""Write operations on single memories: additions, edits, links, feedback, archiving.

The only place where scrubjay changes files of a source. A file is written only if it still has the stored text, and a
passage with a redacted secret is refused, because the file's secret would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

from scrubjay.categories.folders import update_folders
from scrubjay.categories.topics import are_topics_due
from scrubjay.config.settings import NotesSettings
from scrubjay.consolidation.context import DIGEST_RULE
from scrubjay.errors import ForbiddenError, InputError, NotFoundError, SourceError
from scrubjay.ingest import deletion
from scrubjay.ingest.additions import AdditionWriter, amendment_fields
from scrubjay.ingest.alignment import NOTE_MARKER, note_marker_id, with_note_marker
from scrubjay.ingest.deletion import last_events, status_changes, withheld_ids
from scrubjay.ingest.files import FileSnapshot, rewrite_file, snapshot_file
from scrubjay.models.dates import now_micros
from scrubjay.models.graph import Edge
from scrubjay.models.ids import SHORT_ID_DIGITS, may_be_id, tombstone_hashes
from scrubjay.models.lifecycle import (
    INJECTION_VERDICTS,
    VERDICTS,
    Amendment,
    Event,
    LifecycleChange,
    NewMemory,
    changed_fields,
    strength_after,
)
from scrubjay.models.records import (
    NEVER_INJECT,
    STATUSES,
    UNCHANGED,
    Record,
    RecordFilter,
    Source,
)
from scrubjay.models.reports import AddReport, ForgetReport
from scrubjay.models.results import line_range, position
from scrubjay.models.sources import repository_of
from scrubjay.models.views import ChangeReport, MemoryLink, RewriteReport, UpdateReport
from scrubjay.redaction.redactor import redact_text
from scrubjay.search import browse
from scrubjay.search.browse import find_record, find_records
from scrubjay.search.results import full_path
from scrubjay.services.inspection import MAX_HISTORY_EVENTS
from scrubjay.services.sync import edge_builder, fact_stage, refresh_grown_topics, refresh_topics, sync_file
from scrubjay.services.workspace import (
    Workspace,
    may_change,
    refresh_learned_notes,
    require_may_change,
    resolve_projects,
    write_changed_notes,
)
from scrubjay.storage.changes import (
    Change,
    DropEdges,
    DropSource,
    DropUser,
    PutEdges,
    PutEvents,
    PutLifecycle,
    RequireUnchanged,
)
from scrubjay.storage.interface import Reader, all_records, retry_conflicts
from scrubjay.text.markdown import front_matter_end

MAX_INLINE_RECLUSTER = 1_024
"""Memories above which topics are not recomputed by an addition, but by the next sync."""
MAX_HEADING = 60
"""Characters of a memory's first line used as a heading if it has no title."""


def addition_writer(workspace: Workspace, *, extract_facts: bool = True) -> AdditionWriter:
    base = workspace.models.ensure_base_model()
    return AdditionWriter(
        workspace.store,
        workspace.scope,
        base,
        edge_builder(workspace, base),
        fact_stage(workspace, base, extract=extract_facts),
        workspace.settings.redaction.allow,
    )


def add_one(workspace: Workspace, memory: NewMemory) -> AddReport:
    (added,) = add(workspace, [memory])
    if added.passed:
        raise InputError(f"{added.passed} Nothing was written.", hint="leave it out")
    return added


def add(workspace: Workspace, memories: Iterable[NewMemory]) -> list[AddReport]:
    """Add memories; those that are new are appended to today's note when settings name a notes folder."""
    new = [
        replace(item, project=resolve_projects(workspace, [item.project])[0]) if item.project else item
        for item in _require_memories(memories)
    ]
    writer = addition_writer(workspace)
    added = writer.add(new)
    refresh_grown_topics(workspace, writer.edges.connected, MAX_INLINE_RECLUSTER)
    new_ids = [one for item in added if not item.existed for one in (item.id, *item.learned) if one]
    write_changed_notes(workspace, new_ids)
    folder = workspace.settings.notes.dir
    if folder is None:
        return added
    with workspace.reader() as reader:
        records = reader.get([item.id for item in added if item.id])
    reports, failed = list(added), dict[str, OSError]()
    for place, item in enumerate(added):
        record = records.get(item.id)
        if record is not None and (not item.existed or _lacks_day_note(workspace, record)):
            try:
                reports[place] = replace(item, note=_append_to_day_note(folder, record))
            except OSError as error:
                failed[record.id] = error
    if failed:
        first = next(iter(failed.values()))
        named = (
            f"The memory {', '.join(failed)} is"
            if len(failed) == 1
            else f"The memories {', '.join(failed)} are"
        )
        raise SourceError(
            f"{named} stored, but {first.filename} cannot be written: {first.strerror}.",
            hint="correct [notes] dir in the settings, or its rights, and add the same again",
        )
    return reports


def _require_memories(memories: Iterable[NewMemory]) -> list[NewMemory]:
    def type_error(name: str, value: object, wanted: str) -> InputError:
        return InputError(
            f"add_many(): {name} is a {type(value).__name__}, not {wanted}: {value!r:.80}. Nothing was written.",
            hint="memory.add_many([NewMemory(content, ...), ...]); from scrubjay import NewMemory",
        )

    if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
        raise type_error("memories", memories, "a list of NewMemory")
    items = list(memories)
    for place, item in enumerate(items):
        if not isinstance(item, NewMemory):
            raise type_error(f"memories[{place}]", item, "a NewMemory")
    return items


def _lacks_day_note(workspace: Workspace, record: Record) -> bool:
    """Return whether an addition of today is in no note, because the note could not be written."""
    recorded = datetime.fromtimestamp(record.recorded_at / 1_000_000).astimezone()
    return (
        record.place is None
        and record.status == "active"
        and not record.is_turn
        and record.owner == workspace.scope.user
        and record.origin != "derived"
        and recorded.date() == datetime.now().astimezone().date()
        and _day_note_location(workspace, record) is None
    )


def _append_to_day_note(folder: Path, record: Record) -> str:
    now = datetime.now().astimezone()
    file = folder.expanduser() / f"{now:%Y-%m-%d}.md"
    first = record.content.strip().splitlines()[0]
    heading = " ".join((record.title or first.lstrip("#-* ")).split())[:MAX_HEADING].strip()
    block = f"\n## {now:%H:%M} {heading}\n{with_note_marker(record)}\n"
    folder.expanduser().mkdir(parents=True, exist_ok=True)
    before = file.read_text("utf-8").count("\n") if file.exists() else 0
    with file.open("a", encoding="utf-8") as note:
        note.write(block)
    return f"{file}:{before + 2}-{before + block.count(chr(10))}"


_FILE_FIELDS: Final = frozenset(("content", "title", "tags", "date", "pinned"))
"""Fields that come from the file of a passage."""


def update_memory(workspace: Workspace, memory: str, amendment: Amendment) -> UpdateReport:
    return retry_conflicts(lambda: _update_memory(workspace, memory, amendment))


def _update_memory(workspace: Workspace, memory: str, amendment: Amendment) -> UpdateReport:
    fields = amendment_fields(amendment)
    with workspace.reader() as reader:
        record = find_record(reader, memory)
        memory = record.id
        require_may_change(workspace, [record], "change")
        sources = {source.id: source for source in reader.sources()}
        path = full_path(record, sources)
    if _is_commit(record, sources):
        if fields.keys() & _FILE_FIELDS - {"pinned"}:
            _refuse_rewrite(path or memory, "is a commit, whose text is git's", _COMMIT_HINT)
    elif record.place is not None and _FILE_FIELDS & fields.keys():
        _refuse_file_field(memory, f"{path or record.place.path}{position(record)}")
    if amendment.content is not UNCHANGED and (note := _day_note_location(workspace, record)) is not None:
        _refuse_file_field(memory, note)
    writer = addition_writer(workspace)
    report = writer.amend(record, amendment)
    refresh_grown_topics(workspace, writer.edges.connected, MAX_INLINE_RECLUSTER)
    _write_notes_of(workspace, [memory, report.before or memory])
    return report


def _write_notes_of(workspace: Workspace, memories: Sequence[str]) -> None:
    """Write the learned notes of memories that changed, and of what was learned from them."""
    if workspace.settings.notes.learned_dir is None:
        return
    with workspace.reader() as reader:
        edges = reader.edges(memories, ["derived_from"], inward=True)
        learned = reader.get(sorted({edge.src for edge in edges}))
    new = [one.id for one in learned.values() if one.status == "active"]
    write_changed_notes(workspace, new, [*memories, *learned])


_COMMIT_HINT: Final = "amend it with git, or add what is to be remembered: scrubjay add TEXT"


def _is_commit(record: Record, sources: Mapping[str, Source]) -> bool:
    source = sources.get(record.place.source) if record.place is not None else None
    return source is not None and repository_of(source) is not None


def _refuse_file_field(memory: str, where: str) -> None:
    raise InputError(
        f"{memory} is part of {where}, and update does not edit files. Nothing was written.",
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


@dataclass(frozen=True, slots=True)
class PassageParts:
    """A passage's text: front matter and blank lines, the part that can be edited, and trailing white space."""

    head: str
    body: str
    tail: str


def split_passage(record: Record) -> PassageParts:
    text = record.content
    first = 0
    if record.place is not None and record.place.start == 0:
        first = _front_matter_end(text)
    rest = text[first:]
    lead = len(rest) - len(rest.lstrip("\r\n"))
    body = rest[lead:].rstrip()
    return PassageParts(text[: first + lead], body, rest[lead + len(body) :])


def edit_refusal(record: Record, user: str) -> str:
    """Return why a user cannot edit a passage, judged without reading its file; empty if nothing forbids it."""
    if record.place is None:
        return "it is not part of a file"
    if record.owner != user:
        return f"its file is {record.owner}'s"
    if record.session is not None:
        return "it is part of a conversation's log"
    if line_range(record.place) is None:
        return f"its text was read from a document ({os.path.splitext(record.place.path)[1]}), which is not written"
    return ""


def rewrite_passage(workspace: Workspace, memory: str, content: str, was: str | None = None) -> RewriteReport:
    with workspace.reader() as reader:
        record = find_record(reader, memory)
        sources = {source.id: source for source in reader.sources()}
        _require_editable(workspace, record)
        assert record.place is not None
        source, place = sources[record.place.source], record.place
        path = os.path.join(source.root, place.path)
        where = path + position(record)
        if _is_commit(record, sources):
            _refuse_rewrite(path, "is a commit, whose text is git's", _COMMIT_HINT)
        if was is not None and was != record.content_hash:
            _refuse_rewrite(
                where, "was changed since you opened it", "look at what it says now, and edit it again"
            )
        before = snapshot_file(Path(source.root), place.path)
        at = _passage_offset(before, record, where, workspace.settings.redaction.allow)
        new = _new_passage_text(record, content, before, where)
        if new == record.content:
            return RewriteReport(record.id, path, place.line_start, place.line_end, changed=False)
        hashes = tombstone_hashes(workspace.store.secret(workspace.scope), new, [record.key])
        if reader.forgotten_hashes(sorted(hashes)):
            _refuse_rewrite(where, "would say what was forgotten once", "say it in other words")
    text = before.text[:at] + new + before.text[at + len(record.content) :]
    if text[: _front_matter_end(text)] != before.text[: _front_matter_end(before.text)]:
        _refuse_rewrite(where, "would get other front matter", "edit the file with a program of yours")
    rewrite_file(Path(source.root), place.path, before, text)
    return _sync_rewritten(workspace, source, record, path)


def _require_editable(workspace: Workspace, record: Record) -> None:
    reason = edit_refusal(record, workspace.scope.user)
    if reason:
        is_others = record.place is not None and record.owner != workspace.scope.user
        kind = ForbiddenError if is_others else InputError
        raise kind(f"{record.id} cannot be edited in its file: {reason}. Nothing was written.")


def _passage_offset(before: FileSnapshot, record: Record, where: str, allow: Sequence[str]) -> int:
    """Return the offset of a passage in its file; stored offsets are those of the redacted text."""
    place = record.place
    assert place is not None
    clean = redact_text(before.text, allow).text
    if clean[place.start : place.start + len(record.content)] != record.content:
        _refuse_rewrite(where, "no longer says what is stored", "scrubjay sync, then edit what it says now")
    line, column = clean.count("\n", 0, place.start), place.start - clean.rfind("\n", 0, place.start) - 1
    at = 0
    for _ in range(line):  # redaction marks keep line numbers
        at = before.text.find("\n", at) + 1
    at += column
    same_prefix = before.text[at - column : at] == clean[place.start - column : place.start]
    if not same_prefix or before.text[at : at + len(record.content)] != record.content:
        _refuse_rewrite(
            where,
            "holds a secret or a private part that is not stored, and would lose it",
            "edit the file with a program of yours, then scrubjay sync",
        )
    return at


def _new_passage_text(record: Record, content: str, before: FileSnapshot, where: str) -> str:
    known = split_passage(record)
    body = content.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if not body:
        _refuse_rewrite(where, "would be left empty", "archive or forget it, or delete it in the file")
    if body == known.body.replace("\r\n", "\n"):
        return record.content
    text = record.content if "\n" in record.content else before.text
    crlf_ends, line_ends = text.count("\r\n"), text.count("\n")
    if 0 < crlf_ends < line_ends and "\n" in record.content:
        _refuse_rewrite(where, "mixes two kinds of line ends", "edit the file with a program of yours")
    if crlf_ends:
        body = body.replace("\n", "\r\n")
    return known.head + body + known.tail


def _sync_rewritten(workspace: Workspace, source: Source, record: Record, full: str) -> RewriteReport:
    done = sync_file(workspace, source, Path(full))
    if done.problems:
        problem = done.problems[0]
        raise SourceError(
            f"{full} was written, but not read: {problem.message}", hint=problem.hint or "scrubjay sync"
        )
    with workspace.reader() as reader:
        current = _current_record(reader, record)
    if current is None or current.place is None:
        raise SourceError(
            f"{full} was written; the passage is not found in it any more.", hint="scrubjay sync"
        )
    return RewriteReport(current.id, full, current.place.line_start, current.place.line_end, changed=True)


def _current_record(reader: Reader, record: Record) -> Record | None:
    place = record.place
    assert place is not None
    passages = reader.passages(place.source, place.path)
    same = [one for one in passages if one.id == record.id]
    covering = [one for one in passages if one.place and one.place.start <= place.start < one.place.end]
    return next(iter(same + covering), None)


def _front_matter_end(text: str) -> int:
    r"""Return the offset after front matter, whatever the line ends.

    >>> _front_matter_end("---\r\ntitle: x\r\n---\r\nText"), _front_matter_end("Text")
    (20, 0)
    """
    flat = text.replace("\r\n", "\n")
    lines = flat.count("\n", 0, front_matter_end(flat))
    at = 0
    for _ in range(lines):
        at = text.find("\n", at) + 1
    return at


def _refuse_rewrite(where: str, reason: str, hint: str) -> NoReturn:
    raise InputError(f"{where} {reason}. Nothing was written.", hint=hint)


def set_status(workspace: Workspace, ids: Sequence[str], status: str) -> ChangeReport:
    """Archive memories, or make archived and superseded ones active again."""
    return retry_conflicts(lambda: _set_status(workspace, ids, status))


def _set_status(workspace: Workspace, ids: Sequence[str], status: str) -> ChangeReport:
    at = now_micros()
    verb, op = ("archive", "archived") if status == "archived" else ("restore", "restored")
    with workspace.reader() as reader:
        by_id, unknown = find_records(reader, ids)
        records = list(by_id.values())
        require_may_change(workspace, records, verb)
        changed = [record for record in records if record.status != status]
        ends = _restored_ends(reader, changed, at) if op == "restored" else {}
    if changed:
        changes = status_changes(changed, LifecycleChange(status=status), op, at, actor=workspace.scope.user)
        changes.append(
            PutLifecycle({memory: LifecycleChange(valid_until=end) for memory, end in ends.items()})
        )
        unchanged = RequireUnchanged({record.id: record for record in changed})
        workspace.store.write(workspace.scope, [unchanged, *changes], durable=True)
        write_changed_notes(workspace, changed=[record.id for record in changed])
    same = tuple(record.id for record in records if record.status == status)
    return ChangeReport(tuple(record.id for record in changed), same, unknown)


def _restored_ends(reader: Reader, records: Sequence[Record], at: int) -> dict[str, int | None]:
    """Return the ``valid_until`` of memories that become active again.

    It is the one before they were superseded, if they were. One that has passed is removed: an active memory is true.
    """
    last = last_events(reader, [record.id for record in records], ("superseded", "restored"))
    ends: dict[str, int | None] = {}
    for record in records:
        event, end = last.get(record.id), record.valid_until
        if event is not None and event.op == "superseded":
            end = max(event.count, record.valid_from or 0) if event.count else None
        elif record.status == "superseded":
            end = None
        ends[record.id] = end if end is not None and end > at else None
    return ends


def record_feedback(workspace: Workspace, ids: Sequence[str], verdict: str) -> ChangeReport:
    if verdict not in VERDICTS:
        raise InputError(f"Feedback {verdict!r} is not one of {', '.join(VERDICTS)}. Nothing was written.")
    return retry_conflicts(lambda: _record_feedback(workspace, ids, verdict))


def _record_feedback(workspace: Workspace, ids: Sequence[str], verdict: str) -> ChangeReport:
    at = now_micros()
    with workspace.reader() as reader:
        records, unknown = find_records(reader, ids)
        if verdict not in ("used", "useful"):
            require_may_change(workspace, records.values(), "rate")
        verdicts = {memory: _apply_verdict(reader, record, verdict, at) for memory, record in records.items()}
        lives = {memory: life for memory, life in verdicts.items() if life is not None}
        events = [
            Event(record.id, verdict, at, record.key, actor=workspace.scope.user)
            for record in records.values()
            if record.id in lives
        ]
        judged = {memory: replace(records[memory], **changed_fields(life)) for memory, life in lives.items()}
        flipped = {one for one in judged if judged[one].marked_wrong != records[one].marked_wrong}
        derived, more, read = propagate_verdicts(workspace, reader, judged, flipped, at)
    lives |= derived
    if lives:
        changes: list[Change] = [
            RequireUnchanged({**read, **{memory: records[memory] for memory in judged}}),
            PutLifecycle(lives),
            PutEvents((*events, *more)),
        ]
        workspace.store.write(workspace.scope, changes, durable=True)
    unchanged = tuple(memory for memory in verdicts if memory not in lives)
    return ChangeReport(tuple(judged), unchanged, unknown, tuple(sorted(derived)))


def _apply_verdict(reader: Reader, record: Record, verdict: str, at: int) -> LifecycleChange | None:
    """Return the change that a verdict makes; None if it revokes a verdict that nobody gave, or repeats "never"."""
    if verdict == "used":
        return LifecycleChange(last_used=at)
    if verdict in INJECTION_VERDICTS:
        return _apply_injection_verdict(reader, record, verdict)
    if verdict == "not-wrong" and record.strength == 1:
        return None
    events = reader.events([record.id], limit=MAX_HISTORY_EVENTS)
    strength = strength_after([Event(record.id, verdict, at, record.key), *events])
    if verdict == "useful":
        return LifecycleChange(strength=strength, last_used=at)
    return LifecycleChange(strength=strength)


def _apply_injection_verdict(reader: Reader, record: Record, verdict: str) -> LifecycleChange | None:
    if (NEVER_INJECT in record.tags) == (verdict == NEVER_INJECT):
        return None
    if verdict == NEVER_INJECT:
        return LifecycleChange(tags=tuple(sorted({*record.tags, NEVER_INJECT})))
    in_file = record.place is not None and note_marker_id(record.content) is None
    if record.place is not None and in_file and not withheld_ids(reader, [record]):
        path = full_path(record, {source.id: source for source in reader.sources()})
        raise InputError(
            f"The tag {NEVER_INJECT} of {record.id} comes from {path or record.place.path}{position(record)}. "
            "Nothing was written.",
            hint="remove it there, then scrubjay sync",
        )
    return LifecycleChange(tags=tuple(tag for tag in record.tags if tag != NEVER_INJECT))


def propagate_verdicts(
    workspace: Workspace, reader: Reader, judged: Mapping[str, Record], flipped: Set[str], at: int
) -> tuple[dict[str, LifecycleChange], list[Event], dict[str, Record]]:
    """Return the changes and events of other memories that follow from verdicts, and all memories that decide it.

    A digest is wrong while a source that it quotes is; any other derived memory while all of its sources are.
    ``flipped`` are the judged memories that are now marked wrong and were not before, or the reverse. Memories that the
    caller may not change stay as they are.
    """
    known = dict(judged)
    read: dict[str, Record] = {}
    lives: dict[str, LifecycleChange] = {}
    events: dict[str, list[Event]] = {}
    pending = sorted(flipped)
    while pending:
        inward = reader.edges(pending, ["derived_from"], inward=True)
        candidates = reader.get(sorted({edge.src for edge in inward} - known.keys()))
        derived = {
            memory: record
            for memory, record in candidates.items()
            if record.origin == "derived" and may_change(workspace, record)
        }
        edges = reader.edges(sorted(derived), ["derived_from"])
        stored = reader.get(sorted({edge.dst for edge in edges}))
        read |= {**derived, **stored}
        sources = {**stored, **known}
        earlier = reader.events(sorted(derived), limit=deletion.ALL_EVENTS)
        pending = []
        for memory, record in derived.items():
            own = [edge for edge in edges if edge.src == memory and edge.dst in sources]
            history = [event for event in earlier if event.memory == memory]
            before = _inherited_verdicts(history)
            wrong = {edge.dst for edge in own if sources[edge.dst].marked_wrong}
            causes, cleared = set[str](), set[str]()
            if any(edge.rule == DIGEST_RULE for edge in own):
                unquoted = {edge.dst for edge in own if not edge.weight}
                causes = wrong - unquoted
                cleared = (unquoted & flipped) - wrong  # a consolidation quotes them again
            elif all(edge.dst in wrong for edge in own):
                causes = before or {min(wrong)}
            cleared |= before - causes
            verdicts = [("wrong", one) for one in causes - before] + [("not-wrong", one) for one in cleared]
            new = [
                Event(memory, op, at, record.key, other=cause, actor=workspace.scope.user)
                for op, cause in sorted(verdicts)
            ]
            # Another of its sources may turn later: then it is judged again, from the stored state.
            events[memory] = new
            after = replace(record, strength=strength_after([*new, *history]))
            lives.pop(memory, None)
            if after.strength != record.strength:
                lives[memory] = LifecycleChange(strength=after.strength)
            if after.marked_wrong != record.marked_wrong:
                known[memory] = after
                pending.append(memory)
    return lives, list(chain.from_iterable(events.values())), read


def _inherited_verdicts(history: Sequence[Event]) -> set[str]:
    """Return the sources whose "wrong" a derived memory has, by its events, newest first."""
    taken_back: set[str] = set()
    sources: set[str] = set()
    for event in history:
        if event.other is None:
            if event.op == "not-wrong":
                break
        elif event.op == "not-wrong":
            taken_back.add(event.other)
        elif event.op == "wrong" and event.other not in taken_back:
            sources.add(event.other)
    return sources


LINK_KINDS: Final = ("links", "derived_from", "supersedes", "contradicts")
"""Kinds of edges that a caller may make."""


def add_link(workspace: Workspace, edge: Edge) -> MemoryLink:
    _check_link_kind(edge.kind)
    weight = edge.weight
    if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight <= 1:
        raise InputError(f"The weight is {weight!r}; wanted is 0 to 1. Nothing was written.")
    with workspace.reader() as reader:
        source, target = find_record(reader, edge.src), find_record(reader, edge.dst)
        src, dst, phrase = source.id, target.id, browse.memory_phrase(target)
    if src == dst:
        raise InputError(f"{src} cannot be linked to itself. Nothing was written.")
    rule = redact_text(edge.rule, workspace.settings.redaction.allow).text
    edge_row = Edge(src, edge.kind, dst, workspace.scope.key(), float(weight), now_micros(), "given", rule)
    workspace.store.write(workspace.scope, [PutEdges((edge_row,))], durable=True)
    return MemoryLink(dst, edge_row.kind, "to", edge_row.weight, rule, True, phrase)


def remove_link(workspace: Workspace, src: str, dst: str, kind: str) -> None:
    _check_link_kind(kind)
    with workspace.reader() as reader:
        record = find_record(reader, src)
        src_id, dst_id = record.id, find_record(reader, dst).id
        existing = [edge for edge in reader.edges([src_id], [kind]) if edge.dst == dst_id]
        reverse = [edge for edge in reader.edges([dst_id], [kind]) if edge.dst == src_id]
        if any(edge.key != workspace.scope.key() for edge in existing):
            require_may_change(workspace, [record], "unlink")
    if not existing:
        hint = f"the link goes the other way: unlink {dst_id} from {src_id}" if reverse else ""
        raise NotFoundError(f"No link of kind {kind} leads from {src_id} to {dst_id}.", hint=hint)
    workspace.store.write(workspace.scope, [DropEdges(((src_id, kind, dst_id),))], durable=True)


def _check_link_kind(kind: str) -> None:
    if kind not in LINK_KINDS:
        raise InputError(f"Kind {kind!r} is not one of {', '.join(LINK_KINDS)}. Nothing was written.")


def forget_memories(
    workspace: Workspace,
    ids: Sequence[str],
    *,
    reactivate: bool = True,
    dependents: bool = True,
    unchanged: Mapping[str, Record] | None = None,
) -> ForgetReport:
    """Delete memories by whole or short ids, and recompute the categories that lost members.

    ``reactivate``, ``dependents`` and ``unchanged`` as in `deletion.forget_memories`.
    """
    store, scope = workspace.store, workspace.scope
    with store.reader(scope) as reader:
        for one in ids:
            if one and not may_be_id(one) and reader.ids_with_prefix(one, 1):
                raise InputError(
                    f"The id {one!r:.80} is too short to forget by. Nothing was forgotten.",
                    hint=f"give at least {SHORT_ID_DIGITS} of its digits",
                )
        records, unknown = find_records(reader, ids)
        require_may_change(workspace, records.values(), "forget")
    gone = deletion.forget_memories(
        store,
        scope,
        [*records, *unknown],
        reactivate=reactivate,
        dependents=dependents,
        unchanged=unchanged,
    )
    if "categories" in workspace.settings.linking.stages:
        for source, keys in gone.sources.items():
            update_folders(store, scope, source, now_micros(), keys=keys)
    model = workspace.models.base.model.fingerprint
    # A topic of the key lost a memory, or the key half of its memories: no later call would do it.
    refresh_topics(
        workspace,
        gone.keys,
        lambda reader, key: key in gone.topic_keys or are_topics_due(reader, key, model, 0),
    )
    refresh_learned_notes(workspace)
    return gone.report


def forget_everything(workspace: Workspace) -> ForgetReport:
    """Delete everything of a user: memories of any group, sources, links, names, runs, and the user's own name."""
    store, scope = workspace.store, workspace.scope
    own = replace(workspace, may_curate=False)
    with store.tenant_reader(scope.tenant) as reader:
        everyone = replace(reader.scope, user=scope.user)
        records = all_records(reader, RecordFilter(statuses=STATUSES))
        ids = [record.id for record in records if may_change(own, record)]
        sources = [source.id for source in reader.sources() if source.key == scope.key()]
    settings = replace(workspace.settings, notes=NotesSettings())  # the user's folder shows the user's view
    done = forget_memories(replace(workspace, scope=everyone, settings=settings, dictionaries={}), ids)
    store.write(scope, [*map(DropSource, sources), DropUser(scope.user)], durable=True)
    refresh_learned_notes(workspace)
    return done
