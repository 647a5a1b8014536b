"""LanguageModel: the port that every language model answers to.

It knows nothing of memories: what may be sent, and what of an answer is believed, is decided by who asks.
"""

from __future__ import annotations

from typing import Protocol


class LanguageModel(Protocol):
    """Answers one request with text. It may be slow, wrong, away or hostile; callers count on that."""

    @property
    def name(self) -> str:
        """The service's name of the model."""
        ...

    @property
    def host(self) -> str:
        """Host and port that it is asked at."""
        ...

    def complete(self, system: str, user: str, *, deadline: float, max_bytes: int) -> str:
        """Return the model's answer, whatever it is.

        Args:
            system: What it is to do.
            user: What it is to do it with.
            deadline: Seconds for the whole call, tries included.
            max_bytes: Bytes of the service's answer, beyond which reading ends.

        Raises:
            ProviderError: It was not reached, refused, took too long, said too much, or did not answer as
                documented.
        """
        ...
