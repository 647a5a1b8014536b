"""HTTP embeddings: OpenAI, compatible services, Gemini and Voyage.

What all services share: windows, batches, a few requests at a time, tries, checks of every vector. A call
gives all of its vectors or none, so callers send it what they can afford to lose (a few hundred texts).

The wire: https://platform.openai.com/docs/api-reference/embeddings/create and, for Ollama,
https://docs.ollama.com/api/openai-compatibility. ``POST {base}/embeddings`` with ``model``, ``input`` (a list
of strings) and ``encoding_format``; the answer's ``data`` holds ``index`` and ``embedding``. It does not tell
questions from passages.

``POST {base}/models/{model}:batchEmbedContents`` with ``requests``, each with its own ``model``, ``content``,
``taskType`` and ``outputDimensionality``; the answer's ``embeddings`` hold ``values`` in the order of the
requests. Vectors shorter than 3072 do not come with length 1; they are given it here.

``POST {base}/embeddings`` with ``model``, ``input``, ``input_type``, ``truncation`` and ``output_dimension``.
The answer has OpenAI's shape. ``truncation`` is off: too long a text is an error, never cut off unseen.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from scrubjay.embeddings.base import replace_surrogates, split_text, unit_rows
from scrubjay.embeddings.model_files import write_cache
from scrubjay.errors import ConfigError, ModelMismatchError, ProviderError
from scrubjay.llm.http import Endpoint, post_json
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TextKind
    from scrubjay.embeddings.registry import EmbedderSpec


PROBE = "dimensions"
"""Sent once to a model of unknown size, to learn the length of its vectors."""
DIMENSIONS_FILE = "dimensions.json"
"""File in the cache folder with what was learned so, lest every start ask again."""
LARGEST_NUMBER = 1e18
"""An element beyond it, or a vector within its inverse, is broken: its square leaves float32."""


@dataclass(frozen=True, slots=True)
class ServiceFormat:
    """How one service is spoken to.

    Attributes:
        path: Appended to the endpoint's URL.
        request: (model name, texts, kind, dimensions or 0) -> JSON body.
        vectors: Parsed JSON answer -> the vectors in the order of the texts. May raise KeyError, TypeError,
            ValueError or IndexError where the answer has another shape.
    """

    path: str
    request: Callable[[str, Sequence[str], TextKind, int], dict[str, Any]]
    vectors: Callable[[Any], list[list[float]]]


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model of a service.

    Attributes:
        provider: Name of the provider, as in the settings.
        name: The service's name of the model.
        dimensions: Length of its vectors; 0 when that is not known, and is then learned by one request.
        ask: Whether ``dimensions`` is put into the request, for services that shorten vectors on demand.
        window: Most tokens a text may have.
    """

    provider: str
    name: str
    dimensions: int
    ask: bool
    window: int


