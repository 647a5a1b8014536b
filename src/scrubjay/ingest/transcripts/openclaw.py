"""OpenClaw (formerly Clawdbot, Moltbot) and pi: session logs and their index.

badlogic/pi-mono, ``docs/session-format.md`` and ``session-manager.ts`` in @mariozechner/pi-coding-agent 0.73.1
(versions 1 to 3); openclaw/openclaw, ``docs/reference/session-management-compaction.md`` at 010f0c86a15e,
``src/auto-reply/reply`` at 03d0aef9fbe9, ``src/sessions/input-provenance.ts`` at 01a179d7ded4. A header line, then
entries that name their parents. Words of ``message`` entries are read, without the context blocks, times and ids that
OpenClaw wraps around a person's message; its own requests (heartbeat, start of a session) and ``delivery-mirror``
copies are left out. ``sessions.json`` tells which sessions are a sub-agent's or a timer's.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from scrubjay.errors import SourceError
from scrubjay.ingest.files import read_file
from scrubjay.ingest.transcripts.base import (
    MAX_TRACKED_RECORDS,
    BranchTracker,
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
    joined_text,
    json_object,
    micros_from_millis,
    peek_objects,
    read_rows,
    record_id,
    skip_kind,
)
from scrubjay.models.records import Turn


def session_keys(root: Path, path: str) -> Mapping[str, str]:
    try:
        return _session_index(read_file(root, path).text)
    except SourceError:
        return {}  # an archived log may stand alone


def is_spawned_session(key: str) -> bool:
    """Return whether nobody types in a session of this key: a sub-agent's or a timer's.

    >>> (
    ...     is_spawned_session("agent:main:subagent:7"), is_spawned_session("cron:nightly"),
    ...     is_spawned_session("agent:main:main")
    ... )
    (True, True, False)
    """
    return ":subagent:" in key or ":cron:" in key or key.startswith("cron:")


@lru_cache(maxsize=1)  # one list for hundreds of logs
def _session_index(text: str) -> Mapping[str, str]:
    entries = json_object(text) or {}
    return {as_string(as_object(entry).get("sessionId")): key for key, entry in entries.items()}


_TIME = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,40}\][ \t]*")
_HEADING = re.compile(
    r"[^\n]{1,120}(?:⟦openclaw:ctx⟧|\((?:untrusted[ ,]|metadata)[^)\n]{0,80}\):)[ \t]*(?:\n|$)"
    r"|Untrusted context \(metadata[^)\n]{0,80}\):[ \t]*(?:\n|$)"
)
_FENCED = re.compile(r"```json\n.*?\n```[ \t]*(?:\n|$)", re.DOTALL)
_PARAGRAPH = re.compile(r"(?>(?:[^\S\n]*+\S[^\n]*+(?:\n|\Z))*)")
_EVENT = re.compile(r"System: \[[^\]\n]{1,40}\][^\n]*(?:\n|$)")
_BLANK = re.compile(r"\s*\n|\s+")
_MESSAGE_ID = re.compile(r"\n?^\[message_id: [^\]\n]{1,200}\][ \t]*$", re.MULTILINE)
_TRAILING_CONTEXT = re.compile(
    r"\n(?:Context: ⟦openclaw:ctx⟧|Untrusted context \([^)\n]{0,80}\):)[ \t]*\n.*\Z", re.DOTALL
)
_TASK = re.compile(r"\[Subagent Task\]:?[ \t]*")
_RELAYED = re.compile(r"\[Inter-session message\][^\n]*\n(?:This content was routed by OpenClaw[^\n]*\n?)?")
_REPLY_TAG = re.compile(r"\[\[ ?reply_to(?:_current|:[^\]\n]{0,80}) ?\]\][ \t]*")
_REQUESTS = (
    ("Read HEARTBEAT.md", "heartbeat"),
    ("A new session was started via /new or /reset", "start of a session"),
    ("Pre-compaction memory flush", "memory flush"),
)
_CONTROL_REPLIES = frozenset({"HEARTBEAT_OK", "NO_REPLY"})


def user_words(text: str) -> tuple[str, str] | SkippedItem:
    r"""Return a user's words and their origin, or the skipped item of a request by the program itself.

    >>> user_words("[Wed 2026-03-11 23:51 PDT] hello")
    ('hello', 'owner')
    >>> user_words("[Subagent Context] You are one.\n\n[Subagent Task]: count the tests")
    ('count the tests', 'agent')
    """
    origin = "owner"
    if relayed := _RELAYED.match(text):
        text, origin = text[relayed.end() :], "agent"
    text = _unwrap(text)
    if text.startswith("[Subagent Context]"):
        task = _TASK.search(text)
        return (text[task.end() :], "agent") if task else SkippedItem("sub-agent's context")
    for beginning, kind in _REQUESTS:
        if text.startswith(beginning):
            return SkippedItem(kind)
    return text, origin


def assistant_words(text: str) -> str | SkippedItem:
    """Return an assistant's words without reply tags.

    >>> assistant_words("[[reply_to_current]] Done.")
    'Done.'
    """
    text = _REPLY_TAG.sub("", text)
    return SkippedItem(text.strip()) if text.strip() in _CONTROL_REPLIES else text


def _unwrap(text: str) -> str:
    at = 0
    while match := _TIME.match(text, at) or _EVENT.match(text, at) or _HEADING.match(text, at):
        at = match.end()
        if match.re is _HEADING and (block := _FENCED.match(text, at) or _PARAGRAPH.match(text, at)):
            at = block.end()
        if blank := _BLANK.match(text, at):
            at = blank.end()
    text = _TRAILING_CONTEXT.sub("", text[at:])
    return _MESSAGE_ID.sub("", text).strip("\n")


NAME = "openclaw"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_NOISE_ENTRIES = frozenset({
    "branch_summary", "compaction", "custom", "custom_message", "label", "model_change", "session_info",
    "thinking_level_change",
})  # fmt: skip
_NOISE_ROLES = frozenset(
    {"bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage", "toolResult"}
)
_ROOT = "\0"  # above all entries; no id
_NOISE_BLOCKS = frozenset({"image", "thinking", "toolCall"})


def _recognise(path: str, head: bytes) -> bool:
    first = next(iter(peek_objects(head)), None) or {}
    return ".jsonl" in path and first.get("type") == "session" and "id" in first and "timestamp" in first


def _reader(root: Path, path: str) -> TranscriptReader:
    folder, _, name = path.rpartition("/")
    log = _OpenClawLog(
        session=name.partition(".jsonl")[0],
        agent="pi" if "/.pi/" in f"{root.as_posix()}/{path}" else NAME,
    )
    if log.agent == NAME:
        log.keys = session_keys(root, f"{folder}/sessions.json".lstrip("/"))
    return log.read_row


@dataclass(slots=True)
class _OpenClawLog:
    session: str
    agent: str
    keys: Mapping[str, str] = field(default_factory=dict)
    branches: BranchTracker = field(default_factory=BranchTracker)
    turn_above: OrderedDict[str, str] = field(default_factory=OrderedDict)  # entry to its nearest turn
    cwd: str | None = None
    title: str = ""
    last_reply: str = ""  # what the assistant said last
    previous_entry: str = ""  # the entry before: the parent of one that names none
    is_subagent: bool = False

    def __post_init__(self) -> None:
        self.branches.add(_ROOT, "", turn=True)  # so that a rewritten first message is a branch too

    def read_row(self, row: LogRow) -> Iterator[ReaderItem]:
        entry = row.value
        kind, key = as_string(entry.get("type")), record_id(entry.get("id"))
        if kind == "session":
            self.session = as_string(entry.get("id")) or self.session
            self.cwd = as_string(entry.get("cwd")) or None
            self.is_subagent = is_spawned_session(self.keys.get(self.session, ""))
            return
        if key in self.turn_above:
            yield SkippedItem("copy")
            return
        message = as_object(entry.get("message"))
        role = as_string(message.get("role"))
        skipped: list[SkippedItem] = []
        if kind == "session_info":
            self.title = as_string(entry.get("name")) or self.title
        words = (
            self._message_words(role, message, skipped)
            if kind == "message"
            else skip_kind(kind, _NOISE_ENTRIES, "entry")
        )
        spoken = words if isinstance(words, tuple) and words[0].strip() else None
        fork = self._branch_of(entry, key, prompt=role == "user", turn=spoken is not None)
        yield from skipped
        if isinstance(words, SkippedItem):
            yield words
        elif spoken:
            yield Turn(
                key or f"{self.session}:{row.line}", role, spoken[0],
                branch_session(self.session, fork) if fork else self.session,
                as_micros(entry.get("timestamp")) or micros_from_millis(message.get("timestamp")),
                self.cwd, agent=self.agent, origin=spoken[1], title=self.title,
            )  # fmt: skip

    def _branch_of(self, entry: dict[str, Any], key: str, *, prompt: bool, turn: bool) -> str:
        """Return the branch of an entry, "" if it is no turn: only turns can branch."""
        parent = record_id(entry.get("parentId")) if "parentId" in entry else self.previous_entry
        above = self.turn_above.get(parent, "" if parent else _ROOT) if key else ""
        fork = self.branches.add(key, above, turn=True, prompt=prompt) if turn else ""
        self.previous_entry = key
        if key:
            self.turn_above[key] = key if turn else above
        if len(self.turn_above) > MAX_TRACKED_RECORDS:
            self.turn_above.popitem(last=False)
        return fork

    def _message_words(
        self, role: str, message: dict[str, Any], skipped: list[SkippedItem]
    ) -> tuple[str, str] | SkippedItem:
        if role not in _ORIGINS:
            return skip_kind(role, _NOISE_ROLES, "role")
        provenance = as_string(as_object(message.get("provenance")).get("kind"))
        if provenance == "internal_system":
            return SkippedItem("internal request")
        text = joined_text(_content_texts(message.get("content"), skipped))
        if role == "assistant":
            words = assistant_words(text)
            if isinstance(words, SkippedItem):
                return words
            if message.get("model") == "delivery-mirror" and words.strip() == self.last_reply:
                return SkippedItem("delivery-mirror")
            self.last_reply = words.strip() or self.last_reply
            return words, "agent"
        spoken = user_words(text)
        if isinstance(spoken, tuple) and (self.is_subagent or provenance == "inter_session"):
            return spoken[0], "agent"
        return spoken


def _content_texts(content: object, skipped: list[SkippedItem]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in as_array(content):
        kind = as_string(as_object(block).get("type"))
        if kind == "text":
            yield as_string(block.get("text"))
        else:
            skipped.append(skip_kind(kind, _NOISE_BLOCKS, "content"))


OPENCLAW = TranscriptFormat(NAME, f"{NAME} 1", True, _recognise, read_rows, _reader)
