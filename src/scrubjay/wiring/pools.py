"""Pools: settings, and where the caller is -> what makes one pool of all tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.recall.request import Pool


def pool(desk: Desk, here: str | None = None, floor: float | None = None) -> Pool:
    """Return what tiers weigh, how sure an answer must be, and the project that is preferred.

    Args:
        desk: Whose settings.
        here: Project the caller is in, by name or path; a path that is no project prefers none.
        floor: Least confidence, None for the settings'.

    Raises:
        InputError: A setting names no tier, or a number is out of range.
    """
    from scrubjay.recall.request import Pool

    recall = desk.settings.recall
    return Pool(
        tiers=("observation",) if recall.tiers == "observations" else (),
        weights=recall.tier_weights or {},
        floor=recall.confidence_floor if floor is None else floor,
        here=_project(desk, here) if here else None,
    ).checked()


def _project(desk: Desk, here: str) -> str | None:
    from scrubjay.ingest.projects import Projects

    return Projects(desk.store, desk.scope, learn=False).named(here) or None
