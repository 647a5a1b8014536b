"""Language models: the protocol, how one is opened, and any service with OpenAI's /chat/completions.

The wire: https://platform.openai.com/docs/api-reference/chat/create and, for Ollama,
https://docs.ollama.com/api/openai-compatibility. No temperature is sent: some models refuse any but their own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Protocol

from scrubjay.errors import ProviderError
from scrubjay.llm.http import CallLimits, Endpoint, check_encrypted, post_json


class LanguageModel(Protocol):
    """Answers one request with text. It may be slow, wrong, absent or hostile."""

    @property
    def name(self) -> str:
        """The service's name of the model."""
        ...

    @property
    def host(self) -> str:
        """Its host and port."""
        ...

    def complete(self, system: str, user: str, *, deadline: float, max_bytes: int) -> str:
        """Return the model's answer to a system and a user message, both within ``deadline`` seconds.

        Reading ends at ``max_bytes`` of the service's answer.

        Raises:
            ProviderError: It was not reached, refused, took too long, answered too much, or not as documented.
        """
        ...


@dataclass(frozen=True, slots=True)
class LlmSpec:
    """The settings of a language model.

    Attributes:
        base_url: Address of the service, without ``/chat/completions``.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        backoff: Seconds before a request is tried again.
    """

    base_url: str
    name: str
    api_key: str = field(default="", repr=False)
    backoff: float = 0.5


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


class OpenAiCompatibleModel:
    """A language model behind HTTP; nothing is sent before the first request."""

    def __init__(self, spec: LlmSpec) -> None:
        self._name = spec.name
        self._endpoint = Endpoint(spec.base_url, spec.api_key, backoff=spec.backoff)

    def __repr__(self) -> str:
        return f"OpenAiCompatible({self._name} at {self.host})"

    @property
    def name(self) -> str:
        return self._name

    @property
    def host(self) -> str:
        return self._endpoint.host

    def complete(self, system: str, user: str, *, deadline: float, max_bytes: int) -> str:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self._name, "messages": messages, "stream": False}
        answer = post_json(self._endpoint, CHAT_PATH, body, KEPT_RESULT, CallLimits(max_bytes, deadline))
        try:
            text = answer["choices"][0]["message"]["content"]
        except (LookupError, TypeError) as exc:
            cause = type(exc).__name__
            raise ProviderError(f"{self.host} answered with no message ({cause}). {KEPT_RESULT}") from exc
        if not isinstance(text, str):
            raise ProviderError(f"{self.host} answered with a message that is not text. {KEPT_RESULT}")
        return text


def open_llm(spec: LlmSpec) -> LanguageModel:
    """Open a language model; nothing is sent before its first use.

    Raises:
        ConfigError: The address or the key cannot be used, or memories would cross a network in the clear.
    """
    check_encrypted(spec.base_url, "[llm]", "model")
    return OpenAiCompatibleModel(spec)
