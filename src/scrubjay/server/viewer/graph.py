"""Viewer pages: concepts as a list and a graph, and the tree of categories.

The layout is force-directed (Fruchterman and Reingold, 1991), starting from a sunflower with the most mentioned
concepts in the middle. Each concept is repelled by at most `MAX_REPELLED` others per round, so 2,000 take a second. The
same graph always gets the same layout.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from scrubjay.errors import InputError
from scrubjay.server.requests import ReadAccess, WriteAccess
from scrubjay.server.viewer.page import (
    HEADERS,
    FormFields,
    PageNumber,
    PageRoute,
    page_of,
    redirect,
    render_page,
    url_with_query,
)

if TYPE_CHECKING:
    from scrubjay.models.views import EntityNetwork


ITERATIONS: Final = 60
MAX_REPELLED: Final = 200
NODE_DISTANCE: Final = 90.0
"""Distance at which attraction and repulsion of two linked concepts are equal."""
DAMPING: Final = 1.2
"""Pull towards the middle, so that unlinked concepts do not drift away."""
GOLDEN_ANGLE: Final = math.pi * (3 - math.sqrt(5))


def layout_graph(network: EntityNetwork) -> list[tuple[float, float]]:
    import numpy as np

    count = len(network.concepts)
    if not count:
        return []
    numbers = {concept.id: index for index, concept in enumerate(network.concepts)}
    starts = np.array([numbers[tie.one] for tie in network.ties], np.int64)
    ends = np.array([numbers[tie.other] for tie in network.ties], np.int64)
    steps = np.arange(count)
    radius = NODE_DISTANCE * np.sqrt(steps + 0.5) * 0.6
    angles = steps * GOLDEN_ANGLE
    positions = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
    degrees = np.maximum(np.bincount(np.concatenate([starts, ends]), minlength=count), 1)
    strength = np.sqrt(degrees[starts] * degrees[ends])  # keeps clusters from collapsing into one point
    random = np.random.default_rng(count)
    for step in range(ITERATIONS):
        sample = random.choice(count, min(count, MAX_REPELLED), replace=False)
        offsets = positions[:, None, :] - positions[sample][None, :, :]
        squared = np.maximum((offsets**2).sum(axis=2), 1.0)
        push = (offsets * (NODE_DISTANCE**2 / squared)[:, :, None]).sum(axis=1) * (count / len(sample))
        pull = np.zeros_like(positions)
        if len(starts):
            spans = positions[ends] - positions[starts]
            attraction = spans * (np.sqrt((spans**2).sum(axis=1)) / NODE_DISTANCE / strength)[:, None]
            np.add.at(pull, starts, attraction)
            np.add.at(pull, ends, -attraction)
        move = push + pull - positions * DAMPING
        length = np.maximum(np.sqrt((move**2).sum(axis=1)), 1e-9)
        max_step = NODE_DISTANCE * 2 * (1 - step / ITERATIONS) + 1
        positions = positions + move / length[:, None] * np.minimum(length, max_step)[:, None]
    return [(round(float(x), 1), round(float(y), 1)) for x, y in positions]


router = APIRouter(include_in_schema=False, route_class=PageRoute)

CONCEPTS_PAGE_SIZE: Final = 50
GRAPH_SIZES: Final = (60, 150, 500, 2_000)


@router.get("/concepts")
async def concepts(
    access: ReadAccess,
    find: str = "",
    size: Annotated[int, Query(ge=1, le=GRAPH_SIZES[-1])] = GRAPH_SIZES[1],
    number: PageNumber = 1,
) -> Response:
    matches = await access.read(lambda memory: memory.concepts.list(query=find))
    parameters = {"find": find, "size": "" if size == GRAPH_SIZES[1] else size}
    web = access.request.scope.get("root_path", "") + url_with_query("/concepts/web.json", parameters)
    page = page_of(matches, number, CONCEPTS_PAGE_SIZE)
    return render_page(
        access.request,
        "concepts",
        known=len(matches),
        given=parameters,
        find=find,
        size=size,
        sizes=GRAPH_SIZES,
        web=web,
        **page,
    )


@router.get("/concepts/web.json")
async def concept_graph(
    access: ReadAccess,
    find: str = "",
    size: Annotated[int, Query(ge=1, le=GRAPH_SIZES[-1])] = GRAPH_SIZES[1],
) -> Response:
    network = await access.read(lambda memory: memory.concepts.network(query=find, limit=size))
    body: dict[str, Any] = {
        "nodes": [
            {"id": node.id, "name": node.name, "memories": node.memories, "x": x, "y": y}
            for node, (x, y) in zip(network.concepts, layout_graph(network), strict=True)
        ],
        "ties": [{"one": tie.one, "other": tie.other, "together": tie.together} for tie in network.ties],
        "known": network.known,
    }
    return Response(json.dumps(body), headers=dict(HEADERS), media_type="application/json")


@router.get("/concepts/{name}")
async def concept(access: ReadAccess, name: str, said: str = "") -> Response:
    concept = await access.read(lambda memory: memory.concepts.show(name))
    return render_page(access.request, "concept", found=concept, concept=concept.concept, said=said)


@router.post("/concepts/{name}/{act}")
async def change_concept(access: WriteAccess, fields: FormFields, name: str, act: str) -> Response:
    text = fields.get("name", "").strip()
    if act != "remove" and not text:
        raise InputError("No name was given. Nothing was done.")
    if act == "rename":
        changed = await access.write(lambda memory: memory.concepts.rename(name, text))
    elif act == "alias":
        changed = (await access.read(lambda memory: memory.concepts.show(name))).concept
        await access.write(lambda memory: memory.concepts.add(changed.name, [text]))
    elif act == "merge":
        changed = await access.write(lambda memory: memory.concepts.merge(name, text))
    elif act == "remove":
        await access.write(lambda memory: memory.concepts.remove(name))
        return redirect("/concepts")
    else:
        raise InputError(f"Unknown action on a concept: {act!r:.40}. Nothing was done.")
    return redirect(url_with_query(f"/concepts/{changed.id}", {"said": act}))


CATEGORIES_PAGE_SIZE: Final = 60


@router.get("/categories")
async def categories(access: ReadAccess, kind: str = "topic", number: PageNumber = 1) -> Response:
    categories = await access.read(lambda memory: memory.categories.list(kind=kind, depth=1))
    return render_page(
        access.request, "categories", kind=kind, **page_of(categories, number, CATEGORIES_PAGE_SIZE)
    )


@router.get("/categories/{name}")
async def category(access: ReadAccess, name: str, number: PageNumber = 1) -> Response:
    category = await access.read(lambda memory: memory.categories.show(name))
    page = page_of(category.below, number, CATEGORIES_PAGE_SIZE)
    return render_page(access.request, "category", found=category, shelf=category.category, **page)
