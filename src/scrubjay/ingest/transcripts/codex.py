"""Codex: the rollouts under ``~/.codex/sessions``.

openai/codex: ``codex-rs/history/src/lib.rs``, ``rollout/src/policy.rs`` at 0136a731, ``rollout/src/metadata.rs`` at
08b32d43, ``core/src/event_mapping.rs`` at 0846c126 (2026); lines of before September 2025, which have no envelope,
from public readers. ``user`` and ``assistant`` messages of response items are read, without what the program put into
a user's message (`WRAPPERS`, AGENTS.md, the IDE's open files); events repeat them. A sub-agent's session is
``<parent>/<id>``. After ``thread_rolled_back`` comes a branch. A fork's file begins with a copy without ids, so a key
is the first session's id, the message's place and a digest of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from scrubjay.ingest.transcripts.base import (
    LogRow,
    ReaderItem,
    SkippedItem,
    TranscriptFormat,
    as_array,
    as_micros,
    as_object,
    as_string,
    branch_session,
    joined_text,
    peek_objects,
    read_rows,
    strip_wrappers,
    text_digest,
)
from scrubjay.models.records import Turn

WRAPPERS = frozenset({
    "apps_instructions", "collaboration_mode", "environment_context", "hook_prompt", "INSTRUCTIONS",
    "in-app-browser-context", "multi_agent_mode", "oai-mem-citation", "permissions", "plugins", "skill",
    "skills_instructions", "subagent_notification", "subagents", "token_budget", "turn_aborted",
    "user_instructions", "user_shell_command",
})  # fmt: skip
"""Tags that the program puts around its own text in a person's message."""

_LINES = frozenset({
    "compacted", "event_msg", "inter_agent_communication", "inter_agent_communication_metadata",
    "session_meta", "turn_context", "world_state",
})  # fmt: skip
_ITEMS = frozenset({
    "additional_tools", "agent_message", "compaction", "compaction_summary", "compaction_trigger",
    "context_compaction", "custom_tool_call", "custom_tool_call_output", "function_call",
    "function_call_output", "ghost_snapshot", "image_generation_call", "local_shell_call", "reasoning",
    "tool_search_call", "tool_search_output", "web_search_call",
})  # fmt: skip
_COPIES = frozenset({"user_message", "agent_message"})
_INSERTED = re.compile(
    r"\s*(?:# AGENTS\.md instructions|Another language model started to solve this problem)"
    r"|\s*</?(?:local_)?image\b[^<>]*>\s*\Z"
)
_REQUEST = re.compile(r"^## My request(?: for Codex)?:[ \t]*$", re.MULTILINE)
_CONTEXT = re.compile(
    r"\s*(?:<|# (?:Context from|Files mentioned by|Applications mentioned by|In app browser)\b)"
)
"""Beginnings of the context that an editor puts before a request."""
_CWD = re.compile(r"<cwd>([^<]+)</cwd>")
_LONG_FIRST_LINE = re.compile(
    rb'\s*\{"timestamp":"[^"]{10,40}",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'
)


def _recognise(path: str, head: bytes) -> bool:
    rows = peek_objects(head)
    if not rows or rows[0] is None:
        return _LONG_FIRST_LINE.match(head) is not None  # a first line of more than 64 KB
    first = rows[0]
    if first.get("type") == "session_meta":
        return isinstance(as_object(first.get("payload")).get("id"), str)
    names = isinstance(first.get("id"), str) and isinstance(first.get("timestamp"), str)
    return names and "type" not in first and "instructions" in first and "content" not in first


