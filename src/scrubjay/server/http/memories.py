"""HTTP API: list, read, add, change, archive, rate, link and forget memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.api import serializers
from scrubjay.errors import ForbiddenError, NotFoundError
from scrubjay.memory import Memory
from scrubjay.models.dates import to_datetime
from scrubjay.models.lifecycle import VERDICTS, Event, NewMemory
from scrubjay.models.records import ORIGINS, STATUSES, TIERS, Record
from scrubjay.models.reports import AddReport, ForgetReport
from scrubjay.models.views import ChangeReport, MemoryHistory, MemoryLink, UpdateReport
from scrubjay.search.browse import MAX_IDS
from scrubjay.server.http.schemas import (
    LAX_CONFIG,
    MAX_INTEGER,
    CompactJSONResponse,
    Count,
    Fraction,
    Ids,
    OptionalDate,
    Project,
    RequestModel,
    Strings,
    Visibility,
    describe_response,
    describe_responses,
    document_fields,
    model_of,
    object_model,
)
from scrubjay.server.http.search import Filters, answer_query
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal
from scrubjay.services.curation import LINK_KINDS

if TYPE_CHECKING:
    from scrubjay.api.auth import Principal


router = APIRouter(prefix="/v1", tags=["memories"])

MAX_LISTED: Final = 200
"""Memories of one page."""
MAX_ADDED: Final = 1_000
"""Memories of one call: they are written in one turn of the writer's."""

MemoryId = Annotated[
    str,
    Path(description="A memory's id, or its shortest unique beginning.", examples=["obs_4f0c9a1be27d6f35"]),
]
Tier = Annotated[str, Field(json_schema_extra={"enum": list(TIERS)})]
Origin = Annotated[str, Field(json_schema_extra={"enum": list(ORIGINS)})]
Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]
PositiveInt = Annotated[int, Field(ge=1, le=MAX_INTEGER)]


@document_fields(NewMemory, Memory.add, Record)
class New(RequestModel):
    """A memory to add."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "The launch moved to 3 May.", "tags": ["launch"]}]}
    )

    content: Annotated[str, Field(description="What it says, in words that stand alone.")]
    tier: Tier = "observation"
    title: Annotated[str, Field(description="What it is called.")] = ""
    tags: Strings = []
    date: OptionalDate = None
    session: str | None = None
    role: str | None = None
    turn: Count | None = None
    project: Project | None = None
    agent: Annotated[
        str | None, Field(description="Agent that wrote it; the token's, where it names one.")
    ] = None
    visibility: Visibility = "user"
    group: str | None = None
    confidence: Fraction = 1.0
    valid_from: Annotated[OptionalDate, Field(description="From when it is true, as ISO text.")] = None
    valid_until: Annotated[OptionalDate, Field(description="Until when it is true, as ISO text.")] = None
    origin: Annotated[
        Origin, Field(description="Who said it: `agent` where the token names one, else `owner`.")
    ] = "owner"
    pinned: bool = False


class Several(RequestModel):
    """Memories to add at once; all are checked before the first is written."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"memories": [{"content": "Ann is on call."}, {"content": "Bo cooks."}]}]
        }
    )

    memories: Annotated[list[New], Field(min_length=1, max_length=MAX_ADDED, description="The memories.")]


@document_fields(Memory.update)
class Change(RequestModel):
    """What becomes of a memory; what is not named stays as it is, and null takes a date away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "The launch moved to 5 May."}]})

    content: str = ""
    title: str = ""
    tags: Strings = []
    date: OptionalDate = None
    confidence: Fraction = 1.0
    valid_from: OptionalDate = None
    valid_until: OptionalDate = None
    pinned: bool = False
    origin: Origin = "owner"


@document_fields(Memory.get)
class GetOptions(RequestModel):
    """How much of a memory, and what around it."""

    model_config = LAX_CONFIG

    neighbours: Annotated[int, Field(ge=0, le=100)] = 0
    limit: PositiveInt = 20_000
    offset: Count = 0
    evidence: bool = False


@document_fields(Memory.get)
class Get(GetOptions):
    """Memories by their ids, or a file's passages by path and lines."""

    model_config = ConfigDict(
        strict=True, json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"], "neighbours": 1}]}
    )

    ids: Annotated[list[str], Field(max_length=MAX_IDS)] = []
    path: str | None = None
    lines: Annotated[list[PositiveInt], Field(min_length=2, max_length=2)] | None = None


