"""Weaving: a desk -> what connects the memories that a call writes, as the settings wish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrubjay.ingest.organise import FEWEST, behind, due, held, organise
from scrubjay.ingest.similar import Nearness
from scrubjay.ingest.weave import Weaver, Wish
from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder


def organise_due(desk: Desk, base: Embedder, weaver: Weaver, most: int | None = None) -> None:
    """Find the topics anew of each key whose memories have doubled since they were found.

    Args:
        desk: Where.
        base: The base model.
        weaver: What the call wrote with.
        most: Memories above which nothing is done, for a call that must not take a second: the next sync does
            it. None for any number.
    """
    if "categories" not in weaver.stages:
        return
    for key in desk.scope.keys if most is None else weaver.written:
        if most is not None and held(desk.store, desk.scope, key) > most:
            continue
        if due(desk.store, desk.scope, key, base, weaver.written[key], patient=most is None):
            organise(desk.store, desk.scope, key, base, desk.lineup.backfilled())


def organise_finer(desk: Desk, keys: Sequence[str], *, found: bool = False) -> None:
    """Find the topics of keys anew that were found before a finer model had come to cover every memory.

    Args:
        desk: Where.
        keys: Keys that a finer model covers.
        found: Leave keys alone that have no topics: there is nothing to find, as was seen before.
    """
    if "categories" not in desk.settings.connect.stages:
        return
    base, finer = desk.lineup.writing(), desk.lineup.backfilled()
    for key in keys:
        if held(desk.store, desk.scope, key) >= FEWEST and behind(
            desk.store, desk.scope, key, finer, none=not found
        ):
            organise(desk.store, desk.scope, key, base, finer)


def weaving(desk: Desk, base: Embedder) -> Weaver:
    """Return a weaver for one call.

    Args:
        desk: Where, for whom, with which settings.
        base: The base model, whose vectors tell what is alike.
    """
    wanted = desk.settings.connect
    wish = Wish(wanted.stages, Nearness(wanted.similarity, wanted.links))
    return Weaver(desk.store, desk.scope, base.model.fingerprint, desk.lexicons, wish)
