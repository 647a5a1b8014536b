"""Vectors: Plan -> one Ranking for each model that covers enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError
from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

LEAST_COVERED: Final = 50
"""Memories a backfilled model must cover (or all there are) before its mean and deviation say anything."""


def vectors(
    plan: Plan, reader: Reader, embedders: Sequence[Embedder]
) -> tuple[list[Ranking], tuple[str, ...]]:
    """Rank by each model.

    The first embedder is the base model, which covers everything; the others join once they cover enough.

    Returns:
        The rankings, and what had to be done without.
    """
    registered = {state.model.fingerprint for state in reader.models() if state.state == "active"}
    rankings: list[Ranking] = []
    partial: list[str] = []
    if not plan.query.text:
        return rankings, ()
    for place, embedder in enumerate(embedders):
        try:
            model = embedder.model
            if model.fingerprint not in registered or (plan.models is not None and model.name not in plan.models):
                continue
            covered = rankings[0].scored.covered if rankings else 0
            least = min(LEAST_COVERED, covered)
            if place and reader.windows(model.fingerprint) < least:
                partial.append(f"{model.name} covers fewer than {least} memories so far and was left out.")
                continue
            query = embedder.embed([plan.query.text], kind="query")[0][0]
        except ProviderError as error:
            partial.append(f"A model could not be used: {error}")
            continue
        scored = reader.nearest(model.fingerprint, query, plan.where)
        if place and scored.covered < least:
            partial.append(f"{model.name} covers {scored.covered} memories so far and was left out.")
            continue
        rankings.append(Ranking(f"vector:{model.name}", "vector", tuple(scored.top(plan.depth)), scored))
    return rankings, tuple(partial)
