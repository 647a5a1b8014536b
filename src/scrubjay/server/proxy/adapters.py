"""Provider adapters: the formats of OpenAI's and Anthropic's requests, streams and errors.

Memories go in as a message of their own directly before the person's last one. A system or developer message may
stand at any place; with o1 models and newer a developer message replaces the system message, and the service takes
either for the other. Some open models' templates take neither but at the beginning: for them there is ``[proxy] role``.

Memories go in as a block of text of their own at the end of ``system``, after every block of the client's: what it
marked with ``cache_control`` there, and its tools, stay cached. What was cached of the messages is read anew when the
memories differ from the last request's, since the order is tools, system, messages (docs/proxy.md says what it costs).

It never changes, delays or refuses a byte: what cannot be understood is not heard, and that is all.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Protocol

from scrubjay.server.proxy.request import Conversation, LocatedValue


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A request for an answer, as its client wrote it.

    Attributes:
        text: Its body.
        members: The members of its body, each once.
        conversation: What is said in it.
    """

    text: str
    members: dict[str, LocatedValue]
    conversation: Conversation


class ResponseParser(ABC):
    """Listens to an answer.

    Attributes:
        begun: Whether there was anything that this interface knows.
        ended: Whether the model is known to have said all.
        failed: Whether the upstream said that it failed.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.begun = self.ended = self.failed = False

    @property
    def text(self) -> str:
        """What the model said so far."""
        return "".join(self._parts)

    @abstractmethod
    def event(self, data: Any) -> None:
        """Hear one event of a stream."""

    @abstractmethod
    def whole(self, data: Any) -> None:
        """Hear an answer that is no stream."""


class ProviderAdapter(Protocol):
    """One interface.

    Attributes:
        name: ``openai`` or ``anthropic``, as in the settings.
        prefix: What paths begin with here that belong to it.
        base: What of that does not stand in the upstream's URL.
        talk: The path, after the prefix, of requests that memories are put into.
    """

    name: str
    prefix: str
    base: str
    talk: str

    def injected(self, asked: CompletionRequest, memories: str, role: str) -> str | None:
        """Return the body with memories in it; None where there is no place for them."""

    def parser(self) -> ResponseParser:
        """Return what listens to an answer."""

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key, where the client showed a token of ours in this one, if in any."""

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in the upstream's form."""


class OpenAIResponseParser(ResponseParser):
    """Listens to a chat completion; of several choices to the first."""

    def event(self, data: Any) -> None:
        """Hear one chunk; None is the end of the stream, ``[DONE]``."""
        if data is None:
            self.ended = True
            return
        self._heard(data, "delta")

    def whole(self, data: Any) -> None:
        """Hear a whole answer."""
        self._heard(data, "message")
        self.ended = self.begun

    def _heard(self, data: Any, name: str) -> None:
        if not isinstance(data, dict):
            return
        self.failed = self.failed or bool(data.get("error"))
        choices = data.get("choices")
        if not isinstance(choices, list):
            return
        self.begun = True
        for choice in choices:
            said = choice.get(name) if isinstance(choice, dict) and not choice.get("index") else None
            content = said.get("content") if isinstance(said, dict) else None
            if isinstance(content, str):
                self._parts.append(content)


