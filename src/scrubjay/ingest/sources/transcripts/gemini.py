"""Gemini CLI: the log of a conversation that it records line by line -> turns.

Files: ``~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl``; a sub-agent's lies in a folder named by the
session it works for: ``chats/<session>/<id>.jsonl``. (What older versions wrote: `gemini_whole`.)
Written from google-gemini/gemini-cli, packages/core/src/services/chatRecordingService.ts,
chatRecordingTypes.ts, utils/sessionUtils.ts and config/storage.ts, as in the package
@google/gemini-cli-core 0.61.0 (2026-09-25).

What is read
    A line of metadata, then messages. A message is written again whenever a tool call or a count of tokens is
    added to it; its words stand in the first line that has any, and that one counts. ``$set`` changes the
    metadata, or replaces all messages after a compression: those that are new in it are read. ``$rewindTo``
    takes messages back: what was said remains, and what is said next begins a branch (`format.branch`).
    A prompt is read as it was typed (``displayContent``), without the files that were put into it.
    The directory is what ``.project_root`` in the project's folder says.
What is left out
    Tool calls and results, thoughts, notices (``info``, ``warning``, ``error``), commands (``/help``), context
    that the program gives (``<session_context>``, ``<hook_context>``, ``<state_snapshot>``).
Times
    ISO 8601 with a zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrubjay.errors import SourceError
from scrubjay.ingest.sources.read import read
from scrubjay.ingest.sources.transcripts.fields import array, at, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row, branch
from scrubjay.ingest.sources.transcripts.gemini_words import SPEAKERS, words
from scrubjay.ingest.sources.transcripts.jsonl import peek, rows
from scrubjay.memory.turns import Turn

NAME = "gemini-cli"

_NOTICES = frozenset({"error", "info", "warning"})


def _recognise(path: str, head: bytes) -> bool:
    first = next(iter(peek(head)), None) or {}
    return path.endswith(".jsonl") and "sessionId" in first and "projectHash" in first and "type" not in first


def _reader(root: Path, path: str) -> Reader:
    reading = Reading(root, path)
    return reading.row


def project_root(root: Path, path: str) -> str | None:
    """Return the directory of the project that a file below its folder belongs to, or None if nothing says."""
    folders = path.split("/")[:-1]
    if "chats" in folders:
        folders = folders[: folders.index("chats")]
    try:
        return read(root, "/".join([*folders, ".project_root"])).text.strip() or None
    except SourceError:
        return None  # versions before 2026 named the folder by a hash and wrote no such file


@dataclass(slots=True)
class Reading:
    """One reading of a conversation; also used for a conversation that is written whole (`gemini_whole`)."""

    root: Path
    path: str
    session: str = ""
    above: str = ""  # the session that a sub-agent works for
    spawned: bool = False
    cwd: str | None = None
    title: str = ""
    fork: str | None = None  # the key that the branch begins with; "" until something is said on it
    read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        *folders, name = self.path.split("/")
        self.session = name.partition(".json")[0]
        if len(folders) > 1 and folders[-2] == "chats":
            self.above, self.spawned = folders[-1], True
        self.cwd = project_root(self.root, self.path)

    def row(self, row: Row) -> Iterator[Found]:
        """Answer one line."""
        record = row.value
        if "$rewindTo" in record:
            self.fork = ""
            yield Left("$rewindTo")
        elif isinstance(record.get("id"), str) or "type" in record:
            yield from self.message(row, record, row.line)
        elif "$set" in record or "sessionId" in record:
            changed = table(record.get("$set")) if "$set" in record else record
            self.describe(changed)
            for message in array(changed.get("messages")):
                yield from self.message(row, table(message), row.line)
        else:
            yield Left(f"record {next(iter(record), '')}".strip(), unknown=True)

    def describe(self, metadata: dict[str, Any]) -> None:
        """Take in what the file says of its conversation."""
        self.session = string(metadata.get("sessionId")) or self.session
        self.title = string(metadata.get("summary")) or self.title
        self.spawned = self.spawned or metadata.get("kind") == "subagent"

    def message(self, row: Row, message: dict[str, Any], line: int) -> Iterator[Found]:
        """Answer one message that stands on a line, or among others in one record."""
        kind, key = string(message.get("type")), string(message.get("id")) or f"{self.session}:{line}"
        if key in self.read:
            yield Left("message written again")
            return
        if kind not in SPEAKERS:
            yield Left(kind if kind in _NOTICES else f"message {kind}".strip(), unknown=kind not in _NOTICES)
            return
        left: list[Left] = []
        shown = message.get("displayContent")
        text = words(shown if kind == "user" and shown else message.get("content"), kind == "user", left)
        yield from left
        if text.isspace() or not text:
            return
        self.read.add(key)
        if self.fork == "":
            self.fork = key
        role, origin = SPEAKERS[kind]
        session = f"{self.above}/{self.session}" if self.above else self.session
        yield Turn(
            key, role, text, branch(session, self.fork) if self.fork else session, line, row.start, row.end,
            at(message.get("timestamp")), self.cwd,
            agent=NAME, origin="agent" if self.spawned else origin, title=self.title,
        )  # fmt: skip


FORMAT = Format(NAME, f"{NAME} 1", True, _recognise, rows, _reader)
