"""Gemini CLI: files that it writes whole -> turns.

What it writes line by line: `gemini`.

Files below ``~/.gemini/tmp/<project>``:
    ``chats/session-<time>-<id>.json``  a conversation of versions before the ``.jsonl``, one object
    ``logs.json``                       the prompts of all sessions, one array
    ``checkpoint-<tag>.json``           a conversation kept by ``/chat save <tag>``: an array of contents, or
                                        an object with them as ``history``
Written from google-gemini/gemini-cli, packages/core/src/core/logger.ts and services/chatRecordingService.ts
(``parseLegacyRecordFallback``), as in the package @google/gemini-cli-core 0.61.0 (2026-09-25). The folder
``checkpoints`` holds states of files to undo a tool's change, no talk: it is not read.

What is read
    Of a conversation what `gemini` reads. ``logs.json`` was the only record before conversations were kept: a
    prompt of a session that has a file in ``chats`` beside it is left out, it stands there. A checkpoint names
    no session, message or time: its session is ``<project>/checkpoint-<tag>``, its turns are named by place.
    It repeats what ``chats`` has of that conversation, where that was recorded.
Times
    ISO 8601 with a zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrubjay.ingest.sources.transcripts.beside import names
from scrubjay.ingest.sources.transcripts.fields import array, at, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row
from scrubjay.ingest.sources.transcripts.gemini import NAME, Reading, project_root
from scrubjay.ingest.sources.transcripts.gemini_words import SPEAKERS, words
from scrubjay.ingest.sources.transcripts.stream import elements
from scrubjay.memory.turns import Turn

_SHORT_ID = 8  # of a session, at the end of its file's name
_SESSION_FILE = re.compile(r"session-.*-([^-]+)\.jsonl?")


def _recognise(path: str, head: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    name = path.rpartition("/")[2]
    if not name.endswith(".json") or start not in (b"{", b"["):
        return False
    if name == "logs.json":
        return b'"sessionId"' in head and b'"messageId"' in head
    if name.startswith("checkpoint"):
        return b'"role"' in head and b'"parts"' in head
    return b'"sessionId"' in head and b'"projectHash"' in head and b'"messages"' in head


def _reader(root: Path, path: str) -> Reader:
    name = path.rpartition("/")[2]
    if name == "logs.json":
        return _Logs(root, path).row
    if name.startswith("checkpoint"):
        return _Checkpoint(root, path).row
    return lambda row: _conversation(Reading(root, path), row)


def _conversation(reading: Reading, row: Row) -> Iterator[Found]:
    reading.describe(row.value)
    for line, message in enumerate(array(row.value.get("messages")), 1):
        yield from reading.message(row, table(message), line)


@dataclass(slots=True)
class _Logs:
    root: Path
    path: str
    cwd: str | None = None
    kept: frozenset[str] = frozenset()
    read: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.cwd = project_root(self.root, self.path)
        chats = names(self.root, f"{self.path.rpartition('/')[0]}/chats".lstrip("/"))
        self.kept = frozenset(found[1] for name in chats if (found := _SESSION_FILE.fullmatch(name)))

    def row(self, row: Row) -> Iterator[Found]:
        entry = row.value
        session, number = string(entry.get("sessionId")), entry.get("messageId")
        key = f"{session}:{number}"
        if entry.get("type") != "user":
            yield Left(f"message {string(entry.get('type'))}", unknown=True)
        elif session[:_SHORT_ID] in self.kept:
            yield Left("prompt that is in chats")
        elif not session or not isinstance(number, int) or key in self.read:
            yield Left("prompt without a place of its own")
        else:
            left: list[Left] = []
            text = words(string(entry.get("message")), True, left)
            yield from left
            if text:
                self.read.add(key)
                yield Turn(
                    key, "user", text, session, row.line, row.start, row.end, at(entry.get("timestamp")), self.cwd,
                    agent=NAME,
                )  # fmt: skip


@dataclass(slots=True)
class _Checkpoint:
    root: Path
    path: str
    session: str = ""
    cwd: str | None = None
    line: int = 0

    def __post_init__(self) -> None:
        folders = [self.root.name, *self.path.split("/")]
        self.session = "/".join(folders[-2:]).removesuffix(".json")
        self.cwd = project_root(self.root, self.path)

    def row(self, row: Row) -> Iterator[Found]:
        contents = array(row.value.get("history")) if "history" in row.value else [row.value]
        for content in map(table, contents):
            self.line += 1
            yield from self._content(row, content)

    def _content(self, row: Row, content: dict[str, Any]) -> Iterator[Found]:
        speaker = string(content.get("role"))
        if speaker not in SPEAKERS:
            yield Left(f"role {speaker}".strip(), unknown=True)
            return
        left: list[Left] = []
        text = words(content.get("parts"), speaker == "user", left)
        yield from left
        if text:
            role, origin = SPEAKERS[speaker]
            yield Turn(
                f"{self.session}:{self.line}", role, text, self.session, self.line, row.start, row.end,
                cwd=self.cwd, agent=NAME, origin=origin, title=self.session.rpartition("/")[2],
            )  # fmt: skip


FORMAT = Format(NAME, f"{NAME} 1", False, _recognise, elements, _reader)
