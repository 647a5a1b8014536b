"""HTTP API: the dictionary of concepts and the tree of categories."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.memory import Memory
from scrubjay.models.graph import CATEGORY_KINDS
from scrubjay.models.views import CategoryPage, CategorySummary, DictionaryReport, EntityPage, EntitySummary
from scrubjay.server.http.schemas import (
    LAX_CONFIG,
    MAX_ITEMS,
    CompactJSONResponse,
    Count,
    RequestModel,
    Strings,
    Visibility,
    describe_responses,
    document_fields,
    model_of,
    object_model,
)
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal
from scrubjay.services.dictionary import Categories, Concepts

router = APIRouter(prefix="/v1", tags=["webs"])

ConceptName = Annotated[
    str, Path(description="A concept's name, an alias in any case, or its id.", examples=["Volvo"])
]
CategoryName = Annotated[
    str,
    Path(
        description="A category's name, a path of names (`Handbook > Leave`), or its id.", examples=["Boats"]
    ),
]


@document_fields(Concepts.list)
class ConceptsQuery(RequestModel):
    """Which concepts are listed."""

    model_config = LAX_CONFIG

    query: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = 100
    offset: Annotated[Count, Field(description="Concepts to pass over first, as `next_offset` says.")] = 0


@document_fields(Concepts.add)
class Term(RequestModel):
    """A concept, or aliases of one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Kubernetes", "aliases": ["k8s"]}]})

    name: str
    aliases: Strings = []
    visibility: Visibility = "user"
    group: str | None = None


@document_fields(Concepts.add)
class Terms(RequestModel):
    """Many concepts; what cannot be a name is left out and told."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rows": [["Kubernetes", "k8s"], ["Volvo"]]}]})

    rows: Annotated[
        list[Annotated[Strings, Field(min_length=1)]],
        Field(max_length=MAX_ITEMS, description="Of each concept its name, then its aliases."),
    ]
    visibility: Visibility = "user"
    group: str | None = None


class Into(RequestModel):
    """Where a concept goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"into": "Kubernetes"}]})

    into: Annotated[str, Field(description="The concept that it becomes part of, by name, alias or id.")]


class Rename(RequestModel):
    """What a concept is called from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Kubernetes"}]})

    name: Annotated[str, Field(description="Its new name; the old one still means it.")]


@document_fields(Categories.list)
class CategoriesQuery(RequestModel):
    """Which categories are listed."""

    model_config = LAX_CONFIG

    kind: Annotated[str, Field(json_schema_extra={"enum": list(CATEGORY_KINDS)})] | None = None
    depth: Annotated[int, Field(ge=1, le=100)] | None = None


_KNOWN: Final = model_of(EntitySummary)
_LIST: Final = object_model(
    "ConceptList", "Concepts, those that most memories refer to first.",
    concepts=list[_KNOWN], total=int, next_offset=int | None,  # type: ignore[valid-type]
)  # fmt: skip
_CATEGORY: Final = model_of(CategorySummary)
_TREE: Final = object_model(
    "Tree",
    "Categories, each before those below it.",
    categories=list[_CATEGORY],  # type: ignore[valid-type]
)
_LEARNED: Final = describe_responses(model_of(DictionaryReport), about="What the dictionary learned.")
_ONE: Final = describe_responses(_KNOWN, about="The concept as it is now.", more=(404,))


@router.get("/concepts", responses=describe_responses(_LIST, about="A page of concepts."))
async def list_concepts(
    part: Annotated[ConceptsQuery, Query()], who: ReadPrincipal, session: SessionDep
) -> Response:
    """List what memories call things."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.concepts.list(query=part.query)
        last = part.offset + part.limit
        shown = serializers.to_plain(found[part.offset : last])
        return {"concepts": shown, "total": len(found), "next_offset": last if last < len(found) else None}

    return CompactJSONResponse(await session.do(who, work))


@router.post("/concepts", responses=_LEARNED)
async def add_concept(term: Term, who: WritePrincipal, session: SessionDep) -> Response:
    """Add a concept, or aliases to one that is there, and link the memories of before."""
    options = term.given()
    return CompactJSONResponse(
        serializers.to_plain(
            await session.do(who, lambda memory: memory.concepts.add(**options), writes=True)
        )
    )


@router.post("/concepts/batch", responses=_LEARNED)
async def add_concepts(terms: Terms, who: WritePrincipal, session: SessionDep) -> Response:
    """Add many concepts; what cannot be a name is left out and told."""
    options = terms.given()
    return CompactJSONResponse(
        serializers.to_plain(
            await session.do(who, lambda memory: memory.concepts.add_many(**options), writes=True)
        )
    )


@router.post("/concepts/{name:path}/merge", responses=_ONE)
async def merge_concept(name: ConceptName, into: Into, who: WritePrincipal, session: SessionDep) -> Response:
    """Make a concept part of another: its names become aliases, what referred to it refers to the other."""
    done = await session.do(who, lambda memory: memory.concepts.merge(name, into.into), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.get(
    "/concepts/{name:path}",
    responses=describe_responses(model_of(EntityPage), about="The concept.", more=(404,)),
)
async def show_concept(name: ConceptName, who: ReadPrincipal, session: SessionDep) -> Response:
    """Return a concept with the concepts related to it and some of its memories."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.concepts.show(name)))
    )


@router.patch("/concepts/{name:path}", responses=_ONE)
async def rename_concept(name: ConceptName, to: Rename, who: WritePrincipal, session: SessionDep) -> Response:
    """Call a concept something else; its id stays, and its old name still means it."""
    done = await session.do(who, lambda memory: memory.concepts.rename(name, to.name), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.delete(
    "/concepts/{name:path}", responses=describe_responses(_KNOWN, about="The concept as it was.", more=(404,))
)
async def remove_concept(name: ConceptName, who: WritePrincipal, session: SessionDep) -> Response:
    """Take a concept out of the dictionary; it is not found again."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.concepts.remove(name), writes=True))
    )


@router.get("/categories", responses=describe_responses(_TREE, about="The tree, from top to bottom."))
async def list_categories(
    levels: Annotated[CategoriesQuery, Query()], who: ReadPrincipal, session: SessionDep
) -> Response:
    """List the topics and places that memories stand in."""
    found = await session.do(who, lambda memory: memory.categories.list(**levels.given()))
    return CompactJSONResponse({"categories": serializers.to_plain(found)})


@router.get(
    "/categories/{name:path}",
    responses=describe_responses(model_of(CategoryPage), about="The category.", more=(404,)),
)
async def show_category(name: CategoryName, who: ReadPrincipal, session: SessionDep) -> Response:
    """Return a category with those right below it and some of its memories."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.categories.show(name)))
    )
