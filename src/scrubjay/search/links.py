"""Link expansion: memories that the links of the best candidates lead to.

A linked memory scores ``.8`` times its referrer and ``.2`` times itself, where that is more than its own score
(vLLM semantic-router, pull request 1374). Each hop reads only what the caller may see: another user's memory
between two of one's own is no bridge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scrubjay.models.results import LINK_PREFIX, Candidate, Contribution
from scrubjay.search.candidates import ScoreCache

REFERRER_SHARE: Final = 0.8
"""What the referrer's score weighs; what is left is for the linked memory's own."""
LINK_KINDS: Final = ("links", "similar")
LINK_FAN_OUT: Final = 10
"""Links of each kind and direction that are followed from one memory, the heaviest first: as many as are made of one
memory by themselves."""
MAX_REFERRERS: Final = 50
"""Memories of each hop that the next one starts from, the best first."""
INWARD_SHARE: Final = 0.8
"""What is left of a link that is followed against its direction: who names a page says less of it than it says of
what it names."""
LINK_HUB_SIZE: Final = 2_000
"""Links to a memory above which it is not asked who links to it: what all name says nothing of who names it."""


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """How far links are followed.

    Attributes:
        most: Hops.
        referrers: Candidates that links are followed from: those that would be shown.
        least: Score that a memory must come to.
    """

    most: int
    referrers: int
    least: float


@dataclass(frozen=True, slots=True)
class LinkLead:
    """What leads to a memory: the referrer, its score, and what of that is carried over."""

    referrer: str
    score: float
    carried: float


def follow_links(ranked: Sequence[Candidate], measure: ScoreCache, hops: LinkOptions) -> list[Candidate]:
    """Return the candidates and what their links lead to; their order is for the caller to make.

    ``score = max(own, .8 · carried + .2 · own)`` with the best referrer: nothing is ever demoted. What speaks
    against a memory by itself (a score below 0, the average's) is not held against it twice.

    Args:
        ranked: Candidates, best first.
        measure: What any memory scores by itself.
        hops: How far.
    """
    own = {one.id: one for one in ranked}
    found = dict(own)
    starts = [one for one in ranked[: min(hops.referrers, MAX_REFERRERS)] if one.score >= hops.least]
    for _ in range(hops.most):
        leads = _best_leads(measure, {one.id: one.score for one in starts if one.score > 0})
        own |= measure.of(memory for memory in leads if memory not in own)
        lifted = [
            one
            for memory, lead in leads.items()
            if memory in own
            and (one := _with_link_part(own[memory], lead)) is not None
            and one.score >= hops.least
        ]
        better = [one for one in lifted if one.id not in found or one.score > found[one.id].score]
        found |= {one.id: one for one in better}
        starts = sorted(better, key=lambda one: (-one.score, one.id))[:MAX_REFERRERS]
        if not starts:
            break
    return list(found.values())


def _with_link_part(own: Candidate, lead: LinkLead) -> Candidate | None:
    """Return a memory with the part that brings its score to the blend, None where that is not more."""
    blend = REFERRER_SHARE * lead.carried + (1 - REFERRER_SHARE) * max(own.score, 0.0)
    scale = math.prod(factor.value for factor in own.factors)
    if blend <= own.score or scale <= 0:
        return None
    value = (blend - own.score) / (REFERRER_SHARE * scale)
    part = Contribution(f"{LINK_PREFIX}{lead.referrer}", lead.score, value, REFERRER_SHARE)
    return replace(own, contributions=(*own.contributions, part))


def _best_leads(measure: ScoreCache, starts: Mapping[str, float]) -> dict[str, LinkLead]:
    """Return what each memory that these are linked with is led to by: the best, then the smaller id."""
    best: dict[str, LinkLead] = {}
    for memory, lead in sorted(
        _possible_leads(measure, starts), key=lambda pair: (-pair[1].carried, pair[1].referrer)
    ):
        best.setdefault(memory, lead)
    return best


def _possible_leads(measure: ScoreCache, starts: Mapping[str, float]) -> Iterator[tuple[str, LinkLead]]:
    for inward in (False, True):
        ids = _below_hub_size(measure, starts) if inward else list(starts)
        for edge in measure.reader.edges(ids, LINK_KINDS, inward=inward, limit=LINK_FAN_OUT) if ids else ():
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            # An automatic link has no direction, and its weight is a cosine; what somebody gave counts by its root.
            left = (
                edge.weight
                if edge.kind == "similar"
                else math.sqrt(edge.weight) * (INWARD_SHARE if inward else 1)
            )
            yield there, LinkLead(here, starts[here], starts[here] * left)


def _below_hub_size(measure: ScoreCache, starts: Iterable[str]) -> list[str]:
    """Return those of which it is worth asking who links to them."""
    ids = list(starts)
    held = [measure.reader.degrees(kind, ids) for kind in LINK_KINDS] if ids else []
    return [memory for memory in ids if all(counts.get(memory, 0) <= LINK_HUB_SIZE for counts in held)]
