"""Model: the identity of one embedding model, stamped on every vector."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Model:
    """One embedding model, told apart by everything that changes its vectors.

    Attributes:
        provider: Who computes: ``bundled``, ``openai``, ``gemini``, ``voyage``, ``openai-compatible``, …
        name: The model's own name, such as ``all-MiniLM-L6-v2``.
        revision: What pins its weights: a checksum, a version, or the host that serves it.
        dimensions: Length of a vector.
        pooling: ``mean``, ``cls`` or ``provider``.
        window: Most tokens of one text that the model reads at once; 0 when there is no limit.
    """

    provider: str
    name: str
    revision: str
    dimensions: int
    pooling: str
    window: int = 0

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits that differ whenever the vectors would."""
        parts = (
            self.provider,
            self.name,
            self.revision,
            str(self.dimensions),
            self.pooling,
            str(self.window),
        )
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]
