"""Link expansion: memories that the links of the best candidates lead to.

A linked memory scores ``.8`` times its referrer and ``.2`` times itself, where that is more than its own score
(vLLM semantic-router, pull request 1374). Memories that the caller may not see are no bridge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scrubjay.models.results import LINK_PREFIX, Candidate, Contribution
from scrubjay.search.candidates import ScoreCache
from scrubjay.search.fusion import best_first

REFERRER_SHARE: Final = 0.8
"""Weight of the referrer's score; the rest is the linked memory's own."""
LINK_KINDS: Final = ("links", "similar")
LINK_FAN_OUT: Final = 10
"""Most links of each kind and direction followed from one memory, the heaviest: as many as are made automatically."""
MAX_REFERRERS: Final = 50
"""Memories of each hop that the next one starts from, the best."""
INWARD_SHARE: Final = 0.8
"""Weight of a link followed against its direction."""
LINK_HUB_SIZE: Final = 2_000
"""Memories with more links are not followed backwards."""


@dataclass(frozen=True, slots=True)
class LinkLead:
    """A referrer, its score, and how much of that the link carries."""

    referrer: str
    score: float
    carried: float


def follow_links(
    ranked: Sequence[Candidate], cache: ScoreCache, hops: int, limit: int, least: float
) -> list[Candidate]:
    """Return the candidates and what their links lead to, best first.

    ``score = max(own, .8 · carried + .2 · own)`` with the best referrer, an own score below 0 counting as 0. Links are
    followed from the first ``limit`` candidates, over ``hops``; ``least`` is the least score of a memory brought in.
    """
    own = {one.id: one for one in ranked}
    found = dict(own)
    starts = [one for one in ranked[: min(limit, MAX_REFERRERS)] if one.score >= least]
    for _ in range(hops):
        leads = _best_leads(cache, {one.id: one.score for one in starts if one.score > 0})
        own |= cache.get(memory for memory in leads if memory not in own)
        better = []
        for memory, lead in leads.items():
            if memory not in own:
                continue
            score = own[memory].score
            blend = REFERRER_SHARE * lead.carried + (1 - REFERRER_SHARE) * max(score, 0.0)
            if blend <= score:
                continue
            value = (blend - score) / REFERRER_SHARE
            part = Contribution(f"{LINK_PREFIX}{lead.referrer}", lead.score, value, REFERRER_SHARE)
            lifted = own[memory].plus(part)
            if lifted.score >= least and (memory not in found or lifted.score > found[memory].score):
                better.append(lifted)
        found |= {one.id: one for one in better}
        starts = best_first(better)[:MAX_REFERRERS]
        if not starts:
            break
    return best_first(found.values())


def _best_leads(cache: ScoreCache, starts: Mapping[str, float]) -> dict[str, LinkLead]:
    """Return the best link to each memory, then that of the smaller id."""
    leads: list[tuple[str, LinkLead]] = []
    for inward in (False, True):
        ids = list(starts)
        for kind in LINK_KINDS if inward and ids else ():
            degrees = cache.reader.degrees(kind, list(starts))
            ids = [memory for memory in ids if degrees.get(memory, 0) <= LINK_HUB_SIZE]
        for edge in cache.reader.edges(ids, LINK_KINDS, inward=inward, limit=LINK_FAN_OUT) if ids else ():
            here, there = (edge.dst, edge.src) if inward else (edge.src, edge.dst)
            # An automatic link has no direction, and its weight is a cosine; a given one counts by its root.
            share = edge.weight
            if edge.kind != "similar":
                share = math.sqrt(edge.weight) * (INWARD_SHARE if inward else 1)
            leads.append((there, LinkLead(here, starts[here], starts[here] * share)))
    best: dict[str, LinkLead] = {}
    for memory, lead in sorted(leads, key=lambda pair: (-pair[1].carried, pair[1].referrer)):
        best.setdefault(memory, lead)
    return best
