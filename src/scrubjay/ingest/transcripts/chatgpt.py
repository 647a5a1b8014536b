"""ChatGPT: the ``conversations.json`` of a data export.

mitkury/chatgpt-export-parser, ``docs/chatgpt-data-export-format.md`` at 08e6ae595869. Each conversation's ``mapping``
is a tree; the path to ``current_node`` is the session. Text of ``text`` and ``multimodal_text`` messages is read;
system, tool and hidden messages, custom instructions, thoughts, pictures and citation marks are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

from scrubjay.ingest.transcripts.base import (
    MAX_UNIX_SECONDS,
    LogRow,
    ReaderItem,
    SkippedItem,
    TranscriptFormat,
    as_array,
    as_micros,
    as_object,
    as_string,
    is_json_file,
    joined_text,
    message_paths,
    read_elements,
    skip_kind,
)
from scrubjay.models.records import Turn

NAME = "chatgpt"

_ORIGINS = {"user": "owner", "assistant": "agent"}
_TEXT_TYPES = frozenset({"text", "multimodal_text"})
_NOISE = frozenset({
    "code", "computer_output", "execution_output", "model_editable_context", "reasoning_recap",
    "sonic_webpage", "system_error", "tether_browsing_code", "tether_browsing_display", "tether_quote",
    "thoughts", "user_editable_context",
})  # fmt: skip
# Citation marks in private-use characters, and the older 【12†source】.
_CITATION = re.compile("\ue200[^\ue201]{0,400}\ue201|【\\d{1,4}(?::\\d{1,4})?†[^】\n]{0,200}】")


def _recognise(path: str, head: bytes) -> bool:
    return is_json_file(path, head, b'"mapping"', b'"create_time"')


def _conversation(row: LogRow, places: Iterator[int]) -> Iterator[ReaderItem]:
    conversation = row.value
    mapping = {key: as_object(node) for key, node in as_object(conversation.get("mapping")).items()}
    if not mapping:
        yield SkippedItem("conversation without messages")
        return
    conversation_id = as_string(conversation.get("conversation_id")) or as_string(conversation.get("id"))
    title = as_string(conversation.get("title"))
    lines = dict(zip(mapping, places, strict=False))
    visited: set[str] = set()
    leaf = as_string(conversation.get("current_node"))
    for session, keys in message_paths(_parents(mapping), leaf, conversation_id or next(iter(mapping))):
        for key in keys:
            message = as_object(mapping[key].get("message"))
            text = _message_text(message) if message else None
            message_id = as_string(message.get("id")) or f"{conversation_id}:{key}"
            if isinstance(text, str) and message_id in visited:
                text = SkippedItem("message that is there twice")
            if isinstance(text, SkippedItem):
                yield text
            elif text:
                visited.add(message_id)
                role = as_string(as_object(message.get("author")).get("role"))
                seconds = message.get("create_time")
                timed = isinstance(seconds, int | float) and seconds < MAX_UNIX_SECONDS
                yield Turn(
                    message_id, role, text, session, as_micros(seconds) if timed else None,
                    origin=_ORIGINS[role], title=title, line=lines[key],
                )  # fmt: skip


def _parents(mapping: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return each node's parent; a node without one may be among the children of another."""
    parents = {key: as_string(node.get("parent")) for key, node in mapping.items()}
    for key, node in mapping.items():
        for child in map(as_string, as_array(node.get("children"))):
            if child in parents and not parents[child]:
                parents[child] = key
    return parents


def _message_text(message: dict[str, Any]) -> str | SkippedItem:
    role = as_string(as_object(message.get("author")).get("role"))
    content, metadata = as_object(message.get("content")), as_object(message.get("metadata"))
    kind = as_string(content.get("content_type"))
    if role in {"system", "tool"}:
        return SkippedItem("system message" if role == "system" else "tool result")
    if role not in _ORIGINS:
        return skip_kind(role, (), "role")
    if metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message"):
        return SkippedItem("hidden message")
    if message.get("recipient", "all") not in ("all", None) or kind in _NOISE:
        return SkippedItem(kind if kind in _NOISE else "tool call")
    if kind not in _TEXT_TYPES:
        return skip_kind(kind, (), "content")
    if message.get("channel") == "analysis":
        return SkippedItem("thoughts")
    parts = as_array(content.get("parts"))
    texts = [part if isinstance(part, str) else as_string(as_object(part).get("text")) for part in parts]
    return _CITATION.sub("", joined_text(texts))


CHATGPT = TranscriptFormat(
    NAME, f"{NAME} 1", False, _recognise, read_elements,
    lambda root, path: partial(_conversation, places=count(1)),
)  # fmt: skip
