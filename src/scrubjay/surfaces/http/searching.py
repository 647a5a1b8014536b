"""Searching: a question over HTTP -> the facade's answer, as every surface shapes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import APIRouter, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.config_rerank import KINDS as RERANKERS
from scrubjay.engine import Memory
from scrubjay.errors import InputError
from scrubjay.memory.answers import Answer, Explanation, Result
from scrubjay.memory.contexts import PARTS, Context
from scrubjay.memory.ranking import Contribution, Factor
from scrubjay.memory.threads import Step
from scrubjay.memory.tiers import STATUSES, TIERS
from scrubjay.recall.fusion import PRESETS
from scrubjay.recall.request import (
    CHANNELS,
    FUSIONS,
    KINDS,
    MOST_NEIGHBOURS,
    MOST_RESULTS,
    MOST_SNIPPET,
    STAGES,
)
from scrubjay.surfaces.http.answered import answers
from scrubjay.surfaces.http.forms import LAX, MOST_ITEMS, Form, Moment, Project, Share, Words, as_in
from scrubjay.surfaces.http.schemas import described, whole
from scrubjay.surfaces.serve.asked import Reader, Working

if TYPE_CHECKING:
    from scrubjay.surfaces.serve.session import Session
    from scrubjay.verbs.tokens import Principal

router = APIRouter(prefix="/v1", tags=["recall"])

Limit = Annotated[int, Field(ge=1, le=MOST_RESULTS)]
Snippet = Annotated[int, Field(ge=1, le=MOST_SNIPPET)]
Tier = Annotated[str, Field(json_schema_extra={"enum": list(TIERS)})]
Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]


@as_in(Memory.search)
class Filtered(Form):
    """What a question is narrowed to."""

    tiers: Annotated[list[Tier], Field(max_length=MOST_ITEMS)] = []
    tags: Words = []
    path: str = ""
    sources: Words = []
    since: Moment = None
    until: Moment = None
    statuses: Annotated[list[Status], Field(max_length=MOST_ITEMS)] = ["active"]
    projects: Annotated[
        list[Project],
        Field(max_length=MOST_ITEMS, description="Any of these projects, by name or by the end of a name."),
    ] = []
    agents: Words = []
    sessions: Words = []
    categories: Words = []


@as_in(Memory.search)
class Asked(Filtered):
    """A search's options, but for those that GET writes otherwise."""

    query: str
    limit: Limit | None = None
    fusion: Annotated[str, Field(json_schema_extra={"enum": list(FUSIONS)})] | None = None
    preset: Annotated[str, Field(json_schema_extra={"enum": list(PRESETS)})] | None = None
    channels: Annotated[Words, Field(json_schema_extra={"examples": [list(CHANNELS)]})] | None = None
    models: Words | None = None
    stages: Annotated[Words, Field(json_schema_extra={"examples": [list(STAGES)]})] | None = None
    rerank: Annotated[str, Field(json_schema_extra={"enum": list(RERANKERS)})] | None = None
    links: int | None = None
    hierarchy: bool | None = None
    depth: int = 3
    alpha: Share = 0.5
    threshold: Share | None = None
    explain: bool = False
    snippet: Snippet | None = None
    now: Moment = None
    history: Words = []
    as_of: Moment = None
    tz: str | None = None
    min_relevance: Share | Literal["auto"] | None = None
    here: Annotated[
        Project | None,
        Field(
            description="Name of the project whose memories are preferred; the others are searched as well."
        ),
    ] = None
    confidence_floor: Share | None = None
    by: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})] = "memory"
    neighbours: Annotated[int, Field(ge=0, le=MOST_NEIGHBOURS)] = 0


@as_in(Memory.search)
class Search(Asked):
    """A question."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "who is on call?", "limit": 3, "tags": ["ops"]}]}
    )

    weights: dict[str, float] | None = None


class SearchQuery(Asked):
    """A question in a URL; what can be said several times is (`tags=a&tags=b`)."""

    model_config = LAX

    weights: Annotated[
        list[Annotated[str, Field(pattern=r"^\w+=[0-9.eE+-]+$")]],
        Field(description="Channels with their weights.", examples=[["bm25=1", "vector=0.5"]]),
    ] = []


@as_in(Memory.thread)
class Thread(Filtered):
    """A question whose story is wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"query": "why did we change the engine?"}]})

    query: str
    hops: Annotated[int, Field(ge=0, le=4)] = 2
    limit: Annotated[int, Field(ge=1, le=100)] = 12
    fan_out: Annotated[int, Field(ge=1, le=50)] = 8
    statuses: Annotated[list[Status], Field(max_length=MOST_ITEMS)] = ["active", "superseded"]
    snippet: Snippet | None = None
    now: Moment = None
    as_of: Moment = None
    tz: str | None = None


