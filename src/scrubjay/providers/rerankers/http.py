"""Any service with ``/rerank`` in the form that Cohere made common: Jina, Voyage, llama.cpp, vLLM, Infinity.

The wire: ``POST {base}/rerank`` with ``model``, ``query`` and ``documents`` (a list of strings); the answer's
``results``, at Voyage ``data``, hold ``index`` and ``relevance_score``, best first
(https://docs.cohere.com/reference/rerank, https://docs.voyageai.com/reference/reranker-api). How many are wanted is not
said: all of them are the default everywhere, and the services call it ``top_n`` or ``top_k``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scrubjay.errors import ConfigError, ProviderError
from scrubjay.providers.post import Bounds, Endpoint, post
from scrubjay.providers.rerankers.port import Question
from scrubjay.providers.rerankers.sending import Sending, trusted_url
from scrubjay.providers.rerankers.spec import RerankerSpec

PATH = "/rerank"
LOST = "The fused order stands."
LARGEST = 1 << 22
"""Bytes of an answer: two hundred passages sent back with it, which some services do unasked."""
LONGEST = 8_000
"""Characters of a passage that are sent: about 2,000 tokens; the smallest common rerankers read 512, and cut."""


class HttpReranker:
    """A model behind ``/rerank``, as a ``Reranker``."""

    def __init__(self, spec: RerankerSpec) -> None:
        """Set up; nothing is sent before the first question.

        Raises:
            ConfigError: No address or model is named, or the URL or the key cannot be used.
        """
        if not spec.base_url or not spec.name:
            missing = "model" if spec.base_url else "base_url"
            raise ConfigError(f"[rerank] kind http names no {missing}.", hint=f'{missing} = "..."')
        self._name = spec.name
        self._endpoint = Endpoint(trusted_url(spec.base_url), spec.api_key, backoff=spec.backoff)
        self._sending = Sending(spec, self._endpoint.host)

    def __repr__(self) -> str:
        return f"HttpReranker({self._name} at {self.host})"

    @property
    def name(self) -> str:
        """The service's name of the model."""
        return self._name

    @property
    def host(self) -> str:
        """Host and port."""
        return self._endpoint.host

    def scores(self, question: Question, passages: Sequence[str], *, deadline: float) -> list[float | None]:
        """Score passages; see the port.

        Raises:
            ProviderError: As the port says.
        """
        query, documents = self._sending.ready(question.text, passages, LONGEST)
        body = {"model": self._name, "query": query, "documents": documents}
        answer = post(self._endpoint, PATH, body, LOST, Bounds(LARGEST, deadline))
        try:
            return list(_scores(answer, len(documents)))
        except (LookupError, TypeError, ValueError, OverflowError) as exc:
            raise ProviderError(
                f"{self.host} did not answer with one score a passage ({exc}). {LOST}"
            ) from exc


def _scores(answer: Any, expected: int) -> list[float]:
    """The scores in the order of the passages.

    Raises:
        ValueError: An index comes twice, is none, or is missing; or a score is no finite number.
        LookupError: The answer holds no results, or a result no index or score.
        TypeError: The same, where it is of another kind.
    """
    results = answer["results"] if "results" in answer else answer["data"]
    found: dict[int, float] = {}
    for result in results:
        place, score = result["index"], result["relevance_score"]
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < expected:
            raise ValueError(f"an index that is none of 0 to {expected - 1}")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise ValueError("a score that is no finite number")
        if place in found:
            raise ValueError(f"index {place} twice")
        found[place] = float(score)
    if len(found) != expected:
        raise ValueError(f"{len(found)} scores for {expected} passages")
    return [found[place] for place in range(expected)]
