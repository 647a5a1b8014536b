"""Viewer pages: search with its explanation, and the timeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.errors import InputError
from scrubjay.memory import Memory
from scrubjay.models.records import STATUSES, TIERS
from scrubjay.models.results import Answer, Explanation
from scrubjay.models.views import TimelinePage
from scrubjay.server.requests import ReadPrincipal, SessionDep
from scrubjay.server.viewer.page import (
    HighlightedText,
    PageRoute,
    highlight,
    memory_rows,
    render_page,
    without_headings,
)

router = APIRouter(include_in_schema=False, route_class=PageRoute)

PAGE_SIZE: Final = 10
MAX_RESULTS: Final = 100
"""Results that can be had by asking for more: who has read so far asks another question."""
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
    given = {"query": query, "tier": _non_empty(tier), "tag": tag, "project": project, "path": path}
    given |= {
        "since": since,
        "until": until,
        "status": _non_empty(status),
        "by": "" if by == "memory" else by,
    }
    narrowed = any(value for name, value in given.items() if name not in ("query", "by"))
    limit = max(PAGE_SIZE, min(MAX_RESULTS, int(show) if show.isdecimal() and len(show) < 4 else PAGE_SIZE))
    shown: dict[str, Any] = {"given": given, "narrowed": narrowed, "limit": limit, "most": MAX_RESULTS}
    shown |= {"tiers": TIERS, "statuses": STATUSES, "step": PAGE_SIZE, "answer": None, "latest": None}
    shown |= {"error": None, "results": []}
    code = 200
    try:
        if query.strip():
            shown |= await _search_results(session, who, given, limit)
        else:
            last = await session.read(who, lambda memory: _latest_memories(memory, given))
            shown["latest"] = memory_rows(last)
    except InputError as error:
        shown["error"], code = error, 422
    return render_page(request, "search", code, **shown)


async def _search_results(
    session: SessionDep, who: ReadPrincipal, given: Mapping[str, Any], limit: int
) -> dict[str, Any]:
    by = given["by"] or "memory"
    # One more than is shown says whether there is more.
    ask = {**_filters(given), "limit": limit + 1, "explain": True, "by": by}
    answer: Answer = await session.read(who, lambda memory: memory.search(given["query"], **ask))
    found = answer.results[:limit]
    return {
        "answer": answer,
        "results": [
            (
                one,
                _highlighted(
                    without_headings(one.snippet) if one.title else one.snippet, given, one.explanation
                ),
                score_parts(one.explanation),
            )
            for one in found
        ],
        "more": len(answer.results) > limit and limit < MAX_RESULTS,
        "at_most": len(answer.results) > limit and limit >= MAX_RESULTS,
    }


def _non_empty(values: list[str] | None) -> list[str]:
    """A form without scripts also sends empty fields."""
    return [each for each in values or () if each]


def _latest_memories(memory: Memory, given: Mapping[str, Any]) -> TimelinePage:
    return memory.timeline(limit=PAGE_SIZE, **_filters(given))


def _filters(given: Mapping[str, Any]) -> dict[str, Any]:
    split = {
        name: [each.strip() for each in given[name].split(",") if each.strip()] for name in ("tag", "project")
    }
    return {
        "tiers": given["tier"],
        "tags": split["tag"],
        "projects": split["project"],
        "path": given["path"],
        "since": given["since"] or None,
        "until": given["until"] or None,
        "statuses": given["status"] or ["active"],
    }


def _highlighted(snippet: str, given: Mapping[str, Any], explanation: Explanation | None) -> HighlightedText:
    gave = explanation.words if explanation is not None else {}
    return highlight(snippet, given["query"], gave)


def score_parts(explanation: Explanation | None) -> list[ScorePart]:
    if explanation is None:
        return []
    widest = max((abs(part.amount) for part in explanation.contributions), default=0.0) or 1.0
    found = [
        ScorePart(
            part.channel,
            part.amount,
            100 * abs(part.amount) / widest,
            f"{part.value:.3f} × weight {part.weight:.3f}; raw {part.raw:.3f}",
        )
        for part in sorted(explanation.contributions, key=lambda part: -abs(part.amount))
    ]
    return found


TIMELINE_PAGE_SIZE: Final = 40
MAX_PAGES: Final = 100_000


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
    number: Annotated[int, Query(alias="page", ge=1, le=MAX_PAGES)] = 1,
) -> Response:
    given = {"until": until, "since": since, "tier": tier, "status": status, "tag": tag, "project": project}
    given |= {"category": category, "conversation": conversation}
    shown: dict[str, Any] = {"given": given, "number": number, "tiers": TIERS, "statuses": STATUSES}
    lists = {
        "tiers": tier,
        "tags": tag,
        "projects": project,
        "categories": category,
        "sessions": conversation,
    }
    wanted: dict[str, Any] = {name: [value] for name, value in lists.items() if value}
    wanted |= {"until": until or None, "since": since or None, "statuses": [status or "active"]}
    try:
        found = await session.read(
            who,
            lambda memory: memory.timeline(
                limit=TIMELINE_PAGE_SIZE, skip=(number - 1) * TIMELINE_PAGE_SIZE, **wanted
            ),
        )
    except InputError as error:
        return render_page(request, "timeline", 422, days=[], more=False, error=error, **shown)
    days = [(day, list(held)) for day, held in groupby(memory_rows(found), key=lambda row: row.date[:10])]
    return render_page(request, "timeline", days=days, more=found.more, error=None, **shown)
