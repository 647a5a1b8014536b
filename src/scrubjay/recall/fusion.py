"""Fusion: Request -> how the channels are joined, and what each weighs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scrubjay.errors import InputError
from scrubjay.recall.request import CHANNELS, Request

PRESETS: Final[Mapping[str, tuple[str, Mapping[str, float]]]] = {
    "kit": ("rrf", {"vector": 1.0, "bm25": 1.0, "graph": 0.5}),
    "openclaw": ("weighted", {"vector": 0.7, "bm25": 0.3}),
    "router": ("raw", {"vector": 0.7, "bm25": 0.2, "ngram": 0.1}),
}
"""Fusions of other systems, by the weights they publish (see docs/ranking.md)."""
WEIGHTED: Final[Mapping[str, float]] = {"bm25": 0.3, "vector": 0.7, "ngram": 0.1}
"""Fixed weights on z-scores: the best fixed ones over eight sets (design notes, .749 mean recall)."""
UNGIVEN: Final[Mapping[str, Mapping[str, float]]] = {
    "rrf": {"bm25": 1.0, "vector": 1.0, "ngram": 0.5},
    "raw": PRESETS["router"][1],
}
"""Weights of the other fusions where none are given."""


def fused_by(request: Request) -> tuple[str, Mapping[str, float]]:
    """Return how the channels are joined, and what each weighs.

    Raises:
        InputError: A fusion, preset, channel or weight is unknown or out of range, or the fusion's scores are not of
            the kind that something else was asked of.
    """
    fusion, weights = _given(request)
    if request.reach.threshold is not None and fusion != "raw":
        raise InputError(
            f"A threshold needs scores of a fixed unit; those of fusion {fusion} have none.",
            hint="fusion raw (preset router) has them",
        )
    if request.reach.hierarchy and fusion == "rrf":
        raise InputError(
            "Categories are scored, and fusion rrf has ranks alone.", hint="fusion auto, weighted or raw"
        )
    return fusion, weights


def _given(request: Request) -> tuple[str, Mapping[str, float]]:
    if request.preset is not None:
        if request.preset not in PRESETS:
            raise InputError(f"Preset {request.preset!r} is not one of {', '.join(PRESETS)}.")
        if request.weights is not None or request.fusion != "auto":
            raise InputError("A preset sets fusion and weights itself.", hint="leave out one or the other")
        return PRESETS[request.preset]
    for channel, weight in (request.weights or {}).items():
        if channel not in CHANNELS:
            raise InputError(f"Weight names {channel!r}, which is not one of {', '.join(CHANNELS)}.")
        if not 0 <= weight <= 1_000:
            raise InputError(f"Weight {weight} of {channel} is not between 0 and 1000.")
    if request.weights is not None:
        fusion = "weighted" if request.fusion == "auto" else request.fusion
        return fusion, {channel: request.weights.get(channel, 0.0) for channel in CHANNELS}
    return request.fusion, UNGIVEN.get(request.fusion, WEIGHTED)
