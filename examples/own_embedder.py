"""Use a model of your own: anything with `model` and `embed` is an embedder.

    python examples/own_embedder.py

The base model is always complete; the others are filled in by `embed` and ranked with once they are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrubjay import Memory
from scrubjay.models.ids import EmbeddingModel


class Letters:
    """Counts letters. Texts are alike when they are written with the same ones; do not use it."""

    model = EmbeddingModel(
        provider="example", name="letters", revision="1", dimensions=26, pooling="sum", window=0
    )

    def embed(self, texts: Sequence[str], *, kind: str = "passage") -> list[NDArray[np.float32]]:
        """Return one row for each text, of length 1."""
        return [self._row(text.lower()) for text in texts]

    def _row(self, text: str) -> NDArray[np.float32]:
        counts = np.array([text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"], np.float32)
        return (counts / max(float(np.linalg.norm(counts)), 1e-9))[None]


def main() -> None:
    with Memory.open("memory://", user="ann", embedders=[Letters()]) as memory:
        memory.add("Stressed desserts.")
        memory.add("The quick brown fox.")
        best = memory.search("sender tests", channels=["vector"], explain=True).results[0]
        print(best.snippet)


if __name__ == "__main__":
    main()
