"""Language models behind any service with OpenAI's /chat/completions.

The wire: https://platform.openai.com/docs/api-reference/chat/create and, for Ollama,
https://docs.ollama.com/api/openai-compatibility. No temperature is sent: some models refuse any but their own.
"""

from __future__ import annotations

import json

from scrubjay.errors import ProviderError
from scrubjay.llm.http import BACKOFF, CallLimits, Endpoint, check_encrypted, post_json


def parse_json(answer: str) -> object:
    """Return a model's JSON, which may be in a Markdown fence.

    Raises:
        ValueError: It is not JSON.
    """
    text = answer.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    try:
        return json.loads(text)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc


CHAT_PATH = "/chat/completions"
KEPT_RESULT = "What was found without it stands."


class LanguageModel:
    """A language model behind HTTP; it may be slow, wrong, absent or hostile. Nothing is sent before the first request.

    Args:
        base_url: Address of the service, without ``/chat/completions``.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        backoff: Seconds before a request is tried again.

    Raises:
        ConfigError: The address or the key cannot be used, or memories would cross a network in the clear.
    """

    def __init__(self, base_url: str, name: str, api_key: str = "", *, backoff: float = BACKOFF) -> None:
        check_encrypted(base_url, "[llm]", "model")
        self.name = name
        self._endpoint = Endpoint(base_url, api_key, backoff=backoff)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name} at {self.host})"

    @property
    def host(self) -> str:
        """Its host and port."""
        return self._endpoint.host

    def complete(self, system: str, user: str, *, deadline: float, max_bytes: int) -> str:
        """Return the model's answer to a system and a user message, both within ``deadline`` seconds.

        Reading ends at ``max_bytes`` of the service's answer.

        Raises:
            ProviderError: It was not reached, refused, took too long, answered too much, or not as documented.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self.name, "messages": messages, "stream": False}
        answer = post_json(self._endpoint, CHAT_PATH, body, KEPT_RESULT, CallLimits(max_bytes, deadline))
        try:
            text = answer["choices"][0]["message"]["content"]
        except (LookupError, TypeError) as exc:
            cause = type(exc).__name__
            raise ProviderError(f"{self.host} answered with no message ({cause}). {KEPT_RESULT}") from exc
        if not isinstance(text, str):
            raise ProviderError(f"{self.host} answered with a message that is not text. {KEPT_RESULT}")
        return text
