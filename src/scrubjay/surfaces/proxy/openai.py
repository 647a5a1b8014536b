"""OpenAI: chat completions, https://platform.openai.com/docs/api-reference/chat, as clients of openai 3.54 send them.

Memories go in as a message of their own directly before the person's last one. A system or developer message may
stand at any place; with o1 models and newer a developer message replaces the system message, and the service takes
either for the other. Some open models' templates take neither but at the beginning: for them there is ``[proxy] role``.
"""

from __future__ import annotations

import json
from typing import Any

from scrubjay.surfaces.proxy.wire import Asked, Hearing


class Chat(Hearing):
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


class OpenAI:
    """OpenAI's interface, whose base URL ends in ``/v1``."""

    name = "openai"
    prefix = "/openai/v1/"
    base = "/openai/v1"
    talk = "chat/completions"

    def injected(self, asked: Asked, memories: str, role: str) -> str | None:
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

    def hearing(self) -> Chat:
        """Return what listens to an answer."""
        return Chat()

    def key(self, key: str, shown: str) -> tuple[str, str]:
        """Return the header that shows a key."""
        return "authorization", f"Bearer {key}"

    def error(self, status: int, message: str) -> dict[str, Any]:
        """Return an error of ours in OpenAI's form."""
        kind = "invalid_request_error" if status < 500 else "api_error"
        return {"error": {"message": message, "type": kind, "param": None, "code": "scrubjay_proxy"}}
