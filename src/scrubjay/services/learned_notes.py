"""Learned notes: keep facts, digests and additions as Markdown files in a folder, and store a person's edits of them.

The store is written first, then the folder. A file that a person edited wins over the store and is never overwritten;
one that another store or a person wrote stays as it is; a missing one is written again, since a file may be missing
for many reasons that say nothing about the memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from scrubjay import atomic_files
from scrubjay.config.settings import NotesSettings
from scrubjay.errors import InputError, ScrubjayError, SourceError
from scrubjay.models.graph import EDITED_RULE
from scrubjay.models.ids import tombstone_hashes
from scrubjay.models.lifecycle import Amendment, NewMemory
from scrubjay.models.records import STATUSES, VISIBILITIES, Record, RecordFilter
from scrubjay.models.reports import FileError, NotesReport
from scrubjay.models.sources import MEMORY_NOTE_SUFFIX
from scrubjay.services.workspace import Workspace
from scrubjay.storage.interface import Reader, all_records
from scrubjay.transfer.memory_notes import (
    MemoryNote,
    note_path,
    plain_text,
    read_note,
    unread_changes,
    write_note,
)

LOCK_NAME: Final = "learned notes"
MAX_NOTE_BYTES: Final = 12_000_000
"""Bytes of a file: a memory has ten million characters at most."""
FOLDER_MODE: Final = 0o755


def update_learned_notes(workspace: Workspace, *, changed: bool = True) -> NotesReport | None:
    """Bring the folder that the settings name up to date; None if another process is doing so.

    Without ``changed`` nothing was written to the store, and only the files are checked.
    """
    with workspace.store.try_exclusive(workspace.scope, LOCK_NAME) as alone:
        if not alone:
            return None
        run = _notes_run(workspace, stores_edits=True)
        if not changed and run.is_current():
            return None
        return run.update()


def refresh_learned_notes(workspace: Workspace) -> None:
    """Bring the folder up to date after a call that changed memories."""
    report = update_learned_notes(workspace)
    if report is None:
        return
    if report.problems and workspace.log is not None:
        workspace.log.write("warning", "learned notes", 0, problems=len(report.problems))
    _raise_write_error(report, "The memories are stored, but ")


def write_changed_notes(workspace: Workspace, new: Sequence[str], changed: Sequence[str]) -> None:
    """Write the files of new memories, and those of changed and superseded ones that are at their usual path.

    Other files are left to the next sync.
    """
    report = _notes_run(workspace, stores_edits=False).write_changed(new, changed)
    _raise_write_error(report, "The memory is stored, but ")


def _notes_run(workspace: Workspace, *, stores_edits: bool) -> _NotesRun:
    notes = workspace.settings.notes
    assert notes.learned_dir is not None
    # Without a notes folder, since this run itself writes what it stores.
    inner = replace(workspace, settings=replace(workspace.settings, notes=NotesSettings()))
    return _NotesRun(inner, notes.learned_dir.expanduser(), notes.learned_visibility, stores_edits)


def export_notes(workspace: Workspace, folder: str | Path) -> NotesReport:
    """Write memories as Markdown files into a folder, once; edited files are left and reported."""
    place = Path(os.path.abspath(Path(folder).expanduser()))
    if place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file, and Markdown is written into a folder. Nothing was written.")
    learned = workspace.settings.notes.learned_dir
    if learned is None or place != Path(os.path.abspath(learned.expanduser())):
        with workspace.reader() as reader:
            inside = [one.root for one in reader.sources() if place.is_relative_to(one.root)]
        if inside:
            raise InputError(
                f"{place} lies in the source {inside[0]}, whose sync would read each memory a second time. "
                "Nothing was written.",
                hint=f'set learned_dir = "{place}" under [notes] in the settings, or name another folder',
            )
    report = _NotesRun(workspace, place, VISIBILITIES, stores_edits=False).update()
    _raise_write_error(report)
    return report


def _raise_write_error(report: NotesReport, stored: str = "") -> None:
    for failed in report.problems:
        if failed.hint == WRITE_HINT:
            raise SourceError(f"{stored}{failed.path}: {failed.message}", hint=failed.hint)


WRITE_HINT: Final = "correct [notes] learned_dir in the settings, or the folder's rights"


@dataclass(slots=True)
class _NoteFile:
    path: str
    text: str
    note: MemoryNote


@dataclass(slots=True)
class _LearnedMemory:
    """A memory with the earliest text it had, the memory that superseded it, and the texts of its earlier versions."""

    record: Record
    first_text: str
    superseded_by: str = ""
    earlier: Sequence[str] = ()


@dataclass
class _NotesRun:
    workspace: Workspace
    folder: Path
    visibility: Sequence[str]
    stores_edits: bool
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("written", "removed", "amended", "added"), 0)
    )
    problems: list[FileError] = field(default_factory=list)
    notices: list[FileError] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Id of a memory to the path of its file, for links."""

    @property
    def store_mark(self) -> str:
        from scrubjay.transfer.archive import principal_mark  # a sync with nothing new has no use for it

        return principal_mark(self.workspace.store.secret(self.workspace.scope), self.workspace.scope)

    @cached_property
    def _users_marks(self) -> set[str]:
        """The marks of all users of the tenant, in the files that they wrote."""
        from scrubjay.transfer.archive import principal_mark

        store, scope = self.workspace.store, self.workspace.scope
        keys = (key for key in store.memory_counts(scope.tenant) if key.startswith("user:"))
        users = (replace(scope, user=key.removeprefix("user:")) for key in keys)
        return {principal_mark(store.secret(scope), user) for user in users}

    def is_current(self) -> bool:
        """Return whether every file is one that this store wrote, of a memory that is here."""
        files = list(self._files(quiet=True))
        with self.workspace.reader() as reader:
            stored = reader.get([one.note.id for one in files if one.note.id])
        return bool(files) and all(
            (record := stored.get(one.note.id)) is not None
            and (one.note.unedited, one.note.status, one.note.text)
            == (True, record.status, plain_text(record.content))
            for one in files
        )

    def write_changed(self, new: Sequence[str], changed: Sequence[str]) -> NotesReport:
        started = time.monotonic()
        with self.workspace.reader() as reader:
            records = reader.get([*new, *changed])
            older = [edge.dst for edge in reader.edges(list(records), ["supersedes"])]
            records |= reader.get([one for one in older if one not in records])
            learned = _learned_memories(reader, [one for one in records.values() if self._is_wanted(one)])
            self.names = {one.record.id: note_path(one.record, one.first_text) for one in learned}
            evidence = self._evidence(reader, learned)
        for memory in learned:
            path = note_path(memory.record, memory.first_text)
            there = self._read(path)
            if isinstance(there, _NoteFile):
                if there.note.id == memory.record.id and there.note.unedited:
                    self._write(path, memory, evidence, there)
            elif there is None and memory.record.id in new:  # another's may have been moved
                self._write(path, memory, evidence, None)
        return self._report(len(learned), started)

    def update(self) -> NotesReport:
        """Store edits, then write what is missing or changed and remove what was forgotten."""
        started = time.monotonic()
        files = {one.path: one for one in self._files()}
        learned = self._all_learned()
        if self.stores_edits and self._store_edits(files, learned):
            files = {one.path: one for one in self._files(quiet=True)}
            learned = self._all_learned()
        matched = _match_files(files, learned, by_title=self.stores_edits)
        self.names = {memory: one.path for memory, one in matched.items()}
        for memory in learned:
            self.names.setdefault(memory.record.id, note_path(memory.record, memory.first_text))
        with self.workspace.reader() as reader:
            evidence = self._evidence(reader, learned)
        for memory in learned:
            there = matched.get(memory.record.id)
            path = self.names[memory.record.id]
            if there is None or self._may_overwrite(there, memory):
                self._write(path, memory, evidence, there)
        self._remove(files, {one.path for one in matched.values()})
        return self._report(len(learned), started)

    def _report(self, memories: int, started: float) -> NotesReport:
        return NotesReport(
            path=str(self.folder),
            memories=memories,
            **self.counts,
            problems=tuple(self.problems),
            seconds=time.monotonic() - started,
            stored=tuple(self.notices),
        )

    def _report_problem(self, path: str, message: str, hint: str = "") -> None:
        self.problems.append(FileError(str(self.folder / path), message, hint))

    # Files

    def _files(self, *, quiet: bool = False) -> Iterator[_NoteFile]:
        known = len(self.problems)
        for above, folders, names in os.walk(self.folder):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for name in sorted(names):
                if name.endswith(MEMORY_NOTE_SUFFIX) and not name.startswith("."):
                    path = os.path.relpath(os.path.join(above, name), self.folder).replace(os.sep, "/")
                    file = self._read(path)
                    if isinstance(file, _NoteFile):
                        yield file
                    elif file:
                        self._report_problem(path, file, "correct its front matter, or rename it")
        if quiet:
            del self.problems[known:]

    def _read(self, path: str) -> _NoteFile | str | None:
        """Return a file, why it holds no memory, or None where it does not exist."""
        place = self.folder / path
        if not os.path.lexists(place):
            return None
        if place.is_symlink() or not place.is_file():
            return "It is a link or a folder, and was not read."
        try:
            if place.stat().st_size > MAX_NOTE_BYTES:
                return f"It is larger than {MAX_NOTE_BYTES:,} bytes, and was not read."
            text = place.read_bytes().decode("utf-8")
            if not text:
                return None
        except UnicodeDecodeError:
            return "It is not UTF-8, and was not read."
        except OSError as error:
            return f"It cannot be read: {error.strerror or error}."
        note = read_note(text)
        return note if isinstance(note, str) else _NoteFile(path, text, note)

    def _write(
        self,
        path: str,
        memory: _LearnedMemory,
        evidence: Mapping[str, Sequence[str]],
        there: _NoteFile | None,
    ) -> None:
        record = memory.record
        newer = self.names.get(memory.superseded_by, "")
        text = write_note(
            record,
            self.store_mark,
            evidence.get(record.id, ()),
            _link(newer) if newer else "",
            there.note.extra if there is not None else "",
            there.note.text if there is not None and there.note.text == plain_text(record.content) else None,
        )
        if there is not None and there.text == text:
            return
        place = self.folder / path
        if not self.folder.parent.is_dir():
            self._report_problem(
                path, f"{self.folder.parent} does not exist, so nothing is written there.", WRITE_HINT
            )
            return
        try:
            if not self._is_as_read(place, there):
                return  # somebody writes it now: the next sync looks at it
            atomic_files.make_folder(place.parent, FOLDER_MODE)
            mode = place.stat().st_mode & 0o777 if there is not None else atomic_files.PRIVATE_MODE
            # An empty file after a power cut is written again, so none is synced by itself.
            atomic_files.write_file(place, text.encode("utf-8", "replace"), mode, durable=False)
        except OSError as error:
            self._report_problem(path, f"It cannot be written: {error.strerror or error}.", WRITE_HINT)
            return
        self.counts["written"] += 1

    @staticmethod
    def _is_as_read(place: Path, file: _NoteFile | None) -> bool:
        if file is None:
            return not os.path.lexists(place) or (place.is_file() and not place.stat().st_size)
        return place.exists() and place.read_bytes() == file.text.encode()

    def _delete(self, file: _NoteFile) -> None:
        path = file.path
        place = self.folder / path
        try:
            if not self._is_as_read(place, file):
                return
            place.unlink()
            if place.parent != self.folder and not any(place.parent.iterdir()):
                place.parent.rmdir()
        except OSError as error:
            self._report_problem(path, f"It cannot be removed: {error.strerror or error}.", WRITE_HINT)
            return
        self.counts["removed"] += 1

    # Memories

    def _is_wanted(self, record: Record) -> bool:
        kind = record.key.partition(":")[0]
        own = record.owner == self.workspace.scope.user and kind in self.visibility
        return own and record.place is None and record.turn is None

    def _all_learned(self) -> list[_LearnedMemory]:
        with self.workspace.reader() as reader:
            records = all_records(reader, RecordFilter(statuses=STATUSES))
            return _learned_memories(reader, [record for record in records if self._is_wanted(record)])

    def _evidence(self, reader: Reader, learned: Sequence[_LearnedMemory]) -> dict[str, list[str]]:
        edges = reader.edges([one.record.id for one in learned], ["derived_from"])
        records = reader.get(sorted({edge.dst for edge in edges}))
        links: dict[str, set[str]] = {}
        for edge in edges:
            if edge.dst in records:
                links.setdefault(edge.src, set()).add(self._citation(records[edge.dst]))
        return {memory: sorted(citations - {""}) for memory, citations in links.items()}

    def _citation(self, record: Record) -> str:
        """Return a link to a note or to another memory's file, or a turn's session and number."""
        if record.session is not None and record.turn is not None:
            return f"{record.agent or 'session'} {record.session}, turn {record.turn}"
        if record.place is not None:
            heading = f"#{record.heading_path[-1]}" if record.heading_path else ""
            return f"[[{record.place.path.removesuffix('.md')}{heading}]]"
        path = self.names.get(record.id)
        return _link(path) if path else ""

    # Edits, conflicts, removals

    def _may_overwrite(self, file: _NoteFile, memory: _LearnedMemory) -> bool:
        """Return whether a file may be overwritten; one that may not and has another text is reported."""
        note, content = file.note, plain_text(memory.record.content)
        if note.id == memory.record.id and note.unedited:
            return True
        if note.id != memory.record.id and note.text != content:
            self._report_problem(
                file.path,
                f"Another store or a person wrote it, and it differs from {memory.record.id}. Both were left.",
                "merge the stores (`scrubjay export`, `scrubjay import`), or delete the file to have it written anew",
            )
        elif not self.stores_edits and note.text != content:
            self._report_problem(file.path, "It was edited since it was written, and was left as it is.")
        return False

    def _store_edits(self, files: Mapping[str, _NoteFile], learned: Sequence[_LearnedMemory]) -> bool:
        """Store edits of a person and files from another machine; return whether anything was stored."""
        by_id = {one.record.id: one.record for one in learned}
        earlier = {one.record.id: one.earlier for one in learned}
        matched = {one.path: memory for memory, one in _match_files(files, learned, by_title=True).items()}
        done = 0
        for file in files.values():
            record = by_id.get(file.note.id or matched.get(file.path, ""))
            may_differ = file.note.id or record is None or file.note.text != plain_text(record.content)
            if (
                record is not None
                and may_differ
                and not file.note.id
                and file.note.text in earlier[record.id]
            ):
                message = f"It has an earlier text of {record.id}, which was changed since. It was left."
                self._report_problem(file.path, message, "write the text that holds into it, or delete it")
                continue
            try:
                if record is not None and file.path in matched and not file.note.unedited and may_differ:
                    done += self._amend(record, file)
                elif file.path not in matched:
                    done += self._add(file)
            except ScrubjayError as error:
                self._report_problem(file.path, f"Its edit was not stored: {error}", error.hint)
        return done > 0

    def _amend(self, record: Record, file: _NoteFile) -> bool:
        from scrubjay.redaction.redactor import redact_text
        from scrubjay.services.curation import update_memory

        clean = redact_text(file.note.text, self.workspace.settings.redaction.allow).text
        tags = file.note.tags
        if not file.note.id:  # it keeps the tags that it was stored with, whatever became of the memory's
            tags = (
                record.tags if clean == plain_text(record.content) else tuple(sorted({*tags, *record.tags}))
            )
        if clean == plain_text(record.content) and tags == record.tags:
            if clean != file.note.text:
                self._report_problem(file.path, "It holds a secret or a private part, which is not stored.")
                return False
        else:
            amendment = Amendment(tags=tags)
            if clean != plain_text(record.content):
                amendment = replace(amendment, content=file.note.text)
            report = update_memory(self.workspace, record.id, amendment)
            self.counts["amended"] += bool(report.changed)
            message = f"Your edit was stored as a new version of {record.id}."
            self.notices.append(
                FileError(str(self.folder / file.path), message, f"scrubjay history {record.id}")
            )
        if changed := unread_changes(file.note, record):
            message = (
                f"{', '.join(changed)}: different in {record.id}. Edits of text and tags alone are stored, "
                "and the file was left."
            )
            self._report_problem(
                file.path, message, f"undo that edit, or scrubjay update {record.id} --date DATE"
            )
        elif clean == file.note.text and file.note.id:
            # The file has the stored text: write it with the person's fields.
            with self.workspace.reader() as reader:
                learned = _learned_memories(reader, list(reader.get([record.id]).values()))
            self._write(file.path, learned[0], {}, file)
        return True

    def _add(self, file: _NoteFile) -> bool:
        from scrubjay.services.curation import add

        note, scope = file.note, self.workspace.scope
        if self._is_other_users(note) or self._is_forgotten(note.text):
            return False
        with self.workspace.store.reader(scope) as reader:
            known = reader.get([note.id]).get(note.id)
        if known is not None:
            if not note.unedited and (note.text, note.tags) != (plain_text(known.content), known.tags):
                self._report_problem(
                    file.path,
                    f"It is not the file of {known.id}, though it has its id; its text was not stored.",
                    "delete it, or the lines `id` and `store` in it to store it as a new memory",
                )
            return False
        # Memories derived from conversations of another store come with those, by an import.
        derived = note.origin == "derived" and note.store and (note.unedited or note.store != self.store_mark)
        if note.status != "active" or derived:
            return False
        visibility, _, group = note.visibility.partition(":")
        new = NewMemory(
            note.text,
            tier=note.kind,
            tags=note.tags,
            date=note.date,
            project=note.project,
            visibility=visibility,
            group=group or None,
            title="" if note.store else _title(file),
            origin=note.origin if note.unedited else "owner",
        )
        if note.store == self.store_mark and not note.unedited:
            self._report_problem(
                file.path,
                f"{note.id} is not stored any more, and its file was edited since; the file was left.",
                "delete the file, or the lines `id` and `store` in it to store it as a new memory",
            )
            return False
        (report,) = add(self.workspace, [new])
        if report.existed or report.passed:
            return False
        self.counts["added"] += 1
        self.notices.append(FileError(str(self.folder / file.path), f"It was stored as {report.id}."))
        return True

    def _is_other_users(self, note: MemoryNote) -> bool:
        """Return whether another user of this store wrote a file."""
        return note.store not in ("", self.store_mark) and note.store in self._users_marks

    def _is_forgotten(self, text: str) -> bool:
        secret, scope = self.workspace.store.secret(self.workspace.scope), self.workspace.scope
        with self.workspace.store.reader(scope) as reader:
            return bool(reader.forgotten_hashes(sorted(tombstone_hashes(secret, text, scope.keys))))

    def _remove(self, files: Mapping[str, _NoteFile], matched: set[str]) -> None:
        """Remove files that this store wrote of memories that were forgotten, or are not to be written any more."""
        others = [one for one in files.values() if one.path not in matched]
        with self.workspace.reader() as reader:
            stored = reader.get([one.note.id for one in others if one.note.id])
        for file in others:
            note, record = file.note, stored.get(file.note.id)
            if self._is_other_users(note):
                continue
            if self._is_forgotten(note.text):
                if note.unedited:
                    self._delete(file)
                else:
                    message = "Its text was forgotten, but the file was edited and was left."
                    self._report_problem(file.path, message, "delete it")
            elif record is None:
                # A derived memory, gone with its evidence or undone with its run; `_add` stored any other again.
                if note.unedited and note.origin == "derived" and note.store == self.store_mark:
                    self._delete(file)
            elif note.unedited and note.store == self.store_mark and not self._is_wanted(record):
                self._delete(file)


