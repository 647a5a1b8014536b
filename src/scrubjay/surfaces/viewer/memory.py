"""Memory: an id -> its page: what it says, where it stands, what became of it, and what can be done about it."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.errors import InputError, NotFoundError
from scrubjay.memory.looks import Look
from scrubjay.surfaces.serve.asked import Reader, Writer
from scrubjay.surfaces.viewer.page import Fields, Page, Working, first, page, query, seen
from scrubjay.surfaces.viewer.rows import row
from scrubjay.surfaces.viewer.words import at, dated
from scrubjay.verbs.shape import citation
from scrubjay.wiring.living import VERDICTS

router = APIRouter(include_in_schema=False, route_class=Page)

EVENTS: Final = 30
"""Events of one page of a memory's history."""
NEIGHBOURS: Final = 2


async def _look(session: Working, who: Reader, name: str) -> Look:
    found: Look = await session.do(who, lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    return found


@router.get("/memories/{name}")
async def memory(
    request: Request,
    who: Reader,
    session: Working,
    name: str,
    said: str = "",
    number: Annotated[int, Query(alias="page", ge=1, le=1_000)] = 1,
) -> Response:
    """Show one memory."""
    found = await _look(session, who, name)
    record = found.memory
    events = tuple(reversed(found.history.events))
    return page(
        request,
        "memory",
        look=found,
        one=record,
        date=dated(record),
        where=citation(record, found.path),
        valid=(at(record.valid_from), at(record.valid_until)),
        kept={name: at(getattr(record, name)) for name in ("recorded_at", "updated_at", "last_used")},
        around=[row(each, found.path) for each in found.around],
        events=[
            (
                event.op,
                at(event.at),
                event.other,
                event.run,
                event.actor if event.actor != record.owner else "",
            )
            for event in events[(number - 1) * EVENTS :][:EVENTS]
        ],
        number=number,
        more=len(events) > number * EVENTS,
        verdicts=VERDICTS,
        said=said,
    )


@router.post("/memories/{name}/feedback")
async def feedback(who: Writer, session: Working, fields: Fields, name: str) -> Response:
    """Remember that it was used, useful or wrong."""
    verdict = first(fields, "verdict")
    done = await session.do(who, lambda memory: memory.feedback(name, verdict), writes=True)
    return _back(done.ids, name, verdict)


@router.post("/memories/{name}/archive")
async def archive(who: Writer, session: Working, name: str) -> Response:
    """Take it out of default answers."""
    done = await session.do(who, lambda memory: memory.archive(name), writes=True)
    return _back(done.ids + done.unchanged, name, "archived")


@router.post("/memories/{name}/restore")
async def restore(who: Writer, session: Working, name: str) -> Response:
    """Make it active again."""
    done = await session.do(who, lambda memory: memory.restore(name), writes=True)
    return _back(done.ids + done.unchanged, name, "restored")


@router.get("/memories/{name}/forget")
async def ask(request: Request, who: Writer, session: Working, name: str) -> Response:
    """Say what forgetting would do, and ask."""
    found = await _look(session, who, name)
    where = citation(found.memory, found.path) if found.path is not None else ""
    return page(
        request, "forget", look=found, one=found.memory, row=row(found.memory, found.path), where=where
    )


@router.post("/memories/{name}/forget")
async def forget(request: Request, who: Writer, session: Working, fields: Fields, name: str) -> Response:
    """Remove it for good, and say what still stands in files."""
    if first(fields, "sure") != "yes":
        raise InputError("It was not confirmed. Nothing was forgotten.", hint="tick the box first")
    done = await session.do(who, lambda memory: memory.forget(name), writes=True)
    if not done.ids:
        raise NotFoundError(f"No memory {name!r:.80} is there. Nothing was forgotten.")
    return page(request, "forgotten", done=done)


def _back(ids: tuple[str, ...], name: str, said: str) -> Response:
    if not ids:
        raise NotFoundError(f"No memory {name!r:.80} is there. Nothing was done.")
    return seen(query(f"/memories/{ids[0]}", {"said": said}))
