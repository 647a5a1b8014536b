"""Learning: a desk -> what learns from the memories that a call writes, as the settings wish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.ingest.learn import Learner
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


def learning(desk: Desk, base: Embedder) -> Learner:
    """Return what learns from what one call writes."""
    return Learner(desk.store, desk.scope, base, desk.settings.learn.stages, curates=desk.curates)
