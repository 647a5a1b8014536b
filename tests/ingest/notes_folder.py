"""A folder of notes, and a model that tells what it was asked to embed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrubjay.embeddings.hash_embedder import HashEmbedder

LONG_AGO = 1_700_000_000


class Listening(HashEmbedder):
    """The published stand-in; beside its vectors it keeps the passages it was given."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.heard: list[str] = []

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        if kind == "passage":
            self.heard += texts
        return super().embed(texts, kind=kind)


class Notes:
    """A folder of files whose times are long past, so that nothing counts as written just now."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._second = LONG_AGO

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        self._second += 10
        os.utime(file, (self._second, self._second))
        return file
