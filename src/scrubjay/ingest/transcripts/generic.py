"""Generic JSONL: one message a line, as any program can write it (docs/reference/export.md).

A file is recognised only if the first 64 KB hold nothing but lines with ``role`` and ``content``.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from scrubjay.ingest.transcripts.base import (
    LogRow,
    ReaderItem,
    SkippedItem,
    TranscriptFormat,
    TranscriptReader,
    as_array,
    as_micros,
    as_object,
    as_string,
    joined_text,
    peek_objects,
    read_rows,
    text_digest,
)
from scrubjay.models.records import Turn

_SPEAKERS = {
    **dict.fromkeys(("user", "human"), ("user", "owner")),
    **dict.fromkeys(("assistant", "ai", "model", "bot"), ("assistant", "agent")),
}
_SKIPPED_ROLES = frozenset({"system", "developer", "tool", "function"})
_PATH = re.compile(r"[~./\\]|[A-Za-z]:[/\\]")
MAX_PROJECT_CHARACTERS = 200
_MAX_ROLE = 64  # a longer role is other data
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


def _recognise(path: str, head: bytes) -> bool:
    records = peek_objects(head)
    return bool(records) and all(record is not None and _is_message(record) for record in records)


def _is_message(record: dict[str, Any]) -> bool:
    content = record.get("content")
    if not 0 < len(as_string(record.get("role"))) <= _MAX_ROLE or "content" not in record:
        return False
    if isinstance(content, list):
        return all(isinstance(part, str | dict) for part in content)
    return content is None or isinstance(content, str)  # None: an answer that only calls a tool


def _reader(root: Path, path: str) -> TranscriptReader:
    stem = PurePosixPath(path).with_suffix("").as_posix()
    return lambda row: _read_row(row, stem)


def _read_row(row: LogRow, stem: str) -> tuple[ReaderItem, ...]:
    record = row.value
    if not _is_message(record):
        return (SkippedItem("line without role and content", unknown=True),)
    role = as_string(record["role"]).strip()
    folded = role.casefold()
    if folded in _SKIPPED_ROLES:
        return (SkippedItem(f"{folded} message"),)
    text, skipped = _content_text(record["content"])
    if not text:
        return skipped or (SkippedItem("blank"),)
    role, origin = _SPEAKERS.get(folded, (role, "untrusted"))
    named, name = _id_text(record.get("session")), _id_text(record.get("id"))
    session = named or stem
    project = as_string(record.get("project"))
    is_url = "://" in project or project.startswith("git@")
    is_path = not is_url and _PATH.match(project) is not None
    turn = Turn(
        # Sessions and ids may be "1" in every file, so the text is part of the key.
        key=f"{session}:{name or f'#{row.line}'}:{text_digest(role, text)}",
        role=role,
        text=text,
        session=session,
        at=next(filter(None, (as_micros(record.get(name)) for name in ("time", "timestamp", "ts"))), None),
        cwd=as_string(record.get("cwd")) or (project if is_path else None),
        remote=project if is_url else None,
        project="" if is_url or is_path else project[:MAX_PROJECT_CHARACTERS],
        agent=as_string(record.get("agent")),
        origin=origin,
        title=as_string(record.get("title")),
        is_unnamed=not named,
    )
    return (turn, *skipped)


def _content_text(content: object) -> tuple[str, tuple[SkippedItem, ...]]:
    parts: list[str] = []
    skipped: list[SkippedItem] = []
    for part in [content] if isinstance(content, str) else as_array(content):
        kind = as_string(as_object(part).get("type")) or "text"
        if kind in _TEXT_TYPES:
            parts.append(part if isinstance(part, str) else as_string(as_object(part).get("text")))
        else:
            skipped.append(SkippedItem(kind))
    return joined_text(parts), tuple(skipped)


def _id_text(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else as_string(value)


GENERIC = TranscriptFormat("generic", "generic 2", True, _recognise, read_rows, _reader, "generic 1")
