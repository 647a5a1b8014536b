"""Anthropic: messages, https://platform.claude.com/docs/en/api/messages, as clients of anthropic 2.12 send them.

Memories go in as a block of text of their own at the end of ``system``, after every block of the client's: what it
marked with ``cache_control`` there, and its tools, stay cached. What was cached of the messages is read anew when the
memories differ from the last request's, since the order is tools, system, messages (docs/proxy.md says what it costs).
"""

from __future__ import annotations

import json
from typing import Any, Final

from scrubjay.surfaces.proxy.wire import Asked, Hearing

KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    504: "timeout_error",
}


class Message(Hearing):
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


class Anthropic:
    """Anthropic's interface, whose base URL ends before ``/v1``."""

    name = "anthropic"
    prefix = "/anthropic/v1/"
    base = "/anthropic"
    talk = "messages"

    def injected(self, asked: Asked, memories: str, role: str) -> str | None:
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

    def hearing(self) -> Message:
        """Return what listens to an answer."""
        return Message()

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key: clients of 2026 show theirs as a bearer's, older ones do not."""
        return ("authorization", f"Bearer {key}") if shown == "authorization" else ("x-api-key", key)

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in Anthropic's form."""
        usual = KINDS[400] if status < 500 else "api_error"
        return {"type": "error", "error": {"type": KINDS.get(status, usual), "message": message}}