class GetQuery(Get):
    """The same in a URL."""

    model_config = LAX_CONFIG


@document_fields(Memory.page)
class ListQuery(Filters):
    """Which memories are listed, and from where on."""

    model_config = LAX_CONFIG

    after: str = ""
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 50
    statuses: list[Status] = ["active"]


_EVIDENCE: Final = object_model(
    "Evidence", "What a derived memory was taken from, its text cut short.",
    id=str, tier=str, content=str, date=str | None, session=str | None, role=str | None, turn=int | None, status=str,
    rule=str,
)  # fmt: skip
Kept: Final = model_of(
    Record, "Kept",
    without=("content_hash", "heading_path", "key", "owner", "place", "strength", "event", "updated_at", "last_used",
             "abstract", "overview"),
    optional=("evidence",),
    plus=(
        ("path", str | None), ("line_start", int | None), ("line_end", int | None), ("citation", str),
        ("date", str | None),
        ("valid_from", str | None), ("valid_until", str | None), ("recorded_at", str),
        ("evidence", list[_EVIDENCE]),  # type: ignore[valid-type]
    ),
)  # fmt: skip
"""A memory as `shape.record` tells it."""
_FETCHED: Final = object_model(
    "Fetched", "Memories, whole; what is not there is told.",
    memories=list[Kept], unknown=list[str], next_offset=int | None,  # type: ignore[valid-type]
)  # fmt: skip
_PAGE: Final = object_model(
    "Page", "Memories, and where to read on; null at the end.",
    memories=list[Kept], next=str | None,  # type: ignore[valid-type]
)  # fmt: skip
_ADDED: Final = model_of(AddReport)
_ALL_ADDED: Final = object_model("AllAdded", "What became of each, in their order.", added=list[_ADDED])  # type: ignore[valid-type]


@router.get("/memories", responses=describe_responses(_PAGE, about="A page of memories.", more=(404,)))
async def list_memories(
    wanted: Annotated[ListQuery, Query()], who: ReadPrincipal, session: SessionDep
) -> Response:
    """List memories, a page at a time, in an order of their ids that no writing disturbs."""
    found = await session.do(who, lambda memory: memory.page(**wanted.given()))
    memories = [serializers.record_fields(kept, found.paths.get(kept.id)) for kept in found.records]
    return CompactJSONResponse({"memories": memories, "next": found.next})


@router.post(
    "/memories",
    status_code=201,
    responses=describe_responses(_ADDED, 201, about="It is new.")
    | {200: describe_response(_ADDED, "The same content was there already, in the same scope.")},
)
async def add_memory(new: New, who: WritePrincipal, session: SessionDep) -> Response:
    """Add a memory, durably. The same content in the same scope is the same memory, however often it comes."""
    options = _with_agent(new.given(), who)
    done = await session.do(who, lambda memory: memory.add(**options), writes=True)
    return CompactJSONResponse(serializers.to_plain(done), 200 if done.existed else 201)


@router.post("/memories/batch", responses=describe_responses(_ALL_ADDED, about="What became of each."))
async def add_memories(several: Several, who: WritePrincipal, session: SessionDep) -> Response:
    """Add many memories at once. A turn that is nothing but recalled memories is left out, and says so."""
    wanted = [NewMemory(**_with_agent(new.given(), who)) for new in several.memories]
    done = await session.do(who, lambda memory: memory.add_many(wanted), writes=True)
    return CompactJSONResponse({"added": serializers.to_plain(done)})


@router.post("/get", responses=describe_responses(_FETCHED, about="What is there of them."))
async def get_memories(wanted: Get, who: ReadPrincipal, session: SessionDep) -> Response:
    """Read memories whole, by their ids; or a file's passages, by path and lines."""
    return await answer_query(session, who, "get", _parse_lines(wanted.given()))


@router.get("/get", responses=describe_responses(_FETCHED, about="What is there of them."))
async def get_memories_by_url(
    wanted: Annotated[GetQuery, Query()], who: ReadPrincipal, session: SessionDep
) -> Response:
    """Read memories whole, by their ids; or a file's passages, by path and lines."""
    return await answer_query(session, who, "get", _parse_lines(wanted.given()))


