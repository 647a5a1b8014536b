"""Viewer pages: show, edit, rate, archive and forget one memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from scrubjay.api.auth import Principal
from scrubjay.api.serializers import record_citation
from scrubjay.errors import InputError, NotFoundError, ScrubjayError
from scrubjay.memory import Memory
from scrubjay.models.dates import format_event
from scrubjay.models.lifecycle import VERDICTS
from scrubjay.models.records import Record
from scrubjay.models.views import MemoryView
from scrubjay.server.requests import ReadPrincipal, SessionDep, WritePrincipal, http_status
from scrubjay.server.viewer.page import (
    FormFields,
    PageRoute,
    first_value,
    iso_time,
    memory_date,
    memory_row,
    redirect,
    render_page,
    url_with_query,
)
from scrubjay.services.passages import edit_refusal, split_passage

router = APIRouter(include_in_schema=False, route_class=PageRoute)

MAX_EVENTS: Final = 30
"""Events of one page of a memory's history."""
NEIGHBOURS: Final = 2


async def _find_memory(session: SessionDep, who: ReadPrincipal, name: str) -> MemoryView:
    found: MemoryView = await session.read(who, lambda memory: memory.look(name, neighbours=NEIGHBOURS))
    return found


@router.get("/memories/{name}")
async def memory(
    request: Request,
    who: ReadPrincipal,
    session: SessionDep,
    name: str,
    said: str = "",
    number: Annotated[int, Query(alias="page", ge=1, le=1_000)] = 1,
) -> Response:
    found = await _find_memory(session, who, name)
    record = found.memory
    events = tuple(reversed(found.history.events))
    return render_page(
        request,
        "memory",
        look=found,
        one=record,
        date=memory_date(record),
        where=record_citation(record, found.path),
        valid=(iso_time(record.valid_from), iso_time(record.valid_until)),
        kept={name: iso_time(getattr(record, name)) for name in ("recorded_at", "updated_at", "last_used")},
        around=[memory_row(each, found.path) for each in found.around],
        events=[
            (
                event.op,
                iso_time(event.at),
                event.other,
                event.run,
                event.actor if event.actor != record.owner else "",
            )
            for event in events[(number - 1) * MAX_EVENTS :][:MAX_EVENTS]
        ],
        number=number,
        more=len(events) > number * MAX_EVENTS,
        verdicts=VERDICTS,
        said=said,
    )


@router.post("/memories/{name}/feedback")
async def feedback(who: WritePrincipal, session: SessionDep, fields: FormFields, name: str) -> Response:
    verdict = first_value(fields, "verdict")
    done = await session.write(who, lambda memory: memory.feedback(name, verdict))
    return _redirect_back(done.ids, name, verdict)


@router.post("/memories/{name}/archive")
async def archive(who: WritePrincipal, session: SessionDep, name: str) -> Response:
    done = await session.write(who, lambda memory: memory.archive(name))
    return _redirect_back(done.ids + done.unchanged, name, "archived")


@router.post("/memories/{name}/restore")
async def restore(who: WritePrincipal, session: SessionDep, name: str) -> Response:
    done = await session.write(who, lambda memory: memory.restore(name))
    return _redirect_back(done.ids + done.unchanged, name, "restored")


@router.get("/memories/{name}/forget")
async def confirm_forget(request: Request, who: WritePrincipal, session: SessionDep, name: str) -> Response:
    found = await _find_memory(session, who, name)
    where = record_citation(found.memory, found.path) if found.path is not None else ""
    return render_page(
        request, "forget", look=found, one=found.memory, row=memory_row(found.memory, found.path), where=where
    )


@router.post("/memories/{name}/forget")
async def forget(
    request: Request, who: WritePrincipal, session: SessionDep, fields: FormFields, name: str
) -> Response:
    if first_value(fields, "sure") != "yes":
        raise InputError("Not confirmed. Nothing was forgotten.", hint="tick the box first")
    done = await session.write(who, lambda memory: memory.forget(name))
    if not done.ids:
        raise NotFoundError(f"There is no memory {name!r:.80}. Nothing was forgotten.")
    return render_page(request, "forgotten", done=done)


