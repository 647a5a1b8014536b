"""HTTP API: list, read, add, change, archive, rate, link and forget memories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from fastapi import Path, Query
from pydantic import Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.api.tools import MAX_INTEGER
from scrubjay.errors import ForbiddenError, InputError
from scrubjay.memory import Memory
from scrubjay.models.lifecycle import VERDICTS, Event, NewMemory
from scrubjay.models.records import Record
from scrubjay.models.reports import AddReport, FetchReport, ForgetReport
from scrubjay.models.views import ChangeReport, MemoryHistory, MemoryLink, UpdateReport
from scrubjay.search.browse import MAX_IDS, unknown_id
from scrubjay.server.http.schemas import (
    CompactJSONResponse,
    Count,
    Fraction,
    Ids,
    RequestModel,
    Status,
    declared_fields,
    describe_response,
    describe_responses,
    document_fields,
    enum,
    list_of,
    model_of,
    object_model,
    plain_json,
)
from scrubjay.server.http.search import Filters, answer_query
from scrubjay.server.requests import ApiRouter, ReadAccess, WriteAccess
from scrubjay.services.curation import LINK_KINDS

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal


router = ApiRouter(prefix="/v1", tags=["memories"])

MAX_LISTED: Final = 200
MAX_ADDED: Final = 1_000
"""Memories of one call, which are written together."""

MemoryId = Annotated[
    str,
    Path(description="A memory's id, or its shortest unique beginning.", examples=["obs_4f0c9a1be27d6f35"]),
]
PositiveInt = Annotated[int, Field(ge=1, le=MAX_INTEGER)]


@declared_fields(
    NewMemory,
    Memory.add,
    NewMemory,
    Record,
    descriptions={
        "title": "Title.",
        "agent": "Agent that recorded it; defaults to the token's agent.",
        "valid_from": "Start of validity, as an ISO date.",
        "valid_until": "End of validity, as an ISO date.",
        "origin": "Who stated it; defaults to `agent` if the token names an agent, else `owner`.",
    },
)
class MemoryToAdd(
    RequestModel,
    json_schema_extra={"examples": [{"content": "The launch moved to 3 May.", "tags": ["launch"]}]},
):
    """A memory to add."""

    content: Annotated[str, Field(description="Its text, understandable on its own.")]


class NewMemories(
    RequestModel,
    json_schema_extra={
        "examples": [{"memories": [{"content": "Ann is on call."}, {"content": "Bo cooks."}]}]
    },
):
    """Memories to add together; all are validated before the first is written."""

    memories: Annotated[
        list[MemoryToAdd], Field(min_length=1, max_length=MAX_ADDED, description="The memories.")
    ]


@declared_fields(NewMemory, Memory.update, Memory.update)
class Change(RequestModel, json_schema_extra={"examples": [{"content": "The launch moved to 5 May."}]}):
    """Changes to a memory; omitted fields stay, and null clears a date."""

    content: str = ""


@document_fields(Memory.get)
class GetOptions(RequestModel, strict=False):
    """Extent of a memory and its neighbours to return."""

    neighbours: Annotated[int, Field(ge=0, le=100)] = 0
    limit: PositiveInt = 20_000
    offset: Count = 0
    evidence: bool = False


@document_fields(Memory.get)
class Get(
    GetOptions,
    strict=True,
    json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"], "neighbours": 1}]},
):
    """Memories by id, or a file's passages by path and lines."""

    ids: Annotated[list[str], Field(max_length=MAX_IDS)] = []
    path: str | None = None
    lines: Annotated[list[PositiveInt], Field(min_length=2, max_length=2)] | None = None


class GetQuery(Get, strict=False):
    """The same in a URL."""


@document_fields(Memory.page, Memory.search)
class ListQuery(Filters, strict=False):
    """Selects the memories to list and the start of the page."""

    after: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 50
    statuses: list[Status] = ["active"]


