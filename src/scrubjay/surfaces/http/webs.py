"""Webs: the dictionary of concepts, and the hierarchy of categories, over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.engine import Memory
from scrubjay.memory.categories import KINDS
from scrubjay.memory.webs import ConceptPage, Known, Learned, Shelf, ShelfPage
from scrubjay.surfaces.http.answered import Told, answers
from scrubjay.surfaces.http.forms import LAX, MOST_ITEMS, Count, Form, Visibility, Words, as_in
from scrubjay.surfaces.http.schemas import described, whole
from scrubjay.surfaces.serve.asked import Reader, Working, Writer
from scrubjay.verbs import shape
from scrubjay.wiring.categories import Categories
from scrubjay.wiring.concepts import Concepts

router = APIRouter(prefix="/v1", tags=["webs"])

Name = Annotated[
    str, Path(description="A concept's name, an alias in any case, or its id.", examples=["Volvo"])
]
Category = Annotated[
    str,
    Path(
        description="A category's name, a path of names (`Handbook > Leave`), or its id.", examples=["Boats"]
    ),
]


@as_in(Concepts.list)
class Part(Form):
    """Which concepts are listed."""

    model_config = LAX

    query: str = ""
    limit: Annotated[int, Field(ge=1, le=MOST_ITEMS)] = 100
    offset: Annotated[Count, Field(description="Concepts to pass over first, as `next_offset` says.")] = 0


@as_in(Concepts.add)
class Term(Form):
    """A concept, or aliases of one."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Kubernetes", "aliases": ["k8s"]}]})

    name: str
    aliases: Words = []
    visibility: Visibility = "user"
    group: str | None = None


@as_in(Concepts.add)
class Terms(Form):
    """Many concepts; what cannot be a name is left out and told."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rows": [["Kubernetes", "k8s"], ["Volvo"]]}]})

    rows: Annotated[
        list[Annotated[Words, Field(min_length=1)]],
        Field(max_length=MOST_ITEMS, description="Of each concept its name, then its aliases."),
    ]
    visibility: Visibility = "user"
    group: str | None = None


class Into(Form):
    """Where a concept goes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"into": "Kubernetes"}]})

    into: Annotated[str, Field(description="The concept that it becomes part of, by name, alias or id.")]


class Rename(Form):
    """What a concept is called from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Kubernetes"}]})

    name: Annotated[str, Field(description="Its new name; the old one still means it.")]


@as_in(Categories.list)
class Levels(Form):
    """Which categories are listed."""

    model_config = LAX

    kind: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})] | None = None
    depth: Annotated[int, Field(ge=1, le=100)] | None = None


_KNOWN: Final = described(Known)
_LIST: Final = whole(
    "ConceptList", "Concepts, those that most memories refer to first.",
    concepts=list[_KNOWN], total=int, next_offset=int | None,  # type: ignore[valid-type]
)  # fmt: skip
_TREE: Final = whole("Tree", "Categories, each before those below it.", categories=list[described(Shelf)])  # type: ignore[misc]
_LEARNED: Final = answers(described(Learned), about="What the dictionary learned.")
_ONE: Final = answers(_KNOWN, about="The concept as it is now.", more=(404,))


@router.get("/concepts", responses=answers(_LIST, about="A page of concepts."))
async def list_concepts(part: Annotated[Part, Query()], who: Reader, session: Working) -> Response:
    """List what memories call things."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.concepts.list(query=part.query)
        last = part.offset + part.limit
        shown = shape.plain(found[part.offset : last])
        return {"concepts": shown, "total": len(found), "next_offset": last if last < len(found) else None}

    return Told(await session.do(who, work))


@router.post("/concepts", responses=_LEARNED)
async def add_concept(term: Term, who: Writer, session: Working) -> Response:
    """Add a concept, or aliases to one that is there, and link the memories of before."""
    options = term.given()
    return Told(
        shape.plain(await session.do(who, lambda memory: memory.concepts.add(**options), writes=True))
    )


@router.post("/concepts/batch", responses=_LEARNED)
async def add_concepts(terms: Terms, who: Writer, session: Working) -> Response:
    """Add many concepts; what cannot be a name is left out and told."""
    options = terms.given()
    return Told(
        shape.plain(await session.do(who, lambda memory: memory.concepts.add_many(**options), writes=True))
    )


@router.post("/concepts/{name:path}/merge", responses=_ONE)
async def merge_concept(name: Name, into: Into, who: Writer, session: Working) -> Response:
    """Make a concept part of another: its names become aliases, what referred to it refers to the other."""
    done = await session.do(who, lambda memory: memory.concepts.merge(name, into.into), writes=True)
    return Told(shape.plain(done))


@router.get(
    "/concepts/{name:path}", responses=answers(described(ConceptPage), about="The concept.", more=(404,))
)
async def show_concept(name: Name, who: Reader, session: Working) -> Response:
    """Return a concept with the concepts related to it and some of its memories."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.concepts.show(name))))


@router.patch("/concepts/{name:path}", responses=_ONE)
async def rename_concept(name: Name, to: Rename, who: Writer, session: Working) -> Response:
    """Call a concept something else; its id stays, and its old name still means it."""
    done = await session.do(who, lambda memory: memory.concepts.rename(name, to.name), writes=True)
    return Told(shape.plain(done))


@router.delete(
    "/concepts/{name:path}", responses=answers(_KNOWN, about="The concept as it was.", more=(404,))
)
async def remove_concept(name: Name, who: Writer, session: Working) -> Response:
    """Take a concept out of the dictionary; it is not found again."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.concepts.remove(name), writes=True)))


@router.get("/categories", responses=answers(_TREE, about="The tree, from top to bottom."))
async def list_categories(levels: Annotated[Levels, Query()], who: Reader, session: Working) -> Response:
    """List the topics and places that memories stand in."""
    found = await session.do(who, lambda memory: memory.categories.list(**levels.given()))
    return Told({"categories": shape.plain(found)})


@router.get(
    "/categories/{name:path}", responses=answers(described(ShelfPage), about="The category.", more=(404,))
)
async def show_category(name: Category, who: Reader, session: Working) -> Response:
    """Return a category with those right below it and some of its memories."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.categories.show(name))))