class RemoteEmbedder:
    """A model behind HTTP, as an ``Embedder``."""

    def __init__(
        self, wire: ServiceFormat, remote: RemoteModel, endpoint: Endpoint, spec: EmbedderSpec
    ) -> None:
        """Set up; nothing is sent before the first text.

        Args:
            wire: How the service is spoken to.
            remote: The model.
            endpoint: Where the service is.
            spec: Of which ``announce``, ``batch``, ``concurrency`` and ``cache_dir`` are read.
        """
        self._wire = wire
        self._remote = remote
        self._endpoint = endpoint
        self._announce = spec.announce
        self._batch = spec.batch
        self._concurrency = spec.concurrency
        self._learned = None if spec.cache_dir is None else spec.cache_dir / DIMENSIONS_FILE
        self._dimensions = remote.dimensions or self._remembered()
        self._first = threading.Lock()

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self._remote.provider} {self._remote.name} at {self._endpoint.host})"

    @property
    def model(self) -> EmbeddingModel:
        """The model; where its dimensions were never learned, one short text is sent to learn them.

        Raises:
            ProviderError: That request failed.
        """
        if not self._dimensions:
            self._tell([PROBE])
            self._dimensions = len(self._request([PROBE], "passage", 0)[0])
            if self._learned is not None:
                known = {**_read_dimensions(self._learned), self._identity: self._dimensions}
                write_cache(self._learned, json.dumps(known).encode())
        remote = self._remote
        host = self._endpoint.host
        return EmbeddingModel(remote.provider, remote.name, host, self._dimensions, "provider", remote.window)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        """Embed texts; see the port. A text of blanks only is an empty one.

        Raises:
            ProviderError: The service could not be reached, refused, or answered with something that is not
                one finite vector a text; nothing of this call is returned.
            ModelMismatchError: A vector's length is not the model's.
        """
        pieces = [
            split_text(replace_surrogates(text), self._remote.window) if text.strip() else []
            for text in texts
        ]
        # White space at a cut can make a piece blank, which services refuse and which says nothing.
        pieces = [[piece for piece in windows if piece.strip()] for windows in pieces]
        flat = [piece for windows in pieces for piece in windows]
        if flat:
            self._tell(flat)
        dimensions = self.model.dimensions
        batches = [flat[i : i + self._batch] for i in range(0, len(flat), self._batch)]
        rows = unit_rows(np.array(self._run(batches, kind), dtype=np.float64).reshape(-1, dimensions))
        found = np.split(rows, np.cumsum([len(windows) for windows in pieces])[:-1]) if pieces else []
        return [part if len(part) else np.zeros((1, dimensions), np.float32) for part in found]

    def _run(self, batches: list[list[str]], kind: TextKind) -> list[list[float]]:
        count = sum(map(len, batches))
        if len(batches) <= 1:
            return [row for batch in batches for row in self._request(batch, kind, count)]
        with ThreadPoolExecutor(min(self._concurrency, len(batches)), "scrubjay-embed") as pool:
            waiting = [pool.submit(self._request, batch, kind, count) for batch in batches]
            try:
                return [row for one in waiting for row in one.result()]
            except ProviderError:
                pool.shutdown(cancel_futures=True)
                raise

    def _request(self, batch: list[str], kind: TextKind, count: int) -> list[list[float]]:
        """Vectors of one batch; ``count`` is what an error says was not embedded, 0 for the probe."""
        remote = self._remote
        body = self._wire.request(remote.name, batch, kind, remote.dimensions if remote.ask else 0)
        lost = f"None of the {count} texts of this call was embedded." if count else "No text was embedded."
        answer = post_json(self._endpoint, self._wire.path, body, lost)
        try:
            vectors = [list(map(float, vector)) for vector in self._wire.vectors(answer)]
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as exc:
            host, cause = self._endpoint.host, type(exc).__name__
            raise ProviderError(f"{host} answered with no list of vectors ({cause}). {lost}") from exc
        self._check(vectors, len(batch), lost)
        return vectors

    def _check(self, vectors: list[list[float]], expected: int, lost: str) -> None:
        by = f"{self._endpoint.host} with {self._remote.name}"
        if len(vectors) != expected:
            raise ProviderError(f"{by} answered {expected} texts with {len(vectors)} vectors. {lost}")
        dimensions = self._dimensions or len(vectors[0])
        for vector in vectors:
            if len(vector) != dimensions:
                raise ModelMismatchError(
                    f"{by} made a vector of {len(vector)} dimensions; {dimensions} were expected. {lost}",
                    hint="set the model's `dimensions` to what it makes, or name the model that was meant",
                )
            sizes = [abs(element) for element in vector]
            if not all(size < LARGEST_NUMBER for size in sizes):
                raise ProviderError(f"{by} made a vector with NaN or infinity in it. {lost}")
            if not any(size > 1 / LARGEST_NUMBER for size in sizes):
                raise ProviderError(f"{by} made a vector of zeros. {lost}")

    @property
    def _identity(self) -> str:
        return f"{self._endpoint.host} {self._remote.name}"

    def _remembered(self) -> int:
        known = 0 if self._learned is None else _read_dimensions(self._learned).get(self._identity, 0)
        return known if isinstance(known, int) and known > 0 else 0

    def _tell(self, texts: list[str]) -> None:
        with self._first:
            announce, self._announce = self._announce, None
        if announce is not None:
            what = "1 text" if len(texts) == 1 else f"{len(texts):,} texts"
            announce(
                f"Sending {what} ({sum(map(len, texts)):,} characters) to {self._endpoint.host} "
                f"to be embedded by {self._remote.name}; later texts go there too."
            )


def _read_dimensions(path: Path) -> dict[str, object]:
    """Dimensions learned before; a missing or torn file has none and is written anew."""
    try:
        known = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


OLLAMA_URL = "http://localhost:11434/v1"
COMPATIBLE_WINDOW = 512
"""Tokens: what the smallest common local models read. Ollama cuts longer texts off without a word, so a
larger window is for those who know their model's."""


