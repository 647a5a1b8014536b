"""Concepts: the names that memories refer to, as a list, as a picture, one by one; and corrected."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.errors import InputError
from scrubjay.surfaces.serve.asked import Reader, Writer
from scrubjay.surfaces.viewer.layout import spread
from scrubjay.surfaces.viewer.page import HEADERS, Fields, Page, Working, first, page, query, seen

router = APIRouter(include_in_schema=False, route_class=Page)

A_PAGE: Final = 50
SIZES: Final = (60, 150, 500, 2_000)
"""Concepts of one picture, as a person may choose."""


@router.get("/concepts")
async def concepts(
    request: Request,
    who: Reader,
    session: Working,
    find: str = "",
    size: Annotated[int, Query(ge=1, le=SIZES[-1])] = SIZES[1],
    number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1,
) -> Response:
    """Show the concepts that most memories refer to, and how they hang together."""
    every = await session.do(who, lambda memory: memory.concepts.list(query=find))
    held = every[(number - 1) * A_PAGE : number * A_PAGE]
    given = {"find": find, "size": "" if size == SIZES[1] else size}
    web = request.scope.get("root_path", "") + query("/concepts/web.json", given)
    more = len(every) > number * A_PAGE
    return page(
        request, "concepts", held=held, known=len(every), number=number, more=more, given=given, find=find,
        size=size, sizes=SIZES, web=web,
    )  # fmt: skip


@router.get("/concepts/web.json")
async def picture(
    who: Reader,
    session: Working,
    find: str = "",
    size: Annotated[int, Query(ge=1, le=SIZES[-1])] = SIZES[1],
) -> Response:
    """Return the heaviest concepts, their ties, and where each is drawn."""
    found = await session.do(who, lambda memory: memory.concepts.web(query=find, limit=size))
    places = spread(found)
    told: dict[str, Any] = {
        "nodes": [
            {"id": one.id, "name": one.name, "memories": one.memories, "x": x, "y": y}
            for one, (x, y) in zip(found.concepts, places, strict=True)
        ],
        "ties": [{"one": tie.one, "other": tie.other, "together": tie.together} for tie in found.ties],
        "known": found.known,
    }
    return Response(json.dumps(told), headers=dict(HEADERS), media_type="application/json")


@router.get("/concepts/{name}")
async def concept(request: Request, who: Reader, session: Working, name: str, said: str = "") -> Response:
    """Show one concept."""
    found = await session.do(who, lambda memory: memory.concepts.show(name))
    return page(request, "concept", found=found, concept=found.concept, said=said)


@router.post("/concepts/{name}/{act}")
async def change(who: Writer, session: Working, fields: Fields, name: str, act: str) -> Response:
    """Rename a concept, give it another name, make it part of another, or remove it."""
    text = first(fields, "name").strip()
    if act != "remove" and not text:
        raise InputError("No name was given. Nothing was done.")
    if act == "rename":
        done = await session.do(who, lambda memory: memory.concepts.rename(name, text), writes=True)
    elif act == "alias":
        shown = await session.do(who, lambda memory: memory.concepts.show(name))
        await session.do(who, lambda memory: memory.concepts.add(shown.concept.name, [text]), writes=True)
        done = shown.concept
    elif act == "merge":
        done = await session.do(who, lambda memory: memory.concepts.merge(name, text), writes=True)
    elif act == "remove":
        await session.do(who, lambda memory: memory.concepts.remove(name), writes=True)
        return seen("/concepts")
    else:
        raise InputError(f"{act!r:.40} cannot be done to a concept. Nothing was done.")
    return seen(query(f"/concepts/{done.id}", {"said": act}))
