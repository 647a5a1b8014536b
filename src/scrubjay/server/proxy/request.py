"""Proxied request: its JSON with positions, the conversation in it, and its memory options.

Memories are inserted between two characters of a request; all others stay as the client wrote them. The standard
library's scanner finds where each value ends.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from scrubjay.api.tools import is_path
from scrubjay.config.settings import PROXY_MODES
from scrubjay.errors import InputError
from scrubjay.ingest.transcripts.base import strip_tags
from scrubjay.ingest.turns import strip_injected
from scrubjay.text.dialogue import is_small_talk

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from scrubjay.api.auth import Principal


_scan_json: Final = json.JSONDecoder().raw_decode
_WHITESPACE: Final = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """A JSON value, its position in the text, and the items of an array that was parsed item by item."""

    value: Any
    start: int
    end: int
    items: tuple[LocatedValue, ...] = ()


def object_members(text: str, inside: str) -> dict[str, list[LocatedValue]]:
    """Return an object's members by name, each occurrence of a repeated name; locate the items of the array ``inside``.

    >>> object_members('{"a": [1, {}], "b": 2}', "a")["a"][0].items[1].start
    10

    Raises:
        ValueError: It is not a JSON object.
        RecursionError: It is nested too deeply.
    """
    at = _skip_whitespace(text, 0)
    members: dict[str, list[LocatedValue]] = {}
    if text[at : at + 1] != "{":
        raise ValueError("not an object")
    at = _skip_whitespace(text, at + 1)
    while text[at : at + 1] != "}":
        if members:
            at = _skip_whitespace(text, _skip_character(text, at, ","))
        if text[at : at + 1] != '"':
            raise ValueError("not a name")
        name, at = _scan_json(text, at)
        at = _skip_whitespace(text, _skip_character(text, _skip_whitespace(text, at), ":"))
        in_array = name == inside and text[at : at + 1] == "["
        member = _array_items(text, at) if in_array else _value_at(text, at)
        members.setdefault(name, []).append(member)
        at = _skip_whitespace(text, member.end)
    if _skip_whitespace(text, at + 1) != len(text):
        raise ValueError("text after the end")
    return members


def _array_items(text: str, start: int) -> LocatedValue:
    items: list[LocatedValue] = []
    at = _skip_whitespace(text, start + 1)
    while text[at : at + 1] != "]":
        if items:
            at = _skip_whitespace(text, _skip_character(text, at, ","))
        items.append(_value_at(text, at))
        at = _skip_whitespace(text, items[-1].end)
    return LocatedValue([item.value for item in items], start, at + 1, tuple(items))


def _value_at(text: str, at: int) -> LocatedValue:
    value, end = _scan_json(text, at)
    return LocatedValue(value, at, end)


def _skip_character(text: str, at: int, character: str) -> int:
    if text[at : at + 1] != character:
        raise ValueError(f"no {character}")
    return at + 1


def _skip_whitespace(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    assert match is not None
    return match.end()


NOISE_TAGS: Final = frozenset({"system-reminder"})
"""Tags around text that agents add to a user's message."""
ROLES: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn; ``number`` counts those of its request from 0."""

    role: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """The conversation of a request.

    Attributes:
        turns: All turns with text, in order.
        fresh: The user's turns since the model's last answer.
        prompt: The last of those; empty if the model only gets a tool's result.
        question: The user's last turn.
        beginning: The user's first turn that is not small talk; may be empty.
        position: Position of the user's last message in the request's text.
    """

    turns: tuple[Utterance, ...]
    fresh: tuple[Utterance, ...]
    prompt: str
    question: str
    beginning: str
    position: int | None

    @property
    def before(self) -> tuple[Utterance, ...]:
        """The turns before the question."""
        last = max((turn.number for turn in self.turns if turn.role == "user"), default=0)
        return self.turns[:last]

    @property
    def name(self) -> str:
        """A name derived from the conversation's beginning; empty if it has none."""
        digest = hashlib.sha256(self.beginning.encode("utf-8", "replace")).hexdigest()
        return f"proxy-{digest[:24]}" if self.beginning else ""