class ThreadQuery(Thread):
    """The same in a URL."""

    model_config = LAX


@as_in(Memory.context)
class Wanted(Form):
    """What a context is wanted for."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"query": "the boat's engine", "budget": 1500}]}
    )

    query: str | None = None
    budget: Annotated[int, Field(ge=50, le=100_000)] | None = None
    project: Annotated[
        Project | None,
        Field(description="Only of this project and of none, by name or the end of a name; null for all."),
    ] = None
    session: str | None = None
    agent: str | None = None
    exclude_paths: Words | None = None
    parts: Annotated[Words, Field(json_schema_extra={"examples": [list(PARTS)]})] | None = None
    history: Words = []
    now: Moment = None


class WantedQuery(Wanted):
    """The same in a URL."""

    model_config = LAX


_RARE: Final = ("evidence", "statements", "copies", "copied", "valid_from", "valid_until", "turns", "newer")
_Part: Final = described(Contribution, plus=(("amount", float),))
_Why: Final = described(
    Explanation,
    plus=(("contributions", list[_Part]), ("factors", list[described(Factor)])),  # type: ignore[valid-type,misc]
)
_Found: Final = described(Result, "Found", optional=(*_RARE, "explanation"), plus=(("explanation", _Why),))
_Answer: Final = described(
    Answer,
    without=("results", "hidden"),
    optional=("as_of", "notes"),
    plus=(("results", list[_Found]), ("hidden_by_age", int)),  # type: ignore[valid-type]
)
_KNOT: Final = (
    ("found", bool), ("hops", int), ("seed", str), ("path", list[described(Step)]), ("own", float),  # type: ignore[misc]
    ("carried", float), ("gap", str), ("dated", bool), ("replaced_by", list[str]), ("contradicts", list[str]),
)  # fmt: skip
_Knot: Final = described(Result, "Knot", without=("explanation",), plus=_KNOT)
_Story: Final = whole(
    "Story", "What belongs to a question, told in order.",
    memories=list[_Knot], left_out=int, silence=str, partial=list[str], took_ms=float,  # type: ignore[valid-type]
)  # fmt: skip


async def asked(session: Session, who: Principal, verb: str, options: dict[str, Any]) -> Response:
    """Return what a question is answered."""
    return Response(await session.ask(who, verb, options), media_type="application/json")


_SEARCHED: Final = answers(_Answer, about="The memories that answer, best first.", more=(404,))
_THREADED: Final = answers(_Story, about="The memories of the story, first what happened first.", more=(404,))
_CONTEXT: Final = answers(described(Context), about="The text, and what it holds.")


@router.post("/search", responses=_SEARCHED)
async def search(wanted: Search, who: Reader, session: Working) -> Response:
    """Return the memories that answer a query, best first."""
    return await asked(session, who, "search", wanted.given())


@router.get("/search", responses=_SEARCHED)
async def search_by_url(wanted: Annotated[SearchQuery, Query()], who: Reader, session: Working) -> Response:
    """Return the memories that answer a query, best first."""
    options = wanted.given()
    if "weights" in options:
        options["weights"] = _weights(options["weights"])
    return await asked(session, who, "search", options)


@router.post("/thread", responses=_THREADED)
async def thread(wanted: Thread, who: Reader, session: Working) -> Response:
    """Return the story that a question is about: what led there, and what came of it."""
    return await asked(session, who, "thread", wanted.given())


@router.get("/thread", responses=_THREADED)
async def thread_by_url(wanted: Annotated[ThreadQuery, Query()], who: Reader, session: Working) -> Response:
    """Return the story that a question is about: what led there, and what came of it."""
    return await asked(session, who, "thread", wanted.given())


@router.post("/context", responses=_CONTEXT)
async def context(wanted: Wanted, who: Reader, session: Working) -> Response:
    """Return what is worth having in mind, as one text to be put into a conversation."""
    return await asked(session, who, "context", wanted.given())


@router.get("/context", responses=_CONTEXT)
async def context_by_url(wanted: Annotated[WantedQuery, Query()], who: Reader, session: Working) -> Response:
    """Return what is worth having in mind, as one text to be put into a conversation."""
    return await asked(session, who, "context", wanted.given())


def _weights(given: list[str]) -> dict[str, float]:
    """Return channel to weight.

    Raises:
        InputError: One of them is none.
    """
    found = {}
    for each in given:
        channel, _, weight = each.partition("=")
        try:
            found[channel] = float(weight)
        except ValueError as error:
            raise InputError(f"weights has {each!r:.80}, which is no CHANNEL=NUMBER.") from error
    return found