@router.get(
    "/memories/{id}",
    responses=describe_responses(_FETCHED, about="The memory, and what is around it.", more=(404,)),
)
async def get_memory(
    id: MemoryId, wanted: Annotated[GetOptions, Query()], who: ReadPrincipal, session: SessionDep
) -> Response:
    """Read one memory whole, with its neighbours and its evidence where they are asked for."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.get(id, **wanted.given())
        if found.unknown:
            raise describe_missing(id)
        return serializers.fetched_fields(found)

    return CompactJSONResponse(await session.do(who, work))


@router.patch(
    "/memories/{id}", responses=describe_responses(model_of(UpdateReport), about="What changed.", more=(404,))
)
async def update_memory(id: MemoryId, change: Change, who: WritePrincipal, session: SessionDep) -> Response:
    """Change a memory in place; what it said is kept in its history. A file's passage is changed in its file."""
    options = change.given()
    if who.agent and "content" in options:
        options.setdefault("origin", "agent")
    done = await session.do(who, lambda memory: memory.update(id, **options), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.delete(
    "/memories/{id}", responses=describe_responses(model_of(ForgetReport), about="What is gone.", more=(404,))
)
async def forget_memory(id: MemoryId, who: WritePrincipal, session: SessionDep) -> Response:
    """Forget a memory for good; where its words still stand in files, the answer says so."""

    def work(memory: Memory) -> ForgetReport:
        done = memory.forget(id)
        if done.unknown:
            raise describe_missing(id)
        return done

    return CompactJSONResponse(serializers.to_plain(await session.do(who, work, writes=True)))


def describe_missing(id: str) -> NotFoundError:
    """Return what is said of an id that begins none of the caller's memories, or several."""
    return NotFoundError(
        f"No memory's id begins with {id!r:.80}, or several do. Nothing was done.",
        hint="GET /v1/memories lists them",
    )


def _parse_lines(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("lines"):
        options["lines"] = tuple(options["lines"])
    return options


def _with_agent(options: dict[str, Any], who: Principal) -> dict[str, Any]:
    """Return a new memory's fields, signed with the token's agent.

    Raises:
        ForbiddenError: It is signed with another one's name.
    """
    if not who.agent:
        return options
    if options.get("agent") not in (None, who.agent):
        raise ForbiddenError(
            f"The token is of the agent {who.agent!r} and cannot write as {options['agent']!r:.80}. "
            "Nothing was written.",
            hint="leave agent out",
        )
    return {"origin": "agent", **options, "agent": who.agent}


OtherMemoryId = Annotated[str, Path(description="The other memory's id, or its shortest unique beginning.")]
LinkKind = Annotated[
    str,
    Field(json_schema_extra={"enum": list(LINK_KINDS)}, description="How the one is joined to the other."),
]


class Named(RequestModel):
    """Memories, by their ids."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"]}]})

    ids: Annotated[Ids, Field(description="Ids, or their shortest unique beginnings.")]


class Judged(Named):
    """What is said of memories."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"], "verdict": "useful"}]}
    )

    verdict: Annotated[
        str,
        Field(
            json_schema_extra={"enum": list(VERDICTS)}, description="That they were used, useful or wrong."
        ),
    ]


class Joined(RequestModel):
    """How two memories are joined."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "supersedes", "rule": "said in the meeting"}]}
    )

    kind: LinkKind = "links"
    weight: Annotated[Fraction, Field(description="How much it weighs.")] = 1.0
    rule: Annotated[str, Field(description="What made it, in words of your own.")] = ""


@document_fields(Memory.unlink)
class Parted(RequestModel):
    """Which of the ways in which they are joined."""

    model_config = LAX_CONFIG

    kind: LinkKind = "links"


_CHANGED: Final = describe_responses(
    model_of(ChangeReport), about="What is as asked now, what was so before, what is not there."
)
_CHANGED_ONE: Final = describe_responses(model_of(ChangeReport), about="Whether it changed.", more=(404,))
_EVENT: Final = model_of(Event, "Happened", plus=(("at", str),))
_HISTORY: Final = model_of(MemoryHistory, "StoryOfOne", plus=(("memory", Kept), ("events", list[_EVENT])))  # type: ignore[valid-type]
_LINK: Final = model_of(MemoryLink)
_LINKS: Final = object_model("Links", "What a memory is joined with.", links=list[_LINK])  # type: ignore[valid-type]


@router.post("/archive", responses=_CHANGED)
async def archive(named: Named, who: WritePrincipal, session: SessionDep) -> Response:
    """Take memories out of default answers; they stay whole, and restore brings them back."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.archive(named.ids), writes=True))
    )