class OpenAIAdapter:
    """OpenAI's interface, whose base URL ends in ``/v1``."""

    name = "openai"
    prefix = "/openai/v1/"
    base = "/openai/v1"
    talk = "chat/completions"

    def injected(self, asked: CompletionRequest, memories: str, role: str) -> str | None:
        """Return the body with a message before the person's last one."""
        place = asked.conversation.place
        if place is None:
            return None
        if role == "auto":
            roles = {
                one.value.get("role")
                for one in asked.members["messages"].items
                if isinstance(one.value, dict)
            }
            role = "developer" if "developer" in roles else "system"
        message = json.dumps({"role": role, "content": memories}, ensure_ascii=False)
        return f"{asked.text[:place]}{message},{asked.text[place:]}"

    def parser(self) -> OpenAIResponseParser:
        """Return what listens to an answer."""
        return OpenAIResponseParser()

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key."""
        return "authorization", f"Bearer {key}"

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in OpenAI's form."""
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
    """Listens to a message."""

    def event(self, data: Any) -> None:
        """Hear one event of a stream."""
        kind = data.get("type") if isinstance(data, dict) else None
        if kind == "error":
            self.failed = True
        elif kind == "message_start":
            self.begun = True
        elif kind == "message_stop":
            self.ended = True
        elif kind == "content_block_start":
            self._block(data.get("content_block"))
        elif kind == "content_block_delta":
            delta = data.get("delta")
            if (
                isinstance(delta, dict)
                and delta.get("type") == "text_delta"
                and isinstance(delta.get("text"), str)
            ):
                self._parts.append(delta["text"])

    def whole(self, data: Any) -> None:
        """Hear a whole answer."""
        if isinstance(data, dict) and isinstance(data.get("content"), list):
            self.begun = self.ended = True
            for block in data["content"]:
                self._block(block)

    def _block(self, block: Any) -> None:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            self._parts.append(("\n" if self._parts else "") + block["text"])


class AnthropicAdapter:
    """Anthropic's interface, whose base URL ends before ``/v1``."""

    name = "anthropic"
    prefix = "/anthropic/v1/"
    base = "/anthropic"
    talk = "messages"

    def injected(self, asked: CompletionRequest, memories: str, role: str) -> str | None:
        """Return the body with one more block of ``system``, its last; the role is always that of system."""
        text, system = asked.text, asked.members.get("system")
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
        """Return what listens to an answer."""
        return AnthropicResponseParser()

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key: clients of 2026 show theirs as a bearer's, older ones do not."""
        return ("authorization", f"Bearer {key}") if shown == "authorization" else ("x-api-key", key)

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in Anthropic's form."""
        usual = ERROR_TYPES[400] if status < 500 else "api_error"
        return {"type": "error", "error": {"type": ERROR_TYPES.get(status, usual), "message": message}}


MAX_LINE_BYTES: Final = 8 * 1024 * 1024
"""Bytes of one line of a stream; a longer one is no event of these interfaces."""
MAX_RESPONSE_BYTES: Final = 32 * 1024 * 1024
"""Bytes of an answer that is no stream and still heard."""


class ResponseReader:
    """Hears one answer.

    Args:
        hearing: What understands its events.
        streamed: Whether it is a stream of events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    """

    def __init__(self, parser: ResponseParser, *, streamed: bool) -> None:
        self.parser = parser
        self._streamed = streamed
        self._held = bytearray()
        self._data: list[bytes] = []
        self._deaf = False

    def feed(self, piece: bytes) -> None:
        """Hear one piece, wherever it was cut."""
        if self._deaf:
            return
        self._held += piece
        if self._streamed and b"\n" in piece:
            self._lines()
        if len(self._held) > (MAX_LINE_BYTES if self._streamed else MAX_RESPONSE_BYTES):
            self._deaf = True
            self._held.clear()

    def end(self) -> None:
        """Hear what is left once there is no more."""
        if self._streamed:
            self.feed(b"\n\n")
        elif not self._deaf:
            self._said(bytes(self._held), whole=True)

    def _lines(self) -> None:
        *lines, rest = self._held.replace(b"\r\n", b"\n").split(b"\n")
        if not lines:
            return
        self._held = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:].removeprefix(b" ")))
            elif not line.strip(b"\r") and self._data:
                self._said(b"\n".join(self._data), whole=False)
                self._data = []

    def _said(self, data: bytes, *, whole: bool) -> None:
        if data.strip() == b"[DONE]":
            self.parser.event(None)
            return
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            return
        (self.parser.whole if whole else self.parser.event)(found)
