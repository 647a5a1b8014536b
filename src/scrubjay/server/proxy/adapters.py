"""Provider adapters: the formats of OpenAI's and Anthropic's requests, streams and errors.

OpenAI: memories become a message directly before the user's last one, with role ``developer`` if the client uses it
(o1 and newer), else ``system``; ``[proxy] role`` overrides that for templates that accept neither there. Anthropic:
memories become the last block of ``system``, so that tools and the client's blocks with ``cache_control`` stay cached
(docs/proxy.md). A response passes unchanged and undelayed; what cannot be parsed is not stored.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from scrubjay.server.proxy.request import Conversation, LocatedValue


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A completion request: its text, its members, and the conversation in it."""

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
    """

    name: str
    prefix: str
    base: str
    completion_path: str

    def inject(self, request: CompletionRequest, memories: str, role: str) -> str | None:
        """Return the body with memories in it; None if there is no place for them."""

    def parser(self) -> ResponseParser:
        """Return a new parser for one response."""

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

    def parser(self) -> OpenAIResponseParser:
        return OpenAIResponseParser()

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
            own = f'{{"type":"text","text":{text[system.start : system.end]}}}'
            return f"{before}[{own},{block}]{after}"
        return None

    def parser(self) -> AnthropicResponseParser:
        return AnthropicResponseParser()

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
