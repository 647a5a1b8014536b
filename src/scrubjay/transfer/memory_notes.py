"""Memories as Markdown notes: the text, name and front matter of a file, and how one is read.

A file's bytes follow from the memory alone, and its name from the memory's first text, so that two machines name it
alike and an edit changes lines of one file. The checksum tells whether a person edited it since.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from scrubjay.frozen import frozen
from scrubjay.ingest.reader import parse_front_matter, split_front_matter
from scrubjay.models.dates import format_event, to_datetime
from scrubjay.models.records import ORIGINS, STATUSES, TIERS, Record
from scrubjay.models.sources import MEMORY_NOTE_SUFFIX

MAX_NAME: Final = 60
"""Characters of a title in a file name."""
MAX_EVIDENCE: Final = 20
MAX_NAME_BYTES: Final = 180
"""Bytes of it: file systems allow 255 for the whole name."""
FIELDS: Final = (
    "id", "kind", "project", "date", "recorded", "origin", "visibility", "status", "superseded_by", "tags",
    "evidence", "store", "checksum",
)  # fmt: skip
"""The front matter of a memory, in its order; a person's other fields follow it."""
_NOT_IN_NAME: Final = re.compile(r"[^\w .,'()+&=-]+")
_BARE_WORD: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_CONFLICT: Final = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
_FIELD: Final = re.compile(r"([^\s:#-][^:]*):(?:\s|$)")


@frozen
class MemoryNote:
    """A file, as it is read.

    Attributes:
        id: Id of the memory in the store that wrote the file, or "".
        kind: Its tier.
        text: Everything below the front matter, without blank lines around it.
        store: Mark of the store that wrote it (`principal_mark`), or "".
        unedited: Whether tags, text and the fields of `unread_changes` are those that were written.
        extra: Lines of front matter that a person added.
    """

    id: str
    kind: str
    text: str
    tags: tuple[str, ...] = ()
    project: str | None = None
    date: str | None = None
    origin: str = "owner"
    visibility: str = "user"
    status: str = "active"
    store: str = ""
    unedited: bool = False
    extra: str = ""


def note_path(record: Record, first_text: str) -> str:
    """Return the path of a memory's file: a folder a project, and a name from its title and its first text."""
    folder = _file_name((record.project or "").replace("/", "-")) or "general"
    line = next((line for line in first_text.splitlines() if line.strip()), "")
    name = _file_name(record.title or line.lstrip("#-*> ")) or record.tier
    parts = (record.tier, _visibility(record), _date(record) or "", plain_text(first_text))
    return f"{folder}/{name} {_digest(parts)[:8]}{MEMORY_NOTE_SUFFIX}"


def _file_name(text: str) -> str:
    words = " ".join(_NOT_IN_NAME.sub(" ", text).split())
    if len(words) > MAX_NAME:
        words = words[:MAX_NAME].rpartition(" ")[0] or words[:MAX_NAME]
    while len(words.encode()) > MAX_NAME_BYTES:
        words = words[:-1]
    return words.strip(" .-")


