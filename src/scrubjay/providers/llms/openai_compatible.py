"""Any service with OpenAI's ``/chat/completions``: Ollama (``http://localhost:11434/v1``), vLLM, OpenAI, many more.

The wire: https://platform.openai.com/docs/api-reference/chat/create and, for Ollama,
https://docs.ollama.com/api/openai-compatibility. ``POST {base}/chat/completions`` with ``model`` and ``messages``; the
answer's ``choices[0].message.content`` is the text. No temperature is sent: some models refuse any but their own,
and nothing is believed that was not checked.
"""

from __future__ import annotations

from typing import Any

from scrubjay.errors import ProviderError
from scrubjay.providers.llms.spec import LlmSpec
from scrubjay.providers.post import Bounds, Endpoint, post

PATH = "/chat/completions"
LOST = "What was found without it stands."
"""The state after a failure, as errors say it."""


class OpenAiCompatible:
    """A language model behind HTTP, as a ``LanguageModel``."""

    def __init__(self, spec: LlmSpec) -> None:
        """Set up; nothing is sent before the first request.

        Raises:
            ConfigError: The URL or the key cannot be used.
        """
        self._name = spec.name
        self._endpoint = Endpoint(spec.base_url, spec.api_key, backoff=spec.backoff)

    def __repr__(self) -> str:
        return f"OpenAiCompatible({self._name} at {self.host})"

    @property
    def name(self) -> str:
        """The service's name of the model."""
        return self._name

    @property
    def host(self) -> str:
        """Host and port."""
        return self._endpoint.host

    def complete(self, system: str, user: str, *, deadline: float, max_bytes: int) -> str:
        """Return the model's answer; see the port.

        Raises:
            ProviderError: As the port says.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self._name, "messages": messages, "stream": False}
        bounds = Bounds(max_bytes, deadline)
        return _text(post(self._endpoint, PATH, body, LOST, bounds), self.host)


def _text(answer: Any, host: str) -> str:
    try:
        text = answer["choices"][0]["message"]["content"]
    except (LookupError, TypeError) as exc:
        cause = type(exc).__name__
        raise ProviderError(f"{host} answered with no message ({cause}). {LOST}") from exc
    if not isinstance(text, str):
        raise ProviderError(f"{host} answered with a message that is no text. {LOST}")
    return text
