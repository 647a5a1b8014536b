"""Remote: texts -> unit vectors of a service behind HTTP; each service is a ``Wire``.

What all services share: windows, batches, a few requests at a time, tries, checks of every vector. A call
gives all of its vectors or none, so callers send it what they can afford to lose (a few hundred texts).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.errors import ModelMismatchError, ProviderError
from scrubjay.memory.models import Model
from scrubjay.providers.embedders.checksum import write_cache
from scrubjay.providers.embedders.rows import unit
from scrubjay.providers.embedders.windows import sound, split_text
from scrubjay.providers.post import Endpoint, post

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from scrubjay.providers.embedders.port import Kind
    from scrubjay.providers.embedders.spec import EmbedderSpec

PROBE = "dimensions"
"""Sent once to a model of unknown size, to learn the length of its vectors."""
LEARNED = "dimensions.json"
"""File in the cache folder with what was learned so, lest every start ask again."""
HUGE = 1e18
"""An element beyond it, or a vector within its inverse, is broken: its square leaves float32."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How one service is spoken to.

    Attributes:
        path: Appended to the endpoint's URL.
        request: (model name, texts, kind, dimensions or 0) -> JSON body.
        vectors: Parsed JSON answer -> the vectors in the order of the texts. May raise KeyError, TypeError,
            ValueError or IndexError where the answer has another shape.
    """

    path: str
    request: Callable[[str, Sequence[str], Kind, int], dict[str, Any]]
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

    def __init__(self, wire: Wire, remote: RemoteModel, endpoint: Endpoint, spec: EmbedderSpec) -> None:
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
        self._learned = None if spec.cache_dir is None else spec.cache_dir / LEARNED
        self._dimensions = remote.dimensions or self._remembered()
        self._first = threading.Lock()

    def __repr__(self) -> str:
        return f"RemoteEmbedder({self._remote.provider} {self._remote.name} at {self._endpoint.host})"

    @property
    def model(self) -> Model:
        """The model; where its dimensions were never learned, one short text is sent to learn them.

        Raises:
            ProviderError: That request failed.
        """
        if not self._dimensions:
            self._tell([PROBE])
            self._dimensions = len(self._request([PROBE], "passage", 0)[0])
            if self._learned is not None:
                known = {**_read_learned(self._learned), self._identity: self._dimensions}
                write_cache(self._learned, json.dumps(known).encode())
        remote = self._remote
        host = self._endpoint.host
        return Model(remote.provider, remote.name, host, self._dimensions, "provider", remote.window)

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> list[NDArray[np.float32]]:
        """Embed texts; see the port. A text of blanks only is an empty one.

        Raises:
            ProviderError: The service could not be reached, refused, or answered with something that is not
                one finite vector a text; nothing of this call is returned.
            ModelMismatchError: A vector's length is not the model's.
        """
        pieces = [split_text(sound(text), self._remote.window) if text.strip() else [] for text in texts]
        # White space at a cut can make a piece blank, which services refuse and which says nothing.
        pieces = [[piece for piece in windows if piece.strip()] for windows in pieces]
        flat = [piece for windows in pieces for piece in windows]
        if flat:
            self._tell(flat)
        dimensions = self.model.dimensions
        batches = [flat[i : i + self._batch] for i in range(0, len(flat), self._batch)]
        rows = unit(np.array(self._run(batches, kind), dtype=np.float64).reshape(-1, dimensions))
        found = np.split(rows, np.cumsum([len(windows) for windows in pieces])[:-1]) if pieces else []
        return [part if len(part) else np.zeros((1, dimensions), np.float32) for part in found]

    def _run(self, batches: list[list[str]], kind: Kind) -> list[list[float]]:
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

    def _request(self, batch: list[str], kind: Kind, count: int) -> list[list[float]]:
        """Vectors of one batch; ``count`` is what an error says was not embedded, 0 for the probe."""
        remote = self._remote
        body = self._wire.request(remote.name, batch, kind, remote.dimensions if remote.ask else 0)
        lost = f"None of the {count} texts of this call was embedded." if count else "No text was embedded."
        answer = post(self._endpoint, self._wire.path, body, lost)
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
            if not all(size < HUGE for size in sizes):
                raise ProviderError(f"{by} made a vector with NaN or infinity in it. {lost}")
            if not any(size > 1 / HUGE for size in sizes):
                raise ProviderError(f"{by} made a vector of zeros. {lost}")

    @property
    def _identity(self) -> str:
        return f"{self._endpoint.host} {self._remote.name}"

    def _remembered(self) -> int:
        known = 0 if self._learned is None else _read_learned(self._learned).get(self._identity, 0)
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


def _read_learned(path: Path) -> dict[str, object]:
    """Dimensions learned before; a missing or torn file has none and is written anew."""
    try:
        known = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