def _link(path: str) -> str:
    return f"[[{path.rpartition('/')[2].removesuffix('.md')}]]"


def _match_files(
    files: Mapping[str, _NoteFile], learned: Sequence[_LearnedMemory], *, by_title: bool
) -> dict[str, _NoteFile]:
    """Return the file of each memory: with its id, wherever it was moved; at its path; or with its text.

    Of several files with its id, that at its path is a memory's, else one that was not edited: others are copies.
    ``by_title`` adds the files that a person wrote and edited: a memory has the name of its file as its title.
    """
    by_id: dict[str, list[_NoteFile]] = {}
    for file in files.values():
        by_id.setdefault(file.note.id, []).append(file)
    by_text = {(file.note.kind, file.note.text): file for file in files.values()}
    matched: dict[str, _NoteFile] = {}
    taken: set[str] = set()
    for memory in learned:
        if (copies := by_id.get(memory.record.id)) is not None:
            usual = note_path(memory.record, memory.first_text)
            file = min(copies, key=lambda one: (one.path != usual, not one.note.unedited))
            matched[memory.record.id] = file
            taken.add(file.path)
    own = {one.record.id for one in learned}
    for memory in learned:
        if memory.record.id not in matched:
            candidate = files.get(note_path(memory.record, memory.first_text))
            if candidate is None:
                candidate = by_text.get((memory.record.tier, plain_text(memory.record.content)))
            if candidate is not None and candidate.path not in taken and candidate.note.id not in own:
                matched[memory.record.id] = candidate
                taken.add(candidate.path)
    if by_title:
        named: dict[str, list[_NoteFile]] = {}
        titled: dict[str, list[_LearnedMemory]] = {}
        for file in files.values():
            if file.path not in taken and not file.note.id:
                named.setdefault(_title(file), []).append(file)
        for memory in learned:
            if memory.record.id not in matched and memory.record.status == "active":
                titled.setdefault(memory.record.title, []).append(memory)
        for title in named.keys() & titled.keys():
            if len(named[title]) == len(titled[title]) == 1:  # else nobody knows which is which
                (file,), (memory,) = named[title], titled[title]
                if not unread_changes(file.note, memory.record):
                    matched[memory.record.id] = file
    return matched


