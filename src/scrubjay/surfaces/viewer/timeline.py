"""Timeline: a page number and filters -> what happened, day by day, last first."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.errors import InputError
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.surfaces.serve.asked import Reader
from scrubjay.surfaces.viewer.page import Page, Working, page
from scrubjay.surfaces.viewer.rows import rows

router = APIRouter(include_in_schema=False, route_class=Page)

A_PAGE: Final = 40
MOST_PAGES: Final = 100_000


@router.get("/timeline")
async def timeline(
    request: Request,
    who: Reader,
    session: Working,
    until: str = "",
    since: str = "",
    tier: str = "",
    status: str = "",
    tag: str = "",
    project: str = "",
    category: str = "",
    conversation: str = "",
    number: Annotated[int, Query(alias="page", ge=1, le=MOST_PAGES)] = 1,
) -> Response:
    """Show what happened, by day."""
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
        found = await session.do(
            who, lambda memory: memory.timeline(limit=A_PAGE, skip=(number - 1) * A_PAGE, **wanted)
        )
    except InputError as error:
        return page(request, "timeline", 422, days=[], more=False, error=error, **shown)
    days = [(day, list(held)) for day, held in groupby(rows(found), key=lambda row: row.date[:10])]
    return page(request, "timeline", days=days, more=found.more, error=None, **shown)