class _CodexLog:
    def __init__(self, stem: str) -> None:
        self._session = ""  # from the first line
        self._first_session = stem  # the session in which this was first said
        self._is_subagent = False
        self._branch = ""
        self._rolled_back = False
        self._messages = 0
        self._cwd = self._remote = self._title = ""

    def read(self, row: LogRow) -> Iterable[ReaderItem]:
        line = row.value
        kind, payload = as_string(line.get("type")), as_object(line.get("payload"))
        if kind == "response_item":
            return self._read_item(row, payload)
        if kind in _LINES:
            return (self._read_line(kind, payload),)
        if "payload" in line:
            return (SkippedItem(kind or "line without a type", unknown=True),)
        return self._read_without_envelope(row, kind)

    def _read_without_envelope(self, row: LogRow, kind: str) -> Iterable[ReaderItem]:
        if kind:
            return self._read_item(row, row.value)
        if "record_type" in row.value:
            return (SkippedItem("state"),)
        if "id" in row.value and "timestamp" in row.value:
            self._read_session(row.value)
            return (SkippedItem("session_meta"),)
        return (SkippedItem("line without a type", unknown=True),)

    def _read_line(self, kind: str, payload: dict[str, Any]) -> SkippedItem:
        if kind == "session_meta":
            self._read_session(payload)
        elif kind == "turn_context":
            self._cwd = as_string(payload.get("cwd")) or self._cwd
        elif kind == "event_msg":
            event = as_string(payload.get("type"))
            self._rolled_back |= event == "thread_rolled_back"
            if event == "thread_name_updated":
                self._title = as_string(payload.get("thread_name"))
            return SkippedItem("copy in an event" if event in _COPIES else kind)
        return SkippedItem(kind)

    def _read_session(self, payload: dict[str, Any]) -> None:
        name = as_string(payload.get("id"))
        # A fork's own line comes first, then those of the copied session.
        self._first_session = name or self._first_session
        if self._session:
            return
        self._cwd = as_string(payload.get("cwd"))
        self._remote = as_string(as_object(payload.get("git")).get("repository_url"))
        source = as_object(payload.get("source"))
        self._is_subagent = "subagent" in source or payload.get("thread_source") == "subagent"
        spawn = as_object(as_object(source.get("subagent")).get("thread_spawn"))
        parent = as_string(payload.get("parent_thread_id")) or as_string(spawn.get("parent_thread_id"))
        self._session = f"{parent}/{name}" if self._is_subagent and parent else name

    def _read_item(self, row: LogRow, item: dict[str, Any]) -> tuple[ReaderItem, ...]:
        kind, role = as_string(item.get("type")), as_string(item.get("role"))
        if kind != "message":
            return (SkippedItem(kind or "item without a type", unknown=kind not in _ITEMS),)
        if role not in {"user", "assistant"}:
            return (SkippedItem(f"{role or 'nobody'}'s message"),)
        parts = [as_string(part.get("text")) for part in map(as_object, as_array(item.get("content")))]
        if role == "user":
            for match in filter(None, map(_CWD.search, parts)):
                self._cwd = match[1].strip()
            parts = [_last_request(part) for part in parts if not _INSERTED.match(part)]
        text = joined_text(strip_wrappers(part, WRAPPERS) for part in parts)
        if not text:
            return (SkippedItem("context"),)
        return (self._turn(row, role, text),)

    def _turn(self, row: LogRow, role: str, text: str) -> Turn:
        self._messages += 1
        digest = text_digest(role, text)
        if self._rolled_back and role == "user":
            self._branch, self._rolled_back = digest, False
        session = self._session or self._first_session
        return Turn(
            key=f"{self._first_session}:{self._messages}:{digest}",
            role=role,
            text=text,
            session=branch_session(session, self._branch) if self._branch else session,
            at=as_micros(row.value.get("timestamp")),
            cwd=self._cwd or None,
            remote=self._remote or None,
            origin="owner" if role == "user" and not self._is_subagent else "agent",
            title=self._title,
        )


def _last_request(text: str) -> str:
    headings = list(_REQUEST.finditer(text)) if _CONTEXT.match(text) else []
    return text[headings[-1].end() :] if headings else text


CODEX = TranscriptFormat(
    "codex",
    "codex 1",
    True,
    _recognise,
    read_rows,
    lambda root, path: _CodexLog(PurePosixPath(path).stem).read,
)
