"""Weaving: a desk -> what connects the memories that a call writes, as the settings wish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.ingest.similar import Nearness
from scrubjay.ingest.weave import Weaver, Wish
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


def weaving(desk: Desk, base: Embedder) -> Weaver:
    """Return a weaver for one call.

    Args:
        desk: Where, for whom, with which settings.
        base: The base model, whose vectors tell what is alike.
    """
    wanted = desk.settings.connect
    wish = Wish(wanted.stages, Nearness(wanted.similarity, wanted.links))
    return Weaver(desk.store, desk.scope, base.model.fingerprint, desk.lexicons, wish)
