"""Passage: what a person says anew of a file's passage -> the file with it in that place, read again; or a refusal.

The one place where scrubjay writes into files that it took in, and only because somebody edited this very passage. The
file is written where, and only where, it still says what is stored of it; a passage from which a secret was taken out
is left alone, for the file's secret would be lost. Front matter, blank lines around the passage, line ends, encoding
and everything else in the file stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from scrubjay.errors import ForbiddenError, InputError, SourceError
from scrubjay.ingest.scrub import scrub
from scrubjay.ingest.sources.overwrite import Held, held, overwrite
from scrubjay.memory.histories import Rewritten
from scrubjay.memory.ids import tombstones
from scrubjay.memory.records import Place, Record, Source
from scrubjay.store.base import Reader
from scrubjay.text.spans import front_matter
from scrubjay.wiring.desk import Desk
from scrubjay.wiring.linking import whole
from scrubjay.wiring.syncing import resync


@dataclass(frozen=True, slots=True)
class Parts:
    """A passage's text: front matter and blank lines, what can be edited, and the white space behind it."""

    head: str
    body: str
    tail: str


def parts(record: Record) -> Parts:
    """Return what of a passage can be edited, and what stays around it."""
    text = record.content
    first = 0
    if record.place is not None and record.place.start == 0:
        first = _front(text)
    rest = text[first:]
    lead = len(rest) - len(rest.lstrip("\r\n"))
    body = rest[lead:].rstrip()
    return Parts(text[: first + lead], body, rest[lead + len(body) :])


def kept_from(record: Record, user: str) -> str:
    """Return why a passage cannot be edited here by a user, as far as can be told without its file; else nothing."""
    if record.place is None:
        return "it stands in no file"
    if record.owner != user:
        return f"its file is {record.owner}'s"
    if record.session is not None:
        return "it is part of a conversation's log"
    return ""


def rewrite(desk: Desk, memory: str, content: str, was: str | None = None) -> Rewritten:
    """Write a passage's new text into its file, and take the file in again.

    Args:
        desk: Where.
        memory: The passage's id, or its shortest unique beginning.
        content: What shall stand there, without front matter and blank lines around it.
        was: sha256 of the stored text that the caller saw; None where they vouch for it.

    Raises:
        NotFoundError: No memory's id begins so, or several do.
        ForbiddenError: The file is somebody else's.
        InputError: The file no longer says what is stored, or cannot be written so; it names path and lines.
        SourceError: The file cannot be read or written.
    """
    with desk.store.reader(desk.scope) as reader:
        one = whole(reader, memory)
        record = reader.get([one])[one]
        sources = {source.id: source for source in reader.sources()}
        _allowed(desk, record)
        assert record.place is not None
        source, place = sources[record.place.source], record.place
        where = f"{_full(source, place)}:{place.line_start}-{place.line_end}"
        if was is not None and was != record.content_hash:
            _refuse(where, "was changed since you opened it", "look at what it says now, and edit it again")
        before = held(Path(source.root), place.path)
        at = _stands(before, record, where, desk.settings.redaction.allow)
        new = _fitted(record, content, before, where)
        if new == record.content:
            return Rewritten(one, _full(source, place), place.line_start, place.line_end, changed=False)
        if reader.forgotten(sorted(tombstones(desk.store.secret(desk.scope), new, [record.key]))):
            _refuse(where, "would say what was forgotten once", "say it in other words")
    text = before.text[:at] + new + before.text[at + len(record.content) :]
    if text[: _front(text)] != before.text[: _front(before.text)]:
        _refuse(where, "would get other front matter", "edit the file with a program of yours")
    overwrite(Path(source.root), place.path, before, text)
    return _taken_in(desk, source, record)


def _allowed(desk: Desk, record: Record) -> None:
    reason = kept_from(record, desk.scope.user)
    if reason:
        kind = ForbiddenError if record.place is not None and record.owner != desk.scope.user else InputError
        raise kind(f"{record.id} cannot be edited in its file: {reason}. Nothing was written.")


def _stands(before: Held, record: Record, where: str, allow: Sequence[str]) -> int:
    """Return where in a file a passage begins that stands there as it is stored; offsets are of the scrubbed text."""
    place = record.place
    assert place is not None
    clean = scrub(before.text, allow).text
    if clean[place.start : place.start + len(record.content)] != record.content:
        _refuse(where, "no longer says what is stored", "scrubjay sync, then edit what it says now")
    line, column = clean.count("\n", 0, place.start), place.start - clean.rfind("\n", 0, place.start) - 1
    at = 0
    for _ in range(line):  # marks keep every line its number
        at = before.text.find("\n", at) + 1
    at += column
    begun = before.text[at - column : at] == clean[place.start - column : place.start]
    if not begun or before.text[at : at + len(record.content)] != record.content:
        _refuse(
            where,
            "holds a secret or a private part that is not stored, and would lose it",
            "edit the file with a program of yours, then scrubjay sync",
        )
    return at


def _fitted(record: Record, content: str, before: Held, where: str) -> str:
    """Return the passage's new text with what stays around it, and with the file's line ends."""
    known = parts(record)
    body = content.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    if not body:
        _refuse(where, "would be left empty", "archive or forget it, or delete it in the file")
    if body == known.body.replace("\r\n", "\n"):
        return record.content
    text = record.content if "\n" in record.content else before.text
    ends = text.count("\r\n"), text.count("\n")
    if 0 < ends[0] < ends[1] and "\n" in record.content:
        _refuse(where, "mixes two kinds of line ends", "edit the file with a program of yours")
    if ends[0]:
        body = body.replace("\n", "\r\n")
    return known.head + body + known.tail


def _taken_in(desk: Desk, source: Source, record: Record) -> Rewritten:
    place = record.place
    assert place is not None
    full = _full(source, place)
    done = resync(desk, source, Path(full))
    if done.problems:
        trouble = done.problems[0]
        raise SourceError(
            f"{full} was written, but not taken in: {trouble.message}", hint=trouble.hint or "scrubjay sync"
        )
    with desk.store.reader(desk.scope) as reader:
        found = _now(reader, record)
    if found is None or found.place is None:
        raise SourceError(
            f"{full} was written; the passage is not found in it any more.", hint="scrubjay sync"
        )
    return Rewritten(found.id, full, found.place.line_start, found.place.line_end, changed=True)


def _now(reader: Reader, record: Record) -> Record | None:
    """Return the passage under its id, else the one that stands where it began."""
    place = record.place
    assert place is not None
    held_now = reader.passages(place.source, place.path)
    same = [one for one in held_now if one.id == record.id]
    there = [one for one in held_now if one.place and one.place.start <= place.start < one.place.end]
    return next(iter(same + there), None)


def _front(text: str) -> int:
    r"""Return the offset behind front matter, whatever the line ends.

    >>> _front("---\r\ntitle: x\r\n---\r\nText"), _front("Text")
    (20, 0)
    """
    flat = text.replace("\r\n", "\n")
    lines = flat.count("\n", 0, front_matter(flat))
    at = 0
    for _ in range(lines):
        at = text.find("\n", at) + 1
    return at


def _full(source: Source, place: Place) -> str:
    return os.path.join(source.root, place.path)


def _refuse(where: str, reason: str, hint: str) -> NoReturn:
    raise InputError(f"{where} {reason}. Nothing was written.", hint=hint)
