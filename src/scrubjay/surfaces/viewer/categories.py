"""Categories: the tree of topics and places, a level at a time."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.surfaces.serve.asked import Reader
from scrubjay.surfaces.viewer.page import Page, Working, page

router = APIRouter(include_in_schema=False, route_class=Page)

A_PAGE: Final = 60


@router.get("/categories")
async def categories(
    request: Request,
    who: Reader,
    session: Working,
    kind: str = "topic",
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    """Show the top of the tree of topics, or of places."""
    every = await session.do(who, lambda memory: memory.categories.list(kind=kind, depth=1))
    held = every[(number - 1) * A_PAGE : number * A_PAGE]
    more = len(every) > number * A_PAGE
    return page(request, "categories", held=held, kind=kind, number=number, more=more, known=len(every))


@router.get("/categories/{name}")
async def category(
    request: Request,
    who: Reader,
    session: Working,
    name: str,
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    """Show one category: what stands below it, and some of its memories."""
    found = await session.do(who, lambda memory: memory.categories.show(name))
    held = found.below[(number - 1) * A_PAGE : number * A_PAGE]
    more = len(found.below) > number * A_PAGE
    return page(request, "category", found=found, shelf=found.category, held=held, number=number, more=more)
