"""Claude: the ``conversations.json`` of a claude.ai data export (Settings > Privacy > Export data) -> turns.

Anthropic documents neither the file nor its changes. Written from readers of it:
    simonw/claude-to-sqlite, claude_to_sqlite/cli.py at 302a1f75ff22 (messages, ``antThinking``, ``antArtifact``);
    Sinity/polylogue, docs/providers/claude-ai.md at 05ed5a3ce59a (blocks of ``content``, attachments);
    exports of 2026 in public notes (``parent_message_uuid``, 00000000-0000-4000-8000-000000000000 for none).
The file is one array of conversations. The zip itself is not opened; `projects.json`, `memories.json` and
`users.json` of it hold no talk and are not read.

What is read
    Text blocks of each message, or its ``text`` where an older export has no blocks, and what a person pasted
    (an attachment without a file name). Where messages name their parents they are a tree, as after an edit:
    the path to ``current_leaf_message_uuid``, or to the last message, is the session (`paths`).
What is left out
    Tool calls and results, thinking, artifacts, uploaded files, the conversation's ``summary``.
Times
    ISO 8601 with a zone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from scrubjay.ingest.sources.transcripts.fields import array, at, said, string, table
from scrubjay.ingest.sources.transcripts.format import Format, Found, Left, Reader, Row
from scrubjay.ingest.sources.transcripts.paths import paths
from scrubjay.ingest.sources.transcripts.stream import elements
from scrubjay.ingest.sources.transcripts.tags import without
from scrubjay.memory.turns import Turn

NAME = "claude"

_SPEAKERS = {"human": ("user", "owner"), "assistant": ("assistant", "agent")}
_NOISE = frozenset(
    {"flag", "image", "redacted_thinking", "thinking", "token_budget", "tool_result", "tool_use"}
)
# Older exports wrap in tags what newer ones give as blocks of their own.
_WRAPPED = frozenset({"antArtifact", "antThinking"})


def _recognise(path: str, head: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return (
        path.endswith(".json") and start in (b"[", b"{") and b'"chat_messages"' in head and b'"uuid"' in head
    )


def _reader(root: Path, path: str) -> Reader:
    places = count(1)
    return lambda row: _conversation(row, places)


def _conversation(row: Row, places: Iterator[int]) -> Iterator[Found]:
    conversation = row.value
    named = string(conversation.get("uuid")) or f"conversation {row.line}"
    title = string(conversation.get("name"))
    messages: dict[str, tuple[int, dict[str, Any]]] = {}
    for place, message in enumerate(map(table, array(conversation.get("chat_messages"))), 1):
        key, line = string(message.get("uuid")) or f"{named}:{place}", next(places)
        if key in messages:
            yield Left("message that is there twice")
        else:
            messages[key] = line, message
    if not messages:
        yield Left("conversation without messages")
    leaf = string(conversation.get("current_leaf_message_uuid"))
    for session, keys in paths(_parents(messages), leaf, named):
        for key in keys:
            line, message = messages[key]
            sender = string(message.get("sender"))
            if sender not in _SPEAKERS:
                yield Left(f"sender {sender}".strip(), unknown=True)
                continue
            role, origin = _SPEAKERS[sender]
            words: list[str] = []
            yield from _words(message, words)
            if text := said(words):
                yield Turn(
                    key, role, text, session, line, row.start, row.end, at(message.get("created_at")),
                    agent=NAME, origin=origin, title=title,
                )  # fmt: skip


def _parents(messages: dict[str, tuple[int, dict[str, Any]]]) -> dict[str, str]:
    """Each message's parent: the one that it names, or the one before it where none names any."""
    parents = {key: string(message.get("parent_message_uuid")) for key, (_, message) in messages.items()}
    if any(parent in messages for parent in parents.values()):
        return parents
    return dict(zip(messages, ["", *messages], strict=False))


def _words(message: dict[str, Any], words: list[str]) -> Iterator[Left]:
    """Put what was said into ``words``; yield what was not."""
    blocks = [block for block in map(table, array(message.get("content"))) if block]
    for block in blocks:
        kind = string(block.get("type"))
        if kind == "text":
            words.append(without(string(block.get("text")), _WRAPPED))
        else:
            yield Left(kind if kind in _NOISE else f"content {kind}".strip(), unknown=kind not in _NOISE)
    if not blocks:
        words.append(without(string(message.get("text")), _WRAPPED))
    for attachment in map(table, array(message.get("attachments"))):
        if string(attachment.get("file_name")):
            yield Left("attachment")
        else:
            words.append(string(attachment.get("extracted_content")))


FORMAT = Format(NAME, f"{NAME} 1", False, _recognise, elements, _reader)
