"""OpenClaw (formerly Clawdbot, Moltbot): a session's log -> turns.

Files: ``~/.openclaw/agents/<agent>/sessions/<session>.jsonl`` (before 2026 ``~/.clawdbot``, ``~/.moltbot``),
with ``.reset.<time>`` or ``.deleted.<time>`` behind the name once a session was put away. The pi agent, whose
format it is, writes the same to ``~/.pi/agent/sessions``; its turns carry the agent ``pi``.
Written from
    badlogic/pi-mono, packages/coding-agent/docs/session-format.md and src/core/session-manager.ts, as in the
    package @mariozechner/pi-coding-agent 0.73.1 (2026-07-17), session versions 1 to 3;
    openclaw/openclaw, docs/reference/session-management-compaction.md at 010f0c86a15e, docs of the package
    openclaw 2026.9.6, src/sessions/input-provenance.ts at 01a179d7ded4.
Not read
    Newer versions keep the running sessions in ``openclaw-agent.sqlite`` and write these files when a session
    is put away; compressed ones (``.jsonl.zst``) are not opened.

What is read
    A header line, then entries that name their parents. Going back and saying something else begins a branch
    (`lineage`). Words of ``message`` entries of a user and an assistant, without what was wrapped around a
    message on its way from a channel (`wrapping`).
    Prompts to a sub-agent come from an agent: the log marks them, or ``sessions.json`` beside it says that the
    session is one of a sub-agent or a timer (its key has ``:subagent:`` or ``cron:``).
What is left out
    Tool calls and results, commands run by hand, thinking, summaries of compactions and branches, extensions'
    entries and messages, changes of model, labels, what the program itself asked (heartbeat, start of a
    session), and a copy of an answer that a channel was given (``delivery-mirror``).
Times
    ISO 8601 on entries; a message's own is in milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from scrubjay.errors import SourceError
from scrubjay.ingest.sources.read import read
from scrubjay.ingest.sources.transcripts.fields import array, at, said, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row, branch
from scrubjay.ingest.sources.transcripts.jsonl import peek, rows
from scrubjay.ingest.sources.transcripts.lineage import Lineage
from scrubjay.ingest.sources.transcripts.wrapping import answer, asked
from scrubjay.memory.turns import Turn

NAME = "openclaw"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_NOISE_ENTRIES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "model_change",
        "thinking_level_change",
    }
)
_NOISE_ROLES = frozenset(
    {"bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage", "toolResult"}
)
_EARLIEST_MILLIS = 1e11  # 1973: a smaller number is no time in milliseconds
_NOISE_BLOCKS = frozenset({"image", "thinking", "toolCall"})


def _recognise(path: str, head: bytes) -> bool:
    first = next(iter(peek(head)), None) or {}
    return ".jsonl" in path and first.get("type") == "session" and "id" in first and "timestamp" in first


def _reader(root: Path, path: str) -> Reader:
    folder, _, name = path.rpartition("/")
    reading = _Reading(
        session=name.partition(".jsonl")[0],
        agent="pi" if "/.pi/" in f"{root.as_posix()}/{path}" else NAME,
    )
    if reading.agent == NAME:
        reading.keys = _keys(root, f"{folder}/sessions.json" if folder else "sessions.json")
    return reading.row


def _keys(root: Path, path: str) -> dict[str, str]:
    """Session keys by session id, of the list beside the logs; nothing where it is not there."""
    try:
        return _listed(read(root, path).text)
    except SourceError:
        return {}  # put away alone, or copied without it: the log says enough


@lru_cache(maxsize=1)  # one list, hundreds of logs beside it
def _listed(text: str) -> dict[str, str]:
    try:
        entries = table(json.loads(text))
    except (ValueError, RecursionError):
        return {}
    return {string(table(entry).get("sessionId")): key for key, entry in entries.items()}


@dataclass(slots=True)
class _Reading:
    session: str
    agent: str
    keys: dict[str, str] = field(default_factory=dict)
    lineage: Lineage = field(default_factory=Lineage)
    cwd: str | None = None
    title: str = ""
    last: str = ""  # what the assistant said last
    previous: str = ""  # the entry before: the parent of one that names none
    spawned: bool = False

    def row(self, row: Row) -> Iterator[Found]:
        entry = row.value
        kind, key = string(entry.get("type")), string(entry.get("id"))
        if kind == "session":
            self._header(entry)
            return
        parent = string(entry.get("parentId")) if "parentId" in entry else self.previous
        self.previous = key
        message = table(entry.get("message"))
        role = string(message.get("role"))
        left: list[Left] = []
        words = self._words(role, message, left) if kind == "message" else self._other(kind, entry)
        spoken = words if isinstance(words, tuple) and words[0].strip() else None
        fork = self.lineage.add(
            key, parent, turn=spoken is not None, prompt=role == "user" and spoken is not None
        )
        yield from left
        if isinstance(words, Left):
            yield words
        elif spoken:
            yield Turn(
                key or f"{self.session}:{row.line}", role, spoken[0],
                branch(self.session, fork) if fork else self.session, row.line, row.start, row.end,
                at(entry.get("timestamp")) or _millis(message.get("timestamp")),
                self.cwd, agent=self.agent, origin=spoken[1], title=self.title,
            )  # fmt: skip

    def _header(self, entry: dict[str, Any]) -> None:
        self.session = string(entry.get("id")) or self.session
        self.cwd = string(entry.get("cwd")) or None
        key = self.keys.get(self.session, "")
        self.spawned = ":subagent:" in key or ":cron:" in key or key.startswith("cron:")

    def _other(self, kind: str, entry: dict[str, Any]) -> Left:
        if kind == "session_info":
            self.title = string(entry.get("name")) or self.title
            return Left(kind)
        return Left(kind if kind in _NOISE_ENTRIES else f"entry {kind}", unknown=kind not in _NOISE_ENTRIES)

    def _words(self, role: str, message: dict[str, Any], left: list[Left]) -> tuple[str, str] | Left:
        """What was said and its origin, or why the whole of it is left out; ``left`` gets the parts that are."""
        if role not in _ORIGINS:
            return Left(role if role in _NOISE_ROLES else f"role {role}", unknown=role not in _NOISE_ROLES)
        provenance = string(table(message.get("provenance")).get("kind"))
        if provenance == "internal_system":
            return Left("internal request")
        text = said(_blocks(message.get("content"), left))
        if role == "assistant":
            words = answer(text)
            mirrored = message.get("model") == "delivery-mirror" and text.strip() == self.last
            self.last = text.strip() or self.last
            return (
                Left("delivery-mirror")
                if mirrored
                else words
                if isinstance(words, Left)
                else (words, "agent")
            )
        words_of = asked(text)
        if isinstance(words_of, tuple) and (self.spawned or provenance == "inter_session"):
            return words_of[0], "agent"
        return words_of


def _blocks(content: object, left: list[Left]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in array(content):
        kind = string(table(block).get("type"))
        if kind == "text":
            yield string(block.get("text"))
        else:
            left.append(
                Left(kind if kind in _NOISE_BLOCKS else f"content {kind}", unknown=kind not in _NOISE_BLOCKS)
            )


def _millis(value: object) -> int | None:
    return at(value) if isinstance(value, int | float) and value > _EARLIEST_MILLIS else None


FORMAT = Format(NAME, f"{NAME} 1", True, _recognise, rows, _reader)
