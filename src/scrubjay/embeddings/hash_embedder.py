"""HashEmbedder: a deterministic embedder for tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scrubjay.embeddings.base import even_spans, replace_surrogates, unit_rows
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from scrubjay.embeddings.base import TextKind


_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Sums one fixed random direction for each word: texts are similar as far as they share words.

    A vector depends on its text and the model's name alone; ``window`` is in words.

    >>> a, b, c = HashEmbedder().embed(["the red door", "Door, red", "a blue boat"])
    >>> bool((a[0] @ b[0]) > 0.7 > 0.3 > (a[0] @ c[0]))
    True
    """

    def __init__(self, dimensions: int = 64, *, window: int = 0, name: str = "hash") -> None:
        self._model = EmbeddingModel("testing", name, "1", dimensions, "mean", window)
        self._words: dict[str, NDArray[np.float32]] = {}

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        return [self._rows(_WORD.findall(replace_surrogates(text).casefold())) for text in texts]

    def _rows(self, words: list[str]) -> NDArray[np.float32]:
        spans = even_spans(len(words), self._model.window)
        rows = np.zeros((len(spans), self._model.dimensions), dtype=np.float32)
        for row, (start, end) in zip(rows, spans, strict=True):
            for word in sorted(words[start:end]):  # a float sum depends on its order
                row += self._direction(word)
        return unit_rows(rows)

    def _direction(self, word: str) -> NDArray[np.float32]:
        direction = self._words.get(word)
        if direction is None:
            seed = f"{self._model.name}\x1f{word}".encode()
            noise = np.frombuffer(hashlib.shake_256(seed).digest(self._model.dimensions), dtype=np.uint8)
            direction = self._words[word] = unit_rows(noise.astype(np.float32)[None] - 127.5)[0]
        return direction
