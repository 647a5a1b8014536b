"""A model that answers when it is let."""

from __future__ import annotations

import threading
from typing import Any

from scrubjay.embeddings.hash_embedder import HashEmbedder


class Gated(HashEmbedder):
    """A model that waits until its gate is open; what it makes of a text depends on the text alone.

    Attributes:
        open: The gate.
        entered: Released by each call that comes to it.
    """

    def __init__(self) -> None:
        super().__init__(64)
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Semaphore(0)

    def embed(self, texts: Any, *, kind: Any = "passage") -> Any:
        self.entered.release()
        assert self.open.wait(60)
        return super().embed(texts, kind=kind)