def open_openai_compatible(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; without dimensions they are learned by one request and remembered.

    Raises:
        ConfigError: No model is named, or the URL or key cannot be used.
    """
    if not spec.name:
        raise ConfigError("An openai-compatible provider needs the name of a model, such as bge-m3.")
    remote = RemoteModel(
        "openai-compatible", spec.name, spec.dimensions, False, spec.window or COMPATIBLE_WINDOW
    )
    url = spec.base_url or OLLAMA_URL
    endpoint = Endpoint(url, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(OPENAI_FORMAT, remote, endpoint, spec)


def _openai_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {"model": name, "input": list(texts), "encoding_format": "float"}
    return {**body, "dimensions": dimensions} if dimensions else body


def vectors_by_index(answer: Any) -> list[list[float]]:
    """Vectors of OpenAI's (and Voyage's) answer, in the order of the texts.

    Raises:
        ValueError: The indexes are not 0, 1, 2, …
    """
    data = sorted(answer["data"], key=lambda entry: int(entry["index"]))
    if [entry["index"] for entry in data] != list(range(len(data))):
        raise ValueError("indexes of the vectors are not 0, 1, 2, …")
    return [entry["embedding"] for entry in data]


OPENAI_FORMAT = ServiceFormat("/embeddings", _openai_request, vectors_by_index)


OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
OPENAI_WINDOW = 8191
"""Tokens; 8192 are allowed, and 300,000 in one request."""


def open_openai(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks a text-embedding-3 model for shorter vectors.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = spec.name or OPENAI_MODEL
    own = OPENAI_DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("openai", name, dimensions, ask, spec.window or OPENAI_WINDOW)
    endpoint = Endpoint(spec.base_url or OPENAI_URL, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(OPENAI_FORMAT, remote, endpoint, spec)


GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_MODEL = "gemini-embedding-001"
GEMINI_DIMENSIONS = {GEMINI_MODEL: 3072}
GEMINI_WINDOW = 2048
GEMINI_TASKS: dict[TextKind, str] = {"passage": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


def open_gemini(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks for shorter vectors.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = (spec.name or GEMINI_MODEL).removeprefix("models/")
    own = GEMINI_DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("gemini", name, dimensions, ask, spec.window or GEMINI_WINDOW)
    wire = ServiceFormat(
        f"/models/{quote(name, safe='')}:batchEmbedContents", _gemini_request, _gemini_vectors
    )
    url = spec.base_url or GEMINI_URL
    # In a header: a key in the query string would end up in logs.
    endpoint = Endpoint(url, spec.api_key, "x-goog-api-key", "", spec.timeout, spec.backoff)
    return RemoteEmbedder(wire, remote, endpoint, spec)


def _gemini_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    shared: dict[str, Any] = {"model": f"models/{name}", "taskType": GEMINI_TASKS[kind]}
    if dimensions:
        shared["outputDimensionality"] = dimensions
    return {"requests": [{**shared, "content": {"parts": [{"text": text}]}} for text in texts]}


def _gemini_vectors(answer: Any) -> list[list[float]]:
    return [entry["values"] for entry in answer["embeddings"]]


VOYAGE_URL = "https://api.voyageai.com/v1"
VOYAGE_MODEL = "voyage-3.5"
VOYAGE_DIMENSIONS = {
    "voyage-3.5": 1024,
    "voyage-3.5-lite": 1024,
    "voyage-3-large": 1024,
    "voyage-code-3": 1024,
}
VOYAGE_WINDOW = 15_000
"""Tokens. The models read 32,000, but the strictest allow 120,000 in a request of eight texts."""
VOYAGE_INPUT_TYPES: dict[TextKind, str] = {"passage": "document", "query": "query"}


def open_voyage(spec: EmbedderSpec) -> RemoteEmbedder:
    """Make the embedder; ``dimensions`` asks for vectors of 256, 512 or 2048.

    Raises:
        ConfigError: The URL or the key cannot be used.
    """
    name = spec.name or VOYAGE_MODEL
    own = VOYAGE_DIMENSIONS.get(name, 0)
    dimensions = spec.dimensions or own
    ask = dimensions not in (0, own)
    remote = RemoteModel("voyage", name, dimensions, ask, spec.window or VOYAGE_WINDOW)
    endpoint = Endpoint(spec.base_url or VOYAGE_URL, spec.api_key, timeout=spec.timeout, backoff=spec.backoff)
    return RemoteEmbedder(
        ServiceFormat("/embeddings", _voyage_request, vectors_by_index), remote, endpoint, spec
    )


def _voyage_request(name: str, texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": name,
        "input": list(texts),
        "input_type": VOYAGE_INPUT_TYPES[kind],
        "truncation": False,
    }
    return {**body, "output_dimension": dimensions} if dimensions else body
