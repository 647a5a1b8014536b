"""Gemini's embeddings: https://ai.google.dev/api/embeddings, method ``models.batchEmbedContents``.

``POST {base}/models/{model}:batchEmbedContents`` with ``requests``, each with its own ``model``, ``content``,
``taskType`` and ``outputDimensionality``; the answer's ``embeddings`` hold ``values`` in the order of the
requests. Vectors shorter than 3072 do not come with length 1; they are given it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from scrubjay.providers.embedders.remote import RemoteEmbedder, RemoteModel, Wire
from scrubjay.providers.post import Endpoint

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Kind
    from scrubjay.providers.embedders.spec import EmbedderSpec

URL = "https://generativelanguage.googleapis.com/v1beta"
NAME = "gemini-embedding-001"
DIMENSIONS = {NAME: 3072}
WINDOW = 2048
TASKS: dict[Kind, str] = {"passage": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


def open_gemini(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks for shorter vectors.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = (spec.name or NAME).removeprefix("models/")
    own = DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("gemini", name, dimensions, ask, spec.window or WINDOW)
    wire = Wire(f"/models/{quote(name, safe='')}:batchEmbedContents", _request, _vectors)
    url = spec.base_url or URL
    # In a header: a key in the query string would end up in logs.
    endpoint = Endpoint(url, spec.api_key, "x-goog-api-key", "", spec.timeout, spec.backoff)
    return RemoteEmbedder(wire, remote, endpoint, spec)


def _request(name: str, texts: Sequence[str], kind: Kind, dimensions: int) -> dict[str, Any]:
    shared: dict[str, Any] = {"model": f"models/{name}", "taskType": TASKS[kind]}
    if dimensions:
        shared["outputDimensionality"] = dimensions
    return {"requests": [{**shared, "content": {"parts": [{"text": text}]}} for text in texts]}


def _vectors(answer: Any) -> list[list[float]]:
    return [entry["values"] for entry in answer["embeddings"]]
