"""OpenCode: the database in which it keeps its sessions -> turns.

The files of before it, and exports: `opencode`.

File: ``~/.local/share/opencode/opencode.db``, with the channel's name in it for builds that are no release.
Written from anomalyco/opencode, packages/core/src/session/sql.ts at 02ce4a330f33 (tables ``session``,
``message``, ``part``, whose ``data`` is the JSON that the files had) and packages/core/src/database/database.ts
at 01f25dc77012 (write-ahead log); the file's place, from docs.rs/agent-top-core 0.26.0 (checked on OpenCode
1.18.15, 2026-09-05), and what version 2 changed, from getagentseal/codeburn, docs/providers/opencode.md.

What is read
    Those three tables, as `opencode` reads the files; each message's place among all is its line, and its
    bytes are the whole file's.
What is not
    ``session_v2`` and ``session_message``, where OpenCode 2 keeps what is said in another form: that there is
    something in them is told.
How
    Read-only and in one transaction, with what still stands in the write-ahead log beside it. The file's own
    time changes when that log is taken in, which may be days later: `kinds.changed` looks at both. All turns
    of the file are in memory at once, without tools' output, which is most of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from scrubjay.errors import SourceError
from scrubjay.ingest.sources.read import within
from scrubjay.ingest.sources.transcripts.fields import table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row
from scrubjay.ingest.sources.transcripts.opencode import NAME, Session

if TYPE_CHECKING:
    import sqlite3

_TABLES = ("message", "part", "session")
_NEWER = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'session_v2'"
_SESSIONS = "SELECT id, parent_id, directory, title, revert FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def _recognise(path: str, head: bytes) -> bool:
    name = path.rpartition("/")[2]
    return head.startswith(b"SQLite format 3\0") and name.startswith("opencode") and name.endswith(".db")


def _rows(file: BinaryIO, cursor: int) -> Iterator[Row]:
    yield Row(1, 0, file.seek(0, os.SEEK_END), {})


def _reader(root: Path, path: str) -> Reader:
    return lambda row: _read(root, path, row)


def _read(root: Path, path: str, row: Row) -> Iterator[Found]:
    import sqlite3

    try:
        with closing(_opened(root, path)) as database:
            yield from _sessions(database, path, row)
    except sqlite3.Error as error:
        message = f"{path} cannot be read as OpenCode's database: {error}. What was stored of it is kept."
        raise SourceError(message, hint="opencode export SESSION > session.json, and sync that") from error


def _opened(root: Path, path: str) -> sqlite3.Connection:
    import sqlite3

    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path)) if os.path.isdir(top) else top
    if not within(real, top):
        raise SourceError(f"{path} leads out of its source; it was not read.", hint="scrubjay sources")
    # Without a log beside it nobody writes, and then nothing at all need be written to read it.
    how = "mode=ro" if os.path.exists(f"{real}-wal") else "mode=ro&immutable=1"
    database = sqlite3.connect(f"file:{quote(real)}?{how}", uri=True, isolation_level=None)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    return database


def _sessions(database: sqlite3.Connection, path: str, row: Row) -> Iterator[Found]:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("BEGIN")
    # A view of that name could be a computation without end.
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?, ?) ORDER BY name"
    if tuple(name for (name,) in database.execute(listed, _TABLES)) != _TABLES:
        message = (
            f"{path} has not the tables {', '.join(_TABLES)} of OpenCode. What was stored of it is kept."
        )
        raise SourceError(message, hint="opencode export SESSION > session.json, and sync that")
    places = count(1)
    if list(database.execute(_NEWER)) and list(database.execute("SELECT 1 FROM session_v2 LIMIT 1")):
        yield Left("session_v2 of OpenCode 2", unknown=True)
    for name, parent, directory, title, revert in database.execute(_SESSIONS):
        info = {
            "id": name,
            "parentID": parent,
            "directory": directory,
            "title": title,
            "revert": _object(revert),
        }
        session = Session.of(info, str(name))
        for (key, data), line in zip(database.execute(_MESSAGES, (name,)), places, strict=False):
            spoken = _object(data)
            if spoken is None:
                yield Left(f"message {key}, which cannot be read", unknown=True)
                continue
            parts = [_object(part) for (part,) in database.execute(_PARTS, (key,))]
            yield from session.message(row, line, {**spoken, "id": key}, [table(part) for part in parts])


def _object(data: object) -> dict[str, Any] | None:
    """The object of a JSON column, or None if it holds none."""
    try:
        value = json.loads(data) if isinstance(data, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


FORMAT = Format(NAME, f"{NAME} 1", False, _recognise, _rows, _reader)
