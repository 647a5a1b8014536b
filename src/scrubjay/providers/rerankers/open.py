"""Open: RerankerSpec -> Reranker, importing what it needs when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scrubjay.errors import ConfigError
from scrubjay.providers.rerankers.port import Reranker
from scrubjay.providers.rerankers.spec import RerankerSpec


def open_reranker(spec: RerankerSpec) -> Reranker:
    """Open the reranker that a spec describes; no model is loaded and nothing is sent before its first question.

    Raises:
        ConfigError: There is no such kind, what it needs is not named, or passages would cross a network in the clear.
    """
    if spec.kind not in KINDS:
        raise ConfigError(f"Reranker {spec.kind!r} is not one of {', '.join(KINDS)}.")
    return KINDS[spec.kind](spec)


def _features(spec: RerankerSpec) -> Reranker:
    from scrubjay.providers.rerankers.features import FeaturesReranker

    return FeaturesReranker(spec.tokens)


def _http(spec: RerankerSpec) -> Reranker:
    from scrubjay.providers.rerankers.http import HttpReranker

    return HttpReranker(spec)


def _cross_encoder(spec: RerankerSpec) -> Reranker:
    from scrubjay.providers.rerankers.cross_encoder import CrossEncoder

    return CrossEncoder(spec)


def _chat(spec: RerankerSpec) -> Reranker:
    from scrubjay.providers.rerankers.chat import ChatReranker

    return ChatReranker(spec)


KINDS: Final[dict[str, Callable[[RerankerSpec], Reranker]]] = {
    "features": _features,
    "cross-encoder": _cross_encoder,
    "http": _http,
    "chat": _chat,
}
