"""The small link tests of vLLM semantic-router's pull request 1374 (Apache-2.0), with all-MiniLM-L6-v2's cosines.

The cosines are those of correct mean pooling, so that what links are worth is seen without the model itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.ids import EmbeddingModel

DEVOPS: Final = "Kubernetes Helm charts canary rollout deployment pipeline"
TRAINING: Final = "GPU distributed training A100 machine learning model"
CLUSTER: Final = "Kubernetes Helm charts deployment cluster"
RUST: Final = "Rust programming borrow checker"

FOUR_WAY: Final[Mapping[str, tuple[str, float, float]]] = {
    "devops-helm": (
        "Production services use Kubernetes Helm charts with canary rollout and automatic rollback",
        0.902,
        0.0,
    ),
    "devops-ci": (
        "CI pipeline runs unit tests, integration tests, and container image builds on every pull request",
        0.354,
        0.079,
    ),
    "finance-budget": (
        "The quarterly spend allocation is forty-two thousand dollars across all departmental cost centers",
        0.091,
        0.118,
    ),
    "finance-headcount": (
        "Team headcount plan approved for six new hires in the engineering division next quarter",
        0.226,
        0.086,
    ),
    "ml-gpu": (
        "Model training uses eight A100 GPUs with distributed data parallel across two nodes",
        0.049,
        0.795,
    ),
    "ml-dataset": (
        "Training dataset contains two million labeled examples with quarterly refresh cycle",
        0.104,
        0.3,
    ),
    "compliance-retention": (
        "GDPR requires personal information to be purged within thirty days of account deletion request",
        0.038,
        0.005,
    ),
    "compliance-audit": (
        "SOC2 Type II audit mandates immutable access logs retained for seven calendar years minimum",
        0.104,
        -0.018,
    ),
}
"""Memory to its text and its cosine to DEVOPS and to TRAINING."""
FOUR_WAY_LINKS: Final = (("devops-helm", "finance-budget", 0.9), ("ml-gpu", "compliance-retention", 0.85))
LINKED: Final = {DEVOPS: ("devops-helm", "finance-budget"), TRAINING: ("ml-gpu", "compliance-retention")}

CROSS: Final = {
    "helm-deploy": (
        "We use Kubernetes Helm charts to deploy microservices to the production cluster",
        0.847,
    ),
    "cloud-budget": (
        "The annual spend allocation for Q3 is forty thousand dollars across all departments",
        0.156,
    ),
    "pasta": ("My favorite Italian pasta recipe uses fresh basil and garlic in olive oil", -0.041),
}
"""Memory to its text and its cosine to CLUSTER; cloud-budget is linked from helm-deploy with .88."""

CHAIN: Final = {
    "a": ("Rust programming borrow checker ownership", 0.883),
    "b": ("Rust robotics servo controller firmware", 0.431),
    "c": ("Tokyo robotics lab industrial servo motor demo", 0.171),
}
"""Memory to its text and its cosine to RUST; a is linked to b with .9, b to c with .85."""


class Told:
    """A model whose cosines are told: of each text to each question; texts have nothing else in common."""

    def __init__(self, cosines: Mapping[str, Sequence[float]], *questions: str) -> None:
        self._questions = list(questions)
        self._cosines = cosines
        self._texts = sorted(cosines)
        size = len(questions) + len(cosines) + 1
        self.model = EmbeddingModel("testing", "told", "1", size, "mean")

    def embed(self, texts: Sequence[str], *, kind: Any = "passage") -> list[NDArray[np.float32]]:
        return [self._row(text) for text in texts]

    def _row(self, text: str) -> NDArray[np.float32]:
        row = np.zeros((1, self.model.dimensions), np.float32)
        if text in self._questions:
            row[0, self._questions.index(text)] = 1.0
        elif text in self._cosines:
            told = self._cosines[text]
            row[0, : len(told)] = told
            own = len(self._questions) + self._texts.index(text)
            row[0, own] = np.sqrt(1.0 - np.square(told).sum())
        else:
            row[0, -1] = 1.0
        return row
