"""Request and response formats of the OpenAI and Anthropic APIs.

Memories are inserted between two characters of a request; all others stay as the client wrote them. The standard
library's scanner finds where each value ends.

OpenAI: memories become a message directly before the user's last one, with role ``developer`` if the client uses it
(o1 and newer), else ``system``; ``[proxy] role`` overrides that for templates that accept neither there. Anthropic:
memories become the last block of ``system``, so that tools and the client's blocks with ``cache_control`` stay cached
(docs/context.md). A response passes unchanged and undelayed; what cannot be parsed is not stored.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from scrubjay.api.tools import is_path
from scrubjay.config.settings import PROXY_MODES
from scrubjay.errors import InputError
from scrubjay.frozen import frozen
from scrubjay.ingest.transcripts.base import strip_tags
from scrubjay.ingest.turns import strip_injected
from scrubjay.text.dialogue import is_small_talk

if TYPE_CHECKING:
    from starlette.datastructures import Headers

    from scrubjay.api.auth import Principal


_scan_json: Final = json.JSONDecoder().raw_decode
_WHITESPACE: Final = re.compile(r"[ \t\n\r]*")


@frozen
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


@frozen
class Utterance:
    """One turn; ``number`` counts those of its request from 0."""

    role: str
    text: str
    number: int


@frozen
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
    valid = [message for message in messages if isinstance(message.value, dict)]
    while valid and valid[-1].value.get("role") == "assistant":
        valid.pop()
    turns: list[Utterance] = []
    fresh: list[Utterance] = []
    position = None
    prompt = ""
    for message in valid:
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


@frozen
class MemoryOptions:
    """The memory options of a request.

    Attributes:
        reads: Whether memories are injected.
        writes: Whether turns are stored.
        session: The client's name for the conversation; may be empty.
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


@frozen
class CompletionRequest:
    text: str
    members: dict[str, LocatedValue]
    conversation: Conversation


class ResponseParser(ABC):
    """Collects the text of a response.

    Attributes:
        started: Whether anything was recognised.
        ended: Whether the answer is complete.
        failed: Whether the upstream reported an error.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.started = self.ended = self.failed = False

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @abstractmethod
    def parse_event(self, data: Any) -> None:
        """Parse one event of a stream; None for ``[DONE]``."""

    @abstractmethod
    def parse_body(self, data: Any) -> None:
        """Parse a response that is not a stream."""


class ProviderAdapter(Protocol):
    """One provider's API.

    Attributes:
        name: ``openai`` or ``anthropic``, as in the settings.
        prefix: Path prefix of its requests here.
        base: The part of the prefix that the upstream's base URL replaces.
        completion_path: Path of completion requests below the prefix.
        parser: Makes a new parser for one response.
    """

    name: str
    prefix: str
    base: str
    completion_path: str
    parser: type[ResponseParser]

    def inject(self, request: CompletionRequest, memories: str, role: str) -> str | None:
        """Return the body with memories in it; None if there is no place for them."""

    def key_header(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header with the upstream's key; ``shown`` is the client's header that had our token, if any."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error in the provider's form."""


class OpenAIResponseParser(ResponseParser):
    """Parses a chat completion; of several choices the first."""

    def parse_event(self, data: Any) -> None:
        if data is None:
            self.ended = True
            return
        self._read_choices(data, "delta")

    def parse_body(self, data: Any) -> None:
        self._read_choices(data, "message")
        self.ended = self.started

    def _read_choices(self, data: Any, name: str) -> None:
        if not isinstance(data, dict):
            return
        self.failed = self.failed or bool(data.get("error"))
        choices = data.get("choices")
        if not isinstance(choices, list):
            return
        self.started = True
        for choice in choices:
            message = choice.get(name) if isinstance(choice, dict) and not choice.get("index") else None
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, str):
                self._parts.append(content)


class OpenAIAdapter:
    name = "openai"
    prefix = "/openai/v1/"
    base = "/openai/v1"
    completion_path = "chat/completions"
    parser: type[ResponseParser] = OpenAIResponseParser

    def inject(self, request: CompletionRequest, memories: str, role: str) -> str | None:
        position = request.conversation.position
        if position is None:
            return None
        if role == "auto":
            messages = [item.value for item in request.members["messages"].items]
            roles = {message.get("role") for message in messages if isinstance(message, dict)}
            role = "developer" if "developer" in roles else "system"
        message = json.dumps({"role": role, "content": memories}, ensure_ascii=False)
        return f"{request.text[:position]}{message},{request.text[position:]}"

    def key_header(self, key: str, shown: str) -> tuple[str, str]:
        return "authorization", f"Bearer {key}"

    def error(self, status: int, message: str) -> dict[str, Any]:
        kind = "invalid_request_error" if status < 500 else "api_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": "scrubjay_proxy"}}


ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    504: "timeout_error",
}


