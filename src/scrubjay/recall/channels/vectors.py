"""Vectors: Plan -> one Ranking for each model that covers enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from scrubjay.errors import ProviderError
from scrubjay.recall.channels.ranking import Ranking
from scrubjay.recall.plan import Plan
from scrubjay.store.base import Reader

if TYPE_CHECKING:
    from scrubjay.providers.embedders.port import Embedder

LEAST_COVERED: Final = 50
"""Memories a backfilled model must cover (or all there are) before its mean and deviation say anything."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a model does not take part, and whether it only waits for embeddings that are pending."""

    reason: str
    pending: bool = True


def vectors(
    plan: Plan, reader: Reader, embedders: Sequence[Embedder]
) -> tuple[list[Ranking], tuple[str, ...], tuple[str, ...]]:
    """Rank by each model.

    The first embedder is the base model, which covers everything; the others join once they cover enough.

    Returns:
        The rankings; what failed; and the models that do not cover enough yet, which is no failure.
    """
    rankings: list[Ranking] = []
    partial: list[str] = []
    notes: list[str] = []
    if not plan.query.text:
        return rankings, (), ()
    registered = {state.model.fingerprint for state in reader.models() if state.state == "active"}
    for embedder in embedders:
        covered = rankings[0].scored.covered if rankings else 0
        name = "A model"
        try:
            name = embedder.model.name
            if plan.models is None or name in plan.models:
                found = _ranking(plan, reader, embedder, (registered, min(LEAST_COVERED, covered)))
                rankings += [found] if isinstance(found, Ranking) else []
                if isinstance(found, LeftOut):
                    (notes if found.pending else partial).append(f"{name} {found.reason}")
        except ProviderError as error:
            partial.append(f"{name} could not be used: {error}")
    return rankings, tuple(partial), tuple(notes)


def _ranking(
    plan: Plan, reader: Reader, embedder: Embedder, wanted: tuple[set[str], int]
) -> Ranking | LeftOut | None:
    """Return what one model says, or why it was left out, or None where it has nothing to say."""
    registered, least = wanted
    model = embedder.model
    if model.fingerprint not in registered:
        missing = LeftOut("is not in this store yet: the next sync or addition brings it in.", pending=False)
        return missing if registered else None
    if reader.windows(model.fingerprint) < least:
        few = f"fewer than {least:,} memories" if least > 1 else "no memory"
        return LeftOut(f"covers {few} so far and was left out.")
    query = embedder.embed([plan.query.text], kind="query")[0][0]
    if not query.any():  # no word that the model knows: everything would be equally near
        return None
    scored = reader.nearest(model.fingerprint, query, plan.where)
    if scored.covered < least:
        return LeftOut(f"covers {scored.covered} memories so far and was left out.")
    return Ranking(f"vector:{model.name}", "vector", tuple(scored.top(plan.depth)), scored)
