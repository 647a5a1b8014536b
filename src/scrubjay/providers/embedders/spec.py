"""EmbedderSpec: everything it takes to open one embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """What the settings say about one embedding model; a value that is left empty is the provider's default.

    Attributes:
        provider: A key of ``open.PROVIDERS``, or ``auto``.
        name: The provider's name of the model.
        path: File or folder of a local model, in place of the bundled one.
        base_url: Address of a service, in place of the provider's own.
        api_key: Key for the service.
        keys: Keys by provider, which ``auto`` chooses from; nothing else reads them.
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
