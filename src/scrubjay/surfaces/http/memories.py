"""Memories: what is kept, listed a page at a time; one by its id, added, changed, forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.engine import Memory
from scrubjay.errors import ForbiddenError, NotFoundError
from scrubjay.memory.histories import Updated
from scrubjay.memory.new import NewMemory
from scrubjay.memory.records import Record
from scrubjay.memory.reports import Added, Forgotten
from scrubjay.memory.tiers import ORIGINS, STATUSES, TIERS
from scrubjay.recall.get import MOST_IDS
from scrubjay.surfaces.http.answered import Told, answers, good
from scrubjay.surfaces.http.forms import (
    LARGEST,
    LAX,
    Count,
    Form,
    Moment,
    Project,
    Share,
    Visibility,
    Words,
    as_in,
)
from scrubjay.surfaces.http.schemas import described, whole
from scrubjay.surfaces.http.searching import Filtered, asked
from scrubjay.surfaces.serve.asked import Reader, Working, Writer
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.verbs.tokens import Principal

router = APIRouter(prefix="/v1", tags=["memories"])

MOST_LISTED: Final = 200
"""Memories of one page."""
MOST_ADDED: Final = 1_000
"""Memories of one call: they are written in one turn of the writer's."""

Id = Annotated[
    str,
    Path(description="A memory's id, or its shortest unique beginning.", examples=["obs_4f0c9a1be27d6f35"]),
]
Tier = Annotated[str, Field(json_schema_extra={"enum": list(TIERS)})]
Origin = Annotated[str, Field(json_schema_extra={"enum": list(ORIGINS)})]
Status = Annotated[str, Field(json_schema_extra={"enum": list(STATUSES)})]
Number = Annotated[int, Field(ge=1, le=LARGEST)]


@as_in(NewMemory, Memory.add, Record)
class New(Form):
    """A memory to add."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "The launch moved to 3 May.", "tags": ["launch"]}]}
    )

    content: Annotated[str, Field(description="What it says, in words that stand alone.")]
    tier: Tier = "observation"
    title: Annotated[str, Field(description="What it is called.")] = ""
    tags: Words = []
    date: Moment = None
    session: str | None = None
    role: str | None = None
    turn: Count | None = None
    project: Project | None = None
    agent: Annotated[
        str | None, Field(description="Agent that wrote it; the token's, where it names one.")
    ] = None
    visibility: Visibility = "user"
    group: str | None = None
    confidence: Share = 1.0
    valid_from: Annotated[Moment, Field(description="From when it is true, as ISO text.")] = None
    valid_until: Annotated[Moment, Field(description="Until when it is true, as ISO text.")] = None
    origin: Annotated[
        Origin, Field(description="Who said it: `agent` where the token names one, else `owner`.")
    ] = "owner"
    pinned: bool = False


class Several(Form):
    """Memories to add at once; all are checked before the first is written."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"memories": [{"content": "Ann is on call."}, {"content": "Bo cooks."}]}]
        }
    )

    memories: Annotated[list[New], Field(min_length=1, max_length=MOST_ADDED, description="The memories.")]


@as_in(Memory.update)
class Change(Form):
    """What becomes of a memory; what is not named stays as it is, and null takes a date away."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "The launch moved to 5 May."}]})

    content: str = ""
    title: str = ""
    tags: Words = []
    date: Moment = None
    confidence: Share = 1.0
    valid_from: Moment = None
    valid_until: Moment = None
    pinned: bool = False
    origin: Origin = "owner"


@as_in(Memory.get)
class Around(Form):
    """How much of a memory, and what around it."""

    model_config = LAX

    neighbours: Annotated[int, Field(ge=0, le=100)] = 0
    limit: Number = 20_000
    offset: Count = 0
    evidence: bool = False


@as_in(Memory.get)
class Get(Around):
    """Memories by their ids, or a file's passages by path and lines."""

    model_config = ConfigDict(
        strict=True, json_schema_extra={"examples": [{"ids": ["obs_4f0c9a1be27d6f35"], "neighbours": 1}]}
    )

    ids: Annotated[list[str], Field(max_length=MOST_IDS)] = []
    path: str | None = None
    lines: Annotated[list[Number], Field(min_length=2, max_length=2)] | None = None


class GetQuery(Get):
    """The same in a URL."""

    model_config = LAX


@as_in(Memory.page)
class Listed(Filtered):
    """Which memories are listed, and from where on."""

    model_config = LAX

    after: str = ""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 50
    statuses: list[Status] = ["active"]


