"""OpenCode: session files, exports and its database.

anomalyco/opencode, ``packages/opencode/src``: ``storage/storage.ts`` at 00d1fee82d43, ``storage/json-migration.ts`` at
062aa8c024a0, ``session/revert.ts`` at 089ee8d0e6ac, ``cli/cmd/export.ts`` at 07fa81066b42, @opencode-ai/sdk 1.19.3;
database: ``packages/core/src/session/sql.ts`` at 02ce4a330f33. A session's file is the document, and its messages are
read from the folders beside it, so the source must be ``storage`` or a folder above. Text parts are read, unless
``synthetic`` or ``ignored``; a sub-agent's session is ``<parent>/<session>``; reverted messages are a branch. The
database is read in one read-only transaction with its write-ahead log; ``session_v2`` of OpenCode 2 is only reported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from scrubjay.errors import SourceError
from scrubjay.ingest.files import is_within, read_file
from scrubjay.ingest.transcripts.base import (
    BYTE_ORDER_MARK,
    LogRow,
    ReaderItem,
    SkippedItem,
    TranscriptFormat,
    TranscriptReader,
    as_array,
    as_object,
    as_string,
    branch_session,
    folder_names,
    is_json_file,
    joined_text,
    json_object,
    micros_from_millis,
    read_elements,
    skip_kind,
)
from scrubjay.models.records import Turn

if TYPE_CHECKING:
    import sqlite3


NAME = "opencode"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_NOISE = frozenset({
    "agent", "compaction", "file", "patch", "reasoning", "retry", "snapshot", "step-finish", "step-start",
    "subtask", "tool",
})  # fmt: skip


def _is_session_file(path: str, head: bytes) -> bool:
    if not is_json_file(path, head) or head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"["):
        return False
    folders = path.split("/")
    if len(folders) > 3 and folders[-3] == "session" and folders[-1].startswith("ses_"):
        return b'"id"' in head and b'"projectID"' in head
    return b'"info"' in head and b'"ses_' in head and (b'"messages"' in head or b'"projectID"' in head)


def _session_file_reader(root: Path, path: str) -> TranscriptReader:
    def read_row(row: LogRow) -> Iterator[ReaderItem]:
        if "messages" in row.value:
            session = OpenCodeSession.from_info(
                as_object(row.value.get("info")), path.rpartition("/")[2].removesuffix(".json")
            )
            messages = map(as_object, as_array(row.value["messages"]))
            for line, message in enumerate(messages, 1):
                parts = list(map(as_object, as_array(message.get("parts"))))
                yield from session.message(line, as_object(message.get("info")), parts)
        else:
            yield from _stored_turns(root, path, row.value)

    return read_row


@dataclass(frozen=True, slots=True)
class OpenCodeSession:
    """A session before its messages are read; ``reverted`` is the id of the first reverted message."""

    name: str
    title: str = ""
    cwd: str | None = None
    is_subagent: bool = False
    reverted: str = ""

    @classmethod
    def from_info(cls, info: dict[str, Any], fallback: str) -> OpenCodeSession:
        name = as_string(info.get("id")) or fallback
        parent = as_string(info.get("parentID"))
        revert = as_object(info.get("revert"))
        reverted = as_string(revert.get("messageID"))
        return cls(
            f"{parent}/{name}" if parent else name,
            as_string(info.get("title")),
            as_string(info.get("directory")) or None,
            bool(parent),
            # If only parts of a message were reverted, the message stays.
            f"{reverted}\uffff" if reverted and revert.get("partID") else reverted,
        )

    def message(self, line: int, info: dict[str, Any], parts: list[dict[str, Any]]) -> Iterator[ReaderItem]:
        role, key = as_string(info.get("role")), as_string(info.get("id")) or f"{self.name}:{line}"
        if role not in _ORIGINS:
            yield skip_kind(role, (), "role")
            return
        if role == "assistant" and info.get("summary") is True:
            yield SkippedItem("compaction summary")
            return
        texts = []
        for part in parts:
            kind = as_string(part.get("type"))
            if kind != "text":
                yield skip_kind(kind, _NOISE, "part")
            elif part.get("synthetic") or part.get("ignored"):
                yield SkippedItem("synthetic text")
            else:
                texts.append(as_string(part.get("text")))
        if text := joined_text(texts):
            is_reverted = bool(self.reverted) and key >= self.reverted
            cwd = as_string(as_object(info.get("path")).get("cwd")) or self.cwd
            yield Turn(
                key, role, text, branch_session(self.name, self.reverted) if is_reverted else self.name,
                micros_from_millis(as_object(info.get("time")).get("created")), cwd,
                origin="agent" if self.is_subagent else _ORIGINS[role], title=self.title, line=line,
            )  # fmt: skip


def _stored_turns(root: Path, path: str, info: dict[str, Any]) -> Iterator[ReaderItem]:
    *above, folder, _, name = ["", "", *path.split("/")]
    if folder != "session":
        raise SourceError(
            f"{path} is a session of OpenCode, but its messages lie outside the source. It was not read.",
            hint="make OpenCode's folder `storage` the source",
        )
    base = "/".join(filter(None, above))
    # Named by its file, as in OpenCode: moved sessions keep their old contents.
    session_id = name.removesuffix(".json")
    session = OpenCodeSession.from_info({**info, "id": session_id}, session_id)
    for line, (key, message) in enumerate(_json_files(root, f"{base}/message/{session_id}".lstrip("/")), 1):
        if message is None:
            yield SkippedItem(f"message {key}, which cannot be read", unknown=True)
            continue
        parts = list(_json_files(root, f"{base}/part/{key}".lstrip("/")))
        yield from (
            SkippedItem(f"part {part}, which cannot be read", unknown=True)
            for part, part_data in parts
            if part_data is None
        )
        readable = [part for _, part in parts if part is not None]
        yield from session.message(line, {**message, "id": key}, readable)


def _json_files(root: Path, folder: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    for name in folder_names(root, folder):
        if not name.endswith(".json") or name.startswith("."):
            continue
        try:
            value = json_object(read_file(root, f"{folder}/{name}").text)
        except SourceError:
            value = None
        yield name.removesuffix(".json"), value


OPENCODE_FILES = TranscriptFormat(
    NAME, f"{NAME} 1", False, _is_session_file, read_elements, _session_file_reader
)


_TABLES = ("message", "part", "session")
_NEWER = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'session_v2'"
_SESSIONS = "SELECT id, parent_id, directory, title, revert FROM session ORDER BY time_created, id"
_MESSAGES = "SELECT id, data FROM message WHERE session_id = ? ORDER BY id"
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


def _is_database(path: str, head: bytes) -> bool:
    name = path.rpartition("/")[2]
    return head.startswith(b"SQLite format 3\0") and name.startswith("opencode") and name.endswith(".db")


def _single_row(file: BinaryIO, cursor: int) -> Iterator[LogRow]:
    yield LogRow(1, 0, file.seek(0, os.SEEK_END), {})


def _read_database(root: Path, path: str, row: LogRow) -> Iterator[ReaderItem]:
    import sqlite3

    try:
        with closing(_open_database(root, path)) as database:
            yield from _database_items(database, path)
    except sqlite3.Error as error:
        message = f"{path} cannot be read as OpenCode's database: {error}. What was stored of it is kept."
        raise SourceError(message, hint="opencode export SESSION > session.json, and sync that") from error


def _open_database(root: Path, path: str) -> sqlite3.Connection:
    import sqlite3

    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(top, path)) if os.path.isdir(top) else top
    if not is_within(real, top):
        raise SourceError(f"{path} leads out of its source; it was not read.", hint="scrubjay sources")
    # Without a write-ahead log nobody writes, and reading needs no lock files.
    mode = "mode=ro" if os.path.exists(f"{real}-wal") else "mode=ro&immutable=1"
    database = sqlite3.connect(f"file:{quote(real)}?{mode}", uri=True, isolation_level=None)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    return database


def _database_items(database: sqlite3.Connection, path: str) -> Iterator[ReaderItem]:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("BEGIN")
    # Tables only: a view could be an endless computation.
    listed = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?, ?) ORDER BY name"
    if tuple(name for (name,) in database.execute(listed, _TABLES)) != _TABLES:
        message = (
            f"{path} has not the tables {', '.join(_TABLES)} of OpenCode. What was stored of it is kept."
        )
        raise SourceError(message, hint="opencode export SESSION > session.json, and sync that")
    places = count(1)
    if list(database.execute(_NEWER)) and list(database.execute("SELECT 1 FROM session_v2 LIMIT 1")):
        yield SkippedItem("session_v2 of OpenCode 2", unknown=True)
    for name, parent, directory, title, revert in database.execute(_SESSIONS):
        info = {
            "id": name,
            "parentID": parent,
            "directory": directory,
            "title": title,
            "revert": json_object(revert),
        }
        session = OpenCodeSession.from_info(info, str(name))
        for (key, data), line in zip(database.execute(_MESSAGES, (name,)), places, strict=False):
            fields = json_object(data)
            if fields is None:
                yield SkippedItem(f"message {key}, which cannot be read", unknown=True)
                continue
            parts = [json_object(part) for (part,) in database.execute(_PARTS, (key,))]
            yield from session.message(line, {**fields, "id": key}, [as_object(part) for part in parts])


OPENCODE_DATABASE = TranscriptFormat(
    NAME, f"{NAME} 1", False, _is_database, _single_row, lambda root, path: partial(_read_database, root, path)
)  # fmt: skip
