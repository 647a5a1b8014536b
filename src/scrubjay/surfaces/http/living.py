"""Living: what becomes of memories in use, over HTTP: archived, restored, judged, linked, and what happened to one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.engine import Memory
from scrubjay.memory.dates import moment
from scrubjay.memory.events import Event
from scrubjay.memory.histories import Changed, History
from scrubjay.memory.reports import Forgotten
from scrubjay.memory.webs import Link
from scrubjay.surfaces.http.answered import Told, answers
from scrubjay.surfaces.http.forms import LAX, Form, Ids, Share, as_in
from scrubjay.surfaces.http.memories import Id, Kept, missing
from scrubjay.surfaces.http.schemas import described, whole
from scrubjay.surfaces.serve.asked import Reader, Working, Writer
from scrubjay.verbs import shape
from scrubjay.wiring.linking import KINDS
from scrubjay.wiring.living import VERDICTS

router = APIRouter(prefix="/v1", tags=["memories"])

Other = Annotated[str, Path(description="The other memory's id, or its shortest unique beginning.")]
Kind = Annotated[
    str, Field(json_schema_extra={"enum": list(KINDS)}, description="How the one is joined to the other.")
]


class Named(Form):
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


class Joined(Form):
    """How two memories are joined."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "supersedes", "rule": "said in the meeting"}]}
    )

    kind: Kind = "links"
    weight: Annotated[Share, Field(description="How much it weighs.")] = 1.0
    rule: Annotated[str, Field(description="What made it, in words of your own.")] = ""


@as_in(Memory.unlink)
class Parted(Form):
    """Which of the ways in which they are joined."""

    model_config = LAX

    kind: Kind = "links"


_CHANGED: Final = answers(
    described(Changed), about="What is as asked now, what was so before, what is not there."
)
_CHANGED_ONE: Final = answers(described(Changed), about="Whether it changed.", more=(404,))
_EVENT: Final = described(Event, "Happened", plus=(("at", str),))
_HISTORY: Final = described(History, "StoryOfOne", plus=(("memory", Kept), ("events", list[_EVENT])))  # type: ignore[valid-type]
_LINK: Final = described(Link)
_LINKS: Final = whole("Links", "What a memory is joined with.", links=list[_LINK])  # type: ignore[valid-type]


@router.post("/archive", responses=_CHANGED)
async def archive(named: Named, who: Writer, session: Working) -> Response:
    """Take memories out of default answers; they stay whole, and restore brings them back."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.archive(named.ids), writes=True)))


@router.post("/restore", responses=_CHANGED)
async def restore(named: Named, who: Writer, session: Working) -> Response:
    """Make archived or superseded memories active again."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.restore(named.ids), writes=True)))


@router.post("/forget", responses=answers(described(Forgotten), about="What is gone, and what is not there."))
async def forget(named: Named, who: Writer, session: Working) -> Response:
    """Forget many memories for good; where their words still stand in files, the answer says so."""
    return Told(shape.plain(await session.do(who, lambda memory: memory.forget(named.ids), writes=True)))


@router.post("/feedback", responses=_CHANGED)
async def feedback(judged: Judged, who: Writer, session: Working) -> Response:
    """Say of memories that they were used, useful or wrong; the effect is bounded."""

    def work(memory: Memory) -> Changed:
        return memory.feedback(judged.ids, judged.verdict)

    return Told(shape.plain(await session.do(who, work, writes=True)))


@router.post("/memories/{id}/archive", responses=_CHANGED_ONE)
async def archive_memory(id: Id, who: Writer, session: Working) -> Response:
    """Take a memory out of default answers; it stays whole."""
    done = await session.do(who, _one(id, lambda memory: memory.archive(id)), writes=True)
    return Told(shape.plain(done))


@router.post("/memories/{id}/restore", responses=_CHANGED_ONE)
async def restore_memory(id: Id, who: Writer, session: Working) -> Response:
    """Make an archived or superseded memory active again."""
    done = await session.do(who, _one(id, lambda memory: memory.restore(id)), writes=True)
    return Told(shape.plain(done))


@router.get("/memories/{id}/history", responses=answers(_HISTORY, about="What happened to it.", more=(404,)))
async def history(id: Id, who: Reader, session: Working) -> Response:
    """Return what happened to a memory, what it rests on, and what took its place."""

    def work(memory: Memory) -> dict[str, Any]:
        found = memory.history(id)
        told: dict[str, Any] = shape.plain(found)
        told["memory"] = shape.record(found.memory, memory.get(found.memory.id).paths.get(found.memory.id))
        for event in told["events"]:
            event["at"] = moment(event["at"]).isoformat()
        return told

    return Told(await session.do(who, work))


@router.get("/memories/{id}/links", responses=answers(_LINKS, about="Its links, to and fro.", more=(404,)))
async def links(id: Id, who: Reader, session: Working) -> Response:
    """Return what a memory is joined with, to and fro: the heaviest ten of each kind."""
    return Told({"links": shape.plain(await session.do(who, lambda memory: memory.links(id)))})


@router.put("/memories/{id}/links/{other}", responses=answers(_LINK, about="The link.", more=(404,)))
async def link(id: Id, other: Other, joined: Joined, who: Writer, session: Working) -> Response:
    """Join two memories; joined so already, they stay so."""

    def work(memory: Memory) -> Link:
        return memory.link(id, other, joined.kind, joined.weight, joined.rule)

    return Told(shape.plain(await session.do(who, work, writes=True)))


@router.delete(
    "/memories/{id}/links/{other}",
    responses=answers(whole("Parted", "Two memories that are joined so no longer.", src=str, dst=str, kind=str),
                      about="They are parted.", more=(404,)),
)  # fmt: skip
async def unlink(
    id: Id, other: Other, parted: Annotated[Parted, Query()], who: Writer, session: Working
) -> Response:
    """Part two memories again; what a text itself says comes back when that text is written again."""
    await session.do(who, lambda memory: memory.unlink(id, other, parted.kind), writes=True)
    return Told({"src": id, "dst": other, "kind": parted.kind})


def _one(id: str, change: Callable[[Memory], Changed]) -> Callable[[Memory], Changed]:
    def work(memory: Memory) -> Changed:
        done = change(memory)
        if done.unknown:
            raise missing(id)
        return done

    return work