class AnthropicResponseParser(ResponseParser):
    def parse_event(self, data: Any) -> None:
        kind = data.get("type") if isinstance(data, dict) else None
        if kind == "error":
            self.failed = True
        elif kind == "message_start":
            self.started = True
        elif kind == "message_stop":
            self.ended = True
        elif kind == "content_block_start":
            self._read_block(data.get("content_block"))
        elif kind == "content_block_delta":
            delta = data.get("delta")
            if isinstance(delta, dict) and delta.get("type") == "text_delta":
                self._parts += [delta["text"]] if isinstance(delta.get("text"), str) else []

    def parse_body(self, data: Any) -> None:
        if isinstance(data, dict) and isinstance(data.get("content"), list):
            self.started = self.ended = True
            for block in data["content"]:
                self._read_block(block)

    def _read_block(self, block: Any) -> None:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            self._parts.append(("\n" if self._parts else "") + block["text"])


class AnthropicAdapter:
    name = "anthropic"
    prefix = "/anthropic/v1/"
    base = "/anthropic"
    completion_path = "messages"
    parser: type[ResponseParser] = AnthropicResponseParser

    def inject(self, request: CompletionRequest, memories: str, role: str) -> str | None:
        text, system = request.text, request.members.get("system")
        block = json.dumps({"type": "text", "text": memories}, ensure_ascii=False)
        if system is None:
            start = text.index("{") + 1
            return f'{text[:start]}"system":[{block}],{text[start:]}'
        before, after = text[: system.start], text[system.end :]
        if isinstance(system.value, list):
            inner = text[system.start : system.end - 1]
            return f"{before}{inner}{',' if system.value else ''}{block}]{after}"
        if system.value is None or (isinstance(system.value, str) and not system.value.strip()):
            return f"{before}[{block}]{after}"
        if isinstance(system.value, str):
            original = f'{{"type":"text","text":{text[system.start : system.end]}}}'
            return f"{before}[{original},{block}]{after}"
        return None

    def key_header(self, key: str, shown: str) -> tuple[str, str]:
        """Newer clients send their key as a bearer token, older ones as ``x-api-key``."""
        return ("authorization", f"Bearer {key}") if shown == "authorization" else ("x-api-key", key)

    def error(self, status: int, message: str) -> dict[str, Any]:
        default = ERROR_TYPES[400] if status < 500 else "api_error"
        return {"type": "error", "error": {"type": ERROR_TYPES.get(status, default), "message": message}}


MAX_LINE_BYTES: Final = 8 * 1024 * 1024
MAX_RESPONSE_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a response that is parsed whole."""


class ResponseReader:
    """Feeds a response to a parser, whole or as server-sent events.

    https://html.spec.whatwg.org/multipage/server-sent-events.html
    """

    def __init__(self, parser: ResponseParser, *, streamed: bool) -> None:
        self.parser = parser
        self._streamed = streamed
        self._buffer = bytearray()
        self._data: list[bytes] = []
        self._too_long = False

    def feed(self, piece: bytes) -> None:
        """Read one piece, cut anywhere."""
        if self._too_long:
            return
        self._buffer += piece
        if self._streamed and b"\n" in piece:
            self._read_lines()
        if len(self._buffer) > (MAX_LINE_BYTES if self._streamed else MAX_RESPONSE_BYTES):
            self._too_long = True
            self._buffer.clear()

    def end(self) -> None:
        """Parse what is left."""
        if self._streamed:
            self.feed(b"\n\n")
        elif not self._too_long:
            self._parse(bytes(self._buffer), self.parser.parse_body)

    def _read_lines(self) -> None:
        *lines, rest = self._buffer.replace(b"\r\n", b"\n").split(b"\n")
        if not lines:
            return
        self._buffer = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:].removeprefix(b" ")))
            elif not line.strip(b"\r") and self._data:
                self._parse(b"\n".join(self._data), self.parser.parse_event)
                self._data = []

    def _parse(self, data: bytes, parse: Callable[[Any], None]) -> None:
        if data.strip() == b"[DONE]":
            self.parser.parse_event(None)
            return
        with suppress(ValueError, RecursionError):
            parse(json.loads(data))
