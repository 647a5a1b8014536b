"""Voyage's embeddings: https://docs.voyageai.com/reference/embeddings-api.

``POST {base}/embeddings`` with ``model``, ``input``, ``input_type``, ``truncation`` and ``output_dimension``.
The answer has OpenAI's shape. ``truncation`` is off: too long a text is an error, never cut off unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.providers.embedders.openai_compatible import by_index
from scrubjay.providers.embedders.remote import RemoteEmbedder, RemoteModel, Wire
from scrubjay.providers.post import Endpoint

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Kind
    from scrubjay.providers.embedders.spec import EmbedderSpec

URL = "https://api.voyageai.com/v1"
NAME = "voyage-3.5"
DIMENSIONS = {
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-code-3": 1024,
}
WINDOW = 15_000
"""Tokens. The models read 32,000, but the strictest allow 120,000 in a request of eight texts."""
TYPES: dict[Kind, str] = {"passage": "document", "query": "query"}


def open_voyage(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks for vectors of 256, 512 or 2048.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = spec.name or NAME
    own = DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("voyage", name, dimensions, ask, spec.window or WINDOW)
    endpoint = Endpoint(spec.base_url or URL, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(Wire("/embeddings", _request, by_index), remote, endpoint, spec)


def _request(name: str, texts: Sequence[str], kind: Kind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": name,
        "input": list(texts),
        "input_type": TYPES[kind],
        "truncation": False,
    }
    return {**body, "output_dimension": dimensions} if dimensions else body