def parse_conversation(messages: Sequence[LocatedValue]) -> Conversation:
    """Parse the messages of either API; invalid ones are skipped.

    A last message of the assistant is the beginning of the answer to come, and so left out.
    """
    found = [message for message in messages if isinstance(message.value, dict)]
    while found and found[-1].value.get("role") == "assistant":
        found.pop()
    turns: list[Utterance] = []
    fresh: list[Utterance] = []
    position = None
    prompt = ""
    for message in found:
        role, text = message.value.get("role"), message_text(message.value.get("content"))
        if role in ROLES and text:
            turns.append(Utterance(str(role), text, len(turns)))
        if role == "user":
            position = message.start if text or position is None else position
            prompt = text
            if text:
                fresh.append(turns[-1])
        elif role == "assistant":
            fresh, prompt = [], ""
        elif role in ("tool", "function"):
            prompt = ""
    questions = [turn.text for turn in turns if turn.role == "user"]
    beginning = next((text for text in questions if not is_small_talk(text)), "")
    return Conversation(
        tuple(turns), tuple(fresh), prompt, questions[-1] if questions else "", beginning, position
    )


def message_text(content: Any) -> str:
    """Return a message's text without injected memories; images and tool calls have none."""
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    else:
        return ""
    return strip_tags(strip_injected(text).text, NOISE_TAGS).strip()


MEMORY_HEADER: Final = "x-scrubjay-memory"
SESSION_HEADER: Final = "x-scrubjay-session"
PROJECT_HEADER: Final = "x-scrubjay-project"
AGENT_HEADER: Final = "x-scrubjay-agent"
HEADER_PREFIX: Final = "x-scrubjay-"
"""Prefix of headers for the proxy, which are not forwarded."""
MAX_NAME: Final = 200
DEFAULT_AGENT: Final = "proxy"
"""Agent of turns whose request names none."""


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """The memory options of a request.

    Attributes:
        reads: Whether memories are injected.
        writes: Whether turns are stored.
        session: The client's name for the conversation; may be empty.
        project: Project, if any.
        agent: Agent that signs the turns.
    """

    reads: bool
    writes: bool
    session: str
    project: str | None
    agent: str


def parse_memory_options(
    headers: Headers, who: Principal, default_mode: str, *, paused: bool = False
) -> MemoryOptions:
    """Return the options that the headers ask for and the principal may use; by default in the mode of the settings.

    Raises:
        InputError: A header's value is invalid.
    """
    mode = headers.get(MEMORY_HEADER, default_mode).strip().lower()
    if mode not in PROXY_MODES:
        raise InputError(
            f"{MEMORY_HEADER} is {mode!r:.40}. Nothing was sent to the upstream.",
            hint=f"one of {', '.join(PROXY_MODES)}",
        )
    mode = "off" if paused else mode
    return MemoryOptions(
        mode in ("on", "read") and "read" in who.scopes,
        mode in ("on", "write") and "write" in who.scopes,
        _header_name(headers, SESSION_HEADER),
        _project_name(headers),
        who.agent or _header_name(headers, AGENT_HEADER) or DEFAULT_AGENT,
    )


def _project_name(headers: Headers) -> str | None:
    """A path would make the server look at a folder of its own disk."""
    name = _header_name(headers, PROJECT_HEADER)
    if is_path(name):
        raise InputError(
            f"{PROJECT_HEADER} is {name!r:.80}, a path, which cannot be resolved on the server. "
            "Nothing was sent to the upstream.",
            hint="give the project's name",
        )
    return name or None


def _header_name(headers: Headers, header: str) -> str:
    name = headers.get(header, "").strip()
    if len(name) > MAX_NAME or not name.isprintable():
        raise InputError(
            f"{header} is invalid: use at most {MAX_NAME} printable characters. "
            "Nothing was sent to the upstream."
        )
    return name