_EVIDENCE: Final = object_model(
    "Evidence", "Evidence of a derived memory, with its text shortened.",
    id=str, tier=str, content=str, date=str | None, session=str | None, role=str | None, turn=int | None, status=str,
    rule=str,
)  # fmt: skip
_MEMORY: Final = model_of(
    Record, "StoredMemory",
    without=tuple(item.name for item in fields(Record) if item.name not in serializers.RECORD_FIELDS),
    optional=("evidence",),
    plus=(
        ("marked_wrong", bool),
        ("path", str | None), ("line_start", int | None), ("line_end", int | None), ("citation", str),
        ("date", str | None),
        ("valid_from", str | None), ("valid_until", str | None), ("recorded_at", str),
        ("evidence", list_of(_EVIDENCE)),
    ),
)  # fmt: skip
"""A memory as `serializers.record_fields` writes it."""
_FETCHED: Final = object_model(
    "Fetched", "Whole memories, and the ids that were not found.",
    memories=list_of(_MEMORY), unknown=list[str], next_offset=int | None, forgotten=int,
)  # fmt: skip
_PAGE: Final = object_model(
    "Page", "Memories and the cursor of the next page; null at the end.",
    memories=list_of(_MEMORY), next=str | None,
)  # fmt: skip
_ADDED: Final = model_of(AddReport)
_ALL_ADDED: Final = object_model("AllAdded", "The result of each, in order.", added=list_of(_ADDED))


@router.get("/memories", responses=describe_responses(_PAGE, "A page of memories.", 404))
async def list_memories(query: Annotated[ListQuery, Query()], access: ReadAccess) -> Response:
    """List memories by page, ordered by id, so that writes do not disturb paging."""
    page = await access.read(lambda memory: memory.page(**query.given()))
    memories = [serializers.record_fields(record, page.paths.get(record.id)) for record in page.records]
    return CompactJSONResponse({"memories": memories, "next": page.next})


@router.post(
    "/memories",
    status_code=201,
    responses=describe_responses(_ADDED, "Added.", status=201)
    | {200: describe_response(_ADDED, "The same content already exists in the same scope.")},
)
async def add_memory(new: MemoryToAdd, access: WriteAccess) -> Response:
    """Add a memory durably. Adding the same content in the same scope again only adds to its history."""
    options = _permitted(new.given(), access.who)
    report = await access.write(lambda memory: memory.add(**options))
    return CompactJSONResponse(serializers.to_plain(report), 200 if report.existed else 201)


@router.post("/memories/batch", responses=describe_responses(_ALL_ADDED, "The result of each."))
async def add_memories(batch: NewMemories, access: WriteAccess) -> Response:
    """Add several memories. A turn that consists of recalled memories only is skipped and reported."""
    new = [NewMemory(**_permitted(item.given(), access.who)) for item in batch.memories]
    reports = await access.write(lambda memory: memory.add_many(new))
    return CompactJSONResponse({"added": serializers.to_plain(reports)})


@router.post("/get", responses=describe_responses(_FETCHED, "The memories that were found."))
async def get_memories(body: Get, access: ReadAccess) -> Response:
    """Return whole memories by id, or a file's passages by path and lines."""
    return await answer_query(access, "get", body.given())


@router.get("/get", responses=describe_responses(_FETCHED, "The memories that were found."))
async def get_memories_by_url(query: Annotated[GetQuery, Query()], access: ReadAccess) -> Response:
    """Return whole memories by id, or a file's passages by path and lines."""
    return await answer_query(access, "get", query.given())


@router.get("/memories/{id}", responses=describe_responses(_FETCHED, "The memory and its neighbours.", 404))
async def get_memory(id: MemoryId, query: Annotated[GetOptions, Query()], access: ReadAccess) -> Response:
    """Return one whole memory, with its neighbours and evidence on request."""
    get = _require_one(id, lambda memory: memory.get(id, **query.given()))
    return CompactJSONResponse(serializers.fetched_fields(await access.read(get)))


