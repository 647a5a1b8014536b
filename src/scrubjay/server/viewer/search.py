"""Viewer pages: search with its explanation, and the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.errors import InputError
from scrubjay.models.records import STATUSES, TIERS
from scrubjay.models.results import Answer, Explanation
from scrubjay.server.requests import ReadPrincipal, SessionDep
from scrubjay.server.viewer.page import (
    PageNumber,
    PageRoute,
    highlight,
    memory_rows,
    render_page,
    without_headings,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

PAGE_SIZE: Final = 10
MAX_RESULTS: Final = 100
Texts = Annotated[list[str] | None, Query()]


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One row of a score's explanation; ``bar`` is its bar's length, 0 to 100."""

    name: str
    amount: float
    bar: float
    how: str


@router.get("/")
async def search(
    request: Request,
    who: ReadPrincipal,
    session: SessionDep,
    query: str = "",
    tier: Texts = None,
    tag: str = "",
    project: str = "",
    path: str = "",
    since: str = "",
    until: str = "",
    status: Texts = None,
    by: str = "memory",
    show: str = "",
) -> Response:
    parameters = {
        "query": query,
        "tier": [each for each in tier or () if each],  # a form without scripts also sends empty fields
        "tag": tag,
        "project": project,
        "path": path,
        "since": since,
        "until": until,
        "status": [each for each in status or () if each],
        "by": "" if by == "memory" else by,
    }
    limit = int(show) if show.isdecimal() and len(show) < 4 else PAGE_SIZE
    limit = max(PAGE_SIZE, min(MAX_RESULTS, limit))
    shown: dict[str, Any] = {
        "given": parameters,
        "narrowed": any(value for name, value in parameters.items() if name not in ("query", "by")),
        "limit": limit,
        "tiers": TIERS,
        "statuses": STATUSES,
        "step": PAGE_SIZE,
        "answer": None,
        "latest": None,
        "error": None,
        "results": [],
    }
    code = 200
    try:
        if query.strip():
            shown |= await _search_results(session, who, parameters, limit)
        else:
            filters = _filters(parameters)
            latest = await session.read(who, lambda memory: memory.timeline(limit=PAGE_SIZE, **filters))
            shown["latest"] = memory_rows(latest)
    except InputError as error:
        shown["error"], code = error, 422
    return render_page(request, "search", code, **shown)


async def _search_results(
    session: SessionDep, who: ReadPrincipal, parameters: Mapping[str, Any], limit: int
) -> dict[str, Any]:
    query, by = parameters["query"], parameters["by"] or "memory"
    # One more than is shown tells whether there is more.
    options = {**_filters(parameters), "limit": limit + 1, "explain": True, "by": by}
    answer: Answer = await session.read(who, lambda memory: memory.search(query, **options))
    results = []
    for result in answer.results[:limit]:
        snippet = without_headings(result.snippet) if result.title else result.snippet
        words = result.explanation.words if result.explanation is not None else {}
        results.append((result, highlight(snippet, query, words), score_parts(result.explanation)))
    more = len(answer.results) > limit
    return {
        "answer": answer,
        "results": results,
        "more": more and limit < MAX_RESULTS,
        "at_most": more and limit >= MAX_RESULTS,
    }


def _filters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    tags, projects = (
        [each.strip() for each in parameters[name].split(",") if each.strip()] for name in ("tag", "project")
    )
    return {
        "tiers": parameters["tier"],
        "tags": tags,
        "projects": projects,
        "path": parameters["path"],
        "since": parameters["since"] or None,
        "until": parameters["until"] or None,
        "statuses": parameters["status"] or ["active"],
    }


def score_parts(explanation: Explanation | None) -> list[ScorePart]:
    if explanation is None:
        return []
    contributions = sorted(explanation.contributions, key=lambda part: -abs(part.amount))
    largest = (abs(contributions[0].amount) if contributions else 0.0) or 1.0
    return [
        ScorePart(
            part.channel,
            part.amount,
            100 * abs(part.amount) / largest,
            f"{part.value:.3f} × weight {part.weight:.3f}; raw {part.raw:.3f}",
        )
        for part in contributions
    ]


TIMELINE_PAGE_SIZE: Final = 40


@router.get("/timeline")
async def timeline(
    request: Request,
    who: ReadPrincipal,
    session: SessionDep,
    until: str = "",
    since: str = "",
    tier: str = "",
    status: str = "",
    tag: str = "",
    project: str = "",
    category: str = "",
    conversation: str = "",
    number: PageNumber = 1,
) -> Response:
    parameters = {
        "until": until,
        "since": since,
        "tier": tier,
        "status": status,
        "tag": tag,
        "project": project,
    }
    parameters |= {"category": category, "conversation": conversation}
    shown: dict[str, Any] = {"given": parameters, "number": number, "tiers": TIERS, "statuses": STATUSES}
    lists = {
        "tiers": tier,
        "tags": tag,
        "projects": project,
        "categories": category,
        "sessions": conversation,
    }
    options: dict[str, Any] = {name: [value] for name, value in lists.items() if value}
    options |= {"until": until or None, "since": since or None, "statuses": [status or "active"]}
    options |= {"limit": TIMELINE_PAGE_SIZE, "skip": (number - 1) * TIMELINE_PAGE_SIZE}
    try:
        found = await session.read(who, lambda memory: memory.timeline(**options))
    except InputError as error:
        return render_page(request, "timeline", 422, days=[], more=False, error=error, **shown)
    days = [(day, list(rows)) for day, rows in groupby(memory_rows(found), key=lambda row: row.date[:10])]
    return render_page(request, "timeline", days=days, more=found.more, error=None, **shown)
