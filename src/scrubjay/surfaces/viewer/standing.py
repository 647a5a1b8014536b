"""Standing: what is stored, where it comes from, and how far the models are with it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.surfaces.serve.asked import Reader, operates, warnings
from scrubjay.surfaces.viewer.page import Page, Working, page

router = APIRouter(include_in_schema=False, route_class=Page)

A_PAGE: Final = 50


@router.get("/status")
async def standing(
    request: Request,
    who: Reader,
    session: Working,
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    """Show facts."""
    found = await session.do(who, lambda memory: memory.status())
    held = found.sources[(number - 1) * A_PAGE : number * A_PAGE]
    more = len(found.sources) > number * A_PAGE
    # Where store and sources lie is for who may name files of the server.
    return page(
        request,
        "status",
        found=found,
        warnings=found.warnings + warnings(request, who),
        held=held,
        number=number,
        more=more,
        names="admin" in who.scopes,
        size=operates(who, session),
    )
