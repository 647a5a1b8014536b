"""Gemini CLI: conversation logs, and the files that older versions wrote whole.

google-gemini/gemini-cli, ``packages/core``: ``chatRecordingService.ts``, ``chatRecordingTypes.ts``,
``sessionUtils.ts``, ``logger.ts``, as in @google/gemini-cli-core 0.61.0 (2026-09-25). A log is a line of metadata,
then messages; a message is written again when something is added, and its first line with text counts. ``$set``
changes metadata or all messages, ``$rewindTo`` begins a branch. A sub-agent's log is ``chats/<session>/<id>.jsonl``.
Whole files: ``chats/session-*.json``, ``logs.json`` (prompts; those of sessions in ``chats`` are skipped) and
``checkpoint-<tag>.json``, whose session is ``<project>/checkpoint-<tag>``. Content is a ``PartListUnion``: text, a
part, or an array of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from scrubjay.errors import SourceError
from scrubjay.ingest.files import read_file
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
    branch_session,
    folder_names,
    is_json_file,
    joined_text,
    peek_objects,
    read_elements,
    read_rows,
    skip_kind,
    strip_tags,
    text_digest,
)
from scrubjay.models.records import Turn

SPEAKERS = {"user": ("user", "owner"), "gemini": ("assistant", "agent"), "model": ("assistant", "agent")}
"""Type of a message, or role of a content, to role and origin of its turn."""

_NOISE = (
    "thought", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "fileData",
    "inlineData", "videoMetadata", "toolCall", "toolResponse",
)  # fmt: skip
_CONTEXT_TAGS = frozenset({"hook_context", "session_context", "state_snapshot"})
# Commands of the program; a second slash in the first word makes it a path.
_COMMAND = re.compile(r"\s*[/?][\w:.-]*(?:\s.*)?\Z", re.DOTALL)
# The opening of conversations before session_context.
_OPENING = "This is the Gemini CLI. We are setting up the context for our chat."


def _message_text(content: object, *, user: bool) -> tuple[str, list[SkippedItem]]:
    """Return a message's text and the parts that were skipped.

    >>> _message_text([{"text": "Done."}, {"functionCall": {"name": "ls"}}], user=False)
    ('Done.', [SkippedItem(kind='functionCall', unknown=False)])
    """
    text, skipped = _content_text(content)
    if not user or not text:
        return text, skipped
    if text.startswith(_OPENING):
        return "", [*skipped, SkippedItem("session_context")]
    words = strip_tags(text, _CONTEXT_TAGS)
    if words != text:
        skipped.append(SkippedItem("context"))
    if _COMMAND.match(words):
        return "", [*skipped, SkippedItem("command")]
    return words.strip("\n"), skipped


def _content_text(content: object) -> tuple[str, list[SkippedItem]]:
    texts: list[str] = []
    skipped: list[SkippedItem] = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
            continue
        fields = as_object(part)
        noise = next((name for name in _NOISE if fields.get(name)), None)
        if noise:
            skipped.append(SkippedItem(noise))
        elif "text" in fields:
            texts.append(as_string(fields["text"]))
        elif fields:
            skipped.append(skip_kind(next(iter(fields)), (), "part"))
    return joined_text(texts), skipped


NAME = "gemini-cli"

_NOTICES = frozenset({"error", "info", "warning"})


def _is_log(path: str, head: bytes) -> bool:
    first = next(iter(peek_objects(head)), None) or {}
    return path.endswith(".jsonl") and "sessionId" in first and "projectHash" in first and "type" not in first


def project_root(root: Path, path: str) -> str | None:
    """Return the directory that ``.project_root`` in a file's project folder names."""
    folders = path.split("/")[:-1]
    if "chats" in folders:
        folders = folders[: folders.index("chats")]
    try:
        return read_file(root, "/".join([*folders, ".project_root"])).text.strip() or None
    except SourceError:
        return None  # versions before 2026