@router.patch("/memories/{id}", responses=describe_responses(UpdateReport, "What changed.", 404))
async def update_memory(id: MemoryId, change: Change, access: WriteAccess) -> Response:
    """Change a memory in place and keep its old text in its history. A file's passage is changed in its file."""
    options = change.given()
    if access.who.agent and "content" in options:
        options.setdefault("origin", "agent")
    return await plain_json(access.write(lambda memory: memory.update(id, **options)))


@router.delete("/memories/{id}", responses=describe_responses(ForgetReport, "The removed memories.", 404))
async def forget_memory(id: MemoryId, access: WriteAccess) -> Response:
    """Delete a memory permanently; the response lists files that still contain its text."""
    return await plain_json(access.write(_require_one(id, lambda memory: memory.forget(id))))


def _permitted(options: dict[str, Any], who: Principal) -> dict[str, Any]:
    """Return the options of an addition, signed by the token's agent."""
    who.need_to_share(options.get("visibility"))
    if not who.agent:
        return options
    if options.get("agent") not in (None, who.agent):
        raise ForbiddenError(
            f"The token belongs to the agent {who.agent!r} and cannot write as {options['agent']!r:.80}. "
            "Nothing was written.",
            hint="omit agent",
        )
    return {"origin": "agent", **options, "agent": who.agent}


OtherMemoryId = Annotated[str, Path(description="The other memory's id, or its shortest unique beginning.")]
LinkKind = Annotated[str, enum(LINK_KINDS, "Kind of the link.")]