def _digest(value: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def plain_text(text: str) -> str:
    """Return a text as it stands in a file: line feeds, no blank lines around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()


def _checksum(tags: Sequence[str], text: str, *fields: str | None) -> str:
    return _digest([sorted({tag.lower() for tag in tags}), plain_text(text), *fields])[:16]


def unread_changes(note: MemoryNote, record: Record) -> list[str]:
    """Return the fields of a file that differ from its memory, and that an edit of the file does not change."""
    here = _unread_fields(record)
    there = (note.kind, note.project, note.date, note.visibility)
    return [name for name, old, new in zip(_UNREAD_FIELDS, here, there, strict=True) if old != new]


_UNREAD_FIELDS: Final = ("kind", "project", "date", "visibility")


def _unread_fields(record: Record) -> tuple[str, str | None, str | None, str]:
    return record.tier, record.project, _date(record), _visibility(record)


def _visibility(record: Record) -> str:
    return "user" if record.key.startswith("user:") else record.key


def _date(record: Record) -> str | None:
    return format_event(record.event, 0) if record.event is not None else None


def write_note(
    record: Record,
    store: str,
    evidence: Sequence[str] = (),
    superseded_by: str = "",
    extra: str = "",
    text: str | None = None,
) -> str:
    """Return the file of a memory; ``text`` is its text where a person wrote it there."""
    shown = plain_text(record.content if text is None else text)
    fields: Mapping[str, object] = {
        "id": record.id,
        "kind": record.tier,
        "project": record.project,
        "date": _date(record),
        "recorded": to_datetime(record.recorded_at).date().isoformat(),
        "origin": record.origin,
        "visibility": _visibility(record) if _visibility(record) != "user" else None,
        "status": record.status,
        "superseded_by": superseded_by,
        "tags": list(record.tags),
        "evidence": list(evidence[:MAX_EVIDENCE]),
        "store": store,
        "checksum": _checksum(record.tags, shown, *_unread_fields(record)),
    }
    lines = [f"{name}: {_yaml_value(fields[name])}" for name in FIELDS if fields[name]]
    return "\n".join(("---", *lines, *extra.splitlines(), "---", "", shown, ""))


def _yaml_value(value: object) -> str:
    if isinstance(value, str) and _BARE_WORD.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def read_note(text: str) -> MemoryNote | str:
    """Return the memory of a file, or in a sentence why it is none."""
    flat = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    note = _parse_note(flat)
    if _CONFLICT.search(flat) and (isinstance(note, str) or not note.unedited):
        return "It holds a conflict that a merge left."
    return note


def _parse_note(flat: str) -> MemoryNote | str:
    raw, end = split_front_matter(flat)
    fields, problem = _parse_written(raw) or parse_front_matter(raw)
    if problem:
        return problem
    kind, origin, status = (_text_field(fields, name) for name in ("kind", "origin", "status"))
    kind = kind or "observation"  # a person need not name it
    if kind not in TIERS:
        return f"Its kind is {kind[:40]!r}, not one of {', '.join(TIERS)}."
    body = plain_text(flat[end:])
    if not body:
        return "It has no text."
    listed = fields.get("tags")
    tags = (
        [one for one in listed if isinstance(one, str)]
        if isinstance(listed, list)
        else _text_field(fields, "tags").split()
    )
    tags = sorted({tag.strip().lstrip("#").lower() for tag in tags} - {""})
    note = MemoryNote(
        id=_text_field(fields, "id"),
        kind=kind,
        text=body,
        tags=tuple(tags),
        project=_text_field(fields, "project") or None,
        date=_text_field(fields, "date") or None,
        origin=origin if origin in ORIGINS else "owner",
        visibility=_text_field(fields, "visibility") or "user",
        status=status if status in STATUSES else "active",
        store=_text_field(fields, "store"),
        extra=_extra_lines(raw),
    )
    checksums = (
        _checksum(tags, body, note.kind, note.project, note.date, note.visibility),
        _checksum(tags, body),  # as scrubjay 0.2 wrote it
    )
    return replace(note, unedited=_text_field(fields, "checksum") in checksums)


def _parse_written(raw: str) -> tuple[Mapping[str, object], str] | None:
    """Return the fields of front matter as `write_note` writes it, in a tenth of YAML's time; else None."""
    fields: dict[str, object] = {}
    for line in raw.splitlines():
        name, mark, value = line.partition(": ")
        if not mark or name not in FIELDS:
            return None
        if _BARE_WORD.fullmatch(value):
            fields[name] = value
        elif value[:1] in ('"', "["):
            try:
                fields[name] = json.loads(value)
            except ValueError:
                return None
        else:
            return None
    return fields, ""


def _text_field(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def _extra_lines(raw: str) -> str:
    """Return the lines of fields that are not a memory's."""
    extra: list[str] = []
    is_own = False
    for line in raw.splitlines():
        name = _FIELD.match(line)
        if name is not None:
            is_own = name[1].strip().lower() in FIELDS
        if not is_own:
            extra.append(line)
    return "\n".join(extra)