_EVIDENCE: Final = whole(
    "Evidence", "What a derived memory was taken from, its text cut short.",
    id=str, tier=str, content=str, date=str | None, session=str | None, role=str | None, turn=int | None, status=str,
    rule=str,
)  # fmt: skip
Kept: Final = described(
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
_FETCHED: Final = whole(
    "Fetched", "Memories, whole; what is not there is told.",
    memories=list[Kept], unknown=list[str], next_offset=int | None,  # type: ignore[valid-type]
)  # fmt: skip
_PAGE: Final = whole(
    "Page", "Memories, and where to read on; null at the end.",
    memories=list[Kept], next=str | None,  # type: ignore[valid-type]
)  # fmt: skip
_ADDED: Final = described(Added)
_ALL_ADDED: Final = whole("AllAdded", "What became of each, in their order.", added=list[_ADDED])  # type: ignore[valid-type]


@router.get("/memories", responses=answers(_PAGE, about="A page of memories.", more=(404,)))
async def list_memories(wanted: Annotated[Listed, Query()], who: Reader, session: Working) -> Response:
    """List memories, a page at a time, in an order of their ids that no writing disturbs."""
    found = await session.do(who, lambda memory: memory.page(**wanted.given()))
    memories = [shape.record(kept, found.paths.get(kept.id)) for kept in found.records]
    return Told({"memories": memories, "next": found.next})


@router.post(
    "/memories",
    status_code=201,
    responses=answers(_ADDED, 201, about="It is new.")
    | {200: good(_ADDED, "The same content was there already, in the same scope.")},
)
async def add_memory(new: New, who: Writer, session: Working) -> Response:
    """Add a memory, durably. The same content in the same scope is the same memory, however often it comes."""
    options = _signed(new.given(), who)
    done = await session.do(who, lambda memory: memory.add(**options), writes=True)
    return Told(shape.plain(done), 200 if done.existed else 201)


@router.post("/memories/batch", responses=answers(_ALL_ADDED, about="What became of each."))
async def add_memories(several: Several, who: Writer, session: Working) -> Response:
    """Add many memories at once. A turn that is nothing but recalled memories is left out, and says so."""
    wanted = [NewMemory(**_signed(new.given(), who)) for new in several.memories]
    done = await session.do(who, lambda memory: memory.add_many(wanted), writes=True)
    return Told({"added": shape.plain(done)})


@router.post("/get", responses=answers(_FETCHED, about="What is there of them."))
async def get_memories(wanted: Get, who: Reader, session: Working) -> Response:
    """Read memories whole, by their ids; or a file's passages, by path and lines."""
    return await asked(session, who, "get", _lines(wanted.given()))


@router.get("/get", responses=answers(_FETCHED, about="What is there of them."))
async def get_memories_by_url(
    wanted: Annotated[GetQuery, Query()], who: Reader, session: Working
) -> Response:
    """Read memories whole, by their ids; or a file's passages, by path and lines."""
    return await asked(session, who, "get", _lines(wanted.given()))


@router.get(
    "/memories/{id}", responses=answers(_FETCHED, about="The memory, and what is around it.", more=(404,))
)
async def get_memory(id: Id, wanted: Annotated[Around, Query()], who: Reader, session: Working) -> Response:
    """Read one memory whole, with its neighbours and its evidence where they are asked for."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.get(id, **wanted.given())
        if found.unknown:
            raise missing(id)
        return shape.fetched(found)

    return Told(await session.do(who, work))


@router.patch("/memories/{id}", responses=answers(described(Updated), about="What changed.", more=(404,)))
async def update_memory(id: Id, change: Change, who: Writer, session: Working) -> Response:
    """Change a memory in place; what it said is kept in its history. A file's passage is changed in its file."""
    options = change.given()
    if who.agent and "content" in options:
        options.setdefault("origin", "agent")
    done = await session.do(who, lambda memory: memory.update(id, **options), writes=True)
    return Told(shape.plain(done))


@router.delete("/memories/{id}", responses=answers(described(Forgotten), about="What is gone.", more=(404,)))
async def forget_memory(id: Id, who: Writer, session: Working) -> Response:
    """Forget a memory for good; where its words still stand in files, the answer says so."""

    def work(memory: Memory) -> Forgotten:
        done = memory.forget(id)
        if done.unknown:
            raise missing(id)
        return done

    return Told(shape.plain(await session.do(who, work, writes=True)))


def missing(id: str) -> NotFoundError:
    """Return what is said of an id that begins none of the caller's memories, or several."""
    return NotFoundError(
        f"No memory's id begins with {id!r:.80}, or several do. Nothing was done.",
        hint="GET /v1/memories lists them",
    )


def _lines(options: dict[str, Any]) -> dict[str, Any]:
    if options.get("lines"):
        options["lines"] = tuple(options["lines"])
    return options


def _signed(options: dict[str, Any], who: Principal) -> dict[str, Any]:
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