@router.post("/restore", responses=_CHANGED)
async def restore(named: Named, who: WritePrincipal, session: SessionDep) -> Response:
    """Make archived or superseded memories active again."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.restore(named.ids), writes=True))
    )


@router.post(
    "/forget",
    responses=describe_responses(model_of(ForgetReport), about="What is gone, and what is not there."),
)
async def forget(named: Named, who: WritePrincipal, session: SessionDep) -> Response:
    """Forget many memories for good; where their words still stand in files, the answer says so."""
    return CompactJSONResponse(
        serializers.to_plain(await session.do(who, lambda memory: memory.forget(named.ids), writes=True))
    )


@router.post("/feedback", responses=_CHANGED)
async def feedback(judged: Judged, who: WritePrincipal, session: SessionDep) -> Response:
    """Say of memories that they were used, useful or wrong; the effect is bounded."""

    def work(memory: Memory) -> ChangeReport:
        return memory.feedback(judged.ids, judged.verdict)

    return CompactJSONResponse(serializers.to_plain(await session.do(who, work, writes=True)))


@router.post("/memories/{id}/archive", responses=_CHANGED_ONE)
async def archive_memory(id: MemoryId, who: WritePrincipal, session: SessionDep) -> Response:
    """Take a memory out of default answers; it stays whole."""
    done = await session.do(who, _require_one(id, lambda memory: memory.archive(id)), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.post("/memories/{id}/restore", responses=_CHANGED_ONE)
async def restore_memory(id: MemoryId, who: WritePrincipal, session: SessionDep) -> Response:
    """Make an archived or superseded memory active again."""
    done = await session.do(who, _require_one(id, lambda memory: memory.restore(id)), writes=True)
    return CompactJSONResponse(serializers.to_plain(done))


@router.get(
    "/memories/{id}/history",
    responses=describe_responses(_HISTORY, about="What happened to it.", more=(404,)),
)
async def history(id: MemoryId, who: ReadPrincipal, session: SessionDep) -> Response:
    """Return what happened to a memory, what it rests on, and what took its place."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.history(id)
        told: dict[str, Any] = serializers.to_plain(found)
        told["memory"] = serializers.record_fields(
            found.memory, memory.get(found.memory.id).paths.get(found.memory.id)
        )
        for event in told["events"]:
            event["at"] = to_datetime(event["at"]).isoformat()
        return told

    return CompactJSONResponse(await session.do(who, work))


@router.get(
    "/memories/{id}/links", responses=describe_responses(_LINKS, about="Its links, to and fro.", more=(404,))
)
async def links(id: MemoryId, who: ReadPrincipal, session: SessionDep) -> Response:
    """Return what a memory is joined with, to and fro: the heaviest ten of each kind."""
    return CompactJSONResponse(
        {"links": serializers.to_plain(await session.do(who, lambda memory: memory.links(id)))}
    )


@router.put(
    "/memories/{id}/links/{other}", responses=describe_responses(_LINK, about="The link.", more=(404,))
)
async def link(
    id: MemoryId, other: OtherMemoryId, joined: Joined, who: WritePrincipal, session: SessionDep
) -> Response:
    """Join two memories; joined so already, they stay so."""

    def work(memory: Memory) -> MemoryLink:
        return memory.link(id, other, joined.kind, joined.weight, joined.rule)

    return CompactJSONResponse(serializers.to_plain(await session.do(who, work, writes=True)))


@router.delete(
    "/memories/{id}/links/{other}",
    responses=describe_responses(object_model("Parted", "Two memories that are joined so no longer.", src=str, dst=str, kind=str),
                      about="They are parted.", more=(404,)),
)  # fmt: skip
async def unlink(
    id: MemoryId,
    other: OtherMemoryId,
    parted: Annotated[Parted, Query()],
    who: WritePrincipal,
    session: SessionDep,
) -> Response:
    """Part two memories again; what a text itself says comes back when that text is written again."""
    await session.do(who, lambda memory: memory.unlink(id, other, parted.kind), writes=True)
    return CompactJSONResponse({"src": id, "dst": other, "kind": parted.kind})


def _require_one(id: str, change: Callable[[Memory], ChangeReport]) -> Callable[[Memory], ChangeReport]:
    def work(memory: Memory) -> ChangeReport:
        done = change(memory)
        if done.unknown:
            raise describe_missing(id)
        return done

    return work