@dataclass(slots=True)
class ConversationReader:
    """One reading of a conversation, line by line or whole."""

    root: Path
    path: str
    session: str = ""
    parent: str = ""  # the session that a sub-agent works for
    is_subagent: bool = False
    cwd: str | None = None
    title: str = ""
    fork: str | None = None  # first key of the branch; "" until its first turn
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        *folders, name = self.path.split("/")
        self.session = name.partition(".json")[0]
        if len(folders) > 1 and folders[-2] == "chats":
            self.parent, self.is_subagent = folders[-1], True
        self.cwd = project_root(self.root, self.path)

    def read_row(self, row: LogRow) -> Iterator[ReaderItem]:
        record = row.value
        if "$rewindTo" in record:
            self.fork = ""
            yield SkippedItem("$rewindTo")
        elif isinstance(record.get("id"), str) or "type" in record:
            yield from self.read_message(record, row.line)
        elif "$set" in record or "sessionId" in record:
            changed = as_object(record.get("$set")) if "$set" in record else record
            self.read_metadata(changed)
            for message in map(as_object, as_array(changed.get("messages"))):
                yield from self.read_message(message, row.line)
        else:
            yield skip_kind(next(iter(record), ""), (), "record")

    def read_whole(self, row: LogRow) -> Iterator[ReaderItem]:
        self.read_metadata(row.value)
        for line, message in enumerate(map(as_object, as_array(row.value.get("messages"))), 1):
            yield from self.read_message(message, line)

    def read_metadata(self, metadata: dict[str, Any]) -> None:
        self.session = as_string(metadata.get("sessionId")) or self.session
        self.title = as_string(metadata.get("summary")) or self.title
        self.is_subagent = self.is_subagent or metadata.get("kind") == "subagent"

    def read_message(self, message: dict[str, Any], line: int) -> Iterator[ReaderItem]:
        kind, key = as_string(message.get("type")), as_string(message.get("id")) or f"{self.session}:{line}"
        if key in self.seen:
            yield SkippedItem("message written again")
            return
        if kind not in SPEAKERS:
            yield skip_kind(kind, _NOTICES, "message")
            return
        shown = message.get("displayContent") if kind == "user" else None
        text, skipped = _message_text(shown or message.get("content"), user=kind == "user")
        yield from skipped
        if text.isspace() or not text:
            return
        self.seen.add(key)
        if self.fork == "":
            self.fork = key
        role, origin = SPEAKERS[kind]
        session = f"{self.parent}/{self.session}" if self.parent else self.session
        yield Turn(
            key, role, text, branch_session(session, self.fork) if self.fork else session,
            as_micros(message.get("timestamp")), self.cwd,
            origin="agent" if self.is_subagent else origin, title=self.title, line=line,
        )  # fmt: skip


GEMINI_LOG = TranscriptFormat(
    NAME, f"{NAME} 1", True, _is_log, read_rows, lambda root, path: ConversationReader(root, path).read_row
)


_SHORT_ID = 8  # of a session, at the end of its file's name
_SESSION_FILE = re.compile(r"session-.*-([^-]+)\.jsonl?")


def _is_whole_file(path: str, head: bytes) -> bool:
    name = path.rpartition("/")[2]
    if name == "logs.json":
        return is_json_file(path, head, b'"sessionId"', b'"messageId"')
    if name.startswith("checkpoint"):
        return is_json_file(path, head, b'"role"', b'"parts"')
    return is_json_file(path, head, b'"sessionId"', b'"projectHash"', b'"messages"')


def _whole_file_reader(root: Path, path: str) -> TranscriptReader:
    name = path.rpartition("/")[2]
    if name == "logs.json":
        return _prompts_reader(root, path)
    if name.startswith("checkpoint"):
        return _checkpoint_reader(root, path)
    return ConversationReader(root, path).read_whole


def _prompts_reader(root: Path, path: str) -> TranscriptReader:
    cwd = project_root(root, path)
    chats = folder_names(root, f"{path.rpartition('/')[0]}/chats".lstrip("/"))
    recorded = {match[1] for name in chats if (match := _SESSION_FILE.fullmatch(name))}
    seen: set[str] = set()

    def read_row(row: LogRow) -> Iterator[ReaderItem]:
        entry = row.value
        session, number = as_string(entry.get("sessionId")), entry.get("messageId")
        key = f"{session}:{number}"
        if entry.get("type") != "user":
            yield skip_kind(as_string(entry.get("type")), (), "message")
        elif session[:_SHORT_ID] in recorded:
            yield SkippedItem("prompt that is in chats")
        elif not session or not isinstance(number, int) or key in seen:
            yield SkippedItem("prompt without a place of its own")
        else:
            text, skipped = _message_text(as_string(entry.get("message")), user=True)
            yield from skipped
            if text:
                seen.add(key)
                yield Turn(key, "user", text, session, as_micros(entry.get("timestamp")), cwd)

    return read_row


def _checkpoint_reader(root: Path, path: str) -> TranscriptReader:
    folders = [root.name, *path.split("/")]
    session = "/".join(folders[-2:]).removesuffix(".json")
    cwd = project_root(root, path)
    lines = count(1)
    first = ""

    def read_row(row: LogRow) -> Iterator[ReaderItem]:
        nonlocal first
        contents = as_array(row.value.get("history")) if "history" in row.value else [row.value]
        for content, line in zip(map(as_object, contents), lines, strict=False):
            speaker = as_string(content.get("role"))
            if speaker not in SPEAKERS:
                yield skip_kind(speaker, (), "role")
                continue
            text, skipped = _message_text(content.get("parts"), user=speaker == "user")
            yield from skipped
            if text:
                role, origin = SPEAKERS[speaker]
                first = first or text_digest(text)
                yield Turn(
                    f"{session}:{first}:{text_digest(role, text)}:{line}", role, text, session, cwd=cwd, origin=origin,
                    title=session.rpartition("/")[2], line=line, old_key=f"{session}:{line}",
                )  # fmt: skip

    return read_row


GEMINI_FILE = TranscriptFormat(NAME, f"{NAME} 1", False, _is_whole_file, read_elements, _whole_file_reader)
