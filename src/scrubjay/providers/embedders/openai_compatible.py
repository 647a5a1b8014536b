"""Any service with OpenAI's ``/embeddings``: Ollama (``http://localhost:11434/v1``), vLLM and many more.

The wire: https://platform.openai.com/docs/api-reference/embeddings/create and, for Ollama,
https://docs.ollama.com/api/openai-compatibility. ``POST {base}/embeddings`` with ``model``, ``input`` (a list
of strings) and ``encoding_format``; the answer's ``data`` holds ``index`` and ``embedding``. It does not tell
questions from passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.errors import ConfigError
from scrubjay.providers.embedders.remote import RemoteEmbedder, RemoteModel, Wire
from scrubjay.providers.post import Endpoint

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Kind
    from scrubjay.providers.embedders.spec import EmbedderSpec

OLLAMA = "http://localhost:11434/v1"
WINDOW = 512
"""Tokens: what the smallest common local models read. Ollama cuts longer texts off without a word, so a
larger window is for those who know their model's."""


def open_openai_compatible(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; without dimensions they are learned by one request and remembered.

    Raises:
        ConfigError: No model is named, or the URL or key cannot be used.
    """
    if not spec.name:
        raise ConfigError("An openai-compatible provider needs the name of a model, such as bge-m3.")
    remote = RemoteModel("openai-compatible", spec.name, spec.dimensions, False, spec.window or WINDOW)
    url = spec.base_url or OLLAMA
    endpoint = Endpoint(url, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(WIRE, remote, endpoint, spec)


def _request(name: str, texts: Sequence[str], kind: Kind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {"model": name, "input": list(texts), "encoding_format": "float"}
    return {**body, "dimensions": dimensions} if dimensions else body


def by_index(answer: Any) -> list[list[float]]:
    """Vectors of OpenAI's (and Voyage's) answer, in the order of the texts.

    Raises:
        ValueError: The indexes are not 0, 1, 2, …
    """
    data = sorted(answer["data"], key=lambda entry: int(entry["index"]))
    if [entry["index"] for entry in data] != list(range(len(data))):
        raise ValueError("indexes of the vectors are not 0, 1, 2, …")
    return [entry["embedding"] for entry in data]


WIRE = Wire("/embeddings", _request, by_index)