def _redirect_back(ids: tuple[str, ...], name: str, said: str) -> Response:
    if not ids:
        raise NotFoundError(f"There is no memory {name!r:.80}. Nothing was done.")
    return redirect(url_with_query(f"/memories/{ids[0]}", {"said": said}))


PASSAGE_FIELDS: Final = ("confidence", "valid_from", "valid_until")
"""What can be said of a passage besides its text: the rest is said by its file."""


@router.get("/memories/{name}/edit")
async def edit_form(request: Request, who: WritePrincipal, session: SessionDep, name: str) -> Response:
    found = await session.read(who, lambda memory: memory.look(name, neighbours=0))
    return _render_form(request, who, found, _form_values(found.memory), None)


@router.post("/memories/{name}/edit")
async def edit(
    request: Request, who: WritePrincipal, session: SessionDep, fields: FormFields, name: str
) -> Response:
    found: MemoryView = await session.read(who, lambda memory: memory.look(name, neighbours=0))
    given = {each: _normalize_newlines(first_value(fields, each)) for each in _form_values(found.memory)}
    try:
        into = await session.write(who, _change(who, found, given, first_value(fields, "was")))
    except ScrubjayError as error:
        return _render_form(request, who, found, {**given, "was": first_value(fields, "was")}, error)
    return redirect(url_with_query(f"/memories/{into}", {"said": "edited"}))


def _render_form(
    request: Request, who: Principal, found: MemoryView, values: dict[str, str], error: ScrubjayError | None
) -> Response:
    record = found.memory
    reason = edit_refusal(record, who.user) if record.place is not None else ""
    if record.place is not None and not reason and "admin" not in who.scopes:
        reason = "changing files of the server needs the `admin` scope"
    return render_page(
        request,
        "edit",
        200 if error is None else http_status(error),
        look=found,
        one=record,
        where=record_citation(record, found.path),
        values={"was": record.content_hash, **values},
        reason=reason,
        head=split_passage(record).head.strip(),
        error=error,
    )


def _form_values(record: Record) -> dict[str, str]:
    return {
        "content": _normalize_newlines(
            split_passage(record).body if record.place is not None else record.content
        ),
        "title": record.title,
        "tags": ", ".join(record.tags),
        "date": "" if record.event is None else format_event(record.event, record.recorded_at),
        "pinned": "yes" if record.pinned else "",
        "confidence": f"{record.confidence:g}",
        "valid_from": iso_time(record.valid_from),
        "valid_until": iso_time(record.valid_until),
    }


def _change(who: Principal, found: MemoryView, given: dict[str, str], was: str) -> Callable[[Memory], str]:
    """Return a function that writes the fields that differ from the memory as shown."""
    record = found.memory
    fresh = {name: value for name, value in given.items() if value != _form_values(record)[name]}
    passage = record.place is not None
    if passage and "content" in fresh:
        who.need("admin")
    wrong = [name for name in fresh if passage and name not in (*PASSAGE_FIELDS, "content")]
    if wrong:
        raise InputError(
            f"{' and '.join(wrong)} of a passage come from its file. Nothing was written.",
            hint=f"edit {record_citation(record, found.path)}, then scrubjay sync",
        )
    lived = {
        name: _parse_field(name, value)
        for name, value in fresh.items()
        if not (passage and name == "content")
    }

    def changed(memory: Memory) -> str:
        if memory.look(record.id, neighbours=0).memory.content_hash != was:
            raise InputError(
                f"{record.id} was changed since you opened it. Nothing was written.",
                hint="your text is below; open the memory in another window and compare",
            )
        into = record.id
        if lived:
            memory.update(record.id, **lived)
        if passage and "content" in fresh:
            into = memory.rewrite(record.id, fresh["content"], was=was).id
        return into

    return changed


def _parse_field(name: str, value: str) -> Any:
    if name == "tags":
        return [each.strip() for each in value.split(",") if each.strip()]
    if name == "pinned":
        return value == "yes"
    if name == "confidence":
        try:
            return float(value)
        except ValueError as error:
            raise InputError(
                f"Confidence is {value!r:.40}; it must be between 0 and 1. Nothing was written."
            ) from error
    if name in ("date", "valid_from", "valid_until"):
        return value.strip() or None
    return value


def _normalize_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