def _title(file: _NoteFile) -> str:
    return Path(file.path).name.removesuffix(MEMORY_NOTE_SUFFIX)


def _learned_memories(reader: Reader, records: Sequence[Record]) -> list[_LearnedMemory]:
    """Return memories in the order of their ids, without the earlier texts that amendments left."""
    ids = [record.id for record in records]
    edges, inward = reader.edges(ids, ["supersedes"]), reader.edges(ids, ["supersedes"], inward=True)
    versions = {edge.dst for edge in (*edges, *inward) if edge.rule == EDITED_RULE}
    texts = reader.get(sorted(versions))
    first: dict[str, Record] = {}
    newer: dict[str, str] = {}
    earlier: dict[str, list[str]] = {}
    for edge in edges:
        if edge.rule != EDITED_RULE:
            newer[edge.dst] = max(edge.src, newer.get(edge.dst, ""))
        elif edge.dst in texts:
            version = texts[edge.dst]
            earlier.setdefault(edge.src, []).append(plain_text(version.content))
            if edge.src not in first or (version.updated_at, version.id) < (
                first[edge.src].updated_at,
                first[edge.src].id,
            ):
                first[edge.src] = version
    for edge in inward:
        if edge.rule != EDITED_RULE:
            newer.setdefault(edge.dst, edge.src)
    return [
        _LearnedMemory(
            record,
            first.get(record.id, record).content,
            newer.get(record.id, ""),
            earlier.get(record.id, ()),
        )
        for record in sorted(records, key=lambda one: one.id)
        if record.id not in versions
    ]
