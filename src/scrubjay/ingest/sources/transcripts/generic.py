"""Generic JSONL: one message a line, as any program can write it (docs/transcripts.md).

```json
{"role": "user", "content": "Where is the key?", "session": "2026-03-01", "time": "2026-03-01T10:00:00Z"}
```

``role`` and ``content``
    Both are needed on every line. ``user`` and ``human`` are the owner; ``assistant``, ``ai``, ``model`` and
    ``bot`` the agent; ``system``, ``developer``, ``tool`` and ``function`` are left out; any other role is
    the name of somebody, kept as it is, whose words nobody vouches for. ``content`` is text, or an array of
    texts and of objects with a ``text``; objects of a ``type`` other than text are left out.
The rest may be missing
    ``session``: text or number; else the file's path without its ending. ``id``: of the message in its
    session, text or number; else its line. ``time``, ``timestamp`` or ``ts``: ISO 8601, or seconds or
    milliseconds since 1970. ``cwd`` or ``project``: the directory, or the URL of the repository. ``agent``:
    the program; else ``generic``. ``title``: of the conversation. Other fields are not read.
When it is recognised
    If the first 64 KB hold only lines with ``role`` and ``content``, so that no other data are taken for a
    talk.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from scrubjay.ingest.sources.transcripts import jsonl
from scrubjay.ingest.sources.transcripts.fields import array, at, digest, said, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row
from scrubjay.memory.turns import Turn

_SPEAKERS = {
    **dict.fromkeys(("user", "human"), ("user", "owner")),
    **dict.fromkeys(("assistant", "ai", "model", "bot"), ("assistant", "agent")),
}
_LEFT = frozenset({"system", "developer", "tool", "function"})
_MOST_ROLE = 64  # a word or a name; a text is another kind of data
_TEXT = frozenset({"text", "input_text", "output_text"})


def _recognise(path: str, head: bytes) -> bool:
    found = jsonl.peek(head)
    return bool(found) and all(record is not None and _is_message(record) for record in found)


def _is_message(record: dict[str, Any]) -> bool:
    content = record.get("content")
    if not 0 < len(string(record.get("role"))) <= _MOST_ROLE or "content" not in record:
        return False
    if isinstance(content, list):
        return all(isinstance(part, str | dict) for part in content)
    return content is None or isinstance(content, str)  # None: an answer that only calls a tool


def _reader(root: Path, path: str) -> Reader:
    stem = PurePosixPath(path).with_suffix("").as_posix()

    def read(row: Row) -> Iterable[Found]:
        return _turn(row, stem)

    return read


def _turn(row: Row, stem: str) -> tuple[Found, ...]:
    record = row.value
    if not _is_message(record):
        return (Left("line without role and content", unknown=True),)
    role = string(record["role"]).strip()
    folded = role.casefold()
    if folded in _LEFT:
        return (Left(f"{folded} message"),)
    text, left = _content(record["content"])
    if not text:
        return left or (Left("blank"),)
    role, origin = _SPEAKERS.get(folded, (role, "untrusted"))
    session, name = _name(record.get("session")) or stem, _name(record.get("id"))
    project = string(record.get("project"))
    url = "://" in project or project.startswith("git@")
    turn = Turn(
        # Sessions and ids of this format may be called "1" in every file, so what was said is part of the key.
        key=f"{session}:{name or f'#{row.line}'}:{digest(role, text)}",
        role=role,
        text=text,
        session=session,
        line=row.line,
        start=row.start,
        end=row.end,
        at=next(filter(None, (at(record.get(name)) for name in ("time", "timestamp", "ts"))), None),
        cwd=string(record.get("cwd")) or (None if url else project or None),
        remote=project if url else None,
        agent=string(record.get("agent")) or FORMAT.name,
        origin=origin,
        title=string(record.get("title")),
    )
    return (turn, *left)


def _content(content: object) -> tuple[str, tuple[Left, ...]]:
    parts: list[str] = []
    left: list[Left] = []
    for part in [content] if isinstance(content, str) else array(content):
        kind = string(table(part).get("type")) or "text"
        if kind in _TEXT:
            parts.append(part if isinstance(part, str) else string(table(part).get("text")))
        else:
            left.append(Left(kind))
    return said(parts), tuple(left)


def _name(value: object) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else string(value)


FORMAT = Format("generic", "generic 1", True, _recognise, jsonl.rows, _reader)
