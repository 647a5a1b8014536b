"""Proxied request: its JSON with positions, the conversation in it, and its memory options.

What is put into a request goes between two characters of it; all others stay as the client wrote them. The standard
library's own scanner finds where each value ends, so a request of megabytes costs no more than to parse it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
    """A value and where it stands.

    Attributes:
        value: What it says, as Python's own values.
        start: Place of its first character.
        end: Place after its last one.
        items: Of an array that was looked into, its items.
    """

    value: Any
    start: int
    end: int
    items: tuple[LocatedValue, ...] = ()


def object_members(text: str, inside: str) -> dict[str, list[LocatedValue]]:
    """Return an object's members by name; a name that stands there several times has several.

    Args:
        text: The document.
        inside: Name of the member whose items are wanted too, where it is an array.

    >>> object_members('{"a": [1, {}], "b": 2}', "a")["a"][0].items[1].start
    10

    Raises:
        ValueError: It is no JSON object.
        RecursionError: Too much lies within each other.
    """
    at = _skip_whitespace(text, 0)
    found: dict[str, list[LocatedValue]] = {}
    if text[at : at + 1] != "{":
        raise ValueError("no object")
    at = _skip_whitespace(text, at + 1)
    while text[at : at + 1] != "}":
        if found:
            at = _skip_whitespace(text, _skip_character(text, at, ","))
        if text[at : at + 1] != '"':
            raise ValueError("no name")
        name, at = _scan_json(text, at)
        at = _skip_whitespace(text, _skip_character(text, _skip_whitespace(text, at), ":"))
        placed = (
            _array_items(text, at) if name == inside and text[at : at + 1] == "[" else _value_at(text, at)
        )
        found.setdefault(name, []).append(placed)
        at = _skip_whitespace(text, placed.end)
    if _skip_whitespace(text, at + 1) != len(text):
        raise ValueError("something follows the end")
    return found


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


def _skip_character(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError(f"no {mark}")
    return at + 1


def _skip_whitespace(text: str, at: int) -> int:
    found = _WHITESPACE.match(text, at)
    assert found is not None
    return found.end()


NOISE_TAGS: Final = frozenset({"system-reminder"})
"""What agents put into a person's message in words of their own."""
ROLES: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn: who said what, and which of the turns of its request it is, from 0."""

    role: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a request says.

    Attributes:
        said: All turns that say something in words, in their order.
        fresh: What the person said since the model's last answer.
        asked: The last of that; empty where the model is only given what a tool returned, or nothing.
        question: What the person said last, whenever that was.
        beginning: What the person said first that says something; empty where they did not yet.
        place: Place of the person's last message in the request's text; None where there is none.
    """

    said: tuple[Utterance, ...]
    fresh: tuple[Utterance, ...]
    asked: str
    question: str
    beginning: str
    place: int | None

    @property
    def before(self) -> tuple[Utterance, ...]:
        """What was said before the question."""
        own = [one.number for one in self.said if one.role == "user"]
        return tuple(one for one in self.said if own and one.number < own[-1])

    @property
    def name(self) -> str:
        """A name that the conversation has as long as it begins so; empty where it has not begun."""
        digest = hashlib.sha256(self.beginning.encode("utf-8", "replace")).hexdigest()
        return f"proxy-{digest[:24]}" if self.beginning else ""


def parse_conversation(messages: Sequence[LocatedValue]) -> Conversation:
    """Return what messages say, of either interface; what is no message is passed over.

    An answer that the client begins for the model, the last message, is part of what the model is about to say.
    """
    held = [one for one in messages if isinstance(one.value, dict)]
    while held and held[-1].value.get("role") == "assistant":
        held.pop()
    said: list[Utterance] = []
    fresh: list[Utterance] = []
    place = None
    asked = ""
    for one in held:
        role, text = one.value.get("role"), message_text(one.value.get("content"))
        if role == "user":
            place = one.start if text or place is None else place
        if role in ROLES and text:
            said.append(Utterance(str(role), text, len(said)))
        if role == "assistant":
            fresh = []
        elif role == "user" and text:
            fresh.append(said[-1])
        asked = text if role == "user" else ("" if role in ("assistant", "tool", "function") else asked)
    own = [one.text for one in said if one.role == "user"]
    beginning = next((text for text in own if not is_small_talk(text)), "")
    return Conversation(tuple(said), tuple(fresh), asked, own[-1] if own else "", beginning, place)


def message_text(content: Any) -> str:
    """Return what a message says in words, without what was recalled into it; of images and tools nothing."""
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
"""What every header begins with that is meant for the proxy and goes no further."""
MAX_NAME: Final = 200
"""Characters of a conversation's, a project's or an agent's name."""
DEFAULT_AGENT: Final = "proxy"
"""What turns are signed with where nobody says who it was."""


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """What is to be done.

    Attributes:
        reads: Whether memories are put in.
        writes: Whether what passes is remembered.
        session: The conversation, as the client names it; empty where it does not.
        project: The project it is about, or None.
        agent: Which program asks.
    """

    reads: bool
    writes: bool
    session: str
    project: str | None
    agent: str


def parse_memory_options(
    headers: Headers, who: Principal, usual: str, *, paused: bool = False
) -> MemoryOptions:
    """Return what is wished for, as far as the principal may.

    Args:
        headers: Of the request.
        who: Whose memory it is.
        usual: The mode of the settings, one of `PROXY_MODES`.
        paused: Whether nothing is to be done whatever the request says.

    Raises:
        InputError: A header has a value that it cannot have.
    """
    mode = headers.get(MEMORY_HEADER, usual).strip().lower()
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
    """Return the project's name; a path would have the server look at a folder of its own disk."""
    found = _header_name(headers, PROJECT_HEADER)
    if found.startswith((".", "/", "~", "\\")):
        raise InputError(
            f"{PROJECT_HEADER} is {found!r:.80}, a path, which cannot be resolved on the server. "
            "Nothing was sent to the upstream.",
            hint="give the project's name",
        )
    return found or None


def _header_name(headers: Headers, header: str) -> str:
    found = headers.get(header, "").strip()
    if len(found) > MAX_NAME or not found.isprintable():
        raise InputError(
            f"{header} is invalid: use at most {MAX_NAME} printable characters. "
            "Nothing was sent to the upstream."
        )
    return found
