"""LlmSpec: everything it takes to open one language model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LlmSpec:
    """What the settings say about a language model.

    Attributes:
        base_url: Address of the service, up to what comes before ``/chat/completions``.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        backoff: Seconds before a request is tried again.
    """

    base_url: str
    name: str
    api_key: str = field(default="", repr=False)
    backoff: float = 0.5
