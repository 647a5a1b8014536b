"""Sending: a question and passages -> the same without secrets, and told of before they first leave this machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from scrubjay.errors import ConfigError
from scrubjay.providers.rerankers.spec import RerankerSpec


class Sending:
    """What every reranker that sends anything away does first."""

    def __init__(self, spec: RerankerSpec, host: str) -> None:
        """Args: of the spec ``scrub``, ``announce`` and ``name`` are read; where things are sent to."""
        self._scrub = spec.scrub
        self._announce: Callable[[str], None] | None = spec.announce
        self._name = spec.name
        self._host = host
        self._first = threading.Lock()

    def ready(self, question: str, passages: Sequence[str], longest: int) -> tuple[str, list[str]]:
        """Return the question and the passages as they may be sent.

        What is stored is scrubbed already; what is asked is not, and a store can be older than a secret's shape.

        Args:
            question: What is asked.
            passages: Texts.
            longest: Characters of a passage that are sent, from its beginning; scrubbed before it is cut, so that no
                half of a secret is left.
        """
        asked = self._scrub(question)
        # A reranker's documents must not be empty.
        texts = [self._scrub(text)[:longest].strip() or "-" for text in passages]
        with self._first:
            announce, self._announce = self._announce, None
        if announce is not None:
            count = sum(map(len, texts)) + len(asked)
            announce(
                f"Sending a question and {len(texts)} passages ({count:,} characters) to {self._host} "
                f"to be reranked by {self._name}; later ones go there too."
            )
        return asked, texts


def trusted_url(url: str) -> str:
    """Return an address that memories may be sent to.

    Raises:
        ConfigError: They would cross a network in the clear.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())
    if parts.scheme == "http" and not local:
        raise ConfigError(
            f"[rerank] base_url has http and the host {host}, which is not this machine: memories would cross the "
            "network in the clear. Nothing was sent.",
            hint="use https, or a service on this machine",
        )
    return url
