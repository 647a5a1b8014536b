"""Late interaction: MaxSim of a question with the memories that the other channels nominate.

Codes are read for the memories that are scored, never for the whole store, so mean and deviation are those of the
nominated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from scrubjay.embeddings.late_interaction import max_sim
from scrubjay.models.results import Hit, round_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.embeddings.base import TokenEmbedder
    from scrubjay.storage.interface import Reader


class LateInteractionScores:
    """MaxSim by one model, computed for each memory when it is first asked for; a `ChannelScores`.

    Args:
        reader: Where the codes are read.
        embedder: Decodes them.
        query: The question's token vectors, shape (tokens, dimensions).
        nominated: Ids of the memories that are ranked.
    """

    def __init__(
        self,
        reader: Reader,
        embedder: TokenEmbedder,
        query: NDArray[np.float32],
        nominated: Sequence[str],
    ) -> None:
        self._reader = reader
        self._embedder = embedder
        self._query = query
        self._scores: dict[str, float | None] = {}
        found = self.by_id(nominated)
        known = [(memory, score) for memory, score in zip(nominated, found, strict=True) if score is not None]
        self._hits = [
            Hit(memory, score) for memory, score in sorted(known, key=lambda one: (-one[1], one[0]))
        ]
        amounts = np.array([score for _, score in known], np.float64)
        self.mean = float(amounts.mean()) if known else 0.0
        self.deviation = float(amounts.std()) if known else 0.0
        self.covered = len(known)

    def top(self, limit: int) -> list[Hit]:
        return self._hits[:limit]

    def by_id(self, ids: Sequence[str]) -> list[float | None]:
        missing = sorted({memory for memory in ids if memory not in self._scores})
        if missing:
            codes = self._reader.vectors(self._embedder.model.fingerprint, missing)
            self._scores |= dict.fromkeys(missing)
            if codes:
                rows = self._embedder.decode(np.concatenate([own.data for own in codes.values()]))
                starts = np.cumsum([0, *(len(own.data) for own in codes.values())])[:-1]
                scores = max_sim(self._query, rows, starts).tolist()
                self._scores |= {
                    memory: round_score(score) for memory, score in zip(codes, scores, strict=True)
                }
        return [self._scores[memory] for memory in ids]
