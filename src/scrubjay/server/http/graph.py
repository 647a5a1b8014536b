"""HTTP API: the dictionary of concepts and the tree of categories."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.api.tools import MAX_ITEMS
from scrubjay.memory import Memory
from scrubjay.models.graph import CATEGORY_KINDS
from scrubjay.models.views import CategoryPage, CategorySummary, DictionaryReport, EntityPage, EntitySummary
from scrubjay.server.http.schemas import (
    CompactJSONResponse,
    Count,
    RequestModel,
    Strings,
    Visibility,
    describe_responses,
    document_fields,
    enum,
    list_of,
    model_of,
    object_model,
    plain_json,
)
from scrubjay.server.requests import ApiRouter, ReadAccess, WriteAccess
from scrubjay.services.dictionary import Categories, Concepts

router = ApiRouter(prefix="/v1", tags=["concepts"])

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
class ConceptsQuery(RequestModel, strict=False):
    """Selects the concepts to list."""

    query: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_ITEMS)] = 100
    offset: Annotated[
        Count, Field(description="Concepts to skip; pass the `next_offset` of the previous page.")
    ] = 0


@document_fields(Concepts.add)
class Term(RequestModel, json_schema_extra={"examples": [{"name": "Kubernetes", "aliases": ["k8s"]}]}):
    """A concept or aliases of one."""

    name: str
    aliases: Strings = []
    visibility: Visibility = "user"
    group: str | None = None


@document_fields(Concepts.add)
class Terms(RequestModel, json_schema_extra={"examples": [{"rows": [["Kubernetes", "k8s"], ["Volvo"]]}]}):
    """Several concepts; invalid names are skipped and reported."""

    rows: Annotated[
        list[Annotated[Strings, Field(min_length=1)]],
        Field(max_length=MAX_ITEMS, description="For each concept its name, then its aliases."),
    ]
    visibility: Visibility = "user"
    group: str | None = None


class Into(RequestModel, json_schema_extra={"examples": [{"into": "Kubernetes"}]}):
    """Target of a merge."""

    into: Annotated[str, Field(description="The concept to merge it into, by name, alias or id.")]


class Rename(RequestModel, json_schema_extra={"examples": [{"name": "Kubernetes"}]}):
    """New name of a concept."""

    name: Annotated[str, Field(description="Its new name; the old one becomes an alias.")]


@document_fields(Categories.list)
class CategoriesQuery(RequestModel, strict=False):
    """Selects the categories to list."""

    kind: Annotated[str, enum(CATEGORY_KINDS)] | None = None
    depth: Annotated[int, Field(ge=1, le=100)] | None = None


_CONCEPT: Final = model_of(EntitySummary)
_LIST: Final = object_model(
    "ConceptList", "Concepts, most mentioned first.",
    concepts=list_of(_CONCEPT), total=int, next_offset=int | None,
)  # fmt: skip
_TREE: Final = object_model(
    "CategoryTree", "Categories, parents before children.", categories=list_of(model_of(CategorySummary))
)
_LEARNED: Final = describe_responses(DictionaryReport, "Changes to the dictionary.")
_ONE: Final = describe_responses(_CONCEPT, "The updated concept.", 404)


@router.get("/concepts", responses=describe_responses(_LIST, "A page of concepts."))
async def list_concepts(query: Annotated[ConceptsQuery, Query()], access: ReadAccess) -> Response:
    """List the concepts that memories mention."""

    def work(memory: Memory) -> dict[str, Any]:
        matches = memory.concepts.list(query=query.query)
        end = query.offset + query.limit
        return {
            "concepts": serializers.to_plain(matches[query.offset : end]),
            "total": len(matches),
            "next_offset": end if end < len(matches) else None,
        }

    return CompactJSONResponse(await access.read(work))


@router.post("/concepts", responses=_LEARNED)
async def add_concept(term: Term, access: WriteAccess) -> Response:
    """Add a concept, or aliases to an existing one, and link the memories that mention it."""
    options = term.given()
    access.who.need_to_share(options.get("visibility"))
    return await plain_json(access.write(lambda memory: memory.concepts.add(**options)))


@router.post("/concepts/batch", responses=_LEARNED)
async def add_concepts(terms: Terms, access: WriteAccess) -> Response:
    """Add several concepts; invalid names are skipped and reported."""
    options = terms.given()
    access.who.need_to_share(options.get("visibility"))
    return await plain_json(access.write(lambda memory: memory.concepts.add_many(**options)))


@router.post("/concepts/{name:path}/merge", responses=_ONE)
async def merge_concept(name: ConceptName, into: Into, access: WriteAccess) -> Response:
    """Merge a concept into another: its names become aliases, and its memories refer to the other."""
    return await plain_json(access.write(lambda memory: memory.concepts.merge(name, into.into)))


@router.get("/concepts/{name:path}", responses=describe_responses(EntityPage, "The concept.", 404))
async def show_concept(name: ConceptName, access: ReadAccess) -> Response:
    """Return a concept with related concepts and some of its memories."""
    return await plain_json(access.read(lambda memory: memory.concepts.show(name)))


@router.patch("/concepts/{name:path}", responses=_ONE)
async def rename_concept(name: ConceptName, to: Rename, access: WriteAccess) -> Response:
    """Rename a concept; its id stays, and its old name becomes an alias."""
    return await plain_json(access.write(lambda memory: memory.concepts.rename(name, to.name)))


@router.delete("/concepts/{name:path}", responses=describe_responses(_CONCEPT, "The removed concept.", 404))
async def remove_concept(name: ConceptName, access: WriteAccess) -> Response:
    """Remove a concept from the dictionary; it is not detected again."""
    return await plain_json(access.write(lambda memory: memory.concepts.remove(name)))


@router.get("/categories", responses=describe_responses(_TREE, "The tree, parents before children."))
async def list_categories(query: Annotated[CategoriesQuery, Query()], access: ReadAccess) -> Response:
    """List the topics and folders that memories belong to."""
    tree = await access.read(lambda memory: memory.categories.list(**query.given()))
    return CompactJSONResponse({"categories": serializers.to_plain(tree)})


@router.get("/categories/{name:path}", responses=describe_responses(CategoryPage, "The category.", 404))
async def show_category(name: CategoryName, access: ReadAccess) -> Response:
    """Return a category with its children and some of its memories."""
    return await plain_json(access.read(lambda memory: memory.categories.show(name)))
