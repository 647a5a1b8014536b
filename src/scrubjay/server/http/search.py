"""HTTP API: search, thread and context."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from scrubjay.api.serializers import OPTIONAL_RESULT_FIELDS
from scrubjay.api.tools import MAX_ITEMS
from scrubjay.errors import InputError
from scrubjay.memory import Memory
from scrubjay.models.results import (
    CONTEXT_PARTS,
    Answer,
    Context,
    Contribution,
    Explanation,
    Factor,
    PathStep,
    Result,
)
from scrubjay.search import request
from scrubjay.server.http.schemas import (
    OptionalDate,
    Project,
    RequestModel,
    Status,
    Strings,
    declared_fields,
    describe_responses,
    document_fields,
    list_of,
    model_of,
    object_model,
)
from scrubjay.server.requests import Access, ApiRouter, ReadAccess

router = ApiRouter(prefix="/v1", tags=["recall"])

_DESCRIPTIONS: Final = {
    "projects": "Any of these projects, by name or suffix of a name.",
    "here": "Project whose memories are preferred; others are searched too.",
}
"""Differs from `Memory.search`: a server takes no paths."""


@declared_fields(request.Filters, Memory.search, Memory.search, descriptions=_DESCRIPTIONS)
class Filters(RequestModel):
    """Filters of a query."""


@declared_fields(
    request.SearchOptions, Memory.search, Memory.search, without=("weights",), descriptions=_DESCRIPTIONS
)
class SearchOptions(Filters):
    """Search options whose form is the same in GET and POST."""

    query: str


@document_fields(Memory.search)
class Search(
    SearchOptions, json_schema_extra={"examples": [{"query": "who is on call?", "limit": 3, "tags": ["ops"]}]}
):
    """A question."""

    weights: dict[str, float] | None = None


class SearchQuery(SearchOptions, strict=False):
    """A query in a URL; repeat a parameter to give several values (`tags=a&tags=b`)."""

    weights: Annotated[
        list[Annotated[str, Field(pattern=r"^\w+=[0-9.eE+-]+$")]],
        Field(description="Weights by channel.", examples=[["bm25=1", "vector=0.5"]]),
    ] = []


@declared_fields(request.ThreadOptions, Memory.thread, Memory.thread, Memory.search)
class Thread(Filters, json_schema_extra={"examples": [{"query": "why did we change the engine?"}]}):
    """A query for a timeline."""

    query: str
    statuses: Annotated[list[Status], Field(max_length=MAX_ITEMS)] = ["active", "superseded"]


class ThreadQuery(Thread, strict=False):
    """The same in a URL."""


@document_fields(Memory.context)
class ContextRequest(
    RequestModel, json_schema_extra={"examples": [{"query": "the boat's engine", "budget": 1500}]}
):
    """A request for context."""

    query: str | None = None
    budget: Annotated[int, Field(ge=50, le=100_000)] | None = None
    project: Annotated[
        Project | None,
        Field(
            description="This project and memories without one, by name or suffix of a name; null for all."
        ),
    ] = None
    session: str | None = None
    agent: str | None = None
    exclude_paths: Strings | None = None
    parts: Annotated[Strings, Field(json_schema_extra={"examples": [list(CONTEXT_PARTS)]})] | None = None
    history: Strings = []
    unprompted: bool = False
    now: OptionalDate = None


class ContextQuery(ContextRequest, strict=False):
    """The same in a URL."""


_Part: Final = model_of(Contribution, plus=(("amount", float),))
_Why: Final = model_of(
    Explanation, plus=(("contributions", list_of(_Part)), ("factors", list_of(model_of(Factor))))
)
_Result: Final = model_of(
    Result,
    "SearchResult",
    optional=(*OPTIONAL_RESULT_FIELDS, "explanation", "weak"),
    plus=(("explanation", _Why), ("weak", bool)),
)
_Answer: Final = model_of(
    Answer,
    without=("results", "displaced"),
    optional=("as_of", "notes", "nearest"),
    plus=(("results", list_of(_Result)), ("hidden_by_age", int), ("nearest", list_of(_Result))),
)
_ENTRY_FIELDS: Final = (
    ("found", bool), ("hops", int), ("seed", str), ("path", list_of(model_of(PathStep))), ("own", float),
    ("carried", float), ("gap", str), ("dated", bool), ("replaced_by", list[str]), ("contradicts", list[str]),
)  # fmt: skip
_Entry: Final = model_of(Result, "ThreadEntry", without=("explanation",), plus=_ENTRY_FIELDS)
_Thread: Final = object_model(
    "ThreadAnswer", "Memories about a question, in chronological order.",
    memories=list_of(_Entry), left_out=int, silence=str, partial=list[str], took_ms=float,
)  # fmt: skip


async def answer_query(access: Access, verb: str, options: dict[str, Any]) -> Response:
    answer = await access.session.ask(access.who, verb, options)
    return Response(answer, media_type="application/json")


_SEARCH_RESPONSES: Final = describe_responses(_Answer, "The matching memories, best first.", 404)
_THREAD_RESPONSES: Final = describe_responses(_Thread, "The memories of the timeline, oldest first.", 404)
_CONTEXT_RESPONSES: Final = describe_responses(Context, "The text and its contents.")


@router.post("/search", responses=_SEARCH_RESPONSES)
async def search(body: Search, access: ReadAccess) -> Response:
    """Return the memories that match a query, best first."""
    return await answer_query(access, "search", body.given())


@router.get("/search", responses=_SEARCH_RESPONSES)
async def search_by_url(query: Annotated[SearchQuery, Query()], access: ReadAccess) -> Response:
    """Return the memories that match a query, best first."""
    options = query.given()
    if "weights" in options:
        options["weights"] = _parse_weights(options["weights"])
    return await answer_query(access, "search", options)


@router.post("/thread", responses=_THREAD_RESPONSES)
async def thread(body: Thread, access: ReadAccess) -> Response:
    """Return the memories about a question as a timeline."""
    return await answer_query(access, "thread", body.given())


@router.get("/thread", responses=_THREAD_RESPONSES)
async def thread_by_url(query: Annotated[ThreadQuery, Query()], access: ReadAccess) -> Response:
    """Return the memories about a question as a timeline."""
    return await answer_query(access, "thread", query.given())


@router.post("/context", responses=_CONTEXT_RESPONSES)
async def context(body: ContextRequest, access: ReadAccess) -> Response:
    """Return context as one text to inject into a conversation."""
    return await answer_query(access, "context", body.given())


@router.get("/context", responses=_CONTEXT_RESPONSES)
async def context_by_url(query: Annotated[ContextQuery, Query()], access: ReadAccess) -> Response:
    """Return context as one text to inject into a conversation."""
    return await answer_query(access, "context", query.given())


def _parse_weights(pairs: list[str]) -> dict[str, float]:
    weights = {}
    for pair in pairs:
        channel, _, weight = pair.partition("=")
        try:
            weights[channel] = float(weight)
        except ValueError as error:
            raise InputError(f"weights: {pair!r:.80} is not CHANNEL=NUMBER.") from error
    return weights
