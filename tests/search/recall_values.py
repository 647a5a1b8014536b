"""Values the read path's stages take, made by hand, and models that are of no use."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference_store.reader import ReferenceScores
from scrubjay.errors import ProviderError
from scrubjay.models.ids import EmbeddingModel
from scrubjay.models.records import Record
from scrubjay.models.results import Candidate, Contribution
from scrubjay.search.candidates import Ranking
from scrubjay.search.fusion import ScoredRow, ScoreTable
from scrubjay.storage.interface import RankingMetadata


def ranking(channel: str, scores: Mapping[str, float], *, depth: int = 100, blank: bool = False) -> Ranking:
    """Return what a channel says that scores these memories and finds those above 0 (all, when blank)."""
    found = frozenset(memory for memory, score in scores.items() if blank or score > 0)
    scored = ReferenceScores(scores, found, 0.0, frozenset(scores), {})
    return Ranking(channel, channel.partition(":")[0], tuple(scored.top(depth)), scored)


def candidate(memory: str, score: float) -> Candidate:
    return Candidate(memory, (Contribution("bm25", score, score, 1.0),))


def rows(scores: Mapping[str, float], heads: Mapping[str, RankingMetadata]) -> ScoreTable:
    """Return memories that are judged, as their words alone score them."""
    return [ScoredRow(one, heads.get(one), [("bm25", score, score, 1.0)]) for one, score in scores.items()]


def record(memory: str, content: str, **fields: Any) -> Record:
    digest = hashlib.sha256(content.encode()).hexdigest()
    given = {
        "tier": "observation",
        "title": "",
        "key": "user:ann",
        "owner": "ann",
        "recorded_at": 0,
        "updated_at": 0,
    }
    return Record(id=memory, content=content, content_hash=digest, **(given | fields))


class Noise:
    """A model that understands nothing: each text has a random direction, seeded by the text alone."""

    def __init__(self, seed: int = 0, dimensions: int = 64) -> None:
        self.model = EmbeddingModel("testing", f"noise{seed}", "1", dimensions, "mean")

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> NDArray[np.float32]:
        digest = hashlib.sha256(f"{self.model.name}\x1f{text}".encode("utf-8", "replace")).digest()
        row = np.random.default_rng(int.from_bytes(digest[:8], "big")).normal(size=(1, self.model.dimensions))
        return (row / np.linalg.norm(row)).astype(np.float32)


class Speechless:
    """A model that embeds passages and fails at questions."""

    def __init__(self, name: str = "speechless", dimensions: int = 32) -> None:
        self.model = EmbeddingModel("testing", name, "1", dimensions, "mean")

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        if kind == "query":
            raise ProviderError("The service at example.org answered 503.")
        return Noise(7, self.model.dimensions).embed(texts)
