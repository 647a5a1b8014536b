"""RerankerSpec: everything it takes to open one reranker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrubjay.providers.rerankers.features import Tokens


def _unheard(_: str) -> None:
    """Nobody is told where passages go."""


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """What the settings say about a reranker.

    Attributes:
        kind: A key of ``open.KINDS``.
        scrub: Takes secrets out of a text before it is sent.
        tokens: The static model's tokens, for ``features``; None where there is no such model.
        model_path: ONNX file of a cross-encoder.
        tokenizer_path: Its ``tokenizer.json``; None looks for it beside the file and in the folder above.
        sha256: What the file's checksum must be, in hex; empty for any.
        cache_dir: Folder for checksums.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``.
        base_url: Address of a service.
        name: The service's name of the model.
        api_key: Key for the service, or an empty string for none.
        announce: Called with one sentence before anything first leaves for a service.
        backoff: Seconds before a request is tried again.
    """

    kind: str
    scrub: Callable[[str], str] = field(repr=False, compare=False)
    tokens: Tokens | None = field(default=None, repr=False, compare=False)
    model_path: Path | None = None
    tokenizer_path: Path | None = None
    sha256: str = ""
    cache_dir: Path | None = None
    runtime: str = "auto"
    base_url: str = ""
    name: str = ""
    api_key: str = field(default="", repr=False)
    announce: Callable[[str], None] = field(default=_unheard, repr=False, compare=False)
    backoff: float = 0.1