class MemoryIds(RequestModel, json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"]}]}):
    """Memories by id."""

    ids: Annotated[Ids, Field(description="Ids, or their shortest unique beginnings.")]


class Confirmation(RequestModel, json_schema_extra={"examples": [{"yes": True}]}):
    """Confirms what cannot be undone."""

    yes: Annotated[
        bool, Field(description="Confirms it, as --yes does; without it nothing is forgotten.")
    ] = False


class Feedback(
    MemoryIds, json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"], "verdict": "useful"}]}
):
    """Feedback on memories."""

    verdict: Annotated[
        str, enum(VERDICTS, "What is said of them; not-wrong and inject take wrong and never-inject back.")
    ]


class NewLink(
    RequestModel, json_schema_extra={"examples": [{"kind": "supersedes", "rule": "said in the meeting"}]}
):
    """A link to another memory."""

    kind: LinkKind = "links"
    weight: Annotated[Fraction, Field(description="Weight of the link.")] = 1.0
    rule: Annotated[str, Field(description="Why it was made, as free text.")] = ""


@document_fields(Memory.unlink)
class LinkQuery(RequestModel, strict=False):
    """Selects the link to remove."""

    kind: LinkKind = "links"


_CHANGED: Final = describe_responses(ChangeReport, "The ids that changed, were unchanged and were not found.")
_CHANGED_ONE: Final = describe_responses(ChangeReport, "Whether it changed.", 404)
_EVENT: Final = model_of(Event, "HistoryEvent", plus=(("at", str),))
_HISTORY: Final = model_of(MemoryHistory, plus=(("memory", _MEMORY), ("events", list_of(_EVENT))))
_LINK: Final = model_of(MemoryLink)
_REMOVED: Final = object_model("RemovedLink", "A removed link.", src=str, dst=str, kind=str)
_LINKS: Final = object_model("Links", "The links of a memory.", links=list_of(_LINK))


@router.post("/archive", responses=_CHANGED)
async def archive(body: MemoryIds, access: WriteAccess) -> Response:
    """Hide memories from default results; restore brings them back."""
    return await plain_json(access.write(lambda memory: memory.archive(body.ids)))


@router.post("/restore", responses=_CHANGED)
async def restore(body: MemoryIds, access: WriteAccess) -> Response:
    """Make archived or superseded memories active again."""
    return await plain_json(access.write(lambda memory: memory.restore(body.ids)))


@router.post(
    "/forget",
    responses=describe_responses(ForgetReport, "The removed memories, and the ids that were not found."),
)
async def forget(body: MemoryIds, access: WriteAccess) -> Response:
    """Delete memories permanently; the response lists files that still contain their text."""
    return await plain_json(access.write(lambda memory: memory.forget(body.ids)))


@router.post("/forget/everything", responses=describe_responses(ForgetReport, "The removed memories."))
async def forget_everything(body: Confirmation, access: WriteAccess) -> Response:
    """Delete everything that the caller ever stored, also shared memories, with sources, links and the user's name."""
    if not body.yes:
        raise InputError("Confirmation needed. Nothing was forgotten.", hint='send {"yes": true}')
    return await plain_json(access.write(lambda memory: memory.forget_everything()))


@router.post("/feedback", responses=_CHANGED)
async def feedback(body: Feedback, access: WriteAccess) -> Response:
    """Record that memories were used, useful or wrong; the effect on ranking is bounded.

    never-inject keeps them out of what hooks and the proxy add; search still finds them.
    """
    return await plain_json(access.write(lambda memory: memory.feedback(body.ids, body.verdict)))


@router.post("/memories/{id}/archive", responses=_CHANGED_ONE)
async def archive_memory(id: MemoryId, access: WriteAccess) -> Response:
    """Hide a memory from default results."""
    return await plain_json(access.write(_require_one(id, lambda memory: memory.archive(id))))


@router.post("/memories/{id}/restore", responses=_CHANGED_ONE)
async def restore_memory(id: MemoryId, access: WriteAccess) -> Response:
    """Make an archived or superseded memory active again."""
    return await plain_json(access.write(_require_one(id, lambda memory: memory.restore(id))))


@router.get("/memories/{id}/history", responses=describe_responses(_HISTORY, "Its events.", 404))
async def history(id: MemoryId, access: ReadAccess) -> Response:
    """Return a memory's history: its changes, its evidence and what superseded it."""

    def work(memory: Memory) -> dict[str, Any]:
        page = memory.history(id)
        path = memory.get(page.memory.id).paths.get(page.memory.id)
        return serializers.history_fields(page, path)

    return CompactJSONResponse(await access.read(work))


@router.get(
    "/memories/{id}/links", responses=describe_responses(_LINKS, "Its links, in both directions.", 404)
)
async def links(id: MemoryId, access: ReadAccess) -> Response:
    """Return a memory's links in both directions: the ten heaviest of each kind."""
    linked = await access.read(lambda memory: memory.links(id))
    return CompactJSONResponse({"links": serializers.to_plain(linked)})


@router.put("/memories/{id}/links/{other}", responses=describe_responses(_LINK, "The link.", 404))
async def link(id: MemoryId, other: OtherMemoryId, body: NewLink, access: WriteAccess) -> Response:
    """Link two memories, or give their link of this kind another weight and rule."""
    return await plain_json(access.write(lambda memory: memory.link(id, other, **body.model_dump())))


@router.delete(
    "/memories/{id}/links/{other}", responses=describe_responses(_REMOVED, "The link was removed.", 404)
)
async def unlink(
    id: MemoryId,
    other: OtherMemoryId,
    query: Annotated[LinkQuery, Query()],
    access: WriteAccess,
) -> Response:
    """Remove a link between two memories; one written in a text returns when that text is written again."""
    await access.write(lambda memory: memory.unlink(id, other, query.kind))
    return CompactJSONResponse({"src": id, "dst": other, "kind": query.kind})


Report = TypeVar("Report", ChangeReport, ForgetReport, FetchReport)


def _require_one(id: str, work: Callable[[Memory], Report]) -> Callable[[Memory], Report]:
    def checked(memory: Memory) -> Report:
        report = work(memory)
        if report.unknown:
            raise unknown_id(id)
        return report

    return checked
