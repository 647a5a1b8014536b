"""OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings/create."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.providers.embedders.openai_compatible import WIRE
from scrubjay.providers.embedders.remote import RemoteEmbedder, RemoteModel
from scrubjay.providers.post import Endpoint

if TYPE_CHECKING:
    from scrubjay.providers.embedders.spec import EmbedderSpec

URL = "https://api.openai.com/v1"
NAME = "text-embedding-3-small"
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
WINDOW = 8191
"""Tokens; 8192 are allowed, and 300,000 in one request."""


def open_openai(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks a text-embedding-3 model for shorter vectors.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = spec.name or NAME
    own = DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("openai", name, dimensions, ask, spec.window or WINDOW)
    endpoint = Endpoint(spec.base_url or URL, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(WIRE, remote, endpoint, spec)
