"""Passage edits: rewrite a passage in its file and sync the file.

The only place where scrubjay changes files of a source. A file is written only if it still has the stored text, and a
passage with a redacted secret is refused, because the file's secret would be lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from scrubjay.errors import ForbiddenError, InputError, SourceError
from scrubjay.ingest.files import FileSnapshot, replace_file, snapshot_file
from scrubjay.models.ids import tombstone_hashes
from scrubjay.models.records import Record, Source, SourcePlace
from scrubjay.models.views import RewriteReport
from scrubjay.redaction.redactor import redact_text
from scrubjay.services.sync import sync_file
from scrubjay.services.workspace import Workspace, resolve_id
from scrubjay.storage.interface import Reader
from scrubjay.text.markdown import front_matter_end


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
    """Return why a user cannot edit a passage, as far as can be told without its file; empty if nothing forbids it."""
    if record.place is None:
        return "it stands in no file"
    if record.owner != user:
        return f"its file is {record.owner}'s"
    if record.session is not None:
        return "it is part of a conversation's log"
    return ""


def rewrite_passage(workspace: Workspace, memory: str, content: str, was: str | None = None) -> RewriteReport:
    with workspace.store.reader(workspace.scope) as reader:
        one = resolve_id(reader, memory)
        record = reader.get([one])[one]
        sources = {source.id: source for source in reader.sources()}
        _require_editable(workspace, record)
        assert record.place is not None
        source, place = sources[record.place.source], record.place
        where = f"{_full_path(source, place)}:{place.line_start}-{place.line_end}"
        if was is not None and was != record.content_hash:
            _refuse_rewrite(
                where, "was changed since you opened it", "look at what it says now, and edit it again"
            )
        before = snapshot_file(Path(source.root), place.path)
        at = _locate(before, record, where, workspace.settings.redaction.allow)
        new = _splice(record, content, before, where)
        if new == record.content:
            return RewriteReport(
                one, _full_path(source, place), place.line_start, place.line_end, changed=False
            )
        if reader.forgotten_hashes(
            sorted(tombstone_hashes(workspace.store.secret(workspace.scope), new, [record.key]))
        ):
            _refuse_rewrite(where, "would say what was forgotten once", "say it in other words")
    text = before.text[:at] + new + before.text[at + len(record.content) :]
    if text[: _front_matter_end(text)] != before.text[: _front_matter_end(before.text)]:
        _refuse_rewrite(where, "would get other front matter", "edit the file with a program of yours")
    replace_file(Path(source.root), place.path, before, text)
    return _sync_passage(workspace, source, record)


def _require_editable(workspace: Workspace, record: Record) -> None:
    reason = edit_refusal(record, workspace.scope.user)
    if reason:
        kind = (
            ForbiddenError
            if record.place is not None and record.owner != workspace.scope.user
            else InputError
        )
        raise kind(f"{record.id} cannot be edited in its file: {reason}. Nothing was written.")


def _locate(before: FileSnapshot, record: Record, where: str, allow: Sequence[str]) -> int:
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
    begun = before.text[at - column : at] == clean[place.start - column : place.start]
    if not begun or before.text[at : at + len(record.content)] != record.content:
        _refuse_rewrite(
            where,
            "holds a secret or a private part that is not stored, and would lose it",
            "edit the file with a program of yours, then scrubjay sync",
        )
    return at


def _splice(record: Record, content: str, before: FileSnapshot, where: str) -> str:
    known = split_passage(record)
    body = content.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if not body:
        _refuse_rewrite(where, "would be left empty", "archive or forget it, or delete it in the file")
    if body == known.body.replace("\r\n", "\n"):
        return record.content
    text = record.content if "\n" in record.content else before.text
    ends = text.count("\r\n"), text.count("\n")
    if 0 < ends[0] < ends[1] and "\n" in record.content:
        _refuse_rewrite(where, "mixes two kinds of line ends", "edit the file with a program of yours")
    if ends[0]:
        body = body.replace("\n", "\r\n")
    return known.head + body + known.tail


def _sync_passage(workspace: Workspace, source: Source, record: Record) -> RewriteReport:
    place = record.place
    assert place is not None
    full = _full_path(source, place)
    done = sync_file(workspace, source, Path(full))
    if done.problems:
        trouble = done.problems[0]
        raise SourceError(
            f"{full} was written, but not taken in: {trouble.message}", hint=trouble.hint or "scrubjay sync"
        )
    with workspace.store.reader(workspace.scope) as reader:
        found = _current_record(reader, record)
    if found is None or found.place is None:
        raise SourceError(
            f"{full} was written; the passage is not found in it any more.", hint="scrubjay sync"
        )
    return RewriteReport(found.id, full, found.place.line_start, found.place.line_end, changed=True)


def _current_record(reader: Reader, record: Record) -> Record | None:
    place = record.place
    assert place is not None
    held_now = reader.passages(place.source, place.path)
    same = [one for one in held_now if one.id == record.id]
    there = [one for one in held_now if one.place and one.place.start <= place.start < one.place.end]
    return next(iter(same + there), None)


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


def _full_path(source: Source, place: SourcePlace) -> str:
    return os.path.join(source.root, place.path)


def _refuse_rewrite(where: str, reason: str, hint: str) -> NoReturn:
    raise InputError(f"{where} {reason}. Nothing was written.", hint=hint)
