"""HTTP embeddings: OpenAI, compatible services, Gemini and Voyage.

A new service is one entry of `SERVICES` and its name in both `EMBEDDING_PROVIDERS`: of `embeddings/base.py` (those that
can be opened) and of `config/settings.py` (those that settings may name).

OpenAI and Ollama: https://platform.openai.com/docs/api-reference/embeddings/create,
https://docs.ollama.com/api/openai-compatibility. Voyage answers in OpenAI's format. Gemini's vectors shorter than 3072
do not come with length 1; they are scaled here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import numpy as np

from scrubjay.embeddings.base import (
    read_cache,
    replace_surrogates,
    rows_by_text,
    split_text,
    unit_rows,
    write_cache,
)
from scrubjay.errors import ConfigError, ModelMismatchError, ProviderError
from scrubjay.frozen import frozen
from scrubjay.llm.http import Endpoint, post_json
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import EmbedderSpec, TextKind


PROBE_TEXT = "dimensions"
"""Sent once to a model of unknown size, to learn the length of its vectors."""
DIMENSIONS_FILE = "dimensions.json"
"""File in the cache folder with these lengths."""
MAX_ELEMENT = 1e18
"""An element beyond it, or a vector within its inverse, is broken: its square leaves float32."""


@frozen
class Service:
    """An embedding service: where it is, which models it has, and its wire format.

    Attributes:
        model: Default model; empty where the settings must name one.
        dimensions: Length of each known model's vectors.
        window: Maximum number of tokens of a text.
        path: Appended to the URL; ``{model}`` stands for the model's name.
        request: (model name, texts, kind, dimensions or 0) -> JSON body.
        vectors: Parsed JSON answer -> the vectors in the order of the texts. May raise KeyError, TypeError,
            ValueError or IndexError where the answer has another shape.
        shortens: Whether it makes shorter vectors on request.
        header: Header that carries the key, and what precedes the key there.
    """

    url: str
    model: str
    dimensions: Mapping[str, int]
    window: int
    path: str
    request: Callable[[str, Sequence[str], TextKind, int], dict[str, Any]]
    vectors: Callable[[Any], list[list[float]]]
    shortens: bool = True
    header: tuple[str, str] = ("Authorization", "Bearer ")


class RemoteEmbedder:
    """A model behind HTTP; nothing is sent before the first text."""

    def __init__(self, service: Service, spec: EmbedderSpec) -> None:
        self._service = service
        self._provider = spec.provider
        self._name = (spec.name or service.model).removeprefix("models/" if spec.provider == "gemini" else "")
        if not self._name:
            raise ConfigError(f"An {spec.provider} provider needs the name of a model, such as bge-m3.")
        url, (header, prefix) = spec.base_url or service.url, service.header
        self._endpoint = Endpoint(url, spec.api_key, header, prefix, spec.timeout, spec.backoff)
        self._window = spec.window or service.window
        known = service.dimensions.get(self._name, 0)
        self._requested_dimensions = spec.dimensions if service.shortens and spec.dimensions != known else 0
        self._announce = spec.announce
        self._batch = spec.batch
        self._concurrency = spec.concurrency
        self._cache = None if spec.cache_dir is None else spec.cache_dir / DIMENSIONS_FILE
        self._cache_key = f"{self._endpoint.host} {self._name}"
        cached = read_cache(self._cache).get(self._cache_key) if self._cache is not None else 0
        self._dimensions = (
            spec.dimensions or known or (cached if isinstance(cached, int) and cached > 0 else 0)
        )
        self._announce_lock = threading.Lock()

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self._provider} {self._name} at {self._endpoint.host})"

    @property
    def model(self) -> EmbeddingModel:
        if not self._dimensions:
            self._announce_first([PROBE_TEXT])
            self._dimensions = len(self._request([PROBE_TEXT], "passage", 0)[0])
            if self._cache is not None:
                cached = {**read_cache(self._cache), self._cache_key: self._dimensions}
                write_cache(self._cache, json.dumps(cached).encode())
        host = self._endpoint.host
        return EmbeddingModel(self._provider, self._name, host, self._dimensions, "provider", self._window)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        pieces = [
            split_text(replace_surrogates(text), self._window) if text.strip() else [] for text in texts
        ]
        # White space at a cut can make a piece blank, which services refuse and which says nothing.
        pieces = [[piece for piece in windows if piece.strip()] for windows in pieces]
        flat = [piece for windows in pieces for piece in windows]
        if flat:
            self._announce_first(flat)
        dimensions = self.model.dimensions
        batches = [flat[i : i + self._batch] for i in range(0, len(flat), self._batch)]
        rows = unit_rows(np.array(self._run(batches, kind), dtype=np.float64).reshape(-1, dimensions))
        return rows_by_text(rows, [len(windows) for windows in pieces])

    def _run(self, batches: list[list[str]], kind: TextKind) -> list[list[float]]:
        count = sum(map(len, batches))
        if len(batches) <= 1:
            return [row for batch in batches for row in self._request(batch, kind, count)]
        with ThreadPoolExecutor(min(self._concurrency, len(batches)), "scrubjay-embed") as pool:
            futures = [pool.submit(self._request, batch, kind, count) for batch in batches]
            try:
                return [row for future in futures for row in future.result()]
            except ProviderError:
                pool.shutdown(cancel_futures=True)
                raise

    def _request(self, batch: list[str], kind: TextKind, count: int) -> list[list[float]]:
        """Embed one batch; ``count`` is the number of texts an error reports as not embedded, 0 for the probe."""
        body = self._service.request(self._name, batch, kind, self._requested_dimensions)
        lost = f"None of the {count} texts of this call was embedded." if count else "No text was embedded."
        path = self._service.path.format(model=quote(self._name, safe=""))
        answer = post_json(self._endpoint, path, body, lost)
        try:
            vectors = [list(map(float, vector)) for vector in self._service.vectors(answer)]
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as exc:
            host, cause = self._endpoint.host, type(exc).__name__
            raise ProviderError(f"{host} answered with no list of vectors ({cause}). {lost}") from exc
        self._check(vectors, len(batch), lost)
        return vectors

    def _check(self, vectors: list[list[float]], expected: int, lost: str) -> None:
        source = f"{self._endpoint.host} with {self._name}"
        if len(vectors) != expected:
            raise ProviderError(f"{source} answered {expected} texts with {len(vectors)} vectors. {lost}")
        dimensions = self._dimensions or len(vectors[0])
        for vector in vectors:
            if len(vector) != dimensions:
                raise ModelMismatchError(
                    f"{source} made a vector of {len(vector)} dimensions; {dimensions} were expected. {lost}",
                    hint="set the model's `dimensions` to what it makes, or name the model that was meant",
                )
            sizes = [abs(element) for element in vector]
            if not all(size < MAX_ELEMENT for size in sizes):
                raise ProviderError(f"{source} made a vector with NaN or infinity in it. {lost}")
            if not any(size > 1 / MAX_ELEMENT for size in sizes):
                raise ProviderError(f"{source} made a vector of zeros. {lost}")

    def _announce_first(self, texts: list[str]) -> None:
        with self._announce_lock:
            announce, self._announce = self._announce, None
        if announce is not None:
            amount = "1 text" if len(texts) == 1 else f"{len(texts):,} texts"
            announce(
                f"Sending {amount} ({sum(map(len, texts)):,} characters) to {self._endpoint.host} "
                f"to be embedded by {self._name}; later texts go there too."
            )


def _openai_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {"model": name, "input": list(texts), "encoding_format": "float"}
    return {**body, "dimensions": dimensions} if dimensions else body


def _vectors_by_index(answer: Any) -> list[list[float]]:
    data = sorted(answer["data"], key=lambda entry: int(entry["index"]))
    if [entry["index"] for entry in data] != list(range(len(data))):
        raise ValueError("indexes of the vectors are not 0, 1, 2, …")
    return [entry["embedding"] for entry in data]


def _gemini_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    task = "RETRIEVAL_DOCUMENT" if kind == "passage" else "RETRIEVAL_QUERY"
    shared: dict[str, Any] = {"model": f"models/{name}", "taskType": task}
    if dimensions:
        shared["outputDimensionality"] = dimensions
    return {"requests": [{**shared, "content": {"parts": [{"text": text}]}} for text in texts]}


def _gemini_vectors(answer: Any) -> list[list[float]]:
    return [entry["values"] for entry in answer["embeddings"]]


def _voyage_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": name,
        "input": list(texts),
        "input_type": "document" if kind == "passage" else "query",
        "truncation": False,  # too long a text is an error, never cut off unseen
    }
    return {**body, "output_dimension": dimensions} if dimensions else body


SERVICES: Final = {
    # Ollama unless the settings name another address. It cuts longer texts off silently, and 512 tokens are what the
    # smallest common local models read. Dimensions are learned by one request and remembered.
    "openai-compatible": Service(
        "http://localhost:11434/v1",
        "",
        {},
        512,
        "/embeddings",
        _openai_request,
        _vectors_by_index,
        shortens=False,
    ),
    # 8192 tokens are allowed, and 300,000 in one request.
    "openai": Service(
        "https://api.openai.com/v1",
        "text-embedding-3-small",
        {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
        8191,
        "/embeddings",
        _openai_request,
        _vectors_by_index,
    ),
    # The key goes into a header: in the query string it would end up in logs.
    "gemini": Service(
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        {"gemini-embedding-001": 3072},
        2048,
        "/models/{model}:batchEmbedContents",
        _gemini_request,
        _gemini_vectors,
        header=("x-goog-api-key", ""),
    ),
    # The models read 32,000 tokens, but the strictest allow 120,000 in a request of eight texts.
    "voyage": Service(
        "https://api.voyageai.com/v1",
        "voyage-3.5",
        {"voyage-3.5": 1024, "voyage-3.5-lite": 1024, "voyage-3-large": 1024, "voyage-code-3": 1024},
        15_000,
        "/embeddings",
        _voyage_request,
        _vectors_by_index,
    ),
}
