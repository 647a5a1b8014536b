"""Usual: a desk and a question -> the request that a search makes of it where nothing but the question is given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrubjay.wiring.desk import Desk

if TYPE_CHECKING:
    from scrubjay.recall.request import Request


def usual(desk: Desk, query: str, now: int, here: str | None = None) -> Request:
    """Return a question as the settings have it searched; no model puts it in other words or looks at it again.

    Args:
        desk: Whose settings.
        query: The question.
        now: When it is asked, UTC microseconds.
        here: Project the caller is in, by name or path.

    Raises:
        InputError: A setting is out of range.
    """
    from scrubjay.recall.reach import Reach
    from scrubjay.recall.request import Caps, Clock, Filters, least_relevance, request, shaped
    from scrubjay.wiring.pools import pool

    recall = desk.settings.recall
    made = request(
        query,
        filters=Filters(),
        fusion=(recall.fusion, recall.weights, None),
        parts=(None, None, None),
        sizes=(recall.limit, recall.candidates, recall.snippet),
        explain=False,
        clock=Clock(tz=recall.tz),
    )
    auto = recall.fusion == "auto" and recall.weights is None
    made = replace(
        made,
        now=now,
        min_relevance=least_relevance(recall.min_relevance, Filters()),
        reach=Reach(links=recall.links if auto else 0, hierarchy=auto and recall.hierarchy),
        pool=pool(desk, here),
    )
    return shaped(made, "memory", 0, Caps(recall.session_cap, recall.document_cap), variety=recall.variety)
